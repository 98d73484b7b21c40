/**
 * The local objective of the published map for two individuals at once, one in each lane (docs/math/local-step.md §4): the
 * bump on a grid, its moments up to order 2, value and gradient. The formulas are those of local-grid.ts and
 * local-derivatives.ts; here nothing is padded, no sum crosses lanes, and what an individual gets does not depend on its
 * neighbour. Numbers of a pair stand side by side, 16 bytes.
 */
import { exp2x } from "./exp";

/** Largest ½ru² or ½tv² over the grid: then no factor leaves e^±600. */
const LARGEST_EXPONENT: f64 = 100;
/** Bytes of one table in scratch: up to 62 nodes per dimension. */
export const PAIR_TABLE: usize = 1024;

/** q(x) = N(m, TT') of a pair, T = [[l, 0], [c, r]], and the shape R = [[r,s],[s,t]] of its bump: pairs in memory. */
@unmanaged
export class PairPlace {
  m0: v128;
  m1: v128;
  l: v128;
  c: v128;
  r: v128;
  /** log l + log r. */
  logs: v128;
  R0: v128;
  R1: v128;
  R3: v128;
  norm: v128;
  /** Lanes for which the tables are within range. */
  inside: v128;
  // F and its derivatives in m.
  D00: v128;
  D10: v128;
  D01: v128;
  D20: v128;
  D11: v128;
  D02: v128;
}

/** Unpacks θ of two individuals. */
export function unpackPair(place: PairPlace, a: usize, b: usize, P: i32): void {
  place.m0 = f64x2(f64.load(a), f64.load(b));
  place.m1 = f64x2(f64.load(a, 8), f64.load(b, 8));
  const first = f64x2(f64.load(a, 16), f64.load(b, 16));
  const second = f64x2(f64.load(a, 24), f64.load(b, 24));
  place.logs = f64x2.add(first, second);
  place.l = exp2x(first);
  place.r = exp2x(second);
  place.c = P > 4 ? f64x2(f64.load(a, 32), f64.load(b, 32)) : f64x2.splat(0);
  place.inside = i64x2.splat(-1);
}

/** R = spread (Λ + spread S)⁻¹ and norm = |I + spread Λ⁻¹S|^(−½). */
export function shapePair(place: PairPlace, squares: usize, spread: f64): void {
  const a = f64x2.splat(f64.load(squares));
  const b = f64x2.splat(f64.load(squares, 8));
  const times = f64x2.splat(spread);
  const l = place.l;
  const c = place.c;
  const r = place.r;
  const S0 = f64x2.mul(l, l);
  const S3 = f64x2.add(f64x2.mul(c, c), f64x2.mul(r, r));
  const root = f64x2.mul(times, f64x2.mul(l, r));
  const sum = f64x2.add(f64x2.mul(a, S3), f64x2.mul(b, S0));
  const ab = f64x2.mul(a, b);
  const determinant = f64x2.add(f64x2.add(ab, f64x2.mul(times, sum)), f64x2.mul(root, root));
  const scale = f64x2.div(times, determinant);
  place.R0 = f64x2.mul(scale, f64x2.add(b, f64x2.mul(times, S3)));
  place.R1 = f64x2.neg(f64x2.mul(f64x2.mul(scale, times), f64x2.mul(l, c)));
  place.R3 = f64x2.mul(scale, f64x2.add(a, f64x2.mul(times, S0)));
  place.norm = f64x2.sqrt(f64x2.div(ab, determinant));
}

/** The largest of |x| and |x − far|, squared, times ½r. */
@inline
function exponentAt(x: v128, far: f64, r: v128): v128 {
  const most = f64x2.pmax(f64x2.abs(x), f64x2.abs(f64x2.sub(x, f64x2.splat(far))));
  return f64x2.mul(f64x2.mul(f64x2.splat(0.5), r), f64x2.mul(most, most));
}

