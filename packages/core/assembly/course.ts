/**
 * The distribution of one linear functional of the curve over the nodes of a posterior (models/mixture/wasm-course.ts), four nodes
 * at a time. Moments of the coefficients stand in tiles, [tile][d + d(d+1)/2][4]: mean, then the lower triangle of the
 * covariance, row by row. For b'(β + w) + noise,
 *   m_k = b'β + b'E_k,   s_k² = noise + b'S_kb,   F(y) = Σ_k w_k Φ((y − m_k)/s_k),
 * and F(y) = p is solved by guarded Halley steps. About a tabulated point c (multiples of 1/32), with |h| ≤ 1/64,
 *   Φ(c + h) = Σ_n c_n hⁿ, n ≤ 6, to 3e-16; φ is its derivative, and the derivative of φ(u) is −uφ(u).
 */
import { both, lanes } from "./exp";
import { QUAD } from "./tiles";

/** Sizes, then addresses, as the host writes them: i32 each. */
@unmanaged
class Course {
  numTiles: i32;
  numColumns: i32; // d + d(d+1)/2
  numMeanTerms: i32; // of b'E_k
  numTerms: i32; // of b'E_k and of b'S_kb
  moments: usize; // [tile][numColumns][4]
  weights: usize; // [tile][4]; zero for lanes without a node
  offsets: usize; // i32: address of each term within a tile
  terms: usize; // coefficient of each term
  numbers: usize; // in: b'β, noise; out: Σ w m, Σ w (s² + (m − mean)²), least s
  table: usize; // of Φ, [513][8]
  means: usize; // out: m_k [tile][4]
  deviations: usize; // out: s_k [tile][4]
  inverses: usize; // out: 1/s_k [tile][4]
  densities: usize; // out: w_k/s_k [tile][4]
}

/** Variance of lanes without weight: no other deviation is as large, and all stays finite. */
const NOBODY: f64 = 1e300;
/** Variances below this are zero but for rounding. */
const LEAST: f64 = 1e-300;
/** Beyond this many standard deviations Φ is 0 or 1 but for 6e-16. */
const FURTHEST: f64 = 8;
const PER_UNIT: f64 = 32;
/** Bytes of a row of the table, and where the row of u = 0 begins. */
const ROW: i32 = 6;
const MIDDLE: usize = 256 << 6;

/** m_k, s_k and what quantiles need of them, with mean, variance and least deviation of the whole. */
export function spreadCourse(context: usize): void {
  const p = changetype<Course>(context);
  const level = both(p.numbers);
  const noise = both(p.numbers + 8);
  const size = <usize>p.numTiles * QUAD;
  const stride = <usize>p.numColumns * QUAD;
  const middle = p.offsets + (<usize>p.numMeanTerms << 2);
  const end = p.offsets + (<usize>p.numTerms << 2);
  for (let o: usize = 0, tile = p.moments; o < size; o += QUAD, tile += stride) {
    let m0 = level;
    let m1 = level;
    let v0 = noise;
    let v1 = noise;
    let term = p.terms;
    let offset = p.offsets;
    for (; offset < middle; offset += 4, term += 8) {
      const b = both(term);
      const x = tile + <usize>i32.load(offset);
      m0 = f64x2.add(m0, f64x2.mul(b, v128.load(x)));
      m1 = f64x2.add(m1, f64x2.mul(b, v128.load(x, 16)));
    }
    for (; offset < end; offset += 4, term += 8) {
      const b = both(term);
      const x = tile + <usize>i32.load(offset);
      v0 = f64x2.add(v0, f64x2.mul(b, v128.load(x)));
      v1 = f64x2.add(v1, f64x2.mul(b, v128.load(x, 16)));
    }
    v128.store(p.means + o, m0);
    v128.store(p.means + o, m1, 16);
    v128.store(p.deviations + o, v0);
    v128.store(p.deviations + o, v1, 16);
  }
  const zero = f64x2.splat(0);
  let total = zero;
  let squares = zero;
  let within = zero;
  let least = f64x2.splat(Infinity);
  for (let o: usize = 0; o < size; o += 16) {
    const w = v128.load(p.weights + o);
    const known = f64x2.max(v128.load(p.deviations + o), f64x2.splat(LEAST));
    const v = v128.bitselect(known, f64x2.splat(NOBODY), f64x2.gt(w, zero));
    const s = f64x2.sqrt(v);
    const inverse = f64x2.div(f64x2.splat(1), s);
    const e = f64x2.sub(v128.load(p.means + o), level);
    const we = f64x2.mul(w, e);
    total = f64x2.add(total, we);
    squares = f64x2.add(squares, f64x2.mul(we, e));
    within = f64x2.add(within, f64x2.mul(w, v));
    least = f64x2.pmin(least, s);
    v128.store(p.deviations + o, s);
    v128.store(p.inverses + o, inverse);
    v128.store(p.densities + o, f64x2.mul(w, inverse));
  }
  // Σ w e² − (Σ w e)², with e small against s or not much larger: both stand about b'β.
  const mean = lanes(total);
  f64.store(p.numbers, f64.load(p.numbers) + mean, 16);
  f64.store(p.numbers, lanes(within) + (lanes(squares) - mean * mean), 24);
  const a = f64x2.extract_lane(least, 0);
  const b = f64x2.extract_lane(least, 1);
  f64.store(p.numbers, a < b ? a : b, 32);
}

