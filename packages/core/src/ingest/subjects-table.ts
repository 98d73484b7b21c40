/** A table of individuals, as text: where outcomes and covariates are read from. */
import { showReceived } from "../errors.ts";
import { refusalAt } from "./complaints.ts";

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

/** Physical line of a row. */
export function lineOf({ lines }: SubjectsTable, row: number): number {
  return lines?.[row] ?? row + 2;
}

/** Refuses a table that has none of the ids of the visits, and says how they would be the same. */
export function checkSharedIds(table: SubjectsTable, ids: readonly string[]): void {
  const known = new Set(ids);
  if (ids.length === 0 || table.ids.some((id) => known.has(id))) return;
  const alike = sameWithout(table.ids, ids);
  const remedy = "write the ids alike, or name the column of ids.";
  throw refusalAt({}, table.file, "other-ids", [
    `ids of the visits, such as "${showReceived(ids[0])}"`,
    table.ids.length === 0 ? "no rows" : `others, such as "${showReceived(table.ids[0])}"`,
    `No id is in both: ${remedy}${alike === undefined ? "" : ` ${alike}`}`,
  ]);
}

/** Ways of writing one id that are told apart, most usual first. */
const WRITINGS: readonly (readonly [what: string, (id: string) => string])[] = [
  ["upper and lower case", (id) => id.toLowerCase()],
  ["zeros in front of numbers", (id) => id.replace(/(^|\D)0+(?=\d)/g, "$1")],
  ["spaces", (id) => id.replace(/\s/g, "")],
  [
    "case, zeros in front of numbers, spaces and other signs",
    (id) =>
      id
        .toLowerCase()
        .replace(/[^\p{L}\d]/gu, "")
        .replace(/(^|\D)0+(?=\d)/g, "$1"),
  ],
];

/** "Without regard to upper and lower case 38 of 40 ids would be the same."; undefined if none would. */
function sameWithout(theirs: readonly string[], ids: readonly string[]): string | undefined {
  const distinct = new Set(theirs);
  for (const [what, plain] of WRITINGS) {
    const known = new Set(ids.map(plain));
    const count = [...distinct].filter((id) => known.has(plain(id))).length;
    if (count > 0) return `Without regard to ${what}, ${count} of ${distinct.size} would be the same.`;
  }
  return undefined;
}
