/**
 * Four nodes of a mixture for an individual that may have several noise levels (docs/math/noise.md §4; host: wasm/placing.ts). Its functionals
 * have noise λ times the identity, so that reflections H with H'e = ‖e‖ times the first axis and H'FΣF'H tridiagonal, diagonal α and
 * beside it β, leave O(r) for each level and one division: with the determinants D_j of rows j to r of H'VH,
 *   D_{r+1} = 1,   D_j = (λ + α_j)D_{j+1} − β_j²D_{j+2},   |V| = D_1,   e'V⁻¹e = ‖e‖²D_2/D_1,
 * and V⁻¹e = Hx, x_j = ‖e‖ Π_{i<j} (−β_i) D_{j+1}/D_1.
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

/** Reflections that make M tridiagonal; their vectors stay below its diagonal. α to `diagonal`, β and β² to `beside` and `squares`. */
function tridiagonalize(p: Nodes): void {
  const n = p.rank + 1;
  if (n == 1) return;
  for (let k = 0; k < n - 2; k++) reflect(p, k, n);
  // The last needs no reflection.
  const last = quad(p.bordered, n * n - 2);
  const k = n - 2;
  for (let lane: usize = 0; lane < QUAD; lane += 16) {
    const beta = v128.load(last + lane);
    v128.store(quad(p.beside + lane, k), beta);
    v128.store(quad(p.squares + lane, k), f64x2.mul(beta, beta));
    v128.store(quad(p.reflections + lane, k), f64x2.splat(0));
    v128.store(quad(p.diagonal + lane, k), v128.load(last + QUAD + lane));
  }
}

/** v of a reflection that leaves column k of two nodes with one entry below the diagonal: its first entry there, and 2/v'v is returned. */
@inline
function reflectionOf(p: Nodes, k: i32, lane: usize, top: usize, square: v128): v128 {
  // v = x − ‖x‖ on the first entry, with the sign that adds; v'v = 2‖x‖(‖x‖ + |x_1|).
  const first = v128.load(top);
  const size = f64x2.sqrt(f64x2.add(square, f64x2.mul(first, first)));
  const felt = f64x2.gt(square, f64x2.splat(0));
  const signed = v128.bitselect(size, f64x2.neg(size), f64x2.ge(first, f64x2.splat(0)));
  const beta = v128.bitselect(f64x2.neg(signed), first, felt);
  const scale = v128.and(f64x2.div(f64x2.splat(1), f64x2.mul(size, f64x2.add(size, f64x2.abs(first)))), felt);
  v128.store(quad(p.beside + lane, k), beta);
  v128.store(quad(p.squares + lane, k), f64x2.mul(beta, beta));
  v128.store(quad(p.reflections + lane, k), scale);
  v128.store(top, f64x2.add(first, signed));
  return scale;
}

