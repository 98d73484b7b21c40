/** Whether a table is of visits or of individuals, by its ids: visits repeat them, a table of individuals has each once. */

/** "wide": one row per individual with a column for each time of a marker; "unknown": no column of ids, or no rows. */
export type TableKind = "visits" | "subjects" | "wide" | "unknown";

/** What a table is of, from the ids of the rows looked at and whether its columns look like times of a marker. */
export function tableKind(ids: readonly string[] | undefined, isWide: boolean): TableKind {
  const filled = ids?.filter((id) => id !== "") ?? [];
  if (filled.length === 0) return "unknown";
  if (new Set(filled).size < filled.length) return "visits";
  return isWide ? "wide" : "subjects";
}
