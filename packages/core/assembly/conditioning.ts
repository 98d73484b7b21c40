/**
 * The coefficients of one individual at the nodes of some tiles (models/mixture/wasm-posterior.ts, docs/math/prediction.md §2),
 * four nodes at a time. With lower triangular roots L of Σ_g,
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
  scratch: usize; // X [r,d][4], e [r][4], C [numPacked][4], z [d][4], Y [d,d][4]
  moments: usize; // out [count][d + numPacked][4]: mean, lower triangle of the covariance row by row
}

/** Writes mean and covariance of the coefficients at every node of the first `count` tiles listed. */
export function conditionTiles(context: usize, rank: i32, count: i32): void {
  const p = changetype<Conditioning>(context);
  const size = <usize>(p.numBasis + p.numPacked) * QUAD;
  for (let at = 0, out = p.moments; at < count; at++, out += size) {
    const t = i32.load(p.tiles + (<usize>at << 2));
    factorTile(p, rank, t);
    writeTile(p, rank, t, out);
  }
}

/** C (reciprocals on the diagonal) and z = C⁻¹X'e of four nodes, into the scratch. */
@inline
function factorTile(p: Conditioning, r: i32, t: i32): void {
  const d = p.numBasis;
  const X = p.scratch;
  const E = X + <usize>(r * d) * QUAD;
  const C = E + <usize>r * QUAD;
  const z = C + <usize>p.numPacked * QUAD;
  const L = p.factors + <usize>(t * p.numPacked) * QUAD;
  const m = p.means + <usize>(t * d) * QUAD;
  const sigma2 = both(p.noise);
  const zero = f64x2.splat(0);
  const last = <usize>(d - 1) * QUAD;
  let x = X;
  for (let a = 0; a < r; a++) {
    const R = p.roots + (<usize>(a * d) << 3);
    let e0 = both(p.heights + (<usize>a << 3));
    let e1 = e0;
    for (let k = 0, from = m; k < d; k++, from += QUAD) {
      const v = both(R + (<usize>k << 3));
      e0 = f64x2.sub(e0, f64x2.mul(v, v128.load(from)));
      e1 = f64x2.sub(e1, f64x2.mul(v, v128.load(from, 16)));
    }
    v128.store(E + <usize>a * QUAD, e0);
    v128.store(E + <usize>a * QUAD, e1, 16);
    // Column c of L begins at its diagonal; from row k to the next are k + 1 entries.
    for (let c = d - 1; c >= 0; c--, x += QUAD) {
      let s0 = zero;
      let s1 = zero;
      let l = L + <usize>((c * (c + 3)) / 2) * QUAD;
      for (let k = c; k < d; k++) {
        const v = both(R + (<usize>k << 3));
        s0 = f64x2.add(s0, f64x2.mul(v, v128.load(l)));
        s1 = f64x2.add(s1, f64x2.mul(v, v128.load(l, 16)));
        l += <usize>(k + 1) * QUAD;
      }
      v128.store(x, s0);
      v128.store(x, s1, 16);
    }
  }
  const step = <usize>d * QUAD;
  for (let i: usize = 0, row = C; i <= last; i += QUAD) {
    for (let j: usize = 0, other = C; j <= i; j += QUAD) {
      // A_ij, then what is left of it.
      let s0 = i === j ? sigma2 : zero;
      let s1 = s0;
      for (let from = X; from < E; from += step) {
        s0 = f64x2.add(s0, f64x2.mul(v128.load(from + i), v128.load(from + j)));
        s1 = f64x2.add(s1, f64x2.mul(v128.load(from + i, 16), v128.load(from + j, 16)));
      }
      for (let c: usize = 0; c < j; c += QUAD) {
        s0 = f64x2.sub(s0, f64x2.mul(v128.load(row + c), v128.load(other + c)));
        s1 = f64x2.sub(s1, f64x2.mul(v128.load(row + c, 16), v128.load(other + c, 16)));
      }
      other += j;
      if (j < i) {
        s0 = f64x2.mul(s0, v128.load(other));
        s1 = f64x2.mul(s1, v128.load(other, 16));
      } else {
        // A ≥ σ²I, so pivots are at least σ² but for rounding.
        s0 = f64x2.div(f64x2.splat(1), f64x2.sqrt(f64x2.max(s0, sigma2)));
        s1 = f64x2.div(f64x2.splat(1), f64x2.sqrt(f64x2.max(s1, sigma2)));
      }
      v128.store(row + j, s0);
      v128.store(row + j, s1, 16);
      other += QUAD;
    }
    let b0 = zero;
    let b1 = zero;
    for (let from = X, e = E; from < E; from += step, e += QUAD) {
      b0 = f64x2.add(b0, f64x2.mul(v128.load(from + i), v128.load(e)));
      b1 = f64x2.add(b1, f64x2.mul(v128.load(from + i, 16), v128.load(e, 16)));
    }
    for (let c: usize = 0; c < i; c += QUAD) {
      b0 = f64x2.sub(b0, f64x2.mul(v128.load(row + c), v128.load(z + c)));
      b1 = f64x2.sub(b1, f64x2.mul(v128.load(row + c, 16), v128.load(z + c, 16)));
    }
    v128.store(z + i, f64x2.mul(b0, v128.load(row + i)));
    v128.store(z + i, f64x2.mul(b1, v128.load(row + i, 16)), 16);
    row += i + QUAD;
  }
}

