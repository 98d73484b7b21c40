/**
 * Moments of a Gaussian bump on a two-dimensional grid (docs/math/local-step.md §4), two rows and two columns at a time:
 *   bump(a,b) = α_a · β_b · ρ_a^b,
 * with α, β and ρ as in models/paper/local/grid-nodes-2.ts. Rows and columns are padded to even numbers; padded
 * weights are zero. Sums over columns, T_j(a) = α_a Σ_b w β ρ^b v^j, are kept per row, then M_ij = Σ_a u_a^i T_j(a).
 */
import { both, exp2x, lanes } from "./exp";

/** Largest ½ru² or ½tv² over the grid: then no factor leaves e^±600. */
const LARGEST_EXPONENT: f64 = 100;
/** Bytes of one table in scratch: up to 62 nodes per dimension. */
const TABLE: usize = 512;

/**
 * Fills the tables α, u [rows], β_b ρ_0^b, (ρ_{a+1}/ρ_a)^b, v [columns] in scratch, for mean − first node = (u0, v0) and
 * R = [[r,s],[s,t]]; false, and nothing filled, beyond the limit. `scale` multiplies α.
 */
@inline
function fillTables(
  n0: i32, n1: i32, u0: f64, v0: f64, hu: f64, hv: f64, r: f64, s: f64, t: f64, scale: f64, scratch: usize,
): bool {
  const farU = Math.max(Math.abs(u0), Math.abs(u0 - (n0 - 1) * hu));
  const farV = Math.max(Math.abs(v0), Math.abs(v0 - (n1 - 1) * hv));
  if (!(0.5 * r * farU * farU < LARGEST_EXPONENT && 0.5 * t * farV * farV < LARGEST_EXPONENT)) return false;
  const a = min(max(nearest<f64>(u0 / hu), 0), <f64>(n0 - 1));
  const b = min(max(nearest<f64>(v0 / hv), 0), <f64>(n1 - 1));
  const uNear = u0 - a * hu;
  const vNear = v0 - b * hv;
  const top = -0.5 * (r * uNear * uNear + t * vNear * vNear) - s * uNear * vNear;
  const twoU = f64x2.splat(2 * hu);
  const twoV = f64x2.splat(2 * hv);

  // α_a = scale · exp(top − δ(ru* + sv_0) − ½rδ²), δ = u_a − u*.
  let u = f64x2.sub(f64x2.splat(u0), f64x2(0, hu));
  const near = f64x2.splat(uNear);
  const slopeU = f64x2.splat(-(r * uNear + s * v0));
  const bendU = f64x2.splat(-0.5 * r);
  const start = f64x2.splat(top);
  const factor = f64x2.splat(scale);
  const endU = <usize>(n0 + 1 & ~1) << 3;
  for (let o: usize = 0; o < endU; o += 16) {
    const d = f64x2.sub(u, near);
    const exponent = f64x2.add(start, f64x2.mul(d, f64x2.add(slopeU, f64x2.mul(bendU, d))));
    v128.store(scratch + o, f64x2.mul(factor, exp2x(exponent)));
    v128.store(scratch + TABLE + o, u);
    u = f64x2.sub(u, twoU);
  }

  // β_b = exp(−ε(su* + tv*) − ½tε²), ε = v_b − v*; ρ_0 = exp(s a* h_u h_v), ρ_{a+1}/ρ_a = exp(−s h_u h_v).
  const cross = s * hu * hv;
  const powers = exp2x(f64x2(cross * a, -cross));
  const rho = f64x2.extract_lane(powers, 0);
  const ratio = f64x2.extract_lane(powers, 1);
  const rho2 = f64x2.splat(rho * rho);
  const ratio2 = f64x2.splat(ratio * ratio);
  let p = f64x2(1, rho);
  let q = f64x2(1, ratio);
  let v = f64x2.sub(f64x2.splat(v0), f64x2(0, hv));
  const nearV = f64x2.splat(vNear);
  const slopeV = f64x2.splat(-(s * uNear + t * vNear));
  const bendV = f64x2.splat(-0.5 * t);
  const endV = <usize>(n1 + 1 & ~1) << 3;
  for (let o: usize = 0; o < endV; o += 16) {
    const d = f64x2.sub(v, nearV);
    const beta = exp2x(f64x2.mul(d, f64x2.add(slopeV, f64x2.mul(bendV, d))));
    v128.store(scratch + 2 * TABLE + o, f64x2.mul(beta, p));
    v128.store(scratch + 3 * TABLE + o, q);
    v128.store(scratch + 4 * TABLE + o, v);
    p = f64x2.mul(p, rho2);
    q = f64x2.mul(q, ratio2);
    v = f64x2.sub(v, twoV);
  }
  return true;
}

/** (x_0 + x_1, y_0 + y_1). */
@inline
function sums(x: v128, y: v128): v128 {
  return f64x2.add(v128.shuffle<f64>(x, y, 0, 2), v128.shuffle<f64>(x, y, 1, 3));
}

