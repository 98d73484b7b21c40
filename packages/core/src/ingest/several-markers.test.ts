import { describe, expect, it } from "vitest";
import { numObservations } from "../cohort/cohort.ts";
import { checkMarkers, combineMarkers, numMeasured } from "../cohort/several-markers.ts";
import { DtmError } from "../errors.ts";
import { previewTable } from "./preview.ts";
import { inspectMarkers } from "./quality.ts";
import { readCohort } from "./read-cohort.ts";
import type { ReadCohortOptions } from "./read-options.ts";

const WIDE = "id,time,bili,albumin\na,0,1.5,4\na,1,,3.9\nb,0,2,NA\nb,2,,\nc,0,,3.5\n";
const LONG =
  "id,time,test,result\na,0,bili,1.5\na,0,albumin,4\na,1,albumin,3.9\nb,0,bili,2\nb,2,chol,200\nc,0,albumin,3.5\n";
const MARKERS = [{ column: "bili", transform: "log", unit: "mg/dl" }, { column: "albumin" }] as const;

const refused = (text: string, options: ReadCohortOptions) => {
  try {
    readCohort(text, options);
  } catch (error) {
    if (error instanceof DtmError) return error;
  }
  throw new Error("not refused");
};

describe("readCohort of several markers", () => {
  it("takes a value column each; an empty cell is a marker not measured at that visit", () => {
    const { cohort, numRows, numRowsLeftOut, warnings, markerColumns } = readCohort(WIDE, { markers: MARKERS });
    expect(cohort.ids).toEqual(["a", "b", "c"]);
    expect(cohort.markers.map(({ marker }) => [marker.name, marker.transform, marker.unit])).toEqual([
      ["bili", "log", "mg/dl"],
      ["albumin", "identity", ""],
    ]);
    expect(cohort.markers.map(({ offsets }) => [...offsets])).toEqual([
      [0, 1, 2, 2],
      [0, 2, 2, 3],
    ]);
    expect(cohort.markers.map(({ values }) => [...values])).toEqual([
      [1.5, 2],
      [4, 3.9, 3.5],
    ]);
    expect([numRows, numRowsLeftOut]).toEqual([5, 1]);
    expect(warnings).toMatchObject([{ code: "missing-value", count: 1, where: { line: 5 } }]);
    expect(markerColumns[1]).toEqual({ id: "id", time: "time", value: "albumin" });
    expect(numMeasured(cohort)).toEqual([2, 2]);
  });

  it("takes one value column with a column that names the marker, and gives the same cohort", () => {
    const wide = readCohort(WIDE, { markers: MARKERS });
    const long = readCohort(LONG, { markers: MARKERS, markerColumn: "test" });
    expect(long.cohort).toEqual(wide.cohort);
    expect([long.numRows, long.numRowsLeftOut]).toEqual([6, 1]);
    expect(long.leftOut).toEqual([{ code: "other-marker", count: 1 }]);
    expect(long.notes.join(" ")).toContain("1 row of other markers (chol) was passed over");
    expect(long.columns).toEqual({ id: "id", time: "time", value: "result", marker: "test", level: "bili" });
  });

  it("tells codes for missing where another marker of the row has a value", () => {
    const markers = [{ column: "a" }, { column: "b" }];
    const { notes, warnings } = readCohort("id,time,a,b\np,0,.a,1\np,1,2,.a\np,2,3,.\n", { markers });
    expect(warnings).toEqual([]);
    expect(notes).toContain("Cells taken as missing: 2 with .a (Stata or SAS).");
  });

  it("is one marker as it is read alone", () => {
    const alone = (column: string) => readCohort(WIDE, { columns: { value: column } }).cohort;
    const both = readCohort(WIDE, { markers: [{ column: "bili" }, { column: "albumin" }] }).cohort;
    expect(both).toEqual(combineMarkers([alone("bili"), alone("albumin")]));
    expect(readCohort(WIDE, { markers: [{ column: "bili" }] }).cohort).toEqual(alone("bili"));
  });

  it("keeps the rules of cells for every marker, and names the column", () => {
    const error = refused("id,time,a,b\np,0,1,x\nq,0,0,2\nr,y,,1\n", {
      markers: [{ column: "a", transform: "log" }, { column: "b" }],
    });
    expect(error.complaints).toMatchObject([
      { code: "not-a-number", where: { line: 2, column: "b" } },
      { code: "not-a-number", where: { line: 4, column: "time" } },
      { code: "transform-domain", where: { line: 3, column: "a" } },
    ]);
    // Left out, a bad cell leaves the other markers of its row.
    const { cohort, numRowsLeftOut } = readCohort("id,time,a,b\np,0,1,x\nq,0,0,2\n", {
      markers: [{ column: "a", transform: "log" }, { column: "b" }],
      onBad: "leave-out",
    });
    expect(cohort.markers.map(({ values }) => [...values])).toEqual([[1], [2]]);
    expect(numRowsLeftOut).toBe(0);
  });

  it("leaves out exact repeats of each marker and counts rows that give nothing new", () => {
    const text = "id,time,a,b\np,0,1,5\np,0,1,5\np,0,1,6\np,-1,2,\n";
    const { cohort, numRowsLeftOut, warnings } = readCohort(text, { markers: [{ column: "a" }, { column: "b" }] });
    expect(numObservations(cohort)).toBe(4);
    expect(numRowsLeftOut).toBe(1);
    expect(warnings.map(({ code, count }) => [code, count])).toEqual([
      ["duplicate-rows", 2],
      ["negative-time", 1],
      ["same-time", 1],
    ]);
  });

  it("refuses markers that are not there, named twice or without a name", () => {
    expect(refused(WIDE, { markers: [{ column: "bili" }, { column: "chol" }] }).message).toContain('column "chol"');
    expect(refused(LONG, { markers: [{ column: "ast" }], markerColumn: "test" }).message).toContain('rows of "bili"');
    expect(refused(WIDE, { markers: [{ column: "bili" }, { column: "bili" }] }).message).toContain('"bili" twice');
    expect(refused(LONG, { markerColumn: "test" }).message).toContain("markers with a markerColumn");
  });

  it("asks about a column that names several markers and was not named", () => {
    const error = refused(LONG, {});
    expect(error.complaints.map(({ code, where }) => [code, where?.column])).toEqual([["unread-markers", "test"]]);
    expect(error.message).toContain("--marker-column test --markers bili,albumin");
    expect(error.message).toContain("--value result");
    const { warnings, numRowsLeftOut } = readCohort(LONG, { columns: { value: "result" } });
    expect(warnings.map(({ code, count }) => [code, count])).toContainEqual(["unread-markers", 6]);
    expect(numRowsLeftOut).toBe(0);
  });

  it("asks nothing where such a column names one marker, counts, or has a role", () => {
    const codes = (text: string, options: ReadCohortOptions = {}) =>
      readCohort(text, options).warnings.map(({ code }) => code);
    expect(codes("id,time,test,result\na,0,bili,1.5\na,1,bili,2\n")).toEqual([]);
    expect(codes("id,time,test,result\na,0,1,1.5\na,1,2,2\n")).toEqual([]);
    expect(codes("id,time,test\na,0,1.5\na,1,2\n")).toEqual([]);
    expect(codes("id,time,test,bili\na,0,x,1.5\na,1,y,2\n", { markers: [{ column: "bili" }] })).toEqual([]);
  });

  it("accepts a table without some of the markers where that is allowed, but not without all", () => {
    const markers = [{ column: "bili" }, { column: "chol" }];
    const { cohort, notes } = readCohort(WIDE, { markers, mayLack: true });
    expect(numMeasured(cohort)).toEqual([2, 0]);
    expect(notes.join(" ")).toContain('no column "chol"');
    expect(refused(WIDE, { markers: [{ column: "x" }, { column: "chol" }], mayLack: true }).code).toBe(
      "missing-column",
    );
  });
});

