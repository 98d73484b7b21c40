/**
 * Paired differences in signs and words: which of two models an interval speaks for, and numbers with as many digits as their
 * sentence needs. The verdict of a comparison and the light of trust on a map read them alike.   (docs/math/evaluation.md §3)
 */
import { decimals, decimalsApart } from "../numeric/decimals.ts";

export interface Interval {
  readonly lower: number;
  readonly upper: number;
}

/** 1 where the interval says that the model is better, −1 worse, 0 where it holds zero. */
export type Sign = 1 | 0 | -1;

/** Of a score that is larger where the model is better. */
export function likelihoodSign({ lower, upper }: Interval): Sign {
  return lower > 0 ? 1 : upper < 0 ? -1 : 0;
}

/** Of the CRPS of the next visit, smaller being better; the likelihood decides alone where nobody has a second visit. */
export function forecastSign(difference: Interval & { readonly nextCrps?: Interval | null }): Sign {
  const { nextCrps } = difference;
  if (nextCrps === null || nextCrps === undefined) return likelihoodSign(difference);
  return nextCrps.upper < 0 ? 1 : nextCrps.lower > 0 ? -1 : 0;
}

/** Digits behind the point by which no end of an interval seems to touch zero. */
export function digitsFor({ lower, upper }: Interval, least = 2): number {
  return decimalsApart([lower, upper], 0, least);
}

/** `decimals` with a plus before what is no less than zero. */
export function signed(x: number, digits: number): string {
  const text = decimals(x, digits);
  return text.startsWith("\u2212") ? text : `+${text}`;
}

/** "+0.08 (95% CI +0.06 to +0.09)". */
export function gainText({ mean, lower, upper }: Interval & { readonly mean: number }): string {
  const digits = digitsFor({ lower, upper });
  return `${signed(mean, digits)} (95% CI ${signed(lower, digits)} to ${signed(upper, digits)})`;
}
