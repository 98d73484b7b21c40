/** Counts behind the charts of the quality page: observations in spans of time, and words for them. */
import { niceStep } from "./scale.ts";

export interface Bin {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

const MOST_BINS = 40;

/** Observations in equal spans of time: half years if time is in years and follow-up is not too long. */
export function timeBins(times: ArrayLike<number>, timeUnit: string): Bin[] {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (let k = 0; k < times.length; k++) {
    low = Math.min(low, times[k]);
    high = Math.max(high, times[k]);
  }
  if (!(high >= low)) return [];
  const span = high - low;
  const half = timeUnit === "years" && span <= MOST_BINS / 2 && span >= 2;
  const step = half ? 0.5 : niceStep(span, 20);
  const first = Math.floor(low / step + 1e-9);
  // An observation at the very end of the last span belongs to it, not to one of its own.
  const last = Math.max(first + 1, Math.ceil(high / step - 1e-9));
  const counts = new Array<number>(last - first).fill(0);
  for (let k = 0; k < times.length; k++) {
    const bin = Math.min(last - first - 1, Math.max(0, Math.floor(times[k] / step + 1e-9) - first));
    counts[bin]++;
  }
  return counts.map((count, k) => ({ from: tidy((first + k) * step), to: tidy((first + k + 1) * step), count }));
}

/** "by half year, 0 to 10". */
export function binWords(bins: readonly Bin[], timeUnit: string): string {
  if (bins.length === 0) return "";
  const [first, last] = [bins[0], bins[bins.length - 1]];
  const step = tidy(first.to - first.from);
  const one: { readonly [unit: string]: string } = { years: "year", months: "month", weeks: "week", days: "day" };
  const unit = one[timeUnit] ?? "unit of time";
  const width =
    step === 0.5 && timeUnit === "years" ? "half year" : step === 1 ? unit : `${step} ${timeUnit || "units"}`;
  return `by ${width}, ${first.from} to ${last.to}`;
}

/** Without rounding dust. */
function tidy(value: number): number {
  return Number(value.toPrecision(10)) + 0;
}