/** A ← A − vw' − wv',  w = Av·scale − ½ scale (v'Av·scale) v, for the rows and columns below k. */
@inline
function reflect(p: Nodes, k: i32, n: i32): void {
  const row = <usize>n * QUAD;
  // Entry k of row k + 1, where v begins, and w from the same row on.
  const V = quad(p.bordered, (k + 1) * n + k);
  const W = quad(p.products, k + 1);
  const size = n - k - 1;
  const rows = <usize>size * row;
  let square0 = f64x2.splat(0);
  let square1 = square0;
  for (let v = V + row; v < V + rows; v += row) {
    const x0 = v128.load(v);
    const x1 = v128.load(v, 16);
    square0 = f64x2.add(square0, f64x2.mul(x0, x0));
    square1 = f64x2.add(square1, f64x2.mul(x1, x1));
  }
  const scale0 = reflectionOf(p, k, 0, V, square0);
  const scale1 = reflectionOf(p, k, 16, V + 16, square1);
  let inner0 = f64x2.splat(0);
  let inner1 = inner0;
  let w = W;
  for (let a: usize = 0; a < rows; a += row, w += QUAD) {
    let s0 = f64x2.splat(0);
    let s1 = s0;
    // Row a up to the diagonal, then down its column.
    let entry = V + a + QUAD;
    let v = V;
    for (; v < V + a; v += row, entry += QUAD) {
      s0 = f64x2.add(s0, f64x2.mul(v128.load(entry), v128.load(v)));
      s1 = f64x2.add(s1, f64x2.mul(v128.load(entry, 16), v128.load(v, 16)));
    }
    for (; v < V + rows; v += row, entry += row) {
      s0 = f64x2.add(s0, f64x2.mul(v128.load(entry), v128.load(v)));
      s1 = f64x2.add(s1, f64x2.mul(v128.load(entry, 16), v128.load(v, 16)));
    }
    s0 = f64x2.mul(s0, scale0);
    s1 = f64x2.mul(s1, scale1);
    v128.store(w, s0);
    v128.store(w, s1, 16);
    inner0 = f64x2.add(inner0, f64x2.mul(s0, v128.load(V + a)));
    inner1 = f64x2.add(inner1, f64x2.mul(s1, v128.load(V + a, 16)));
  }
  const half0 = f64x2.mul(f64x2.mul(f64x2.splat(0.5), scale0), inner0);
  const half1 = f64x2.mul(f64x2.mul(f64x2.splat(0.5), scale1), inner1);
  w = W;
  for (let a: usize = 0; a < rows; a += row, w += QUAD) {
    const va0 = v128.load(V + a);
    const va1 = v128.load(V + a, 16);
    const wa0 = f64x2.sub(v128.load(w), f64x2.mul(half0, va0));
    const wa1 = f64x2.sub(v128.load(w, 16), f64x2.mul(half1, va1));
    v128.store(w, wa0);
    v128.store(w, wa1, 16);
    let entry = V + a + QUAD;
    let wb = W;
    for (let v = V; v <= V + a; v += row, entry += QUAD, wb += QUAD) {
      const change0 = f64x2.add(f64x2.mul(va0, v128.load(wb)), f64x2.mul(wa0, v128.load(v)));
      const change1 = f64x2.add(f64x2.mul(va1, v128.load(wb, 16)), f64x2.mul(wa1, v128.load(v, 16)));
      v128.store(entry, f64x2.sub(v128.load(entry), change0));
      v128.store(entry, f64x2.sub(v128.load(entry, 16), change1), 16);
    }
  }
  v128.store(quad(p.diagonal, k), v128.load(V + QUAD));
  v128.store(quad(p.diagonal, k), v128.load(V + QUAD, 16), 16);
}

/** The four nodes at hand at all levels: exponents but for the prior and factors, and 1/D_1, D_2 to D_r if asked to `keep` them; the largest exponents to `weights`. */
function weighLevels(p: Nodes, o: usize, keep: i32): void {
  const bytes = <usize>p.rank * QUAD;
  const one = f64x2.splat(1);
  const half = f64x2.splat(0.5);
  let largest0 = f64x2.splat(-Infinity);
  let largest1 = largest0;
  let minors = p.minors;
  let at: usize = 0;
  for (let level = p.levels; at < <usize>p.numLevels * QUAD; level += 16, at += QUAD, minors += bytes) {
    const lambda = both(level);
    // D_j and D_{j+1}, and β_j² beside them.
    let minor0 = one;
    let minor1 = one;
    let next0 = f64x2.splat(0);
    let next1 = next0;
    let square0 = next0;
    let square1 = next0;
    for (let j = bytes; j > 0; ) {
      j -= QUAD;
      const d0 = f64x2.sub(f64x2.mul(f64x2.add(lambda, v128.load(p.diagonal + j)), minor0), f64x2.mul(square0, next0));
      const d1 = f64x2.sub(f64x2.mul(f64x2.add(lambda, v128.load(p.diagonal + j, 16)), minor1), f64x2.mul(square1, next1));
      next0 = minor0;
      next1 = minor1;
      // V ≥ λ, so no pivot D_j/D_{j+1} is less but for rounding.
      minor0 = f64x2.pmax(f64x2.mul(lambda, next0), d0);
      minor1 = f64x2.pmax(f64x2.mul(lambda, next1), d1);
      if (keep) {
        v128.store(minors + j, minor0);
        v128.store(minors + j, minor1, 16);
      }
      square0 = v128.load(p.squares + j);
      square1 = v128.load(p.squares + j, 16);
    }
    const inverse0 = f64x2.div(one, minor0);
    const inverse1 = f64x2.div(one, minor1);
    if (keep) {
      v128.store(minors, inverse0);
      v128.store(minors, inverse1, 16);
    }
    const count = both(level + 8);
    const x = p.exponents + at;
    const scale = p.factors + at;
    const x0 = f64x2.sub(count, f64x2.mul(f64x2.mul(half, square0), f64x2.mul(next0, inverse0)));
    const x1 = f64x2.sub(count, f64x2.mul(f64x2.mul(half, square1), f64x2.mul(next1, inverse1)));
    v128.store(x, x0);
    v128.store(x, x1, 16);
    v128.store(scale, f64x2.sqrt(inverse0));
    v128.store(scale, f64x2.sqrt(inverse1), 16);
    largest0 = f64x2.pmax(largest0, x0);
    largest1 = f64x2.pmax(largest1, x1);
  }
  v128.store(p.weights + o, largest0);
  v128.store(p.weights + o, largest1, 16);
}

