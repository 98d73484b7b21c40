/** A table of individuals: one row each, columns as text; and follow-up times from two of its columns, held against the visits. */
import { checkNames, DtmError, optionNames, showReceived } from "../errors.ts";
import { usualColumns } from "../ingest/column-names.ts";
import { createComplaintBook, raggedRow } from "../ingest/complaints.ts";
import { readTableFile, readTableText, type TableSource } from "../ingest/formats.ts";
import { namesIndividuals, timeColumns } from "../ingest/id-columns.ts";
import { isMissing, readNumber } from "../ingest/numbers.ts";
import { lineOf, type SubjectsTable } from "../ingest/subjects-table.ts";
import type { TableOptions, TableReader } from "../ingest/table.ts";
import type { FollowUp } from "../survival/follow-up.ts";
import { noFollowUpOf } from "../survival/is-follow-up.ts";
import type { Visits } from "../survival/landmark.ts";

export interface ReadSubjectsOptions extends TableOptions {
  /** Column with the id. Default: guessed from usual names, else the first. */
  readonly id?: string;
  /** Whether the column is guessed if the one named is not there. Default: the table is refused. */
  readonly orGuess?: boolean;
  readonly decimal?: "." | ",";
}

const SUBJECTS_OPTIONS = optionNames<ReadSubjectsOptions>({
  ...{ id: true, orGuess: true, decimal: true, delimiter: true, sheet: true, file: true, encoding: true },
});

export interface ReadSubjects {
  readonly table: SubjectsTable;
  readonly notes: readonly string[];
}

/**
 * Rows of a table of individuals; refuses ragged rows, broken quotes, empty ids and unknown id columns.
 * @throws DtmError "missing-column", "ragged-row", "missing-id" or "no-rows", with every complaint.
 * @example
 * const { table } = readSubjects("id,death\na,0\nb,1\n");
 */
export function readSubjects(text: string, options: ReadSubjectsOptions = {}): ReadSubjects {
  return readTableText(text, subjectsReader(options), options, "readSubjects");
}

/** The same from the bytes of a file, of any known format, plain or gzip. */
export function readSubjectsFile(bytes: TableSource, options: ReadSubjectsOptions = {}): Promise<ReadSubjects> {
  return readTableFile(bytes, subjectsReader(options), options);
}

function subjectsReader(options: ReadSubjectsOptions): TableReader<ReadSubjects> {
  checkNames("readSubjects", options, SUBJECTS_OPTIONS);
  const book = createComplaintBook(options.file);
  const ids: string[] = [];
  const lines: number[] = [];
  const notes: string[] = [];
  let names: string[] | undefined;
  let at = 0;
  let cells: string[][] = [];
  const row = (fields: readonly string[], line: number): boolean => {
    if (names === undefined) {
      names = fields.map((field) => field.trim());
      cells = names.map(() => []);
      const isThere = options.id !== undefined && names.includes(options.id);
      at = idColumn(names, isThere || options.orGuess !== true ? options.id : undefined, notes);
      return true;
    }
    if (fields.length !== names.length) {
      book.refuse({ line }, ...raggedRow(fields.length, names.length));
      return true;
    }
    const id = fields[at].trim();
    if (id === "") {
      const where = { line, column: names[at], columnNumber: at + 1 };
      const remedy = "Give every row the id of its individual.";
      book.refuse(where, "missing-id", ["an id", "an empty cell", remedy]);
      return true;
    }
    ids.push(id);
    lines.push(line);
    fields.forEach((field, k) => {
      cells[k].push(field);
    });
    return true;
  };
  return {
    start: () => {},
    row,
    finish: ({ fault }) => {
      if (fault !== undefined) book.refuse(fault.where, ...fault.finding);
      if (ids.length === 0) book.refuse({}, "no-rows", ["rows of individuals", "none", "Check the file."]);
      book.throwIfRefused();
      const columns = (names ?? []).map((name, k) => ({ name, cells: cells[k] }));
      const file = options.file === undefined ? {} : { file: options.file };
      return { table: { ...file, ids, lines, columns, decimal: options.decimal ?? "." }, notes };
    },
  };
}