/** Moments of the four nodes factored last. Row b of Y' solves C y = (row b of L)', which is zero but for the last b + 1 entries. */
@inline
function writeTile(p: Conditioning, r: i32, t: i32, out: usize): void {
  const d = p.numBasis;
  const C = p.scratch + <usize>(r * (d + 1)) * QUAD;
  const z = C + <usize>p.numPacked * QUAD;
  const Y = z + <usize>d * QUAD;
  const m = p.means + <usize>(t * d) * QUAD;
  const end = <usize>d * QUAD;
  const sigma2 = both(p.noise);
  const zero = f64x2.splat(0);
  let covariance = out + end;
  let L = p.factors + <usize>(t * p.numPacked) * QUAD;
  for (let b: usize = 0, y = Y; b < end; b += QUAD, y += end) {
    const first = end - QUAD - b;
    let mean0 = v128.load(m + b);
    let mean1 = v128.load(m + b, 16);
    // Entries of a row of L from its diagonal to the left.
    let l = L + b;
    let row = C + (<usize>((d - 1 - <i32>(b / QUAD)) * (d - <i32>(b / QUAD))) / 2) * QUAD;
    for (let i = first; i < end; i += QUAD, l -= QUAD) {
      let s0 = v128.load(l);
      let s1 = v128.load(l, 16);
      for (let c = first; c < i; c += QUAD) {
        s0 = f64x2.sub(s0, f64x2.mul(v128.load(row + c), v128.load(y + c)));
        s1 = f64x2.sub(s1, f64x2.mul(v128.load(row + c, 16), v128.load(y + c, 16)));
      }
      s0 = f64x2.mul(s0, v128.load(row + i));
      s1 = f64x2.mul(s1, v128.load(row + i, 16));
      row += i + QUAD;
      v128.store(y + i, s0);
      v128.store(y + i, s1, 16);
      mean0 = f64x2.add(mean0, f64x2.mul(s0, v128.load(z + i)));
      mean1 = f64x2.add(mean1, f64x2.mul(s1, v128.load(z + i, 16)));
    }
    L += b + QUAD;
    v128.store(out + b, mean0);
    v128.store(out + b, mean1, 16);
    for (let x = Y, start = end - QUAD; x <= y; x += end, start -= QUAD, covariance += QUAD) {
      let s0 = zero;
      let s1 = zero;
      for (let c = start; c < end; c += QUAD) {
        s0 = f64x2.add(s0, f64x2.mul(v128.load(x + c), v128.load(y + c)));
        s1 = f64x2.add(s1, f64x2.mul(v128.load(x + c, 16), v128.load(y + c, 16)));
      }
      v128.store(covariance, f64x2.mul(s0, sigma2));
      v128.store(covariance, f64x2.mul(s1, sigma2), 16);
    }
  }
}
