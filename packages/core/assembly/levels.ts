/**
 * Individuals with a noise level of their own in the passes of the recommended map (models/dtm/level-statistics.ts,
 * docs/math/noise.md §3), two at once, one in each lane: L'GL = Q diag(δ) Q', T = LQ, V = GT, a = T'g; squares (η, χ), ξ_j = δ_jχ_j,
 * weigh the levels (level-weights.ts).
 */
import { Pass } from "./contexts";
import { both } from "./exp";
import { at, loadPair, pair, storeRows } from "./expectation";
import { diagonalize, LEVEL, NO_DIRECTION, numDirections, weighLevels } from "./level-weights";

/** Pairs of one record of `rotated`: G, V [d,d], g, a, δ [d] and ρ. */
@inline
function recordSize(d: i32): i32 {
  return 2 * d * d + 3 * d + 1;
}

@inline
function record(pass: Pass, i: i32): usize {
  return at(pass.rotated, pass.recordStart + (i >> 1) * recordSize(pass.numBasis));
}

/** L'GL [d,d] of two individuals to A; Y [d,d] is scratch. */
function effectGram(pass: Pass, G: usize, Y: usize, A: usize): void {
  const d = pass.numBasis;
  const L = pass.root;
  for (let a = 0; a < d; a++) {
    for (let l = 0; l < d; l++) {
      let s = f64x2.splat(0);
      for (let k = a; k < d; k++) s = f64x2.add(s, f64x2.mul(both(L + (<usize>(k * d + a) << 3)), v128.load(at(G, k * d + l))));
      v128.store(at(Y, a * d + l), s);
    }
    for (let b = 0; b <= a; b++) {
      let s = f64x2.splat(0);
      for (let l = b; l < d; l++) s = f64x2.add(s, f64x2.mul(v128.load(at(Y, a * d + l)), both(L + (<usize>(l * d + b) << 3))));
      v128.store(at(A, a * d + b), s);
      v128.store(at(A, b * d + a), s);
    }
  }
}

/** δ [d] from the diagonal of A, 0 or more and largest first in each lane; columns of Q go with it. */
function sortDirections(A: usize, Q: usize, delta: usize, d: i32): void {
  for (let j = 0; j < d; j++) v128.store(at(delta, j), f64x2.max(v128.load(at(A, j * d + j)), f64x2.splat(0)));
  for (let lane: usize = 0; lane < 16; lane += 8) {
    for (let j = 0; j < d - 1; j++) {
      let largest = j;
      for (let k = j + 1; k < d; k++) {
        if (f64.load(at(delta, k) + lane) > f64.load(at(delta, largest) + lane)) largest = k;
      }
      if (largest == j) continue;
      swap(at(delta, j) + lane, at(delta, largest) + lane);
      for (let k = 0; k < d; k++) swap(at(Q, k * d + j) + lane, at(Q, k * d + largest) + lane);
    }
  }
}

@inline
function swap(x: usize, y: usize): void {
  const a = f64.load(x);
  f64.store(x, f64.load(y));
  f64.store(y, a);
}

/** Weights of the levels for two individuals with n values, d directions and squares at `own` and `next`; as `weighLevels`. */
function weighPair(pass: Pass, n: v128, delta: usize, d: i32, own: usize, next: usize, total: usize): v128 {
  for (let e = 0; e <= d; e++) {
    v128.store(at(pass.levelSquares, e), pair(own + (<usize>e << 3), next + (<usize>e << 3)));
  }
  return weighLevels(pass.levels, pass.numLevels, n, delta, pass.levelSquares, d, pass.levelWeights, pass.levelParts, pass.levelShrinks, total);
}

/**
 * Packs (g̃, G̃) of `count` individuals, averaged over levels weighed by the squares before; keeps their frames in `rotated`. For
 * c = log Σ_k p_k exp Q_k − ½[α(ρ − η) − Σ_j β_j(a_j² − ξ_j)] leaves largest E and sum, and the bracket as `rests`.
 */
