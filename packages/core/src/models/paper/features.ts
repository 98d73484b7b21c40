/**
 * Expected kernel features of q(x) = N(m,S): the few numbers per individual from which ψ1 [p] and Ψ2 [p,p] follow by
 * fixed linear maps,   ψ1 = C1 · first,   Ψ2 = C2 · second   (docs/math/local-step.md §2).
 * Weights on ψ1, Ψ2 are collapsed onto the features once per global state (C1', C2'), sums over individuals are gathered
 * in features and expanded once. Tables have one row of features per statistic of an individual.
 */
import { choleskyInPlace, invertFromCholesky } from "../../numeric/cholesky.ts";
import { multiply, transpose } from "../../numeric/matrix.ts";
import {
  addBumps,
  type Bumps,
  bump,
  createDerivatives,
  type DerivativeOrder,
  type Derivatives,
} from "./derivatives.ts";
import { detectGrid, type Grid } from "./grid.ts";
import type { InducingKernel, Place } from "./state.ts";

export interface Features {
  readonly numFirst: number;
  readonly numSecond: number;
  /** The grid of the inducing points, whose nodes are stored with an even number per dimension; null if they are none. */
  readonly grid: Grid | null;
  /** Row k of out [d,numFirst] = scale · C1'a_k for the columns a_k of A [p,d]. */
  collapseFirst(A: Float64Array, d: number, scale: number, out: Float64Array): void;
  /** out += scale · C2'B for B [p,p]; out [numSecond]. */
  collapseSecond(B: Float64Array, scale: number, out: Float64Array): void;
  /** out += scale · v, where E[k(x,x)] = constant + v'second; the constant is the caller's. */
  collapseVariance(scale: number, out: Float64Array): void;
  /** The features of a place. */
  values(place: Pick<Place, "m" | "S">, first: Float64Array, second: Float64Array): void;
  /** F = w1'first + w2'second with its derivatives in m; `slopes` [q] gets ½(D2 + D2 of w1'first)_cc. */
  derivatives(
    place: Place,
    w1: Float64Array,
    w2: Float64Array,
    order: DerivativeOrder,
    slopes: Float64Array,
  ): Derivatives;
  /** out [p,d] = C1 times the rows of sums [d,numFirst]. */
  expandFirst(sums: Float64Array, d: number, out: Float64Array): void;
  /** out [p,p] = C2 · sums [numSecond]. */
  expandSecond(sums: Float64Array, out: Float64Array): void;
}

/** Features for the inducing points. */
export function featuresOf(at: InducingKernel): Features {
  return at.kernel.kind === "linear" ? linearFeatures(at) : rbfFeatures(at, at.kernel.lengthscales);
}

/**
 * RBF, Λ = diag(ℓ²):
 *   ψ1_j  = α |I + Λ⁻¹S|^(−½) exp(−½ (m−z_j)'(Λ+S)⁻¹(m−z_j)),
 *   Ψ2_jk = α² exp(−¼ Σ_c (z_jc−z_kc)²/ℓ_c²) · |I + 2Λ⁻¹S|^(−½) exp(−½ (m−z̄)' 2(Λ+2S)⁻¹ (m−z̄)),  z̄ = (z_j+z_k)/2.
 * The pair's own factor does not depend on q(x); the rest depends on the pair through its midpoint only. On a regular
 * grid the p(p+1)/2 midpoints fall on (2g−1)^q nodes of half the spacing; elsewhere each pair j ≥ k is its own node.
 */
function rbfFeatures(at: InducingKernel, lengthscales: Float64Array): Features {
  const { inducingLocations: Z, numInducing: p, mapDimension: q } = at;
  const alpha = at.kernel.signalVariance;
  const grid = detectGrid(Z, p, q);
  const numPairs = (p * (p + 1)) / 2;
  // Nodes per dimension: of the grid, and of its midpoints, made even for the kernel. Those that only fill up have no weight.
  const extents = (times: number) => grid?.counts.map((n) => 2 * Math.ceil((times * (n - 1) + 1) / 2));
  const [ofPlaces, ofPairs] = [extents(1), extents(2)];
  const numFirst = ofPlaces?.reduce((a, b) => a * b) ?? p;
  const numSecond = ofPairs?.reduce((a, b) => a * b) ?? numPairs;
  const first = new Int32Array(p); // node of z_j
  const second = new Int32Array(numPairs); // node of pair j ≥ k, in the order of a lower triangle
  const factor = new Float64Array(numPairs); // α² exp(−¼ Σ_c (z_jc−z_kc)²/ℓ_c²)
  const places = { first: new Float64Array(numFirst * q), second: new Float64Array(numSecond * q) };
  for (let j = 0, e = 0; j < p; j++) {
    first[j] = grid === null ? j : gridNode(grid.counts, ofPlaces!, j, 0);
    for (let c = 0; c < q; c++) places.first[first[j] * q + c] = Z[j * q + c];
    for (let k = 0; k <= j; k++, e++) {
      second[e] = grid === null ? e : gridNode(grid.counts, ofPairs!, j, k);
      let apart = 0;
      for (let c = 0; c < q; c++) {
        apart += ((Z[j * q + c] - Z[k * q + c]) / lengthscales[c]) ** 2;
        places.second[second[e] * q + c] = 0.5 * (Z[j * q + c] + Z[k * q + c]);
      }
      factor[e] = alpha * alpha * Math.exp(-0.25 * apart);
    }
  }
  const y = new Float64Array(q);
  /** Bumps of ψ1 and of Ψ2. */
  const bumpsAt = ({ m, S }: Pick<Place, "m" | "S">): readonly [Bumps, Bumps] => [
    { nodes: places.first, m, ...bumpShape(lengthscales, S, 1) },
    { nodes: places.second, m, ...bumpShape(lengthscales, S, 2) },
  ];
  return {
    numFirst,
    numSecond,
    grid,
    collapseFirst: (A, d, scale, out) => {
      for (let j = 0; j < p; j++)
        for (let k = 0; k < d; k++) out[k * numFirst + first[j]] = scale * alpha * A[j * d + k];
    },
    collapseSecond: (B, scale, out) => {
      for (let j = 0, e = 0; j < p; j++) {
        for (let k = 0; k < j; k++, e++) out[second[e]] += scale * factor[e] * (B[j * p + k] + B[k * p + j]);
        out[second[e]] += scale * factor[e++] * B[j * p + j];
      }
    },
    // E[k(x,x)] = α whatever q(x) is.
    collapseVariance: () => {},
    values: (place, firstOut, secondOut) => {
      const [one, two] = bumpsAt(place);
      for (let n = 0; n < numFirst; n++) firstOut[n] = bump(one, n, y);
      for (let n = 0; n < numSecond; n++) secondOut[n] = bump(two, n, y);
    },
    derivatives: (place, w1, w2, order, slopes) => {
      const D = createDerivatives(q);
      const [one, two] = bumpsAt(place);
      addBumps(one, w1, order, D);
      for (let c = 0; c < q; c++) slopes[c] = 0.5 * D.second[c * (q + 1)];
      addBumps(two, w2, order, D);
      for (let c = 0; c < q; c++) slopes[c] += 0.5 * D.second[c * (q + 1)];
      return D;
    },
    expandFirst: (sums, d, out) => {
      for (let j = 0; j < p; j++) for (let k = 0; k < d; k++) out[j * d + k] = alpha * sums[k * numFirst + first[j]];
    },
    expandSecond: (sums, out) => {
      for (let j = 0, e = 0; j < p; j++) {
        for (let k = 0; k <= j; k++, e++) {
          const v = factor[e] * sums[second[e]];
          out[j * p + k] = v;
          out[k * p + j] = v;
        }
      }
    },
  };
}

