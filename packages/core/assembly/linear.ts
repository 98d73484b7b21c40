/**
 * Log-likelihood and derivatives of the linear models (models/linear/low-rank.ts, docs/math/linear.md §1), two individuals
 * at a time, one in each lane. The sums over individuals are those of `logLikelihoodScore`; determinants are multiplied up,
 * with their exponents kept apart, so that no logarithm is taken here.
 */
import { MAGIC, MAGIC_BIAS, MANTISSA, ONE } from "./double-bits";
import { both } from "./exp";

/** Sizes, then addresses, as the host writes them: i32 each. */
@unmanaged
class Linear {
  numBasis: i32; // d
  rank: i32; // r
  numPairs: i32;
  numBand: i32;
  bandRow: usize; // i32 [numBand]
  bandColumn: usize; // i32 [numBand]
  rowEnd: usize; // i32 [d]: row k of L is zero from column rowEnd[k] on
  statistics: usize; // band of G, B'y, y'y: [pair][numBand + d + 1][2]
  mean: usize; // β̃ [d]
  factor: usize; // L [d,r]
  noise: usize; // σ² [1]
  scratch: usize; // g [d], T [d,r], C [r,r], z [r], each [2]
  residual: usize; // out: E [d][2]
  spread: usize; // out: Σ ee'/σ² + Y'Y, [d,d][2], lower triangle
  totals: usize; // out: misfit, product of pivots/σ² as a number in [1,2), its exponent, whether all were positive; [4][2]
}


/** Adds up all individuals; the outputs are overwritten. */
export function scoreLinear(context: usize): void {
  const p = changetype<Linear>(context);
  const d = p.numBasis;
  const zero = f64x2.splat(0);
  for (let k = 0; k < d; k++) v128.store(p.residual + (<usize>k << 4), zero);
  for (let k = 0; k < d * d; k++) v128.store(p.spread + (<usize>k << 4), zero);
  v128.store(p.totals, zero);
  v128.store(p.totals, f64x2.splat(1), 16);
  v128.store(p.totals, zero, 32);
  v128.store(p.totals, i64x2.splat(-1), 48);
  const stride = <usize>(p.numBand + d + 1) << 4;
  let S = p.statistics;
  for (let i = 0; i < p.numPairs; i++) {
    factorPair(p, S);
    addScore(p);
    S += stride;
  }
}

/** g, T = GL, C (reciprocals on the diagonal) and z = C⁻¹L'g of two individuals; adds misfit and determinant. */
@inline
function factorPair(p: Linear, S: usize): void {
  const d = p.numBasis;
  const r = p.rank;
  const n = p.numBand;
  const g = p.scratch;
  const T = g + (<usize>d << 4);
  const C = T + (<usize>(d * r) << 4);
  const z = C + (<usize>(r * r) << 4);
  const L = p.factor;
  const cross = S + (<usize>n << 4);
  const width = <usize>r << 4;
  const zero = f64x2.splat(0);
  for (let k = 0; k < d; k++) v128.store(g + (<usize>k << 4), v128.load(cross + (<usize>k << 4)));
  for (let k = 0; k < d * r; k++) v128.store(T + (<usize>k << 4), zero);
  for (let e = 0; e < n; e++) {
    const k = i32.load(p.bandRow + (<usize>e << 2));
    const l = i32.load(p.bandColumn + (<usize>e << 2));
    const G = v128.load(S + (<usize>e << 4));
    addRow(p, G, k, l, g, T, width, L);
    if (k != l) addRow(p, G, l, k, g, T, width, L);
  }
  // ρ = s − β̃'(c + g), since g = c − Gβ̃.
  let rho = v128.load(cross + (<usize>d << 4));
  for (let k = 0; k < d; k++) {
    const o = <usize>k << 4;
    rho = f64x2.sub(rho, f64x2.mul(both(p.mean + (<usize>k << 3)), f64x2.add(v128.load(cross + o), v128.load(g + o))));
  }
  const sigma2 = both(p.noise);
  for (let a = 0; a < r; a++) {
    v128.store(z + (<usize>a << 4), zero);
    const row = C + <usize>a * width;
    for (let c = 0; c < a; c++) v128.store(row + (<usize>c << 4), zero);
    v128.store(row + (<usize>a << 4), sigma2);
  }
  for (let k = 0; k < d; k++) {
    const gk = v128.load(g + (<usize>k << 4));
    const t = T + <usize>k * width;
    const end = i32.load(p.rowEnd + (<usize>k << 2));
    for (let a = 0; a < end; a++) {
      const l = both(L + (<usize>(k * r + a) << 3));
      const b = z + (<usize>a << 4);
      v128.store(b, f64x2.add(v128.load(b), f64x2.mul(l, gk)));
      const row = C + <usize>a * width;
      for (let c: usize = 0; c <= <usize>a << 4; c += 16) {
        v128.store(row + c, f64x2.add(v128.load(row + c), f64x2.mul(l, v128.load(t + c))));
      }
    }
  }
  let misfit = f64x2.pmax(zero, rho);
  let product = v128.load(p.totals, 16);
  let exponent = v128.load(p.totals, 32);
  let positive = v128.load(p.totals, 48);
  for (let a = 0; a < r; a++) {
    const row = C + <usize>a * width;
    let b = v128.load(z + (<usize>a << 4));
    let pivot = v128.load(row + (<usize>a << 4));
    for (let c = 0; c < a; c++) {
      const other = C + <usize>c * width;
      let s = v128.load(row + (<usize>c << 4));
      for (let h: usize = 0; h < <usize>c << 4; h += 16) {
        s = f64x2.sub(s, f64x2.mul(v128.load(row + h), v128.load(other + h)));
      }
      s = f64x2.mul(s, v128.load(other + (<usize>c << 4)));
      v128.store(row + (<usize>c << 4), s);
      pivot = f64x2.sub(pivot, f64x2.mul(s, s));
      b = f64x2.sub(b, f64x2.mul(s, v128.load(z + (<usize>c << 4))));
    }
    // Positive and finite: a trial far off may overflow.
    positive = v128.and(positive, v128.and(f64x2.gt(pivot, zero), f64x2.lt(pivot, f64x2.splat(Infinity))));
    product = f64x2.mul(product, f64x2.div(pivot, sigma2));
    const bits = v128.or(i64x2.shr_u(product, 52), i64x2.splat(MAGIC));
    exponent = f64x2.add(exponent, f64x2.sub(bits, f64x2.splat(MAGIC_BIAS)));
    product = v128.or(v128.and(product, i64x2.splat(MANTISSA)), i64x2.splat(ONE));
    const inverse = f64x2.div(f64x2.splat(1), f64x2.sqrt(pivot));
    b = f64x2.mul(b, inverse);
    v128.store(row + (<usize>a << 4), inverse);
    v128.store(z + (<usize>a << 4), b);
    misfit = f64x2.sub(misfit, f64x2.mul(b, b));
  }
  v128.store(p.totals, f64x2.add(v128.load(p.totals), misfit));
  v128.store(p.totals, product, 16);
  v128.store(p.totals, exponent, 32);
  v128.store(p.totals, positive, 48);
}

