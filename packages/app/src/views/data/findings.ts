/**
 * What was found in a table, for the quality page: one line per kind, with its count, its first place and what happens;
 * and the sentence about rows left out. The kinds are those of the reader: same codes as on the command line.
 */
import type { Complaint } from "@trajectory-maps/core";
import { midSentence, whole } from "@trajectory-maps/report";
import type { Checked } from "../../worker/api.ts";

export interface FindingLine {
  readonly code: string;
  readonly title: string;
  readonly count: number;
  /** First line of the file concerned; null if the kind has none. */
  readonly line: number | null;
  readonly received: string;
  /** Of which marker, in a table of several that each have findings of their own; null if it is of the rows. */
  readonly marker: string | null;
  /** "refused": the rows cannot be read; "left out": they hold no value or repeat another; "kept": they are read as they stand. */
  readonly fate: "refused" | "left out" | "kept";
  readonly remedy: string;
}

/** Kinds in the reader's words; others are told by what was expected. */
const TITLES: { readonly [code: string]: string } = {
  "missing-value": "No value",
  "not-a-number": "Text instead of a number",
  "censored-value": "Below or above a limit",
  "missing-time": "No time",
  "missing-id": "No individual",
  "ambiguous-date": "Date whose day and month could be swapped",
  "no-such-date": "Date that is not in the calendar",
  "ragged-row": "Too few or too many cells",
  "not-finite": "Number too large",
  underflow: "Number too small",
  "control-character": "Control character",
  "field-too-long": "Cell too long for an id",
  "transform-domain": "Value without a transform",
  "id-whitespace": "Ids with and without spaces",
  "alike-ids": "Ids that differ only in how they are written",
  "duplicate-rows": "Exact duplicates",
  "same-time": "Several values at one time",
  "unread-markers": "Several markers read as one",
  "negative-time": "Time before the origin",
  "far-time": "Time far from all others",
  "spreadsheet-dates": "Day numbers of a spreadsheet",
  "suspected-missing-code": "Code that may mean missing",
  outlier: "Far from the other values",
  "out-of-range": "Outside the range",
  "two-units": "Two units in one column",
  "other-unit": "Unit that no rule converts",
  "unknown-unit": "Unit that is not known",
  "missing-unit": "No unit",
};

/** Reasons in the sentence on rows left out. */
const REASONS: { readonly [code: string]: string } = {
  "missing-value": "without a value",
  "not-a-number": "with text instead of a number",
  "censored-value": "below or above a limit",
  "missing-time": "without a time",
  "missing-id": "without an individual",
  "ragged-row": "with too few or too many cells",
  "transform-domain": "whose value has no transform",
  "duplicate-rows": "that repeat another exactly",
  "other-unit": "in a unit that no rule converts",
  "unknown-unit": "in a unit that is not known",
  "missing-unit": "without a unit",
};

/** One line per kind: refused ones first, then what is left out, then what is kept. */
export function findingLines({ loaded, refused }: Pick<Checked, "loaded" | "refused">): FindingLine[] {
  const kinds = new Map<string, Complaint>();
  for (const complaint of refused) if (!kinds.has(complaint.code)) kinds.set(complaint.code, complaint);
  const lines = [...kinds.values()].map((complaint) => toLine(complaint, "refused"));
  for (const warning of loaded.warnings) {
    // Reading without the refused rows turns their complaints into warnings of the same code.
    if (kinds.has(warning.code)) continue;
    lines.push(toLine(warning, loaded.leftOut.some(({ code }) => code === warning.code) ? "left out" : "kept"));
  }
  // A kind that is there for several markers is told of each by name.
  const named = lines.map((line) => ({
    ...line,
    marker: lines.filter(({ code }) => code === line.code).length > 1 ? line.marker : null,
  }));
  const order = ["refused", "left out", "kept"];
  return named.sort((a, b) => order.indexOf(a.fate) - order.indexOf(b.fate));
}

function toLine(complaint: Complaint, fate: FindingLine["fate"]): FindingLine {
  const { code, expected, received, where, remedy, count } = complaint;
  return {
    code,
    title: TITLES[code] ?? `Expected ${expected}`,
    count: count ?? 1,
    line: where.line ?? null,
    received,
    marker: where.marker ?? where.column ?? null,
    fate,
    remedy,
  };
}

/** "19 of 10,770 rows left out: 11 without a value, 5 with text instead of a number."; null if none is. */
export function leftOutSentence({ loaded, refused }: Pick<Checked, "loaded" | "refused">): string | null {
  const { numRows, numRowsLeftOut } = loaded;
  if (numRowsLeftOut === 0) return null;
  const lines = findingLines({ loaded, refused }).filter((line) => line.fate !== "kept");
  const reasons = lines.map(
    ({ code, count, title }) => `${whole(count)} ${REASONS[code] ?? `with: ${midSentence(title)}`}`,
  );
  const total = lines.reduce((sum, line) => sum + line.count, 0);
  const twice = total > numRowsLeftOut ? " Some rows have more than one reason." : "";
  return `${whole(numRowsLeftOut)} of ${whole(numRows)} rows left out: ${reasons.join(", ")}.${twice}`;
}

/** Numbers hidden in refused cells ("<40" is 40), for marking them in a histogram. */
export function refusedValues(refused: readonly Complaint[], valueColumn: string): number[] {
  return refused.flatMap(({ where, received }) => {
    if (where.column !== valueColumn) return [];
    const found = /-?\d+(?:[.,]\d+)?/.exec(received);
    const value = found === null ? Number.NaN : Number(found[0].replace(",", "."));
    return Number.isFinite(value) ? [value] : [];
  });
}
