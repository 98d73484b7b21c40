/** Units beside values: columns of units, limits beyond which another unit begins, refusals, counts. */
import { describe, expect, it } from "vitest";
import { createConverter } from "../units/convert.ts";
import { readCohort } from "./read-cohort.ts";

const creatinine = createConverter({ to: "mg/dL", analyte: "creatinine" });
const table = (rows: readonly string[]) => ["id,time,value,unit", ...rows].join("\n");
const units = { converters: [creatinine], columns: ["unit"] };

describe("a column of units", () => {
  it("brings every value to the unit of the marker, limits too, and lists each conversion", () => {
    const text = table(["a,0,1,mg/dL", "a,1,88.4017,µmol/L", "b,0,<176.8034,μmol/L", "b,1,0.02,g/L", "b,2,3,MG/DL"]);
    const { cohort, conversions, notes } = readCohort(text, { units, marker: { unit: "mg/dL" } });
    const [{ values, censored, marker }] = cohort.markers;
    expect(Array.from(values, (value) => Math.round(value * 1e4) / 1e4)).toEqual([1, 1, 2, 2, 3]);
    expect(Array.from(censored!)).toEqual([0, 0, -1, 0, 0]);
    expect(marker.unit).toBe("mg/dL");
    expect(conversions.map(({ from, count }) => [from, count])).toEqual([
      ["MG/DL", 1],
      ["g/L", 1],
      ["µmol/L", 1],
      ["μmol/L", 1],
    ]);
    expect(notes).toContainEqual(expect.stringContaining('"µmol/L" was brought to mg/dL: times 0.011312'));
    expect(notes).toContainEqual(expect.stringContaining("113.12 g/mol of creatinine"));
  });

  it("refuses what it cannot convert, each unit once with its count, first place and remedy", () => {
    const text = table(["a,0,1,mg/dL", "a,1,5,mmHg", "b,0,2,", "b,1,2,furlong", "b,2,3,mmHg"]);
    const caught = (() => {
      try {
        readCohort(text, { units });
      } catch (error) {
        return error as { complaints: { code: string; received: string; where: { line: number; column: string } }[] };
      }
      return undefined;
    })();
    expect(caught?.complaints.map(({ code, where }) => [code, where.line, where.column])).toEqual([
      ["other-unit", 3, "unit"],
      ["missing-unit", 4, "unit"],
      ["unknown-unit", 5, "unit"],
    ]);
    expect(caught?.complaints[0].received).toBe('2 values in "mmHg"');
    const { cohort, leftOut } = readCohort(text, { units, onBad: "leave-out" });
    expect(cohort.markers[0].values).toHaveLength(1);
    expect(leftOut.map(({ code, count }) => [code, count])).toEqual([
      ["other-unit", 2],
      ["missing-unit", 1],
      ["unknown-unit", 1],
    ]);
  });

  it("needs the column", () => {
    expect(() => readCohort("id,time,value\na,0,1\n", { units })).toThrow(/column "unit" with units/);
  });

  it("takes the unit of the only one where none is asked for", () => {
    const read = () =>
      readCohort(table(["a,0,1,mg/dl", "a,1,2,mg/dL"]), { units: { ...units, converters: [createConverter()] } });
    expect(read().cohort.markers[0].marker.unit).toBe("mg/dl");
    const two = table(["a,0,1,mg/dl", "a,1,2,g/L"]);
    expect(() => readCohort(two, { units: { ...units, converters: [createConverter()] } })).toThrow(/which unit all/);
  });

  it("serves several markers of one value column, and several columns", () => {
    const hba1c = createConverter({ to: "mmol/mol", analyte: "HbA1c" });
    const markers = [{ column: "crea" }, { column: "a1c" }];
    const long = "id,time,test,value,unit\na,0,crea,88.4017,umol/L\na,0,a1c,6.5,%\n";
    const read = readCohort(long, {
      markers,
      markerColumn: "test",
      units: { converters: [creatinine, hba1c], columns: ["unit"] },
    });
    expect(read.cohort.markers.map(({ values }) => Number(values[0].toFixed(3)))).toEqual([1, 47.545]);
    expect(read.cohort.markers.map(({ marker }) => marker.unit)).toEqual(["mg/dL", "mmol/mol"]);
    const wide = "id,time,crea,cu,a1c,au\na,0,88.4017,umol/L,6.5,%\n";
    const both = readCohort(wide, { markers, units: { converters: [creatinine, hba1c], columns: ["cu", "au"] } });
    expect(both.cohort.markers.map(({ values }) => Number(values[0].toFixed(3)))).toEqual([1, 47.545]);
    const one = readCohort(wide, { markers, units: { converters: [creatinine, hba1c], columns: ["cu", ""] } });
    expect(one.cohort.markers.map(({ values }) => Number(values[0].toFixed(3)))).toEqual([1, 6.5]);
  });
});

describe("a unit without a column", () => {
  it("is taken beyond a limit, and only there", () => {
    const text = "id,time,value\na,0,1\na,1,88.4017\nb,0,20\n";
    const beyond = { side: 1, limit: 20, unit: "umol/L" } as const;
    const { cohort, conversions } = readCohort(text, { units: { converters: [creatinine], beyond } });
    expect(Array.from(cohort.markers[0].values, (value) => Number(value.toFixed(4)))).toEqual([1, 1, 20]);
    expect(conversions).toMatchObject([{ from: "umol/L", count: 1 }]);
  });

  it("may be that of all values", () => {
    const { cohort } = readCohort("id,time,value\na,0,88.4017\n", {
      units: { converters: [creatinine], unit: "umol/L" },
    });
    expect(cohort.markers[0].values[0]).toBeCloseTo(1, 5);
  });
});
