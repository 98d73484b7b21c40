/**
 * Some of the observations, from which is taken what is usual (quartiles, medians, gaps): rough numbers are enough, and sorted copies of
 * millions would be felt. Whole individuals are taken, evenly spread, so that no visit of a schedule is preferred.
 */
import type { MarkerSeries } from "../cohort/cohort.ts";

/** About this many observations, of at least this many individuals; smaller tables are taken as they are. */
const OBSERVATIONS = 65_536;
const INDIVIDUALS = 4096;

/** The series of every s-th individual; of all of them, s = 1, where they are few. */
export function sampleOf(series: MarkerSeries): MarkerSeries {
  const { marker, offsets, times, values } = series;
  const m = offsets.length - 1;
  const stride = Math.floor(Math.min(times.length / OBSERVATIONS, m / INDIVIDUALS));
  if (stride < 2) return series;
  const chosen = Int32Array.from({ length: Math.ceil(m / stride) }, (_, k) => k * stride);
  const ends = new Int32Array(chosen.length + 1);
  chosen.forEach((i, k) => {
    ends[k + 1] = ends[k] + offsets[i + 1] - offsets[i];
  });
  const taken = (column: Float64Array): Float64Array => {
    const out = new Float64Array(ends[chosen.length]);
    chosen.forEach((i, k) => {
      out.set(column.subarray(offsets[i], offsets[i + 1]), ends[k]);
    });
    return out;
  };
  return { marker, offsets: ends, times: taken(times), values: taken(values) };
}
