/**
 * From a table of individuals to labels. An outcome is asked for as
 *   name          a column of 0/1, yes/no or true/false; of any other two values the later in text order is the case
 *   name=level    cells equal to `level` are cases
 *   name>=x       cells of at least the number x are cases
 * Empty cells are missing and counted. All complaints about all outcomes are collected before anything is refused.
 */
import { compareText } from "../cohort/cohort.ts";
import { type Complaint, type ErrorCode, showReceived, type Where } from "../errors.ts";
import { columnsNamed } from "../ingest/column-names.ts";
import { createComplaintBook, type Words } from "../ingest/complaints.ts";
import { isMissing, readNumber } from "../ingest/numbers.ts";
import { checkSharedIds, lineOf, type SubjectsTable } from "../ingest/subjects-table.ts";

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
  // Where nobody is in both, nothing else about an outcome is worth telling.
  if (specifications.length > 0) checkSharedIds(table, cohortIds);
  const individual = new Map(cohortIds.map((id, i) => [id, i]));
  const book = createComplaintBook(table.file);
  const refuse: Refuse = (code, words, where = {}) => {
    book.refuse(where, code, words);
    return undefined;
  };
  const outcomes = specifications.flatMap((specification) => {
    const rule = parseSpecification(specification, table, refuse);
    return (rule && readOutcome(specification, rule, table, individual, refuse)) ?? [];
  });
  book.throwIfRefused();
  const unknown = [...table.ids.keys()].filter((row) => !individual.has(table.ids[row]));
  if (unknown.length > 0) {
    const count = new Set(unknown.map((row) => table.ids[row])).size;
    const received = `${count} ${count === 1 ? "id" : "ids"} without any`;
    const words = ["ids of individuals with visits", received, "They are left out."] as const;
    book.warn({ line: lineOf(table, unknown[0]) }, count, "unknown-ids", words);
  }
  return { outcomes, warnings: book.warnings() };
}

/** Adds a complaint that refuses the table. */
type Refuse = (code: ErrorCode, words: Words, where?: Where) => undefined;

interface Rule {
  readonly column: SubjectsTable["columns"][number];
  readonly columnNumber: number;
  readonly level?: string;
  readonly threshold?: number;
}

/** A column of that very name, or a column and a condition; undefined after a complaint. */
function parseSpecification(text: string, table: SubjectsTable, refuse: Refuse): Rule | undefined {
  const whole = findColumn(text, table);
  if (whole !== undefined) return whole;
  for (const operator of [">=", "="]) {
    const at = text.indexOf(operator);
    const rule = at > 0 ? findColumn(text.slice(0, at), table) : undefined;
    if (rule === undefined) continue;
    const value = text.slice(at + operator.length).trim();
    if (operator === "=") return { ...rule, level: value };
    const threshold = readNumber(value, ".");
    if (!Number.isNaN(threshold)) return { ...rule, threshold };
    return refuse("outcome-specification", [
      `a number after ">=" in the outcome "${showReceived(text)}"`,
      `"${showReceived(value)}"`,
      "Write for example age>=50.",
    ]);
  }
  return refuse("missing-column", [
    "an outcome as name, name=level or name>=x with the name of a column",
    `"${showReceived(text)}"`,
    `Columns found: ${table.columns.map((column) => showReceived(column.name)).join(", ")}.`,
  ]);
}

/** By exact name, the first of several, else by name without regard to case if that is unambiguous. */
function findColumn(name: string, { columns }: SubjectsTable): Rule | undefined {
  const names = columns.map((column) => column.name.trim());
  const [at, ...others] = columnsNamed(names, name);
  if (at === undefined || (others.length > 0 && names[at] !== name.trim())) return undefined;
  return { column: columns[at], columnNumber: at + 1 };
}

/** What cells mean: a label, or undefined where the cell cannot be read. */
interface Reading {
  readonly label: (cell: string) => number | undefined;
  readonly caseMeans: string;
  readonly controlMeans: string;
  readonly notes: readonly string[];
}

