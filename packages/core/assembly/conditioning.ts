/**
 * The coefficients of one individual at every node that is left (models/mixture/wasm-posterior.ts, docs/math/prediction.md
 * §2), two nodes at a time, after `weighNodes`. With lower triangular roots L of Σ_g,
 *   X = RL,   e = h − Rm,   A = σ²I + X'X = CC',   Y = C⁻¹L',   w ~ N(m + Y'C⁻¹X'e, σ²Y'Y).
 */
import { both } from "./exp";
import { QUAD } from "./tiles";

/** Sizes, then addresses, as the host writes them: i32 each. */
@unmanaged
class Conditioning {
  numBasis: i32; // d
  numPacked: i32; // d(d+1)/2
  noise: usize; // σ² [1]
  roots: usize; // R [r,d]
  heights: usize; // h [r]
  means: usize; // m_g [tile][d][4]
  factors: usize; // L_g, lower triangle row by row [tile][numPacked][4]
  weights: usize; // [tile][4], zero for nodes that were dropped
  active: usize; // i32 [tiles]
  totals: usize; // the third is the sum of the weights kept
  scratch: usize; // A [numPacked][2], X and z [d][2], Y [d,d][2]
  nodes: usize; // out: i32 [K]
  shares: usize; // out: weights that sum to one [K + 1]
  nodeMeans: usize; // out [K + 1, d]
  nodeCovariances: usize; // out [K + 1, d, d]
}

/** Writes node, weight, mean and covariance of every node with weight, in order; returns how many there are. */
export function conditionNodes(context: usize, rank: i32, count: i32): i32 {
  const p = changetype<Conditioning>(context);
  const inverse = 1 / f64.load(p.totals, 16);
  let k = 0;
  for (let at = 0; at < count; at++) {
    const t = i32.load(p.active + (<usize>at << 2));
    for (let half = 0; half < 2; half++) {
      const o = <usize>t * QUAD + (<usize>half << 4);
      const w = v128.load(p.weights + o);
      if (!v128.any_true(w)) continue;
      factorPair(p, rank, t, <usize>half << 4);
      // A lane without weight is written where the next one goes, and lost there.
      const first = f64x2.extract_lane(w, 0);
      const second = f64x2.extract_lane(w, 1);
      const next = first > 0 ? k + 1 : k;
      writePair(p, t, <usize>half << 4, k, next);
      i32.store(p.nodes + (<usize>k << 2), t * 4 + half * 2);
      f64.store(p.shares + (<usize>k << 3), first * inverse);
      i32.store(p.nodes + (<usize>next << 2), t * 4 + half * 2 + 1);
      f64.store(p.shares + (<usize>next << 3), second * inverse);
      k = second > 0 ? next + 1 : next;
    }
  }
  return k;
}

