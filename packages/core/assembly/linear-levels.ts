/**
 * The E step of the linear models where noise has levels (models/linear/effects.ts, docs/math/noise.md §3), two individuals at a
 * time. With L'GL = Q diag(δ) Q', a = Q'L'g and weights q_k of the levels, in the frame of Q
 *   E u = Σ_k q_k a/(s_k + δ),   E uu' = Σ_k q_k [uu' + s_k diag(1/(s_k + δ))],   the same divided by λ_k = s_k/σ²,
 * turned back and added to the sums as those of one level are. The host makes the log-likelihood of largest E and sum.
 */
import { Linear } from "./contexts";
import { both } from "./exp";
import { at, diagonalize, LEVEL, NO_DIRECTION, weighLevels } from "./level-weights";
import { add, addMoments, pair, projectPair, readPair } from "./linear";

/** Directions closer than this, beside δ and σ², are summed over levels, since their difference loses digits. */
const CLOSE: f64 = 1e-3;
/** Products a_ja_k below this share of σ⁴ are nothing beside a variance of 1. */
const NEGLIGIBLE: f64 = 1e-18;

/** Adds `count` individuals, an even number, to the sums. */
export function expectLevels(context: usize, count: i32): void {
  const p = changetype<Linear>(context);
  const r = p.rank;
  const weighted = at(p.frame, 2 * r * r + r);
  const u = at(weighted, r);
  for (let i = 0; i < count; i += 2) {
    const n = pair(p.counts + (<usize>i << 3), 8);
    const rho = weighPair(p, i, n, u);
    const precision = averageLevels(p, u);
    turnBack(p);
    // E v/λ, after the pairs of E vv'/λ.
    turnMean(p, weighted, at(p.moments, (r * (r + 1)) / 2));
    add(p.sums + 16, f64x2.mul(precision, rho));
    let out = addMoments(p, p.plain, precision);
    add(out, spreadSlope(p, n));
    for (let e = 0; e < p.numBand; e++) {
      out += 16;
      add(out, f64x2.mul(precision, v128.load(at(p.band, e))));
    }
  }
}

/** E v and the pairs of E vv' of `count` individuals, an even number, to `posterior`. */
export function placeLevels(context: usize, count: i32): void {
  const p = changetype<Linear>(context);
  const r = p.rank;
  const numPairs = (r * (r + 1)) / 2;
  const width = <usize>(r + numPairs) << 3;
  const mean = at(p.frame, 2 * r * r); // F, then E u
  const u = at(mean, 2 * r);
  let out = p.posterior;
  for (let i = 0; i < count; i += 2, out += 2 * width) {
    weighPair(p, i, pair(p.counts + (<usize>i << 3), 8), u);
    averageLevels(p, u);
    turnBack(p);
    for (let j = 0; j < r; j++) v128.store(at(mean, j), f64x2.mul(v128.load(at(u, j)), v128.load(at(mean, j))));
    turnMean(p, mean, p.z);
    for (let j = 0; j < r; j++) storeLanes(out + (<usize>j << 3), width, v128.load(at(p.z, j)));
    for (let e = 0; e < numPairs; e++) storeLanes(out + (<usize>(r + e) << 3), width, v128.load(at(p.plain, e)));
  }
}

/** The first lane at an address, the second `stride` bytes on. */
@inline
function storeLanes(address: usize, stride: usize, v: v128): void {
  f64.store(address, f64x2.extract_lane(v, 0));
  f64.store(address + stride, f64x2.extract_lane(v, 1));
}

/** Weights of the levels of individuals i and i + 1, a to u; returns ρ. */
function weighPair(p: Linear, i: i32, n: v128, u: usize): v128 {
  const r = p.rank;
  const rho = readPair(p, i);
  rotate(p);
  // η = ρ and χ = a²/δ.
  v128.store(p.levelSquares, rho);
  let largestDelta = f64x2.splat(0);
  for (let j = 0; j < r; j++) largestDelta = f64x2.pmax(largestDelta, v128.load(at(p.delta, j)));
  const least = f64x2.mul(f64x2.splat(NO_DIRECTION), largestDelta);
  for (let j = 0; j < r; j++) {
    let a = f64x2.splat(0);
    for (let c = 0; c < r; c++) a = f64x2.add(a, f64x2.mul(v128.load(at(p.Q, c * r + j)), v128.load(at(p.z, c))));
    const delta = v128.load(at(p.delta, j));
    v128.store(at(u, j), a);
    v128.store(at(p.levelSquares, 1 + j), v128.and(f64x2.div(f64x2.mul(a, a), delta), f64x2.gt(delta, least)));
  }
  const sums = p.levelSums + (<usize>i << 3);
  const largest = weighLevels(p.levels, p.numLevels, n, p.delta, p.levelSquares, r, p.levelWeights, p.levelParts, p.levelShrinks, sums);
  v128.store(p.levelMaxima + (<usize>i << 3), largest);
  return rho;
}

