/** Counts behind the charts of the quality page: observations in spans of time, words for them, the axis of values. */

import { applyTransform, type Transform } from "@trajectory-maps/core/ingest";
import { niceStep } from "@trajectory-maps/report";
import { makeScale, type Scale } from "./scale.ts";

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

/** Least px between two labels of an axis that is no equal scale. */
const LABEL_ROOM = 44;
/** Round shares for an axis of odds. */
const ODDS = [0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999];

/**
 * The axis of values in px: equal distances are equal on the scale of the model, labels are of the marker's own. An axis
 * whose ends the transform does not take is plain, as the bins then are.
 */
export function valueScale(
  [low, high]: readonly [number, number],
  from: number,
  to: number,
  transform: Transform = "identity",
): Scale {
  const at = (v: number) => applyTransform(transform, v);
  const plain = makeScale(low, high, from, to, { numTicks: 7, log: transform === "log" });
  const isPlain = transform === "identity" || transform === "log" || !(at(high) > at(low));
  if (isPlain || !Number.isFinite(at(high) - at(low))) return plain;
  const place = (v: number) => from + ((at(v) - at(low)) / (at(high) - at(low))) * (to - from);
  const decades = makeScale(Math.max(low, high / 1e4), high, from, to, { log: true, numTicks: 30 }).ticks;
  const round = transform === "logit" ? ODDS : [0, ...decades];
  // The roundest first: a label that comes too near to one that stands gives way.
  const ticks: number[] = [];
  for (const tick of [...round, ...plain.ticks].filter((v) => v >= low && v <= high && Number.isFinite(at(v)))) {
    if (ticks.every((other) => Math.abs(place(other) - place(tick)) >= LABEL_ROOM)) ticks.push(tick);
  }
  ticks.sort((a, b) => a - b);
  const label = (tick: number) => String(tick).replace("-", "−");
  return Object.assign(place, { low, high, ticks, decimals: plain.decimals, label, factor: "" });
}

/** Without rounding dust. */
function tidy(value: number): number {
  return Number(value.toPrecision(10)) + 0;
}
