/**
 * Products over many nodes, four individuals (or four pairs of inducing points) at a time. Nodes stand in tiles of four:
 *   tables and sums  T [tile][k][4],   weights  R [tile][b][4],   coefficients  P [k][b],   b = 0..3.
 * A tile and its coefficients stay in registers; every loop runs over contiguous memory. `active` lists the tiles in use.
 */
import { both, exp2x, lanes } from "./exp";

/** Bytes of four numbers. */
export const QUAD: usize = 32;
/**
 * Weights below exp(−37) of the largest count as zero: exp(−37) < 2⁻⁵³, and of a normal law in the plane the share exp(−L)
 * lies where the density is below exp(−L) of the largest, so that all of them together are lost in a sum that holds a one.
 */
const NEGLIGIBLE: f64 = -37;

/** R[t][b] = logPrior[t] + Σ_k P[k][b] T[t][k], and the largest of each row b to maxima[4]. */
export function logWeights(P: usize, T: usize, logPrior: usize, R: usize, maxima: usize, numTiles: i32, K: i32): void {
  const low = f64x2.splat(-Infinity);
  let m0 = low;
  let m1 = low;
  let m2 = low;
  let m3 = low;
  for (let t = 0; t < numTiles; t++) {
    let a0 = v128.load(logPrior);
    let a1 = v128.load(logPrior, 16);
    let b0 = a0;
    let b1 = a1;
    let c0 = a0;
    let c1 = a1;
    let d0 = a0;
    let d1 = a1;
    let p = P;
    const end = P + (<usize>K << 5);
    for (; p < end; p += QUAD) {
      const x0 = v128.load(T);
      const x1 = v128.load(T, 16);
      let s = both(p);
      a0 = f64x2.add(a0, f64x2.mul(s, x0));
      a1 = f64x2.add(a1, f64x2.mul(s, x1));
      s = both(p + 8);
      b0 = f64x2.add(b0, f64x2.mul(s, x0));
      b1 = f64x2.add(b1, f64x2.mul(s, x1));
      s = both(p + 16);
      c0 = f64x2.add(c0, f64x2.mul(s, x0));
      c1 = f64x2.add(c1, f64x2.mul(s, x1));
      s = both(p + 24);
      d0 = f64x2.add(d0, f64x2.mul(s, x0));
      d1 = f64x2.add(d1, f64x2.mul(s, x1));
      T += QUAD;
    }
    v128.store(R, a0);
    v128.store(R, a1, 16);
    v128.store(R, b0, 32);
    v128.store(R, b1, 48);
    v128.store(R, c0, 64);
    v128.store(R, c1, 80);
    v128.store(R, d0, 96);
    v128.store(R, d1, 112);
    m0 = f64x2.pmax(m0, f64x2.pmax(a0, a1));
    m1 = f64x2.pmax(m1, f64x2.pmax(b0, b1));
    m2 = f64x2.pmax(m2, f64x2.pmax(c0, c1));
    m3 = f64x2.pmax(m3, f64x2.pmax(d0, d1));
    logPrior += QUAD;
    R += 4 * QUAD;
  }
  f64.store(maxima, larger(m0));
  f64.store(maxima, larger(m1), 8);
  f64.store(maxima, larger(m2), 16);
  f64.store(maxima, larger(m3), 24);
}

@inline
function larger(v: v128): f64 {
  const a = f64x2.extract_lane(v, 0);
  const b = f64x2.extract_lane(v, 1);
  return a < b ? b : a;
}

/**
 * R ← exp(R − maxima[b]), sums over nodes to sums[4]; lists the tiles in which any weight is left and returns how many.
 * A NaN passes on into the sum.
 */
export function expTiles(R: usize, maxima: usize, sums: usize, active: usize, numTiles: i32): i32 {
  const limit = f64x2.splat(NEGLIGIBLE);
  let count = 0;
  v128.store(sums, f64x2.splat(0));
  v128.store(sums, f64x2.splat(0), 16);
  for (let t = 0; t < numTiles; t++) {
    let used = false;
    for (let b: usize = 0; b < QUAD; b += 8) {
      const shift = both(maxima + b);
      const x0 = f64x2.sub(v128.load(R), shift);
      const x1 = f64x2.sub(v128.load(R, 16), shift);
      const zero0 = f64x2.lt(x0, limit);
      const zero1 = f64x2.lt(x1, limit);
      if (i64x2.all_true(v128.and(zero0, zero1))) {
        v128.store(R, f64x2.splat(0));
        v128.store(R, f64x2.splat(0), 16);
      } else {
        const e0 = v128.andnot(exp2x(x0), zero0);
        const e1 = v128.andnot(exp2x(x1), zero1);
        v128.store(R, e0);
        v128.store(R, e1, 16);
        f64.store(sums + b, f64.load(sums + b) + lanes(f64x2.add(e0, e1)));
        used = true;
      }
      R += QUAD;
    }
    if (used) {
      i32.store(active + (<usize>count << 2), t);
      count++;
    }
  }
  return count;
}