function idColumn(names: readonly string[], wanted: string | undefined, notes: string[]): number {
  if (wanted !== undefined) {
    const at = names.indexOf(wanted);
    if (at >= 0) return at;
    const listed = names.map((name) => showReceived(name)).join(", ");
    throw new DtmError(
      "missing-column",
      `Expected a column "${showReceived(wanted)}" with the ids, received the columns ${listed}. Name the one that holds the id.`,
    );
  }
  const [guess = 0] = usualColumns(names, "id");
  if (names[guess] !== "id") notes.push(`Column "${showReceived(names[guess])}" is taken as id.`);
  return guess;
}

/**
 * Follow-up of the individuals `ids` [m] from a column of times and 0/1 labels of the event (255: unknown). With their
 * `visits`, times that cannot be a follow-up of these are refused.
 * @throws DtmError "missing-column", "id-column", "follow-up", "not-a-number" or "contradicting-outcome", with every complaint.
 */
export function readFollowUp(
  table: SubjectsTable,
  timeColumn: string,
  labels: Uint8Array,
  ids: readonly string[],
  visits?: Visits,
): FollowUp {
  const column = table.columns.findIndex(({ name }) => name === timeColumn);
  const listed = table.columns.map(({ name }) => showReceived(name)).join(", ");
  if (column < 0) {
    throw new DtmError(
      "missing-column",
      `Expected a column "${showReceived(timeColumn)}" with the time of follow-up, received the columns ${listed}. Write the event as name:column.`,
    );
  }
  if (namesIndividuals(table, column)) {
    throw new DtmError(
      "id-column",
      `Expected times of follow-up in the column "${showReceived(timeColumn)}", received ids or running numbers, which no two individuals share. Name the column with the time.`,
    );
  }
  const book = createComplaintBook(table.file);
  const times = new Float64Array(ids.length).fill(Number.NaN);
  const individual = new Map(ids.map((id, i) => [id, i]));
  table.ids.forEach((id, row) => {
    const i = individual.get(id);
    const cell = (table.columns[column].cells[row] ?? "").trim();
    if (i === undefined || isMissing(cell)) return;
    const time = readNumber(cell, table.decimal ?? ".");
    const where = { line: lineOf(table, row), column: timeColumn, columnNumber: column + 1 };
    if (Number.isNaN(time) || time < 0) {
      book.refuse(where, "not-a-number", [
        "a time of follow-up from 0 on",
        `"${showReceived(cell)}"`,
        "Mend the cell or leave it empty.",
      ]);
    } else if (!Number.isNaN(times[i]) && times[i] !== time) {
      book.refuse(where, "contradicting-outcome", [
        `one time of follow-up for id "${showReceived(id)}"`,
        `${times[i]} and ${time}`,
        "Keep one row for each individual.",
      ]);
    } else times[i] = time;
  });
  book.throwIfRefused();
  const followUp = { times, events: Float64Array.from(labels, (label) => (label > 1 ? Number.NaN : label)) };
  const fault = visits === undefined ? undefined : noFollowUpOf(visits, followUp);
  if (fault !== undefined) {
    const [expected, received] = fault;
    throw new DtmError(
      "follow-up",
      `Follow-up from the column "${showReceived(timeColumn)}": expected ${expected}, received ${received}. ` +
        "Name the column that says how long each was followed, on the clock of the visits.",
    );
  }
  return followUp;
}

/** Names of the columns that `readFollowUp` takes for an event, given the visits. */
export function followUpColumns(
  table: SubjectsTable,
  labels: Uint8Array,
  ids: readonly string[],
  visits: Visits,
): string[] {
  return timeColumns(table).filter((name) => {
    try {
      readFollowUp(table, name, labels, ids, visits);
      return true;
    } catch (error) {
      if (error instanceof DtmError) return false;
      throw error;
    }
  });
}
