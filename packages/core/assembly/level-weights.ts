/**
 * What kernels need of noise levels (noise/levels.ts, docs/math/noise.md §3) for two individuals, one in each lane: the
 * eigendecomposition of L'GL, and weights of the levels. With squares η and χ, ξ_j = δ_jχ_j, they are
 *   q_k ∝ exp(E_k)/√Π_j(1 + δ_j/s_k),   E_k = log p_k − ½ n log s_k − ½(η − Σ_j ξ_j/(s_k + δ_j))/s_k,
 * so that no logarithm is taken here: the host adds those of the sums.
 */
import { both, exp2x } from "./exp";

/** Directions whose δ is below this share of the largest carry rounding only. */
export const NO_DIRECTION: f64 = 1e-12;
/** An entry this small beside its diagonal entries is not rotated away. */
const NEGLIGIBLE: f64 = 5.551115123125783e-17;
const MOST_SWEEPS = 30;

/** Bytes of a level in the table: s, log p, log s and ωz. */
export const LEVEL: usize = 32;

@inline
function at(base: usize, index: i32): usize {
  return base + (<usize>index << 4);
}

/** Jacobi rotations until A [d,d] is diagonal; Q [d,d], if there is one, collects them. Pairs. */
export function diagonalize(A: usize, Q: usize, d: i32): void {
  const one = f64x2.splat(1);
  const zero = f64x2.splat(0);
  for (let sweep = 0; sweep < MOST_SWEEPS; sweep++) {
    let rotated = false;
    for (let p = 0; p < d - 1; p++) {
      for (let q = p + 1; q < d; q++) {
        const x = v128.load(at(A, p * d + q));
        const pp = v128.load(at(A, p * d + p));
        const qq = v128.load(at(A, q * d + q));
        const limit = f64x2.mul(f64x2.splat(NEGLIGIBLE), f64x2.mul(f64x2.sqrt(f64x2.abs(pp)), f64x2.sqrt(f64x2.abs(qq))));
        const turns = f64x2.gt(f64x2.abs(x), limit);
        if (!v128.any_true(turns)) continue;
        rotated = true;
        const theta = f64x2.div(f64x2.sub(qq, pp), f64x2.add(x, x));
        const root = f64x2.sqrt(f64x2.add(f64x2.mul(theta, theta), one));
        const size = f64x2.div(one, f64x2.add(f64x2.abs(theta), root));
        const t = v128.and(v128.bitselect(size, f64x2.neg(size), f64x2.ge(theta, zero)), turns);
        const c = f64x2.div(one, f64x2.sqrt(f64x2.add(f64x2.mul(t, t), one)));
        const s = f64x2.mul(t, c);
        turnColumns(A, d, p, q, c, s);
        for (let k = 0; k < d; k++) turn(at(A, p * d + k), at(A, q * d + k), c, s);
        v128.store(at(A, p * d + q), v128.andnot(v128.load(at(A, p * d + q)), turns));
        v128.store(at(A, q * d + p), v128.andnot(v128.load(at(A, q * d + p)), turns));
        if (Q) turnColumns(Q, d, p, q, c, s);
      }
    }
    if (!rotated) return;
  }
}

@inline
function turnColumns(A: usize, d: i32, p: i32, q: i32, c: v128, s: v128): void {
  for (let k = 0; k < d; k++) turn(at(A, k * d + p), at(A, k * d + q), c, s);
}

/** (x, y) ← (cx − sy, sx + cy). */
@inline
function turn(x: usize, y: usize, c: v128, s: v128): void {
  const a = v128.load(x);
  const b = v128.load(y);
  v128.store(x, f64x2.sub(f64x2.mul(c, a), f64x2.mul(s, b)));
  v128.store(y, f64x2.add(f64x2.mul(s, a), f64x2.mul(c, b)));
}

/**
 * Weights q [K] of the levels of two individuals with n values and `squares` η, χ [1 + d] in directions δ [d] to `weights`; `scales`
 * [K] is scratch. Returns the largest E, and Σ exp(E − largest)/√Π goes to `total`. All but the table are pairs.
 */
export function weighLevels(
  levels: usize,
  K: i32,
  n: v128,
  delta: usize,
  squares: usize,
  d: i32,
  weights: usize,
  scales: usize,
  total: usize,
): v128 {
  const one = f64x2.splat(1);
  const half = f64x2.splat(0.5);
  let largest = f64x2.splat(-Infinity);
  for (let k = 0; k < K; k++) {
    const level = levels + <usize>k * LEVEL;
    const inverse = f64x2.div(one, both(level));
    let rest = v128.load(squares);
    let product = one;
    for (let j = 0; j < d; j++) {
      const grown = f64x2.add(one, f64x2.mul(v128.load(at(delta, j)), inverse));
      product = f64x2.mul(product, grown);
      // ξ/(s + δ) = χ − χ/(1 + δ/s).
      const chi = v128.load(at(squares, 1 + j));
      rest = f64x2.sub(rest, f64x2.sub(chi, f64x2.div(chi, grown)));
    }
    const square = f64x2.mul(rest, inverse);
    const E = f64x2.sub(both(level + 8), f64x2.mul(half, f64x2.add(f64x2.mul(n, both(level + 16)), square)));
    v128.store(at(weights, k), E);
    v128.store(at(scales, k), f64x2.div(one, f64x2.sqrt(product)));
    largest = f64x2.pmax(largest, E);
  }
  let sum = f64x2.splat(0);
  for (let k = 0; k < K; k++) {
    const y = f64x2.pmax(f64x2.sub(v128.load(at(weights, k)), largest), f64x2.splat(-700));
    const w = f64x2.mul(exp2x(y), v128.load(at(scales, k)));
    v128.store(at(weights, k), w);
    sum = f64x2.add(sum, w);
  }
  const scale = f64x2.div(one, sum);
  for (let k = 0; k < K; k++) v128.store(at(weights, k), f64x2.mul(v128.load(at(weights, k)), scale));
  v128.store(total, sum);
  return largest;
}