/** Entry G of row k and column l: g_k −= Gβ̃_l, T_k += G L_l. */
@inline
function addRow(p: Linear, G: v128, k: i32, l: i32, g: usize, T: usize, width: usize, L: usize): void {
  const at = g + (<usize>k << 4);
  v128.store(at, f64x2.sub(v128.load(at), f64x2.mul(G, both(p.mean + (<usize>l << 3)))));
  const end = <usize>i32.load(p.rowEnd + (<usize>l << 2));
  let t = T + <usize>k * width;
  let from = L + (<usize>(l * p.rank) << 3);
  const stop = from + (end << 3);
  for (; from < stop; from += 8, t += 16) v128.store(t, f64x2.add(v128.load(t), f64x2.mul(G, both(from))));
}

/** Adds e to E and ee'/σ² + Y'Y to the spread for the two individuals factored last; T becomes Y', g becomes e. */
@inline
function addScore(p: Linear): void {
  const d = p.numBasis;
  const r = p.rank;
  const g = p.scratch;
  const T = g + (<usize>d << 4);
  const C = T + (<usize>(d * r) << 4);
  const z = C + (<usize>(r * r) << 4);
  const width = <usize>r << 4;
  const sigma2 = both(p.noise);
  for (let k = 0; k < d; k++) {
    const t = T + <usize>k * width;
    let e = v128.load(g + (<usize>k << 4));
    for (let a = 0; a < r; a++) {
      const row = C + <usize>a * width;
      let s = v128.load(t + (<usize>a << 4));
      for (let c: usize = 0; c < <usize>a << 4; c += 16) {
        s = f64x2.sub(s, f64x2.mul(v128.load(row + c), v128.load(t + c)));
      }
      s = f64x2.mul(s, v128.load(row + (<usize>a << 4)));
      v128.store(t + (<usize>a << 4), s);
      e = f64x2.sub(e, f64x2.mul(s, v128.load(z + (<usize>a << 4))));
    }
    v128.store(g + (<usize>k << 4), e);
    const sum = p.residual + (<usize>k << 4);
    v128.store(sum, f64x2.add(v128.load(sum), e));
    const scaled = f64x2.div(e, sigma2);
    for (let l = 0; l <= k; l++) {
      const other = T + <usize>l * width;
      let s = f64x2.mul(scaled, v128.load(g + (<usize>l << 4)));
      for (let a: usize = 0; a < width; a += 16) s = f64x2.add(s, f64x2.mul(v128.load(t + a), v128.load(other + a)));
      const out = p.spread + (<usize>(k * d + l) << 4);
      v128.store(out, f64x2.add(v128.load(out), s));
    }
  }
}
