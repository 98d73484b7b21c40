import { describe, expect, it } from "vitest";
import { namesIndividuals, timeColumns } from "./id-columns.ts";
import type { SubjectsTable } from "./subjects-table.ts";

const ROWS = Array.from({ length: 30 }, (_, i) => i);

function tableOf(columns: Readonly<Record<string, (i: number) => string | number>>, rows = ROWS): SubjectsTable {
  return {
    ids: rows.map((i) => `p${i}`),
    columns: Object.entries(columns).map(([name, of]) => ({ name, cells: rows.map((i) => String(of(i))) })),
  };
}

const names = (table: SubjectsTable) => table.columns.filter((_, k) => namesIndividuals(table, k)).map((c) => c.name);

describe("columns that name individuals", () => {
  it("are the ids, other ids by their name, and running numbers in any order", () => {
    const table = tableOf({
      id: (i) => `p${i}`,
      hospital_id: (i) => 90210000 + ((i * 7919) % 100_003),
      MRN: (i) => `X-${i * i}`,
      patientId: (i) => 3 * i * i + 1,
      row: (i) => 1000 + ((i * 7) % 30),
      centre_id: (i) => i % 4,
      age: (i) => 40 + ((i * 11) % 30) / 2,
      followup_days: (i) => (i * 997) % 2900,
      paid: (i) => (i * 997) % 2900,
      weight_number: (i) => 60.5 + i,
    });
    expect(names(table)).toEqual(["id", "hospital_id", "MRN", "patientId", "row"]);
  });

  it("are not times in whole months of a few individuals, unless they count the rows", () => {
    const months = [14, 3, 9, 11, 5, 7, 2, 12];
    const few = tableOf({ months: (i) => months[i], row: (i) => i + 1 }, ROWS.slice(0, 8));
    expect(names(few)).toEqual(["row"]);
  });

  it("are told from one row of each individual", () => {
    const twice = [...ROWS, ...ROWS].sort((a, b) => a - b);
    expect(names(tableOf({ code_no: (i) => 50 + i, visits: (i) => i % 5 }, twice))).toEqual(["code_no"]);
  });

  it("cannot be times of follow-up, nor can text or numbers below 0", () => {
    const table = tableOf({
      ...{ id: (i: number) => i + 1, years: (i: number) => i / 3, sex: (i: number) => "fm"[i % 2] },
      ...{ change: (i: number) => i - 3.5, late: (i: number) => (i === 0 ? "" : i / 7) },
    });
    expect(timeColumns(table)).toEqual(["years", "late"]);
  });
});