/** out[t][k] += Σ_b P[k][b] R[t][b] for the listed tiles. */
export function addOuter(P: usize, R: usize, out: usize, active: usize, count: i32, K: i32): void {
  const size = <usize>K << 5;
  for (let a = 0; a < count; a++) {
    const t = <usize>i32.load(active + (<usize>a << 2));
    const r = R + (t << 7);
    const a0 = v128.load(r);
    const a1 = v128.load(r, 16);
    const b0 = v128.load(r, 32);
    const b1 = v128.load(r, 48);
    const c0 = v128.load(r, 64);
    const c1 = v128.load(r, 80);
    const d0 = v128.load(r, 96);
    const d1 = v128.load(r, 112);
    let o = out + t * size;
    const end = P + size;
    for (let p = P; p < end; p += QUAD) {
      let s = both(p);
      let x0 = f64x2.add(v128.load(o), f64x2.mul(s, a0));
      let x1 = f64x2.add(v128.load(o, 16), f64x2.mul(s, a1));
      s = both(p + 8);
      x0 = f64x2.add(x0, f64x2.mul(s, b0));
      x1 = f64x2.add(x1, f64x2.mul(s, b1));
      s = both(p + 16);
      x0 = f64x2.add(x0, f64x2.mul(s, c0));
      x1 = f64x2.add(x1, f64x2.mul(s, c1));
      s = both(p + 24);
      x0 = f64x2.add(x0, f64x2.mul(s, d0));
      x1 = f64x2.add(x1, f64x2.mul(s, d1));
      v128.store(o, x0);
      v128.store(o, x1, 16);
      o += QUAD;
    }
  }
}

/** out[k][b] = Σ_nodes R[t][b] T[t][k] over the listed tiles; K even. */
export function dotTiles(R: usize, T: usize, out: usize, active: usize, count: i32, K: i32): void {
  const size = <usize>K << 5;
  for (let k: usize = 0; k < size; k += 2 * QUAD) {
    let a0 = f64x2.splat(0);
    let a1 = a0;
    let b0 = a0;
    let b1 = a0;
    let c0 = a0;
    let c1 = a0;
    let d0 = a0;
    let d1 = a0;
    for (let a = 0; a < count; a++) {
      const t = <usize>i32.load(active + (<usize>a << 2));
      const r = R + (t << 7);
      const x = T + t * size + k;
      for (let half: usize = 0; half < QUAD; half += 16) {
        const x0 = v128.load(x + half);
        const x1 = v128.load(x + half, 32);
        let w = v128.load(r + half);
        a0 = f64x2.add(a0, f64x2.mul(w, x0));
        a1 = f64x2.add(a1, f64x2.mul(w, x1));
        w = v128.load(r + half, 32);
        b0 = f64x2.add(b0, f64x2.mul(w, x0));
        b1 = f64x2.add(b1, f64x2.mul(w, x1));
        w = v128.load(r + half, 64);
        c0 = f64x2.add(c0, f64x2.mul(w, x0));
        c1 = f64x2.add(c1, f64x2.mul(w, x1));
        w = v128.load(r + half, 96);
        d0 = f64x2.add(d0, f64x2.mul(w, x0));
        d1 = f64x2.add(d1, f64x2.mul(w, x1));
      }
    }
    const o = out + k;
    f64.store(o, lanes(a0));
    f64.store(o, lanes(b0), 8);
    f64.store(o, lanes(c0), 16);
    f64.store(o, lanes(d0), 24);
    f64.store(o, lanes(a1), 32);
    f64.store(o, lanes(b1), 40);
    f64.store(o, lanes(c1), 48);
    f64.store(o, lanes(d1), 56);
  }
}
