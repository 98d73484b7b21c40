/**
 * Moments of a Gaussian bump on a two-dimensional grid (docs/math/local-step.md §4), two rows and two columns at a time.
 * With (u*, v*) at the node (a*, b*) nearest the mean, δ_a = u_a − u* and ε_b = v_b − v*,
 *   bump(a,b) = α_a β_b ρ_a^b,   α_a = exp(−½Q(u*, v*) − δ_a(ru* + sv_0) − ½rδ_a²),
 *   β_b = exp(−ε_b(su* + tv*) − ½tε_b²),   ρ_a = exp(sδ_a h_v).
 * Rows and columns are made even; weights that only fill up are zero. Sums over columns, T_j(a) = α_a Σ_b w β ρ^b v^j, are
 * kept per row, then M_ij = Σ_a u_a^i T_j(a), stored at 5i + j.
 */
import { both, exp2x, lanes } from "./exp";

/** Largest ½ru² or ½tv² over the grid: then no factor leaves e^±600. */
const LARGEST_EXPONENT: f64 = 100;

/** Bytes of a row of n numbers, made even. */
@inline
export function evenBytes(n: i32): usize {
  return <usize>((n + 1) & ~1) << 3;
}

/** Bytes of one of the ten tables in scratch. */
@inline
function tableBytes(n0: i32, n1: i32): usize {
  return evenBytes(max(n0, n1));
}

/**
 * Fills the tables α, u [rows], β_b ρ_0^b, (ρ_{a+1}/ρ_a)^b, v [columns] in scratch, for mean − first node = (u0, v0) and
 * R = [[r,s],[s,t]]; false, and nothing filled, beyond the limit. `scale` multiplies α.
 */
function fillTables(
  n0: i32, n1: i32, u0: f64, v0: f64, hu: f64, hv: f64, r: f64, s: f64, t: f64, scale: f64, scratch: usize,
): bool {
  const farU = Math.max(Math.abs(u0), Math.abs(u0 - (n0 - 1) * hu));
  const farV = Math.max(Math.abs(v0), Math.abs(v0 - (n1 - 1) * hv));
  if (!(0.5 * r * farU * farU < LARGEST_EXPONENT && 0.5 * t * farV * farV < LARGEST_EXPONENT)) return false;
  const table = tableBytes(n0, n1);
  const a = min(max(nearest<f64>(u0 / hu), 0), <f64>(n0 - 1));
  const b = min(max(nearest<f64>(v0 / hv), 0), <f64>(n1 - 1));
  const uNear = u0 - a * hu;
  const vNear = v0 - b * hv;
  const top = -0.5 * (r * uNear * uNear + t * vNear * vNear) - s * uNear * vNear;

  let u = f64x2.sub(f64x2.splat(u0), f64x2(0, hu));
  const slopeU = f64x2.splat(-(r * uNear + s * v0));
  const bendU = f64x2.splat(-0.5 * r);
  const endU = evenBytes(n0);
  for (let o: usize = 0; o < endU; o += 16) {
    const d = f64x2.sub(u, f64x2.splat(uNear));
    const exponent = f64x2.add(f64x2.splat(top), f64x2.mul(d, f64x2.add(slopeU, f64x2.mul(bendU, d))));
    v128.store(scratch + o, f64x2.mul(f64x2.splat(scale), exp2x(exponent)));
    v128.store(scratch + table + o, u);
    u = f64x2.sub(u, f64x2.splat(2 * hu));
  }

  // ρ_0 = exp(s a* h_u h_v), ρ_{a+1}/ρ_a = exp(−s h_u h_v).
  const cross = s * hu * hv;
  const powers = exp2x(f64x2(cross * a, -cross));
  const rho = f64x2.extract_lane(powers, 0);
  const ratio = f64x2.extract_lane(powers, 1);
  let p = f64x2(1, rho);
  let q = f64x2(1, ratio);
  let v = f64x2.sub(f64x2.splat(v0), f64x2(0, hv));
  const slopeV = f64x2.splat(-(s * uNear + t * vNear));
  const bendV = f64x2.splat(-0.5 * t);
  const columns = scratch + 2 * table;
  const endV = evenBytes(n1);
  for (let o: usize = 0; o < endV; o += 16) {
    const d = f64x2.sub(v, f64x2.splat(vNear));
    const beta = exp2x(f64x2.mul(d, f64x2.add(slopeV, f64x2.mul(bendV, d))));
    v128.store(columns + o, f64x2.mul(beta, p));
    v128.store(columns + table + o, q);
    v128.store(columns + 2 * table + o, v);
    p = f64x2.mul(p, f64x2.splat(rho * rho));
    q = f64x2.mul(q, f64x2.splat(ratio * ratio));
    v = f64x2.sub(v, f64x2.splat(2 * hv));
  }
  return true;
}

/** (x_0 + x_1, y_0 + y_1). */
@inline
function sums(x: v128, y: v128): v128 {
  return f64x2.add(v128.shuffle<f64>(x, y, 0, 2), v128.shuffle<f64>(x, y, 1, 3));
}

/** M = Σ w bump u^i v^j, i + j ≤ order (2 or 4), for weights [rows][columns], both made even; false beyond the limit. */
export function gridMoments(
  w: usize, n0: i32, n1: i32, u0: f64, v0: f64, hu: f64, hv: f64, r: f64, s: f64, t: f64, order: i32,
  scratch: usize, M: usize,
): bool {
  if (!fillTables(n0, n1, u0, v0, hu, hv, r, s, t, 1, scratch)) return false;
  // Two copies, so that the compiler knows the order within the loops.
  if (order == 4) {
    rowSums(w, n0, n1, scratch, true);
    powers(n0, n1, scratch, M, true);
  } else {
    rowSums(w, n0, n1, scratch, false);
    powers(n0, n1, scratch, M, false);
  }
  return true;
}

