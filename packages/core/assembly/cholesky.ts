/**
 * Cholesky factorisation, solution and inverse of symmetric positive definite matrices, A = U'U, upper triangle,
 * row-major with an even row length; below the diagonal nothing is read. All three products are the same step: two rows
 * less (or plus) four others,
 *   y_0 −= Σ_b c_b0 x_b,   y_1 −= Σ_b c_b1 x_b,   b = 0..3,
 * which loads each x once for both rows.
 */
import { Positive } from "./contexts";
import { both, lanes } from "./exp";

@inline
function row(A: usize, i: i32, ld: i32): usize {
  return A + (<usize>(i * ld) << 3);
}

/** y_r[from..to) −= Σ_b c_br x_b[from..to), r = 0, 1; c at coefficient addresses c, c + 8 in rows of x; byte offsets. */
@inline
function subtractFour(y0: usize, y1: usize, x: usize, step: usize, c: usize, from: usize, to: usize): void {
  const p0 = both(c);
  const q0 = both(c + 8);
  const p1 = both(c + step);
  const q1 = both(c + step + 8);
  const p2 = both(c + 2 * step);
  const q2 = both(c + 2 * step + 8);
  const p3 = both(c + 3 * step);
  const q3 = both(c + 3 * step + 8);
  const xb = x + step;
  const xc = xb + step;
  const xd = xc + step;
  for (let o = from; o < to; o += 16) {
    const a = v128.load(x + o);
    const b = v128.load(xb + o);
    let s = f64x2.add(f64x2.mul(p0, a), f64x2.mul(p1, b));
    let t = f64x2.add(f64x2.mul(q0, a), f64x2.mul(q1, b));
    const e = v128.load(xc + o);
    const f = v128.load(xd + o);
    s = f64x2.add(s, f64x2.add(f64x2.mul(p2, e), f64x2.mul(p3, f)));
    t = f64x2.add(t, f64x2.add(f64x2.mul(q2, e), f64x2.mul(q3, f)));
    v128.store(y0 + o, f64x2.sub(v128.load(y0 + o), s));
    v128.store(y1 + o, f64x2.sub(v128.load(y1 + o), t));
  }
}

/** y[from..to) −= c x[from..to), byte offsets. */
@inline
function subtractOne(y: usize, x: usize, c: f64, from: usize, to: usize): void {
  const p = f64x2.splat(c);
  for (let o = from; o < to; o += 16) v128.store(y + o, f64x2.sub(v128.load(y + o), f64x2.mul(p, v128.load(x + o))));
}

@inline
function scale(y: usize, c: f64, from: usize, to: usize): void {
  const p = f64x2.splat(c);
  for (let o = from; o < to; o += 16) v128.store(y + o, f64x2.mul(v128.load(y + o), p));
}

/** Byte offset of the even column at or before i. */
@inline
function even(i: i32): usize {
  return <usize>(i & ~1) << 3;
}

/** Overwrites the upper triangle of `matrix` with U; 0 if A is not positive definite. What is left of it is scratch. */
export function factorPositive(context: usize): i32 {
  const positive = changetype<Positive>(context);
  const A = positive.matrix;
  const n = positive.order;
  const ld = positive.stride;
  const step = <usize>ld << 3;
  for (let k = 0; k < n; k += 4) {
    const size = min(4, n - k);
    // The four pivot rows among themselves.
    for (let a = 0; a < size; a++) {
      const i = k + a;
      const r = row(A, i, ld);
      for (let b = 0; b < a; b++) {
        const other = row(A, k + b, ld);
        subtractOne(r, other, f64.load(other + (<usize>i << 3)), even(i), step);
      }
      const pivot = f64.load(r + (<usize>i << 3));
      if (!(pivot > 0)) return 0;
      scale(r, 1 / sqrt<f64>(pivot), even(i), step);
    }
    if (size < 4) break;
    // The rows below them, two at a time; a last single row takes its scratch neighbour along.
    const x = row(A, k, ld);
    for (let i = k + 4; i < n; i += 2) {
      const y = row(A, i, ld);
      subtractFour(y, y + step, x, step, x + (<usize>i << 3), even(i), step);
    }
  }
  return 1;
}

