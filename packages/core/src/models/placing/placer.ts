/**
 * Placing many individuals (docs/math/prediction.md §2): from statistics to columns of places, one individual after the other.
 * Maps go through the WebAssembly kernels where they run (mixture/weigh.ts), elsewhere and for linear models through the
 * posterior of the definition. Weights over the nodes of more than one individual never exist.
 */

import type { BasisStatistics, CohortStatistics } from "../../basis/statistics.ts";
import { noiseLevel as middleVariance, noiseSpread } from "../../noise/noise.ts";
import { choleskyInPlace, logDetFromCholesky } from "../../numeric/cholesky.ts";
import { dot } from "../../numeric/matrix.ts";
import { chisquareQuantile } from "../../numeric/special.ts";
import { chooseKernels, type KernelChoice } from "../../wasm/instance.ts";
import { viewMarker } from "../fit.ts";
import { outsidePlaces } from "../gp/outside.ts";
import type { FpcaModel } from "../linear/fpca.ts";
import type { LmmModel } from "../linear/lmm.ts";
import { coefficientMeans } from "../linear/posterior.ts";
import { linearLogLikelihoods, linearParameters, linearPlaces } from "../linear/scores.ts";
import { withPrior } from "../mixture/conditioner.ts";
import { createMarkerPriors } from "../mixture/joint.ts";
import type { CoefficientMixture } from "../mixture/mixture.ts";
import { heaviestCounts, type LocationMoments, locationMoments } from "../mixture/place.ts";
import { conditionMixture, individualObservations, type PlacePosterior } from "../mixture/posterior.ts";
import { nodeWeigher } from "../mixture/weigh.ts";
import { isMapModel, type TrajectoryModel } from "../model.ts";
import { showCovariance, showLocation } from "../orient.ts";
import type { Placements } from "../placement.ts";

/** Places of a block of individuals, in the shown frame; names and shapes as in `Placements`. Without details the last four are empty. */
export interface PlacedBlock {
  readonly location: Float64Array; // [m,q]
  readonly covariance: Float64Array; // [m,q,q]
  readonly logLikelihood: Float64Array; // [m]
  readonly coefficients: Float64Array; // [m,d]
  readonly area50: Float64Array; // [m]
  readonly area90: Float64Array; // [m]
  readonly outsideMass: Float64Array; // [m]
  /** Where individuals differ in their noise. */
  readonly noiseLevel?: Placements["noiseLevel"];
  readonly noiseLevels?: Placements["noiseLevels"];
}

type NoiseLevelColumns = NonNullable<Placements["noiseLevel"]>;

/** Places the individuals of the statistics, one for each marker; `logPriors` are their own priors of the nodes. */
export type Placer = (statistics: CohortStatistics, logPriors?: (individual: number) => Float64Array) => PlacedBlock;

/** One individual: its place in the fit's frame, and what details are made of. */
interface PlacedIndividual extends LocationMoments {
  readonly logLikelihood: number;
  /** Weights of the nodes, summing to one. */
  readonly weights: Float64Array;
  /** E[w | y], [d]. */
  readonly coefficients: Float64Array;
  readonly outsideMass: number;
  /** Posterior mean and sd of log λ. */
  readonly logLevel: Moments;
}

/** Places one individual by one marker, with a prior of the nodes; without details the three before the last may be empty. */
type PlaceIndividual = (
  statistics: BasisStatistics,
  individual: number,
  logPrior: Float64Array | undefined,
) => PlacedIndividual;

/** Probabilities in the regions whose areas are given. */
const LEVELS = [0.5, 0.9];

/** A placer under a model; it keeps tables of the mixture, so one serves many blocks. */
export function createPlacer(
  model: TrajectoryModel,
  mixtures: readonly CoefficientMixture[],
  kernels: KernelChoice = "auto",
  details = true,
): Placer {
  if (!isMapModel(model) && model.markers.length > 1) return stackedPlacer(model, details);
  const q = model.mapDimension;
  const sizes = mixtures.map(({ numBasis }) => numBasis);
  const d = sizes.reduce((sum, size) => sum + size, 0);
  const cell = cellArea(model, mixtures[0]);
  const balls = LEVELS.map((level) => ballVolume(q, level));
  const byKernels = isMapModel(model) && chooseKernels(kernels) === "wasm-simd";
  const placers = mixtures.map((mixture, k) =>
    byKernels ? kernelPlaces(viewMarker(model, k), mixture, details) : posteriorPlaces(viewMarker(model, k), mixture),
  );
  const priors = createMarkerPriors(mixtures, kernels);
  return (statistics, logPriors) => {
    const m = statistics[0].numIndividuals;
    const out = emptyBlock(m, q, d, details);
    const noiseLevels = mixtures.map(() => ({ mean: new Float64Array(m), sd: new Float64Array(m) }));
    const linear = isMapModel(model) ? null : linearPlaces(model, statistics);
    for (let i = 0; i < m; i++) {
      const own = priors(statistics, i, logPriors?.(i)).map((prior, k) => placers[k](statistics[k], i, prior));
      // Every marker, given the others, has the same place.
      const [placed] = own;
      const mean = linear === null ? placed.mean : linear.mean.subarray(i * q, (i + 1) * q);
      const S = linear === null ? placed.covariance : linear.covariance.subarray(i * q * q, (i + 1) * q * q);
      const covariance = showCovariance(model.orientation, withinCell(S, q, cell), q);
      out.location.set(showLocation(model.orientation, mean, q), i * q);
      out.covariance.set(covariance, i * q * q);
      out.logLikelihood[i] = placed.logLikelihood;
      own.forEach(({ logLevel }, k) => {
        noiseLevels[k].mean[i] = logLevel.mean;
        noiseLevels[k].sd[i] = logLevel.sd;
      });
      if (!details) continue;
      let at = i * d;
      for (const { coefficients } of own) {
        out.coefficients.set(coefficients, at);
        at += coefficients.length;
      }
      out.outsideMass[i] = placed.outsideMass;
      [out.area50[i], out.area90[i]] = Number.isFinite(cell)
        ? heaviestCounts(placed.weights, LEVELS).map((count) => count * cell)
        : balls.map((volume) => volume * rootDeterminant(covariance, q));
    }
    return { ...out, ...ofNoise(mixtures, noiseLevels) };
  };
}

