/**
 * Weights of the nodes of a mixture for one individual, and sums over them (host: wasm/placing.ts), four nodes at a time.
 * Tables stand in tiles of four nodes, [tile][column][4]; the individual comes as the few functionals of the coefficients of
 * models/mixture/observed.ts, with the terms of every entry that are not zero as lists:
 *   V = FΣF' + N,   e = h − Fm,   weight ∝ π (|N|/|V|)^½ exp(−½ e'V⁻¹e).
 * Noise of several levels is that of placing-levels.ts.
 */
import { Nodes } from "./contexts";
import { MAGIC, MAGIC_BIAS, MANTISSA, ONE } from "./double-bits";
import { both, exp2x, lanes } from "./exp";
import { weighTileLevels } from "./placing-levels";
import { QUAD } from "./tiles";

/** Nodes below this share of the largest weight are dropped. */
const LIGHT: f64 = 1e-9;
/** Exponents below this count as zero, so that exp stays in its range. */
export const NEGLIGIBLE: f64 = -690;
const LN2: f64 = 0.6931471805599453;

/**
 * Weights of all nodes, up to a factor: those below 1e-9 of the largest are zero. With `solve`, weight · V⁻¹e as well.
 * Returns how many tiles are left.
 */
export function weighNodes(context: usize, solve: i32): i32 {
  const p = changetype<Nodes>(context);
  const r = p.rank;
  const solved = solve ? r : 0;
  const leveled = p.numLevels > 1;
  let largest = f64x2.splat(-Infinity);
  for (let t = 0; t < p.numTiles; t++) {
    largest = f64x2.pmax(largest, leveled ? weighTileLevels(p, t, solve) : weighTile(p, t, solve));
  }
  const a = f64x2.extract_lane(largest, 0);
  const b = f64x2.extract_lane(largest, 1);
  const maximum = a < b ? b : a;
  f64.store(p.totals, maximum);
  let total = f64x2.splat(0);
  let most = f64x2.splat(0);
  const shift = f64x2.splat(maximum);
  const lowest = f64x2.splat(NEGLIGIBLE);
  for (let o: usize = 0; o < <usize>p.numTiles * QUAD; o += 16) {
    const y = f64x2.sub(v128.load(p.weights + o), shift);
    // pmax(y, lowest) keeps a NaN: the comparison is false for it.
    const e = f64x2.mul(exp2x(f64x2.pmax(y, lowest)), v128.load(p.scales + o));
    const w = v128.andnot(e, f64x2.lt(y, lowest));
    v128.store(p.weights + o, w);
    total = f64x2.add(total, w);
    most = f64x2.pmax(most, w);
  }
  f64.store(p.totals, lanes(total), 8);
  const c = f64x2.extract_lane(most, 0);
  const d = f64x2.extract_lane(most, 1);
  const limit = f64x2.splat(LIGHT * (c < d ? d : c));
  let kept = f64x2.splat(0);
  let count = 0;
  for (let t = 0; t < p.numTiles; t++) {
    const w = p.weights + <usize>t * QUAD;
    const low = v128.load(w);
    const high = v128.load(w, 16);
    const x = v128.and(low, f64x2.ge(low, limit));
    const y = v128.and(high, f64x2.ge(high, limit));
    v128.store(w, x);
    v128.store(w, y, 16);
    kept = f64x2.add(kept, f64x2.add(x, y));
    if (v128.any_true(v128.or(x, y))) {
      i32.store(p.active + (<usize>count << 2), t);
      count++;
      for (let a = 0; a < solved; a++) {
        const s = p.solved + <usize>(t * r + a) * QUAD;
        v128.store(s, f64x2.mul(v128.load(s), x));
        v128.store(s, f64x2.mul(v128.load(s, 16), y), 16);
      }
    }
  }
  f64.store(p.totals, lanes(kept), 16);
  return count;
}

/** Log densities of all nodes without their exponentials: x to `weights` and a factor of 1 or more to `scales`. */
export function densityNodes(context: usize): void {
  const p = changetype<Nodes>(context);
  const leveled = p.numLevels > 1;
  for (let t = 0; t < p.numTiles; t++) leveled ? weighTileLevels(p, t, 0) : weighTile(p, t, 0);
}