describe("inspectMarkers", () => {
  it("tells of each marker who has it and what was found in it", () => {
    const quality = inspectMarkers(readCohort(WIDE, { markers: MARKERS }));
    expect(quality).toMatchObject({ individuals: 3, observations: 5, rows: 5, rowsLeftOut: 1, lacking: [1, 1] });
    expect(quality.measured).toEqual([2, 1, 1, 2]);
    expect(
      quality.markers.map(({ marker, individuals, observations }) => [marker.name, individuals, observations]),
    ).toEqual([
      ["bili", 2, 2],
      ["albumin", 2, 3],
    ]);
    const rows = (value: number) => Array.from({ length: 30 }, (_, k) => `p${k},0,bili,${k < 3 ? value : k}`);
    const long = ["id,time,test,result", ...rows(-999), ...rows(5).map((row) => row.replace("bili", "albumin"))];
    const { markers, warnings } = inspectMarkers(
      readCohort(long.join("\n"), { markers: [{ column: "bili" }, { column: "albumin" }], markerColumn: "test" }),
    );
    expect(markers.map(({ findings }) => findings.suspectedCodes)).toEqual([3, 0]);
    expect(markers[0].warnings[0].where.marker).toBe("bili");
    expect(warnings).toEqual([]);
  });
});

describe("previewTable", () => {
  it("finds further columns that could be markers", () => {
    const rows = Array.from(
      { length: 40 },
      (_, k) => `p${k >> 2},${k % 4},${(k * 7) % 23},${(k * 5) % 17},${(k >> 2) % 2}`,
    );
    const { columns, otherMarkers } = previewTable(["id,time,bili,albumin,sex", ...rows].join("\n"));
    expect(otherMarkers.map((k) => columns[k].name)).toEqual(["albumin"]);
  });
});

