/**
 * One pass over the rows of a table: the first names the columns, each later one becomes an observation of each marker that it has a
 * value of, or a complaint. What needs the whole table (dates, decimal marks) is counted here and judged by `readCohort`.
 */
import { applyTransform, type Transform } from "../cohort/marker.ts";
import { showReceived } from "../errors.ts";
import { complain, readId, readOrigin, readTime, readValue } from "./cells.ts";
import { columnsNamed } from "./column-names.ts";
import {
  cellPlace,
  type FoundColumns,
  findColumns,
  twoRolesFinding,
  type WantedColumns,
  withDates,
} from "./columns.ts";
import { type ComplaintBook, raggedRow } from "./complaints.ts";
import { isClock, isMissing } from "./numbers.ts";
import { parseOrigin } from "./origin.ts";
import type { Reading } from "./reading.ts";
import { appendRow } from "./rows.ts";
import { findUnitColumns, inMarkerUnit } from "./unit-cells.ts";
import { findUnreadMarkers, noteUnreadMarker } from "./unread-markers.ts";

/** Rows left out that are kept as they are written, to be shown. */
const LEFT_OUT_KEPT = 1000;

/** Reads one row (the header first); false once reading cannot go on. */
export function readRow(reading: Reading, fields: readonly string[], line: number): boolean {
  if (reading.skip.has(line)) return true;
  if (reading.found === undefined) return readHeader(reading, fields, line);
  reading.numRows++;
  if (reading.firstRow === 0) reading.firstRow = line;
  reading.lastRow = line;
  // A time of day in the first cell that is filled tells that the dates stand beside it.
  if (reading.found.dates >= 0 && !isMissing((fields[reading.found.positions.time] ?? "").trim())) {
    const holdsClock = isClock(fields[reading.found.positions.time].trim());
    reading.found = holdsClock ? withDates(reading.found) : { ...reading.found, dates: -1 };
    if (holdsClock && refuseTwoRoles(reading, reading.found, 1)) return false;
  }
  const taken = readObservation(reading, reading.found, fields, line);
  if (!taken && reading.leftOutRows.length < LEFT_OUT_KEPT) reading.leftOutRows.push({ line, cells: fields });
  return true;
}

function readHeader(reading: Reading, header: readonly string[], line: number): boolean {
  const { columns: asked = {}, orGuess = false, markers, markerColumn, mayLack = false } = reading.options;
  const { origin: _, dates: __, ...columns } = asked;
  const several: WantedColumns =
    markers === undefined
      ? {}
      : markerColumn === undefined
        ? { values: markers.map(({ column }) => column), mayLack }
        : { marker: markerColumn };
  let found = findColumns(header, { ...columns, ...several }, line);
  if (orGuess && !("header" in found) && found[0].code === "missing-column") {
    found = findColumns(header, several, line);
  }
  if (refuseNul(reading, reading.structure, header, line)) return false;
  if ("header" in found) {
    if (!findUnitColumns(reading, found, line)) return false;
    reading.found = found;
    reading.header = header;
    reading.origin.at = originColumn(reading, found);
    findUnreadMarkers(reading, found);
    return !refuseTwoRoles(reading, found, line);
  }
  for (const { code, expected, received, remedy, where } of found) {
    reading.structure.refuse(where, code, [expected, received, remedy]);
  }
  return false;
}

/** Complains of a column that is asked for as two things, those beside id, time and values included: such numbers would mean nothing. */
function refuseTwoRoles({ origin, units, structure }: Reading, found: FoundColumns, line: number): boolean {
  const { positions, values, marker } = found;
  const twice = twoRolesFinding([
    { role: "id", at: positions.id },
    { role: "time", at: positions.time },
    ...[...new Set(marker < 0 ? values : [positions.value])].map((at) => ({ role: "value", at })),
    { role: "column of markers", at: marker },
    { role: "origin of time", at: origin.at },
    ...[...new Set(units?.positions ?? [])].map((at) => ({ role: "unit", at })),
  ]);
  if (twice !== undefined) structure.refuse(cellPlace(found, twice.at, line), ...twice.finding);
  return twice !== undefined;
}

