/**
 * Covariates: what is known of individuals at their first visit and does not change (MULTI.md §5.1). A number is one column, a
 * category of L levels L − 1 columns of 0 and 1 beside its reference. Every column is centred and scaled to unit variance over the
 * fitted individuals; a model keeps the coding, so that new individuals are coded alike, and nothing of single individuals.
 * A missing value is never the mean in silence: the individual is left out, or "unknown" is a column of its own.
 */
import {
  type CodedColumn,
  type CodedCovariates,
  type Covariate,
  type CovariateCoding,
  type CovariateEffect,
  UNKNOWN,
} from "../cohort/coding.ts";
import { type Cohort, selectIndividuals } from "../cohort/cohort.ts";
import { type Complaint, DtmError, showReceived } from "../errors.ts";
import { createComplaintBook, type Finding } from "../ingest/complaints.ts";
import { isMissing, readNumber } from "../ingest/numbers.ts";
import { checkSharedIds, lineOf, type SubjectsTable } from "../ingest/subjects-table.ts";

/** The covariates of the individuals of a fit. */
export interface Covariates {
  readonly coding: CovariateCoding;
  /** Fitted individuals, in the order of the ids given, and their positions there, [m]. */
  readonly ids: readonly string[];
  readonly individuals: Int32Array;
  /** Coded columns, [m,P]. */
  readonly values: Float64Array;
  /** Individuals left out because a covariate is missing. */
  readonly leftOut: readonly string[];
  readonly warnings: readonly Complaint[];
}

/** A value of a covariate as it comes: a number, or text as it stands in a table; missing if null, undefined or empty. */
export type CovariateValue = string | number | null | undefined;

/**
 * The coded columns [P] of a new individual.
 * @throws DtmError "missing-covariate", "unknown-level" or "not-a-number", with the name of the covariate.
 * @example
 * const z = encodeFor(coding, { age: 54, sex: "f", drug: "placebo" });
 */
export function encodeFor(coding: CovariateCoding, row: Readonly<Record<string, CovariateValue>>): Float64Array {
  const z = new Float64Array(coding.columns.length);
  const fault = encodeInto(coding, (name) => (Object.hasOwn(row, name) ? row[name] : undefined), ".", z);
  if (fault === undefined) return z;
  const [code, [expected, received, remedy]] = fault.finding;
  throw new DtmError(code, `encodeFor: expected ${expected}, received ${received}. ${remedy}`);
}

/**
 * The coded columns [m,P] of new individuals from a table of them.
 * @throws DtmError "missing-column" or, with every complaint, what `encodeFor` throws.
 */
export function encodeTable(coding: CovariateCoding, table: SubjectsTable, ids: readonly string[]): Float64Array {
  const cells = cellsOf(table, coding.covariates, ids);
  const book = createComplaintBook(table.file);
  const P = coding.columns.length;
  const values = new Float64Array(ids.length * P);
  for (let i = 0; i < ids.length; i++) {
    const at = (name: string) => cells.get(name)?.[i]?.text;
    const fault = encodeInto(coding, at, table.decimal ?? ".", values.subarray(i * P, (i + 1) * P));
    if (fault === undefined) continue;
    const cell = cells.get(fault.name)?.[i];
    book.refuse(cell === undefined ? {} : { line: cell.line, column: fault.name }, ...fault.finding);
  }
  book.throwIfRefused();
  return values;
}

/**
 * The values of covariates [m] behind coded columns [m,P], as `encodeFor` takes them: numbers to twelve digits, levels, and "" for what is
 * unknown.
 */
export function decodeColumns({ coding, values }: CodedCovariates): (readonly CovariateValue[])[] {
  const P = coding.columns.length;
  const m = values.length / P;
  return coding.covariates.map(({ levels }, c) => {
    const own = coding.columns.flatMap((column, p) => (column.covariate === c ? [{ ...column, p }] : []));
    return Array.from({ length: m }, (_, i) => {
      const x = ({ p, center, scale }: (typeof own)[number]) => center + scale * values[i * P + p];
      const taken = own.find((column) => column.level !== null && x(column) > 0.5)?.level ?? levels[0];
      if (taken === UNKNOWN) return "";
      return taken ?? Number(x(own[0]).toPrecision(12));
    });
  });
}

