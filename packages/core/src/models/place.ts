/**
 * Placing individuals under a fitted model, without refitting (docs/math/prediction.md §2). For maps the place has the
 * exact posterior on the nodes; for the published model the variational Gaussian stands beside it; for LMM and FPCA
 * places are linear scores. Everything returned is in the shown frame. A cohort is placed block by block (placing/placer.ts),
 * which a shard host may spread.
 */

import type { CohortStatistics } from "../basis/statistics.ts";
import type { CodedCovariates } from "../cohort/coding.ts";
import { type Cohort, checkCohort, numIndividuals } from "../cohort/cohort.ts";
import { markerCohort } from "../cohort/several-markers.ts";
import { farCovariates } from "../covariates/covariates.ts";
import { checkGiven, checkNames, checkNumbers, checkOption, DtmError, optionNames } from "../errors.ts";
import { noiseLevels } from "../noise/noise.ts";
import { joinFloats } from "../numeric/matrix.ts";
import type { Random } from "../numeric/random.ts";
import type { KernelChoice } from "../wasm/instance.ts";
import { courseFit } from "./course-fit.ts";
import { codedFor, priorsOf, shiftTerms, statisticsAt } from "./covariate-model.ts";
import { deviationDecoder } from "./decoder.ts";
import { checkModel, fitKey, viewMarker } from "./fit.ts";
import { outsidePlaces } from "./gp/outside.ts";
import type { FpcaModel } from "./linear/fpca.ts";
import { linearConditioner } from "./linear/joint-posterior.ts";
import type { LmmModel } from "./linear/lmm.ts";
import { linearPlaces, scoreCourse } from "./linear/scores.ts";
import { splitRows } from "./linear/stack.ts";
import { createJointConditioner, type JointConditioner } from "./mixture/joint.ts";
import type { CoefficientMixture } from "./mixture/mixture.ts";
import { highestDensityNodes, locationMoments } from "./mixture/place.ts";
import type { PlacePosterior } from "./mixture/posterior.ts";
import { isMapModel, modelMixtures, type TrajectoryModel, usesOwnNodes } from "./model.ts";
import { countOutsideTimes, type History, historyCohort, modelStatistics, visitsOf } from "./new-individuals.ts";
import { fitLocation, showCovariance, showLocation } from "./orient.ts";
import type { MarkerPlacement, Placement, Placements, Places } from "./placement.ts";
import { cellArea, outsideMass, outsideNodes, withinCell } from "./placing/placer.ts";
import { placeBlocks, placingShards, variationalPlaces } from "./placing/shards.ts";
import { checkLevel } from "./predicting/checks.ts";
import { placeFault, placeFaults } from "./result-checks.ts";
import { localShards, type ShardHost } from "./shards.ts";
import { suspectVisits } from "./suspect-visits.ts";

export interface EmbedOptions {
  /** The model's mixture, if it has been computed before (`modelMixture`). */
  readonly mixture?: CoefficientMixture;
  /** Statistics of the cohort under the model's basis and centre, if they have been taken before. */
  readonly statistics?: CohortStatistics;
  /** Kernels that place a cohort under a map. Default: the fastest that run here. */
  readonly kernels?: KernelChoice;
  /** Covariates of the one individual that is placed; those of a cohort are in the cohort. */
  readonly covariates?: CodedCovariates;
  /** Where blocks of a cohort are placed. Default: here, one by one. */
  readonly shards?: ShardHost;
}

const EMBED_OPTIONS = optionNames<EmbedOptions>({
  ...{ mixture: true, statistics: true, kernels: true, covariates: true, shards: true },
});

/**
 * Places every individual of a cohort; as columns, without the full posteriors.
 * @throws DtmError "other-marker" for a cohort of another marker or scale.
 * @example
 * const { ids, location, area50 } = embed(model, cohort);
 */
export function embed(model: TrajectoryModel, cohort: Cohort, options: EmbedOptions = {}): Placements {
  checkModel("embed", model);
  checkCohort("embed", cohort);
  checkGiven("embed", { options });
  checkNames("embed", options, EMBED_OPTIONS);
  const coded = codedFor(model, cohort);
  const placed = placeCohort(model, cohort, options, true);
  const faults = placeFaults(placed);
  return {
    ...placed,
    ...(faults.length > 0 && { faults }),
    numOutsideTimes: countOutsideTimes(model, cohort),
    ...(coded && { farCovariates: farCovariates({ coding: model.covariates!, values: coded }) }),
  };
}

/** Places alone, in half the time of `embed`: for cohorts so large that nobody looks at the rest. */
export function embedPlaces(model: TrajectoryModel, cohort: Cohort, options: EmbedOptions = {}): Places {
  checkNames("embedPlaces", options, EMBED_OPTIONS);
  const placed = placeCohort(model, cohort, options, false);
  const { ids, mapDimension, numObservations, firstTime, lastTime, location, covariance, logLikelihood } = placed;
  const { noiseLevel, noiseLevels: ofMarkers, visitsOfMarkers } = placed;
  return {
    ...{ ids, mapDimension, numObservations, firstTime, lastTime, location, covariance, logLikelihood },
    ...(noiseLevel && { noiseLevel }),
    ...(ofMarkers && { noiseLevels: ofMarkers }),
    ...(visitsOfMarkers && { visitsOfMarkers }),
  };
}