/** out = Qx of two vectors [r]. */
@inline
function turnMean(p: Linear, x: usize, out: usize): void {
  const r = p.rank;
  for (let a = 0; a < r; a++) {
    let v = f64x2.splat(0);
    for (let j = 0; j < r; j++) v = f64x2.add(v, f64x2.mul(v128.load(at(p.Q, a * r + j)), v128.load(at(x, j))));
    v128.store(at(out, a), v);
  }
}

/** δ and Q of L'GL, and L'g in z. */
function rotate(p: Linear): void {
  const r = p.rank;
  projectPair(p, f64x2.splat(0));
  for (let a = 0; a < r; a++) {
    for (let c = 0; c < a; c++) v128.store(at(p.C, c * r + a), v128.load(at(p.C, a * r + c)));
  }
  memory.fill(p.Q, 0, <usize>(r * r) << 4);
  for (let a = 0; a < r; a++) v128.store(at(p.Q, a * r + a), f64x2.splat(1));
  diagonalize(p.C, p.Q, r);
  for (let j = 0; j < r; j++) v128.store(at(p.delta, j), f64x2.pmax(f64x2.splat(0), v128.load(at(p.C, j * r + j))));
}

/**
 * Moments of u over the levels to `frame`, plain and divided by λ, from a at `u`; returns E 1/λ. Sums over levels of
 * F(δ) = Σ q/(s + δ) give the rest: Σ q/[(s + δ)(s + δ')] = [F(δ) − F(δ')]/(δ' − δ), unless the two are close.
 */
function averageLevels(p: Linear, u: usize): v128 {
  const r = p.rank;
  const rr = r * r;
  const plain = p.frame;
  const weighted = at(plain, rr);
  const sums = at(weighted, rr); // F and F of q/λ [r]
  const sigma2 = both(p.noise);
  // q/λ in place of 1/√Π, which has served.
  let precision = f64x2.splat(0);
  for (let k = 0; k < p.numLevels; k++) {
    const w = f64x2.mul(v128.load(at(p.levelWeights, k)), f64x2.mul(sigma2, both(p.levels + <usize>k * LEVEL + 32)));
    v128.store(at(p.levelParts, 3 * k + 2), w);
    precision = f64x2.add(precision, w);
  }
  for (let a = 0; a < r; a++) {
    let first = f64x2.splat(0);
    let second = first;
    let firstWeighted = first;
    let secondWeighted = first;
    let variance = first;
    for (let k = 0; k < p.numLevels; k++) {
      const shrink = v128.load(at(p.levelShrinks, k * r + a));
      const x = f64x2.mul(v128.load(at(p.levelWeights, k)), shrink);
      const y = f64x2.mul(v128.load(at(p.levelParts, 3 * k + 2)), shrink);
      first = f64x2.add(first, x);
      second = f64x2.add(second, f64x2.mul(x, shrink));
      firstWeighted = f64x2.add(firstWeighted, y);
      secondWeighted = f64x2.add(secondWeighted, f64x2.mul(y, shrink));
      variance = f64x2.add(variance, f64x2.mul(x, both(p.levels + <usize>k * LEVEL)));
    }
    v128.store(at(sums, a), first);
    v128.store(at(sums, r + a), firstWeighted);
    const ua = v128.load(at(u, a));
    const square = f64x2.mul(ua, ua);
    // The posterior variance s/(s + δ), which divided by λ is σ²/(s + δ).
    v128.store(at(plain, a * r + a), f64x2.add(f64x2.mul(square, second), variance));
    v128.store(at(weighted, a * r + a), f64x2.add(f64x2.mul(square, secondWeighted), f64x2.mul(sigma2, first)));
    for (let c = 0; c < a; c++) averagePair(p, a, c, f64x2.mul(ua, v128.load(at(u, c))));
  }
  // E u/λ.
  for (let a = 0; a < r; a++) v128.store(at(sums, r + a), f64x2.mul(v128.load(at(u, a)), v128.load(at(sums, r + a))));
  return precision;
}

