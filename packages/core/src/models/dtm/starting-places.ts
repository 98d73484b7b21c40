/**
 * Where the individuals start: responsibilities proportional to a Gaussian about a first guess of each place
 * (docs/math/dtm.md §9),  r_ig ∝ N(x_g | x̂_i, S_i),  S_i = C_i + 0.15² I (FPCA posterior, widened to the lattice)
 * or s²I (principal component scores, random places). Only their node sums are kept.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { cholesky, invertFromCholesky } from "../../numeric/cholesky.ts";
import { addBlockOuter, ROW_BLOCK } from "../../numeric/row-blocks.ts";
import { type ExpectationWorkspace, normalizeLogWeights, packBlock } from "./expectation-step.ts";
import { type IndividualModel, packedStride } from "./individual-statistics.ts";
import type { MapNodes } from "./nodes.ts";

/** First guesses of the places of all individuals. */
export interface StartingPlaces {
  /** x̂_i, [m,q]. */
  readonly means: Float64Array;
  /** S_i, [m,q,q]. */
  readonly covariances: Float64Array;
}

const LATTICE_SPREAD = 0.15;

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

/** Writes r_i· ∝ N(x_g | x̂_i, S_i) of one individual to out[offset..offset+Γ). */
export function startingResponsibilities(
  nodes: MapNodes,
  places: StartingPlaces,
  individual: number,
  out: Float64Array,
  offset: number,
): void {
  const { mapDimension: q, numNodes, locations } = nodes;
  const { means, covariances } = places;
  const at = individual * q;
  const L = cholesky(covariances.subarray(at * q, (at + q) * q), q, "covariance of a starting place");
  const P = invertFromCholesky(L, q);
  for (let g = 0; g < numNodes; g++) {
    let s = 0;
    for (let a = 0; a < q; a++) {
      const u = locations[g * q + a] - means[at + a];
      for (let b = 0; b < q; b++) s += u * P[a * q + b] * (locations[g * q + b] - means[at + b]);
    }
    out[offset + g] = -0.5 * s;
  }
  normalizeLogWeights(out, offset, offset + numNodes);
}

/** Node sums Σ_i r_ig (g̃_i, G̃_i) of the starting responsibilities of those listed (or all), [K,Γ]. */
export function startingNodeSums(
  statistics: BasisStatistics,
  model: IndividualModel,
  nodes: MapNodes,
  places: StartingPlaces,
  ws: ExpectationWorkspace,
  nodeSums: Float64Array,
  individuals: Int32Array | null = null,
): void {
  const m = individuals === null ? statistics.numIndividuals : individuals.length;
  const stride = packedStride(statistics.basis.numBasis);
  nodeSums.fill(0);
  for (let first = 0; first < m; first += ROW_BLOCK) {
    const size = Math.min(ROW_BLOCK, m - first);
    packBlock(statistics, individuals, first, size, model, ws);
    for (let b = 0; b < size; b++) {
      const i = individuals === null ? first + b : individuals[first + b];
      startingResponsibilities(nodes, places, i, ws.responsibilities, b * nodes.numNodes);
    }
    addBlockOuter(ws.packed, 0, stride, stride, ws.responsibilities, nodes.numNodes, nodeSums);
  }
}
