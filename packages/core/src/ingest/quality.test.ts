import { describe, expect, it } from "vitest";
import { inspectCohort } from "./quality.ts";
import { readCohort } from "./read-cohort.ts";

const TEXT = `id,time,value
a,0,1
a,2,3
a,4,2
b,1,5
b,1,5
c,0,
c,3,4
d,0,9999
d,1,9999
`;

describe("inspectCohort", () => {
  const quality = inspectCohort(readCohort(TEXT, { keepRepeats: true }));

  it("counts individuals, observations, visits, spans and gaps", () => {
    expect(quality).toMatchObject({ individuals: 4, observations: 8, rows: 9, rowsLeftOut: 1, singleVisit: 1 });
    expect(quality.visitClasses).toEqual([1, 2, 1, 0, 0, 0]);
    expect(quality.visitClasses.reduce((s, n) => s + n, 0)).toBe(quality.individuals);
    expect(quality.visits).toEqual([1, 1.75, 2, 2.25, 3]);
    expect(quality.spans).toEqual([0, 0.5, 1, 2.5, 4]);
    expect(quality.gaps).toEqual([0, 0.75, 1.5, 2, 2]);
    expect([quality.firstTime, quality.lastTime, quality.distinctTimes]).toEqual([0, 4, 5]);
  });

  it("counts what is missing, repeated and suspicious", () => {
    expect(quality.findings).toMatchObject({ missing: 1, duplicates: 1, suspectedCodes: 2 });
  });

  it("covers a pair of times when one individual was seen at both, and only then", () => {
    const { edges, counts } = quality.design;
    const n = edges.length - 1;
    const at = (s: number, t: number) => {
      const bin = (x: number) => Math.min(n - 1, Math.floor((n * x) / 4));
      return counts[bin(s) * n + bin(t)];
    };
    expect(at(0, 4)).toBe(1);
    expect(at(4, 0)).toBe(1);
    expect(at(0, 0)).toBe(2);
    expect(at(3, 4)).toBe(0);
  });

  it("bins every value once", () => {
    expect(quality.histogram.counts.reduce((s, n) => s + n, 0)).toBe(8);
  });
});
