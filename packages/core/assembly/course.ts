/**
 * One individual's curve over the nodes with weight, each at the noise levels s with weight (host: wasm/course.ts, definition:
 * models/mixture/posterior.ts), two nodes at a time. With roots L of Σ_g,
 *   A = sI + L'GL = CC',   z = C⁻¹L'(g − Gm),   Y = C⁻¹L',   w | y, g, s ~ N(m + Y'z, sY'Y),
 * and from these moments the components N(b'(β + E), b'Sb + noise) of any functional of the curve. Sums of normal distribution
 * functions over them come from a table of Taylor coefficients of Φ at multiples of 1/64, good to 3e-13.
 */
import { Course } from "./contexts";
import { both, lanes } from "./exp";
import { QUAD } from "./tiles";

/** Variances below this are zero but for rounding; lanes without a node have none. */
const LEAST: f64 = 1e-300;
/** Beyond this many standard deviations Φ is 0 or 1 but for 6e-16. */
const FURTHEST: f64 = 8;
const PER_UNIT: f64 = 64;
/** Bytes of a row of the table, and where the row of u = 0 begins. */
const ROW: i32 = 48;
const MIDDLE: usize = 512 * 48;

/** Address of entry `index` of a table in tiles, and of scratch for two nodes. */
@inline
function quad(base: usize, index: i32): usize {
  return base + (<usize>index << 5);
}

@inline
function pair(base: usize, index: i32): usize {
  return base + (<usize>index << 4);
}

/** Writes mean and lower triangle of the covariance of w at every node of the first `count` active tiles, at the level of each. */
export function conditionTiles(context: usize, count: i32): void {
  const p = changetype<Course>(context);
  const d = p.numBasis;
  const numMoments = d + (d * (d + 1)) / 2;
  const size = 3 * d * d + 2 * d;
  let known = -1;
  for (let at = 0; at < count; at++) {
    const t = i32.load(p.active + (<usize>at << 2));
    const noise = both(p.noises + (<usize>at << 3));
    for (let half: usize = 0; half < QUAD; half += 16) {
      const L = quad(p.factors, t * d * d) + half;
      const m = quad(p.means, t * d) + half;
      const scratch = half ? pair(p.scratch, size) : p.scratch;
      // What does not depend on the level serves all levels of a tile.
      if (t != known) observePair(p, L, m, scratch);
      factorPair(d, noise, scratch);
      writePair(d, noise, L, m, scratch, quad(p.moments, at * numMoments) + half);
    }
    known = t;
  }
}

/** L'GL and L'(g − Gm) of two nodes, into their scratch: L'GL [d,d], C [d,d], Y' [d,d], L'(g − Gm) [d], z [d]. */
@inline
function observePair(p: Course, L: usize, m: usize, scratch: usize): void {
  const d = p.numBasis;
  // GL and g − Gm where Y' and z will be.
  const T = pair(scratch, 2 * d * d);
  const c = pair(T, d * d);
  const r = pair(c, d);
  for (let a = 0; a < d; a++) {
    const G = p.gram + (<usize>(a * d) << 3);
    let s = both(p.cross + (<usize>a << 3));
    for (let c = 0; c < d; c++) s = f64x2.sub(s, f64x2.mul(both(G + (<usize>c << 3)), v128.load(quad(m, c))));
    v128.store(pair(r, a), s);
    for (let b = 0; b < d; b++) {
      s = f64x2.splat(0);
      for (let c = 0; c < d; c++) {
        s = f64x2.add(s, f64x2.mul(both(G + (<usize>c << 3)), v128.load(quad(L, c * d + b))));
      }
      v128.store(pair(T, a * d + b), s);
    }
  }
  for (let i = 0; i < d; i++) {
    let s = f64x2.splat(0);
    for (let k = 0; k < d; k++) s = f64x2.add(s, f64x2.mul(v128.load(quad(L, k * d + i)), v128.load(pair(r, k))));
    v128.store(pair(c, i), s);
    for (let j = 0; j <= i; j++) {
      s = f64x2.splat(0);
      for (let k = 0; k < d; k++) {
        s = f64x2.add(s, f64x2.mul(v128.load(quad(L, k * d + i)), v128.load(pair(T, k * d + j))));
      }
      v128.store(pair(scratch, i * d + j), s);
    }
  }
}

/** C (reciprocals on the diagonal) and z of two nodes at a noise level. */
@inline
function factorPair(d: i32, noise: v128, scratch: usize): void {
  const C = pair(scratch, d * d);
  const c = pair(C, 2 * d * d);
  const z = pair(c, d);
  for (let i = 0; i < d; i++) {
    let zi = v128.load(pair(c, i));
    for (let j = 0; j <= i; j++) {
      let s = v128.load(pair(scratch, i * d + j));
      if (i == j) s = f64x2.add(s, noise);
      for (let k = 0; k < j; k++) {
        s = f64x2.sub(s, f64x2.mul(v128.load(pair(C, i * d + k)), v128.load(pair(C, j * d + k))));
      }
      if (j < i) {
        s = f64x2.mul(s, v128.load(pair(C, j * d + j)));
        zi = f64x2.sub(zi, f64x2.mul(s, v128.load(pair(z, j))));
      } else {
        // A ≥ sI, so pivots are at least s but for rounding.
        s = f64x2.div(f64x2.splat(1), f64x2.sqrt(f64x2.max(s, noise)));
        v128.store(pair(z, i), f64x2.mul(zi, s));
      }
      v128.store(pair(C, i * d + j), s);
    }
  }
}

