import { describe, expect, it } from "vitest";
import { type Cohort, makeCohort, numObservations, onlyMarker } from "../cohort/cohort.ts";
import { combineMarkers } from "../cohort/several-markers.ts";
import { createRandom } from "../numeric/random.ts";
import { simulateCohort } from "../simulate/cohorts.ts";
import { suspectValues } from "./suspect-values.ts";

/** A cohort with one value in a hundred multiplied by ten, and which these are. */
function plant(cohort: Cohort, seed: number) {
  const { offsets, times, values, marker } = onlyMarker(cohort);
  const wrong = createRandom(seed)
    .permutation(times.length)
    .slice(0, Math.round(times.length / 100))
    .sort();
  const ids = cohort.ids.flatMap((id, i) => new Array<string>(offsets[i + 1] - offsets[i]).fill(id));
  const changed = values.map((value, j) => (wrong.includes(j) ? 10 * value : value));
  return {
    planted: makeCohort({ ids, times, values: changed }, { name: marker.name, timeUnit: marker.timeUnit }),
    keys: Array.from(wrong, (j) => `${ids[j]} ${times[j]}`),
    right: Array.from(wrong, (j) => values[j]),
  };
}

describe("suspectValues", () => {
  const { cohort } = simulateCohort("pfvc", { numIndividuals: 300, seed: 2 });

  it("tells planted errors of a digit and hardly anything else, with what was to be expected", () => {
    const { planted, keys, right } = plant(cohort, 3);
    const found = suspectValues(planted);
    const told = found.map(({ id, time }) => `${id} ${time}`);
    expect(told.filter((key) => keys.includes(key))).toHaveLength(keys.length);
    expect(told.length - keys.length).toBeLessThanOrEqual(1);
    for (const { id, time, value, expected, probability } of found) {
      const at = keys.indexOf(`${id} ${time}`);
      if (at < 0) continue;
      expect(probability).toBeGreaterThan(0.99);
      expect(value).toBeCloseTo(10 * right[at], 9);
      // Single visits are expected at the mean course, whose sd is about 20.
      expect(Math.abs(expected - right[at])).toBeLessThan(60);
    }
  });

  it("leaves a cohort as it is nearly without suspects, and says nothing where no model can be fitted", () => {
    expect(suspectValues(cohort).length).toBeLessThanOrEqual(1);
    expect(suspectValues(makeCohort({ ids: ["a", "b"], times: [0, 1], values: [1, 2] }))).toEqual([]);
  });

  it("judges every marker by itself", () => {
    const { planted, keys } = plant(cohort, 4);
    const other = { ...onlyMarker(cohort), marker: { ...onlyMarker(cohort).marker, name: "other" } };
    const both = combineMarkers([{ ids: cohort.ids, markers: [other] }, planted]);
    const found = suspectValues(both);
    expect(found.filter(({ marker }) => marker === "PFVC")).toEqual(suspectValues(planted));
    expect(found.filter(({ marker }) => marker === "other")).toEqual(
      suspectValues(cohort).map((s) => ({ ...s, marker: "other" })),
    );
    expect(keys.length).toBeGreaterThan(10);
    expect(numObservations(both)).toBe(2 * numObservations(cohort));
  });

  it("refuses shares that are none", () => {
    expect(() => suspectValues(cohort, { epsilon: 0 })).toThrow(/epsilon between 0 and 0.5/);
    expect(() => suspectValues(cohort, { least: 0 })).toThrow(/least above 0/);
  });
});