/** M = Σ w bump u^i v^j at 5i + j, i + j ≤ order, for weights [rows][columns], both padded to even; false beyond the limit. */
export function gridMoments(
  w: usize, n0: i32, n1: i32, u0: f64, v0: f64, hu: f64, hv: f64, r: f64, s: f64, t: f64, order: i32,
  scratch: usize, M: usize,
): bool {
  if (!fillTables(n0, n1, u0, v0, hu, hv, r, s, t, 1, scratch)) return false;
  if (order == 4) {
    rowSums4(w, n0, n1, scratch);
    powers4(n0, scratch, M);
  } else {
    rowSums2(w, n0, n1, scratch);
    powers2(n0, scratch, M);
  }
  return true;
}

/** T_0..T_4 of all rows, after the five tables of scratch. */
@inline
function rowSums4(w: usize, n0: i32, n1: i32, scratch: usize): void {
  const end = <usize>(n1 + 1 & ~1) << 3;
  const endU = <usize>(n0 + 1 & ~1) << 3;
  const ck = scratch + 2 * TABLE;
  const T = scratch + 5 * TABLE;
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
      const ratio = v128.load(ck + TABLE + o);
      const v = v128.load(ck + 2 * TABLE + o);
      const v2 = f64x2.mul(v, v);
      let k = v128.load(ck + o);
      let e = f64x2.mul(v128.load(w + o), k);
      x0 = f64x2.add(x0, e);
      let odd = f64x2.mul(e, v);
      x1 = f64x2.add(x1, odd);
      e = f64x2.mul(e, v2);
      x2 = f64x2.add(x2, e);
      x3 = f64x2.add(x3, f64x2.mul(odd, v2));
      x4 = f64x2.add(x4, f64x2.mul(e, v2));
      k = f64x2.mul(k, ratio);
      e = f64x2.mul(v128.load(w + end + o), k);
      y0 = f64x2.add(y0, e);
      odd = f64x2.mul(e, v);
      y1 = f64x2.add(y1, odd);
      e = f64x2.mul(e, v2);
      y2 = f64x2.add(y2, e);
      y3 = f64x2.add(y3, f64x2.mul(odd, v2));
      y4 = f64x2.add(y4, f64x2.mul(e, v2));
      v128.store(ck + o, f64x2.mul(k, ratio));
    }
    const alpha = v128.load(scratch + a);
    v128.store(T + a, f64x2.mul(alpha, sums(x0, y0)));
    v128.store(T + TABLE + a, f64x2.mul(alpha, sums(x1, y1)));
    v128.store(T + 2 * TABLE + a, f64x2.mul(alpha, sums(x2, y2)));
    v128.store(T + 3 * TABLE + a, f64x2.mul(alpha, sums(x3, y3)));
    v128.store(T + 4 * TABLE + a, f64x2.mul(alpha, sums(x4, y4)));
    w += 2 * end;
  }
}

/** M_ij = Σ_a u^i T_j(a), i + j ≤ 4. */
@inline
function powers4(n0: i32, scratch: usize, M: usize): void {
  const endU = <usize>(n0 + 1 & ~1) << 3;
  const T = scratch + 5 * TABLE;
  const zero = f64x2.splat(0);
  let a0 = zero;
  let a1 = zero;
  let a2 = zero;
  let a3 = zero;
  let a4 = zero;
  let b0 = zero;
  let b1 = zero;
  let b2 = zero;
  let b3 = zero;
  for (let o: usize = 0; o < endU; o += 16) {
    const u = v128.load(scratch + TABLE + o);
    let e = v128.load(T + o);
    a0 = f64x2.add(a0, e);
    e = f64x2.mul(e, u);
    a1 = f64x2.add(a1, e);
    e = f64x2.mul(e, u);
    a2 = f64x2.add(a2, e);
    e = f64x2.mul(e, u);
    a3 = f64x2.add(a3, e);
    a4 = f64x2.add(a4, f64x2.mul(e, u));
    e = v128.load(T + TABLE + o);
    b0 = f64x2.add(b0, e);
    e = f64x2.mul(e, u);
    b1 = f64x2.add(b1, e);
    e = f64x2.mul(e, u);
    b2 = f64x2.add(b2, e);
    b3 = f64x2.add(b3, f64x2.mul(e, u));
  }
  f64.store(M, lanes(a0));
  f64.store(M, lanes(a1), 40);
  f64.store(M, lanes(a2), 80);
  f64.store(M, lanes(a3), 120);
  f64.store(M, lanes(a4), 160);
  f64.store(M, lanes(b0), 8);
  f64.store(M, lanes(b1), 48);
  f64.store(M, lanes(b2), 88);
  f64.store(M, lanes(b3), 128);
  a0 = zero;
  a1 = zero;
  a2 = zero;
  b0 = zero;
  b1 = zero;
  b2 = zero;
  for (let o: usize = 0; o < endU; o += 16) {
    const u = v128.load(scratch + TABLE + o);
    let e = v128.load(T + 2 * TABLE + o);
    a0 = f64x2.add(a0, e);
    e = f64x2.mul(e, u);
    a1 = f64x2.add(a1, e);
    a2 = f64x2.add(a2, f64x2.mul(e, u));
    e = v128.load(T + 3 * TABLE + o);
    b0 = f64x2.add(b0, e);
    b1 = f64x2.add(b1, f64x2.mul(e, u));
    b2 = f64x2.add(b2, v128.load(T + 4 * TABLE + o));
  }
  f64.store(M, lanes(a0), 16);
  f64.store(M, lanes(a1), 56);
  f64.store(M, lanes(a2), 96);
  f64.store(M, lanes(b0), 24);
  f64.store(M, lanes(b1), 64);
  f64.store(M, lanes(b2), 32);
}

