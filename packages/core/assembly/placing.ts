/**
 * Where one individual stands on a lattice (models/wasm-placing.ts, docs/math/prediction.md §2), four nodes at a time.
 * Tables stand in tiles of four nodes, [tile][column][4]; the individual comes as R [r,d], h [r] and the numbers that turn
 * a packed covariance into the entries of V = RΣR' + σ²I.
 */
import { both, exp2x, lanes } from "./exp";
import { QUAD } from "./tiles";

/** Sizes, then addresses, as the host writes them: i32 each. */
@unmanaged
class Placing {
  numBasis: i32; // d
  rank: i32; // r
  numTiles: i32;
  numPacked: i32; // d(d+1)/2
  numColumns: i32; // of the table whose weighted sums are wanted
  noise: usize; // σ² [1]
  roots: usize; // R [r,d]
  heights: usize; // h [r]
  spread: usize; // [r(r+1)/2][numPacked]
  covariances: usize; // Σ_g [tile][numPacked][4]
  means: usize; // m_g [tile][d][4]
  columns: usize; // [tile][numColumns][4]
  logPrior: usize; // [tile][4]; −∞ beyond the last node
  factor: usize; // V's Cholesky factor, rows packed, reciprocals on the diagonal [r(r+1)/2][4]
  residuals: usize; // [r][4]
  solved: usize; // V⁻¹e [tile][r][4]
  weights: usize; // [tile][4]
  scales: usize; // [tile][4]
  active: usize; // i32 [tiles]
  totals: usize; // largest exponent, Σ weights, Σ kept weights
  sums: usize; // [numColumns], then [r][numPacked]
}

/** Nodes below this share of the largest weight are dropped. */
const LIGHT: f64 = 1e-9;
/** Exponents below this count as zero, so that exp stays in its range. */
const NEGLIGIBLE: f64 = -690;
const LN2: f64 = 0.6931471805599453;
/** 2⁵² as bits, and 2⁵² + 1023 as a number: they turn an exponent field into a number. */
const MAGIC: i64 = 0x4330000000000000;
const MAGIC_BIAS: f64 = 4503599627370496.0 + 1023.0;
const MANTISSA: i64 = 0x000fffffffffffff;
const ONE: i64 = 0x3ff0000000000000;

/** Weights of all nodes, up to a factor: those below 1e-9 of the largest are zero. Returns how many tiles are left. */
export function weighNodes(context: usize): i32 {
  const p = changetype<Placing>(context);
  const r = p.rank;
  let largest = f64x2.splat(-Infinity);
  for (let t = 0; t < p.numTiles; t++) {
    // Two halves of a tile, one after the other: each keeps its numbers in registers.
    for (let half: usize = 0; half < QUAD; half += 16) {
      const x = nodePair(p, t, half);
      largest = f64x2.pmax(largest, x);
    }
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
      // V⁻¹e times the weights, for the means of the coefficients.
      for (let a = 0; a < r; a++) {
        const s = p.solved + <usize>(t * r + a) * QUAD;
        v128.store(s, f64x2.mul(v128.load(s), x));
        v128.store(s, f64x2.mul(v128.load(s, 16), y), 16);
      }
    }
  }
  f64.store(p.totals, lanes(kept), 16);
  return count;
}

/**
 * For two nodes: V = RΣR' + σ²I = CC', e = h − Rm; stores V⁻¹e, and the density π|V|^−½ exp(−½ e'V⁻¹e) as a number
 * between 1 and 2 (scales) times exp(x); returns x.
 */