/**
 * Tables of the bump on the grid from (first0, first1) with steps (hu, hv). With (u*, v*) = mean − middle node, i and j
 * counted from the middle row and column, and u_0 that of the first row, where i = −i_0,
 *   bump = α_i β_j χ^((i + i_0) j),   α_i = scale · exp(−½Q(u*, v*) + i(ru* + sv*)h_u − ½rh_u²i²),
 *   β_j = exp(j(su_0 + tv*)h_v − ½th_v²j²),   χ = exp(−sh_u h_v),
 * so that neighbours differ by factors that themselves grow by the constants exp(−rh_u²) and exp(−th_v²): six exponentials.
 * Scratch gets α, u [n0] and β, χ^j, v [n1]. Lanes out of range leave `inside`; what their tables hold is of no use.
 */
export function fillPairTables(
  place: PairPlace, n0: i32, n1: i32, geometry: usize, hu: f64, hv: f64, scale: v128, scratch: usize,
): void {
  const r = place.R0;
  const s = place.R1;
  const t = place.R3;
  const u0 = f64x2.sub(place.m0, f64x2.splat(f64.load(geometry)));
  const v0 = f64x2.sub(place.m1, f64x2.splat(f64.load(geometry, 8)));
  const largest = f64x2.splat(LARGEST_EXPONENT);
  const near = v128.and(
    f64x2.lt(exponentAt(u0, (n0 - 1) * hu, r), largest),
    f64x2.lt(exponentAt(v0, (n1 - 1) * hv, t), largest),
  );
  place.inside = v128.and(place.inside, near);
  const i0 = (n0 - 1) >> 1;
  const j0 = (n1 - 1) >> 1;
  const u = f64x2.sub(u0, f64x2.splat(i0 * hu));
  const v = f64x2.sub(v0, f64x2.splat(j0 * hv));
  const half = f64x2.splat(-0.5);
  const ru = f64x2.mul(r, u);
  const sv = f64x2.mul(s, v);
  const tv = f64x2.mul(t, v);
  const across = f64x2.mul(sv, u);
  const squares = f64x2.add(f64x2.mul(ru, u), f64x2.mul(tv, v));
  const alpha = f64x2.mul(scale, exp2x(f64x2.sub(f64x2.mul(half, squares), across)));
  walk(scratch + (<usize>i0 << 4), i0, n0 - 1 - i0, alpha, f64x2.mul(f64x2.add(ru, sv), f64x2.splat(hu)),
    f64x2.mul(r, f64x2.splat(hu * hu)));
  const beta = scratch + 2 * PAIR_TABLE + (<usize>j0 << 4);
  walk(beta, j0, n1 - 1 - j0, f64x2.splat(1), f64x2.mul(f64x2.add(f64x2.mul(s, u0), tv), f64x2.splat(hv)),
    f64x2.mul(t, f64x2.splat(hv * hv)));
  const chi = exp2x(f64x2.mul(s, f64x2.splat(-hu * hv)));
  power(beta + PAIR_TABLE, j0, n1 - 1 - j0, chi);
  line(scratch + PAIR_TABLE, n0, u0, hu);
  line(scratch + 4 * PAIR_TABLE, n1, v0, hv);
}

/** at[k] = start · exp(k slope − ½ bend k²) for −below ≤ k ≤ above, outwards from the middle. */
function walk(at: usize, below: i32, above: i32, start: v128, slope: v128, bend: v128): void {
  const factor = exp2x(f64x2.neg(bend));
  const up = exp2x(f64x2.sub(slope, f64x2.mul(f64x2.splat(0.5), bend)));
  const first = at - (<usize>below << 4);
  const last = at + (<usize>above << 4);
  v128.store(at, start);
  let x = start;
  let step = up;
  for (let o = at + 16; o <= last; o += 16) {
    x = f64x2.mul(x, step);
    step = f64x2.mul(step, factor);
    v128.store(o, x);
  }
  // The step down from the middle times the step up from it is the factor.
  x = start;
  step = f64x2.div(factor, up);
  for (let o = at - 16; o >= first; o -= 16) {
    x = f64x2.mul(x, step);
    step = f64x2.mul(step, factor);
    v128.store(o, x);
  }
}

