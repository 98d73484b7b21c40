/**
 * Placing individuals under a fitted model, without refitting (docs/math/prediction.md §2). For maps the place has the
 * exact posterior on the nodes; for the published model the variational Gaussian stands beside it; for LMM and FPCA
 * places are linear scores. Everything returned is in the shown frame.
 */
import { basisDomain } from "../basis/bspline.ts";
import { type BasisStatistics, basisStatistics } from "../basis/statistics.ts";
import { type Cohort, makeCohort, numIndividuals, onlyMarker } from "../cohort/cohort.ts";
import { idList } from "../cohort/ids.ts";
import { checkOption, DtmError } from "../errors.ts";
import { joinFloats, multiply } from "../numeric/matrix.ts";
import type { Random } from "../numeric/random.ts";
import { chooseKernels, type KernelChoice } from "../wasm/instance.ts";
import type { ModelBase } from "./fit.ts";
import type { SparseMap } from "./gp/sparse-map.ts";
import type { EffectPosterior } from "./linear/posterior.ts";
import { linearPlaces } from "./linear/scores.ts";
import { type CoefficientMixture, loadIndividual, mixtureWorkspace } from "./mixture/mixture.ts";
import { highestDensityNodes, locationMoments } from "./mixture/place.ts";
import { type CoefficientPosterior, conditionMixture, type PlacePosterior } from "./mixture/posterior.ts";
import { type Conditioner, createConditioner } from "./mixture/wasm-posterior.ts";
import { isMapModel, modelMixture, type TrajectoryModel, usesOwnNodes } from "./model.ts";
import { showCovariance, showLocation } from "./orient.ts";
import { outsideMass, outsidePlaces } from "./outside-mass.ts";
import { embedLocal } from "./paper/embed.ts";
import type { Placement, Placements, Places } from "./placement.ts";
import { createPlacer, type PlacedBlock, type Placer } from "./placing.ts";
import { checkLevel } from "./predict.ts";
import {
  localShards,
  type ShardBlock,
  type ShardFunction,
  type ShardHost,
  shardBlocks,
  statisticsBlock,
} from "./shards.ts";

export interface EmbedOptions {
  /** The model's mixture, if it has been computed before (`modelMixture`). */
  readonly mixture?: CoefficientMixture;
  /** Statistics of the cohort under the model's basis and centre, if they have been taken before. */
  readonly statistics?: BasisStatistics;
  /** Kernels that place a cohort under a map. Default: the fastest that run here. */
  readonly kernels?: KernelChoice;
  /** Where blocks of a cohort are placed. Default: here, one by one. */
  readonly shards?: ShardHost;
}

/** A partial or whole history of one individual, on the marker's original scale. */
export interface History {
  readonly id?: string;
  readonly times: ArrayLike<number>;
  readonly values: ArrayLike<number>;
}

/** Places every individual of a cohort; as columns, without the full posteriors. */
export function embed(model: TrajectoryModel, cohort: Cohort, options: EmbedOptions = {}): Placements {
  const placed = placeBlocks(model, cohort, options, true);
  const column = columnOf(placed.parts);
  const variational = placed.parts.flatMap((part) => part.variational ?? []);
  return {
    ...placesOf(model, cohort, placed),
    coefficients: column((part) => part.coefficients),
    area50: column((part) => part.area50),
    area90: column((part) => part.area90),
    outsideMass: column((part) => part.outsideMass),
    numOutsideTimes: countOutsideTimes(model, cohort),
    ...(variational.length === 0 ? {} : { variational: joinVariational(variational) }),
  };
}

/** Places alone, in half the time of `embed`: for cohorts so large that nobody looks at the rest. */
export function embedPlaces(model: TrajectoryModel, cohort: Cohort, options: EmbedOptions = {}): Places {
  return placesOf(model, cohort, placeBlocks(model, cohort, options, false));
}

const PLACING = "places";

