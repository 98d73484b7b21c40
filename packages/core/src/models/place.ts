/**
 * Placing individuals under a fitted model, without refitting (docs/math/prediction.md §2). For maps the place has the
 * exact posterior on the nodes; for the published model the variational Gaussian stands beside it; for LMM and FPCA
 * places are linear scores. Everything returned is in the shown frame. A cohort is placed block by block (placing/placer.ts),
 * which a shard host may spread.
 */

import { basisDomain } from "../basis/bspline.ts";
import { type BasisStatistics, basisStatistics, type CohortStatistics, mapColumns } from "../basis/statistics.ts";
import { type Cohort, makeCohort, numIndividuals, onlyMarker } from "../cohort/cohort.ts";
import { applyTransform } from "../cohort/marker.ts";
import { checkOption, DtmError } from "../errors.ts";
import { noiseLevels } from "../noise/noise.ts";
import { joinFloats } from "../numeric/matrix.ts";
import type { Random } from "../numeric/random.ts";
import type { KernelChoice } from "../wasm/instance.ts";
import { deviationDecoder } from "./decoder.ts";
import { type ModelBase, markerModel } from "./fit.ts";
import { outsidePlaces } from "./gp/outside.ts";
import { linearPlaces } from "./linear/scores.ts";
import { type Conditioner, createConditioner } from "./mixture/conditioner.ts";
import type { CoefficientMixture } from "./mixture/mixture.ts";
import { highestDensityNodes, locationMoments } from "./mixture/place.ts";
import { isMapModel, modelMixture, type TrajectoryModel, usesOwnNodes } from "./model.ts";
import { fitLocation, showCovariance, showLocation } from "./orient.ts";
import type { Placement, Placements, Places, VisitHistory } from "./placement.ts";
import { outsideMass, outsideNodes } from "./placing/placer.ts";
import { placeBlocks, placingShards, variationalPlaces } from "./placing/shards.ts";
import { checkLevel } from "./predicting/checks.ts";
import { localShards, type ShardHost } from "./shards.ts";