/** What each level adds to the nodes, exp(x − largest) × factor, to `parts` and their sum to `nodeTotals`; the densities to `weights` and `scales`. */
function shareLevels(p: Nodes, o: usize, parts: usize): void {
  const lowest = f64x2.splat(NEGLIGIBLE);
  const shift0 = v128.load(p.weights + o);
  const shift1 = v128.load(p.weights + o, 16);
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
  v128.store(p.nodeTotals + o, total0);
  v128.store(p.nodeTotals + o, total1, 16);
  const prior = p.logPrior + o;
  const none = f64x2.splat(0);
  density(f64x2.add(v128.load(prior), shift0), total0, none, p.weights + o, p.scales + o);
  density(f64x2.add(v128.load(prior, 16), shift1), total1, none, p.weights + o + 16, p.scales + o + 16);
}

/** V⁻¹e of two nodes averaged over levels. */
function solvePair(p: Nodes, o: usize, parts: usize, out: usize): void {
  const r = p.rank;
  for (let j = 0; j < r; j++) v128.store(quad(out, j), f64x2.splat(0));
  const lane = o & 16;
  for (let k = 0; k < p.numLevels; k++) {
    const minors = quad(p.minors + lane, k * r);
    const share = f64x2.mul(v128.load(quad(parts, k)), v128.load(minors));
    for (let j = 0; j < r - 1; j++) {
      v128.store(quad(out, j), f64x2.add(v128.load(quad(out, j)), f64x2.mul(share, v128.load(quad(minors, j + 1)))));
    }
    v128.store(quad(out, r - 1), f64x2.add(v128.load(quad(out, r - 1)), share));
  }
  let product = f64x2.neg(f64x2.div(f64x2.splat(1), v128.load(p.nodeTotals + o)));
  for (let j = 0; j < r; j++) {
    product = f64x2.neg(f64x2.mul(product, v128.load(quad(p.beside + lane, j))));
    v128.store(quad(out, j), f64x2.mul(product, v128.load(quad(out, j))));
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
  tridiagonalize(p);
  weighLevels(p, o, solve);
  shareLevels(p, o, parts);
  if (solve && p.rank) {
    const out = quad(p.solved, t * p.rank);
    solvePair(p, o, parts, out);
    solvePair(p, o + 16, parts + 16, out + 16);
  }
  return f64x2.pmax(v128.load(p.weights + o), v128.load(p.weights + o, 16));
}

/** Σ_g of the weights of each level to `levelSums`, over the `count` tiles that are left; `scales` become weight/total, for `parts`. */
export function sumLevels(context: usize, count: i32): void {
  const p = changetype<Nodes>(context);
  for (let i = 0; i < count; i++) {
    const o = <usize>i32.load(p.active + (<usize>i << 2)) * QUAD;
    v128.store(p.scales + o, f64x2.div(v128.load(p.weights + o), v128.load(p.nodeTotals + o)));
    v128.store(p.scales + o, f64x2.div(v128.load(p.weights + o, 16), v128.load(p.nodeTotals + o, 16)), 16);
  }
  addDots(p.scales, 1, p.parts, p.numLevels, p.active, count, p.levelSums);
}