/** Noise levels of the only marker, or of each of several that has them. */
function ofNoise(mixtures: readonly CoefficientMixture[], levels: readonly NoiseLevelColumns[]) {
  const unequal = mixtures.map(({ noise }) => noiseSpread(noise) > 0);
  if (mixtures.length === 1) return unequal[0] ? { noiseLevel: levels[0] } : {};
  return unequal.includes(true) ? { noiseLevels: levels.filter((_, k) => unequal[k]) } : {};
}

/** Places, likelihoods and coefficients of a linear model of several markers, whose coefficients are one Gaussian vector. */
function stackedPlacer(model: LmmModel | FpcaModel, details: boolean): Placer {
  const q = model.mapDimension;
  const balls = LEVELS.map((level) => ballVolume(q, level));
  return (statistics) => {
    const m = statistics[0].numIndividuals;
    const d = statistics.reduce((sum, { basis }) => sum + basis.numBasis, 0);
    const out = emptyBlock(m, q, d, details);
    const { mean, covariance } = linearPlaces(model, statistics);
    out.logLikelihood.set(linearLogLikelihoods(model, statistics));
    if (details) out.coefficients.set(coefficientMeans(statistics, linearParameters(model)));
    for (let i = 0; i < m; i++) {
      const S = showCovariance(model.orientation, covariance.subarray(i * q * q, (i + 1) * q * q), q);
      out.location.set(showLocation(model.orientation, mean.subarray(i * q, (i + 1) * q), q), i * q);
      out.covariance.set(S, i * q * q);
      if (details) [out.area50[i], out.area90[i]] = balls.map((volume) => volume * rootDeterminant(S, q));
    }
    return out;
  };
}

function emptyBlock(m: number, q: number, d: number, details: boolean): PlacedBlock {
  const detailed = details ? m : 0;
  return {
    location: new Float64Array(m * q),
    covariance: new Float64Array(m * q * q),
    logLikelihood: new Float64Array(m),
    coefficients: new Float64Array(detailed * d),
    area50: new Float64Array(detailed),
    area90: new Float64Array(detailed),
    outsideMass: new Float64Array(detailed),
  };
}

/** By the definition, from one posterior after the other. */
function posteriorPlaces(model: TrajectoryModel, mixture: CoefficientMixture): PlaceIndividual {
  const d = mixture.numBasis;
  const outside = outsideNodes(model, mixture);
  const middle = middleVariance(mixture.noise);
  return (statistics, i, logPrior) => {
    const posterior = conditionMixture(withPrior(mixture, logPrior), individualObservations(mixture, statistics, i));
    const coefficients = new Float64Array(d);
    posterior.shares.forEach((w, k) => {
      for (let a = 0; a < d; a++) coefficients[a] += w * posterior.means[k * d + a];
    });
    const moments = locationMoments(posterior, mixture.mapDimension);
    const logLevel = momentsOf(
      posterior.noiseVariances.map((v) => Math.log(v / middle)),
      posterior.shares,
    );
    return { ...moments, ...posterior, coefficients, outsideMass: outsideMass(posterior, outside), logLevel };
  };
}

/** 1 for nodes where the map says nothing, [Γ]. */
export function outsideNodes(model: TrajectoryModel, { locations, numNodes }: CoefficientMixture): Uint8Array {
  return isMapModel(model) ? outsidePlaces(model.markers[0].map, locations) : new Uint8Array(numNodes);
}

/** Posterior mass of the nodes marked by `outside`. */
export function outsideMass({ weights, nodes }: PlacePosterior, outside: Uint8Array): number {
  return weights.reduce((mass, w, k) => mass + w * outside[nodes[k]], 0);
}

/**
 * All nodes at once in WebAssembly: the place comes from weighted sums of x and xx', the outside from those of its indicator,
 * and with V, e and F of observed.ts
 *   E[w | y] = Σ_g w_g m_g + Σ_a M_a F_a,   M_a = Σ_g w_g (V⁻¹e)_ga Σ_g.
 */
