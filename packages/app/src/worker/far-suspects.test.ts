import { makeCohort } from "@trajectory-maps/core";
import { expect, it } from "vitest";
import { markFar } from "./far-suspects.ts";

it("tells which of the values that look wrong the table is told to have far from the others", () => {
  // Forty steady courses; the last has a slip at time 3.
  const places = Array.from({ length: 240 }, (_, k) => [Math.floor(k / 6), k % 6]);
  const cohort = makeCohort(
    {
      ids: places.map(([i]) => `P${i}`),
      times: places.map(([, j]) => j),
      values: places.map(([i, j], k) => 70 + (i % 9) + Math.sin(7 * k) + (i === 39 && j === 3 ? 600 : 0)),
    },
    { name: "FVC", unit: "", timeUnit: "years", transform: "identity" },
  );
  const [{ offsets, values }] = cohort.markers;
  const suspectAt = (id: string, time: number) => ({
    ...{ id, marker: "FVC", time, value: values[offsets[cohort.ids.indexOf(id)] + time] },
    ...{ expected: 73, probability: 0.9 },
  });
  const found = [suspectAt("P39", 3), suspectAt("P39", 4), suspectAt("P3", 3)];
  expect(markFar(cohort, found).map(({ isFar }) => isFar)).toEqual([true, false, false]);
});
