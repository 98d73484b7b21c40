/**
 * Four nodes of a mixture for an individual that may have several noise levels (docs/math/noise.md §4; host: wasm/placing.ts). Its functionals
 * have noise λ times the identity, so that reflections H with H'e = ‖e‖ times the first axis and H'FΣF'H tridiagonal, diagonal α and
 * beside it β, leave O(r) for each level: from the last row upwards
 *   d_r = λ + α_r,   d_j = λ + α_j − β_j²/d_{j+1},   |V| = Π d_j,   e'V⁻¹e = ‖e‖²/d_1,
 * and V⁻¹e = Hx, x_1 = ‖e‖/d_1, x_{j+1} = −β_j x_j/d_{j+1}.
 * The matrix is bordered by e, M = [0 e'; e FΣF'] [r + 1, r + 1], so that e is its first column, and β_0 = ±‖e‖.
 */
import { Nodes } from "./contexts";
import { both, exp2x } from "./exp";
import { addDots, density, NEGLIGIBLE } from "./placing";
import { QUAD } from "./tiles";

@inline
function quad(base: usize, index: i32): usize {
  return base + <usize>index * QUAD;
}

@inline
function subtract(address: usize, x: v128): void {
  v128.store(address, f64x2.sub(v128.load(address), x));
}

/** M of four nodes, its lower triangle. */
function assembleTile(p: Nodes, t: i32): void {
  const n = p.rank + 1;
  const S = quad(p.covariances, t * p.numPacked);
  const m = quad(p.means, t * p.numBasis);
  let ends = p.ends;
  let offset = p.offsets;
  let term = p.terms;
  for (let a = 1; a < n; a++) {
    for (let b = 0; b <= a; b++, ends += 4) {
      // e = h − Fm in the first column.
      const from = b ? S : m;
      let s0 = f64x2.splat(0);
      let s1 = s0;
      for (let end = p.offsets + <usize>i32.load(ends); offset < end; offset += 4, term += 8) {
        const c = both(term);
        const x = from + <usize>i32.load(offset);
        s0 = f64x2.add(s0, f64x2.mul(c, v128.load(x)));
        s1 = f64x2.add(s1, f64x2.mul(c, v128.load(x, 16)));
      }
      if (!b) {
        const h = both(p.heights + (<usize>(a - 1) << 3));
        s0 = f64x2.sub(h, s0);
        s1 = f64x2.sub(h, s1);
      }
      const out = quad(p.bordered, a * n + b);
      v128.store(out, s0);
      v128.store(out, s1, 16);
    }
  }
}

/** Reflections that make M tridiagonal, two nodes at a time; their vectors stay below its diagonal. α to `diagonal`, β and β² to `beside` and `squares`. */
function tridiagonalize(p: Nodes, lane: usize): void {
  const n = p.rank + 1;
  const M = p.bordered + lane;
  const w = p.products + lane;
  for (let k = 0; k < n - 1; k++) {
    let square = f64x2.splat(0);
    for (let a = k + 2; a < n; a++) {
      const x = v128.load(quad(M, a * n + k));
      square = f64x2.add(square, f64x2.mul(x, x));
    }
    // v = x − ‖x‖ on the first entry, with the sign that adds; v'v = 2‖x‖(‖x‖ + |x_1|).
    const first = v128.load(quad(M, (k + 1) * n + k));
    const size = f64x2.sqrt(f64x2.add(square, f64x2.mul(first, first)));
    const felt = f64x2.gt(square, f64x2.splat(0));
    const signed = v128.bitselect(size, f64x2.neg(size), f64x2.ge(first, f64x2.splat(0)));
    const beta = v128.bitselect(f64x2.neg(signed), first, felt);
    const v1 = f64x2.add(first, signed);
    const scale = v128.and(f64x2.div(f64x2.splat(1), f64x2.mul(size, f64x2.add(size, f64x2.abs(first)))), felt);
    v128.store(quad(p.beside + lane, k), beta);
    v128.store(quad(p.squares + lane, k), f64x2.mul(beta, beta));
    v128.store(quad(p.reflections + lane, k), scale);
    v128.store(quad(M, (k + 1) * n + k), v1);
    // A ← A − vw' − wv',  w = Av·scale − ½ scale (v'Av·scale) v.
    let inner = f64x2.splat(0);
    for (let a = k + 1; a < n; a++) {
      let s = f64x2.splat(0);
      for (let b = k + 1; b <= a; b++) s = f64x2.add(s, f64x2.mul(v128.load(quad(M, a * n + b)), v128.load(quad(M, b * n + k))));
      for (let b = a + 1; b < n; b++) s = f64x2.add(s, f64x2.mul(v128.load(quad(M, b * n + a)), v128.load(quad(M, b * n + k))));
      s = f64x2.mul(s, scale);
      v128.store(quad(w, a), s);
      inner = f64x2.add(inner, f64x2.mul(s, v128.load(quad(M, a * n + k))));
    }
    const half = f64x2.mul(f64x2.mul(f64x2.splat(0.5), scale), inner);
    for (let a = k + 1; a < n; a++) subtract(quad(w, a), f64x2.mul(half, v128.load(quad(M, a * n + k))));
    for (let a = k + 1; a < n; a++) {
      const va = v128.load(quad(M, a * n + k));
      const wa = v128.load(quad(w, a));
      for (let b = k + 1; b <= a; b++) {
        const both2 = f64x2.add(f64x2.mul(va, v128.load(quad(w, b))), f64x2.mul(wa, v128.load(quad(M, b * n + k))));
        subtract(quad(M, a * n + b), both2);
      }
    }
    v128.store(quad(p.diagonal + lane, k), v128.load(quad(M, (k + 1) * n + k + 1)));
  }
}

