/** Cells of units beside the values of a row: found in the header, and the value in the unit of its marker or a complaint. */
import { isComputable } from "../cohort/marker.ts";
import { showReceived } from "../errors.ts";
import type { UnitRefusal } from "../units/unit-converter.ts";
import { columnsNamed } from "./column-names.ts";
import { cellPlace, type FoundColumns } from "./columns.ts";
import { howMany, type Words } from "./complaints.ts";
import type { Reading } from "./reading.ts";

/** Finds the columns of units; false after a complaint. */
export function findUnitColumns({ units, structure }: Reading, { header }: FoundColumns, line: number): boolean {
  const { columns = [], positions } = units ?? {};
  let isFound = true;
  for (const [j, name] of columns.entries()) {
    if (name === "") continue;
    const found = columnsNamed(header, name);
    if (found.length === 1) {
      if (columns.length === 1) positions!.fill(found[0]);
      else positions![j] = found[0];
      continue;
    }
    const listed = header.slice(0, 30).map((column) => `"${showReceived(column)}"`);
    structure.refuse({ line }, found.length === 0 ? "missing-column" : "duplicate-column", [
      `one column "${showReceived(name)}" with units`,
      `the columns ${listed.join(", ")}`,
      "Name the column that holds the unit of each value.",
    ]);
    isFound = false;
  }
  return isFound;
}

/** The value of marker k in the unit of the marker; NaN after a complaint, and for NaN. */
export function inMarkerUnit(
  reading: Reading,
  k: number,
  value: number,
  fields: readonly string[],
  line: number,
): number {
  if (Number.isNaN(value)) return value;
  const { positions, converters, counts, refused, beyond, unit } = reading.units!;
  const at = positions[k];
  if (at < 0 && unit === undefined && (beyond === undefined || (value - beyond.limit) * beyond.side <= 0)) return value;
  const written = at < 0 ? (unit ?? beyond!.unit) : fields[at].trim();
  const found = converters[k].conversion(written);
  if ("reason" in found) {
    const key = `${k} ${written}`;
    const known = refused.get(key);
    if (known === undefined) refused.set(key, { refusal: found, written, marker: k, at, line, count: 1 });
    else known.count++;
    return Number.NaN;
  }
  const counted = counts[k].get(written);
  if (counted === undefined) counts[k].set(written, { conversion: found, count: 1 });
  else counted.count++;
  if (found.slope === 1 && found.intercept === 0) return value;
  const converted = found.intercept + found.slope * value;
  if (isComputable(converted)) return converted;
  reading.cells.refuse({ line }, "not-finite", ["a value that can be computed with", String(value), "Check the unit."]);
  return Number.NaN;
}

const CODES = { missing: "missing-unit", unknown: "unknown-unit", other: "other-unit" } as const;

/** One complaint for each unit that could not be converted; a warning with its count where such rows are left out. */
export function refuseUnits({ units, found, structure, cells, options }: Reading): void {
  for (const { refusal, written, marker, at, line, count } of units?.refused.values() ?? []) {
    const place = at < 0 || found === undefined ? { line } : cellPlace(found, at, line);
    const code = CODES[refusal.reason];
    const words = wordsOf(refusal, written, units!.converters[marker].unit() ?? "", count);
    if (options.onBad === "leave-out") cells.warn(place, count, code, words);
    else structure.refuse(place, code, words);
  }
}

function wordsOf({ reason, remedy = "" }: UnitRefusal, written: string, to: string, count: number): Words {
  const many = howMany(count, "value");
  if (reason === "missing") {
    const as = to || "mg/dL";
    return [
      "the unit of every value",
      `${many} without one`,
      `Give it, or say what no unit means (--unit-means "=${as}"; meant).`,
    ];
  }
  const received = `${many} in "${showReceived(written)}"`;
  return [to === "" ? "a unit" : `units that can be brought to ${to}`, received, remedy];
}