/** T_0, T_1, T_2 and, if `high`, T_3, T_4 of all rows, after the five tables of scratch. */
@inline
function rowSums(w: usize, n0: i32, n1: i32, scratch: usize, high: bool): void {
  const table = tableBytes(n0, n1);
  const end = evenBytes(n1);
  const endU = evenBytes(n0);
  const bumps = scratch + 2 * table;
  const ratios = bumps + table;
  const places = ratios + table;
  const T = places + table;
  const zero = f64x2.splat(0);
  for (let a: usize = 0; a < endU; a += 16) {
    let x0 = zero;
    let x1 = zero;
    let x2 = zero;
    let x3 = zero;
    let x4 = zero;
    let y0 = zero;
    let y1 = zero;
    let y2 = zero;
    let y3 = zero;
    let y4 = zero;
    for (let o: usize = 0; o < end; o += 16) {
      const ratio = v128.load(ratios + o);
      const v = v128.load(places + o);
      const v2 = f64x2.mul(v, v);
      let k = v128.load(bumps + o);
      let e = f64x2.mul(v128.load(w + o), k);
      let odd = f64x2.mul(e, v);
      let even = f64x2.mul(e, v2);
      x0 = f64x2.add(x0, e);
      x1 = f64x2.add(x1, odd);
      x2 = f64x2.add(x2, even);
      if (high) {
        x3 = f64x2.add(x3, f64x2.mul(odd, v2));
        x4 = f64x2.add(x4, f64x2.mul(even, v2));
      }
      k = f64x2.mul(k, ratio);
      e = f64x2.mul(v128.load(w + end + o), k);
      odd = f64x2.mul(e, v);
      even = f64x2.mul(e, v2);
      y0 = f64x2.add(y0, e);
      y1 = f64x2.add(y1, odd);
      y2 = f64x2.add(y2, even);
      if (high) {
        y3 = f64x2.add(y3, f64x2.mul(odd, v2));
        y4 = f64x2.add(y4, f64x2.mul(even, v2));
      }
      v128.store(bumps + o, f64x2.mul(k, ratio));
    }
    const alpha = v128.load(scratch + a);
    v128.store(T + a, f64x2.mul(alpha, sums(x0, y0)));
    v128.store(T + table + a, f64x2.mul(alpha, sums(x1, y1)));
    v128.store(T + 2 * table + a, f64x2.mul(alpha, sums(x2, y2)));
    if (high) {
      v128.store(T + 3 * table + a, f64x2.mul(alpha, sums(x3, y3)));
      v128.store(T + 4 * table + a, f64x2.mul(alpha, sums(x4, y4)));
    }
    w += 2 * end;
  }
}

/** M_ij = Σ_a u^i T_j(a). */
@inline
function powers(n0: i32, n1: i32, scratch: usize, M: usize, high: bool): void {
  const table = tableBytes(n0, n1);
  const order = high ? 4 : 2;
  for (let j = 0; j <= order; j++) {
    powersOfRow(evenBytes(n0), scratch + table, scratch + <usize>(5 + j) * table, order - j, M + (<usize>j << 3));
  }
}

/** M_i = Σ_a u^i T(a), i ≤ order, 40 bytes apart. */
@inline
function powersOfRow(end: usize, places: usize, T: usize, order: i32, M: usize): void {
  let a = f64x2.splat(0);
  let b = a;
  let c = a;
  let d = a;
  let e = a;
  for (let o: usize = 0; o < end; o += 16) {
    const u = v128.load(places + o);
    const u2 = f64x2.mul(u, u);
    const x = v128.load(T + o);
    const y = f64x2.mul(x, u);
    const z = f64x2.mul(x, u2);
    a = f64x2.add(a, x);
    b = f64x2.add(b, y);
    c = f64x2.add(c, z);
    if (order > 2) {
      d = f64x2.add(d, f64x2.mul(y, u2));
      e = f64x2.add(e, f64x2.mul(z, u2));
    }
  }
  f64.store(M, lanes(a));
  if (order > 0) f64.store(M, lanes(b), 40);
  if (order > 1) f64.store(M, lanes(c), 80);
  if (order > 2) f64.store(M, lanes(d), 120);
  if (order > 3) f64.store(M, lanes(e), 160);
}

/** out[a][b] = scale · bump(a,b), rows made even; false beyond the limit. */
export function gridValues(
  n0: i32, n1: i32, u0: f64, v0: f64, hu: f64, hv: f64, r: f64, s: f64, t: f64, scale: f64, scratch: usize, out: usize,
): bool {
  if (!fillTables(n0, n1, u0, v0, hu, hv, r, s, t, scale, scratch)) return false;
  const table = tableBytes(n0, n1);
  const end = evenBytes(n1);
  const bumps = scratch + 2 * table;
  for (let a = 0; a < n0; a++) {
    const alpha = both(scratch + (<usize>a << 3));
    for (let o: usize = 0; o < end; o += 16) {
      const k = v128.load(bumps + o);
      v128.store(out + o, f64x2.mul(alpha, k));
      v128.store(bumps + o, f64x2.mul(k, v128.load(bumps + table + o)));
    }
    out += end;
  }
  return true;
}
