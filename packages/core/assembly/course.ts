/**
 * The distribution of one linear functional of the curve over the nodes of a posterior (models/mixture/wasm-course.ts), four nodes
 * at a time. Moments of the coefficients stand in tiles, [tile][d + d(d+1)/2][4]: mean, then the lower triangle of the
 * covariance, row by row. For b'(β + w) + noise,
 *   m_k = b'β + b'E_k,   s_k² = noise + b'S_kb,   F(y) = Σ_k w_k Φ((y − m_k)/s_k),
 * and F(y) = p is solved with the first four derivatives of F, Σ_k w_k s_k⁻ⁿ Φ⁽ⁿ⁾(u_k), so that one or two sums over the nodes
 * are enough. About a tabulated point c (multiples of 1/64), with |h| ≤ 1/128,
 *   Φ(c + h) = Σ_n c_n hⁿ, n ≤ 4, to 3e-13; φ is its derivative, and φ' = −uφ gives the others.
 */
import { both, lanes } from "./exp";
import { QUAD } from "./tiles";

/** Sizes, then addresses, as the host writes them: i32 each. */
@unmanaged
export class Course {
  numTiles: i32;
  numColumns: i32; // d + d(d+1)/2
  numMeanTerms: i32; // of b'E_k
  numTerms: i32; // of b'E_k and of b'S_kb
  moments: usize; // [tile][numColumns][4]
  weights: usize; // [tile][4]; zero for lanes without a node
  offsets: usize; // i32: address of each term within a tile
  terms: usize; // coefficient of each term
  numbers: usize; // in: b'β, noise; out: mean, variance, Σ w/s⁵
  table: usize; // of Φ, [1025][6]
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
const PER_UNIT: f64 = 64;
/** Bytes of a row of the table, and where the row of u = 0 begins. */
const ROW: i32 = 48;
const MIDDLE: usize = 512 * 48;

/** m_k, s_k and what quantiles need of them, with mean and variance of the whole. */
export function spreadCourse(context: usize): void {
  spreadMoments(changetype<Course>(context));
  finishSpread(changetype<Course>(context));
}

/** m_k to the means, s_k² to the deviations. */
function spreadMoments(p: Course): void {
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
}

/** The rest from m_k and s_k². */
export function finishSpread(p: Course): void {
  const level = both(p.numbers);
  const size = <usize>p.numTiles * QUAD;
  const zero = f64x2.splat(0);
  let total = zero;
  let squares = zero;
  let within = zero;
  let sharpness = zero;
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
    const density = f64x2.mul(w, inverse);
    const square = f64x2.mul(inverse, inverse);
    sharpness = f64x2.add(sharpness, f64x2.mul(density, f64x2.mul(square, square)));
    v128.store(p.deviations + o, s);
    v128.store(p.inverses + o, inverse);
    v128.store(p.densities + o, density);
  }
  // Σ w e² − (Σ w e)², with e small against s or not much larger: both stand about b'β.
  const mean = lanes(total);
  f64.store(p.numbers, f64.load(p.numbers) + mean, 16);
  f64.store(p.numbers, lanes(within) + (lanes(squares) - mean * mean), 24);
  f64.store(p.numbers, lanes(sharpness), 32);
}

/** |Φ⁽⁵⁾| is at most 3φ(0) everywhere; over 5!. */
const FIFTH: f64 = 0.009973557010035818;
/** The density may change by this share over a last step. */
const STEADY: f64 = 0.2;

/**
 * The y with F(y) = p between low and high, from `start`, to `tolerance`. With T the Taylor polynomial of degree four about y,
 *   |F(y + ε) − T(ε)| ≤ |ε|⁵ max|Φ⁽⁵⁾|/5! Σ_k w_k/s_k⁵,
 * so where T(ε) = p and this is below tolerance times the density, y + ε is the quantile; else it is where to look next, as long as it lies
 * between points that are known to be too low and too high.
 */
