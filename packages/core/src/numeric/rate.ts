/**
 * A share of individuals with an outcome and its 95 % interval (Wilson 1927): the shares π that k cases of n do not reject,
 *   |k/n − π| ≤ z √(π(1 − π)/n).
 */
import { normalQuantile } from "./special.ts";

/** Cases among the individuals whose outcome is known; NaN as a share of nobody. */
export interface Rate {
  readonly cases: number;
  readonly known: number;
  readonly share: number;
  readonly lower: number;
  readonly upper: number;
}

/** The rate of `cases` among `known`. */
export function rate(cases: number, known: number): Rate {
  return { cases, known, share: known === 0 ? Number.NaN : cases / known, ...wilson(cases, known) };
}

/** The rate of labels (1 case, 0 control, anything else unknown) among some individuals. */
export function rateAmong(labels: ArrayLike<number>, members: Iterable<number>): Rate {
  let [cases, known] = [0, 0];
  for (const i of members) {
    if (labels[i] !== 0 && labels[i] !== 1) continue;
    known++;
    cases += labels[i];
  }
  return rate(cases, known);
}

/** Wilson's 95 % interval of a share; 0 to 1 of nobody. */
export function wilson(cases: number, total: number): { readonly lower: number; readonly upper: number } {
  if (total === 0) return { lower: 0, upper: 1 };
  const z = normalQuantile(0.975);
  const p = cases / total;
  const denominator = 1 + (z * z) / total;
  const middle = (p + (z * z) / (2 * total)) / denominator;
  const half = (z / denominator) * Math.sqrt((p * (1 - p)) / total + (z * z) / (4 * total * total));
  // The ends are exact: rounding must not leave a bound beside 0 or 1.
  return { lower: cases === 0 ? 0 : middle - half, upper: cases === total ? 1 : middle + half };
}