/** Solves U'U x = b in place, b = `vector`; rows by twos, odd entries at either end by themselves. */
export function solvePositive(context: usize): void {
  const positive = changetype<Positive>(context);
  const U = positive.matrix;
  const b = positive.vector;
  const n = positive.order;
  const ld = positive.stride;
  const to = <usize>n << 3;
  for (let i = 0; i < n; i++) {
    const r = row(U, i, ld);
    const o = <usize>i << 3;
    const y = f64.load(b + o) / f64.load(r + o);
    f64.store(b + o, y);
    let j = o + 8;
    if (j < to && (i & 1) == 0) {
      f64.store(b + j, f64.load(b + j) - y * f64.load(r + j));
      j += 8;
    }
    const y2 = f64x2.splat(y);
    for (; j + 16 <= to; j += 16) v128.store(b + j, f64x2.sub(v128.load(b + j), f64x2.mul(y2, v128.load(r + j))));
    if (j < to) f64.store(b + j, f64.load(b + j) - y * f64.load(r + j));
  }
  for (let i = n - 1; i >= 0; i--) {
    const r = row(U, i, ld);
    const o = <usize>i << 3;
    let s = f64.load(b + o);
    let j = o + 8;
    let even = f64x2.splat(0);
    let odd = f64x2.splat(0);
    for (; j + 32 <= to; j += 32) {
      even = f64x2.add(even, f64x2.mul(v128.load(b + j), v128.load(r + j)));
      odd = f64x2.add(odd, f64x2.mul(v128.load(b + j, 16), v128.load(r + j, 16)));
    }
    for (; j < to; j += 8) s -= f64.load(b + j) * f64.load(r + j);
    f64.store(b + o, (s - lanes(f64x2.add(even, odd))) / f64.load(r + o));
  }
}

/** `inverse` = (U'U)⁻¹ from U: X = U⁻ᵀ (lower triangular, rows by recurrence, in `scratch`), then X'X. */
export function invertPositive(context: usize): void {
  const positive = changetype<Positive>(context);
  const U = positive.matrix;
  const X = positive.scratch;
  const S = positive.inverse;
  const n = positive.order;
  const ld = positive.stride;
  const step = <usize>ld << 3;
  memory.fill(X, 0, <usize>(n + 1) * step);
  memory.fill(S, 0, <usize>(n + 1) * step);
  for (let i = 0; i < n; i += 2) {
    const paired = i + 1 < n;
    const y0 = row(X, i, ld);
    const y1 = y0 + step;
    let k = 0;
    for (; k + 4 <= i; k += 4) {
      subtractFour(y0, y1, row(X, k, ld), step, row(U, k, ld) + (<usize>i << 3), 0, <usize>(k + 4) << 3);
    }
    for (; k < i; k++) {
      const c = row(U, k, ld) + (<usize>i << 3);
      const to = <usize>(k + 2) << 3;
      subtractOne(y0, row(X, k, ld), f64.load(c), 0, to);
      if (paired) subtractOne(y1, row(X, k, ld), f64.load(c, 8), 0, to);
    }
    const o = <usize>i << 3;
    const d0 = 1 / f64.load(row(U, i, ld) + o);
    scale(y0, d0, 0, o);
    f64.store(y0 + o, d0);
    if (!paired) break;
    subtractOne(y1, y0, f64.load(row(U, i, ld) + o + 8), 0, o + 8);
    const d1 = 1 / f64.load(row(U, i + 1, ld) + o + 8);
    scale(y1, d1, 0, o + 8);
    f64.store(y1 + o + 8, d1);
  }
  // The same step gives −X'X; the sign is turned when the lower half is copied to the upper one.
  for (let i = 0; i < n; i += 2) {
    const y0 = row(S, i, ld);
    const to = <usize>(i + 2) << 3;
    let k = i;
    for (; k + 4 <= n; k += 4) {
      subtractFour(y0, y0 + step, row(X, k, ld), step, row(X, k, ld) + (<usize>i << 3), 0, to);
    }
    for (; k < n; k++) {
      const x = row(X, k, ld);
      subtractOne(y0, x, f64.load(x + (<usize>i << 3)), 0, to);
      subtractOne(y0 + step, x, f64.load(x + (<usize>i << 3), 8), 0, to);
    }
  }
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      const v = -f64.load(row(S, i, ld) + (<usize>j << 3));
      f64.store(row(S, i, ld) + (<usize>j << 3), v);
      f64.store(row(S, j, ld) + (<usize>i << 3), v);
    }
  }
}