/** For four nodes: L with the reciprocals of D on the diagonal, V = LDL', to `factor`, and L⁻¹e to `residuals`. */
@inline
function factorTile(p: Nodes, t: i32): void {
  const r = p.rank;
  const S = p.covariances + <usize>(t * p.numPacked) * QUAD;
  const m = p.means + <usize>(t * p.numBasis) * QUAD;
  let row = p.factor;
  let noise = p.noise;
  let ends = p.ends;
  let offset = p.offsets;
  let term = p.terms;
  for (let a = 0; a < r; a++) {
    let e0 = both(p.heights + (<usize>a << 3));
    let e1 = e0;
    for (let end = p.offsets + <usize>i32.load(ends); offset < end; offset += 4, term += 8) {
      const c = both(term);
      const x = m + <usize>i32.load(offset);
      e0 = f64x2.sub(e0, f64x2.mul(c, v128.load(x)));
      e1 = f64x2.sub(e1, f64x2.mul(c, v128.load(x, 16)));
    }
    ends += 4;
    let other = p.factor;
    for (let b = 0; b <= a; b++) {
      let s0 = both(noise);
      let s1 = s0;
      noise += 8;
      for (let end = p.offsets + <usize>i32.load(ends); offset < end; offset += 4, term += 8) {
        const c = both(term);
        const x = S + <usize>i32.load(offset);
        s0 = f64x2.add(s0, f64x2.mul(c, v128.load(x)));
        s1 = f64x2.add(s1, f64x2.mul(c, v128.load(x, 16)));
      }
      ends += 4;
      const at = <usize>b << 5;
      if (b < a) {
        // Row a holds U = LD until its pivot is known: u_ab = v_ab − Σ_c u_ac l_bc.
        for (let c: usize = 0; c < at; c += QUAD) {
          s0 = f64x2.sub(s0, f64x2.mul(v128.load(row + c), v128.load(other + c)));
          s1 = f64x2.sub(s1, f64x2.mul(v128.load(row + c, 16), v128.load(other + c, 16)));
        }
      } else {
        // d_a = v_aa − Σ_c u_ac l_ac and e_a ← e_a − Σ_c l_ac e_c, with l_ac = u_ac / d_c.
        let diagonal = p.factor;
        for (let c: usize = 0; c < at; c += QUAD) {
          const u0 = v128.load(row + c);
          const u1 = v128.load(row + c, 16);
          const l0 = f64x2.mul(u0, v128.load(diagonal));
          const l1 = f64x2.mul(u1, v128.load(diagonal, 16));
          s0 = f64x2.sub(s0, f64x2.mul(u0, l0));
          s1 = f64x2.sub(s1, f64x2.mul(u1, l1));
          e0 = f64x2.sub(e0, f64x2.mul(l0, v128.load(p.residuals + c)));
          e1 = f64x2.sub(e1, f64x2.mul(l1, v128.load(p.residuals + c, 16)));
          v128.store(row + c, l0);
          v128.store(row + c, l1, 16);
          // From the diagonal entry of one packed row to that of the next.
          diagonal += c + 2 * QUAD;
        }
        // V ≥ N, so pivots are at least those of N but for rounding.
        const floor = both(p.floors + (<usize>a << 3));
        s0 = f64x2.div(f64x2.splat(1), f64x2.max(s0, floor));
        s1 = f64x2.div(f64x2.splat(1), f64x2.max(s1, floor));
        v128.store(p.residuals + at, e0);
        v128.store(p.residuals + at, e1, 16);
      }
      v128.store(row + at, s0);
      v128.store(row + at, s1, 16);
      other += <usize>(b + 1) << 5;
    }
    row += <usize>(a + 1) << 5;
  }
}

/**
 * For four nodes: stores V⁻¹e if it is wanted, and the density π (|N|/|V|)^½ exp(−½ e'V⁻¹e) as a number between 1 and 2
 * (scales) times exp(x); returns the larger x of each pair.
 */
@inline
function weighTile(p: Nodes, t: i32, solve: i32): v128 {
  const r = p.rank;
  factorTile(p, t);
  let product0 = f64x2.splat(1);
  let product1 = product0;
  let quadratic0 = f64x2.splat(0);
  let quadratic1 = quadratic0;
  let diagonal = p.factor;
  for (let a = 0; a < r; a++) {
    const at = <usize>a << 5;
    const floor = both(p.floors + (<usize>a << 3));
    const e0 = v128.load(p.residuals + at);
    const e1 = v128.load(p.residuals + at, 16);
    const s0 = v128.load(diagonal);
    const s1 = v128.load(diagonal, 16);
    product0 = f64x2.mul(product0, f64x2.mul(floor, s0));
    product1 = f64x2.mul(product1, f64x2.mul(floor, s1));
    quadratic0 = f64x2.add(quadratic0, f64x2.mul(f64x2.mul(e0, e0), s0));
    quadratic1 = f64x2.add(quadratic1, f64x2.mul(f64x2.mul(e1, e1), s1));
    diagonal += at + 2 * QUAD;
  }
  if (solve) solveTransposed(p, p.residuals, p.solved + <usize>(t * r) * QUAD);
  const o = <usize>t * QUAD;
  const x = p.weights + o;
  const scale = p.scales + o;
  const prior = p.logPrior + o;
  const low = density(v128.load(prior), f64x2.sqrt(product0), quadratic0, x, scale);
  return f64x2.pmax(low, density(v128.load(prior, 16), f64x2.sqrt(product1), quadratic1, x + 16, scale + 16));
}