/** C (reciprocals on the diagonal) and C⁻¹X'e of two nodes, into the scratch. */
@inline
function factorPair(p: Conditioning, r: i32, t: i32, half: usize): void {
  const d = p.numBasis;
  const A = p.scratch;
  const X = A + (<usize>p.numPacked << 4);
  const z = X + (<usize>d << 4);
  const L = p.factors + <usize>(t * p.numPacked) * QUAD + half;
  const m = p.means + <usize>(t * d) * QUAD + half;
  const sigma2 = both(p.noise);
  const zero = f64x2.splat(0);
  for (let i = 0, row = A; i < d; i++) {
    v128.store(z + (<usize>i << 4), zero);
    for (let j = 0; j < i; j++, row += 16) v128.store(row, zero);
    v128.store(row, sigma2);
    row += 16;
  }
  for (let a = 0; a < r; a++) {
    let e = both(p.heights + (<usize>a << 3));
    for (let c = 0; c < d; c++) v128.store(X + (<usize>c << 4), zero);
    const R = p.roots + (<usize>(a * d) << 3);
    let l = L;
    for (let k = 0; k < d; k++) {
      const v = both(R + (<usize>k << 3));
      e = f64x2.sub(e, f64x2.mul(v, v128.load(m + <usize>k * QUAD)));
      for (let c = 0, x = X; c <= k; c++, x += 16, l += QUAD) {
        v128.store(x, f64x2.add(v128.load(x), f64x2.mul(v, v128.load(l))));
      }
    }
    for (let i = 0, row = A; i < d; i++) {
      const x = v128.load(X + (<usize>i << 4));
      const b = z + (<usize>i << 4);
      v128.store(b, f64x2.add(v128.load(b), f64x2.mul(x, e)));
      for (let j = 0, y = X; j <= i; j++, y += 16, row += 16) {
        v128.store(row, f64x2.add(v128.load(row), f64x2.mul(x, v128.load(y))));
      }
    }
  }
  for (let i = 0, row = A; i < d; i++) {
    let pivot = v128.load(row + (<usize>i << 4));
    let b = v128.load(z + (<usize>i << 4));
    for (let j = 0, other = A; j < i; j++) {
      let s = v128.load(row + (<usize>j << 4));
      for (let c: usize = 0; c < <usize>j << 4; c += 16) {
        s = f64x2.sub(s, f64x2.mul(v128.load(row + c), v128.load(other + c)));
      }
      s = f64x2.mul(s, v128.load(other + (<usize>j << 4)));
      v128.store(row + (<usize>j << 4), s);
      pivot = f64x2.sub(pivot, f64x2.mul(s, s));
      b = f64x2.sub(b, f64x2.mul(s, v128.load(z + (<usize>j << 4))));
      other += <usize>(j + 1) << 4;
    }
    // A ≥ σ²I, so pivots are at least σ² but for rounding.
    const inverse = f64x2.div(f64x2.splat(1), f64x2.sqrt(f64x2.max(pivot, sigma2)));
    v128.store(row + (<usize>i << 4), inverse);
    v128.store(z + (<usize>i << 4), f64x2.mul(b, inverse));
    row += <usize>(i + 1) << 4;
  }
}

/** Moments of the two nodes factored last, to positions k and l of the outputs. */
@inline
function writePair(p: Conditioning, t: i32, half: usize, k: i32, l: i32): void {
  const d = p.numBasis;
  const A = p.scratch;
  const z = A + (<usize>(p.numPacked + d) << 4);
  const Y = z + (<usize>d << 4);
  const m = p.means + <usize>(t * d) * QUAD + half;
  const sigma2 = both(p.noise);
  const stride = <usize>d << 3;
  const meanK = p.nodeMeans + <usize>k * stride;
  const meanL = p.nodeMeans + <usize>l * stride;
  const covK = p.nodeCovariances + <usize>(k * d) * stride;
  const covL = p.nodeCovariances + <usize>(l * d) * stride;
  let L = p.factors + <usize>(t * p.numPacked) * QUAD + half;
  for (let b = 0; b < d; b++) {
    const y = Y + (<usize>(b * d) << 4);
    let mean = v128.load(m + <usize>b * QUAD);
    for (let i = 0, row = A; i < d; i++) {
      let s = f64x2.splat(0);
      if (i <= b) {
        s = v128.load(L);
        L += QUAD;
      }
      for (let c: usize = 0; c < <usize>i << 4; c += 16) {
        s = f64x2.sub(s, f64x2.mul(v128.load(row + c), v128.load(y + c)));
      }
      row += <usize>i << 4;
      s = f64x2.mul(s, v128.load(row));
      row += 16;
      v128.store(y + (<usize>i << 4), s);
      mean = f64x2.add(mean, f64x2.mul(s, v128.load(z + (<usize>i << 4))));
    }
    const ob = <usize>b << 3;
    f64.store(meanK + ob, f64x2.extract_lane(mean, 0));
    f64.store(meanL + ob, f64x2.extract_lane(mean, 1));
    for (let a = 0; a <= b; a++) {
      const x = Y + (<usize>(a * d) << 4);
      let s = f64x2.splat(0);
      for (let c: usize = 0; c < <usize>d << 4; c += 16) s = f64x2.add(s, f64x2.mul(v128.load(x + c), v128.load(y + c)));
      s = f64x2.mul(s, sigma2);
      const here = <usize>(b * d + a) << 3;
      const there = <usize>(a * d + b) << 3;
      const v = f64x2.extract_lane(s, 0);
      const w = f64x2.extract_lane(s, 1);
      f64.store(covK + here, v);
      f64.store(covK + there, v);
      f64.store(covL + here, w);
      f64.store(covL + there, w);
    }
  }
}