/**
 * The y with F(y) = p between low and high, from `start`, to `tolerance`. A Halley step δ leaves an error of at most
 * ((f'/2f)² + |f''/6f|) δ³, and with |u| ≤ 8 the bracket is below 27 over the square of the least deviation: a step of at most
 * `lastStep`, which the host makes of that, is the last one.
 */
export function courseQuantile(
  context: usize,
  p: f64,
  start: f64,
  lowest: f64,
  highest: f64,
  tolerance: f64,
  lastStep: f64,
): f64 {
  const course = changetype<Course>(context);
  const size = <usize>course.numTiles * QUAD;
  let low = lowest;
  let high = highest;
  let y = start;
  for (let step = 0; step < 200 && high - low > tolerance; step++) {
    const at = f64x2.splat(y);
    let below = f64x2.splat(0);
    let density = below;
    let slope = below;
    for (let o: usize = 0; o < size; o += 16) {
      const inverse = v128.load(course.inverses + o);
      let u = f64x2.mul(f64x2.sub(at, v128.load(course.means + o)), inverse);
      u = f64x2.pmax(f64x2.pmin(u, f64x2.splat(FURTHEST)), f64x2.splat(-FURTHEST));
      const nearest = f64x2.nearest(f64x2.mul(u, f64x2.splat(PER_UNIT)));
      const h = f64x2.sub(u, f64x2.mul(nearest, f64x2.splat(1 / PER_UNIT)));
      const rows = i32x4.shl(i32x4.trunc_sat_f64x2_s_zero(nearest), ROW);
      const a = course.table + MIDDLE + i32x4.extract_lane(rows, 0);
      const b = course.table + MIDDLE + i32x4.extract_lane(rows, 1);
      // One row of the table per lane, and Horner's scheme for value and derivative at once.
      let x = v128.load(a, 48);
      let z = v128.load(b, 48);
      let value = v128.shuffle<f64>(x, z, 0, 2);
      x = v128.load(a, 32);
      z = v128.load(b, 32);
      let rise = value;
      value = f64x2.add(f64x2.mul(value, h), v128.shuffle<f64>(x, z, 1, 3));
      rise = f64x2.add(f64x2.mul(rise, h), value);
      value = f64x2.add(f64x2.mul(value, h), v128.shuffle<f64>(x, z, 0, 2));
      x = v128.load(a, 16);
      z = v128.load(b, 16);
      rise = f64x2.add(f64x2.mul(rise, h), value);
      value = f64x2.add(f64x2.mul(value, h), v128.shuffle<f64>(x, z, 1, 3));
      rise = f64x2.add(f64x2.mul(rise, h), value);
      value = f64x2.add(f64x2.mul(value, h), v128.shuffle<f64>(x, z, 0, 2));
      x = v128.load(a);
      z = v128.load(b);
      rise = f64x2.add(f64x2.mul(rise, h), value);
      value = f64x2.add(f64x2.mul(value, h), v128.shuffle<f64>(x, z, 1, 3));
      rise = f64x2.add(f64x2.mul(rise, h), value);
      value = f64x2.add(f64x2.mul(value, h), v128.shuffle<f64>(x, z, 0, 2));
      below = f64x2.add(below, f64x2.mul(v128.load(course.weights + o), value));
      const d = f64x2.mul(v128.load(course.densities + o), rise);
      density = f64x2.add(density, d);
      slope = f64x2.add(slope, f64x2.mul(f64x2.mul(d, u), inverse));
    }
    const f = lanes(density);
    const excess = lanes(below) - p;
    if (excess > 0) high = y;
    else low = y;
    let delta = excess / f;
    const bend = (-0.5 * delta * lanes(slope)) / f;
    if (bend < 0.5 && bend > -0.5) delta /= 1 - bend;
    const next = y - delta;
    if (abs(delta) <= lastStep) return next;
    y = next > low && next < high ? next : 0.5 * (low + high);
  }
  return y;
}