/** at[k] = baseᵏ for −below ≤ k ≤ above. */
@inline
function power(at: usize, below: i32, above: i32, base: v128): void {
  const first = at - (<usize>below << 4);
  const last = at + (<usize>above << 4);
  const one = f64x2.splat(1);
  const inverse = f64x2.div(one, base);
  v128.store(at, one);
  let x = one;
  for (let o = at + 16; o <= last; o += 16) {
    x = f64x2.mul(x, base);
    v128.store(o, x);
  }
  x = one;
  for (let o = at - 16; o >= first; o -= 16) {
    x = f64x2.mul(x, inverse);
    v128.store(o, x);
  }
}

/** at[k] = start − k · step for 0 ≤ k < n. */
@inline
function line(at: usize, n: i32, start: v128, step: f64): void {
  const by = f64x2.splat(step);
  const end = at + (<usize>n << 4);
  let x = start;
  for (let o = at; o < end; o += 16) {
    v128.store(o, x);
    x = f64x2.sub(x, by);
  }
}

/**
 * Adds F = norm · Σ w bump and its derivatives up to order 2 to D; w [n0][n1], 32 bytes a node. Sums over columns,
 * T_j(a) = α_a Σ_b w β ρ^b v^j, two rows at a time, then M_ij = Σ_a u_a^i T_j(a).
 */
export function addPairDerivatives(place: PairPlace, w: usize, n0: i32, n1: i32, scratch: usize): void {
  const beta = scratch + 2 * PAIR_TABLE;
  const row = <usize>n1 << 4;
  const next = 2 * row;
  const zero = f64x2.splat(0);
  let M00 = zero;
  let M10 = zero;
  let M01 = zero;
  let M20 = zero;
  let M11 = zero;
  let M02 = zero;
  for (let a = 0; a < n0; a += 2) {
    let x0 = zero;
    let x1 = zero;
    let x2 = zero;
    let y0 = zero;
    let y1 = zero;
    let y2 = zero;
    if (a + 1 < n0) {
      for (let o: usize = 0; o < row; o += 16) {
        const ratio = v128.load(beta + o, PAIR_TABLE);
        const v = v128.load(beta + o, 2 * PAIR_TABLE);
        const v2 = f64x2.mul(v, v);
        let k = v128.load(beta + o);
        let e = f64x2.mul(v128.load(w + 2 * o), k);
        x0 = f64x2.add(x0, e);
        x1 = f64x2.add(x1, f64x2.mul(e, v));
        x2 = f64x2.add(x2, f64x2.mul(e, v2));
        k = f64x2.mul(k, ratio);
        e = f64x2.mul(v128.load(w + next + 2 * o), k);
        y0 = f64x2.add(y0, e);
        y1 = f64x2.add(y1, f64x2.mul(e, v));
        y2 = f64x2.add(y2, f64x2.mul(e, v2));
        v128.store(beta + o, f64x2.mul(k, ratio));
      }
    } else {
      for (let o: usize = 0; o < row; o += 16) {
        const v = v128.load(beta + o, 2 * PAIR_TABLE);
        const e = f64x2.mul(v128.load(w + 2 * o), v128.load(beta + o));
        x0 = f64x2.add(x0, e);
        const ev = f64x2.mul(e, v);
        x1 = f64x2.add(x1, ev);
        x2 = f64x2.add(x2, f64x2.mul(ev, v));
      }
    }
    w += 2 * next;
    const at = scratch + (<usize>a << 4);
    let alpha = v128.load(at);
    let u = v128.load(at, PAIR_TABLE);
    x0 = f64x2.mul(alpha, x0);
    x1 = f64x2.mul(alpha, x1);
    M02 = f64x2.add(M02, f64x2.mul(alpha, x2));
    M00 = f64x2.add(M00, x0);
    M01 = f64x2.add(M01, x1);
    M11 = f64x2.add(M11, f64x2.mul(u, x1));
    x0 = f64x2.mul(u, x0);
    M10 = f64x2.add(M10, x0);
    M20 = f64x2.add(M20, f64x2.mul(u, x0));
    if (a + 1 == n0) break;
    alpha = v128.load(at, 16);
    u = v128.load(at, PAIR_TABLE + 16);
    y0 = f64x2.mul(alpha, y0);
    y1 = f64x2.mul(alpha, y1);
    M02 = f64x2.add(M02, f64x2.mul(alpha, y2));
    M00 = f64x2.add(M00, y0);
    M01 = f64x2.add(M01, y1);
    M11 = f64x2.add(M11, f64x2.mul(u, y1));
    y0 = f64x2.mul(u, y0);
    M10 = f64x2.add(M10, y0);
    M20 = f64x2.add(M20, f64x2.mul(u, y0));
  }
  addHermite(place, M00, M10, M01, M20, M11, M02);
}