/** Number of the node where the steps of grid places j and k add up: of their midpoint, or of j itself for k = 0. */
function gridNode(counts: Int32Array, extents: Int32Array, j: number, k: number): number {
  let node = 0;
  let stride = 1;
  for (let c = counts.length - 1; c >= 0; c--) {
    const n = counts[c];
    node += ((j % n) + (k % n)) * stride;
    stride *= extents[c];
    j = Math.floor(j / n);
    k = Math.floor(k / n);
  }
  return node;
}

/** R = spread · (Λ + spread·S)⁻¹ and norm = |I + spread·Λ⁻¹S|^(−½): spread = 1 for ψ1, 2 for Ψ2. */
export function bumpShape(lengthscales: Float64Array, S: Float64Array, spread: number) {
  const q = lengthscales.length;
  const L = S.slice(0, q * q).map((s) => spread * s);
  for (let c = 0; c < q; c++) L[c * q + c] += lengthscales[c] ** 2;
  choleskyInPlace(L, q);
  let norm = 1;
  for (let c = 0; c < q; c++) norm *= lengthscales[c] / L[c * q + c];
  return { R: invertFromCholesky(L, q).map((r) => spread * r), norm };
}

/**
 * Linear, k(x,z) = α x'z: ψ1 = αZm, Ψ2 = α²ZXZ', E[k(x,x)] = α tr X with X = S + mm'; `second` holds the entries of X,
 * [q,q]. F is quadratic in m, with the same heat equation as every expectation under N(m,S): D3 = D4 = 0.
 */
function linearFeatures({ kernel, inducingLocations: Z, numInducing: p, mapDimension: q }: InducingKernel): Features {
  const alpha = kernel.signalVariance;
  const ZT = transpose(Z, p, q);
  return {
    numFirst: q,
    numSecond: q * q,
    grid: null,
    collapseFirst: (A, d, scale, out) => {
      multiply(transpose(A, p, d), Z, d, p, q, out);
      for (let e = 0; e < d * q; e++) out[e] *= scale * alpha;
    },
    collapseSecond: (B, scale, out) => {
      const collapsed = multiply(multiply(ZT, B, q, p, p), Z, q, p, q);
      for (let e = 0; e < q * q; e++) out[e] += scale * alpha * alpha * collapsed[e];
    },
    collapseVariance: (scale, out) => {
      for (let c = 0; c < q; c++) out[c * q + c] += scale * alpha;
    },
    values: ({ m, S }, first, second) => {
      for (let c = 0; c < q; c++) {
        first[c] = m[c];
        for (let b = 0; b < q; b++) second[c * q + b] = S[c * q + b] + m[c] * m[b];
      }
    },
    derivatives: ({ m, S }, w1, w2, _order, slopes) => {
      const D = createDerivatives(q);
      slopes.fill(0);
      for (let c = 0; c < q; c++) {
        D.value += w1[c] * m[c];
        D.first[c] += w1[c];
        for (let b = 0; b < q; b++) {
          const e = c * q + b;
          const both = w2[e] + w2[b * q + c];
          D.value += w2[e] * (S[e] + m[c] * m[b]);
          D.first[c] += both * m[b];
          D.second[e] += both;
        }
      }
      return D;
    },
    expandFirst: (sums, d, out) => {
      multiply(Z, transpose(sums, d, q), p, q, d, out);
      for (let e = 0; e < p * d; e++) out[e] *= alpha;
    },
    expandSecond: (sums, out) => {
      multiply(multiply(Z, sums, p, q, q), ZT, p, q, p, out);
      for (let e = 0; e < p * p; e++) out[e] *= alpha * alpha;
    },
  };
}
