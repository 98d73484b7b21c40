/**
 * What kernels need of noise levels (noise/levels.ts, docs/math/noise.md §3) for two individuals, one in each lane: the
 * eigendecomposition of L'GL, and weights of the levels. With squares η and χ, ξ_j = δ_jχ_j, they are
 *   q_k ∝ exp(E_k)/√Π_j(1 + δ_j/s_k),   E_k = log p_k − ½ n log s_k − ½(η − Σ_j ξ_j/(s_k + δ_j))/s_k,
 * so that no logarithm is taken here: the host adds those of the sums.
 */
import { both, exp2x } from "./exp";

/** Directions whose δ is below this share of the largest carry rounding only. */
export const NO_DIRECTION: f64 = 1e-12;
/** Below this share a direction is as if it were not there. */
const NOTHING: f64 = 1e-16;
/** Shares of the product of its diagonal entries and of the squared trace below which the square of an entry is rounding. */
const NEGLIGIBLE: f64 = 1e-31;
const NEGLIGIBLE_OF_TRACE: f64 = 1e-36;
const MOST_SWEEPS = 30;

/** Bytes of a level in the table: s, log p, log s, ωz and 1/s. */
export const LEVEL: usize = 40;

@inline
export function at(base: usize, index: i32): usize {
  return base + (<usize>index << 4);
}

/**
 * Jacobi rotations until A [d,d], of which the upper triangle counts, is diagonal; Q [d,d] collects them. Pairs. A sweep goes in rounds of rotations
 * that share no row, as players of a tournament meet, so that none waits for the roots and quotients of the one before.
 */
export function diagonalize(A: usize, Q: usize, d: i32): void {
  const rounds = d - 1 + (d & 1);
  let trace = f64x2.splat(0);
  for (let k = 0; k < d; k++) trace = f64x2.add(trace, v128.load(at(A, k * d + k)));
  const rounding = f64x2.mul(f64x2.splat(NEGLIGIBLE_OF_TRACE), f64x2.mul(trace, trace));
  for (let sweep = 0; sweep < MOST_SWEEPS; sweep++) {
    let rotated = false;
    for (let round = 0; round < rounds; round++) {
      for (let p = 0; p < d; p++) {
        let q = p < rounds ? round - p : p;
        if (q < 0) q += rounds;
        if (q == p) q = rounds;
        if (q > p && q < d && rotate(A, Q, d, p, q, rounding)) rotated = true;
      }
    }
    if (!rotated) return;
  }
}

/** Rotates entry (p, q) away where it is felt; says whether it was, in one lane or both. */
@inline
function rotate(A: usize, Q: usize, d: i32, p: i32, q: i32, rounding: v128): bool {
  const x = v128.load(at(A, p * d + q));
  const pp = v128.load(at(A, p * d + p));
  const qq = v128.load(at(A, q * d + q));
  const limit = f64x2.add(rounding, f64x2.mul(f64x2.splat(NEGLIGIBLE), f64x2.abs(f64x2.mul(pp, qq))));
  const turns = f64x2.gt(f64x2.mul(x, x), limit);
  if (!v128.any_true(turns)) return false;
  // t = tan of the smaller angle: 2x/(D ± √(D² + 4x²)), D = a_qq − a_pp, with the sign of D.
  const one = f64x2.splat(1);
  const D = f64x2.sub(qq, pp);
  const twice = f64x2.add(x, x);
  const root = f64x2.sqrt(f64x2.add(f64x2.mul(D, D), f64x2.mul(twice, twice)));
  const signed = v128.bitselect(root, f64x2.neg(root), f64x2.ge(D, f64x2.splat(0)));
  const t = v128.and(f64x2.div(twice, f64x2.add(D, signed)), turns);
  const c = f64x2.div(one, f64x2.sqrt(f64x2.add(f64x2.mul(t, t), one)));
  const s = f64x2.mul(t, c);
  const moved = f64x2.mul(t, x);
  v128.store(at(A, p * d + p), f64x2.sub(pp, moved));
  v128.store(at(A, q * d + q), f64x2.add(qq, moved));
  v128.store(at(A, p * d + q), v128.andnot(x, turns));
  for (let k = 0; k < p; k++) turn(at(A, k * d + p), at(A, k * d + q), c, s);
  for (let k = p + 1; k < q; k++) turn(at(A, p * d + k), at(A, k * d + q), c, s);
  for (let k = q + 1; k < d; k++) turn(at(A, p * d + k), at(A, q * d + k), c, s);
  for (let k = 0; k < d; k++) turn(at(Q, k * d + p), at(Q, k * d + q), c, s);
  return true;
}

