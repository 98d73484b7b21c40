import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DtmError } from "../errors.ts";
import {
  compareText,
  makeCohort,
  numIndividuals,
  numObservations,
  onlyMarker,
  selectIndividuals,
  selectVisits,
} from "./cohort.ts";
import { applyTransform, markerScale, TRANSFORMS, undoTransform, valueLimits } from "./marker.ts";
import { splitCohort } from "./split.ts";

const rows = fc.array(
  fc.record({
    id: fc.constantFrom("a", "b", "B", "é", "10", "9", "007", "7", "__proto__", "constructor"),
    time: fc.integer({ min: -3, max: 3 }),
    value: fc.constantFrom(-0, 0, 1, 2.5),
  }),
  { minLength: 1, maxLength: 30 },
);
type Rows = readonly { id: string; time: number; value: number }[];

const cohortOf = (r: Rows) =>
  makeCohort({ ids: r.map((x) => x.id), times: r.map((x) => x.time), values: r.map((x) => x.value) });

const codeOf = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (error instanceof DtmError) return error.code;
    throw error;
  }
  return "none";
};

describe("makeCohort", () => {
  it("sorts by id, time and value whatever the order of rows, bit for bit", () => {
    fc.assert(
      fc.property(rows, fc.infiniteStream(fc.nat()), (r, keys) => {
        const keyed = r.map((x) => ({ x, key: keys.next().value as number }));
        const shuffled = keyed.sort((a, b) => a.key - b.key).map(({ x }) => x);
        const cohort = cohortOf(r);
        // Object.is tells −0 from 0.
        expect(cohortOf(shuffled)).toStrictEqual(cohort);
        expect(onlyMarker(cohort).values.some((v) => Object.is(v, -0))).toBe(false);
      }),
    );
  });

  it("orders ids by UTF-16 unit, as JavaScript compares text, whatever the characters", () => {
    const sorted = ["z", "\ud7ff", "\ud800", "\u{10000}", "\ud834", "\u{1d11e}", "\u{10ffff}", "\udc00", "\ue000"];
    const rows = [...sorted].reverse().map((id) => ({ id, time: 0, value: 1 }));
    expect(cohortOf(rows).ids).toEqual(sorted);
    expect(structuredClone(cohortOf(rows))).toEqual(cohortOf(rows));
  });

  it("keeps every row and every distinct id, odd names included", () => {
    fc.assert(
      fc.property(rows, (r) => {
        const cohort = cohortOf(r);
        expect(numObservations(cohort)).toBe(r.length);
        expect(numIndividuals(cohort)).toBe(new Set(r.map((x) => x.id)).size);
        cohort.ids.forEach((id, i) => {
          const mine = r
            .filter((x) => x.id === id)
            .map((x) => x.time)
            .sort((a, b) => a - b);
          expect(
            Array.from(
              onlyMarker(cohort).times.slice(onlyMarker(cohort).offsets[i], onlyMarker(cohort).offsets[i + 1]),
            ),
          ).toEqual(mine.map((t) => t + 0));
        });
      }),
    );
  });

  it("refuses what cannot be a cohort, with a code of its own", () => {
    const make = (id: string, time: number, value: number) => () =>
      makeCohort({ ids: [id], times: [time], values: [value] });
    expect(codeOf(() => makeCohort({ ids: [], times: [], values: [] }))).toBe("no-rows");
    expect(codeOf(() => makeCohort({ ids: ["a"], times: [1, 2], values: [3] }))).toBe("shape");
    expect(codeOf(make("", 1, 1))).toBe("missing-id");
    expect(codeOf(make("a", Number.NaN, 1))).toBe("not-finite");
    expect(codeOf(make("a", 1, Number.POSITIVE_INFINITY))).toBe("not-finite");
    expect(codeOf(() => makeCohort({ ids: ["a"], times: [1], values: [0] }, { transform: "log" }))).toBe(
      "transform-domain",
    );
  });
});

describe("compareText", () => {
  it("orders by code unit, independent of locale", () => {
    expect(["b", "a", "B", "é", "10", "9"].sort(compareText)).toEqual(["10", "9", "B", "a", "b", "é"]);
  });
});

describe("transforms", () => {
  it("undo each other and rise", () => {
    for (const transform of TRANSFORMS) {
      let previous = Number.NEGATIVE_INFINITY;
      const values = transform === "logit" ? [1e-9, 0.001, 0.5, 0.7, 0.999] : [0.001, 0.5, 1, 7, 1e6];
      for (const value of values) {
        const there = applyTransform(transform, value);
        expect(Math.abs(undoTransform(transform, there) / value - 1)).toBeLessThan(1e-14);
        expect(there).toBeGreaterThan(previous);
        previous = there;
      }
    }
  });

  it("give NaN outside their domain", () => {
    expect(applyTransform("log", 0)).toBeNaN();
    expect(applyTransform("log1p", -1)).toBeNaN();
    expect(applyTransform("sqrt", -0.1)).toBeNaN();
    expect(applyTransform("sqrt", 0)).toBe(0);
    for (const value of [0, 1, -0.1, 1.1]) expect(applyTransform("logit", value)).toBeNaN();
  });

  it("logit is symmetric about one half, and its undoing keeps small shares small", () => {
    for (const share of [0.1, 0.25, 0.4]) {
      expect(applyTransform("logit", share) + applyTransform("logit", 1 - share)).toBeCloseTo(0, 14);
    }
    expect(undoTransform("logit", -700) / Math.exp(-700)).toBeCloseTo(1, 12);
    expect(undoTransform("logit", 800)).toBe(1);
  });
});