describe("checkMarkers", () => {
  const cohortOf = (columns: readonly string[], cell: (k: number, column: string) => number | string, m = 30) => {
    const rows = Array.from({ length: m }, (_, k) => [`p${k}`, 0, ...columns.map((name) => cell(k, name))].join(","));
    const text = [["id", "time", ...columns].join(","), ...rows].join("\n");
    return readCohort(text, { markers: columns.map((column) => ({ column })) }).cohort;
  };

  it("refuses a marker of few individuals and one without variation, by name", () => {
    expect(() => checkMarkers(cohortOf(["a", "b"], (k, name) => (name === "b" && k > 5 ? "" : k)))).toThrow(
      /values of b in at least 20 individuals, received them in 6/,
    );
    expect(() => checkMarkers(cohortOf(["a", "b"], (k, name) => (name === "b" ? 7 : k)))).toThrow(/b that differ/);
  });

  it("warns of markers that say the same, and of five or more", () => {
    const same = cohortOf(["a", "b", "c"], (k, name) => (name === "b" ? 100 - 2 * k : name === "c" ? (k * 7) % 30 : k));
    expect(checkMarkers(same)).toMatchObject([{ code: "same-marker", received: expect.stringContaining("a and b") }]);
    const many = cohortOf(["a", "b", "c", "d", "e"], (k, name) => (k * (2 * name.charCodeAt(0) - 187)) % 31);
    expect(checkMarkers(many).map(({ code }) => code)).toEqual(["many-markers"]);
    expect(checkMarkers(cohortOf(["a"], () => 1, 3))).toEqual([]);
  });
});

describe("one column in two roles", () => {
  const TABLE = "patient,years,fvc,dlco\np,0,1,2\nq,1,3,4\n";
  const refused = (options: Parameters<typeof readCohort>[1], text = TABLE) => {
    try {
      readCohort(text, options);
    } catch (error) {
      if (error instanceof DtmError) return [error.code, error.message];
    }
    return [];
  };

  it.each([
    ["time and marker", { markers: [{ column: "fvc" }, { column: "years" }] }, 'one as time and as marker "years"'],
    ["id and marker", { markers: [{ column: "fvc" }, { column: "patient" }] }, 'one as id and as marker "patient"'],
    ["time and value", { columns: { time: "fvc", value: "fvc" } }, "one as time and as value"],
    ["id and time", { columns: { id: "years", time: "years", value: "fvc" } }, "one as id and as time"],
    ["two markers", { markers: [{ column: "fvc" }, { column: "FVC" }] }, 'one as marker "fvc" and as marker "FVC"'],
    [
      "value and column of markers",
      { columns: { value: "fvc" }, markers: [{ column: "1" }], markerColumn: "fvc" },
      "one as value and as column of markers",
    ],
  ] as const)("is refused with the reason: %s", (_, options, words) => {
    const [code, message] = refused(options);
    expect(code).toBe("two-roles");
    expect(message).toContain(words);
  });

  it("is not guessed while another can be: the column of ages is the time", () => {
    const text = "patient,years,age,fvc\np,0,40,2\nq,1,50,4\n";
    expect(readCohort(text, { markers: [{ column: "years" }, { column: "fvc" }] }).columns.time).toBe("age");
  });
});