/** Places of individuals of whom nothing but statistics is known, those of the model's markers: `embedPlaces` without times. */
export function embedStatistics(
  model: TrajectoryModel,
  ids: readonly string[],
  statistics: CohortStatistics,
  { mixture, kernels = "auto", shards = localShards(placingShards) }: EmbedOptions = {},
): Places {
  const runner = shards.open(statistics);
  const unknown = new Float64Array(ids.length).fill(Number.NaN);
  const visits = statistics.map((own) => own.visits);
  return {
    ids,
    mapDimension: model.mapDimension,
    numObservations: Int32Array.from(ids, (_, i) => visits.reduce((sum, own) => sum + own[i], 0)),
    ...{ firstTime: unknown, lastTime: unknown },
    ...(visits.length > 1 ? { visitsOfMarkers: visits } : {}),
    ...placeBlocks(runner, { model, mixtures: mixture && [mixture], kernels, details: false, shift: null }),
  };
}

function placeCohort(model: TrajectoryModel, cohort: Cohort, options: EmbedOptions, details: boolean) {
  const { mixture, kernels = "auto", shards = localShards(placingShards) } = options;
  const coded = codedFor(model, cohort);
  const runner = shards.open(statisticsAt(model, options.statistics ?? modelStatistics(model, cohort), coded));
  const shift = coded === null ? null : shiftTerms(model, coded);
  const counts = runner.statistics.map((own) => own.visits.slice());
  const m = numIndividuals(cohort);
  return {
    ids: cohort.ids,
    mapDimension: model.mapDimension,
    numObservations: Int32Array.from({ length: m }, (_, i) => counts.reduce((sum, own) => sum + own[i], 0)),
    ...timeSpans(cohort),
    ...(counts.length > 1 ? { visitsOfMarkers: counts } : {}),
    ...placeBlocks(runner, { model, mixtures: mixture && [mixture], kernels, details, shift }),
  };
}

/** First and last time of everyone's observations, of whatever marker, [m] each. */
function timeSpans({ ids, markers }: Cohort): { readonly firstTime: Float64Array; readonly lastTime: Float64Array } {
  const [firstTime, lastTime] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY].map((v) =>
    new Float64Array(ids.length).fill(v),
  );
  for (const { offsets, times } of markers) {
    for (let i = 0; i < ids.length; i++) {
      if (offsets[i] === offsets[i + 1]) continue;
      firstTime[i] = Math.min(firstTime[i], times[offsets[i]]);
      lastTime[i] = Math.max(lastTime[i], times[offsets[i + 1] - 1]);
    }
  }
  return { firstTime, lastTime };
}

/**
 * Places one individual and keeps its full posterior, ready for `predict`. No observations: the prior. The first call for a
 * model prepares tables of it (up to a second for the published map); they are kept with the model, and later calls are fast.
 * @throws DtmError "shape", "not-finite" or "transform-domain" for a history that cannot be placed.
 * A model with covariates needs those of the individual, and predicts by `modelFor(model, row)`, which can place as well.
 * @example
 * const someone = placeIndividual(model, { times: [0, 1.2], values: [81, 77] });
 * const other = placeIndividual(both, { markers: { bili: { times: [0], values: [1.1] }, albumin: { times: [0, 1], values: [3.9, 3.7] } } });
 */
export function placeIndividual(model: TrajectoryModel, history: History, options: EmbedOptions = {}): Placement {
  checkModel("placeIndividual", model);
  checkGiven("placeIndividual", { history, options });
  checkNames("placeIndividual", options, EMBED_OPTIONS);
  const id = history.id ?? "new";
  const cohort = historyCohort(model, history, id);
  const statistics = statisticsAt(model, modelStatistics(model, cohort), codedFor(model, options));
  const q = model.mapDimension;
  const { condition, outside, cell } = keptFor(model, options);
  const posteriors = condition(statistics, 0, priorsOf(model, options)(0));
  const place = isMapModel(model) ? locationMoments(posteriors[0], q) : linearPlaces(model, statistics);
  const counts = statistics.map((own) => own.visits[0]);
  const empty = counts.every((n) => n === 0);
  const local = empty ? undefined : variationalPlaces(model, statistics[0], options.kernels);
  const parts = model.markers.map(({ noise }, k): MarkerPlacement => {
    const visits = visitsOf(model, cohort, 0, k);
    return {
      numObservations: counts[k],
      lastTime: visits.times.at(-1) ?? Number.NEGATIVE_INFINITY,
      ...(counts[k] === 0 || noise.correlation === undefined ? {} : { visits }),
      posterior: posteriors[k],
      numOutsideTimes: countOutsideTimes(viewMarker(model, k), markerCohort(cohort, k))[0],
    };
  });
  const location = showLocation(model.orientation, place.mean, q);
  const covariance = showCovariance(model.orientation, withinCell(place.covariance, q, cell), q);
  const { logLikelihood } = posteriors[0];
  const numVisits = counts.reduce((sum, n) => sum + n, 0);
  const fault = placeFault(location, covariance, logLikelihood, numVisits);
  const suspects = suspectVisits(model, { ...cohort, ...(options.covariates && { covariates: options.covariates }) });
  return {
    id,
    placedBy: fitKey(model),
    ...parts[0],
    location,
    covariance,
    logLikelihood,
    courseFit: courseFit(model, statistics),
    ...(fault !== undefined && { fault }),
    ...(suspects.length > 0 && { suspects }),
    ...(local === undefined ? {} : { variational: { ...local, bound: local.bound[0] } }),
    outsideMass: outsideMass(posteriors[0], outside),
    ...(parts.length === 1 ? {} : severalMarkers(parts)),
  };
}

