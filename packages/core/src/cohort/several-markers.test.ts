import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { makeCohort, numIndividuals, numObservations, onlyMarker, selectIndividuals, selectVisits } from "./cohort.ts";
import { combineMarkers, markerCohort, numMeasured } from "./several-markers.ts";
import { countVisitClasses } from "./visit-classes.ts";

const bili = makeCohort({ ids: ["a", "a", "c"], times: [0, 1, 0], values: [1, 2, 3] }, { name: "bili" });
const albumin = makeCohort({ ids: ["b", "c", "c"], times: [5, 6, 7], values: [4, 5, 6] }, { name: "albumin" });

describe("combineMarkers", () => {
  it("joins cohorts over the union of ids, with empty ranges for those who lack a marker", () => {
    const both = combineMarkers([bili, albumin]);
    expect(both.ids).toEqual(["a", "b", "c"]);
    expect(both.markers.map(({ marker }) => marker.name)).toEqual(["bili", "albumin"]);
    expect(both.markers.map(({ offsets }) => [...offsets])).toEqual([
      [0, 2, 2, 3],
      [0, 0, 1, 3],
    ]);
    expect(both.markers[0].values).toBe(bili.markers[0].values);
    expect([numIndividuals(both), numObservations(both)]).toEqual([3, 6]);
    expect(numMeasured(both)).toEqual([2, 2]);
  });

  it("is one cohort itself, whatever its individuals, and keeps every observation with its individual", () => {
    expect(combineMarkers([bili])).toEqual(bili);
    const rows = fc.array(fc.tuple(fc.constantFrom("a", "b", "B", "é", "10", "9"), fc.nat(9)), { minLength: 1 });
    fc.assert(
      fc.property(rows, rows, (first, second) => {
        const [one, two] = [first, second].map((list, k) =>
          makeCohort(
            { ids: list.map(([id]) => id), times: list.map(([, t]) => t), values: list.map(([, t]) => t) },
            { name: `${k}` },
          ),
        );
        const both = combineMarkers([one, two]);
        for (const [k, own] of [one, two].entries()) {
          const seen = selectVisits(markerCohort(both, k), (n) => n);
          expect(seen).toEqual(own);
        }
      }),
    );
  });

  it("refuses two markers of one name and times in different units", () => {
    expect(() => combineMarkers([bili, bili])).toThrow(/received "bili" twice/);
    const years = makeCohort({ ids: ["a"], times: [0], values: [1] }, { name: "x", timeUnit: "years" });
    expect(() => combineMarkers([bili, years])).toThrow(/received "years" of x/);
    expect(() => combineMarkers([])).toThrow(/received none/);
  });
});

describe("markerCohort", () => {
  const both = combineMarkers([bili, albumin]);

  it("keeps all individuals of the cohort", () => {
    const second = markerCohort(both, 1);
    expect(second.ids).toBe(both.ids);
    expect(onlyMarker(second).marker.name).toBe("albumin");
    expect(() => markerCohort(both, 2)).toThrow(/from 0 to 1, received 2/);
  });

  it("selects individuals without the marker as such, and counts no visits of theirs", () => {
    const two = selectIndividuals(markerCohort(both, 1), [0, 2]);
    expect([...onlyMarker(two).offsets]).toEqual([0, 0, 2]);
    expect(countVisitClasses([0, 2])).toEqual([0, 1, 0, 0, 0, 0]);
  });
});