export function packLevels(context: usize, count: i32): void {
  const pass = changetype<Pass>(context);
  const d = pass.numBasis;
  const dd = d * d;
  const width = <usize>(1 + d) << 3;
  for (let i = 0; i < count; i += 2) {
    const G = record(pass, i);
    const V = at(G, dd);
    const g = at(V, dd);
    const a = at(g, d);
    const delta = at(a, d);
    const rho = loadPair(pass, i, G, g);
    v128.store(at(delta, d), rho);
    rotate(pass, G, V, g, a, delta);
    const own = pass.squaresBefore + <usize>i * width;
    const next = own + width;
    const n = v128.load(pass.counts + (<usize>i << 3));
    const felt = numDirections(delta, d);
    v128.store(pass.levelMaxima + (<usize>i << 3), weighPair(pass, n, delta, felt, own, next, pass.levelSums + (<usize>i << 3)));
    // α and β, the latter to the scratch of the rotation.
    const beta = pass.scratch;
    memory.fill(beta, 0, <usize>d << 4);
    let alpha = f64x2.splat(0);
    for (let k = 0; k < pass.numLevels; k++) {
      const share = f64x2.mul(v128.load(at(pass.levelWeights, k)), both(pass.levels + <usize>k * LEVEL + 32));
      alpha = f64x2.add(alpha, share);
      const shrinks = at(pass.levelShrinks, k * felt);
      for (let j = 0; j < felt; j++) {
        const b = at(beta, j);
        v128.store(b, f64x2.add(v128.load(b), f64x2.mul(share, v128.load(at(shrinks, j)))));
      }
    }
    let rest = f64x2.mul(alpha, f64x2.sub(rho, pair(own, next)));
    for (let j = 0; j < d; j++) {
      const aj = v128.load(at(a, j));
      const xi = f64x2.mul(v128.load(at(delta, j)), pair(own + (<usize>(1 + j) << 3), next + (<usize>(1 + j) << 3)));
      rest = f64x2.sub(rest, f64x2.mul(v128.load(at(beta, j)), f64x2.sub(f64x2.mul(aj, aj), xi)));
    }
    v128.store(pass.rests + (<usize>i << 3), rest);
    storeRows(pass, i, G, g, V, a, beta, alpha);
  }
}

/**
 * The squares before the first pass, with `root` that of the whole course: u_j = a_j/(s + δ_j) at a level,
 *   η = ρ + Σ_j Σ_k q_k [δ_j(u_j² + s/(s + δ_j)) − 2a_ju_j],   χ_j = Σ_k q_k [(su_j)²/δ_j + δ_js/(s + δ_j)].
 */
export function startLevels(context: usize, count: i32): void {
  const pass = changetype<Pass>(context);
  const d = pass.numBasis;
  const dd = d * d;
  for (let i = 0; i < count; i += 2) {
    const G = record(pass, i);
    const V = at(G, dd);
    const g = at(V, dd);
    const a = at(g, d);
    const delta = at(a, d);
    const rho = loadPair(pass, i, G, g);
    rotate(pass, G, V, g, a, delta);
    const least = f64x2.mul(f64x2.splat(NO_DIRECTION), v128.load(delta));
    v128.store(pass.levelSquares, rho);
    for (let j = 0; j < d; j++) {
      const aj = v128.load(at(a, j));
      const dj = v128.load(at(delta, j));
      v128.store(at(pass.levelSquares, 1 + j), v128.and(f64x2.div(f64x2.mul(aj, aj), dj), f64x2.gt(dj, least)));
    }
    const n = v128.load(pass.counts + (<usize>i << 3));
    const felt = numDirections(delta, d);
    weighLevels(pass.levels, pass.numLevels, n, delta, pass.levelSquares, felt, pass.levelWeights, pass.levelParts, pass.levelShrinks, pass.scratch);
    const out = pass.squaresAfter + (<usize>(i * (1 + d)) << 3);
    let eta = rho;
    for (let j = 0; j < d; j++) {
      const aj = v128.load(at(a, j));
      const dj = v128.load(at(delta, j));
      let chi = f64x2.splat(0);
      for (let k = 0; k < pass.numLevels && j < felt; k++) {
        const q = v128.load(at(pass.levelWeights, k));
        const s = both(pass.levels + <usize>k * LEVEL);
        const shrink = v128.load(at(pass.levelShrinks, k * felt + j));
        const u = f64x2.mul(aj, shrink);
        const left = f64x2.mul(dj, f64x2.mul(s, shrink));
        const fitted = f64x2.mul(u, f64x2.sub(f64x2.mul(dj, u), f64x2.add(aj, aj)));
        eta = f64x2.add(eta, f64x2.mul(q, f64x2.add(fitted, left)));
        const open = f64x2.mul(s, u);
        chi = f64x2.add(chi, f64x2.mul(q, f64x2.add(f64x2.div(f64x2.mul(open, open), dj), left)));
      }
      storePair(out + (<usize>(1 + j) << 3), 1 + d, v128.and(chi, f64x2.gt(dj, least)));
    }
    storePair(out, 1 + d, eta);
  }
}

