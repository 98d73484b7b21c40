/**
 * eˣ for two numbers at once: x = k ln 2 + r, |r| ≤ ½ ln 2, eˣ = 2ᵏ (1 + r + r² q(r)) with q of degree 8, interpolated
 * at Chebyshev points. Relative error below 2e-15 for −708 < x < 709; outside the result is meaningless, NaN stays NaN.
 */

const LOG2E: f64 = 1.4426950408889634;
// ln 2 in two parts: k·LN2_HIGH is exact.
const LN2_HIGH: f64 = 0.6931471803691238;
const LN2_LOW: f64 = 1.9082149292705877e-10;
// Adding 1.5·2⁵² + 1023 leaves k + 1023 in the low bits, from where it is shifted into the exponent.
const EXPONENT: f64 = 6755399441055744.0 + 1023.0;

@inline
export function exp2x(x: v128): v128 {
  const k = f64x2.nearest(f64x2.mul(x, f64x2.splat(LOG2E)));
  const high = f64x2.sub(x, f64x2.mul(k, f64x2.splat(LN2_HIGH)));
  const r = f64x2.sub(high, f64x2.mul(k, f64x2.splat(LN2_LOW)));
  const r2 = f64x2.mul(r, r);
  const r4 = f64x2.mul(r2, r2);
  const low = line(r, 0.5, 0.1666666666664823);
  const second = line(r, 0.04166666666665131, 0.00833333335377842);
  const third = line(r, 0.0013888888905922382, 0.00019841208634639135);
  const fourth = line(r, 2.480153630713628e-5, 2.7625169883520667e-6);
  const top = f64x2.splat(2.7613852100963253e-7);
  const near = f64x2.add(low, f64x2.mul(r2, second));
  const far = f64x2.add(f64x2.add(third, f64x2.mul(r2, fourth)), f64x2.mul(r4, top));
  const q = f64x2.add(near, f64x2.mul(r4, far));
  const e = f64x2.add(f64x2.splat(1), f64x2.add(r, f64x2.mul(r2, q)));
  return f64x2.mul(e, i64x2.shl(f64x2.add(k, f64x2.splat(EXPONENT)), 52));
}

/** a + b r. */
@inline
function line(r: v128, a: f64, b: f64): v128 {
  return f64x2.add(f64x2.splat(a), f64x2.mul(r, f64x2.splat(b)));
}

/** Sum of both lanes. */
@inline
export function lanes(v: v128): f64 {
  return f64x2.extract_lane(v, 0) + f64x2.extract_lane(v, 1);
}

/** The number at an address in both lanes. */
@inline
export function both(address: usize): v128 {
  return v128.load_splat<f64>(address);
}
