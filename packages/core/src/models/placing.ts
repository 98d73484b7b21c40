/**
 * Placing many individuals (docs/math/prediction.md §2): from statistics to columns of places, block by block, through the
 * WebAssembly weigher where it runs (models/mixture/wasm-placing.ts), elsewhere one individual's posterior at a time.
 * Weights over the nodes of more than one individual never exist.
 */
import type { BasisStatistics } from "../basis/statistics.ts";
import { chisquareQuantile } from "../numeric/special.ts";
import { chooseKernels, type KernelChoice } from "../wasm/instance.ts";
import { linearPlaces } from "./linear/scores.ts";
import { addNodeMean, type CoefficientMixture, loadIndividual, mixtureWorkspace } from "./mixture/mixture.ts";
import { locationMoments } from "./mixture/place.ts";
import { type PlacePosterior, placePosterior } from "./mixture/posterior.ts";
import { createNodeWeigher, weighColumns, weighIndividual } from "./mixture/wasm-placing.ts";
import { inducingDistance, isMapModel, type TrajectoryModel } from "./model.ts";
import { showCovariance, showLocation } from "./orient.ts";

/** Places of a block of individuals, in the shown frame; names and shapes as in `Placements`. Without details the last four are empty. */
export interface PlacedBlock {
  readonly location: Float64Array; // [m,q]
  readonly covariance: Float64Array; // [m,q,q]
  readonly logLikelihood: Float64Array; // [m]
  readonly coefficients: Float64Array; // [m,d]
  readonly area50: Float64Array; // [m]
  readonly area90: Float64Array; // [m]
  readonly outsideMass: Float64Array; // [m]
}

/** Places the individuals of the statistics. */
export type Placer = (statistics: BasisStatistics) => PlacedBlock;