describe("selectVisits", () => {
  const cohort = makeCohort({
    ids: ["a", "a", "a", "b", "c", "c"],
    times: [1, 2, 3, 1, 1, 2],
    values: [10, 20, 30, 40, 50, 60],
  });

  it("splits each individual's observations into first ones and rest, dropping individuals left with none", () => {
    const first = selectVisits(cohort, () => 1);
    const rest = selectVisits(cohort, () => 1, true);
    expect(first.ids).toEqual(["a", "b", "c"]);
    expect(Array.from(onlyMarker(first).values)).toEqual([10, 40, 50]);
    expect(rest.ids).toEqual(["a", "c"]);
    expect(Array.from(onlyMarker(rest).values)).toEqual([20, 30, 60]);
    expect(Array.from(onlyMarker(rest).offsets)).toEqual([0, 2, 3]);
  });

  it("takes a count that depends on how many there are, cut to what is possible", () => {
    expect(Array.from(onlyMarker(selectVisits(cohort, (n) => n / 2)).values)).toEqual([10, 50]);
    expect(selectVisits(cohort, () => 99)).toEqual(cohort);
    expect(selectVisits(cohort, () => -1, true)).toEqual(cohort);
  });
});

describe("selectIndividuals", () => {
  it("keeps canonical order whatever order is asked for", () => {
    const cohort = cohortOf([
      { id: "a", time: 0, value: 1 },
      { id: "b", time: 0, value: 2 },
      { id: "c", time: 0, value: 3 },
    ]);
    expect(selectIndividuals(cohort, [2, 0])).toEqual(selectIndividuals(cohort, [0, 2]));
    expect(selectIndividuals(cohort, [2, 0]).ids).toEqual(["a", "c"]);
  });
});

describe("splitCohort", () => {
  const cohort = makeCohort({
    ids: Array.from({ length: 46 }, (_, j) => `P${j % 23}`),
    times: Array.from({ length: 46 }, (_, j) => j),
    values: new Array(46).fill(1),
  });

  it("tests everyone exactly once and never on their own training data", () => {
    const folds = splitCohort(cohort, 5, 3);
    const ids = cohort.ids;
    expect(folds.flatMap((fold) => fold.test.ids).sort(compareText)).toEqual(ids);
    for (const { train, test, testIndividuals } of folds) {
      expect([...train.ids, ...test.ids].sort(compareText)).toEqual(ids);
      expect(Array.from(testIndividuals, (i) => cohort.ids[i])).toEqual(test.ids);
      expect(numObservations(train) + numObservations(test)).toBe(46);
      expect([4, 5]).toContain(numIndividuals(test));
    }
  });

  it("gives the same folds for the same seed and others for another", () => {
    expect(splitCohort(cohort, 4, 1)).toEqual(splitCohort(cohort, 4, 1));
    expect(splitCohort(cohort, 4, 1)[0].test.ids).not.toEqual(splitCohort(cohort, 4, 2)[0].test.ids);
  });

  it("refuses more folds than individuals, and one fold", () => {
    expect(() => splitCohort(cohort, 24)).toThrow(/numFolds from 2 to 23/);
    expect(() => splitCohort(cohort, 1)).toThrow(/received 1/);
    expect(splitCohort(cohort, 23)).toHaveLength(23);
  });
});

describe("a cohort of two markers", () => {
  const first = makeCohort({ ids: ["a", "a", "b"], times: [0, 1, 0], values: [1, 2, 3] }, { name: "bili" });
  const second = makeCohort({ ids: ["a", "b", "b"], times: [5, 6, 7], values: [4, 5, 6] }, { name: "albumin" });
  const both = { ids: first.ids, markers: [...first.markers, ...second.markers] };

  it("is refused, by the names of its markers, where one is handled", () => {
    expect(onlyMarker(first)).toBe(first.markers[0]);
    expect(() => onlyMarker(both)).toThrow(/one marker, received 2 \(bili, albumin\)/);
  });

  it("counts the observations of both, and selects individuals and visits of each", () => {
    expect([numIndividuals(both), numObservations(both)]).toEqual([2, 6]);
    const b = selectIndividuals(both, [1]);
    expect(b.markers.map(({ values }) => [...values])).toEqual([[3], [5, 6]]);
    const later = selectVisits(both, () => 1, true);
    expect(later.markers.map(({ offsets }) => [...offsets])).toEqual([
      [0, 1, 1],
      [0, 0, 1],
    ]);
  });
});

describe("limits of a marker", () => {
  it("are those given within those of the transform, and bound values on the marker's scale", () => {
    expect(valueLimits({ transform: "identity" })).toEqual([Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]);
    expect(valueLimits({ transform: "log", limits: [-5, 30] })).toEqual([0, 30]);
    expect(valueLimits({ transform: "logit", limits: [null, 0.9] })).toEqual([0, 0.9]);
    const score = markerScale({ transform: "identity", limits: [0, 30] });
    expect([-4, 0, 17.5, 31].map(score)).toEqual([0, 0, 17.5, 30]);
    expect(markerScale({ transform: "sqrt", limits: [1, null] })(-2)).toBe(1);
  });

  it("must leave values between them", () => {
    const rows = { ids: ["a"], times: [0], values: [1] };
    for (const limits of [[30, 0] as const, [0, 0] as const]) {
      expect(() => makeCohort(rows, { limits })).toThrow("limits [lowest, highest]");
    }
    expect(() => makeCohort(rows, { transform: "logit", limits: [1, null] })).toThrow("limits [lowest, highest]");
  });
});