/** F_a = −⟨y_a⟩, F_ab = ⟨y_a y_b⟩ − R_ab⟨1⟩, y = Ru, from the moments of u. */
@inline
function addHermite(place: PairPlace, M00: v128, M10: v128, M01: v128, M20: v128, M11: v128, M02: v128): void {
  const r = place.R0;
  const s = place.R1;
  const t = place.R3;
  const norm = place.norm;
  const z = f64x2.mul(norm, M00);
  M10 = f64x2.mul(norm, M10);
  M01 = f64x2.mul(norm, M01);
  M20 = f64x2.mul(norm, M20);
  M11 = f64x2.mul(norm, M11);
  M02 = f64x2.mul(norm, M02);
  // R times the second moments, then times R again.
  const rx = f64x2.add(f64x2.mul(r, M20), f64x2.mul(s, M11));
  const ry = f64x2.add(f64x2.mul(r, M11), f64x2.mul(s, M02));
  const sx = f64x2.add(f64x2.mul(s, M20), f64x2.mul(t, M11));
  const sy = f64x2.add(f64x2.mul(s, M11), f64x2.mul(t, M02));
  place.D00 = f64x2.add(place.D00, z);
  place.D10 = f64x2.sub(place.D10, f64x2.add(f64x2.mul(r, M10), f64x2.mul(s, M01)));
  place.D01 = f64x2.sub(place.D01, f64x2.add(f64x2.mul(s, M10), f64x2.mul(t, M01)));
  place.D20 = f64x2.add(place.D20, f64x2.sub(f64x2.add(f64x2.mul(r, rx), f64x2.mul(s, ry)), f64x2.mul(r, z)));
  place.D11 = f64x2.add(place.D11, f64x2.sub(f64x2.add(f64x2.mul(s, rx), f64x2.mul(t, ry)), f64x2.mul(s, z)));
  place.D02 = f64x2.add(place.D02, f64x2.sub(f64x2.add(f64x2.mul(s, sx), f64x2.mul(t, sy)), f64x2.mul(t, z)));
}

/** a and b [n0][n1] = the bumps of the tables, one of each lane. */
export function pairValues(n0: i32, n1: i32, scratch: usize, a: usize, b: usize): void {
  const beta = scratch + 2 * PAIR_TABLE;
  const row = <usize>n1 << 4;
  const end = scratch + (<usize>n0 << 4);
  for (let at = scratch; at < end; at += 16) {
    const alpha = v128.load(at);
    for (let o: usize = 0; o < row; o += 16) {
      const k = v128.load(beta + o);
      const bump = f64x2.mul(alpha, k);
      v128.store_lane<f64>(a, bump, 0);
      v128.store_lane<f64>(b, bump, 1);
      v128.store(beta + o, f64x2.mul(k, v128.load(beta + o, PAIR_TABLE)));
      a += 8;
      b += 8;
    }
  }
}
