/** Scales, ticks and paths of the small charts. A scale maps data to px; ticks are round numbers inside it. */
import { fixed, niceStep, powerFor, powerText, textWidth, ticksOf } from "@trajectory-maps/report";

export interface Scale {
  (value: number): number;
  readonly low: number;
  readonly high: number;
  readonly ticks: readonly number[];
  /** Decimals that tell the ticks apart when they are written in full. */
  readonly decimals: number;
  /** A tick as it is written: decimals that tell ticks apart, the common power of ten left out. */
  readonly label: (tick: number) => string;
  /** The power of ten that labels leave out, to be said beside the axis: "× 10¹²"; empty if none. */
  readonly factor: string;
}

/** A scale that can be read backwards. */
export interface TwoWayScale extends Scale {
  /** The value at a px. */
  readonly invert: (px: number) => number;
}

export interface ScaleOptions {
  /** Ticks wished for. Default 5. */
  readonly numTicks?: number;
  /** Equal distances are equal ratios. Only for positive data. Default false. */
  readonly log?: boolean;
}

/** Maps [low, high] onto [from, to] in px. */
export function makeScale(
  low: number,
  high: number,
  from: number,
  to: number,
  options: ScaleOptions = {},
): TwoWayScale {
  const { numTicks = 5, log = false } = options;
  const [a, b] = high > low ? [low, high] : [low - 1, low + 1];
  const useLog = log && a > 0;
  const warp = useLog ? Math.log : (v: number) => v;
  const place = (v: number) => from + ((warp(v) - warp(a)) / (warp(b) - warp(a))) * (to - from);
  const unwarp = useLog ? Math.exp : (v: number) => v;
  const invert = (p: number) => unwarp(warp(a) + ((p - from) / (to - from)) * (warp(b) - warp(a)));
  const step = niceStep(b - a, numTicks);
  const ticks = useLog ? logTicks(a, b, numTicks) : ticksOf(a, b, step);
  const decimals = decimalsOf(useLog ? Math.min(...ticks, 1) : step);
  if (useLog) return Object.assign(place, { invert, low: a, high: b, ticks, decimals, label: logLabel, factor: "" });
  const power = powerFor(Math.max(Math.abs(a), Math.abs(b)), AXIS_SIZES);
  const written = decimalsOf(step / 10 ** power);
  const label = (tick: number) => fixed(tick / 10 ** power, written);
  const factor = power === 0 ? "" : `× ${powerText(power)}`;
  return Object.assign(place, { invert, low: a, high: b, ticks, decimals, label, factor });
}

/** The value at a px, with the decimals that tell it from the value at the next px. */
export function numberAt({ invert }: Pick<TwoWayScale, "invert">, px: number): number {
  const value = invert(px);
  return Number(value.toFixed(Math.min(20, decimalsOf(Math.abs(invert(px + 1) - value)))));
}

const decimalsOf = (step: number) => Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));

/** Sizes whose ticks are written out beside an axis. */
const AXIS_SIZES = [1e-2, 1e5] as const;

/** A tick of a log scale stands alone: 0.5, 20, 10⁶, 2·10⁶. */
function logLabel(tick: number): string {
  if (tick >= AXIS_SIZES[0] && tick < AXIS_SIZES[1]) return fixed(tick, decimalsOf(tick));
  const power = Math.floor(Math.log10(tick) + 1e-9);
  const digit = Math.round(tick / 10 ** power);
  return `${digit === 1 ? "" : `${digit}·`}${powerText(power)}`;
}

/** px that the labels of a scale's ticks need at the left of a chart; at least `least`. */
export function labelRoom({ ticks, label }: Scale, size: number, least: number): number {
  return Math.max(least, ...ticks.map((tick) => Math.ceil(textWidth(label(tick), size)) + 7));
}

function logTicks(low: number, high: number, count: number): number[] {
  const all: number[] = [];
  for (let power = Math.floor(Math.log10(low)); 10 ** power <= high; power++) {
    for (const f of [1, 2, 5]) {
      const tick = Number((f * 10 ** power).toPrecision(12));
      if (tick >= low * 0.9999 && tick <= high * 1.0001) all.push(tick);
    }
  }
  // A span of little more than a factor of two holds too few of these.
  if (all.length < 2) return ticksOf(low, high, niceStep(high - low, count));
  const tens = all.filter((t) => Number.isInteger(Math.round(1e6 * Math.log10(t)) / 1e6));
  if (all.length <= count + 2 || tens.length < 2) return all;
  // Over many powers of ten every second or third has room.
  const every = tens.length > count + 2 ? Math.ceil(tens.length / (count + 1)) : 1;
  return tens.filter((_, k) => k % every === 0);
}

/** Lowest and highest of the finite numbers, with a margin as a share of the span; on a log scale of the ratio. */
export function extentOf(series: Iterable<ArrayLike<number>>, margin = 0, log = false): readonly [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const values of series) {
    for (let k = 0; k < values.length; k++) {
      const v = values[k];
      if (!Number.isFinite(v)) continue;
      low = Math.min(low, v);
      high = Math.max(high, v);
    }
  }
  if (low > high) return [0, 1];
  if (log && low > 0) {
    const factor = (high / low) ** margin;
    return [low / factor, high * factor];
  }
  const room = margin * (high - low || Math.abs(high) || 1);
  return [low - room, high + room];
}

