/**
 * From a table of individuals to coded covariates, or a refusal: columns that are constant or follow from others, levels of fewer than
 * ten individuals, more effects than individuals can tell (MULTI.md §5.1).
 */

import { type CodedColumn, type Covariate, type CovariateEffect, type MissingRule, UNKNOWN } from "../cohort/coding.ts";
import { compareText } from "../cohort/cohort.ts";
import { checkOption, DtmError, showReceived } from "../errors.ts";
import { complaint, createComplaintBook } from "../ingest/complaints.ts";
import { isMissing, readNumber } from "../ingest/numbers.ts";
import type { SubjectsTable } from "../ingest/subjects-table.ts";
import { dependentColumns } from "../numeric/pivoted-qr.ts";
import { type Covariates, cellsOf, type SubjectCell } from "./covariates.ts";

/** A covariate asked for, by the name of its column. */
export interface WantedCovariate {
  readonly name: string;
  /** Default: a number if all its cells are. A column of numbers with a few other cells is refused, unless it has a reference. */
  readonly kind?: Covariate["kind"];
  /** Level that the others are compared with. Default: the first in alphabetical order. */
  readonly reference?: string;
  /** Default: that of the choices. */
  readonly effect?: CovariateEffect;
}

export interface CovariateChoices {
  readonly covariates: readonly WantedCovariate[];
  /** Default "places". */
  readonly effect?: CovariateEffect;
  /** Default "complete". */
  readonly missing?: MissingRule;
  /** Dimensions of the map and basis functions of a curve, which say how many parameters an effect has. Default 2 and 5. */
  readonly mapDimension?: number;
  readonly numBasis?: number;
  /** Least individuals in a level, and for each parameter. Default 10. */
  readonly leastIndividuals?: number;
}

const LEAST_INDIVIDUALS = 10;
const MOST_CONDITION = 1e7;

/**
 * The covariates of the individuals `ids`, coded.
 * @throws DtmError "option" for the same covariate twice or an unknown reference; "missing-column", "varying-covariate", "not-a-number",
 * "constant-column", "collinear" or "too-few-individuals", with the names.
 * @example
 * const { values, coding } = codeCovariates(table, cohort.ids, { covariates: [{ name: "age" }, { name: "sex", reference: "f" }] });
 */
export function codeCovariates(table: SubjectsTable, ids: readonly string[], choices: CovariateChoices): Covariates {
  const { missing = "complete", leastIndividuals = LEAST_INDIVIDUALS } = choices;
  checkTwice(choices);
  const cells = cellsOf(table, choices.covariates, ids);
  const isKnown = (name: string, i: number) => !isMissing(cells.get(name)![i]?.text ?? "");
  const isComplete = (i: number) => choices.covariates.every(({ name }) => isKnown(name, i));
  const individuals = Int32Array.from(ids, (_, i) => i).filter((i) => missing === "indicator" || isComplete(i));
  const m = individuals.length;
  const enough = (count: number, needed: number, what: string) => {
    if (count >= needed) return;
    throw new DtmError(
      "too-few-individuals",
      `codeCovariates: expected at least ${needed} individuals ${what}, received ${count}. Leave the covariate out, or join levels.`,
    );
  };
  enough(m, leastIndividuals, "with all covariates");
  const covariates: Covariate[] = [];
  const columns: CodedColumn[] = [];
  const coded: Float64Array[] = [];
  for (const wanted of choices.covariates) {
    const own = Array.from(individuals, (i) => (isKnown(wanted.name, i) ? cells.get(wanted.name)![i]! : null));
    checkNumbers(wanted, own, table);
    const texts = own.map((cell) => cell?.text ?? null);
    const covariate = describe(wanted, texts, choices, table.decimal ?? ".");
    for (const { level, count } of levelCounts(covariate, texts)) {
      enough(count, leastIndividuals, `with ${showReceived(wanted.name)} "${showReceived(level)}"`);
    }
    for (const { level, x, isKnown } of rawColumns(covariate, texts, table.decimal ?? ".")) {
      const name = level === null ? wanted.name : `${wanted.name}: ${level}`;
      const { center, scale, z } = standardized(name, x, isKnown);
      columns.push({ name, covariate: covariates.length, level, center, scale });
      coded.push(z);
    }
    covariates.push(covariate);
  }
  const P = columns.length;
  const values = Float64Array.from({ length: m * P }, (_, e) => coded[e % P][Math.floor(e / P)]);
  checkIndependent(values, columns, m);
  const { mapDimension = 2, numBasis = 5 } = choices;
  const width = { places: mapDimension, level: 1, "level-and-rate": 2, curve: numBasis };
  const S = columns.reduce((sum, { covariate }) => sum + width[covariates[covariate].effect], 0);
  enough(m, leastIndividuals * S, `for ${S} effects (${P} columns)`);
  const kept = new Set(individuals);
  const leftOut = ids.filter((_, i) => !kept.has(i));
  return {
    coding: { covariates, columns, missing },
    ids: Array.from(individuals, (i) => ids[i]),
    individuals,
    values,
    leftOut,
    warnings: warningsOf(choices, ids, isKnown, missing, leftOut.length, table.file),
  };
}

