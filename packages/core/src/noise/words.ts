/** Noise in words, and what to warn of in it. */
import { HIGHEST_LOG_SPREAD, LOWEST_LOG_SPREAD, type Noise } from "./noise.ts";
import type { SerialCorrelation } from "./serial.ts";

/** The noise in a few words, its numbers as `format` writes them. */
export function describeNoise(noise: Noise, format: (value: number) => string, timeUnit = ""): string {
  const { variance, spread, correlation, limits } = noise;
  const levels = spread === undefined ? "" : ` in the middle, ${describeSpread(spread, format)}`;
  const serial = correlation === undefined ? "" : `, ${describeCorrelation(correlation, format, timeUnit)}`;
  const censored = limits === undefined ? "" : ", values below or above a limit of detection taken as censored";
  return `noise variance ${format(variance)}${levels}${serial}${censored}`;
}

/** sd varies by e^{±ω/2}. */
function describeSpread(spread: number, format: (value: number) => string): string {
  return `individuals' noise sd varying by a factor of ${format(Math.exp(0.5 * spread))} up or down (68%)`;
}

/** (1 − κ) exp(−gap/ρ) at no gap, and the gap that halves it. */
function describeCorrelation(
  { range, whiteShare }: SerialCorrelation,
  format: (value: number) => string,
  timeUnit: string,
): string {
  const half = `${format(Math.LN2 * range)}${timeUnit === "" ? "" : ` ${timeUnit}`}`;
  return `noise of two visits close together correlating by ${format(1 - whiteShare)}, and half as much ${half} apart`;
}

/** Ends of the range of ω count as reached this close, on the log scale. */
const AT_END = 0.01;

/** What a learned spread gives to warn of. */
export function spreadWarnings({ spread }: Noise): string[] {
  if (spread === undefined) return [];
  if (Math.log(spread) > HIGHEST_LOG_SPREAD - AT_END) {
    return [
      `The spread of individual noise levels reached its upper limit (${spread.toPrecision(2)}): some values are probably wrong. Look for values far from the others of an individual.`,
    ];
  }
  if (Math.log(spread) < LOWEST_LOG_SPREAD + AT_END) {
    return [
      `The spread of individual noise levels fell to its lower limit (${spread.toPrecision(2)}): individuals do not differ in their noise, and white noise would do.`,
    ];
  }
  return [];
}
