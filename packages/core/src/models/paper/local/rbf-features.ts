/**
 * Features of the RBF kernel with one length-scale per dimension, Λ = diag(ℓ²) (docs/math/local-step.md §1-2):
 *   ψ1_j  = α |I + Λ⁻¹S|^(−½) exp(−½ (m−z_j)'(Λ+S)⁻¹(m−z_j)),
 *   Ψ2_jk = α² exp(−¼ Σ_c (z_jc−z_kc)²/ℓ_c²) · |I + 2Λ⁻¹S|^(−½) exp(−½ (m−z̄)' 2(Λ+2S)⁻¹ (m−z̄)),  z̄ = (z_j+z_k)/2.
 * The pair's own factor does not depend on q(x); the rest depends on the pair through its midpoint only. On a regular
 * grid the p(p+1)/2 midpoints fall on (2g−1)^q nodes of half the spacing; elsewhere each pair j ≤ k is its own node.
 */
import { choleskyInPlace, invertFromCholesky } from "../../../numeric/cholesky.ts";
import type { RbfKernel } from "../../gp/kernel.ts";
import type { Place } from "./chain-rule.ts";
import { addDerivatives, addDerivatives2, createDerivativeWorkspace } from "./derivatives.ts";
import type { Features } from "./features.ts";
import { generalNodes } from "./general-nodes.ts";
import { type Grid, midpointGrid } from "./grid.ts";
import { gridNodes } from "./grid-nodes.ts";
import { cubeSize, type MomentOrder, type Nodes } from "./nodes.ts";

/** Features for inducing places Z [p,q]; `grid` is Z as a regular grid, or null for the general path. */
export function rbfFeatures(kernel: RbfKernel, Z: Float64Array, p: number, q: number, grid: Grid | null): Features {
  const alpha = kernel.signalVariance;
  const pairs = foldPairs(kernel, Z, p, q, grid);
  const { node, factor } = pairs;
  const first = grid === null ? generalNodes(Z.slice(0, p * q), p, q) : gridNodes(grid);
  const second = grid === null ? generalNodes(pairs.midpoints, node.length, q) : gridNodes(midpointGrid(grid));
  const squares = kernel.lengthscales.map((ell) => ell * ell);
  const bump = createBump(q);
  const tensors = createDerivativeWorkspace(q);
  const moments = new Float64Array(cubeSize(q));

  const shape = q === 2 ? shapeBump2 : shapeBump;

  const addPart = (
    nodes: Nodes,
    w: Float64Array,
    place: Place,
    spread: number,
    order: MomentOrder,
    D: Float64Array,
  ) => {
    const norm = shape(bump, squares, place, spread);
    nodes.moments(w, place.m, bump.R, order, moments);
    if (q === 2) addDerivatives2(moments, bump.R, norm, order, D);
    else addDerivatives(tensors, moments, bump.R, norm, order, D);
  };

  return {
    numFirst: p,
    numSecond: second.numNodes,
    places: q === 2 ? { squares, grid, first: Z.slice(0, p * q), second: pairs.midpoints } : null,
    collapseFirst: (A, d, scale, out, stride) => {
      for (let j = 0; j < p; j++) for (let k = 0; k < d; k++) out[j * stride + k] = scale * alpha * A[j * d + k];
    },
    collapseSecond: (B, at, scale, out, stride, column) => {
      let e = 0;
      for (let j = 0; j < p; j++) {
        for (let k = 0; k < j; k++, e++) {
          const both = B[at + j * p + k] + B[at + k * p + j];
          out[node[e] * stride + column] += scale * factor[e] * both;
        }
        out[node[e] * stride + column] += scale * factor[e] * B[at + j * p + j];
        e++;
      }
    },
    // E[k(x,x)] = α whatever q(x) is.
    collapseVariance: () => {},
    values: (place, firstOut, secondOut) => {
      first.values(place.m, bump.R, shape(bump, squares, place, 1), firstOut);
      second.values(place.m, bump.R, shape(bump, squares, place, 2), secondOut);
    },
    derivatives: (place, w1, w2, order, D) => {
      for (let k = 0; k < D.length; k++) D[k] = 0;
      addPart(first, w1, place, 1, order, D);
      addPart(second, w2, place, 2, order, D);
    },
    expandFirst: (sums, stride, d, out) => {
      for (let j = 0; j < p; j++) for (let k = 0; k < d; k++) out[j * d + k] = alpha * sums[j * stride + k];
    },
    expandSecond: (sums, stride, column, out, at) => {
      let e = 0;
      for (let j = 0; j < p; j++) {
        for (let k = 0; k <= j; k++, e++) {
          const v = factor[e] * sums[node[e] * stride + column];
          out[at + j * p + k] = v;
          out[at + k * p + j] = v;
        }
      }
    },
  };
}

