/**
 * exp(x) for x ≤ 0, for the millions of weights of an expectation step. With n = round(32 x / log 2) and
 * r = x − n log 2 / 32, |r| ≤ 0.011:  exp(x) = 2^(n/32) · (1 + r + … + r⁶/720), relative error below 1e-15.
 * The powers come from a table, so that results do not depend on the engine's own exp.
 */

/** Below this exponent a weight counts as zero: exp(−44) = 8e-20 is lost in any sum that holds a one. */
export const NEGLIGIBLE_EXPONENT = -44;

const PER_OCTAVE = 32;
const INVERSE_STEP = PER_OCTAVE / Math.LN2;
// log 2 / 32 as a short number (its multiples by n are exact) and a rest; 2.3e-17 is what Math.LN2 lacks of log 2.
const STEP_HIGH = Math.fround(Math.LN2 / PER_OCTAVE);
const STEP_LOW = (Math.LN2 - PER_OCTAVE * STEP_HIGH + 2.3190468138462996e-17) / PER_OCTAVE;
const TABLE_LAST = Math.ceil(-NEGLIGIBLE_EXPONENT * INVERSE_STEP) + 1;
const POWERS = Float64Array.from({ length: TABLE_LAST + 1 }, (_, n) => 2 ** ((n - TABLE_LAST) / PER_OCTAVE));

/**
 * Replaces x[start..end) by exp(x − shift), where shift is at least their maximum, and returns the sum.
 * Entries more than 44 below the shift become 0.
 */
export function expShiftedInPlace(x: Float64Array, start: number, end: number, shift: number): number {
  const powers = POWERS;
  let sum = 0;
  for (let k = start; k < end; k++) {
    const v = x[k] - shift;
    let e = 0;
    // Written so that NaN takes this branch and passes on.
    if (!(v < NEGLIGIBLE_EXPONENT)) {
      const n = (v * INVERSE_STEP - 0.5) | 0;
      const r = v - n * STEP_HIGH - n * STEP_LOW;
      const r2 = r * r;
      e =
        powers[TABLE_LAST + n] * (1 + r + r2 * (1 / 2 + r * (1 / 6) + r2 * (1 / 24 + r * (1 / 120) + r2 * (1 / 720))));
    }
    x[k] = e;
    sum += e;
  }
  return sum;
}
