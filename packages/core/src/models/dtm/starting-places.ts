/**
 * Where the individuals start: responsibilities proportional to a Gaussian about a first guess of each place
 * (docs/math/dtm.md §9),  r_ig ∝ N(x_g | x̂_i, S_i),  S_i = C_i + 0.15² I (FPCA posterior, widened to the lattice)
 * or s²I (principal component scores, random places). Only their node sums are kept.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { cholesky, invertFromCholesky } from "../../numeric/cholesky.ts";
import { createRandom } from "../../numeric/random.ts";
import type { MapStart } from "../map-start.ts";
import { addWeighted, nodeWeights } from "./expectation-step.ts";
import { type IndividualModel, individualStatistics } from "./individual-statistics.ts";
import { type LevelSquares, levelStatistics } from "./level-statistics.ts";
import type { MapNodes } from "./nodes.ts";

/** First guesses of the places of all individuals. */
export interface StartingPlaces {
  /** x̂_i, [m,q]. */
  readonly means: Float64Array;
  /** S_i, [m,q,q]. */
  readonly covariances: Float64Array;
}

const LATTICE_SPREAD = 0.15;
/** Spread of a start from point guesses. */
const POINT_SPREAD = 0.3;

/**
 * Places of the start with the given index: 0 FPCA, 1 principal component scores, from 2 on random. `before` individuals of the cohort come
 * before these.
 */
export function startingPlaces(start: MapStart, index: number, q: number, seed: number, before = 0): StartingPlaces {
  if (index === 0) return placesFromPosterior(start.locationMean, start.locationCovariance, q);
  if (index === 1) return placesWithSpread(start.scores!, q, POINT_SPREAD);
  // Each random start has its own stream, so that it does not depend on how many came before.
  const random = createRandom(seed + 1000003 * (index - 1));
  for (let k = 0; k < before * q; k++) random.normal();
  return placesWithSpread(
    start.locationMean.map(() => random.normal()),
    q,
    POINT_SPREAD,
  );
}

/** Starting places from posterior means and covariances, widened so that a lattice can hold them. */
export function placesFromPosterior(means: Float64Array, covariances: Float64Array, q: number): StartingPlaces {
  const widened = covariances.slice();
  for (let e = 0; e < widened.length; e += q * q) {
    for (let c = 0; c < q; c++) widened[e + c * q + c] += LATTICE_SPREAD * LATTICE_SPREAD;
  }
  return { means, covariances: widened };
}

/** Starting places with the same standard deviation for everybody. */
export function placesWithSpread(means: Float64Array, q: number, spread: number): StartingPlaces {
  const covariances = new Float64Array(means.length * q);
  for (let e = 0; e < covariances.length; e += q * q) {
    for (let c = 0; c < q; c++) covariances[e + c * q + c] = spread * spread;
  }
  return { means, covariances };
}

/** Starting responsibilities as the kernel reads them: r_ig ∝ exp Σ_t terms[i,t] powers[t,g]. */
export interface StartingWeights {
  /** [m,T], T = q + q(q+1)/2. */
  readonly terms: Float64Array;
  readonly powers: Float64Array; // [T,Γ]
}

/** The weights r_i· ∝ N(x_g | x̂_i, S_i) of individuals at the given places. */
export function startingWeights(nodes: MapNodes, places: StartingPlaces): StartingWeights {
  return { terms: placeTerms(places, nodes.mapDimension), powers: nodePowers(nodes) };
}

/** Adds Σ_i r_ig (g̃_i, G̃_i) of the starting responsibilities to node sums [K,Γ], those of one marker after the other. */
export function addStartingSums(
  statistics: readonly BasisStatistics[],
  models: readonly IndividualModel[],
  { terms, powers }: StartingWeights,
  nodeSums: Float64Array,
  squares?: readonly (LevelSquares | undefined)[],
): void {
  const m = statistics[0].numIndividuals;
  const numTerms = terms.length / m;
  const even = new Float64Array(powers.length / numTerms);
  const r = new Float64Array(even.length);
  for (let i = 0; i < m; i++) {
    nodeWeights(terms.subarray(i * numTerms, (i + 1) * numTerms), powers, even, r);
    let at = 0;
    models.forEach((model, k) => {
      const width = 1 + model.mean.length;
      const before = squares?.[k]?.before.subarray(i * width, (i + 1) * width);
      const { row } = before
        ? levelStatistics(statistics[k], i, model, before)
        : individualStatistics(statistics[k], i, model);
      addWeighted(row, r, nodeSums.subarray(at, at + row.length * r.length));
      at += row.length * r.length;
    });
  }
}

/**
 * −½(x − x̂)'S⁻¹(x − x̂), less what does not depend on x, as coefficients of the powers of `nodePowers`: S⁻¹x̂, then −½(S⁻¹)_aa
 * and −(S⁻¹)_ab; [count, q + q(q+1)/2].
 */
function placeTerms({ means, covariances }: StartingPlaces, q: number): Float64Array {
  const count = means.length / q;
  const terms = new Float64Array(count * (q + (q * (q + 1)) / 2));
  let at = 0;
  for (let i = 0; i < count; i++) {
    const S = covariances.subarray(i * q * q, (i + 1) * q * q);
    const P = invertFromCholesky(cholesky(S, q, "covariance of a starting place"), q);
    for (let a = 0; a < q; a++) {
      for (let b = 0; b < q; b++) terms[at] += P[a * q + b] * means[i * q + b];
      at++;
    }
    for (let a = 0; a < q; a++) for (let b = a; b < q; b++) terms[at++] = (a === b ? -0.5 : -1) * P[a * q + b];
  }
  return terms;
}

/** Coordinates and products of two coordinates of the nodes, [q + q(q+1)/2, Γ]. */
export function nodePowers({ locations, mapDimension: q, numNodes }: MapNodes): Float64Array {
  const powers = new Float64Array((q + (q * (q + 1)) / 2) * numNodes);
  for (let g = 0; g < numNodes; g++) {
    let row = g;
    for (let a = 0; a < q; a++, row += numNodes) powers[row] = locations[g * q + a];
    for (let a = 0; a < q; a++) {
      for (let b = a; b < q; b++, row += numNodes) powers[row] = locations[g * q + a] * locations[g * q + b];
    }
  }
  return powers;
}
