import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DtmError } from "../errors.ts";
import { readCohort } from "./read-cohort.ts";
import type { ReadCohortOptions } from "./reading.ts";

/** What reading gives or says; a line to skip that does not exist turns the reading in place off. */
function outcome(text: string | string[], options: ReadCohortOptions, inPlace: boolean): unknown {
  try {
    return readCohort(text, inPlace ? options : { ...options, skipLines: [1e9] });
  } catch (error) {
    if (!(error instanceof DtmError)) throw error;
    return error.message;
  }
}

const number = fc.oneof(
  { weight: 20, arbitrary: fc.double({ noNaN: true, min: -1e3, max: 1e3 }).map(String) },
  { weight: 10, arbitrary: fc.integer({ min: -50, max: 5000 }).map((v) => (v / 8).toFixed(2)) },
  { weight: 5, arbitrary: fc.stringMatching(/^-?[0-9]{0,12}\.?[0-9]{0,14}$/) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("", "NA", "1e3", " 4 ", "4,5", "x", "-", ".", "+1", "2020-01-31", "0".repeat(40)),
  },
);
const id = fc.oneof(
  { weight: 20, arbitrary: fc.integer({ min: 1, max: 12 }).map((k) => `P${k}`) },
  { weight: 1, arbitrary: fc.constantFrom("", " P1", "P2 ", "Ä1", "a b", "\u0007", "漢", "P\u00a0", "x".repeat(300)) },
);
const row = fc.oneof(
  { weight: 30, arbitrary: fc.tuple(id, number, number, fc.constantFrom("", "note", "7")).map((f) => f.join(",")) },
  { weight: 1, arbitrary: fc.constantFrom("", "  ", "P1,1", "P1,1,2,3,4", '"P1",1,2,""', '"a\nb",1,2,', ",,,") },
);

describe("rows read in place", () => {
  it("are those of the careful reader, with the same complaints, whatever the text", () => {
    const lines = fc.array(row, { minLength: 1, maxLength: 40 });
    const options = fc.constantFrom<ReadCohortOptions>(
      {},
      { onBad: "leave-out" },
      { onBad: "leave-out", marker: { transform: "log" } },
    );
    fc.assert(
      fc.property(
        lines,
        fc.constantFrom("\n", "\r\n"),
        fc.constantFrom("", "\n", "\n\n"),
        options,
        (rows, end, tail, o) => {
          const text = ["id,time,value,more", ...rows].join(end) + tail;
          expect(outcome(text, o, true)).toEqual(outcome(text, o, false));
        },
      ),
      { numRuns: 1500, seed: 4 },
    );
  });

  it("are the same over many slices and pieces, with blank lines and odd ones between", () => {
    const lines = Array.from({ length: 4000 }, (_, k) => {
      if (k % 997 === 0) return "";
      if (k % 751 === 0) return `"P${k % 300}",${k / 7},${k}`;
      if (k % 601 === 0) return ` P${k % 300},${k / 7},NA`;
      return `P${(k * 7919) % 300},${k / 16},${(k * k) / 3}`;
    });
    const text = `id,time,value\n${lines.join("\n")}\n`;
    const pieces = Array.from({ length: Math.ceil(text.length / 20_011) }, (_, k) =>
      text.slice(k * 20_011, (k + 1) * 20_011),
    );
    const careful = outcome(text, {}, false);
    expect(typeof careful).toBe("object");
    expect(outcome(text, {}, true)).toEqual(careful);
    expect(outcome(pieces, {}, true)).toEqual(careful);
  });
});