interface PlacedCohort {
  readonly statistics: BasisStatistics;
  readonly parts: readonly PlacedPart[];
}

function placeBlocks(model: TrajectoryModel, cohort: Cohort, options: EmbedOptions, details: boolean): PlacedCohort {
  const { mixture, kernels = "auto", shards = localShards(placingShards) } = options;
  const { statistics, run } = shards.open(options.statistics ?? modelStatistics(model, cohort));
  const state: PlacingState = { model, kernels, details, ...(mixture === undefined ? {} : { mixture }) };
  return { statistics, parts: run(PLACING, state, shardBlocks(statistics.numIndividuals)) as PlacedPart[] };
}

function columnOf(parts: readonly PlacedPart[]): (of: (part: PlacedPart) => Float64Array) => Float64Array {
  return (of) => joinFloats(parts.map(of));
}

function placesOf(model: TrajectoryModel, cohort: Cohort, { statistics, parts }: PlacedCohort): Places {
  const { times, offsets } = onlyMarker(cohort);
  const m = statistics.numIndividuals;
  const column = columnOf(parts);
  return {
    ids: idList(cohort.ids),
    mapDimension: model.mapDimension,
    numObservations: statistics.counts.slice(),
    location: column((part) => part.location),
    covariance: column((part) => part.covariance),
    logLikelihood: column((part) => part.logLikelihood),
    firstTime: Float64Array.from({ length: m }, (_, i) => times[offsets[i]]),
    lastTime: Float64Array.from({ length: m }, (_, i) => times[offsets[i + 1] - 1]),
  };
}

interface PlacingState {
  readonly model: TrajectoryModel;
  readonly kernels: KernelChoice;
  /** Whether all columns of `Placements` are wanted. */
  readonly details: boolean;
  readonly mixture?: CoefficientMixture;
}

interface PlacedPart extends PlacedBlock {
  readonly variational?: NonNullable<Placements["variational"]>;
}

/** A worker that places blocks of individuals; tables of a model are kept while it is at hand. */
export function placingShards(): ShardFunction {
  const placers = new WeakMap<object, Placer>();
  return (statistics, _name, state, part) => {
    const { model, kernels, details, mixture } = state as PlacingState;
    const placer =
      placers.get(state as PlacingState) ?? createPlacer(model, mixture ?? modelMixture(model), kernels, details);
    placers.set(state as PlacingState, placer);
    const block = statisticsBlock(statistics, part as ShardBlock);
    const placed = placer(block);
    return details && model.kind === "dtm-paper"
      ? { ...placed, variational: variationalPlaces(model, block, kernels) }
      : placed;
  };
}

function joinVariational(parts: readonly NonNullable<Placements["variational"]>[]) {
  return {
    location: joinFloats(parts.map(({ location }) => location)),
    covariance: joinFloats(parts.map(({ covariance }) => covariance)),
    bound: joinFloats(parts.map(({ bound }) => bound)),
  };
}

/**
 * Places one individual and keeps its full posterior, ready for `predict`. No observations: the prior. The first call for a
 * model prepares tables of it (up to a second for the published map); they are kept with the model, and later calls are fast.
 */
