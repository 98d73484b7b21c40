/**
 * The coefficients of one individual at the nodes of some tiles (models/mixture/wasm-posterior.ts, docs/math/prediction.md §2),
 * two tiles of four nodes at a time: one alone would wait for its own sums. With lower triangular roots L of Σ_g,
 *   X = RL,   e = h − Rm,   A = σ²I + X'X = CC',   Y = C⁻¹L',   w ~ N(m + Y'C⁻¹X'e, σ²Y'Y).
 * Columns of L, and with them rows and columns of A, are taken from the last to the first: then C⁻¹ leaves the zeros of a row of
 * L where they are, and Y is triangular too.
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
  tiles: usize; // i32: which tiles
  scratch: usize; // X [r,d][8], e [r][8], C [numPacked][8], z [d][8], Y [d,d][8]
  moments: usize; // out [count][d + numPacked][4]: mean, lower triangle of the covariance row by row
}

/** Bytes of eight numbers, of two tiles. */
const OCT: usize = 64;

/** Writes mean and covariance of the coefficients at every node of the first `count` tiles listed. */
export function conditionTiles(context: usize, rank: i32, count: i32): void {
  const p = changetype<Conditioning>(context);
  const size = <usize>(p.numBasis + p.numPacked) * QUAD;
  for (let at = 0, out = p.moments; at < count; at += 2, out += 2 * size) {
    // The last tile of an odd number is taken twice.
    const pair = at + 1 < count;
    const t = i32.load(p.tiles + (<usize>at << 2));
    const next = pair ? i32.load(p.tiles + (<usize>at << 2), 4) : t;
    factorTiles(p, rank, t, <usize>(next - t) * QUAD);
    writeTiles(p, rank, t, <usize>(next - t) * QUAD, out, pair ? size : 0);
  }
}