/** A covariate may have one effect: places and mean course cannot be told apart. */
function checkTwice({ covariates, effect = "places" }: CovariateChoices): void {
  checkOption(covariates.length > 0, "codeCovariates", "at least one covariate", "none", "Name one.");
  const seen = new Map<string, CovariateEffect>();
  for (const wanted of covariates) {
    const [before, now] = [seen.get(wanted.name), wanted.effect ?? effect];
    const both = `"${showReceived(wanted.name)}" twice${before === now ? "" : `, for ${before} and for ${now}`}`;
    const remedy =
      before === now
        ? "Name it once."
        : "A shift of places and an effect in the mean move the same courses, so data cannot tell them apart: choose one.";
    checkOption(before === undefined, "codeCovariates", "every covariate once", both, remedy);
    seen.set(wanted.name, now);
  }
}

/** Refuses cells that are no numbers where numbers are asked for, or where most cells are numbers and nothing says otherwise. */
function checkNumbers(
  { name, kind, reference }: WantedCovariate,
  cells: readonly (SubjectCell | null)[],
  { file, decimal = "." }: SubjectsTable,
): void {
  const filled = cells.filter((cell) => cell !== null);
  const odd = filled.filter(({ text }) => Number.isNaN(readNumber(text, decimal)));
  const areNumbers = kind === undefined ? reference === undefined && 2 * odd.length < filled.length : kind === "number";
  if (!areNumbers) return;
  const book = createComplaintBook(file);
  const shown = showReceived(name);
  for (const { text, line } of odd) {
    book.refuse({ line, column: name }, "not-a-number", [
      `numbers as ${shown}`,
      `"${showReceived(text)}"`,
      `Mend the cell, or take ${shown} as a category (${shown}:category).`,
    ]);
  }
  book.throwIfRefused();
}

/** Kind and levels of a covariate from the cells of the fitted individuals, null where they are missing. */
function describe(
  { name, kind, reference, effect }: WantedCovariate,
  texts: readonly (string | null)[],
  choices: CovariateChoices,
  decimal: "." | ",",
): Covariate {
  const filled = texts.filter((text) => text !== null);
  const hasUnknown = filled.length < texts.length;
  const areNumbers = filled.every((text) => !Number.isNaN(readNumber(text, decimal)));
  const shown = showReceived(name);
  const own = { name, effect: effect ?? choices.effect ?? "places", hasUnknown };
  const isNumber = kind === undefined ? areNumbers && reference === undefined : kind === "number";
  if (isNumber) {
    checkOption(
      reference === undefined,
      "codeCovariates",
      `no reference of the number ${shown}`,
      reference,
      "Leave it out.",
    );
    return { ...own, kind: "number", levels: [] };
  }
  const levels = [...new Set(texts.map((text) => text ?? UNKNOWN))].sort(compareText);
  // What is unknown is no reference unless that is asked for.
  const first = reference ?? levels.find((level) => level !== UNKNOWN) ?? UNKNOWN;
  const listed = levels.map((level) => showReceived(level)).join(", ");
  checkOption(
    levels.includes(first),
    "codeCovariates",
    `a reference of ${shown} among ${listed}`,
    first,
    "Name one of these.",
  );
  if (levels.length === 1) throw constant(name, first);
  const ordered = [first, ...levels.filter((level) => level !== first)];
  return { ...own, kind: "category", levels: ordered, hasUnknown: levels.includes(UNKNOWN) };
}