/** δ, V and a of two individuals; zero without residual effects. */
function rotate(pass: Pass, G: usize, V: usize, g: usize, a: usize, delta: usize): void {
  const d = pass.numBasis;
  const dd = d * d;
  if (!pass.hasResidual) {
    memory.fill(V, 0, <usize>dd << 4);
    memory.fill(a, 0, <usize>(2 * d) << 4);
    return;
  }
  const A = pass.scratch;
  const Q = at(A, dd);
  const T = at(Q, dd);
  effectGram(pass, G, T, A);
  memory.fill(Q, 0, <usize>dd << 4);
  for (let k = 0; k < d; k++) v128.store(at(Q, k * d + k), f64x2.splat(1));
  diagonalize(A, Q, d);
  sortDirections(A, Q, delta, d);
  for (let k = 0; k < d; k++) {
    for (let j = 0; j < d; j++) {
      let s = f64x2.splat(0);
      for (let b = 0; b <= k; b++) s = f64x2.add(s, f64x2.mul(both(pass.root + (<usize>(k * d + b) << 3)), v128.load(at(Q, b * d + j))));
      v128.store(at(T, k * d + j), s);
    }
  }
  for (let j = 0; j < d; j++) {
    let s = f64x2.splat(0);
    for (let k = 0; k < d; k++) {
      s = f64x2.add(s, f64x2.mul(v128.load(at(T, k * d + j)), v128.load(at(g, k))));
      let v = f64x2.splat(0);
      for (let l = 0; l < d; l++) v = f64x2.add(v, f64x2.mul(v128.load(at(G, k * d + l)), v128.load(at(T, l * d + j))));
      v128.store(at(V, k * d + j), v);
    }
    v128.store(at(a, j), s);
  }
}

/** The squares that the moments of a pass leave, from the frames that `packLevels` kept; and their δ. */
export function squaresBlock(context: usize, count: i32): void {
  const pass = changetype<Pass>(context);
  const d = pass.numBasis;
  const dd = d * d;
  const K = pass.stride;
  for (let i = 0; i < count; i += 2) {
    const G = record(pass, i);
    const V = at(G, dd);
    const g = at(V, dd);
    const a = at(g, d);
    const delta = at(a, d);
    const m = pass.moments + (<usize>(i * K + pass.rowStart) << 3);
    const next = m + (<usize>K << 3);
    const out = pass.squaresAfter + (<usize>(i * (1 + d)) << 3);
    const directions = pass.directions + (<usize>(i * d) << 3);
    let eta = v128.load(at(delta, d));
    let o: usize = <usize>d;
    for (let k = 0; k < d; k++) {
      let s = f64x2.mul(v128.load(at(g, k)), pair(m + (<usize>k << 3), next + (<usize>k << 3)));
      for (let l = k; l < d; l++, o++) s = f64x2.add(s, f64x2.mul(v128.load(at(G, k * d + l)), pair(m + (o << 3), next + (o << 3))));
      eta = f64x2.sub(eta, f64x2.add(s, s));
    }
    storePair(out, 1 + d, eta);
    const least = f64x2.mul(f64x2.splat(NO_DIRECTION), v128.load(delta));
    for (let j = 0; j < d; j++) {
      const aj = v128.load(at(a, j));
      let fitted = f64x2.splat(0);
      let moment = f64x2.splat(0);
      o = <usize>d;
      for (let k = 0; k < d; k++) {
        const v = v128.load(at(V, k * d + j));
        fitted = f64x2.add(fitted, f64x2.mul(v, pair(m + (<usize>k << 3), next + (<usize>k << 3))));
        for (let l = k; l < d; l++, o++) {
          const product = f64x2.mul(v, v128.load(at(V, l * d + j)));
          moment = f64x2.add(moment, f64x2.mul(product, pair(m + (o << 3), next + (o << 3))));
        }
      }
      const both2 = f64x2.add(f64x2.mul(aj, fitted), moment);
      const xi = f64x2.sub(f64x2.mul(aj, aj), f64x2.add(both2, both2));
      const dj = v128.load(at(delta, j));
      storePair(directions + (<usize>j << 3), d, dj);
      storePair(out + (<usize>(1 + j) << 3), 1 + d, v128.and(f64x2.div(xi, dj), f64x2.gt(dj, least)));
    }
  }
}

