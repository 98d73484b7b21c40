/** A wide table read as the long one that it stands for: complaints name the columns of the file. */
import { checkOption } from "../errors.ts";
import { timeUnitOf } from "./calendar.ts";
import { complaint, raggedRow, refusal } from "./complaints.ts";
import type { MarkerChoice, ReadCohortOptions } from "./read-options.ts";
import { readRow } from "./read-row.ts";
import { createReading, type Reading, startTable, wantedColumns } from "./reading.ts";
import type { TableEnd, TableReader, TableStart } from "./table.ts";
import { findWide, type WideLayout, wideColumn, wideRow } from "./wide.ts";

/** Reads the rows of a wide table; `finish` makes the result of what was gathered. */
export function wideReader<T>(
  options: ReadCohortOptions,
  finish: (reading: Reading, end: TableEnd) => T,
): TableReader<T> {
  let table: TableStart | undefined;
  let names: readonly string[] = [];
  let layout: WideLayout | undefined;
  let reading: Reading | undefined;
  const begin = (header: readonly string[], line: number): boolean => {
    names = header.map((name) => name.trim());
    layout = findWide(names, options.wide, timeUnitOf(askedUnit(options)));
    if (layout === undefined) throw noWide(names, line, options);
    reading = createReading(longOptions(options, layout));
    startTable(reading, { ...(table ?? { decimal: "." }), notes: [...(table?.notes ?? []), ...layout.notes] });
    return readRow(reading, layout.header, line);
  };
  return {
    start: (start) => {
      table = start;
    },
    row: (fields, line) => {
      if (options.skipLines?.includes(line) === true) return true;
      if (reading === undefined || layout === undefined) return begin(fields, line);
      if (fields.length !== names.length) {
        reading.numRows++;
        reading.cells.refuse({ line }, ...raggedRow(fields.length, names.length));
        return true;
      }
      for (const point of layout.points) {
        const row = wideRow(layout, point, fields);
        if (row === undefined) continue;
        const own = layout;
        reading.placeInWide = (at) => {
          const column = wideColumn(own, point, at);
          return column < 0 ? undefined : { column: names[column], columnNumber: column + 1 };
        };
        readRow(reading, row, line);
      }
      return true;
    },
    wanted: () => {
      const own = layout;
      const long = reading && wantedColumns(reading);
      if (own === undefined || long === undefined) return undefined;
      const positions = own.points.flatMap((point) => long.map((at) => wideColumn(own, point, at)));
      return new Set(positions.filter((at) => at >= 0));
    },
    finish: (end) => {
      if (reading !== undefined) reading.placeInWide = undefined;
      return finish(reading ?? createReading(options), end);
    },
  };
}

/** The unit of times that is asked for, "" if none is. */
function askedUnit({ markers, marker }: ReadCohortOptions): string {
  return markers?.[0]?.timeUnit ?? marker?.timeUnit ?? "";
}

/** The options of the long table: its time, its markers, and the unit that names of columns say. */
function longOptions(options: ReadCohortOptions, { time, markers, unit }: WideLayout): ReadCohortOptions {
  const asked = askedUnit(options);
  const agrees = unit === undefined || asked === "" || timeUnitOf(asked) === unit;
  checkOption(
    agrees,
    "The unit of time (--time-unit; timeUnit)",
    `years, months, weeks or days, as names of columns say ${unit}`,
    `"${asked}"`,
    `Choose one of these, or leave it out for ${unit}.`,
  );
  const timeUnit = asked === "" ? (unit ?? "") : asked;
  const { value } = options.columns ?? {};
  const wanted: readonly MarkerChoice[] | undefined =
    options.markers ?? (markers.length > 1 && value === undefined ? markers.map((column) => ({ column })) : undefined);
  const columns = { ...options.columns, time };
  if (wanted !== undefined) {
    const { marker, ...rest } = options;
    return {
      ...rest,
      columns,
      markers: wanted.map((own) => ({
        ...(options.markers ? {} : marker),
        ...own,
        name: own.name ?? own.column,
        timeUnit,
      })),
    };
  }
  return { ...options, columns: { ...columns, value: value ?? markers[0] }, marker: { ...options.marker, timeUnit } };
}

function noWide(names: readonly string[], line: number, { wide, file }: ReadCohortOptions): Error {
  const where = file === undefined ? { line } : { file, line };
  const listed = names.slice(0, 30).map((name) => `"${name}"`);
  const expected =
    wide === true
      ? "columns of one marker at several times, such as fvc_0, fvc_6"
      : `columns like ${wide}, with a number or a date for *`;
  const remedy = 'Name them by a pattern (--wide "fvc_*"), or leave --wide out for a table with a row per visit.';
  return refusal([
    complaint("refuse", where, "missing-column", [expected, `the columns ${listed.join(", ")}`, remedy]),
  ]);
}