const px = (v: number) => v.toFixed(1);

/** A label under an axis along the bottom. */
export interface AxisLabel {
  readonly tick: number;
  readonly words: string;
  readonly x: number;
  readonly anchor: "middle" | "end";
}

export interface AxisLabelOptions {
  /** Where the drawing ends, px. */
  readonly right: number;
  /** Before the last tick ("year "), after it (" y"). */
  readonly before?: string;
  readonly after?: string;
  /** Of the letters, px. Default 11. */
  readonly size?: number;
}

/** px between two labels, and that the last one may stand to the right of its tick. */
const LABEL_GAP = 6;
const LAST_BEYOND = 8;

/** Labels of an axis that do not meet each other: the last names the unit and ends within the drawing, others give way. */
export function axisLabels(x: Scale, options: AxisLabelOptions): AxisLabel[] {
  const { right, before = "", after = "", size = 11 } = options;
  const { ticks } = x;
  const last = ticks.length - 1;
  if (last < 0) return [];
  const half = ticks.map((tick) => textWidth(x.label(tick), size) / 2);
  const words = `${before}${x.label(ticks[last])}${after}`;
  const isMiddle = words === x.label(ticks[last]) && x(ticks[last]) + half[last] <= right;
  const at = isMiddle ? x(ticks[last]) : Math.min(x(ticks[last]) + LAST_BEYOND, right);
  const starts = isMiddle ? at - half[last] : at - textWidth(words, size);
  /** Every so many ticks: from the last one back, so that those that stay are as far from each other. */
  const every = [1, 2, 5, 10, 20].find((step) => {
    const kept = ticks.map((_, k) => k).filter((k) => (last - k) % step === 0 && k < last);
    return kept.every((k, j) => {
      const next = kept[j + 1];
      return next === undefined || x(ticks[k]) + half[k] + LABEL_GAP <= x(ticks[next]) - half[next];
    });
  });
  const step = every ?? ticks.length;
  return ticks.flatMap((tick, k): AxisLabel[] => {
    if (k === last) return [{ tick, words, x: at, anchor: isMiddle ? "middle" : "end" }];
    const isClear = (last - k) % step === 0 && x(tick) + half[k] + LABEL_GAP <= starts;
    return isClear ? [{ tick, words: x.label(tick), x: x(tick), anchor: "middle" }] : [];
  });
}

/** SVG path through the points; gaps (NaN) break it. */
export function linePath(x: Scale, y: Scale, times: ArrayLike<number>, values: ArrayLike<number>): string {
  let path = "";
  let pen = "M";
  for (let k = 0; k < times.length; k++) {
    if (!Number.isFinite(values[k])) {
      pen = "M";
      continue;
    }
    path += `${pen}${px(x(times[k]))} ${px(y(values[k]))}`;
    pen = "L";
  }
  return path;
}

/** Closed SVG path between two series. */
export function bandPath(
  x: Scale,
  y: Scale,
  times: ArrayLike<number>,
  lower: ArrayLike<number>,
  upper: ArrayLike<number>,
): string {
  if (times.length === 0) return "";
  let path = linePath(x, y, times, upper);
  for (let k = times.length - 1; k >= 0; k--) path += `L${px(x(times[k]))} ${px(y(lower[k]))}`;
  return `${path}Z`;
}

/** Values of a series before a time, and at it. */
export function valuesUpTo(times: ArrayLike<number>, values: ArrayLike<number>, until: number): number[] {
  const before = Array.from(times).filter((time) => time < until - 1e-9);
  return [...Array.from(before, (_, k) => values[k]), valueAtTime(times, values, until)];
}

/** A series at a time between its first and last, by straight lines; held constant outside. */
export function valueAtTime(times: ArrayLike<number>, values: ArrayLike<number>, t: number): number {
  const n = times.length;
  if (t <= times[0]) return values[0];
  if (t >= times[n - 1]) return values[n - 1];
  let k = 0;
  while (times[k + 1] < t) k++;
  const share = (t - times[k]) / (times[k + 1] - times[k]);
  return values[k] + share * (values[k + 1] - values[k]);
}

/** A series up to a time and from it on; both parts hold the point at the time itself. */
export function splitSeries(times: ArrayLike<number>, values: ArrayLike<number>, t: number) {
  const known = { times: [] as number[], values: [] as number[] };
  const later = { times: [] as number[], values: [] as number[] };
  for (let k = 0; k < times.length; k++) {
    const part = times[k] <= t ? known : later;
    part.times.push(times[k]);
    part.values.push(values[k]);
  }
  if (known.times.length > 0 && later.times.length > 0) {
    const at = valueAtTime(times, values, t);
    known.times.push(t);
    known.values.push(at);
    later.times.unshift(t);
    later.values.unshift(at);
  }
  return { known, later };
}

/** A series up to a time, ending exactly there. */
export function cutSeries(times: ArrayLike<number>, values: ArrayLike<number>, t: number) {
  return t >= times[times.length - 1]
    ? { times: Array.from(times), values: Array.from(values) }
    : splitSeries(times, values, t).known;
}

/** About a dozen positions of a series, the first among them, for a table of its numbers. */
export function tableSteps({ length }: ArrayLike<number>): number[] {
  const step = Math.max(1, Math.round((length - 1) / 10));
  return Array.from({ length }, (_, k) => k).filter((k) => k % step === 0);
}