/** C (reciprocals on the diagonal) and z = C⁻¹X'e of two tiles, the second `apart` further per entry, into the scratch. */
@inline
function factorTiles(p: Conditioning, r: i32, t: i32, apart: usize): void {
  const d = p.numBasis;
  const X = p.scratch;
  const E = X + <usize>(r * d) * OCT;
  const C = E + <usize>r * OCT;
  const z = C + <usize>p.numPacked * OCT;
  const L = p.factors + <usize>(t * p.numPacked) * QUAD;
  const m = p.means + <usize>(t * d) * QUAD;
  const nextL = <usize>p.numPacked * apart;
  const nextM = <usize>d * apart;
  const sigma2 = both(p.noise);
  const zero = f64x2.splat(0);
  const last = <usize>(d - 1) * OCT;
  let x = X;
  for (let a = 0; a < r; a++) {
    const R = p.roots + (<usize>(a * d) << 3);
    let s0 = both(p.heights + (<usize>a << 3));
    let s1 = s0;
    let s2 = s0;
    let s3 = s0;
    for (let k = 0, from = m; k < d; k++, from += QUAD) {
      const v = both(R + (<usize>k << 3));
      s0 = f64x2.sub(s0, f64x2.mul(v, v128.load(from)));
      s1 = f64x2.sub(s1, f64x2.mul(v, v128.load(from, 16)));
      s2 = f64x2.sub(s2, f64x2.mul(v, v128.load(from + nextM)));
      s3 = f64x2.sub(s3, f64x2.mul(v, v128.load(from + nextM, 16)));
    }
    store(E + <usize>a * OCT, s0, s1, s2, s3);
    // Column c of L begins at its diagonal; from row k to the next are k + 1 entries.
    for (let c = d - 1; c >= 0; c--, x += OCT) {
      s0 = zero;
      s1 = zero;
      s2 = zero;
      s3 = zero;
      let l = L + <usize>((c * (c + 3)) / 2) * QUAD;
      for (let k = c; k < d; k++) {
        const v = both(R + (<usize>k << 3));
        s0 = f64x2.add(s0, f64x2.mul(v, v128.load(l)));
        s1 = f64x2.add(s1, f64x2.mul(v, v128.load(l, 16)));
        s2 = f64x2.add(s2, f64x2.mul(v, v128.load(l + nextL)));
        s3 = f64x2.add(s3, f64x2.mul(v, v128.load(l + nextL, 16)));
        l += <usize>(k + 1) * QUAD;
      }
      store(x, s0, s1, s2, s3);
    }
  }
  const step = <usize>d * OCT;
  for (let i: usize = 0, row = C; i <= last; i += OCT) {
    for (let j: usize = 0, other = C; j <= i; j += OCT) {
      // A_ij, then what is left of it.
      let s0 = i === j ? sigma2 : zero;
      let s1 = s0;
      let s2 = s0;
      let s3 = s0;
      for (let from = X; from < E; from += step) {
        const y = from + i;
        const w = from + j;
        s0 = f64x2.add(s0, f64x2.mul(v128.load(y), v128.load(w)));
        s1 = f64x2.add(s1, f64x2.mul(v128.load(y, 16), v128.load(w, 16)));
        s2 = f64x2.add(s2, f64x2.mul(v128.load(y, 32), v128.load(w, 32)));
        s3 = f64x2.add(s3, f64x2.mul(v128.load(y, 48), v128.load(w, 48)));
      }
      for (let c: usize = 0; c < j; c += OCT) {
        const y = row + c;
        const w = other + c;
        s0 = f64x2.sub(s0, f64x2.mul(v128.load(y), v128.load(w)));
        s1 = f64x2.sub(s1, f64x2.mul(v128.load(y, 16), v128.load(w, 16)));
        s2 = f64x2.sub(s2, f64x2.mul(v128.load(y, 32), v128.load(w, 32)));
        s3 = f64x2.sub(s3, f64x2.mul(v128.load(y, 48), v128.load(w, 48)));
      }
      other += j;
      if (j < i) {
        s0 = f64x2.mul(s0, v128.load(other));
        s1 = f64x2.mul(s1, v128.load(other, 16));
        s2 = f64x2.mul(s2, v128.load(other, 32));
        s3 = f64x2.mul(s3, v128.load(other, 48));
      } else {
        // A ≥ σ²I, so pivots are at least σ² but for rounding.
        s0 = f64x2.div(f64x2.splat(1), f64x2.sqrt(f64x2.max(s0, sigma2)));
        s1 = f64x2.div(f64x2.splat(1), f64x2.sqrt(f64x2.max(s1, sigma2)));
        s2 = f64x2.div(f64x2.splat(1), f64x2.sqrt(f64x2.max(s2, sigma2)));
        s3 = f64x2.div(f64x2.splat(1), f64x2.sqrt(f64x2.max(s3, sigma2)));
      }
      store(row + j, s0, s1, s2, s3);
      other += OCT;
    }
    let s0 = zero;
    let s1 = zero;
    let s2 = zero;
    let s3 = zero;
    for (let from = X + i, e = E; e < C; from += step, e += OCT) {
      s0 = f64x2.add(s0, f64x2.mul(v128.load(from), v128.load(e)));
      s1 = f64x2.add(s1, f64x2.mul(v128.load(from, 16), v128.load(e, 16)));
      s2 = f64x2.add(s2, f64x2.mul(v128.load(from, 32), v128.load(e, 32)));
      s3 = f64x2.add(s3, f64x2.mul(v128.load(from, 48), v128.load(e, 48)));
    }
    for (let c: usize = 0; c < i; c += OCT) {
      const y = row + c;
      const w = z + c;
      s0 = f64x2.sub(s0, f64x2.mul(v128.load(y), v128.load(w)));
      s1 = f64x2.sub(s1, f64x2.mul(v128.load(y, 16), v128.load(w, 16)));
      s2 = f64x2.sub(s2, f64x2.mul(v128.load(y, 32), v128.load(w, 32)));
      s3 = f64x2.sub(s3, f64x2.mul(v128.load(y, 48), v128.load(w, 48)));
    }
    row += i;
    s0 = f64x2.mul(s0, v128.load(row));
    s1 = f64x2.mul(s1, v128.load(row, 16));
    s2 = f64x2.mul(s2, v128.load(row, 32));
    s3 = f64x2.mul(s3, v128.load(row, 48));
    store(z + i, s0, s1, s2, s3);
    row += OCT;
  }
}

/**
 * Moments of the two tiles factored last. Row b of Y' solves C y = (row b of L)', which is zero but for the last b + 1 entries. The
 * second tile is written `size` further.
 */
