/**
 * The bump exp(−½(ru² + 2suv + tv²)) on a two-dimensional grid from two tables (docs/math/local-step.md §4).
 * Let (u*, v*) belong to the node (a*, b*) nearest the mean, δ_a = u_a − u*, ε_b = v_b − v*, and v_0 to the first column.
 *   bump(a,b) = α_a · β_b · ρ_a^b,
 *   α_a = exp(−½Q(u*,v*)) · exp(−δ_a (ru* + sv_0) − ½ rδ_a²),
 *   β_b = exp(−ε_b (su* + tv*) − ½ tε_b²),
 *   ρ_a = exp(s δ_a h_v),
 * each geometric in its index up to a quadratic exponent: 7 exponentials in all (5 if s = 0), 3 multiplications per node.
 * The factors are safe while the exponents per dimension stay below a limit; `startFused` says so.
 */
import { fastExp } from "../../../numeric/exp.ts";
import type { Grid } from "./grid.ts";

/** Largest ½ru² or ½tv² over the grid: then no factor leaves e^±600. */
const LARGEST_EXPONENT = 100;

export interface FusedGrid {
  readonly grid: Grid;
  readonly alpha: Float64Array; // [n0]
  readonly beta: Float64Array; // [n1]
  /** ρ_0, ρ_{a+1}/ρ_a, u_0, v_0. */
  readonly start: Float64Array; // [4]
}

export function createFusedGrid(grid: Grid): FusedGrid {
  const [n0, n1] = grid.counts;
  return {
    grid,
    alpha: new Float64Array(n0),
    beta: new Float64Array(n1),
    start: new Float64Array(4),
  };
}

/** Fills the tables for mean m [2] and precision R [2,2]; false, and nothing filled, beyond the limit. */
export function startFused(fused: FusedGrid, m: Float64Array, R: Float64Array): boolean {
  const { grid, alpha, beta, start } = fused;
  const n0 = grid.counts[0];
  const n1 = grid.counts[1];
  const hu = grid.spacing[0];
  const hv = grid.spacing[1];
  const u0 = m[0] - grid.first[0];
  const v0 = m[1] - grid.first[1];
  const r = R[0];
  const s = R[1];
  const t = R[3];
  const farU = Math.max(Math.abs(u0), Math.abs(u0 - (n0 - 1) * hu));
  const farV = Math.max(Math.abs(v0), Math.abs(v0 - (n1 - 1) * hv));
  if (!(0.5 * r * farU * farU < LARGEST_EXPONENT && 0.5 * t * farV * farV < LARGEST_EXPONENT)) return false;
  const a = Math.min(Math.max(Math.round(u0 / hu), 0), n0 - 1);
  const b = Math.min(Math.max(Math.round(v0 / hv), 0), n1 - 1);
  const uNear = u0 - a * hu;
  const vNear = v0 - b * hv;
  const top = fastExp(-0.5 * (r * uNear * uNear + t * vNear * vNear) - s * uNear * vNear);
  walkOutwards(alpha, n0, a, top, hu * (r * uNear + s * v0), 0.5 * r * hu * hu);
  walkOutwards(beta, n1, b, 1, hv * (s * uNear + t * vNear), 0.5 * t * hv * hv);
  start[0] = s === 0 ? 1 : fastExp(s * hu * hv * a);
  start[1] = s === 0 ? 1 : fastExp(-s * hu * hv);
  start[2] = u0;
  start[3] = v0;
  return true;
}

/** table_{k±j} = top · exp(±j·slope − j²·half): the ratio of neighbours falls by exp(−2·half) per step. */
function walkOutwards(table: Float64Array, n: number, k: number, top: number, slope: number, half: number): void {
  const step = fastExp(-half);
  const tilt = fastExp(slope);
  const fall = step * step;
  table[k] = top;
  let e = top;
  let ratio = step * tilt;
  for (let j = k + 1; j < n; j++) {
    e *= ratio;
    ratio *= fall;
    table[j] = e;
  }
  e = top;
  ratio = step / tilt;
  for (let j = k - 1; j >= 0; j--) {
    e *= ratio;
    ratio *= fall;
    table[j] = e;
  }
}

/** out[a,b] = scale · bump(a,b). */
export function fusedValues(fused: FusedGrid, scale: number, out: Float64Array): void {
  const { alpha, beta, start } = fused;
  const n0 = alpha.length;
  const n1 = beta.length;
  let rho = start[0];
  let node = 0;
  for (let a = 0; a < n0; a++) {
    let factor = scale * alpha[a];
    for (let b = 0; b < n1; b++, node++) {
      out[node] = factor * beta[b];
      factor *= rho;
    }
    rho *= start[1];
  }
}

/** M = Σ weights[a,b] · bump(a,b) · u^i v^j at 5i + j, i + j ≤ 4: five sums per row, then powers of u. */
export function fusedMoments(fused: FusedGrid, weights: Float64Array, M: Float64Array): void {
  const { alpha, beta, start } = fused;
  const n0 = alpha.length;
  const n1 = beta.length;
  const hu = fused.grid.spacing[0];
  const hv = fused.grid.spacing[1];
  const u0 = start[2];
  const v0 = start[3];
  const rhoRatio = start[1];
  let rho = start[0];
  let m00 = 0;
  let m10 = 0;
  let m01 = 0;
  let m20 = 0;
  let m11 = 0;
  let m02 = 0;
  let m30 = 0;
  let m21 = 0;
  let m12 = 0;
  let m03 = 0;
  let m40 = 0;
  let m31 = 0;
  let m22 = 0;
  let m13 = 0;
  let m04 = 0;
  let node = 0;
  for (let a = 0; a < n0; a++) {
    let t0 = 0;
    let t1 = 0;
    let t2 = 0;
    let t3 = 0;
    let t4 = 0;
    let power = 1;
    let v = v0;
    for (let b = 0; b < n1; b++, node++) {
      const e = weights[node] * (beta[b] * power);
      power *= rho;
      const v2 = v * v;
      const e1 = e * v;
      const e2 = e * v2;
      t0 += e;
      t1 += e1;
      t2 += e2;
      t3 += e1 * v2;
      t4 += e2 * v2;
      v -= hv;
    }
    const u = u0 - a * hu;
    const u2 = u * u;
    const f = alpha[a];
    t0 *= f;
    t1 *= f;
    t2 *= f;
    t3 *= f;
    t4 *= f;
    const ut1 = u * t1;
    const u2t0 = u2 * t0;
    m00 += t0;
    m10 += u * t0;
    m01 += t1;
    m20 += u2t0;
    m11 += ut1;
    m02 += t2;
    m30 += u * u2t0;
    m21 += u * ut1;
    m12 += u * t2;
    m03 += t3;
    m40 += u2 * u2t0;
    m31 += u2 * ut1;
    m22 += u2 * t2;
    m13 += u * t3;
    m04 += t4;
    rho *= rhoRatio;
  }
  M[0] = m00;
  M[5] = m10;
  M[1] = m01;
  M[10] = m20;
  M[6] = m11;
  M[2] = m02;
  M[15] = m30;
  M[11] = m21;
  M[7] = m12;
  M[3] = m03;
  M[20] = m40;
  M[16] = m31;
  M[12] = m22;
  M[8] = m13;
  M[4] = m04;
}