/** Pairs of control and case that need no explaining. */
const WORDS: readonly (readonly [string, string])[] = [
  ["0", "1"],
  ["no", "yes"],
  ["false", "true"],
];

/** Columns whose every filled cell is 0 or 1, yes or no, true or false, both present: outcomes that need no explaining. */
export function plainOutcomes(table: SubjectsTable): string[] {
  return table.columns.flatMap(({ name, cells }) => {
    const values = new Set(cells.map((cell) => cell.trim().toLowerCase()).filter((cell) => !isMissing(cell)));
    return values.size === 2 && WORDS.some((pair) => pair.every((word) => values.has(word))) ? [name] : [];
  });
}

/** Labels of one outcome; undefined after a complaint. */
function readOutcome(
  name: string,
  rule: Rule,
  table: SubjectsTable,
  individual: ReadonlyMap<string, number>,
  refuse: Refuse,
): Outcome | undefined {
  const { column, columnNumber } = rule;
  const where = { column: column.name, columnNumber };
  // Rows of unknown individuals do not take part, not even in what the values mean.
  const rows = [...table.ids.keys()].filter((row) => individual.has(table.ids[row]));
  const cell = (row: number) => (column.cells[row] ?? "").trim();
  const present = rows.filter((row) => !isMissing(cell(row)));
  const values = [...new Set(present.map(cell))].sort(compareText);
  const reading = readingOf(rule, values, table.decimal ?? ".");
  if (reading === undefined) return refuseValues(name, values, where, refuse);
  const labels = new Uint8Array(individual.size).fill(MISSING);
  const source = new Int32Array(individual.size).fill(-1);
  let refused = false;
  for (const row of present) {
    const label = reading.label(cell(row));
    const i = individual.get(table.ids[row])!;
    const here = { line: lineOf(table, row), ...where };
    const shown = `"${showReceived(cell(row))}"`;
    if (label === undefined) {
      refused = true;
      refuse("not-a-number", ["a number", shown, "Mend the cell or leave it empty."], here);
    } else if (labels[i] !== MISSING && labels[i] !== label) {
      refused = true;
      const expected = `one outcome for id "${showReceived(table.ids[row])}"`;
      const received = `"${showReceived(cell(source[i]))}" in line ${lineOf(table, source[i])} and ${shown} here`;
      refuse("contradicting-outcome", [expected, received, "Keep one row for each individual."], here);
    } else {
      labels[i] = label;
      source[i] = row;
    }
  }
  return refused ? undefined : summarize(name, labels, reading, where, refuse);
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
  refuse: Refuse,
): Outcome | undefined {
  const count = (label: number) => labels.reduce((s, v) => s + (v === label ? 1 : 0), 0);
  const [cases, controls] = [count(CASE), count(CONTROL)];
  const { caseMeans, controlMeans, notes } = reading;
  if (cases === 0 || controls === 0) {
    const expected = `cases and controls in the outcome "${showReceived(name)}"`;
    const received = `${cases} individuals for whom ${caseMeans} and ${controls} for whom ${controlMeans}`;
    return refuse("one-class", [expected, received, "Choose another outcome, level or threshold."], where);
  }
  return { name, labels, cases, controls, missing: count(MISSING), caseMeans, controlMeans, notes };
}

/** A bare column without two classes to read: none, one, or several values. */
function refuseValues(name: string, values: readonly string[], where: Where, refuse: Refuse): undefined {
  const shown = values.slice(0, 5).map((value) => `"${showReceived(value)}"`);
  const more = values.length > 5 ? ` and ${values.length - 5} more` : "";
  const expected = `two values in the outcome "${showReceived(name)}"`;
  const received = values.length === 0 ? "no value for any individual" : `${shown.join(", ")}${more}`;
  if (values.length <= 2) {
    const remedy = "Choose an outcome that differs between individuals.";
    return refuse("one-class", [expected, received, remedy], where);
  }
  const example = `${showReceived(name)}=${showReceived(values[values.length - 1])}`;
  return refuse("many-values", [expected, received, `Name the case, for example ${example}.`], where);
}