export function placeIndividual(model: TrajectoryModel, history: History, options: EmbedOptions = {}): Placement {
  const { times, values, id = "new" } = history;
  const mixture = options.mixture ?? keptMixture(model);
  const empty = times.length === 0 && values.length === 0;
  // An individual without observations has zero statistics, whatever the stand-in observation was.
  const cohort = makeCohort(
    {
      ids: Array.from({ length: empty ? 1 : times.length }, () => id),
      times: empty ? [basisDomain(model.basis)[0]] : times,
      values: empty ? [1] : values,
    },
    model.marker,
  );
  const full = modelStatistics(model, cohort);
  const statistics = empty ? withoutObservations(full) : full;
  const posterior = conditionIndividual(mixture, statistics, options.kernels);
  const place = placeOf(model, posterior, isMapModel(model) ? null : linearPlaces(model, statistics), 0);
  const local =
    model.kind === "dtm-paper" && !empty ? variationalPlaces(model, statistics, options.kernels) : undefined;
  return {
    id,
    numObservations: statistics.counts[0],
    lastTime: empty ? Number.NEGATIVE_INFINITY : onlyMarker(cohort).times.at(-1)!,
    location: place.mean,
    covariance: place.covariance,
    posterior,
    logLikelihood: posterior.logLikelihood,
    ...(local
      ? { variational: { location: local.location, covariance: local.covariance, bound: local.bound[0] } }
      : {}),
    numOutsideTimes: empty ? 0 : countOutsideTimes(model, cohort)[0],
    outsideMass: isMapModel(model) ? outsideMass(posterior, keptOutside(model.map, mixture)) : 0,
  };
}

/** Mixtures of models that are asked one individual at a time, as long as the models are at hand. A cache, nothing more. */
const mixtures = new WeakMap<TrajectoryModel, CoefficientMixture>();

function keptMixture(model: TrajectoryModel): CoefficientMixture {
  const mixture = mixtures.get(model) ?? modelMixture(model);
  mixtures.set(model, mixture);
  return mixture;
}

/** Which nodes of a mixture lie where its map says nothing, as long as it is at hand. A cache, nothing more. */
const outsides = new WeakMap<CoefficientMixture, { readonly map: SparseMap; readonly nodes: Uint8Array }>();

function keptOutside(map: SparseMap, mixture: CoefficientMixture): Uint8Array {
  const known = outsides.get(mixture);
  const nodes = known?.map === map ? known.nodes : outsidePlaces(map, mixture.locations);
  outsides.set(mixture, { map, nodes });
  return nodes;
}

/** Mixtures laid out for the kernels, as long as they are at hand. A cache, nothing more. */
const conditioners = new WeakMap<CoefficientMixture, Conditioner>();

/** Posterior of the first individual of the statistics. */
function conditionIndividual(
  mixture: CoefficientMixture,
  statistics: BasisStatistics,
  kernels: KernelChoice = "auto",
): CoefficientPosterior {
  // A single component is not worth laying out, and the kernel wants triangular roots.
  if (mixture.numNodes > 1 && mixture.isLower && chooseKernels(kernels) === "wasm-simd") {
    const condition = conditioners.get(mixture) ?? createConditioner(mixture);
    conditioners.set(mixture, condition);
    return condition(statistics, 0);
  }
  const work = mixtureWorkspace(mixture);
  loadIndividual(mixture, statistics, 0, work);
  return conditionMixture(mixture, work);
}

/** Statistics of new individuals under a model's own basis and centre; refuses a cohort of another marker. */
export function modelStatistics(
  model: Pick<ModelBase, "basis" | "marker" | "center">,
  cohort: Cohort,
): BasisStatistics {
  const { marker } = onlyMarker(cohort);
  const { name, unit, timeUnit, transform } = marker;
  const own = model.marker;
  if (transform !== own.transform || name !== own.name || unit !== own.unit || timeUnit !== own.timeUnit) {
    throw new DtmError(
      "other-marker",
      `Expected marker ${describeMarker(own)}, received ${describeMarker(marker)}. Read the cohort with the marker of the model.`,
    );
  }
  return basisStatistics(cohort, model.basis, model.center);
}

function describeMarker(marker: { name: string; unit: string; timeUnit: string; transform: string }): string {
  return `"${marker.name}" (unit "${marker.unit}", time in "${marker.timeUnit}", transform ${marker.transform})`;
}

