/** Text without quotes is split by hand, text with quotes is parsed by its own reader, rows may come from a format: all must agree, whatever is asked. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DtmError } from "../errors.ts";
import { readCohort, readCohortRows } from "./read-cohort.ts";
import type { ReadCohortOptions } from "./read-options.ts";

const NAMES = ["id", "time", "value", "kind", "onset", "unit"] as const;
const cells = {
  id: fc.constantFrom("p1", "p2", "7", "007", " p1", ""),
  number: fc.constantFrom("0", "1.5", "-2", "3e1", "71", "", "NA", ".b", "8.98846567431158e+307", "<5", "x", "1e155"),
  kind: fc.constantFrom("fvc", "tss"),
};
const row = fc.tuple(cells.id, cells.number, cells.number, cells.kind, cells.number, fc.constantFrom("L", "mL", ""));
const name = fc.constantFrom(...NAMES);
const asked = fc.record({
  id: name,
  time: name,
  value: name,
  marker: fc.option(name, { nil: undefined, freq: 3 }),
  origin: fc.option(name, { nil: undefined, freq: 3 }),
  onBad: fc.constantFrom("refuse" as const, "leave-out" as const),
});

/** What reading gives, the name of the way apart. */
function outcomeOf(read: () => ReturnType<typeof readCohort>) {
  try {
    const { cohort, columns, numRowsLeftOut, warnings } = read();
    return { cohort, columns, numRowsLeftOut, warnings };
  } catch (error) {
    if (!(error instanceof DtmError)) throw error;
    return { code: error.code, message: error.message };
  }
}

describe("readers of plain and of quoted text and of rows", () => {
  it("agree under any choice of columns, and refuse one column in two roles", () => {
    let [numRead, numRefused] = [0, 0];
    fc.assert(
      fc.property(
        fc.array(row, { minLength: 1, maxLength: 8 }),
        asked,
        (rows, { marker, origin, onBad, ...columns }) => {
          const options: ReadCohortOptions = {
            columns,
            onBad,
            ...(origin && { origin: `column:${origin}` }),
            ...(marker && { markerColumn: marker, markers: [{ column: "fvc" }, { column: "tss" }] }),
          };
          const table = [[...NAMES], ...rows];
          const plain = table.map((cells) => cells.join(",")).join("\n");
          const quoted = table.map((cells) => cells.map((cell) => `"${cell}"`).join(",")).join("\n");
          const first = outcomeOf(() => readCohort(plain, options));
          expect(outcomeOf(() => readCohort(quoted, options))).toEqual(first);
          expect(outcomeOf(() => readCohort(quoted.match(/[\s\S]{1,7}/g)!, options))).toEqual(first);
          expect(outcomeOf(() => readCohortRows(table[0]!, rows, options))).toEqual(first);
          const roles = [columns.id, columns.time, columns.value, marker, origin].filter((one) => one !== undefined);
          if (new Set(roles).size < roles.length) {
            expect(first).toMatchObject({ code: "two-roles" });
            numRefused++;
          } else numRead++;
        },
      ),
      { numRuns: 300, seed: 17 },
    );
    // Both sides of the rule were met often.
    expect(Math.min(numRead, numRefused)).toBeGreaterThan(25);
  });

  it.each([
    ["id and origin", { origin: "column:id" }],
    ["value and origin", { origin: "column:value" }],
    ["time and origin", { origin: "column:time" }],
  ])("refuse one column as %s", (_, options) => {
    const text = "id,time,value\n1,0,71\n1,1,72\n2,0,80\n";
    expect(outcomeOf(() => readCohort(text, options))).toMatchObject({ code: "two-roles" });
  });
});

describe("codes of statistical programs for missing", () => {
  it("are left out and told, never computed with", () => {
    const codes = [
      ".a",
      ".Z",
      "._",
      "8.98846567431158e+307",
      "9e307",
      "1.70141173319264e+38",
      "-1.79769313486232e+308",
    ];
    const bad = codes.map((code, k) => `p,${k + 5},${code}`).join("\n");
    const { cohort, warnings } = readCohort(`id,time,value\np,0,71\np,1,72\nq,0,80\n${bad}\n`);
    expect([...cohort.markers[0]!.values]).toEqual([71, 72, 80]);
    const [told] = warnings.filter(({ code }) => code === "missing-value");
    expect(told).toMatchObject({ count: codes.length });
    for (const words of [".a (Stata or SAS)", "9e307 (Stata)", "-1.79769313486232e+308 (SPSS)"]) {
      expect(told?.received).toContain(words);
    }
  });

  it("keep large numbers that are none refused", () => {
    const refused = outcomeOf(() => readCohort("id,time,value\np,0,1e155\np,1,72\nq,0,80\n"));
    expect(refused).toMatchObject({ code: "not-finite" });
  });

  it("by convention are asked about, two of them beside each other too, and one alone is told as far away", () => {
    const usual = Array.from({ length: 60 }, (_, k) => `p${k % 12},${k},${60 + (k % 40)}`);
    const warned = (...values: number[]) =>
      readCohort(["id,time,value", ...usual, ...values.map((v, k) => `p${k},90,${v}`)].join("\n"))
        .warnings.filter(({ code }) => code === "suspected-missing-code" || code === "outlier")
        .map(({ code, received }) => `${code} ${/-?\d+ in|first -?\d+/.exec(received)?.[0]}`);
    expect(warned(-99, -99, -88, -88)).toEqual(["suspected-missing-code -99 in", "suspected-missing-code -88 in"]);
    expect(warned(2147483647, 2147483647)).toEqual(["suspected-missing-code 2147483647 in"]);
    expect(warned(-9999)).toEqual(["outlier first -9999"]);
  });
});
