/**
 * From visits to statistics (host: wasm/statistics.ts; definition: basis/statistics.ts, basis/bspline.ts, noise/serial.ts), one
 * individual after the other, in the order of operations of the definition. With b(t) the k + 1 splines that are not zero at t,
 *   G_i = Σ b b',   c_i = Σ b (y − center),   s_i = Σ (y − center)²,
 * or, where visits correlate, R = (1 − κ) exp(−gap/ρ) + κI and rows z = (b, y − center),
 *   m = 0, P = 1 − κ;   φ = exp(−Δt/ρ),  m ← φm,  P ← φ²P + (1 − κ)(1 − φ²);
 *   F = P + κ,   e = z − m,   S += e'e/F,   log|R| += log F,   K = P/F,   m ← m + Ke,   P ← P(1 − K),
 * with G, c and s the parts of S, in pairs k ≤ l.
 */
import { Visits } from "./contexts";
import { expOfNegative, log, log1p } from "./elementary";

@inline
function at(base: usize, index: i32): f64 {
  return load<f64>(base + (<usize>index << 3));
}

@inline
function put(base: usize, index: i32, value: f64): void {
  store<f64>(base + (<usize>index << 3), value);
}

/** Values of the first `count` visits ← their transform; NaN outside its domain. 0 identity, 1 log, 2 log1p, 3 sqrt, 4 logit. */
export function transformVisits(context: usize, count: i32): void {
  const p = changetype<Visits>(context);
  for (let j = 0; j < count; j++) put(p.values, j, transformed(p.transform, at(p.values, j)));
}

function transformed(kind: i32, y: f64): f64 {
  if (kind == 1) return y > 0 ? log(y) : NaN;
  if (kind == 2) return y > -1 ? log1p(y) : NaN;
  if (kind == 3) return y >= 0 ? Math.sqrt(y) : NaN;
  if (kind == 4) return y > 0 && y < 1 ? log(y) - log1p(-y) : NaN;
  return y;
}

/** Writes the splines that are not zero at t to `active` and returns the first of them. */
function activeAt(p: Visits, time: f64): i32 {
  const k = p.degree;
  const d = p.numBasis;
  const knots = p.knots;
  const out = p.active;
  const t = Math.min(Math.max(time, at(knots, k)), at(knots, d));
  let s = k;
  while (s < d && !(t < at(knots, s + 1))) s++;
  if (s == d) {
    s = d - 1;
    while (s > k && at(knots, s) == at(knots, s + 1)) s--;
  }
  put(out, 0, 1);
  for (let r = 1; r <= k; r++) {
    let carry: f64 = 0;
    for (let j = 0; j < r; j++) {
      const right = at(knots, s + 1 + j);
      const left = at(knots, s + 1 + j - r);
      const width = right - left;
      const share = width > 0 ? at(out, j) / width : 0;
      put(out, j, carry + (right - t) * share);
      carry = (t - left) * share;
    }
    put(out, r, carry);
  }
  return s - k;
}

/** First band entry of row k, for rows of `degree` + 1 pairs that end at the last column. */
@inline
function bandStart(d: i32, degree: i32, k: i32): i32 {
  const short = max(k - (d - degree), 0);
  return k * (degree + 1) - (short * (short + 1)) / 2;
}

/** Statistics of the first `count` individuals, independent noise. */
export function sumVisits(context: usize, count: i32): void {
  const p = changetype<Visits>(context);
  const d = p.numBasis;
  const k = p.degree;
  const center = at(p.center, 0);
  for (let i = 0; i < count; i++) {
    const gram = p.gram + (<usize>(i * p.numBand) << 3);
    const cross = p.cross + (<usize>(i * d) << 3);
    memory.fill(gram, 0, <usize>p.numBand << 3);
    memory.fill(cross, 0, <usize>d << 3);
    let squares: f64 = 0;
    const end = load<i32>(p.offsets + (<usize>(i + 1) << 2));
    for (let j = load<i32>(p.offsets + (<usize>i << 2)); j < end; j++) {
      const first = activeAt(p, at(p.times, j));
      const r = at(p.values, j) - center;
      for (let a = 0; a <= k; a++) {
        const b = at(p.active, a);
        put(cross, first + a, at(cross, first + a) + b * r);
        const row = bandStart(d, k, first + a) - a;
        for (let c = a; c <= k; c++) put(gram, row + c, at(gram, row + c) + b * at(p.active, c));
      }
      squares += r * r;
    }
    put(p.squares, i, squares);
    put(p.logDets, i, 0);
  }
}

/** Statistics of the first `count` individuals whose visits, in order of time, correlate by ρ and κ of `correlation`. */
export function whitenVisits(context: usize, count: i32): void {
  const p = changetype<Visits>(context);
  const d = p.numBasis;
  const center = at(p.center, 0);
  const rho = at(p.correlation, 0);
  const kappa = at(p.correlation, 1);
  const e = p.row;
  const m = p.state;
  for (let i = 0; i < count; i++) {
    const gram = p.gram + (<usize>(i * p.numBand) << 3);
    const cross = p.cross + (<usize>(i * d) << 3);
    memory.fill(gram, 0, <usize>p.numBand << 3);
    memory.fill(cross, 0, <usize>d << 3);
    memory.fill(m, 0, <usize>(d + 1) << 3);
    let squares: f64 = 0;
    let logDet: f64 = 0;
    let P = 1 - kappa;
    const start = load<i32>(p.offsets + (<usize>i << 2));
    const end = load<i32>(p.offsets + (<usize>(i + 1) << 2));
    for (let j = start; j < end; j++) {
      if (j > start) {
        const phi = expOfNegative(-(at(p.times, j) - at(p.times, j - 1)) / rho);
        for (let a = 0; a <= d; a++) put(m, a, at(m, a) * phi);
        P = phi * phi * P + (1 - kappa) * (1 - phi * phi);
      }
      const F = P + kappa;
      const K = P / F;
      memory.fill(e, 0, <usize>d << 3);
      const first = activeAt(p, at(p.times, j));
      for (let a = 0; a <= p.degree; a++) put(e, first + a, at(p.active, a));
      put(e, d, at(p.values, j) - center);
      for (let a = 0; a <= d; a++) {
        const open = at(e, a) - at(m, a);
        put(e, a, open);
        put(m, a, at(m, a) + K * open);
      }
      P *= 1 - K;
      for (let a = 0, entry = 0; a < d; a++) {
        for (let b = a; b < d; b++, entry++) put(gram, entry, at(gram, entry) + (at(e, a) * at(e, b)) / F);
        put(cross, a, at(cross, a) + (at(e, a) * at(e, d)) / F);
      }
      squares += (at(e, d) * at(e, d)) / F;
      logDet += log(F);
    }
    put(p.squares, i, squares);
    put(p.logDets, i, logDet);
  }
}
