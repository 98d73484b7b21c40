/** A table of individuals, as text: where outcomes and covariates are read from. */

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