export interface EmbedOptions {
  /** The model's mixture, if it has been computed before (`modelMixture`). */
  readonly mixture?: CoefficientMixture;
  /** Statistics of the cohort under the model's basis and centre, if they have been taken before. */
  readonly statistics?: CohortStatistics;
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

/**
 * Places every individual of a cohort; as columns, without the full posteriors.
 * @throws DtmError "other-marker" for a cohort of another marker or scale.
 * @example
 * const { ids, location, area50 } = embed(model, cohort);
 */
export function embed(model: TrajectoryModel, cohort: Cohort, options: EmbedOptions = {}): Placements {
  return { ...placeCohort(model, cohort, options, true), numOutsideTimes: countOutsideTimes(model, cohort) };
}

/** Places alone, in half the time of `embed`: for cohorts so large that nobody looks at the rest. */
export function embedPlaces(model: TrajectoryModel, cohort: Cohort, options: EmbedOptions = {}): Places {
  const placed = placeCohort(model, cohort, options, false);
  const { ids, mapDimension, numObservations, firstTime, lastTime, location, covariance, logLikelihood } = placed;
  const level = placed.noiseLevel === undefined ? {} : { noiseLevel: placed.noiseLevel };
  return { ids, mapDimension, numObservations, firstTime, lastTime, location, covariance, logLikelihood, ...level };
}

function placeCohort(model: TrajectoryModel, cohort: Cohort, options: EmbedOptions, details: boolean) {
  const { mixture, kernels = "auto", shards = localShards(placingShards) } = options;
  const runner = shards.open(options.statistics ?? [modelStatistics(model, cohort)]);
  const { times, offsets } = onlyMarker(cohort);
  return {
    ids: cohort.ids,
    mapDimension: model.mapDimension,
    numObservations: runner.statistics[0].counts.slice(),
    firstTime: Float64Array.from(offsets.subarray(0, -1), (from) => times[from]),
    lastTime: Float64Array.from(offsets.subarray(1), (to) => times[to - 1]),
    ...placeBlocks(runner, { model, mixture, kernels, details }),
  };
}

/**
 * Places one individual and keeps its full posterior, ready for `predict`. No observations: the prior. The first call for a
 * model prepares tables of it (up to a second for the published map); they are kept with the model, and later calls are fast.
 * @throws DtmError "shape", "not-finite" or "transform-domain" for a history that cannot be placed.
 * @example
 * const someone = placeIndividual(model, { times: [0, 1.2], values: [81, 77] });
 */
export function placeIndividual(model: TrajectoryModel, history: History, options: EmbedOptions = {}): Placement {
  const own = markerModel(model);
  const { times, values, id = "new" } = history;
  const { condition, outside } = keptFor(model, options);
  const empty = times.length === 0 && values.length === 0;
  // An individual without observations has zero statistics, whatever the stand-in observation was.
  const cohort = makeCohort(
    {
      ids: Array.from({ length: empty ? 1 : times.length }, () => id),
      times: empty ? [basisDomain(own.basis)[0]] : times,
      values: empty ? [1] : values,
    },
    own.marker,
  );
  const taken = modelStatistics(model, cohort);
  const statistics = empty ? mapColumns(taken, (column) => column.fill(0)) : taken;
  const posterior = condition(statistics, 0);
  const q = model.mapDimension;
  const place = isMapModel(model) ? locationMoments(posterior, q) : linearPlaces(model, [statistics]);
  const local = empty ? undefined : variationalPlaces(model, statistics, options.kernels);
  return {
    id,
    numObservations: statistics.counts[0],
    lastTime: empty ? Number.NEGATIVE_INFINITY : onlyMarker(cohort).times.at(-1)!,
    ...(empty || own.noise.correlation === undefined ? {} : { visits: visitsOf(cohort, 0) }),
    location: showLocation(model.orientation, place.mean, q),
    covariance: showCovariance(model.orientation, place.covariance, q),
    posterior,
    logLikelihood: posterior.logLikelihood,
    ...(local === undefined ? {} : { variational: { ...local, bound: local.bound[0] } }),
    numOutsideTimes: empty ? 0 : countOutsideTimes(model, cohort)[0],
    outsideMass: outsideMass(posterior, outside),
  };
}

/** The visits of one individual of a cohort, values on the scale of the model. */
export function visitsOf(cohort: Cohort, individual: number): VisitHistory {
  const { marker, offsets, times, values } = onlyMarker(cohort);
  const [from, to] = [offsets[individual], offsets[individual + 1]];
  return {
    times: times.slice(from, to),
    values: values.slice(from, to).map((v) => applyTransform(marker.transform, v)),
  };
}

/**
 * A placement exactly at a shown place [q]: the distribution of courses that belongs there, ready for `predict`. For maps the
 * coefficients are N(f̄(x), Cov f(x) + Σ_e), for LMM and FPCA the linear course of those scores.
 */
export function placementAt(model: TrajectoryModel, location: ArrayLike<number>): Placement {
  const own = markerModel(model);
  const q = model.mapDimension;
  const d = own.basis.numBasis;
  if (location.length !== q) {
    throw new DtmError("shape", `placementAt: expected a place of ${q} coordinates, received ${location.length}.`);
  }
  const shown = Float64Array.from(location);
  if (!shown.every(Number.isFinite)) {
    throw new DtmError("not-finite", `placementAt: expected finite coordinates, received ${shown.join(", ")}.`);
  }
  const x = fitLocation(model.orientation, shown, q);
  const means = new Float64Array(d);
  const covariances = new Float64Array(d * d);
  deviationDecoder(model)(x, means, covariances);
  // The level of somebody's noise is not known by the place: as many components with the same course.
  const { variances, logWeights } = noiseLevels(own.noise);
  const repeated = (course: Float64Array) => joinFloats(Array.from(variances, () => course));
  return {
    id: "place",
    numObservations: 0,
    lastTime: Number.NEGATIVE_INFINITY,
    location: shown,
    covariance: new Float64Array(q * q),
    posterior: {
      nodes: new Int32Array(1),
      weights: Float64Array.of(1),
      locations: x,
      shares: logWeights.map(Math.exp),
      noiseVariances: variances,
      means: repeated(means),
      covariances: repeated(covariances),
      logLikelihood: 0,
    },
    logLikelihood: 0,
    numOutsideTimes: 0,
    outsideMass: isMapModel(model) ? outsidePlaces(markerModel(model).map, x)[0] : 0,
  };
}

/** What is made once per model for individuals that are asked one at a time. */
interface Kept {
  readonly mixture: CoefficientMixture;
  readonly condition: Conditioner;
  /** 1 for nodes where the map says nothing, [Γ]. */
  readonly outside: Uint8Array;
}

/** Kept as long as the model or its mixture is at hand. A cache, nothing more. */
const kept = new WeakMap<object, Kept>();

/** The mixture of a model and its conditioner, made at the first call for the model. */
export function keptFor(model: TrajectoryModel, { mixture: given, kernels }: EmbedOptions = {}): Kept {
  const key = given ?? model;
  const usual = (kernels ?? "auto") === "auto";
  const known = usual ? kept.get(key) : undefined;
  if (known !== undefined) return known;
  const mixture = given ?? modelMixture(model);
  const made = { mixture, condition: createConditioner(mixture, kernels), outside: outsideNodes(model, mixture) };
  if (usual) kept.set(key, made);
  return made;
}

/** Statistics of new individuals under a model's own basis and centre; refuses a cohort of another marker. */
export function modelStatistics(model: Pick<ModelBase, "markers">, cohort: Cohort): BasisStatistics {
  const { marker } = onlyMarker(cohort);
  const { name, unit, timeUnit, transform } = marker;
  const known = markerModel(model);
  const own = known.marker;
  if (transform !== own.transform || name !== own.name || unit !== own.unit || timeUnit !== own.timeUnit) {
    throw new DtmError(
      "other-marker",
      `Expected marker ${describeMarker(own)}, received ${describeMarker(marker)}. Read the cohort with the marker of the model.`,
    );
  }
  return basisStatistics(cohort, known.basis, known);
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

function countOutsideTimes(model: TrajectoryModel, cohort: Cohort): Int32Array {
  const [first, last] = basisDomain(markerModel(model).basis);
  const { offsets, times } = onlyMarker(cohort);
  const counts = new Int32Array(numIndividuals(cohort));
  for (let i = 0; i < counts.length; i++) {
    for (let j = offsets[i]; j < offsets[i + 1]; j++) {
      if (times[j] < first || times[j] > last) counts[i]++;
    }
  }
  return counts;
}