/** One number of each of two individuals, rows of `width`. */
@inline
function storePair(address: usize, width: i32, v: v128): void {
  f64.store(address, f64x2.extract_lane(v, 0));
  f64.store(address + (<usize>width << 3), f64x2.extract_lane(v, 1));
}

/**
 * Adds to the totals Σ q_k ∂Q_k/∂log s, ∂/∂log τ and ωz_k ∂/∂log s of the squares after, weighed by those before, in `directions`, if asked for
 * `slopes`; leaves largest E and sum of the squares after, from which the host makes 𝒬.
 */
export function levelsBlock(context: usize, count: i32, withSlopes: i32): void {
  const pass = changetype<Pass>(context);
  const d = pass.numBasis;
  const width = <usize>(1 + d) << 3;
  const delta = pass.scratch;
  const total = at(delta, d);
  const slopes = pass.levelSlopes;
  const half = f64x2.splat(0.5);
  for (let i = 0; i < count; i += 2) {
    const own = pass.directions + (<usize>(i * d) << 3);
    const next = own + (<usize>d << 3);
    for (let j = 0; j < d; j++) v128.store(at(delta, j), pair(own + (<usize>j << 3), next + (<usize>j << 3)));
    const n = v128.load(pass.counts + (<usize>i << 3));
    const after = pass.squaresAfter + <usize>i * width;
    const before = pass.squaresBefore + <usize>i * width;
    const sums = pass.levelSums + (<usize>i << 3);
    const felt = numDirections(delta, d);
    v128.store(pass.levelMaxima + (<usize>i << 3), weighPair(pass, n, delta, felt, after, after + width, sums));
    if (!withSlopes) continue;
    // ∂Q/∂log s and ∂Q/∂log τ of the squares after, times −2, kept while the others are weighed.
    for (let k = 0; k < pass.numLevels; k++) {
      const kept = v128.load(at(pass.levelParts, 3 * k + 1));
      const tau = f64x2.sub(f64x2.splat(<f64>felt), kept);
      v128.store(at(slopes, 2 * k), f64x2.sub(f64x2.sub(n, tau), v128.load(at(pass.levelParts, 3 * k))));
      v128.store(at(slopes, 2 * k + 1), tau);
    }
    weighPair(pass, n, delta, felt, before, before + width, total);
    let byVariance = f64x2.splat(0);
    let byTau = f64x2.splat(0);
    let bySpread = f64x2.splat(0);
    for (let k = 0; k < pass.numLevels; k++) {
      const q = f64x2.mul(half, v128.load(at(pass.levelWeights, k)));
      const part = f64x2.mul(q, v128.load(at(slopes, 2 * k)));
      byVariance = f64x2.sub(byVariance, part);
      bySpread = f64x2.sub(bySpread, f64x2.mul(part, both(pass.levels + <usize>k * LEVEL + 24)));
      byTau = f64x2.sub(byTau, f64x2.mul(q, v128.load(at(slopes, 2 * k + 1))));
    }
    const totals = pass.totals;
    v128.store(totals, f64x2.add(v128.load(totals), byVariance));
    v128.store(at(totals, 1), f64x2.add(v128.load(at(totals, 1)), byTau));
    v128.store(at(totals, 2), f64x2.add(v128.load(at(totals, 2)), bySpread));
  }
}
