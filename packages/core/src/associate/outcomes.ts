/**
 * From a table of individuals to labels. An outcome is asked for as
 *   name          a column of 0/1, yes/no or true/false; of any other two values the later in text order is the case
 *   name=level    cells equal to `level` are cases
 *   name>=x       cells of at least the number x are cases
 * Empty cells are missing and counted. All complaints about all outcomes are collected before anything is refused.
 */
import { type Complaint, showReceived, type Where } from "../errors.ts";
import { type ComplaintBook, createComplaintBook } from "../ingest/complaints.ts";
import { isMissing, readNumber } from "../ingest/numbers.ts";

/** Rows of a table of individuals as text; an id may come twice. */
export interface SubjectsTable {
  readonly file?: string;
  /** Id of each row. */
  readonly ids: readonly string[];
  readonly columns: readonly { readonly name: string; readonly cells: readonly string[] }[];
  /** Physical line of each row; counted from 2 if left out. */
  readonly lines?: ArrayLike<number>;
  readonly decimal?: "." | ",";
}

export const CASE = 1;
export const CONTROL = 0;
export const MISSING = 255;

/** One outcome of the individuals of a cohort. */
export interface Outcome {
  /** As asked for. */
  readonly name: string;
  /** 1 case, 0 control, 255 missing, [m]. */
  readonly labels: Uint8Array;
  readonly cases: number;
  readonly controls: number;
  /** Empty cells and individuals the table does not list. */
  readonly missing: number;
  /** What makes a case and a control, in words. */
  readonly caseMeans: string;
  readonly controlMeans: string;
  /** Said aloud where the reading could surprise. */
  readonly notes: readonly string[];
}

export interface OutcomesRead {
  readonly outcomes: readonly Outcome[];
  readonly warnings: readonly Complaint[];
}

/** Labels of the outcomes asked for, for the individuals `cohortIds` [m]; refuses what cannot be read without guessing. */
export function readOutcomes(
  specifications: readonly string[],
  table: SubjectsTable,
  cohortIds: readonly string[],
): OutcomesRead {
  const individual = new Map(cohortIds.map((id, i) => [id, i]));
  const book = createComplaintBook(table.file);
  const outcomes: Outcome[] = [];
  for (const specification of specifications) {
    const rule = parseSpecification(specification, table, book);
    if (rule === undefined) continue;
    const outcome = readOutcome(specification, rule, table, individual, book);
    if (outcome !== undefined) outcomes.push(outcome);
  }
  book.throwIfRefused();
  return { outcomes, warnings: unknownIds(table, individual) };
}

interface Rule {
  readonly column: SubjectsTable["columns"][number];
  readonly columnNumber: number;
  readonly level?: string;
  readonly threshold?: number;
}

/** A column of that very name, or a column and a condition; undefined after a complaint. */
function parseSpecification(text: string, table: SubjectsTable, book: ComplaintBook): Rule | undefined {
  const find = (name: string) => findColumn(name.trim(), table);
  const whole = find(text);
  if (whole !== undefined) return whole;
  for (const operator of [">=", "="]) {
    const at = text.indexOf(operator);
    const rule = at > 0 ? find(text.slice(0, at)) : undefined;
    if (rule === undefined) continue;
    const value = text.slice(at + operator.length).trim();
    if (operator === "=") return { ...rule, level: value };
    const threshold = readNumber(value, ".");
    if (!Number.isNaN(threshold)) return { ...rule, threshold };
    book.refuse(
      {
        code: "outcome-specification",
        expected: `a number after ">=" in the outcome "${showReceived(text)}"`,
        received: `"${showReceived(value)}"`,
        remedy: "Write for example age>=50.",
      },
      {},
    );
    return undefined;
  }
  const names = table.columns.map((column) => showReceived(column.name)).join(", ");
  book.refuse(
    {
      code: "missing-column",
      expected: "an outcome as name, name=level or name>=x with the name of a column",
      received: `"${showReceived(text)}"`,
      remedy: `Columns found: ${names}.`,
    },
    {},
  );
  return undefined;
}

/** By exact name, else by name without regard to case if that is unambiguous. */
function findColumn(name: string, table: SubjectsTable): Rule | undefined {
  const { columns } = table;
  let at = columns.findIndex((column) => column.name === name);
  if (at < 0) {
    const alike = [...columns.keys()].filter((k) => columns[k].name.trim().toLowerCase() === name.toLowerCase());
    if (alike.length === 1) at = alike[0];
  }
  return at < 0 ? undefined : { column: columns[at], columnNumber: at + 1 };
}

/** What cells mean: a label, or undefined where the cell cannot be read. */
interface Reading {
  readonly label: (cell: string) => number | undefined;
  readonly caseMeans: string;
  readonly controlMeans: string;
  readonly notes: readonly string[];
}

const WORDS: readonly (readonly [string, string])[] = [
  ["0", "1"],
  ["no", "yes"],
  ["false", "true"],
];

