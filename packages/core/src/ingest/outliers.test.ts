import { describe, expect, it } from "vitest";
import { makeCohort, onlyMarker } from "../cohort/cohort.ts";
import type { Transform } from "../cohort/marker.ts";
import { createRandom } from "../numeric/random.ts";
import { simulateCohort } from "../simulate/cohorts.ts";
import { findOutliers } from "./outliers.ts";
import { readCohort } from "./read-cohort.ts";

/** Courses of the given lengths with noise of one tenth of their spread. */
function seriesOf(lengths: readonly number[], value: (level: number, noise: number, t: number) => number) {
  const random = createRandom(3);
  const rows = { ids: [] as string[], times: [] as number[], values: [] as number[] };
  lengths.forEach((n, i) => {
    const level = random.normal();
    for (let t = 0; t < n; t++) {
      rows.ids.push(`p${String(i).padStart(3, "0")}`);
      rows.times.push(t);
      rows.values.push(value(level, 0.1 * random.normal(), t));
    }
  });
  return (transform: Transform) => onlyMarker(makeCohort(rows, { transform }));
}

describe("findOutliers", () => {
  const lengths = Array.from({ length: 80 }, (_, i) => 1 + (i % 6));
  const positive = seriesOf(lengths, (level, noise) => Math.exp(1 + level + noise));

  it("finds a slip of a digit in any place of a series of three or more, on either scale, and nothing else", () => {
    for (const transform of ["log", "identity"] as const) {
      const series = positive(transform);
      expect(findOutliers(series)).toEqual([]);
      const { offsets, values } = series;
      for (let i = 2; i < 40; i++) {
        const k = offsets[i] + (i % (offsets[i + 1] - offsets[i]));
        for (const factor of transform === "log" ? [10, 0.1] : [10]) {
          const slipped = { ...series, values: values.map((v, j) => (j === k ? factor * v : v)) };
          const found = findOutliers(slipped);
          const alone = offsets[i + 1] - offsets[i] < 3;
          if (transform === "log" && !alone) expect(found).toEqual([k]);
          else for (const j of found) expect(j).toBe(k);
        }
      }
    }
  });

  it("takes neither steep courses nor few values for slips", () => {
    const steep = seriesOf(Array<number>(40).fill(6), (level, noise, t) => Math.exp(level + noise + (t > 2 ? 4 : 0)));
    expect(findOutliers(steep("log"))).toEqual([]);
    const few = seriesOf([5, 5], (level, noise) => level + noise);
    expect(findOutliers(few("identity"))).toEqual([]);
  });

  it("finds most of one percent of values times ten in a simulated cohort", () => {
    const series = onlyMarker(simulateCohort("pfvc", { seed: 1 }).cohort);
    expect(findOutliers(series)).toEqual([]);
    const slips = createRandom(7).permutation(series.values.length).slice(0, 100).sort();
    const values = series.values.slice();
    for (const k of slips) values[k] *= 10;
    const found = findOutliers({ ...series, values });
    expect(found.filter((k) => slips.includes(k)).length).toBeGreaterThan(95);
    expect(found.filter((k) => !slips.includes(k))).toEqual([]);
  });

  it("is told when a table is read, with the lines", () => {
    const rows = Array.from(
      { length: 90 },
      (_, k) => `p${Math.floor(k / 3)},${k % 3},${k === 40 ? 820 : 80 + (k % 7)}`,
    );
    const { warnings } = readCohort(["id,time,value", ...rows].join("\n"));
    expect(warnings).toMatchObject([
      { code: "outlier", count: 1, where: { line: 42 }, received: "1 far away, the first 820 (line 42)" },
    ]);
  });
});