/** Entries (a, c) of both moments. */
@inline
function averagePair(p: Linear, a: i32, c: i32, size: v128): void {
  const r = p.rank;
  const plain = p.frame;
  const weighted = at(plain, r * r);
  const sums = at(weighted, r * r);
  const sigma2 = both(p.noise);
  const own = v128.load(at(p.delta, a));
  const other = v128.load(at(p.delta, c));
  const gap = f64x2.sub(other, own);
  const far = f64x2.gt(f64x2.abs(gap), f64x2.mul(f64x2.splat(CLOSE), f64x2.add(sigma2, f64x2.add(own, other))));
  let x = f64x2.div(f64x2.sub(v128.load(at(sums, a)), v128.load(at(sums, c))), gap);
  let y = f64x2.div(f64x2.sub(v128.load(at(sums, r + a)), v128.load(at(sums, r + c))), gap);
  const matters = f64x2.gt(f64x2.abs(size), f64x2.mul(f64x2.splat(NEGLIGIBLE), f64x2.mul(sigma2, sigma2)));
  if (v128.any_true(v128.andnot(matters, far))) {
    let direct = f64x2.splat(0);
    let directWeighted = direct;
    for (let k = 0; k < p.numLevels; k++) {
      const product = f64x2.mul(v128.load(at(p.levelShrinks, k * r + a)), v128.load(at(p.levelShrinks, k * r + c)));
      direct = f64x2.add(direct, f64x2.mul(v128.load(at(p.levelWeights, k)), product));
      directWeighted = f64x2.add(directWeighted, f64x2.mul(v128.load(at(p.levelParts, 3 * k + 2)), product));
    }
    x = v128.bitselect(x, direct, far);
    y = v128.bitselect(y, directWeighted, far);
  }
  x = v128.and(f64x2.mul(size, x), matters);
  y = v128.and(f64x2.mul(size, y), matters);
  storeBoth(plain, a * r + c, c * r + a, x);
  storeBoth(weighted, a * r + c, c * r + a, y);
}

@inline
function storeBoth(M: usize, e: i32, f: i32, v: v128): void {
  v128.store(at(M, e), v);
  v128.store(at(M, f), v);
}

/** The lower triangles of QMQ', row by row, to `plain` and `moments`, for both moments M of `frame`. */
function turnBack(p: Linear): void {
  const r = p.rank;
  const width = <usize>r << 4;
  const between = <usize>r * width;
  let out: usize = 0;
  for (let a = 0; a < r; a++) {
    const row = p.Q + <usize>a * width;
    // Rows a of QM; T is free here.
    for (let c: usize = 0; c < width; c += 16) {
      let x = f64x2.splat(0);
      let y = x;
      let M = p.frame + c;
      for (let j: usize = 0; j < width; j += 16, M += width) {
        const q = v128.load(row + j);
        x = f64x2.add(x, f64x2.mul(q, v128.load(M)));
        y = f64x2.add(y, f64x2.mul(q, v128.load(M + between)));
      }
      v128.store(p.T + c, x);
      v128.store(p.C + c, y);
    }
    let other = p.Q;
    for (let b = 0; b <= a; b++, other += width, out += 16) {
      let x = f64x2.splat(0);
      let y = x;
      for (let j: usize = 0; j < width; j += 16) {
        const q = v128.load(other + j);
        x = f64x2.add(x, f64x2.mul(q, v128.load(p.T + j)));
        y = f64x2.add(y, f64x2.mul(q, v128.load(p.C + j)));
      }
      v128.store(p.plain + out, x);
      v128.store(p.moments + out, y);
    }
  }
}

/** ∂ log p/∂ log ω = −½ Σ_k q_k ωz_k [n − r + Σ_j (s + h_j)/(s + δ_j) − (η − Σ_j h_j)/s]. */
function spreadSlope(p: Linear, n: v128): v128 {
  const open = f64x2.sub(n, f64x2.splat(<f64>p.rank));
  let slope = f64x2.splat(0);
  for (let k = 0; k < p.numLevels; k++) {
    const parts = at(p.levelParts, 3 * k);
    const own = f64x2.add(open, f64x2.sub(v128.load(parts, 16), v128.load(parts)));
    const share = f64x2.mul(v128.load(at(p.levelWeights, k)), both(p.levels + <usize>k * LEVEL + 24));
    slope = f64x2.sub(slope, f64x2.mul(f64x2.splat(0.5), f64x2.mul(share, own)));
  }
  return slope;
}
