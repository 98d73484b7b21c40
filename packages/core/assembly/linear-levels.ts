/**
 * The E step of the linear models where noise has levels (models/linear/effects.ts, docs/math/noise.md §3), two individuals at a
 * time. With L'GL = Q diag(δ) Q', a = Q'L'g and weights q_k of the levels, in the frame of Q
 *   E u = Σ_k q_k a/(s_k + δ),   E uu' = Σ_k q_k [uu' + s_k diag(1/(s_k + δ))],   the same divided by λ_k = s_k/σ²,
 * turned back and added to the sums as those of one level are. The host makes the log-likelihood of largest E and sum.
 */
import { Linear } from "./contexts";
import { both } from "./exp";
import { diagonalize, LEVEL, NO_DIRECTION, weighLevels } from "./level-weights";
import { add, addMoments, pair, projectPair, readPair } from "./linear";

@inline
function at(base: usize, index: i32): usize {
  return base + (<usize>index << 4);
}

/** Adds `count` individuals, an even number, to the sums. */
export function expectLevels(context: usize, count: i32): void {
  const p = changetype<Linear>(context);
  const r = p.rank;
  const rr = r * r;
  const u = at(p.frame, 2 * rr + 2 * r);
  for (let i = 0; i < count; i += 2) {
    const rho = readPair(p, i);
    rotate(p);
    // η = ρ and χ = a²/δ; a itself to u.
    v128.store(p.levelSquares, rho);
    let largestDelta = f64x2.splat(0);
    for (let j = 0; j < r; j++) largestDelta = f64x2.pmax(largestDelta, v128.load(at(p.delta, j)));
    const least = f64x2.mul(f64x2.splat(NO_DIRECTION), largestDelta);
    for (let j = 0; j < r; j++) {
      let a = f64x2.splat(0);
      for (let c = 0; c < r; c++) a = f64x2.add(a, f64x2.mul(v128.load(at(p.Q, c * r + j)), v128.load(at(p.z, c))));
      v128.store(at(u, j), a);
      const delta = v128.load(at(p.delta, j));
      v128.store(at(p.levelSquares, 1 + j), v128.and(f64x2.div(f64x2.mul(a, a), delta), f64x2.gt(delta, least)));
    }
    const n = pair(p.counts + (<usize>i << 3), 8);
    const sums = p.levelSums + (<usize>i << 3);
    const largest = weighLevels(p.levels, p.numLevels, n, p.delta, p.levelSquares, r, p.levelWeights, p.levelScales, sums);
    v128.store(p.levelMaxima + (<usize>i << 3), largest);
    const precision = averageLevels(p, u);
    turnBack(p, p.frame, p.plain);
    turnBack(p, at(p.frame, rr), p.moments);
    // E v/λ, after the pairs of E vv'/λ.
    for (let a = 0; a < r; a++) {
      let v = f64x2.splat(0);
      for (let j = 0; j < r; j++) v = f64x2.add(v, f64x2.mul(v128.load(at(p.Q, a * r + j)), v128.load(at(p.frame, 2 * rr + r + j))));
      v128.store(at(p.moments, (r * (r + 1)) / 2 + a), v);
    }
    add(p.sums + 16, f64x2.mul(precision, rho));
    let out = addMoments(p, p.plain, precision);
    add(out, spreadSlope(p, n));
    for (let e = 0; e < p.numBand; e++) {
      out += 16;
      add(out, f64x2.mul(precision, v128.load(at(p.band, e))));
    }
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

/** Moments of u over the levels to `frame`, plain and divided by λ, from a at `u`; returns E 1/λ. */
function averageLevels(p: Linear, u: usize): v128 {
  const r = p.rank;
  const rr = r * r;
  const plain = p.frame;
  const weighted = at(plain, rr);
  const mean = at(weighted, rr + r);
  memory.fill(plain, 0, <usize>(2 * rr + 2 * r) << 4);
  const sigma2 = both(p.noise);
  let precision = f64x2.splat(0);
  for (let k = 0; k < p.numLevels; k++) {
    const s = both(p.levels + <usize>k * LEVEL);
    const q = v128.load(at(p.levelWeights, k));
    const w = f64x2.div(f64x2.mul(q, sigma2), s);
    precision = f64x2.add(precision, w);
    for (let a = 0; a < r; a++) {
      const shrink = f64x2.div(f64x2.splat(1), f64x2.add(s, v128.load(at(p.delta, a))));
      const ua = f64x2.mul(v128.load(at(u, a)), shrink);
      add(at(mean, a), f64x2.mul(w, ua));
      const rest = f64x2.mul(s, shrink);
      add(at(plain, a * r + a), f64x2.mul(q, rest));
      add(at(weighted, a * r + a), f64x2.mul(w, rest));
      // T is free here.
      v128.store(at(p.T, a), ua);
      for (let c = 0; c <= a; c++) {
        const product = f64x2.mul(ua, v128.load(at(p.T, c)));
        add(at(plain, a * r + c), f64x2.mul(q, product));
        add(at(weighted, a * r + c), f64x2.mul(w, product));
      }
    }
  }
  return precision;
}

/** The lower triangle of QMQ', row by row, to `out`, from the lower triangle of M. */
function turnBack(p: Linear, M: usize, out: usize): void {
  const r = p.rank;
  for (let a = 0; a < r; a++) for (let c = 0; c < a; c++) v128.store(at(M, c * r + a), v128.load(at(M, a * r + c)));
  for (let a = 0; a < r; a++) {
    // Row a of QM; T is free here.
    for (let c = 0; c < r; c++) {
      let s = f64x2.splat(0);
      for (let j = 0; j < r; j++) s = f64x2.add(s, f64x2.mul(v128.load(at(p.Q, a * r + j)), v128.load(at(M, j * r + c))));
      v128.store(at(p.T, c), s);
    }
    for (let b = 0; b <= a; b++, out += 16) {
      let s = f64x2.splat(0);
      for (let j = 0; j < r; j++) s = f64x2.add(s, f64x2.mul(v128.load(at(p.T, j)), v128.load(at(p.Q, b * r + j))));
      v128.store(out, s);
    }
  }
}

/** ∂ log p/∂ log ω = −½ Σ_k q_k ωz_k [n − r + Σ_j (s + h_j)/(s + δ_j) − (η − Σ_j h_j)/s],  h_j = ξ_j/(s + δ_j). */
function spreadSlope(p: Linear, n: v128): v128 {
  const r = p.rank;
  let slope = f64x2.splat(0);
  for (let k = 0; k < p.numLevels; k++) {
    const level = p.levels + <usize>k * LEVEL;
    const s = both(level);
    let own = f64x2.sub(n, f64x2.splat(<f64>r));
    let rest = v128.load(p.levelSquares);
    for (let j = 0; j < r; j++) {
      const delta = v128.load(at(p.delta, j));
      const inverse = f64x2.div(f64x2.splat(1), f64x2.add(s, delta));
      const h = f64x2.mul(f64x2.mul(delta, v128.load(at(p.levelSquares, 1 + j))), inverse);
      rest = f64x2.sub(rest, h);
      own = f64x2.add(own, f64x2.mul(f64x2.add(s, h), inverse));
    }
    own = f64x2.sub(own, f64x2.div(rest, s));
    const share = f64x2.mul(v128.load(at(p.levelWeights, k)), both(level + 24));
    slope = f64x2.sub(slope, f64x2.mul(f64x2.splat(0.5), f64x2.mul(share, own)));
  }
  return slope;
}
