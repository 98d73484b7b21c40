import type { Placements } from "@trajectory-maps/core";
import type { Outcome } from "@trajectory-maps/core/ingest";
import { describe, expect, it } from "vitest";
import { brushWords, dimensionsOf, filterBy, meanDifference, NO_BRUSHES, spanWords, UNKNOWN } from "./cross-filter.ts";

const m = 400;
const ids = Array.from({ length: m }, (_, i) => `p${i}`);
const placements = {
  ids,
  numObservations: Int32Array.from(ids, (_, i) => 1 + (i % 7)),
  firstTime: new Float64Array(m),
  lastTime: Float64Array.from(ids, (_, i) => (i % 40) / 4),
} as unknown as Placements;
const table = {
  ids: [...ids].reverse(),
  columns: [
    { name: "mrn", cells: ids.map((_, i) => String(9000 + i)) },
    { name: "sex", cells: ids.map((_, i) => (i % 3 === 0 ? "f" : "m")) },
    { name: "age", cells: ids.map((_, i) => (i === 5 ? "" : String(20 + (i % 60)))) },
  ],
};
const outcome = { name: "death", labels: Uint8Array.from(ids, (_, i) => (i === 0 ? 255 : i % 2)) } as Outcome;
const dimensions = dimensionsOf(placements, [outcome], table);
const find = (key: string) => dimensions.find((dimension) => dimension.key === key)!;

describe("a cross-filter", () => {
  it("has histograms of visits, follow-up, columns and outcomes, and of nothing that names people", () => {
    expect(dimensions.map(({ key }) => key)).toEqual([
      "visits",
      "follow-up",
      "column:sex",
      "column:age",
      "outcome:death",
    ]);
    expect(find("visits").bins).toEqual(["1", "2", "3", "4", "5", "6", "7"]);
    // By id, not by row: the table is in another order.
    expect(find("column:sex").bins[find("column:sex").binOf[m - 1]]).toBe("f");
    expect(find("outcome:death").binOf[0]).toBe(UNKNOWN);
    expect(find("column:age").binOf[m - 1 - 5]).toBe(UNKNOWN);
  });

  it("has bins of equal width: the last holds those beyond the 99th percentile and no third of all", () => {
    // From 30 to 74 a step of 2 is nearest to what is wished, and 23 of them do not fit.
    const ages = { ids, columns: [{ name: "age", cells: ids.map((_, i) => String(30 + (i % 45))) }] };
    const { bins, binOf } = dimensionsOf(placements, [], ages).find(({ key }) => key === "column:age")!;
    expect(bins.length).toBeLessThanOrEqual(16);
    const counts = bins.map((_, k) => binOf.reduce((sum, bin) => sum + (bin === k ? 1 : 0), 0));
    expect(Math.max(...counts)).toBeLessThan(1.5 * (m / bins.length));
  });

  it("counts everybody once in every histogram without brushes", () => {
    const { members, counts } = filterBy(dimensions, NO_BRUSHES, m);
    expect(members).toHaveLength(m);
    expect(counts.map((own) => own.reduce((sum, n) => sum + n, 0))).toEqual([m, m, m, m - 1, m - 1]);
  });

  it("keeps those in all brushes, and shows in each histogram those whom the others keep", () => {
    const brushes = new Map([
      ["visits", [2, 4] as const],
      ["column:sex", [0, 0] as const],
    ]);
    const { members, counts } = filterBy(dimensions, brushes, m);
    const isIn = (i: number) => placements.numObservations[i] >= 3 && placements.numObservations[i] <= 5;
    const isF = (i: number) => (m - 1 - i) % 3 === 0;
    const all = [...ids.keys()];
    expect(Array.from(members)).toEqual(all.filter((i) => isIn(i) && isF(i)));
    expect(counts[0].reduce((sum, n) => sum + n, 0)).toBe(all.filter(isF).length);
    expect(Array.from(counts[2])).toEqual([members.length, all.filter((i) => isIn(i) && !isF(i)).length]);
    expect(brushWords(dimensions, brushes)).toBe("Visits 3 – 5, Sex f");
  });

  it("says a span by its outer ends", () => {
    const bins = ["0 to 5", "5 to 10", "10 to 15", "15 or more"];
    expect(spanWords(bins, [0, 3])).toBe("0 – 15 or more");
    expect(spanWords(bins, [1, 2])).toBe("5 – 15");
    expect(spanWords(bins, [1, 1])).toBe("5 to 10");
    expect(spanWords(["f", "m", UNKNOWN], [0, 2])).toBe(`f – ${UNKNOWN}`);
  });

  it("refills the histograms from a selection on the map", () => {
    const { members, counts } = filterBy(dimensions, NO_BRUSHES, m, [1, 2, 3]);
    expect(Array.from(members)).toEqual([1, 2, 3]);
    expect(Array.from(counts[0]).slice(0, 5)).toEqual([0, 1, 1, 1, 0]);
  });

  it("gives the difference of mean courses with the band of two independent means", () => {
    const { difference, lower, upper } = meanDifference(
      Float64Array.of(1, 10, 3, 14),
      Float64Array.of(0, 5, 2, 5, 4, 8),
      2,
    );
    expect(Array.from(difference)).toEqual([0, 6]);
    const half = 1.959963984540054 * Math.sqrt(2 / 2 + 4 / 3);
    expect(upper[0]).toBeCloseTo(half, 12);
    expect(lower[0]).toBeCloseTo(-half, 12);
  });
});
