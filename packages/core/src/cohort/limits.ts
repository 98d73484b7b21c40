/** Values that are only known to lie below or above a limit: which limits a marker has, and how they are written. */
import type { Cohort, MarkerSeries } from "./cohort.ts";

/** Below (−1) or above (1) which number, and how often. */
export interface CensoringLimit {
  readonly side: -1 | 1;
  readonly limit: number;
  readonly count: number;
}

/** The limits of a series, those below first, ascending; none where all values are exact. */
export function censoringLimits({ values, censored }: Pick<MarkerSeries, "values" | "censored">): CensoringLimit[] {
  const sides = ([-1, 1] as const).map((side) => {
    const counts = new Map<number, number>();
    censored?.forEach((own, j) => {
      if (own === side) counts.set(values[j], (counts.get(values[j]) ?? 0) + 1);
    });
    return [...counts].sort(([a], [b]) => a - b).map(([limit, count]) => ({ side, limit, count }));
  });
  return sides.flat();
}

/** A value as it is written: "< 0.3", "> 50" or the number alone, which `show` writes. */
export function writeCensored(side: number, value: number, show: (value: number) => string = String): string {
  return side === 0 ? show(value) : `${side < 0 ? "<" : ">"} ${show(value)}`;
}

/** Such as "< 0.3 (30), > 50 (2)". */
export function limitWords(limits: readonly CensoringLimit[], show?: (value: number) => string): string {
  return limits.map(({ side, limit, count }) => `${writeCensored(side, limit, show)} (${count})`).join(", ");
}

/** The cohort as if what is given as below or above a limit had been measured at the limit. */
export function atLimits(cohort: Cohort): Cohort {
  return { ...cohort, markers: cohort.markers.map(({ censored: _, ...series }) => series) };
}

/** The cohort without what is given as below or above a limit; the same individuals. */
export function measuredOnly(cohort: Cohort): Cohort {
  const markers = cohort.markers.map(({ marker, offsets, times, values, censored }): MarkerSeries => {
    const isMeasured = (_: number, j: number) => (censored?.[j] ?? 0) === 0;
    const before = new Int32Array(values.length + 1);
    values.forEach((v, j) => {
      before[j + 1] = before[j] + (isMeasured(v, j) ? 1 : 0);
    });
    const ends = offsets.map((end) => before[end]);
    return { marker, offsets: ends, times: times.filter(isMeasured), values: values.filter(isMeasured) };
  });
  return { ...cohort, markers };
}