/** Labels of one outcome; undefined after a complaint. */
function readOutcome(
  name: string,
  rule: Rule,
  table: SubjectsTable,
  individual: ReadonlyMap<string, number>,
  book: ComplaintBook,
): Outcome | undefined {
  const { column, columnNumber } = rule;
  const where = (row?: number): Where =>
    row === undefined
      ? { column: column.name, columnNumber }
      : { line: table.lines?.[row] ?? row + 2, column: column.name, columnNumber };
  // Rows of unknown individuals do not take part, not even in what the values mean.
  const rows = [...table.ids.keys()].filter((row) => individual.has(table.ids[row]));
  const cell = (row: number) => (column.cells[row] ?? "").trim();
  const present = rows.filter((row) => !isMissing(cell(row)));
  const reading = readingOf(rule, [...new Set(present.map(cell))].sort(byText), table.decimal ?? ".");
  if (reading === undefined) {
    refuseValues(name, present.map(cell), where(), book);
    return undefined;
  }
  const labels = new Uint8Array(individual.size).fill(MISSING);
  const source = new Int32Array(individual.size).fill(-1);
  let refused = false;
  for (const row of present) {
    const label = reading.label(cell(row));
    const i = individual.get(table.ids[row])!;
    if (label === undefined) {
      refused = true;
      const remedy = "Mend the cell or leave it empty.";
      book.refuse(
        { code: "not-a-number", expected: "a number", received: `"${showReceived(cell(row))}"`, remedy },
        where(row),
      );
    } else if (labels[i] !== MISSING && labels[i] !== label) {
      refused = true;
      book.refuse(
        {
          code: "contradicting-outcome",
          expected: `one outcome for id "${showReceived(table.ids[row])}"`,
          received: `"${showReceived(cell(source[i]))}" in line ${where(source[i]).line} and "${showReceived(cell(row))}" here`,
          remedy: "Keep one row for each individual.",
        },
        where(row),
      );
    } else {
      labels[i] = label;
      source[i] = row;
    }
  }
  if (refused) return undefined;
  return summarize(name, labels, reading, where(), book);
}

/** How to read the cells, given the distinct values present in text order; undefined if there are not two to tell apart. */
function readingOf(rule: Rule, values: readonly string[], decimal: "." | ","): Reading | undefined {
  const { column, level, threshold } = rule;
  const reading = (
    label: Reading["label"],
    [caseIs, controlIs]: readonly [string, string],
    notes: readonly string[] = [],
  ): Reading => ({
    label,
    caseMeans: `${column.name} is ${caseIs}`,
    controlMeans: `${column.name} is ${controlIs}`,
    notes,
  });
  if (level !== undefined) {
    return reading((cell) => (cell === level ? CASE : CONTROL), [`"${level}"`, "something else"]);
  }
  if (threshold !== undefined) {
    return reading(
      (cell) => {
        const value = readNumber(cell, decimal);
        return Number.isNaN(value) ? undefined : value >= threshold ? CASE : CONTROL;
      },
      [`at least ${threshold}`, `below ${threshold}`],
    );
  }
  const lower = values.map((value) => value.toLowerCase());
  const words = WORDS.find((pair) => lower.every((value) => pair.includes(value)));
  if (words !== undefined) {
    const [no, yes] = words;
    return reading((cell) => (cell.toLowerCase() === yes ? CASE : CONTROL), [yes, no]);
  }
  if (values.length !== 2) return undefined;
  const [first, second] = values;
  return reading(
    (cell) => (cell === second ? CASE : CONTROL),
    [`"${second}"`, `"${first}"`],
    [
      `${column.name}: "${showReceived(second)}" counts as the case, being later in text order than ` +
        `"${showReceived(first)}"; ask for ${column.name}=${showReceived(first)} to turn it round.`,
    ],
  );
}

/** Counts the labels; refuses an outcome of one class. */
function summarize(
  name: string,
  labels: Uint8Array,
  reading: Reading,
  where: Where,
  book: ComplaintBook,
): Outcome | undefined {
  const count = (label: number) => labels.reduce((s, v) => s + (v === label ? 1 : 0), 0);
  const cases = count(CASE);
  const controls = count(CONTROL);
  const { caseMeans, controlMeans, notes } = reading;
  if (cases === 0 || controls === 0) {
    book.refuse(
      {
        code: "one-class",
        expected: `cases and controls in the outcome "${showReceived(name)}"`,
        received: `${cases} individuals for whom ${caseMeans} and ${controls} for whom ${controlMeans}`,
        remedy: "Choose another outcome, level or threshold.",
      },
      where,
    );
    return undefined;
  }
  return { name, labels, cases, controls, missing: count(MISSING), caseMeans, controlMeans, notes };
}

/** A bare column without two classes to read: none, one, or several values. */
function refuseValues(name: string, cells: readonly string[], where: Where, book: ComplaintBook): void {
  const values = [...new Set(cells)].sort(byText);
  const shown = values.slice(0, 5).map((value) => `"${showReceived(value)}"`);
  const more = values.length > 5 ? ` and ${values.length - 5} more` : "";
  const several = values.length > 2;
  book.refuse(
    {
      code: several ? "many-values" : "one-class",
      expected: `two values in the outcome "${showReceived(name)}"`,
      received: values.length === 0 ? "no value for any individual" : `${shown.join(", ")}${more}`,
      remedy: several
        ? `Name the case, for example ${showReceived(name)}=${showReceived(values[values.length - 1])}.`
        : "Choose an outcome that differs between individuals.",
    },
    where,
  );
}

/** One warning with the number of ids that the cohort does not hold. */
function unknownIds(table: SubjectsTable, individual: ReadonlyMap<string, number>): Complaint[] {
  const rows = [...table.ids.keys()].filter((row) => !individual.has(table.ids[row]));
  if (rows.length === 0) return [];
  const count = new Set(rows.map((row) => table.ids[row])).size;
  return [
    {
      code: "unknown-ids",
      severity: "warn",
      expected: "ids of individuals with visits",
      received: `${count} ${count === 1 ? "id" : "ids"} without any`,
      where: { ...(table.file === undefined ? {} : { file: table.file }), line: table.lines?.[rows[0]] ?? rows[0] + 2 },
      remedy: "They are left out.",
      count,
    },
  ];
}

/** Order by UTF-16 code unit, the same everywhere. */
function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