/** Position of the column from which times are counted, if the table has it. */
function originColumn({ options }: Reading, { header }: FoundColumns): number {
  const rule = options.origin ?? options.columns?.origin ?? "none";
  const origin = rule === "none" ? undefined : parseOrigin(rule);
  return origin?.kind === "column" ? (columnsNamed(header, origin.column)[0] ?? -1) : -1;
}

/** Adds the observations of a row, one per marker at most, or complaints about it; returns whether all is well with it. */
function readObservation(reading: Reading, found: FoundColumns, fields: readonly string[], line: number): boolean {
  if (fields.length !== reading.header.length) {
    reading.cells.refuse({ line }, ...raggedRow(fields.length, reading.header.length));
    return false;
  }
  if (refuseNul(reading, reading.cells, fields, line)) return false;
  const { positions, values: valueColumns, marker } = found;
  const named = marker < 0 ? undefined : fields[marker].trim();
  if (named !== undefined && !reading.levels.has(named)) {
    reading.others.set(named, (reading.others.get(named) ?? 0) + 1);
    return true;
  }
  // The marker that the row names, or each by its column.
  const from = named === undefined ? 0 : reading.levels.get(named)!;
  const to = named === undefined ? valueColumns.length : from + 1;
  const column = (k: number) => (named === undefined ? valueColumns[k] : positions.value);
  const { values } = reading;
  let isEmpty = true;
  for (let k = from; k < to; k++) {
    const at = column(k);
    values[k] = at < 0 ? Number.POSITIVE_INFINITY : readValue(reading, k, at, fields[at].trim(), line);
    if (values[k] !== Number.POSITIVE_INFINITY) isEmpty = false;
  }
  if (isEmpty) {
    if (reading.missing.count === 0) reading.missing.line = line;
    reading.missing.count++;
  }
  const time = readTime(reading, fields[positions.time].trim(), line, isEmpty);
  // The id comes last: a line of units is better told by its words than by its empty id.
  const individual = readId(reading, fields[positions.id], line);
  if (individual >= 0 && reading.origin.at >= 0) readOrigin(reading, individual, fields[reading.origin.at], line);
  if (individual < 0 || isEmpty || Number.isNaN(time)) return false;
  let isWell = true;
  let isTaken = false;
  for (let k = from; k < to; k++) {
    if (values[k] === Number.POSITIVE_INFINITY) continue;
    const { marker, rows } = reading.series[k];
    const value = reading.units === undefined ? values[k] : inMarkerUnit(reading, k, values[k], fields, line);
    if (!Number.isNaN(value) && isInDomain(reading, marker.transform, value, fields, column(k), line)) {
      appendRow(rows, individual, time, value, line, reading.sides[k]);
      isTaken = true;
    } else isWell = false;
  }
  if (isTaken) {
    reading.numTaken++;
    noteUnreadMarker(reading, fields);
  }
  return isWell;
}

/** Whether a value has a transform; a complaint if it has none. */
function isInDomain(
  reading: Reading,
  transform: Transform,
  value: number,
  fields: readonly string[],
  at: number,
  line: number,
): boolean {
  if (transform === "identity" || Number.isFinite(applyTransform(transform, value))) return true;
  complain(reading, at, line, "transform-domain", [
    `a value that has a ${transform}`,
    showReceived(fields[at].trim()),
    "Leave such rows out, or choose another transform (log1p and sqrt take 0; logit takes shares between 0 and 1).",
  ]);
  return false;
}

/** Complains of a NUL, which is never text: the file is binary, damaged, or in an encoding of two bytes a letter. */
function refuseNul(reading: Reading, book: ComplaintBook, fields: readonly string[], line: number): boolean {
  const k = fields.findIndex((field) => field.includes("\u0000"));
  if (k < 0) return false;
  const name = reading.header[k] === undefined ? {} : { column: reading.header[k].trim() };
  book.refuse({ line, ...name, columnNumber: k + 1 }, "control-character", [
    "printable characters",
    `"${showReceived(fields[k])}"`,
    "Remove the control character, or export the file anew as UTF-8.",
  ]);
  return true;
}
