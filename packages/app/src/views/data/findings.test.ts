import { type DtmError, readCohort } from "@trajectory-maps/core";
import { inspectCohort, numObservations } from "@trajectory-maps/core/ingest";
import { describe, expect, it } from "vitest";
import type { Checked } from "../../worker/api.ts";
import { findingLines, leftOutSentence, refusedValues } from "./findings.ts";

/** A table as the worker checks it. */
function check(text: string, keepRepeats = false): Pick<Checked, "loaded" | "refused"> {
  let refused: Checked["refused"] = [];
  try {
    readCohort(text);
  } catch (error) {
    refused = (error as DtmError).complaints;
  }
  const read = readCohort(text, { onBad: "leave-out", keepRepeats });
  return { loaded: { ...read, source: "visits.csv", quality: inspectCohort(read) }, refused };
}

const BAD = check(`id,time,value
a,0,10
a,0,10
a,1,
b,0,<40 mg
b,x,12
b,2,word
,3,13
,4,
c,1,11
`);

describe("findingLines", () => {
  it("lists each kind once, refused before left out before kept", () => {
    const lines = findingLines(BAD);
    expect(lines.map(({ code, count, line, fate }) => [code, count, line, fate])).toEqual([
      ["censored-value", 1, 5, "refused"],
      ["not-a-number", 2, 6, "refused"],
      ["missing-id", 2, 8, "refused"],
      ["missing-value", 2, 4, "left out"],
      ["duplicate-rows", 1, 3, "left out"],
    ]);
    expect(lines[1].title).toBe("Text instead of a number");
    expect(lines.every((line) => line.remedy !== "")).toBe(true);
  });

  it("tells of exact repeats also where they are kept", () => {
    const kept = check("id,time,value\na,0,10\na,0,10\na,1,11\n", true);
    expect(findingLines(kept).map(({ code, count, fate }) => [code, count, fate])).toEqual([
      ["duplicate-rows", 1, "kept"],
    ]);
    expect(leftOutSentence(kept)).toBeNull();
  });

  it("names the marker where several markers have the same kind of finding", () => {
    const visit = (i: number, t: number) => `p${i},${t},${10 + ((i * 7 + t * 3) % 5)},${40 + ((i * 5 + t) % 7)}`;
    const rows = Array.from({ length: 40 }, (_, i) => [0, 1, 2, 3].map((t) => visit(i, t))).flat();
    const slips = rows.map((row, k) => (k === 1 || k === 9 ? row.replace(/,\d+,\d+$/, ",1500,6000") : row));
    const markers = ["a", "b"].map((column) => ({ column }));
    const text = ["id,time,a,b", ...slips].join("\n");
    const read = readCohort(text, { markers, onBad: "leave-out" });
    const loaded = { ...read, source: "visits.csv", qualities: [] } as unknown as Checked["loaded"];
    const outliers = findingLines({ loaded, refused: [] }).filter(({ code }) => code === "outlier");
    expect(outliers.map(({ marker }) => marker)).toEqual(["a", "b"]);
  });

  it("is empty for a clean table", () => {
    expect(findingLines(check("id,time,value\na,0,1\na,1,2\n"))).toEqual([]);
  });
});

describe("leftOutSentence", () => {
  it("counts rows once and says so when reasons overlap", () => {
    expect(BAD.loaded.numRowsLeftOut + numObservations(BAD.loaded.cohort)).toBe(BAD.loaded.numRows);
    expect(leftOutSentence(BAD)).toBe(
      "7 of 9 rows left out: 1 below or above a limit, 2 with text instead of a number, 2 without an individual, " +
        "2 without a value, 1 that repeat another exactly. Some rows have more than one reason.",
    );
  });

  it("says nothing when nothing is left out", () => {
    expect(leftOutSentence(check("id,time,value\na,0,1\na,1,2\n"))).toBeNull();
  });
});

describe("refusedValues", () => {
  it("finds numbers in refused cells of the marker only", () => {
    expect(refusedValues(BAD.refused, "value")).toEqual([40]);
  });
});