@inline
function nodePair(p: Placing, t: i32, half: usize): v128 {
  const d = p.numBasis;
  const r = p.rank;
  const n = p.numPacked;
  const S = p.covariances + <usize>(t * n) * QUAD + half;
  const m = p.means + <usize>(t * d) * QUAD + half;
  const sigma2 = both(p.noise);
  const sigma = f64x2.sqrt(sigma2);
  let product = f64x2.splat(1);
  let quadratic = f64x2.splat(0);
  let spread = p.spread;
  let row = p.factor;
  for (let a = 0; a < r; a++) {
    let residual = both(p.heights + (<usize>a << 3));
    const R = p.roots + (<usize>(a * d) << 3);
    for (let k = 0; k < d; k++) {
      residual = f64x2.sub(residual, f64x2.mul(both(R + (<usize>k << 3)), v128.load(m + <usize>k * QUAD)));
    }
    let other = p.factor;
    for (let b = 0; b <= a; b++) {
      let s = a == b ? sigma2 : f64x2.splat(0);
      let s2 = f64x2.splat(0);
      let cov = S;
      const end = S + <usize>(n & ~1) * QUAD;
      while (cov < end) {
        s = f64x2.add(s, f64x2.mul(both(spread), v128.load(cov)));
        s2 = f64x2.add(s2, f64x2.mul(both(spread + 8), v128.load(cov + QUAD)));
        spread += 16;
        cov += 2 * QUAD;
      }
      if (n & 1) {
        s = f64x2.add(s, f64x2.mul(both(spread), v128.load(cov)));
        spread += 8;
      }
      s = f64x2.add(s, s2);
      for (let c: usize = 0; c < <usize>b; c++) {
        s = f64x2.sub(s, f64x2.mul(v128.load(row + (c << 4)), v128.load(other + (c << 4))));
      }
      if (b < a) {
        s = f64x2.mul(s, v128.load(other + (<usize>b << 4)));
        v128.store(row + (<usize>b << 4), s);
        residual = f64x2.sub(residual, f64x2.mul(s, v128.load(p.residuals + (<usize>b << 4))));
      } else {
        // V ≥ σ²I, so pivots are at least σ² but for rounding.
        const inverse = f64x2.div(f64x2.splat(1), f64x2.sqrt(f64x2.max(s, sigma2)));
        product = f64x2.mul(product, f64x2.mul(sigma, inverse));
        v128.store(row + (<usize>a << 4), inverse);
        residual = f64x2.mul(residual, inverse);
        v128.store(p.residuals + (<usize>a << 4), residual);
        quadratic = f64x2.add(quadratic, f64x2.mul(residual, residual));
      }
      other += <usize>(b + 1) << 4;
    }
    row += <usize>(a + 1) << 4;
  }
  // e ← C⁻ᵀ(C⁻¹e), from the last row upwards.
  const out = p.solved + <usize>(t * r) * QUAD + half;
  for (let a = r - 1; a >= 0; a--) {
    row -= <usize>(a + 1) << 4;
    const x = f64x2.mul(v128.load(p.residuals + (<usize>a << 4)), v128.load(row + (<usize>a << 4)));
    v128.store(out + <usize>a * QUAD, x);
    for (let b: usize = 0; b < <usize>a; b++) {
      const e = p.residuals + (b << 4);
      v128.store(e, f64x2.sub(v128.load(e), f64x2.mul(v128.load(row + (b << 4)), x)));
    }
  }
  const o = <usize>t * QUAD + half;
  const exponent = f64x2.sub(v128.or(i64x2.shr_u(product, 52), i64x2.splat(MAGIC)), f64x2.splat(MAGIC_BIAS));
  v128.store(p.scales + o, v128.or(v128.and(product, i64x2.splat(MANTISSA)), i64x2.splat(ONE)));
  let x = f64x2.sub(v128.load(p.logPrior + o), f64x2.mul(f64x2.splat(0.5), quadratic));
  x = f64x2.add(x, f64x2.mul(exponent, f64x2.splat(LN2)));
  v128.store(p.weights + o, x);
  return x;
}

/** Σ_g w_g column_g, and Σ_g w_g (V⁻¹e)_ga Σ_g for each a, over the `count` tiles that are left. */
export function sumNodes(context: usize, count: i32): void {
  const p = changetype<Placing>(context);
  const r = p.rank;
  addDots(p.weights, 1, p.columns, p.numColumns, p.active, count, p.sums);
  for (let a = 0; a < r; a++) {
    const out = p.sums + (<usize>(p.numColumns + a * p.numPacked) << 3);
    addDots(p.solved + <usize>a * QUAD, r, p.covariances, p.numPacked, p.active, count, out);
  }
}

/** out[c] = Σ over active tiles ⟨W[tile·stride], T[tile][c]⟩, three columns at a time. */
function addDots(W: usize, stride: i32, T: usize, columns: i32, active: usize, count: i32, out: usize): void {
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
