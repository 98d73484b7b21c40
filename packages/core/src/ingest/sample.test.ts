import { describe, expect, it } from "vitest";
import { type MarkerSeries, onlyMarker } from "../cohort/cohort.ts";
import { DEFAULT_MARKER } from "../cohort/marker.ts";
import { simulateCohort } from "../simulate/cohorts.ts";
import { findOutliers } from "./outliers.ts";
import { sampleOf } from "./sample.ts";

describe("sampleOf", () => {
  it("takes whole individuals, evenly spread, so that no visit of a schedule is preferred", () => {
    const [m, n] = [65_536, 8];
    const series: MarkerSeries = {
      marker: DEFAULT_MARKER,
      offsets: Int32Array.from({ length: m + 1 }, (_, i) => n * i),
      times: Float64Array.from({ length: m * n }, (_, k) => k % n),
      values: Float64Array.from({ length: m * n }, (_, k) => k),
    };
    const { offsets, times, values } = sampleOf(series);
    expect(offsets.length - 1).toBe(m / 8);
    expect(values.length).toBe(65_536);
    expect(times.every((time, k) => time === k % n)).toBe(true);
    expect(Array.from(offsets.subarray(0, 3), (from) => values[from])).toEqual([0, 8 * n, 16 * n]);
    expect(values.at(-1)).toBe((m - 8) * n + n - 1);
  });

  it("takes all of a smaller table, and of few individuals however often they were seen", () => {
    const { cohort } = simulateCohort("pfvc", { seed: 1 });
    expect(sampleOf(onlyMarker(cohort))).toBe(onlyMarker(cohort));
    const few = { ...onlyMarker(cohort), offsets: Int32Array.of(0, 200_000), times: new Float64Array(200_000) };
    expect(sampleOf(few)).toBe(few);
  });

  it("finds the slips in a large table that all of it would find", () => {
    const series = onlyMarker(simulateCohort("pfvc", { seed: 1, numIndividuals: 40_000 }).cohort);
    const values = series.values.slice();
    for (let k = 0; k < values.length; k += 997) values[k] *= 10;
    const slipped = { ...series, values };
    expect(sampleOf(slipped).values.length).toBeLessThan(values.length);
    expect(findOutliers(slipped)).toEqual(findOutliers(slipped, slipped));
  });
});