/**
 * The coded columns [m,P] of individuals from a table that holds them as they are, such as a run keeps.
 * @throws DtmError "missing-covariate" where one is lacking or no number.
 */
export function takeCoded({ columns }: CovariateCoding, table: SubjectsTable, ids: readonly string[]): Float64Array {
  const rows = new Map(table.ids.map((id, row) => [id, row]));
  const cells = columns.map(({ name }) => table.columns.find((column) => column.name === name)?.cells);
  const values = ids.flatMap((id) => cells.map((own) => Number(own?.[rows.get(id) ?? -1] ?? Number.NaN)));
  const missing = values.findIndex((value) => !Number.isFinite(value));
  if (missing < 0) return Float64Array.from(values);
  const id = showReceived(ids[Math.floor(missing / columns.length)]);
  const where = table.file === undefined ? "" : `${table.file}: `;
  throw new DtmError(
    "missing-covariate",
    `${where}expected the coded covariates of "${id}", received none. Fit again, or name the visits.`,
  );
}

/** Standard deviations from the mean of those fitted beyond which a number is far outside them. */
const FAR = 5;

/**
 * Names of the numbers far outside those fitted, for each of individuals with coded columns [m,P]: what a model says of them is
 * extrapolated. The model keeps mean and standard deviation of a covariate, and nobody's own.
 */
export function farCovariates({ coding, values }: CodedCovariates): (readonly string[])[] {
  const { columns, covariates } = coding;
  const P = columns.length;
  return Array.from({ length: P === 0 ? 0 : values.length / P }, (_, i) =>
    columns.flatMap(({ level, covariate }, p) =>
      level === null && Math.abs(values[i * P + p]) > FAR ? [covariates[covariate].name] : [],
    ),
  );
}

/** Writes the coded columns; returns the covariate that cannot be coded, and why. */
function encodeInto(
  { covariates, columns }: CovariateCoding,
  given: (name: string) => CovariateValue,
  decimal: "." | ",",
  out: Float64Array,
): { readonly name: string; readonly finding: Finding } | undefined {
  for (const [c, { name, kind, levels, hasUnknown }] of covariates.entries()) {
    const value = given(name);
    const text = value === null || value === undefined ? "" : String(value).trim();
    const unknown = isMissing(text);
    const x = kind !== "number" || unknown ? 0 : typeof value === "number" ? value : readNumber(text, decimal);
    const finding = faultOf(name, text, {
      missing: unknown && !hasUnknown,
      number: kind === "number" && !Number.isFinite(x),
      level: kind === "category" && !unknown && !levels.includes(text) ? levels : undefined,
    });
    if (finding !== undefined) return { name, finding };
    const level = unknown ? UNKNOWN : text;
    for (const [p, column] of columns.entries()) {
      if (column.covariate !== c) continue;
      // A missing number stands at the centre, beside the column that says it is missing.
      const coded = column.level === null ? (unknown ? column.center : x) : levelIs(kind, unknown, level, column.level);
      out[p] = (coded - column.center) / column.scale;
    }
  }
  return undefined;
}

function levelIs(kind: Covariate["kind"], unknown: boolean, level: string, column: string): number {
  return (kind === "number" ? unknown : level === column) ? 1 : 0;
}

function faultOf(
  name: string,
  text: string,
  wrong: { readonly missing: boolean; readonly number: boolean; readonly level: readonly string[] | undefined },
): Finding | undefined {
  const shown = showReceived(name);
  if (wrong.missing) {
    const remedy = "The model needs it; give it, or fit with --missing indicator.";
    return ["missing-covariate", [`a value of ${shown}`, "none", remedy]];
  }
  const received = `"${showReceived(text)}"`;
  if (wrong.number) return ["not-a-number", [`a number as ${shown}`, received, "Mend the cell."]];
  if (wrong.level === undefined) return undefined;
  const listed = wrong.level.map((level) => showReceived(level)).join(", ");
  return ["unknown-level", [`${shown} among ${listed}`, received, "The model has not seen this level."]];
}

