import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DtmError } from "../errors.ts";
import { FORMATS } from "./formats.ts";
import { readCohort, readCohortFile } from "./read-cohort.ts";
import type { ReadCohortOptions } from "./read-options.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);

function inPieces<A extends { readonly length: number; slice(from: number, to: number): A }>(
  all: A,
  size: number,
): A[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, k) => all.slice(k * size, (k + 1) * size));
}

/** What reading gives, or says. */
async function outcome(read: () => unknown): Promise<unknown> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof DtmError)) throw error;
    return error.message;
  }
}

const number = fc.oneof(
  { weight: 20, arbitrary: fc.double({ noNaN: true, min: -1e3, max: 1e3 }).map(String) },
  { weight: 5, arbitrary: fc.stringMatching(/^-?[0-9]{0,12}\.?[0-9]{0,14}$/) },
  { weight: 1, arbitrary: fc.constantFrom("", "NA", "1e3", " 4 ", "4,5", "x", "-", ".", "+1", "2020-01-31") },
);
const id = fc.oneof(
  { weight: 20, arbitrary: fc.integer({ min: 1, max: 12 }).map((k) => `P${k}`) },
  { weight: 1, arbitrary: fc.constantFrom("", " P1", "P2 ", "Ä1", "a b", "\u0007", "漢", "P\u00a0", "𝄞") },
);
const row = fc.oneof(
  { weight: 30, arbitrary: fc.tuple(id, number, number, fc.constantFrom("", "note", "7")).map((f) => f.join(",")) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("", "  ", "P1,1", "P1,1,2,3,4", '"P1",1,2,""', '"a\nb",1,2,', '"a,1\n', ",,,"),
  },
);

describe("a table", () => {
  it("is read alike as text, in pieces and from a file, plain or gzip, however they are cut", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(row, { minLength: 1, maxLength: 40 }),
        fc.constantFrom("\n", "\r\n"),
        fc.constantFrom("", "\n", "\n\n"),
        fc.constantFrom<ReadCohortOptions>(
          {},
          { onBad: "leave-out" },
          { onBad: "leave-out", marker: { transform: "log" } },
        ),
        fc.integer({ min: 1, max: 300 }),
        async (rows, end, tail, options, size) => {
          const text = ["id,time,value,more", ...rows].join(end) + tail;
          const whole = await outcome(() => readCohort(text, options));
          const packed = new Uint8Array(gzipSync(text));
          expect(await outcome(() => readCohort(inPieces(text, size), options))).toEqual(whole);
          expect(await outcome(() => readCohortFile(inPieces(bytesOf(text), size), options))).toEqual(whole);
          expect(await outcome(() => readCohortFile(inPieces(packed, size), options))).toEqual(whole);
        },
      ),
      { numRuns: 300, seed: 4 },
    );
  });

  it("is the same over many slices and pieces, with blank lines, quotes and odd rows between", async () => {
    const lines = Array.from({ length: 20_000 }, (_, k) => {
      if (k % 997 === 0) return "";
      if (k % 751 === 0) return `"P${k % 300}",${k / 7},${k}`;
      if (k % 601 === 0) return ` P${k % 300},${k / 7},NA`;
      return `P${(k * 7919) % 300},${k / 16},${(k * k) / 3}`;
    });
    for (const end of ["\n", "\r\n", "\r"]) {
      const text = `id,time,value${end}${lines.join(end)}${end}`;
      const whole = readCohort(text);
      expect(whole.numRows).toBe(20_000 - 21);
      expect(readCohort(inPieces(text, 20_011))).toEqual(whole);
      expect(await readCohortFile(inPieces(bytesOf(text), 65_536))).toEqual(whole);
    }
  });

  it("takes time in proportion to a line without end", () => {
    // Sixteen million letters in pieces of four thousand: looking through all of them for each piece would take minutes.
    const pieces = function* (): Generator<string> {
      yield 'id,time,value\n"';
      for (let k = 0; k < 4000; k++) yield "x".repeat(4000);
    };
    expect(() => readCohort(pieces())).toThrow(/a closing quote/);
  });
});

describe("formats", () => {
  it("have names, and one of them takes any file", () => {
    for (const { name, extensions } of FORMATS) {
      expect(name).not.toBe("");
      for (const end of extensions) expect(end).toMatch(/^\.[a-z]+$/);
    }
    expect(FORMATS.at(-1)?.recognise(new Uint8Array(0), "")).toBe(true);
  });

  it.each([
    ["a web page", [...bytesOf("\n<!DOCTYPE html>")], "not-text", /login page/],
    ["nothing", [], "empty-file", /Check the file/],
    ["gzip of a damaged workbook", [...gzipSync(Uint8Array.of(0x50, 0x4b, 3, 4))], "damaged-file", /Unpack it first/],
  ])("are told from %s", async (_, bytes, code, message) => {
    await expect(readCohortFile([Uint8Array.from(bytes)], { file: "a.csv" })).rejects.toMatchObject({ code, message });
  });
});
