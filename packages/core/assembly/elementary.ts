/**
 * log, log(1 + x) and eˣ of one number, as fdlibm computes them (and with it V8, so that Node and Chromium give the same bits in
 * TypeScript); errors are below one unit in the last place. For a log and its argument x = 2ᵏ(1 + f),
 *   s = f/(2 + f),   log(1 + f) = f − s(f − R) = f − (f²/2 − s(f²/2 + R)),   R a polynomial in s²;
 * for eˣ, x = k ln 2 + r and eʳ = 1 + r + rc/(2 − c), c = r − r²P(r²).
 *
 * From fdlibm: Copyright (C) 1993, 2004 by Sun Microsystems, Inc. All rights reserved. Developed at SunSoft, a Sun Microsystems,
 * Inc. business. Permission to use, copy, modify, and distribute this software is freely granted, provided that this notice is
 * preserved.
 */

const LN2_HIGH: f64 = 6.93147180369123816490e-1;
const LN2_LOW: f64 = 1.90821492927058770002e-10;
const L1: f64 = 6.666666666666735130e-1;
const L2: f64 = 3.999999999940941908e-1;
const L3: f64 = 2.857142874366239149e-1;
const L4: f64 = 2.222219843214978396e-1;
const L5: f64 = 1.818357216161805012e-1;
const L6: f64 = 1.531383769920937332e-1;
const L7: f64 = 1.479819860511658591e-1;

@inline
function highWord(x: f64): i32 {
  return <i32>(reinterpret<i64>(x) >> 32);
}

/** The number with another high word. */
@inline
function withHigh(x: f64, high: i32): f64 {
  return reinterpret<f64>((<i64>high << 32) | (reinterpret<i64>(x) & 0xffffffff));
}

/** log x for x > 0, normal or not; what is not above zero is the caller's. */
export function log(x: f64): f64 {
  let k = 0;
  let high = highWord(x);
  if (high < 0x00100000) {
    k -= 54;
    x *= 18014398509481984.0;
    high = highWord(x);
  }
  if (high >= 0x7ff00000) return x;
  k += (high >> 20) - 1023;
  high &= 0x000fffff;
  const up = (high + 0x95f64) & 0x100000;
  const f = withHigh(x, high | (up ^ 0x3ff00000)) - 1;
  k += up >> 20;
  const dk = <f64>k;
  if ((0x000fffff & (2 + high)) < 3) {
    if (f == 0) return k == 0 ? 0 : dk * LN2_HIGH + dk * LN2_LOW;
    const R = f * f * (0.5 - 0.33333333333333333 * f);
    return k == 0 ? f - R : dk * LN2_HIGH - (R - dk * LN2_LOW - f);
  }
  const s = f / (2 + f);
  const z = s * s;
  const w = z * z;
  const even = w * (L2 + w * (L4 + w * L6));
  const odd = z * (L1 + w * (L3 + w * (L5 + w * L7)));
  const R = odd + even;
  if (((high - 0x6147a) | (0x6b851 - high)) > 0) {
    const half = 0.5 * f * f;
    if (k == 0) return f - (half - s * (half + R));
    return dk * LN2_HIGH - (half - (s * (half + R) + dk * LN2_LOW) - f);
  }
  if (k == 0) return f - s * (f - R);
  return dk * LN2_HIGH - (s * (f - R) - dk * LN2_LOW - f);
}

/** log(1 + x) for x > −1; what is not is the caller's. */
export function log1p(x: f64): f64 {
  const high = highWord(x);
  const size = high & 0x7fffffff;
  let k = 1;
  let f = x;
  let hu = 1;
  let c: f64 = 0;
  if (high < 0x3fda827a) {
    if (size < 0x3e200000) return size < 0x3c900000 ? x : x - x * x * 0.5;
    if (high > 0 || high <= <i32>0xbfd2bec4) k = 0;
  }
  if (high >= 0x7ff00000) return x;
  if (k != 0) {
    let u = x;
    if (high < 0x43400000) {
      u = 1 + x;
      hu = highWord(u);
      k = (hu >> 20) - 1023;
      c = (k > 0 ? 1 - (u - x) : x - (u - 1)) / u;
    } else {
      hu = highWord(u);
      k = (hu >> 20) - 1023;
    }
    hu &= 0x000fffff;
    if (hu < 0x6a09e) {
      u = withHigh(u, hu | 0x3ff00000);
    } else {
      k += 1;
      u = withHigh(u, hu | 0x3fe00000);
      hu = (0x00100000 - hu) >> 2;
    }
    f = u - 1;
  }
  const half = 0.5 * f * f;
  const dk = <f64>k;
  if (hu == 0) {
    if (f == 0) return k == 0 ? 0 : dk * LN2_HIGH + (c + dk * LN2_LOW);
    const R = half * (1 - 0.66666666666666666 * f);
    return k == 0 ? f - R : dk * LN2_HIGH - (R - (dk * LN2_LOW + c) - f);
  }
  const s = f / (2 + f);
  const z = s * s;
  const R = z * (L1 + z * (L2 + z * (L3 + z * (L4 + z * (L5 + z * (L6 + z * L7))))));
  if (k == 0) return f - (half - s * (half + R));
  return dk * LN2_HIGH - (half - (s * (half + R) + (dk * LN2_LOW + c)) - f);
}

/** eˣ for x ≤ 0. */
export function expOfNegative(x: f64): f64 {
  if (!(x >= -745.13321910194110842)) return x < 0 ? 0 : x;
  const size = highWord(x) & 0x7fffffff;
  let high = x;
  let low: f64 = 0;
  let k = 0;
  if (size > 0x3fd62e42) {
    k = size < 0x3ff0a2b2 ? -1 : <i32>(1.44269504088896338700 * x - 0.5);
    high = x - <f64>k * LN2_HIGH;
    low = <f64>k * LN2_LOW;
  } else if (size < 0x3e300000) {
    return 1 + x;
  }
  const r = high - low;
  const t = r * r;
  const c =
    r -
    t *
      (1.66666666666666019037e-1 +
        t *
          (-2.77777777770155933842e-3 +
            t * (6.61375632143793436117e-5 + t * (-1.65339022054652515390e-6 + t * 4.13813679705723846039e-8))));
  if (k == 0) return 1 - ((r * c) / (c - 2) - r);
  const y = 1 - (low - (r * c) / (2 - c) - high);
  if (k >= -1021) return y * reinterpret<f64>(<i64>(0x3ff + k) << 52);
  return y * reinterpret<f64>(<i64>(0x3ff + k + 1000) << 52) * 9.33263618503218878990e-302;
}