/** Folded pairs j ≥ k in the order of a lower triangle. */
interface FoldedPairs {
  /** Node of each pair. */
  readonly node: Int32Array;
  /** α² exp(−¼ Σ_c (z_jc−z_kc)²/ℓ_c²). */
  readonly factor: Float64Array;
  /** (z_j + z_k)/2, [p(p+1)/2, q]. */
  readonly midpoints: Float64Array;
}

function foldPairs(kernel: RbfKernel, Z: Float64Array, p: number, q: number, grid: Grid | null): FoldedPairs {
  const numPairs = (p * (p + 1)) / 2;
  const node = new Int32Array(numPairs);
  const factor = new Float64Array(numPairs);
  const midpoints = new Float64Array(numPairs * q);
  let e = 0;
  for (let j = 0; j < p; j++) {
    for (let k = 0; k <= j; k++, e++) {
      let s = 0;
      for (let c = 0; c < q; c++) {
        const u = (Z[j * q + c] - Z[k * q + c]) / kernel.lengthscales[c];
        s += u * u;
        midpoints[e * q + c] = 0.5 * (Z[j * q + c] + Z[k * q + c]);
      }
      factor[e] = kernel.signalVariance ** 2 * Math.exp(-0.25 * s);
      node[e] = grid === null ? e : midpointNode(grid.counts, j, k);
    }
  }
  return { node, factor, midpoints };
}

/** Number of the node at the midpoint of grid places j and k: their steps per dimension add up. */
function midpointNode(counts: Int32Array, j: number, k: number): number {
  let node = 0;
  let stride = 1;
  for (let c = counts.length - 1; c >= 0; c--) {
    const n = counts[c];
    node += ((j % n) + (k % n)) * stride;
    stride *= 2 * n - 1;
    j = Math.floor(j / n);
    k = Math.floor(k / n);
  }
  return node;
}

/** Shape of the bump exp(−½ u'Ru) that a Gaussian q(x) makes of the kernel. */
interface Bump {
  readonly R: Float64Array; // [q,q]
  readonly factor: Float64Array; // [q,q]
  readonly scratch: Float64Array; // [q,q]
}

function createBump(q: number): Bump {
  return { R: new Float64Array(q * q), factor: new Float64Array(q * q), scratch: new Float64Array(q * q) };
}

/** R = spread · (Λ + spread·S)⁻¹; returns |I + spread·Λ⁻¹S|^(−½). spread = 1 for ψ1, 2 for Ψ2. */
function shapeBump(bump: Bump, squares: Float64Array, place: Place, spread: number): number {
  const { q, S } = place;
  const { R, factor: L, scratch } = bump;
  let norm = 1;
  for (let k = 0; k < q * q; k++) L[k] = spread * S[k];
  for (let c = 0; c < q; c++) L[c * q + c] += squares[c];
  choleskyInPlace(L, q);
  for (let c = 0; c < q; c++) norm *= Math.sqrt(squares[c]) / L[c * q + c];
  invertFromCholesky(L, q, R, scratch);
  for (let k = 0; k < q * q; k++) R[k] *= spread;
  return norm;
}

/** `shapeBump` for q = 2; the determinant is a sum of positive terms, |S| = (T_11 T_22)². */
function shapeBump2(bump: Bump, squares: Float64Array, place: Place, spread: number): number {
  const { S, T } = place;
  const { R } = bump;
  const a = squares[0];
  const b = squares[1];
  const root = spread * T[0] * T[3];
  const determinant = a * b + spread * (a * S[3] + b * S[0]) + root * root;
  const scale = spread / determinant;
  R[0] = scale * (b + spread * S[3]);
  R[1] = -scale * spread * S[1];
  R[2] = R[1];
  R[3] = scale * (a + spread * S[0]);
  return Math.sqrt((a * b) / determinant);
}