/** Moments of the two nodes factored last: row b of Y' solves C y = (row b of L)'. */
@inline
function writePair(d: i32, noise: v128, L: usize, m: usize, scratch: usize, out: usize): void {
  const C = pair(scratch, d * d);
  const Y = pair(C, d * d);
  const z = pair(Y, d * d + d);
  let covariance = quad(out, d);
  for (let b = 0; b < d; b++) {
    let mean = v128.load(quad(m, b));
    for (let i = 0; i < d; i++) {
      let s = v128.load(quad(L, b * d + i));
      for (let c = 0; c < i; c++) {
        s = f64x2.sub(s, f64x2.mul(v128.load(pair(C, i * d + c)), v128.load(pair(Y, b * d + c))));
      }
      s = f64x2.mul(s, v128.load(pair(C, i * d + i)));
      v128.store(pair(Y, b * d + i), s);
      mean = f64x2.add(mean, f64x2.mul(s, v128.load(pair(z, i))));
    }
    v128.store(quad(out, b), mean);
    for (let a = 0; a <= b; a++, covariance += QUAD) {
      let s = f64x2.splat(0);
      for (let c = 0; c < d; c++) {
        s = f64x2.add(s, f64x2.mul(v128.load(pair(Y, a * d + c)), v128.load(pair(Y, b * d + c))));
      }
      v128.store(covariance, f64x2.mul(s, noise));
    }
  }
}

/** Writes centers, deviations and inverses of b'(β + w) + noise of `noise` times s, b = row and level = b'β, over `count` tiles of moments. */
export function spreadFunctional(context: usize, count: i32, level: f64, noise: f64): void {
  const p = changetype<Course>(context);
  const d = p.numBasis;
  const numMoments = d + (d * (d + 1)) / 2;
  for (let o: usize = 0; o < <usize>count * QUAD; o += 16) {
    const E = quad(p.moments, <i32>(o >> 5) * numMoments) + (o & 16);
    let mean = f64x2.splat(level);
    let variance = f64x2.splat(noise * f64.load(p.noises + ((o >> 5) << 3)));
    for (let a = 0; a < d; a++) {
      const b = f64.load(p.row + (<usize>a << 3));
      // Few splines are above zero at one time.
      if (b == 0) continue;
      mean = f64x2.add(mean, f64x2.mul(f64x2.splat(b), v128.load(quad(E, a))));
      const S = quad(E, d + (a * (a + 1)) / 2);
      let s = f64x2.mul(f64x2.splat(0.5 * b), v128.load(quad(S, a)));
      for (let c = 0; c < a; c++) s = f64x2.add(s, f64x2.mul(both(p.row + (<usize>c << 3)), v128.load(quad(S, c))));
      variance = f64x2.add(variance, f64x2.mul(f64x2.splat(2 * b), s));
    }
    const deviation = f64x2.sqrt(f64x2.max(variance, f64x2.splat(LEAST)));
    v128.store(p.centers + o, mean);
    v128.store(p.deviations + o, deviation);
    v128.store(p.inverses + o, f64x2.div(f64x2.splat(1), deviation));
  }
}

/** Σ_k w_k Φ(u_k) and Σ_k (w_k/s_k) φ(u_k), u_k = (y − m_k)/s_k, over `count` tiles of components, to sums[0] and [1]. */
export function sumNormals(context: usize, count: i32, y: f64): void {
  const p = changetype<Course>(context);
  const at = f64x2.splat(y);
  let below = f64x2.splat(0);
  let density = below;
  for (let o: usize = 0; o < <usize>count * QUAD; o += 16) {
    const inverse = v128.load(p.inverses + o);
    let u = f64x2.mul(f64x2.sub(at, v128.load(p.centers + o)), inverse);
    u = f64x2.pmax(f64x2.pmin(u, f64x2.splat(FURTHEST)), f64x2.splat(-FURTHEST));
    const nearest = f64x2.nearest(f64x2.mul(u, f64x2.splat(PER_UNIT)));
    const h = f64x2.sub(u, f64x2.mul(nearest, f64x2.splat(1 / PER_UNIT)));
    const rows = i32x4.trunc_sat_f64x2_s_zero(nearest);
    const a = p.normalTable + MIDDLE + i32x4.extract_lane(rows, 0) * ROW;
    const b = p.normalTable + MIDDLE + i32x4.extract_lane(rows, 1) * ROW;
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
    const share = v128.load(p.weights + o);
    below = f64x2.add(below, f64x2.mul(share, value));
    density = f64x2.add(density, f64x2.mul(f64x2.mul(share, inverse), rise));
  }
  f64.store(p.sums, lanes(below));
  f64.store(p.sums, lanes(density), 8);
}