/** T_0..T_2 of all rows. */
@inline
function rowSums2(w: usize, n0: i32, n1: i32, scratch: usize): void {
  const end = <usize>(n1 + 1 & ~1) << 3;
  const endU = <usize>(n0 + 1 & ~1) << 3;
  const ck = scratch + 2 * TABLE;
  const T = scratch + 5 * TABLE;
  const zero = f64x2.splat(0);
  for (let a: usize = 0; a < endU; a += 16) {
    let x0 = zero;
    let x1 = zero;
    let x2 = zero;
    let y0 = zero;
    let y1 = zero;
    let y2 = zero;
    for (let o: usize = 0; o < end; o += 16) {
      const ratio = v128.load(ck + TABLE + o);
      const v = v128.load(ck + 2 * TABLE + o);
      const v2 = f64x2.mul(v, v);
      let k = v128.load(ck + o);
      let e = f64x2.mul(v128.load(w + o), k);
      x0 = f64x2.add(x0, e);
      x1 = f64x2.add(x1, f64x2.mul(e, v));
      x2 = f64x2.add(x2, f64x2.mul(e, v2));
      k = f64x2.mul(k, ratio);
      e = f64x2.mul(v128.load(w + end + o), k);
      y0 = f64x2.add(y0, e);
      y1 = f64x2.add(y1, f64x2.mul(e, v));
      y2 = f64x2.add(y2, f64x2.mul(e, v2));
      v128.store(ck + o, f64x2.mul(k, ratio));
    }
    const alpha = v128.load(scratch + a);
    v128.store(T + a, f64x2.mul(alpha, sums(x0, y0)));
    v128.store(T + TABLE + a, f64x2.mul(alpha, sums(x1, y1)));
    v128.store(T + 2 * TABLE + a, f64x2.mul(alpha, sums(x2, y2)));
    w += 2 * end;
  }
}

/** M_ij = Σ_a u^i T_j(a), i + j ≤ 2. */
@inline
function powers2(n0: i32, scratch: usize, M: usize): void {
  const endU = <usize>(n0 + 1 & ~1) << 3;
  const T = scratch + 5 * TABLE;
  const zero = f64x2.splat(0);
  let a0 = zero;
  let a1 = zero;
  let a2 = zero;
  let b0 = zero;
  let b1 = zero;
  let c0 = zero;
  for (let o: usize = 0; o < endU; o += 16) {
    const u = v128.load(scratch + TABLE + o);
    let e = v128.load(T + o);
    a0 = f64x2.add(a0, e);
    e = f64x2.mul(e, u);
    a1 = f64x2.add(a1, e);
    a2 = f64x2.add(a2, f64x2.mul(e, u));
    e = v128.load(T + TABLE + o);
    b0 = f64x2.add(b0, e);
    b1 = f64x2.add(b1, f64x2.mul(e, u));
    c0 = f64x2.add(c0, v128.load(T + 2 * TABLE + o));
  }
  f64.store(M, lanes(a0));
  f64.store(M, lanes(a1), 40);
  f64.store(M, lanes(a2), 80);
  f64.store(M, lanes(b0), 8);
  f64.store(M, lanes(b1), 48);
  f64.store(M, lanes(c0), 16);
}

/** out[a][b] = scale · bump(a,b), rows padded to an even length; false beyond the limit. */
export function gridValues(
  n0: i32, n1: i32, u0: f64, v0: f64, hu: f64, hv: f64, r: f64, s: f64, t: f64, scale: f64, scratch: usize, out: usize,
): bool {
  if (!fillTables(n0, n1, u0, v0, hu, hv, r, s, t, scale, scratch)) return false;
  const end = <usize>(n1 + 1 & ~1) << 3;
  const ck = scratch + 2 * TABLE;
  for (let a = 0; a < n0; a++) {
    const alpha = both(scratch + (<usize>a << 3));
    for (let o: usize = 0; o < end; o += 16) {
      const k = v128.load(ck + o);
      v128.store(out + o, f64x2.mul(alpha, k));
      v128.store(ck + o, f64x2.mul(k, v128.load(ck + TABLE + o)));
    }
    out += end;
  }
  return true;
}
