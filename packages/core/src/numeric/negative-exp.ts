/**
 * eˣ for x ≤ 0, for sums of many bumps of which few are far out: with n = round(32 x / log 2) and r = x − n log 2 / 32,
 * |r| ≤ 0.011, eˣ = 2^(n/32) (1 + r + … + r⁶/720), the powers from a table. Relative error below 1e-15. Below −44, where
 * the table ends, `fastExp` takes over.
 */
import { fastExp } from "./exp.ts";

const LOWEST = -44;
const PER_OCTAVE = 32;
const INVERSE_STEP = PER_OCTAVE / Math.LN2;
// log 2 / 32 as a short number (its multiples by n are exact) and a rest; 2.3e-17 is what Math.LN2 lacks of log 2.
const STEP_HIGH = Math.fround(Math.LN2 / PER_OCTAVE);
const STEP_LOW = (Math.LN2 - PER_OCTAVE * STEP_HIGH + 2.3190468138462996e-17) / PER_OCTAVE;
const POWERS = Float64Array.from({ length: Math.ceil(-LOWEST * INVERSE_STEP) + 2 }, (_, n) => 2 ** (-n / PER_OCTAVE));

/** eˣ for x ≤ 0; NaN stays NaN. */
export function negativeExp(x: number): number {
  if (!(x > LOWEST)) return fastExp(x);
  const n = (0.5 - x * INVERSE_STEP) | 0;
  const r = x + n * STEP_HIGH + n * STEP_LOW;
  const r2 = r * r;
  return POWERS[n] * (1 + r + r2 * (0.5 + r * (1 / 6) + r2 * (1 / 24 + r * (1 / 120) + r2 * (1 / 720))));
}