/** The four nodes at hand at all levels: exponents and factors, and 1/d if asked to `keep` them; the largest exponents to `weights`. */
function weighLevels(p: Nodes, o: usize, keep: i32): void {
  const bytes = <usize>p.rank * QUAD;
  const prior0 = v128.load(p.logPrior + o);
  const prior1 = v128.load(p.logPrior + o, 16);
  const one = f64x2.splat(1);
  let largest0 = f64x2.splat(-Infinity);
  let largest1 = largest0;
  let inverses = p.inverses;
  let at: usize = 0;
  for (let level = p.levels; at < <usize>p.numLevels * QUAD; level += 16, at += QUAD, inverses += bytes) {
    const lambda = both(level);
    let product0 = one;
    let product1 = one;
    let inverse0 = f64x2.splat(0);
    let inverse1 = inverse0;
    let square0 = inverse0;
    let square1 = inverse0;
    for (let j = bytes; j > 0; ) {
      j -= QUAD;
      // V ≥ λ, so no pivot is less but for rounding.
      const d0 = f64x2.sub(f64x2.add(lambda, v128.load(p.diagonal + j)), f64x2.mul(square0, inverse0));
      const d1 = f64x2.sub(f64x2.add(lambda, v128.load(p.diagonal + j, 16)), f64x2.mul(square1, inverse1));
      inverse0 = f64x2.div(one, f64x2.pmax(lambda, d0));
      inverse1 = f64x2.div(one, f64x2.pmax(lambda, d1));
      if (keep) {
        v128.store(inverses + j, inverse0);
        v128.store(inverses + j, inverse1, 16);
      }
      product0 = f64x2.mul(product0, f64x2.mul(lambda, inverse0));
      product1 = f64x2.mul(product1, f64x2.mul(lambda, inverse1));
      square0 = v128.load(p.squares + j);
      square1 = v128.load(p.squares + j, 16);
    }
    const count = both(level + 8);
    const x = p.exponents + at;
    const scale = p.factors + at;
    const low = density(f64x2.add(prior0, count), f64x2.sqrt(product0), f64x2.mul(square0, inverse0), x, scale);
    largest0 = f64x2.pmax(largest0, low);
    const high = density(f64x2.add(prior1, count), f64x2.sqrt(product1), f64x2.mul(square1, inverse1), x + 16, scale + 16);
    largest1 = f64x2.pmax(largest1, high);
  }
  v128.store(p.weights + o, largest0);
  v128.store(p.weights + o, largest1, 16);
}