/** What of all markers together stands beside that of each. */
function severalMarkers(parts: readonly MarkerPlacement[]) {
  return {
    numObservations: parts.reduce((sum, part) => sum + part.numObservations, 0),
    lastTime: Math.max(...parts.map((part) => part.lastTime)),
    numOutsideTimes: parts.reduce((sum, part) => sum + part.numOutsideTimes, 0),
    markers: parts,
  };
}

/**
 * A placement exactly at a shown place [q]: the distribution of courses that belongs there, ready for `predict`. For maps the
 * coefficients are N(f̄(x), Cov f(x) + Σ_e), for LMM and FPCA the linear course of those scores.
 */
export function placementAt(model: TrajectoryModel, location: ArrayLike<number>): Placement {
  const q = model.mapDimension;
  checkNumbers("placementAt", "a place", location);
  if (location.length !== q) {
    throw new DtmError("shape", `placementAt: expected a place of ${q} coordinates, received ${location.length}.`);
  }
  const shown = Float64Array.from(location);
  const x = fitLocation(model.orientation, shown, q);
  const parts = coursesAt(model, x).map(({ means, covariances }, k): MarkerPlacement => {
    // The level of somebody's noise is not known by the place: as many components with the same course.
    const { variances, logWeights } = noiseLevels(model.markers[k].noise);
    const repeated = (course: Float64Array) => joinFloats(Array.from(variances, () => course));
    return {
      numObservations: 0,
      lastTime: Number.NEGATIVE_INFINITY,
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
      numOutsideTimes: 0,
    };
  });
  return {
    id: "place",
    placedBy: fitKey(model),
    ...parts[0],
    location: shown,
    covariance: new Float64Array(q * q),
    logLikelihood: 0,
    courseFit: 1,
    outsideMass: isMapModel(model) ? outsidePlaces(model.markers[0].map, x)[0] : 0,
    ...(parts.length === 1 ? {} : severalMarkers(parts)),
  };
}

/** Mean [d] and covariance [d,d] of every marker's coefficients at a place of the fit's frame. */
function coursesAt(model: TrajectoryModel, x: Float64Array) {
  if (!isMapModel(model)) {
    return splitRows(model.markers, scoreCourse(model, x)).map((means) => ({
      means,
      covariances: new Float64Array(means.length ** 2),
    }));
  }
  return model.markers.map(({ basis: { numBasis: d } }, k) => {
    const [means, covariances] = [new Float64Array(d), new Float64Array(d * d)];
    deviationDecoder(viewMarker(model, k))(x, means, covariances);
    return { means, covariances };
  });
}

/** What is made once per model for individuals that are asked one at a time. */
interface Kept {
  readonly mixtures: readonly CoefficientMixture[];
  readonly condition: JointConditioner;
  /** 1 for nodes where the map says nothing, [Γ]. */
  readonly outside: Uint8Array;
  /** Area of a cell of the lattice; NaN without one. */
  readonly cell: number;
}

/** Kept as long as the model or its mixture is at hand. A cache, nothing more. */
const kept = new WeakMap<object, Kept>();

/** The mixtures of a model and their conditioner, made at the first call for the model. */
export function keptFor(model: TrajectoryModel, { mixture: given, kernels }: EmbedOptions = {}): Kept {
  const key = given ?? model;
  const usual = (kernels ?? "auto") === "auto";
  const known = usual ? kept.get(key) : undefined;
  if (known !== undefined) return known;
  const made = !isMapModel(model) && model.markers.length > 1 ? stacked(model) : ofMixtures();
  if (usual) kept.set(key, made);
  return made;

  function ofMixtures(): Kept {
    const mixtures = given === undefined ? modelMixtures(model) : [given];
    return {
      mixtures,
      condition: createJointConditioner(mixtures, kernels),
      outside: outsideNodes(model, mixtures[0]),
      cell: cellArea(model, mixtures[0]),
    };
  }
}

/** The coefficients of several markers of a linear model are one Gaussian vector; there are no nodes. */
function stacked(model: LmmModel | FpcaModel): Kept {
  return { mixtures: [], condition: linearConditioner(model), outside: new Uint8Array(1), cell: Number.NaN };
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
export function drawLocations(
  model: TrajectoryModel,
  placement: { readonly posterior: Pick<PlacePosterior, "weights" | "locations"> },
  n: number,
  random: Random,
): Float64Array {
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
