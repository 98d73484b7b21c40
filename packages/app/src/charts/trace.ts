/** The bound over passes as a chart shows it: segments, the range of its height, gains per pass. */
import type { TrajectoryModel } from "@trajectory-maps/core";

/** Bounds of one stage of a fit; `first` is the pass of the first value. */
export interface TraceSegment {
  readonly first: number;
  readonly values: readonly number[];
}

/** Passes at the end that are always inside the height of the chart. */
const ALWAYS_SHOWN = 20;
/** Share of passes, from the end, that fills the height. */
const FILLING = 0.9;

/** Bounds of the passes: that of the last step of the published model, which places everybody, is of no pass. */
export function boundsOfPasses({ kind, record }: TrajectoryModel): readonly number[] {
  return kind === "dtm-paper" ? record.trace.slice(0, -1) : record.trace;
}

/** Stages one after the other; the last one ends with pass `iteration`: bounds before the first pass are of no pass. */
export function segmentsOf(
  earlier: readonly (readonly number[])[],
  values: readonly number[],
  iteration: number,
): TraceSegment[] {
  const segments: TraceSegment[] = [];
  let first = 1;
  for (const past of earlier) {
    if (past.length === 0) continue;
    segments.push({ first, values: past });
    first += past.length;
  }
  const kept = Math.max(1, Math.min(values.length, iteration - first + 1));
  if (values.length > 0) segments.push({ first: Math.max(first, iteration - kept + 1), values: values.slice(-kept) });
  return segments;
}

/** Lowest and highest bound of the passes that fill the height: the last 90%, and never fewer than the last 20. */
export function shownRange(segments: readonly TraceSegment[]): readonly [number, number] {
  const all = segments.flatMap((segment) => segment.values);
  const hidden = Math.max(0, Math.min(Math.floor((1 - FILLING) * all.length + 1e-9), all.length - ALWAYS_SHOWN));
  const shown = all.slice(hidden);
  const [low, high] = [Math.min(...shown), Math.max(...shown)];
  if (!Number.isFinite(low)) return [0, 1];
  const room = 0.06 * (high - low) || 1;
  return [low - room, high + room];
}

/** Gain of each pass over the one before, within stages; only gains above 0 have a place on a log scale. */
export function gainsOf(segments: readonly TraceSegment[]): { readonly pass: number; readonly gain: number }[] {
  return segments.flatMap(({ first, values }) =>
    values.slice(1).flatMap((value, k) => {
      const gain = value - values[k];
      return gain > 0 ? [{ pass: first + k + 1, gain }] : [];
    }),
  );
}

/** Mean gain of the last passes, at most five of them; null without two. */
export function recentGain(values: readonly number[]): number | null {
  const n = Math.min(5, values.length - 1);
  return n < 1 ? null : (values[values.length - 1] - values[values.length - 1 - n]) / n;
}
