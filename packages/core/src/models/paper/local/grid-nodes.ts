/**
 * Gaussian bumps on regular grids by geometric recurrences (docs/math/local-step.md §4).
 * Along a row of the grid the exponent is a parabola in the node's number, so that the ratio of neighbouring values is
 * itself geometric: two multiplications per node and three exponentials per row. Every walk starts at the node nearest
 * the row's peak and goes outwards, where all ratios are ≤ 1: nothing overflows.
 * One plain form serves q = 1, 2, 3: three nested dimensions, leading ones of a single node. q = 2 has a faster one
 * (grid-nodes-2.ts) for all but extreme arguments.
 */
import { fastExp } from "../../../numeric/exp.ts";
import { type Grid, gridSize } from "./grid.ts";
import { createFusedGrid, fusedMoments, fusedValues, startFused } from "./grid-nodes-2.ts";
import type { Nodes } from "./nodes.ts";

/** The nodes of a regular grid. */
export function gridNodes(grid: Grid): Nodes {
  const numNodes = gridSize(grid);
  const walk = createWalk(grid);
  const scratch = new Float64Array(numNodes);
  const plain: Nodes = {
    numNodes,
    values: (m, R, scale, out) => walkValues(walk, m, R, scale, out),
    moments: (w, m, R, _order, moments) => {
      walkValues(walk, m, R, 1, scratch);
      walkMoments(walk, m, w, scratch, moments);
    },
  };
  if (grid.q !== 2) return plain;
  const fused = createFusedGrid(grid);
  return {
    numNodes,
    values: (m, R, scale, out) => {
      if (startFused(fused, m, R)) fusedValues(fused, scale, out);
      else plain.values(m, R, scale, out);
    },
    moments: (w, m, R, order, moments) => {
      if (startFused(fused, m, R)) fusedMoments(fused, w, moments);
      else plain.moments(w, m, R, order, moments);
    },
  };
}

/** A grid seen as three nested dimensions; those before the first of q have one node at the mean. */
interface Walk {
  readonly q: number;
  readonly counts: Int32Array; // [3]
  readonly first: Float64Array; // [3]
  readonly spacing: Float64Array; // [3]
  readonly plane: Float64Array; // [25] moments of one plane
}

function createWalk(grid: Grid): Walk {
  const { q } = grid;
  const counts = new Int32Array(3).fill(1);
  const first = new Float64Array(3);
  const spacing = new Float64Array(3).fill(1);
  counts.set(grid.counts, 3 - q);
  first.set(grid.first, 3 - q);
  spacing.set(grid.spacing, 3 - q);
  return { q, counts, first, spacing, plane: new Float64Array(25) };
}

/**
 * out[a,b,c] = scale · exp(−½ u'Ru), u = (u, v, w). For a row (u, v fixed) with the abbreviations
 *   κ = R_uw u + R_vw v,   γ = ½(R_uu u² + 2 R_uv u v + R_vv v²)
 * the exponent is −(½ R_ww w² + κ w + γ); its peak is at w = −κ/R_ww, and the step from w to w − h has the ratio
 *   exp(y h − ½ R_ww h²),   y = R_ww w + κ,   falling by the factor exp(−R_ww h²) at each further step.
 */
function walkValues(walk: Walk, m: Float64Array, R: Float64Array, scale: number, out: Float64Array): void {
  const { q, counts, first, spacing } = walk;
  const [n0, n1, n2] = counts;
  const [h0, h1, h2] = spacing;
  const u0 = q > 2 ? m[q - 3] - first[0] : 0;
  const v0 = q > 1 ? m[q - 2] - first[1] : 0;
  const w0 = m[q - 1] - first[2];
  const Ruu = q > 2 ? R[0] : 0;
  const Ruv = q > 2 ? R[1] : 0;
  const Ruw = q > 2 ? R[2] : 0;
  const Rvv = q > 1 ? R[(q - 2) * q + q - 2] : 0;
  const Rvw = q > 1 ? R[(q - 2) * q + q - 1] : 0;
  const Rww = R[q * q - 1];
  const half = 0.5 * Rww * h2 * h2;
  const fall = fastExp(-2 * half);
  let row = 0;
  for (let a = 0; a < n0; a++) {
    const u = u0 - a * h0;
    for (let b = 0; b < n1; b++) {
      const v = v0 - b * h1;
      const kappa = Ruw * u + Rvw * v;
      const gamma = 0.5 * (Ruu * u * u + 2 * Ruv * u * v + Rvv * v * v);
      const peak = Math.round((w0 + kappa / Rww) / h2);
      const start = Math.min(Math.max(peak, 0), n2 - 1);
      const w = w0 - start * h2;
      const top = scale * fastExp(-((0.5 * Rww * w + kappa) * w + gamma));
      out[row + start] = top;
      const slope = (Rww * w + kappa) * h2;
      let e = top;
      let ratio = fastExp(slope - half);
      for (let c = start + 1; c < n2; c++) {
        e *= ratio;
        ratio *= fall;
        out[row + c] = e;
      }
      e = top;
      ratio = fastExp(-slope - half);
      for (let c = start - 1; c >= 0; c--) {
        e *= ratio;
        ratio *= fall;
        out[row + c] = e;
      }
      row += n2;
    }
  }
}

/** M[i,j,k] = Σ weights · values · u^i v^j w^k, i + j + k ≤ 4: rows first, then planes, then the whole. */
function walkMoments(walk: Walk, m: Float64Array, weights: Float64Array, values: Float64Array, M: Float64Array): void {
  const { q, counts, first, spacing, plane } = walk;
  const [n0, n1, n2] = counts;
  const [h0, h1, h2] = spacing;
  const u0 = q > 2 ? m[q - 3] - first[0] : 0;
  const v0 = q > 1 ? m[q - 2] - first[1] : 0;
  const w0 = m[q - 1] - first[2];
  const topU = q > 2 ? 4 : 0;
  const topV = q > 1 ? 4 : 0;
  M.fill(0);
  let node = 0;
  for (let a = 0; a < n0; a++) {
    plane.fill(0);
    for (let b = 0; b < n1; b++) {
      let t0 = 0;
      let t1 = 0;
      let t2 = 0;
      let t3 = 0;
      let t4 = 0;
      for (let c = 0; c < n2; c++, node++) {
        const w = w0 - c * h2;
        const e = weights[node] * values[node];
        const e1 = e * w;
        const e2 = e1 * w;
        const e3 = e2 * w;
        t0 += e;
        t1 += e1;
        t2 += e2;
        t3 += e3;
        t4 += e3 * w;
      }
      const v = v0 - b * h1;
      let power = 1;
      for (let j = 0; j <= topV; j++, power *= v) {
        plane[5 * j] += power * t0;
        if (j < 4) plane[5 * j + 1] += power * t1;
        if (j < 3) plane[5 * j + 2] += power * t2;
        if (j < 2) plane[5 * j + 3] += power * t3;
        if (j < 1) plane[5 * j + 4] += power * t4;
      }
    }
    const u = u0 - a * h0;
    let power = 1;
    for (let i = 0; i <= topU; i++, power *= u) {
      for (let j = 0; j <= Math.min(topV, 4 - i); j++) {
        for (let k = 0; k <= 4 - i - j; k++) M[25 * i + 5 * j + k] += power * plane[5 * j + k];
      }
    }
  }
}