function constant(name: string, value: unknown): DtmError {
  return new DtmError(
    "constant-column",
    `codeCovariates: expected ${showReceived(name)} to differ between individuals, received ${value} for all. Leave it out.`,
  );
}

/** Individuals of each level; of numbers, of each of two values. */
function levelCounts(
  { kind, hasUnknown }: Covariate,
  texts: readonly (string | null)[],
): readonly { readonly level: string; readonly count: number }[] {
  const levels = [...new Set(texts.map((text) => text ?? UNKNOWN))];
  const many = kind === "number" && levels.length > (hasUnknown ? 3 : 2);
  const counted = many ? (hasUnknown ? [UNKNOWN] : []) : levels;
  return counted.map((level) => ({ level, count: texts.filter((text) => (text ?? UNKNOWN) === level).length }));
}

/** A column before it is centred, and who has it. */
interface RawColumn {
  readonly level: string | null;
  readonly x: Float64Array;
  readonly isKnown: (i: number) => boolean;
}

/** The number and whether it is unknown, or whether it is this level, for every level but the reference. */
function rawColumns(
  { kind, levels, hasUnknown }: Covariate,
  texts: readonly (string | null)[],
  decimal: "." | ",",
): RawColumn[] {
  const whether = (level: string, is: (text: string | null) => boolean): RawColumn => {
    return { level, x: Float64Array.from(texts, (text) => (is(text) ? 1 : 0)), isKnown: () => true };
  };
  if (kind === "category") return levels.slice(1).map((level) => whether(level, (text) => (text ?? UNKNOWN) === level));
  const x = Float64Array.from(texts, (text) => (text === null ? 0 : readNumber(text, decimal)));
  const number = { level: null, x, isKnown: (i: number) => texts[i] !== null };
  return hasUnknown ? [number, whether(UNKNOWN, (text) => text === null)] : [number];
}

/** Mean over the known, and the scale that gives unit variance over all, the unknown standing at the mean. */
function standardized(name: string, x: Float64Array, isKnown: (i: number) => boolean) {
  const known = x.filter((_, i) => isKnown(i));
  const center = known.reduce((sum, v) => sum + v, 0) / known.length;
  const scale = Math.sqrt(known.reduce((sum, v) => sum + (v - center) ** 2, 0) / x.length);
  if (!(scale > 1e-12 * Math.abs(center)) || known.every((v) => v === known[0])) throw constant(name, known[0]);
  return { center, scale, z: x.map((v, i) => (isKnown(i) ? (v - center) / scale : 0)) };
}

function checkIndependent(values: Float64Array, columns: readonly CodedColumn[], m: number): void {
  const [dependent] = dependentColumns(values, m, columns.length, MOST_CONDITION);
  if (dependent === undefined) return;
  const others = dependent.from.map((p) => showReceived(columns[p].name)).join(", ");
  throw new DtmError(
    "collinear",
    `codeCovariates: expected covariates that vary independently, received ${showReceived(columns[dependent.column].name)}, which follows from ${others}. Leave one of them out.`,
  );
}

/** Who lacks which covariate, by counts. */
function warningsOf(
  { covariates }: CovariateChoices,
  ids: readonly string[],
  isKnown: (name: string, i: number) => boolean,
  missing: MissingRule,
  numLeftOut: number,
  file: string | undefined,
): Covariates["warnings"] {
  const lacking = covariates
    .map(({ name }) => ({ name, count: ids.filter((_, i) => !isKnown(name, i)).length }))
    .filter(({ count }) => count > 0);
  if (lacking.length === 0) return [];
  const listed = lacking.map(({ name, count }) => `${showReceived(name)} of ${count}`).join(", ");
  const remedy =
    missing === "complete"
      ? `${numLeftOut} of ${ids.length} individuals were left out.`
      : "They are kept, with a column that says that it is unknown.";
  const where = file === undefined ? {} : { file };
  const words = ["all covariates of everybody", `none for ${listed} individuals`, remedy] as const;
  const count = missing === "complete" ? numLeftOut : Math.max(...lacking.map((one) => one.count));
  return [{ ...complaint("warn", where, "missing-covariate", words), count }];
}