/** The highest-density region of a placement: shown places of the lattice cells that hold `level`, heaviest first. */
export function highestDensityRegion(model: TrajectoryModel, placement: Placement, level: number): Float64Array {
  const q = model.mapDimension;
  const { weights, locations } = placement.posterior;
  checkLevel("highestDensityRegion", level);
  if (!isMapModel(model) || q > 2) {
    throw new DtmError(
      "no-lattice",
      `highestDensityRegion: expected a map of one or two dimensions, received ${model.kind} with ${q}. Use location and covariance.`,
    );
  }
  const nodes = highestDensityNodes(weights, level);
  const out = new Float64Array(nodes.length * q);
  nodes.forEach((k, r) => {
    out.set(showLocation(model.orientation, locations.subarray(k * q, (k + 1) * q), q), r * q);
  });
  return out;
}

/** Draws from the posterior of a map placement's place, shown frame, [n,q]; uniform within the lattice cell. */
export function drawLocations(model: TrajectoryModel, placement: Placement, n: number, random: Random): Float64Array {
  const q = model.mapDimension;
  const { weights, locations } = placement.posterior;
  if (!isMapModel(model)) {
    throw new DtmError(
      "no-lattice",
      `drawLocations: places of ${model.kind} are Gaussian; use location and covariance.`,
    );
  }
  checkOption(Number.isInteger(n) && n >= 0, "drawLocations", "a whole number of draws", n, "Use 1000.");
  const step = model.kind === "dtm" && usesOwnNodes(model) ? model.nodes.step : 0;
  const out = new Float64Array(n * q);
  for (let s = 0; s < n; s++) {
    const k = random.categorical(weights);
    const x = locations.slice(k * q, (k + 1) * q).map((v) => v + step * (random.uniform() - 0.5));
    out.set(showLocation(model.orientation, x, q), s * q);
  }
  return out;
}

/** Mean and covariance of a place in the shown frame; `linear` holds the places of LMM and FPCA. */
function placeOf(
  model: TrajectoryModel,
  posterior: PlacePosterior,
  linear: EffectPosterior | null,
  individual: number,
): { mean: Float64Array; covariance: Float64Array } {
  const q = model.mapDimension;
  const raw =
    linear === null
      ? locationMoments(posterior, q)
      : {
          mean: linear.mean.subarray(individual * q, (individual + 1) * q),
          covariance: linear.covariance.subarray(individual * q * q, (individual + 1) * q * q),
        };
  return {
    mean: showLocation(model.orientation, raw.mean, q),
    covariance: showCovariance(model.orientation, raw.covariance, q),
  };
}

function variationalPlaces(
  model: Extract<TrajectoryModel, { kind: "dtm-paper" }>,
  statistics: BasisStatistics,
  kernels: KernelChoice = "auto",
) {
  const q = model.mapDimension;
  const local = embedLocal(model, statistics, chooseKernels(kernels));
  const m = statistics.numIndividuals;
  const location = multiply(local.mean, model.orientation, m, q, q);
  const covariance = new Float64Array(m * q * q);
  for (let i = 0; i < m; i++) {
    const S = local.covariance.subarray(i * q * q, (i + 1) * q * q);
    covariance.set(showCovariance(model.orientation, S, q), i * q * q);
  }
  return { location, covariance, bound: local.bound };
}

function countOutsideTimes(model: TrajectoryModel, cohort: Cohort): Int32Array {
  const [first, last] = basisDomain(model.basis);
  const { offsets, times } = onlyMarker(cohort);
  const counts = new Int32Array(numIndividuals(cohort));
  for (let i = 0; i < counts.length; i++) {
    for (let j = offsets[i]; j < offsets[i + 1]; j++) {
      if (times[j] < first || times[j] > last) counts[i]++;
    }
  }
  return counts;
}

function withoutObservations(statistics: BasisStatistics): BasisStatistics {
  return {
    ...statistics,
    numObservations: 0,
    gram: new Float64Array(statistics.gram.length),
    cross: new Float64Array(statistics.cross.length),
    sumSquares: new Float64Array(1),
    counts: new Int32Array(1),
  };
}