/** out = L⁻ᵀD⁻¹x for the four nodes factored last; x and out [r][4] may be the same. */
@inline
function solveTransposed(p: Nodes, x: usize, out: usize): void {
  for (let a = p.rank - 1; a >= 0; a--) {
    const at = <usize>a << 5;
    // Entry (a, a) of the packed rows, then those below it.
    let l = p.factor + <usize>((a * (a + 3)) / 2) * QUAD;
    let x0 = f64x2.mul(v128.load(x + at), v128.load(l));
    let x1 = f64x2.mul(v128.load(x + at, 16), v128.load(l, 16));
    for (let c = a + 1; c < p.rank; c++) {
      l += <usize>c * QUAD;
      const k = out + (<usize>c << 5);
      x0 = f64x2.sub(x0, f64x2.mul(v128.load(l), v128.load(k)));
      x1 = f64x2.sub(x1, f64x2.mul(v128.load(l, 16), v128.load(k, 16)));
    }
    v128.store(out + at, x0);
    v128.store(out + at, x1, 16);
  }
}

/** Splits exp(prior) · product · exp(−½ quadratic) of two nodes into a `scale` between 1 and 2 and exp(x); returns x. */
@inline
export function density(prior: v128, product: v128, quadratic: v128, x: usize, scale: usize): v128 {
  const exponent = f64x2.sub(v128.or(i64x2.shr_u(product, 52), i64x2.splat(MAGIC)), f64x2.splat(MAGIC_BIAS));
  v128.store(scale, v128.or(v128.and(product, i64x2.splat(MANTISSA)), i64x2.splat(ONE)));
  const rest = f64x2.sub(prior, f64x2.mul(f64x2.splat(0.5), quadratic));
  const sum = f64x2.add(rest, f64x2.mul(exponent, f64x2.splat(LN2)));
  v128.store(x, sum);
  return sum;
}

/** Σ_g w_g column_g, and Σ_g w_g (V⁻¹e)_ga Σ_g for each a if V⁻¹e was solved for, over the `count` tiles that are left. */
export function sumNodes(context: usize, count: i32, solved: i32): void {
  const p = changetype<Nodes>(context);
  const r = solved ? p.rank : 0;
  addDots(p.weights, 1, p.columns, p.numColumns, p.active, count, p.sums);
  for (let a = 0; a < r; a++) {
    const out = p.sums + (<usize>(p.numColumns + a * p.numPacked) << 3);
    addDots(p.solved + <usize>a * QUAD, r, p.covariances, p.numPacked, p.active, count, out);
  }
}

/** out[c] = Σ over active tiles ⟨W[tile·stride], T[tile][c]⟩, three columns at a time. */
export function addDots(W: usize, stride: i32, T: usize, columns: i32, active: usize, count: i32, out: usize): void {
  const end = active + (<usize>count << 2);
  let c = 0;
  for (; c + 3 <= columns; c += 3) {
    let s0 = f64x2.splat(0);
    let s1 = s0;
    let s2 = s0;
    for (let at = active; at < end; at += 4) {
      const t = i32.load(at);
      const w = W + <usize>(t * stride) * QUAD;
      const x = T + <usize>(t * columns + c) * QUAD;
      const low = v128.load(w);
      const high = v128.load(w, 16);
      s0 = f64x2.add(s0, f64x2.add(f64x2.mul(low, v128.load(x)), f64x2.mul(high, v128.load(x, 16))));
      s1 = f64x2.add(s1, f64x2.add(f64x2.mul(low, v128.load(x, 32)), f64x2.mul(high, v128.load(x, 48))));
      s2 = f64x2.add(s2, f64x2.add(f64x2.mul(low, v128.load(x, 64)), f64x2.mul(high, v128.load(x, 80))));
    }
    f64.store(out + (<usize>c << 3), lanes(s0));
    f64.store(out + (<usize>c << 3), lanes(s1), 8);
    f64.store(out + (<usize>c << 3), lanes(s2), 16);
  }
  for (; c < columns; c++) {
    let s = f64x2.splat(0);
    for (let at = active; at < end; at += 4) {
      const t = i32.load(at);
      const w = W + <usize>(t * stride) * QUAD;
      const x = T + <usize>(t * columns + c) * QUAD;
      s = f64x2.add(s, f64x2.add(f64x2.mul(v128.load(w), v128.load(x)), f64x2.mul(v128.load(w, 16), v128.load(x, 16))));
    }
    f64.store(out + (<usize>c << 3), lanes(s));
  }
}