/** (x, y) ← (cx − sy, sx + cy). */
@inline
function turn(x: usize, y: usize, c: v128, s: v128): void {
  const a = v128.load(x);
  const b = v128.load(y);
  v128.store(x, f64x2.sub(f64x2.mul(c, a), f64x2.mul(s, b)));
  v128.store(y, f64x2.add(f64x2.mul(s, a), f64x2.mul(c, b)));
}

/** How many of the directions δ [d], largest first, there are in either lane. */
export function numDirections(delta: usize, d: i32): i32 {
  const least = f64x2.mul(f64x2.splat(NOTHING), v128.load(delta));
  let felt = d;
  while (felt > 0 && !v128.any_true(f64x2.gt(v128.load(at(delta, felt - 1)), least))) felt--;
  return felt;
}

/**
 * Weights q [K] of the levels of two individuals with n values and `squares` η, χ [1 + d] in directions δ [d] to `weights`, and
 * 1/(s_k + δ_j) to `shrinks` [K,d]. To `parts` [K,3] go what derivatives are made of, (η − Σ_j h_j)/s and Σ_j (s + h_j)/(s + δ_j) with
 * h_j = ξ_j/(s + δ_j), and 1/√Π. Returns the largest E, and Σ exp(E − largest)/√Π goes to `total`. All but the table are pairs.
 */
export function weighLevels(
  levels: usize,
  K: i32,
  n: v128,
  delta: usize,
  squares: usize,
  d: i32,
  weights: usize,
  parts: usize,
  shrinks: usize,
  total: usize,
): v128 {
  const one = f64x2.splat(1);
  const half = f64x2.splat(0.5);
  // ξ/(s + δ) = χ − sχ/(s + δ).
  let base = v128.load(squares);
  for (let j = 0; j < d; j++) base = f64x2.sub(base, v128.load(at(squares, 1 + j)));
  let largest = f64x2.splat(-Infinity);
  for (let k = 0; k < K; k++) {
    const level = levels + <usize>k * LEVEL;
    const s = both(level);
    let square = f64x2.mul(base, both(level + 32));
    let product = one;
    let kept = f64x2.splat(0);
    for (let j = 0; j < d; j++) {
      const dj = v128.load(at(delta, j));
      const shrink = f64x2.div(one, f64x2.add(s, dj));
      v128.store(at(shrinks, k * d + j), shrink);
      const part = f64x2.mul(s, shrink);
      product = f64x2.mul(product, part);
      const chi = f64x2.mul(v128.load(at(squares, 1 + j)), shrink);
      square = f64x2.add(square, chi);
      kept = f64x2.add(kept, f64x2.add(part, f64x2.mul(f64x2.mul(dj, chi), shrink)));
    }
    v128.store(at(parts, 3 * k), square);
    v128.store(at(parts, 3 * k + 1), kept);
    v128.store(at(parts, 3 * k + 2), f64x2.sqrt(product));
    const E = f64x2.sub(both(level + 8), f64x2.mul(half, f64x2.add(f64x2.mul(n, both(level + 16)), square)));
    v128.store(at(weights, k), E);
    largest = f64x2.pmax(largest, E);
  }
  let sum = f64x2.splat(0);
  for (let k = 0; k < K; k++) {
    const y = f64x2.pmax(f64x2.sub(v128.load(at(weights, k)), largest), f64x2.splat(-700));
    const w = f64x2.mul(exp2x(y), v128.load(at(parts, 3 * k + 2)));
    v128.store(at(weights, k), w);
    sum = f64x2.add(sum, w);
  }
  const scale = f64x2.div(one, sum);
  for (let k = 0; k < K; k++) v128.store(at(weights, k), f64x2.mul(v128.load(at(weights, k)), scale));
  v128.store(total, sum);
  return largest;
}