/** What each level adds to the nodes, exp(x − largest) × factor, to `parts`, and the sum of a node to `scales`. */
function shareLevels(p: Nodes, o: usize, parts: usize): void {
  const lowest = f64x2.splat(NEGLIGIBLE);
  // Nodes beyond the last have −∞ at all levels.
  const shift0 = f64x2.pmax(f64x2.splat(-f64.MAX_VALUE), v128.load(p.weights + o));
  const shift1 = f64x2.pmax(f64x2.splat(-f64.MAX_VALUE), v128.load(p.weights + o, 16));
  let total0 = f64x2.splat(0);
  let total1 = total0;
  for (let k: usize = 0; k < <usize>p.numLevels * QUAD; k += QUAD) {
    const y0 = f64x2.pmax(lowest, f64x2.sub(v128.load(p.exponents + k), shift0));
    const y1 = f64x2.pmax(lowest, f64x2.sub(v128.load(p.exponents + k, 16), shift1));
    const w0 = f64x2.mul(exp2x(y0), v128.load(p.factors + k));
    const w1 = f64x2.mul(exp2x(y1), v128.load(p.factors + k, 16));
    v128.store(parts + k, w0);
    v128.store(parts + k, w1, 16);
    total0 = f64x2.add(total0, w0);
    total1 = f64x2.add(total1, w1);
  }
  v128.store(p.scales + o, total0);
  v128.store(p.scales + o, total1, 16);
}

/** V⁻¹e of two nodes averaged over levels. */
function solvePair(p: Nodes, o: usize, parts: usize, out: usize): void {
  const r = p.rank;
  for (let j = 0; j < r; j++) v128.store(quad(out, j), f64x2.splat(0));
  const lane = o & 16;
  const inverse = f64x2.neg(f64x2.div(f64x2.splat(1), v128.load(p.scales + o)));
  for (let k = 0; k < p.numLevels; k++) {
    const inverses = quad(p.inverses + lane, k * r);
    let x = f64x2.mul(inverse, v128.load(quad(parts, k)));
    for (let j = 0; j < r; j++) {
      x = f64x2.neg(f64x2.mul(f64x2.mul(v128.load(quad(p.beside + lane, j)), v128.load(quad(inverses, j))), x));
      v128.store(quad(out, j), f64x2.add(v128.load(quad(out, j)), x));
    }
  }
  // x ← Hx, the last reflection first.
  const n = r + 1;
  const M = p.bordered + lane;
  for (let k = r - 1; k >= 0; k--) {
    let s = f64x2.splat(0);
    for (let a = k + 1; a < n; a++) s = f64x2.add(s, f64x2.mul(v128.load(quad(M, a * n + k)), v128.load(quad(out, a - 1))));
    s = f64x2.mul(s, v128.load(quad(p.reflections + lane, k)));
    for (let a = k + 1; a < n; a++) subtract(quad(out, a - 1), f64x2.mul(s, v128.load(quad(M, a * n + k))));
  }
}

/** As `weighTile` of placing.ts: weights and scales of four nodes; returns the larger x of each pair. */
export function weighTileLevels(p: Nodes, t: i32, solve: i32): v128 {
  const o = <usize>t * QUAD;
  const parts = quad(p.parts, t * p.numLevels);
  assembleTile(p, t);
  tridiagonalize(p, 0);
  tridiagonalize(p, 16);
  weighLevels(p, o, solve);
  shareLevels(p, o, parts);
  if (solve) {
    const out = quad(p.solved, t * p.rank);
    solvePair(p, o, parts, out);
    solvePair(p, o + 16, parts + 16, out + 16);
  }
  return f64x2.pmax(v128.load(p.weights + o), v128.load(p.weights + o, 16));
}

/** Σ_g of the weights of each level to `levelSums`, over the `count` tiles that are left; `scales` become weight/scale, for `parts`. */
export function sumLevels(context: usize, count: i32): void {
  const p = changetype<Nodes>(context);
  for (let i = 0; i < count; i++) {
    const o = <usize>i32.load(p.active + (<usize>i << 2)) * QUAD;
    v128.store(p.scales + o, f64x2.div(v128.load(p.weights + o), v128.load(p.scales + o)));
    v128.store(p.scales + o, f64x2.div(v128.load(p.weights + o, 16), v128.load(p.scales + o, 16)), 16);
  }
  addDots(p.scales, 1, p.parts, p.numLevels, p.active, count, p.levelSums);
}
