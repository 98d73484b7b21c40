/**
 * Moments of a Gaussian bump over any list of places, two at a time, one exponential each
 * (models/paper/local/general-nodes.ts). Coordinates are two rows [2][size]; `size` is even, padded weights are zero.
 */
import { exp2x, lanes } from "./exp";

/** Exponents below this count as none: e^−700 is as good as zero. */
const LOWEST: f64 = -700;

/** M = Σ w exp(−½u'Ru) u^i v^j at 5i + j, i + j ≤ order; orders 3 and 4 in a second pass (few sums at a time). */
export function placeMoments(
  w: usize, places: usize, size: i32, m0: f64, m1: f64, r: f64, s: f64, t: f64, order: i32, scratch: usize, M: usize,
): void {
  const end = <usize>size << 3;
  const second = places + end;
  const mean0 = f64x2.splat(m0);
  const mean1 = f64x2.splat(m1);
  const cuu = f64x2.splat(-0.5 * r);
  const cuv = f64x2.splat(-s);
  const cvv = f64x2.splat(-0.5 * t);
  const lowest = f64x2.splat(LOWEST);
  const zero = f64x2.splat(0);
  let x00 = zero;
  let x10 = zero;
  let x01 = zero;
  let x20 = zero;
  let x11 = zero;
  let x02 = zero;
  for (let o: usize = 0; o < end; o += 16) {
    const u = f64x2.sub(mean0, v128.load(places + o));
    const v = f64x2.sub(mean1, v128.load(second + o));
    const exponent = f64x2.add(
      f64x2.mul(u, f64x2.add(f64x2.mul(cuu, u), f64x2.mul(cuv, v))),
      f64x2.mul(cvv, f64x2.mul(v, v)),
    );
    const e = f64x2.mul(v128.load(w + o), exp2x(f64x2.pmax(lowest, exponent)));
    v128.store(scratch + o, e);
    const eu = f64x2.mul(e, u);
    const ev = f64x2.mul(e, v);
    x00 = f64x2.add(x00, e);
    x10 = f64x2.add(x10, eu);
    x01 = f64x2.add(x01, ev);
    x20 = f64x2.add(x20, f64x2.mul(eu, u));
    x11 = f64x2.add(x11, f64x2.mul(eu, v));
    x02 = f64x2.add(x02, f64x2.mul(ev, v));
  }
  f64.store(M, lanes(x00));
  f64.store(M, lanes(x10), 40);
  f64.store(M, lanes(x01), 8);
  f64.store(M, lanes(x20), 80);
  f64.store(M, lanes(x11), 48);
  f64.store(M, lanes(x02), 16);
  if (order < 4) return;
  let x30 = zero;
  let x21 = zero;
  let x12 = zero;
  let x03 = zero;
  let x40 = zero;
  let x31 = zero;
  let x22 = zero;
  let x13 = zero;
  let x04 = zero;
  for (let o: usize = 0; o < end; o += 16) {
    const u = f64x2.sub(mean0, v128.load(places + o));
    const v = f64x2.sub(mean1, v128.load(second + o));
    const e = v128.load(scratch + o);
    const v2 = f64x2.mul(v, v);
    const e20 = f64x2.mul(e, f64x2.mul(u, u));
    const e02 = f64x2.mul(e, v2);
    const e30 = f64x2.mul(e20, u);
    const e03 = f64x2.mul(e02, v);
    x30 = f64x2.add(x30, e30);
    x21 = f64x2.add(x21, f64x2.mul(e20, v));
    x12 = f64x2.add(x12, f64x2.mul(e02, u));
    x03 = f64x2.add(x03, e03);
    x40 = f64x2.add(x40, f64x2.mul(e30, u));
    x31 = f64x2.add(x31, f64x2.mul(e30, v));
    x22 = f64x2.add(x22, f64x2.mul(e20, v2));
    x13 = f64x2.add(x13, f64x2.mul(e03, u));
    x04 = f64x2.add(x04, f64x2.mul(e03, v));
  }
  f64.store(M, lanes(x30), 120);
  f64.store(M, lanes(x21), 88);
  f64.store(M, lanes(x12), 56);
  f64.store(M, lanes(x03), 24);
  f64.store(M, lanes(x40), 160);
  f64.store(M, lanes(x31), 128);
  f64.store(M, lanes(x22), 96);
  f64.store(M, lanes(x13), 64);
  f64.store(M, lanes(x04), 32);
}

/** out = scale · exp(−½u'Ru). */
export function placeValues(
  places: usize, size: i32, m0: f64, m1: f64, r: f64, s: f64, t: f64, scale: f64, out: usize,
): void {
  const end = <usize>size << 3;
  for (let o: usize = 0; o < end; o += 16) {
    const u = f64x2.sub(f64x2.splat(m0), v128.load(places + o));
    const v = f64x2.sub(f64x2.splat(m1), v128.load(places + end + o));
    const exponent = f64x2.add(
      f64x2.mul(u, f64x2.add(f64x2.mul(f64x2.splat(-0.5 * r), u), f64x2.mul(f64x2.splat(-s), v))),
      f64x2.mul(f64x2.splat(-0.5 * t), f64x2.mul(v, v)),
    );
    v128.store(out + o, f64x2.mul(f64x2.splat(scale), exp2x(f64x2.pmax(f64x2.splat(LOWEST), exponent))));
  }
}