/**
 * The cohort with the covariates of its individuals; whom they leave out is not in it. What is fitted to such a cohort takes its
 * covariates into account, and what is placed by such a model needs them.
 * @example
 * const model = fitDtm(withCovariates(cohort, codeCovariates(table, cohort.ids, { covariates: [{ name: "age" }] })));
 */
export function withCovariates(cohort: Cohort, { individuals, coding, values }: Covariates): Cohort {
  return { ...selectIndividuals(cohort, individuals), covariates: { coding, values } };
}

/** Positions of the coded columns whose covariate has one of the effects. */
export function columnsWith({ covariates, columns }: CovariateCoding, effects: readonly CovariateEffect[]): number[] {
  return columns.flatMap(({ covariate }, p) => (effects.includes(covariates[covariate].effect) ? [p] : []));
}

/**
 * The step that an effect of a coded column is told for: of a number about its standard deviation, in two digits, or from 0 to 1 where it has
 * no other values, with which the variance is c(1 − c); 1 for a level.
 */
export function usualStep({ level, center: c, scale }: CodedColumn): number {
  if (level !== null || Math.abs(scale ** 2 - c * (1 - c)) < 1e-9) return 1;
  return Number(scale.toPrecision(2));
}

/** Some columns of coded values [m,P], [m,P']. */
export function takeColumns(values: Float64Array, P: number, columns: readonly number[]): Float64Array {
  const n = columns.length;
  const m = P === 0 ? 0 : values.length / P;
  return Float64Array.from({ length: m * n }, (_, e) => values[Math.floor(e / n) * P + columns[e % n]]);
}

/** A cell of a table of individuals. */
export interface SubjectCell {
  readonly text: string;
  readonly line: number;
}

/**
 * The cells of the covariates for the individuals `ids`, by name, [m]; undefined for individuals whom the table does not list. An
 * id may come more than once, as in a table of visits, if it says the same.
 * @throws DtmError "other-ids" if it lists nobody; "missing-column", "duplicate-column" or "varying-covariate", with every complaint.
 */
export function cellsOf(
  table: SubjectsTable,
  wanted: readonly { readonly name: string }[],
  ids: readonly string[],
): ReadonlyMap<string, readonly (SubjectCell | undefined)[]> {
  const book = createComplaintBook(table.file);
  const individual = new Map(ids.map((id, i) => [id, i]));
  checkSharedIds(table, ids);
  const found = new Map<string, (SubjectCell | undefined)[]>();
  for (const { name } of wanted) {
    const columns = table.columns.flatMap((column, k) => (column.name.trim() === name ? [k] : []));
    if (columns.length !== 1) {
      const listed = table.columns.map((column) => showReceived(column.name)).join(", ");
      const several = [`one column "${showReceived(name)}"`, String(columns.length), "Rename all but one."] as const;
      const none = [`a column "${showReceived(name)}"`, `the columns ${listed}`, "Name one of these."] as const;
      if (columns.length > 1) book.refuse({}, "duplicate-column", several);
      else book.refuse({}, "missing-column", none);
      continue;
    }
    const [k] = columns;
    const cells = new Array<SubjectCell | undefined>(ids.length).fill(undefined);
    table.ids.forEach((id, row) => {
      const i = individual.get(id);
      if (i === undefined) return;
      const text = (table.columns[k].cells[row] ?? "").trim();
      const line = lineOf(table, row);
      const before = cells[i];
      if (before === undefined || isMissing(before.text)) cells[i] = { text, line };
      else if (!isMissing(text) && text !== before.text) {
        book.refuse({ line, column: name, columnNumber: k + 1 }, "varying-covariate", [
          `one value of ${showReceived(name)} for id "${showReceived(id)}"`,
          `"${showReceived(before.text)}" in line ${before.line} and "${showReceived(text)}" here`,
          "This changes in time; only values known at the first visit can be used.",
        ]);
      }
    });
    found.set(name, cells);
  }
  book.throwIfRefused();
  return found;
}