export function courseQuantile(
  context: usize,
  p: f64,
  start: f64,
  lowest: f64,
  highest: f64,
  tolerance: f64,
): f64 {
  const course = changetype<Course>(context);
  const size = <usize>course.numTiles * QUAD;
  const sharpness = FIFTH * f64.load(course.numbers, 32);
  let low = lowest;
  let high = highest;
  let y = start;
  for (let step = 0; step < 200 && high - low > tolerance; step++) {
    const at = f64x2.splat(y);
    const zero = f64x2.splat(0);
    let below = zero;
    let density = zero;
    let first = zero;
    let second = zero;
    let third = zero;
    for (let o: usize = 0; o < size; o += 16) {
      const inverse = v128.load(course.inverses + o);
      let u = f64x2.mul(f64x2.sub(at, v128.load(course.means + o)), inverse);
      u = f64x2.pmax(f64x2.pmin(u, f64x2.splat(FURTHEST)), f64x2.splat(-FURTHEST));
      const nearest = f64x2.nearest(f64x2.mul(u, f64x2.splat(PER_UNIT)));
      const h = f64x2.sub(u, f64x2.mul(nearest, f64x2.splat(1 / PER_UNIT)));
      const rows = i32x4.trunc_sat_f64x2_s_zero(nearest);
      const a = course.table + MIDDLE + i32x4.extract_lane(rows, 0) * ROW;
      const b = course.table + MIDDLE + i32x4.extract_lane(rows, 1) * ROW;
      // One row of the table per lane, and Horner's scheme for value and derivative at once.
      const c4 = v128.shuffle<f64>(v128.load(a, 32), v128.load(b, 32), 0, 2);
      const x = v128.load(a, 16);
      const z = v128.load(b, 16);
      let value = f64x2.add(f64x2.mul(c4, h), v128.shuffle<f64>(x, z, 1, 3));
      let rise = f64x2.add(f64x2.mul(c4, h), value);
      value = f64x2.add(f64x2.mul(value, h), v128.shuffle<f64>(x, z, 0, 2));
      rise = f64x2.add(f64x2.mul(rise, h), value);
      const v = v128.load(a);
      const w = v128.load(b);
      value = f64x2.add(f64x2.mul(value, h), v128.shuffle<f64>(v, w, 1, 3));
      rise = f64x2.add(f64x2.mul(rise, h), value);
      value = f64x2.add(f64x2.mul(value, h), v128.shuffle<f64>(v, w, 0, 2));
      below = f64x2.add(below, f64x2.mul(v128.load(course.weights + o), value));
      // d = (w/s)φ, then d u/s, d(u² − 1)/s², d(u³ − 3u)/s³.
      const d = f64x2.mul(v128.load(course.densities + o), rise);
      const slope = f64x2.mul(u, inverse);
      const square = f64x2.mul(inverse, inverse);
      const one = f64x2.mul(d, slope);
      const two = f64x2.sub(f64x2.mul(one, slope), f64x2.mul(d, square));
      const half = f64x2.mul(one, square);
      density = f64x2.add(density, d);
      first = f64x2.add(first, one);
      second = f64x2.add(second, two);
      third = f64x2.add(third, f64x2.sub(f64x2.mul(two, slope), f64x2.add(half, half)));
    }
    const f = lanes(density);
    const excess = lanes(below) - p;
    if (excess > 0) high = y;
    else low = y;
    const f1 = -lanes(first);
    const e = taylorRoot(excess, f, 0.5 * f1, (1 / 6.0) * lanes(second), (-1 / 24.0) * lanes(third));
    const square = e * e;
    const known = square * square * abs(e) * sharpness <= tolerance * f && abs(f1 * e) <= STEADY * f;
    if (known || abs(e) <= tolerance) return y + e;
    y = y + e > low && y + e < high ? y + e : 0.5 * (low + high);
  }
  return y;
}

/** The root of a + bε + cε² + dε³ + gε⁴ next to −a/b by Newton steps; −a/b where they lead elsewhere. */
@inline
function taylorRoot(a: f64, b: f64, c: f64, d: f64, g: f64): f64 {
  const start = -a / b;
  let e = start;
  for (let step = 0; step < 8; step++) {
    const value = a + e * (b + e * (c + e * (d + e * g)));
    const slope = b + e * (2 * c + e * (3 * d + e * 4 * g));
    const delta = value / slope;
    e -= delta;
    if (abs(delta) <= 1e-14 * abs(e)) break;
  }
  return e * start > 0 && abs(e) <= 2 * abs(start) ? e : start;
}
