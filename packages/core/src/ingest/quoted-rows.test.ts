import fc from "fast-check";
import Papa from "papaparse";
import { describe, expect, it } from "vitest";
import { DtmError } from "../errors.ts";
import { MOST_COLUMNS, MOST_FIELD, MOST_ROW } from "./delimited.ts";
import { quotedRows } from "./quoted-rows.ts";
import { readCohort } from "./read-cohort.ts";

describe("quotedRows", () => {
  it("reads as papaparse does, and finds the same faults", () => {
    const piece = fc.constantFrom('"', '""', "a", " ", ",", "\n", "\t", ";", "é", '"x"', ',"', '",', '"\n');
    // Space between a quote and the end of all text is a fault for papaparse alone.
    const texts = fc.array(piece, { minLength: 1, maxLength: 14 }).map((parts) => `${parts.join("")},z;z`);
    fc.assert(
      fc.property(texts, fc.constantFrom(",", ";"), (text, delimiter) => {
        const { rows, fault } = quotedRows(text, delimiter);
        const { data, errors } = Papa.parse<string[]>(text, { delimiter, newline: "\n" });
        const quotes = errors.find(({ type }) => type === "Quotes");
        const good = fault === undefined ? rows : rows.slice(0, -1);
        expect(data.slice(0, quotes === undefined ? data.length : quotes.row)).toEqual(good);
        expect(fault === undefined).toBe(quotes === undefined);
      }),
      { numRuns: 5000, seed: 4 },
    );
  });

  it("takes a line of many quoted columns in one pass", () => {
    const line = Array.from({ length: 300_000 }, (_, k) => `"c${k}"`).join(",");
    expect(quotedRows(`${line}\n${line}`, ",").rows.map((row) => row.length)).toEqual([300_000, 300_000]);
  });
});

describe("limits of delimited text", () => {
  const head = "id,time,value\np,0,71\np,1,72\nq,0,80\n";
  function* pieces(start: string, piece: string, times: number, end = "") {
    yield start;
    for (let k = 0; k < times; k++) yield piece;
    yield end;
  }
  /** The code, line and number of pieces that were taken before the text was refused. */
  const refusalOf = (text: Iterable<string>) => {
    let taken = 0;
    const counted = function* () {
      for (const piece of text) {
        taken++;
        yield piece;
      }
    };
    try {
      readCohort(counted());
    } catch (error) {
      if (error instanceof DtmError) return { code: error.code, line: error.complaints[0]?.where.line, taken };
      throw error;
    }
    return { code: undefined, line: undefined, taken };
  };
  const MB = 1 << 20;

  it("refuse a line without end, and read no further", () => {
    const found = refusalOf(pieces(head, "x".repeat(MB), 500));
    expect(found).toMatchObject({ code: "line-too-long", line: 5 });
    expect((found.taken * MB) / MOST_ROW).toBeLessThan(3);
  });

  it("refuse a header without end", () => {
    const found = refusalOf(pieces("", "c,".repeat(MB / 2), 500));
    expect(found.code).toMatch(/line-too-long|too-many-columns/);
    expect((found.taken * MB) / MOST_ROW).toBeLessThan(3);
  });

  it("refuse a quote that is open too long at the line where it opened, and read no further", () => {
    const found = refusalOf(pieces(`${head}"p,2,3\n`, "q,12345,71\n".repeat(MB / 11), 500));
    expect(found).toMatchObject({ code: "unclosed-quote", line: 5 });
    expect((found.taken * MB) / MOST_ROW).toBeLessThan(5);
  });

  it("refuse more columns than are read, quoted or not, and fields too long", () => {
    const wide = (quote: string) =>
      ["id", "time", "value", ...Array.from({ length: MOST_COLUMNS }, (_, k) => `c${k}`)]
        .map((name) => `${quote}${name}${quote}`)
        .join(",");
    for (const quote of ["", '"']) expect(refusalOf([`${wide(quote)}\n`])).toMatchObject({ code: "too-many-columns" });
    const long = "x".repeat(MOST_FIELD + 1);
    for (const quote of ["", '"']) {
      expect(refusalOf([`${head}p,2,${quote}${long}${quote}\n`])).toMatchObject({ code: "field-too-long", line: 5 });
    }
  });

  it("take blank lines above the header, however many, and count them", () => {
    const { cohort } = readCohort(pieces("", "\n".repeat(MB / 4), 8, head));
    expect(cohort.ids).toEqual(["p", "q"]);
    const found = refusalOf(pieces("", "  \r\n".repeat(MB / 4), 8, `${head}p,x,3\n`));
    expect(found).toMatchObject({ code: "not-a-number", line: 2 * MB + 5 });
  });
});