/** A placer under a model; it keeps tables of the mixture, so one serves many blocks. */
export function createPlacer(
  model: TrajectoryModel,
  mixture: CoefficientMixture,
  kernels: KernelChoice = "auto",
  details = true,
): Placer {
  const fast = chooseKernels(kernels) === "wasm-simd";
  return fast ? weigherPlacer(model, mixture, details) : posteriorPlacer(model, mixture, details);
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

/** One posterior after the other. */
function posteriorPlacer(model: TrajectoryModel, mixture: CoefficientMixture, details: boolean): Placer {
  const cell = cellArea(model, mixture);
  const q = model.mapDimension;
  const d = model.basis.numBasis;
  const isOutside = outsideNodes(model, mixture);
  const work = mixtureWorkspace(mixture);
  return (statistics) => {
    const m = statistics.numIndividuals;
    const out = emptyBlock(m, q, d, details);
    const linear = isMapModel(model) ? null : linearPlaces(model, statistics);
    for (let i = 0; i < m; i++) {
      loadIndividual(mixture, statistics, i, work);
      const posterior = placePosterior(mixture, work);
      const { nodes, weights } = posterior;
      const raw =
        linear === null
          ? locationMoments(posterior, q)
          : {
              mean: linear.mean.subarray(i * q, (i + 1) * q),
              covariance: linear.covariance.subarray(i * q * q, (i + 1) * q * q),
            };
      const covariance = showCovariance(model.orientation, raw.covariance, q);
      out.location.set(showLocation(model.orientation, raw.mean, q), i * q);
      out.covariance.set(covariance, i * q * q);
      out.logLikelihood[i] = posterior.logLikelihood;
      if (!details) continue;
      for (let k = 0; k < nodes.length; k++) {
        addNodeMean(mixture, nodes[k], weights[k], work, out.coefficients, i * d);
      }
      const heaviest = Number.isFinite(cell) ? weights.slice().sort() : null;
      out.area50[i] = heaviest ? heaviestCount(heaviest, 0.5) * cell : ellipsoidVolume(covariance, q, 0.5);
      out.area90[i] = heaviest ? heaviestCount(heaviest, 0.9) * cell : ellipsoidVolume(covariance, q, 0.9);
      out.outsideMass[i] = massOf(posterior, isOutside);
    }
    return out;
  };
}

/**
 * All nodes at once in WebAssembly; the place on a map comes from weighted sums of x, xx' and the outside, that of a linear
 * model from its scores.
 */
function weigherPlacer(model: TrajectoryModel, mixture: CoefficientMixture, details: boolean): Placer {
  const cell = cellArea(model, mixture);
  const { numNodes: n, locations: X, means } = mixture;
  const q = model.mapDimension;
  const d = model.basis.numBasis;
  const isMap = isMapModel(model);
  const numMoments = isMap ? q + (q * (q + 1)) / 2 : 0;
  const columns = new Float64Array((numMoments + (details ? 1 + d : 0)) * n);
  const isOutside = outsideNodes(model, mixture);
  for (let g = 0; g < n; g++) {
    let c = 0;
    if (isMap) {
      for (let a = 0; a < q; a++) columns[c++ * n + g] = X[g * q + a];
      for (let a = 0; a < q; a++) for (let b = 0; b <= a; b++) columns[c++ * n + g] = X[g * q + a] * X[g * q + b];
    }
    if (!details) continue;
    columns[c++ * n + g] = isOutside[g];
    for (let k = 0; k < d; k++) columns[c++ * n + g] = means[g * d + k];
  }
  const weigher = createNodeWeigher(mixture, columns);
  const { sums, totals, weights } = weigher;
  const count = createHeaviestCounter(weights, n);
  const mean = new Float64Array(q);
  const S = new Float64Array(q * q);
  return (statistics) => {
    const m = statistics.numIndividuals;
    const out = emptyBlock(m, q, d, details);
    const linear = isMapModel(model) ? null : linearPlaces(model, statistics);
    for (let i = 0; i < m; i++) {
      out.logLikelihood[i] = details
        ? weighIndividual(weigher, statistics, i, numMoments + 1, out.coefficients, i * d)
        : weighColumns(weigher, statistics, i);
      const total = totals[2];
      if (linear === null) momentsOfSums(sums, total, q, mean, S);
      else {
        for (let a = 0; a < q; a++) mean[a] = linear.mean[i * q + a];
        for (let a = 0; a < q * q; a++) S[a] = linear.covariance[i * q * q + a];
      }
      const covariance = showCovariance(model.orientation, S, q);
      out.location.set(showLocation(model.orientation, mean, q), i * q);
      out.covariance.set(covariance, i * q * q);
      if (!details) continue;
      out.outsideMass[i] = sums[numMoments] / total;
      if (Number.isFinite(cell)) {
        const found = count(total);
        out.area50[i] = found.half * cell;
        out.area90[i] = found.most * cell;
      } else {
        out.area50[i] = ellipsoidVolume(covariance, q, 0.5);
        out.area90[i] = ellipsoidVolume(covariance, q, 0.9);
      }
    }
    return out;
  };
}

/** Mean and covariance from Σ wx and Σ wxx' (lower triangle). */
function momentsOfSums(sums: Float64Array, total: number, q: number, mean: Float64Array, S: Float64Array): void {
  for (let a = 0; a < q; a++) mean[a] = sums[a] / total;
  for (let a = 0, c = q; a < q; a++) {
    for (let b = 0; b <= a; b++) {
      S[a * q + b] = sums[c++] / total - mean[a] * mean[b];
      S[b * q + a] = S[a * q + b];
    }
  }
}

/** Buckets per factor of two of the weights, as bits of the mantissa; weights span 1e-9 to 1 of the largest. */
const BUCKET_BITS = 4;
const OCTAVES = 32;

/**
 * How many of the heaviest weights hold one half and 90 % of the total, without sorting them all: weights are counted and
 * summed in buckets of nearly equal weight, found by the leading bits of the number, and only the bucket in which a level
 * is passed is sorted.
 */
function createHeaviestCounter(
  weights: Float64Array,
  n: number,
): (total: number) => {
  readonly half: number;
  readonly most: number;
} {
  const numBuckets = OCTAVES << BUCKET_BITS;
  const masses = new Float64Array(numBuckets);
  const counts = new Int32Array(numBuckets);
  const places = new Int32Array(n);
  const buckets = new Int32Array(n);
  const inBucket = new Float64Array(n);
  // Weights stand in WebAssembly memory, whose numbers begin with their low bits on every machine.
  const words = new Uint32Array(weights.buffer, weights.byteOffset, 2 * n);
  return (total) => {
    masses.fill(0);
    counts.fill(0);
    // Lighter nodes hold less than 9 % together, so the heaviest 90 % are never among them.
    const least = (0.09 * total) / n;
    let kept = 0;
    // Positive numbers are ordered like their bits; the largest falls into the last bucket, whatever its scale.
    let top = 0;
    for (let g = 0; g < n; g++) {
      if (weights[g] < least) continue;
      places[kept++] = g;
      if (words[2 * g + 1] > top) top = words[2 * g + 1];
    }
    const shift = numBuckets - 1 - (top >>> (20 - BUCKET_BITS));
    for (let k = 0; k < kept; k++) {
      const g = places[k];
      const bucket = Math.max(shift + (words[2 * g + 1] >>> (20 - BUCKET_BITS)), 0);
      masses[bucket] += weights[g];
      counts[bucket]++;
      buckets[k] = bucket;
    }
    const countTo = (level: number): number => {
      const wanted = level * total;
      let mass = 0;
      let count = 0;
      let bucket = numBuckets - 1;
      while (bucket > 0 && mass + masses[bucket] < wanted) {
        mass += masses[bucket];
        count += counts[bucket--];
      }
      let size = 0;
      for (let k = 0; k < kept; k++) if (buckets[k] === bucket) inBucket[size++] = weights[places[k]];
      const sorted = inBucket.subarray(0, size).sort();
      for (let k = size - 1; k >= 0 && mass < wanted; k--) {
        mass += sorted[k];
        count++;
      }
      return count;
    };
    return { half: countTo(0.5), most: countTo(0.9) };
  };
}

/** 1 for nodes further than a length-scale from every inducing place. */
export function outsideNodes(model: TrajectoryModel, mixture: CoefficientMixture): Uint8Array {
  const outside = new Uint8Array(mixture.numNodes);
  if (!isMapModel(model)) return outside;
  const q = model.mapDimension;
  for (let g = 0; g < outside.length; g++)
    outside[g] = inducingDistance(model.map, mixture.locations, g * q) > 1 ? 1 : 0;
  return outside;
}

/** Posterior mass of the chosen nodes. */
export function massOf(posterior: PlacePosterior, chosen: Uint8Array): number {
  let mass = 0;
  for (let k = 0; k < posterior.nodes.length; k++) if (chosen[posterior.nodes[k]] === 1) mass += posterior.weights[k];
  return mass;
}

/** Area of one lattice cell; NaN for nodes that are draws. */
function cellArea(model: TrajectoryModel, mixture: CoefficientMixture): number {
  if (!isMapModel(model)) return Number.NaN;
  const q = model.mapDimension;
  if (q > 2) return Number.NaN;
  // Nodes of a row, equal in all but the last coordinate, stand one after the other.
  const { locations: X, numNodes } = mixture;
  for (let g = 1; g < numNodes; g++) {
    const sameRow = q === 1 || X[g * q] === X[(g - 1) * q];
    if (sameRow) return Math.abs(X[g * q + q - 1] - X[(g - 1) * q + q - 1]) ** q;
  }
  return Number.NaN;
}

/** How many of the heaviest weights hold `level`; weights ascending. */
function heaviestCount(ascending: Float64Array, level: number): number {
  let mass = 0;
  let count = 0;
  while (count < ascending.length && mass < level) mass += ascending[ascending.length - ++count];
  return count;
}

/** Volume of the Gaussian region {x'S⁻¹x ≤ χ²_q(level)}. */
function ellipsoidVolume(S: Float64Array, q: number, level: number): number {
  // The quantile has a closed form for q = 2.
  const radius = Math.sqrt(q === 2 ? -2 * Math.log(1 - level) : chisquareQuantile(level, q));
  const unitBall = [2, Math.PI, (4 / 3) * Math.PI][q - 1];
  return unitBall * radius ** q * Math.sqrt(Math.max(determinant(S, q), 0));
}

function determinant(S: Float64Array, q: number): number {
  if (q === 1) return S[0];
  if (q === 2) return S[0] * S[3] - S[1] * S[2];
  const minor = (a: number, b: number, c: number, d: number) => S[a] * S[d] - S[b] * S[c];
  return S[0] * minor(4, 5, 7, 8) - S[1] * minor(3, 5, 6, 8) + S[2] * minor(3, 4, 6, 7);
}