@inline
function writeTiles(p: Conditioning, r: i32, t: i32, apart: usize, out: usize, size: usize): void {
  const d = p.numBasis;
  const C = p.scratch + <usize>(r * (d + 1)) * OCT;
  const z = C + <usize>p.numPacked * OCT;
  const Y = z + <usize>d * OCT;
  const m = p.means + <usize>(t * d) * QUAD;
  const nextL = <usize>p.numPacked * apart;
  const nextM = <usize>d * apart;
  const end = <usize>d * OCT;
  const sigma2 = both(p.noise);
  const zero = f64x2.splat(0);
  let covariance = out + <usize>d * QUAD;
  let L = p.factors + <usize>(t * p.numPacked) * QUAD;
  for (let b = 0, y = Y; b < d; b++, y += end) {
    const first = end - <usize>(b + 1) * OCT;
    const from = m + <usize>b * QUAD;
    let m0 = v128.load(from);
    let m1 = v128.load(from, 16);
    let m2 = v128.load(from + nextM);
    let m3 = v128.load(from + nextM, 16);
    // Entries of a row of L from its diagonal to the left.
    let l = L + <usize>b * QUAD;
    let row = C + <usize>(((d - 1 - b) * (d - b)) / 2) * OCT;
    for (let i = first; i < end; i += OCT, l -= QUAD) {
      let s0 = v128.load(l);
      let s1 = v128.load(l, 16);
      let s2 = v128.load(l + nextL);
      let s3 = v128.load(l + nextL, 16);
      for (let c = first; c < i; c += OCT) {
        const x = row + c;
        const w = y + c;
        s0 = f64x2.sub(s0, f64x2.mul(v128.load(x), v128.load(w)));
        s1 = f64x2.sub(s1, f64x2.mul(v128.load(x, 16), v128.load(w, 16)));
        s2 = f64x2.sub(s2, f64x2.mul(v128.load(x, 32), v128.load(w, 32)));
        s3 = f64x2.sub(s3, f64x2.mul(v128.load(x, 48), v128.load(w, 48)));
      }
      row += i;
      s0 = f64x2.mul(s0, v128.load(row));
      s1 = f64x2.mul(s1, v128.load(row, 16));
      s2 = f64x2.mul(s2, v128.load(row, 32));
      s3 = f64x2.mul(s3, v128.load(row, 48));
      row += OCT;
      store(y + i, s0, s1, s2, s3);
      const w = z + i;
      m0 = f64x2.add(m0, f64x2.mul(s0, v128.load(w)));
      m1 = f64x2.add(m1, f64x2.mul(s1, v128.load(w, 16)));
      m2 = f64x2.add(m2, f64x2.mul(s2, v128.load(w, 32)));
      m3 = f64x2.add(m3, f64x2.mul(s3, v128.load(w, 48)));
    }
    L += <usize>(b + 1) * QUAD;
    storeApart(out + <usize>b * QUAD, size, m0, m1, m2, m3);
    for (let x = Y, start = end - OCT; x <= y; x += end, start -= OCT, covariance += QUAD) {
      let s0 = zero;
      let s1 = zero;
      let s2 = zero;
      let s3 = zero;
      for (let c = start; c < end; c += OCT) {
        const v = x + c;
        const w = y + c;
        s0 = f64x2.add(s0, f64x2.mul(v128.load(v), v128.load(w)));
        s1 = f64x2.add(s1, f64x2.mul(v128.load(v, 16), v128.load(w, 16)));
        s2 = f64x2.add(s2, f64x2.mul(v128.load(v, 32), v128.load(w, 32)));
        s3 = f64x2.add(s3, f64x2.mul(v128.load(v, 48), v128.load(w, 48)));
      }
      s0 = f64x2.mul(s0, sigma2);
      s1 = f64x2.mul(s1, sigma2);
      s2 = f64x2.mul(s2, sigma2);
      s3 = f64x2.mul(s3, sigma2);
      storeApart(covariance, size, s0, s1, s2, s3);
    }
  }
}

@inline
function store(to: usize, s0: v128, s1: v128, s2: v128, s3: v128): void {
  v128.store(to, s0);
  v128.store(to, s1, 16);
  v128.store(to, s2, 32);
  v128.store(to, s3, 48);
}

@inline
function storeApart(to: usize, size: usize, s0: v128, s1: v128, s2: v128, s3: v128): void {
  v128.store(to, s0);
  v128.store(to, s1, 16);
  v128.store(to + size, s2);
  v128.store(to + size, s3, 16);
}