function kernelPlaces(model: TrajectoryModel, mixture: CoefficientMixture, details: boolean): PlaceIndividual {
  const { numNodes: n, numBasis: d, mapDimension: q, locations: X } = mixture;
  const outside = outsideNodes(model, mixture);
  const columns = Array.from({ length: n }, (_, g) => {
    const x = X.subarray(g * q, (g + 1) * q);
    const squares = Array.from(x, (v, a) => Array.from(x.subarray(0, a + 1), (u) => u * v)).flat();
    return [...x, ...squares, ...(details ? [outside[g], ...mixture.means.subarray(g * d, (g + 1) * d)] : [])];
  });
  const weigher = nodeWeigher(mixture, Float64Array.from(columns.flat()));
  const { logPrior: prior, totals, weights, sums } = weigher.memory.buffers;
  const spread = noiseSpread(mixture.noise);
  return (statistics, i, logPrior) => {
    prior.set(logPrior ?? mixture.logWeights);
    const { logLikelihood, z, shares, observed } = weigher.weigh(statistics, i, details, true);
    const scale = 1 / totals[2];
    const mean = new Float64Array(q);
    const covariance = new Float64Array(q * q);
    let at = 0;
    for (let a = 0; a < q; a++) mean[a] = scale * sums[at++];
    for (let a = 0; a < q; a++) {
      for (let b = 0; b <= a; b++) {
        covariance[a * q + b] = scale * sums[at++] - mean[a] * mean[b];
        covariance[b * q + a] = covariance[a * q + b];
      }
    }
    const logLevel = momentsOf(
      z.map((v) => spread * v),
      shares,
    );
    const place = { mean, covariance, logLikelihood, logLevel };
    if (!details) return { ...place, weights: NONE, coefficients: NONE, outsideMass: 0 };
    const outsideMass = scale * sums[at++];
    const coefficients = new Float64Array(d);
    for (let k = 0; k < d; k++) coefficients[k] = scale * sums[at++];
    const { rank, functionals: F } = observed;
    for (let a = 0; a < rank; a++) {
      for (let k = 0; k < d; k++) {
        for (let l = 0; l <= k; l++, at++) {
          coefficients[k] += scale * sums[at] * F[a * d + l];
          if (l < k) coefficients[l] += scale * sums[at] * F[a * d + k];
        }
      }
    }
    const kept = weights.slice(0, n).map((w) => scale * w);
    return { ...place, weights: kept, coefficients, outsideMass };
  };
}

const NONE = new Float64Array(0);

interface Moments {
  readonly mean: number;
  readonly sd: number;
}

/** Mean and sd of values under weights that sum to one. */
function momentsOf(values: Float64Array, weights: Float64Array): Moments {
  const mean = dot(values, weights);
  return { mean, sd: Math.sqrt(weights.reduce((sum, w, k) => sum + w * (values[k] - mean) ** 2, 0)) };
}

/** Variances, over those of a cell, below which all mass lies on one node: squares that cancel leave no more. */
const ONE_NODE = 1e-9;

/**
 * The covariance [q,q] of a place on a lattice whose cells have this area. Where all mass lies on one node nothing finer than its cell is known: the
 * place is then uniform in it, as `drawLocations` has it, with variance step²/12.
 */
export function withinCell(S: Float64Array, q: number, cell: number): Float64Array {
  const least = cell ** (2 / q) / 12;
  let out = S;
  for (let a = 0; a < q; a++) {
    if (!(S[a * q + a] < ONE_NODE * least)) continue;
    if (out === S) out = S.slice();
    for (let b = 0; b < q; b++) out[a * q + b] = out[b * q + a] = a === b ? least : 0;
  }
  return out;
}

/** Area of one lattice cell; NaN for nodes that are draws. */
export function cellArea(model: TrajectoryModel, mixture: CoefficientMixture): number {
  const q = model.mapDimension;
  if (!isMapModel(model) || q > 2) return Number.NaN;
  // Nodes of a row, equal in all but the last coordinate, stand one after the other.
  const { locations: X, numNodes } = mixture;
  for (let g = 1; g < numNodes; g++) {
    const sameRow = q === 1 || X[g * q] === X[(g - 1) * q];
    if (sameRow) return Math.abs(X[g * q + q - 1] - X[(g - 1) * q + q - 1]) ** q;
  }
  return Number.NaN;
}

/** Volume of the ball {x'x ≤ χ²_q(level)}: that of the Gaussian region is √|S| times as much. */
function ballVolume(q: number, level: number): number {
  const unitBall = [2, Math.PI, (4 / 3) * Math.PI][q - 1];
  return unitBall * Math.sqrt(chisquareQuantile(level, q)) ** q;
}

/** √|S|; 0 for a singular S. */
function rootDeterminant(S: Float64Array, q: number): number {
  const L = S.slice();
  return choleskyInPlace(L, q) ? Math.exp(0.5 * logDetFromCholesky(L, q)) : 0;
}
