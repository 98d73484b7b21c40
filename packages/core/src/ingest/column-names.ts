/** Columns by their names: usual ones of each role, and those that are asked for. */

export type Role = "id" | "time" | "value";

/** Usual names, most telling first. */
const USUAL: Readonly<Record<Role, readonly string[]>> = {
  id: [
    ...["id", "individual", "patient", "subject", "person", "participant"].flatMap((name) => [name, `${name}id`]),
    "usubjid",
    "pid",
  ],
  time: [
    ...["time", "t", "years", "year", "months", "days", "day", "weeks", "age", "date", "measurementdate"],
    ...["visit", "observation", "sample", "test", "exam", "effective", "collection"].map((name) => `${name}date`),
    ...["dateofvisit", "datum", "datetime", "timestamp", "measurementdatetime", "effectivedatetime"],
  ],
  value: ["value", "y", "measurement", "result", "valueasnumber"],
};

/** A name in lower case with everything but letters and digits taken away. */
const bare = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, "");

/** A name without its unit in brackets: Time of "Time (years)". */
export function withoutUnit(name: string): string {
  return name.replace(/\s*(?:\([^()]*\)|\[[^[\]]*\])\s*$/, "");
}

/**
 * Positions of columns with the usual names of a role: all those with the most telling name that occurs, in full or else before a unit in brackets.
 */
export function usualColumns(names: readonly string[], role: Role, taken: readonly number[] = []): number[] {
  const isFree = (k: number) => !taken.includes(k);
  for (const written of [names, names.map(withoutUnit)]) {
    const plain = written.map(bare);
    for (const usual of USUAL[role]) {
      const found = plain.flatMap((name, k) => (name === usual && isFree(k) ? [k] : []));
      if (found.length > 0) return found;
    }
  }
  if (role !== "value") return [];
  // With id and time found, the only other named column of the table must be the marker.
  const rest = names.flatMap((name, k) => (name !== "" && isFree(k) ? [k] : []));
  return rest.length === 1 && taken.filter((k) => k >= 0).length >= 2 ? rest : [];
}

/** Usual names of a column that says of each row what was measured, as in the tables of laboratories and those that were melted. */
const USUAL_OF_MARKERS: readonly string[] = [
  ...["marker", "biomarker", "analyte", "variable", "parameter", "param", "paramcd", "measure", "loinc"],
  ...["test", "testname", "testcode", "labtest", "lbtest", "lbtestcd"],
];

/** Position of the first column whose name says that it names the marker of each row; −1 if there is none. */
export function usualMarkerColumn(names: readonly string[], taken: readonly number[]): number {
  return names.findIndex((name, k) => !taken.includes(k) && USUAL_OF_MARKERS.includes(bare(name)));
}

/** Positions of columns of that very name, or else of those that differ from it in case alone. */
export function columnsNamed(names: readonly string[], wanted: string): number[] {
  const where = (same: (name: string) => boolean) => names.flatMap((name, k) => (same(name) ? [k] : []));
  const exact = where((name) => name === wanted.trim());
  return exact.length > 0 ? exact : where((name) => name.toLowerCase() === wanted.trim().toLowerCase());
}

const ID_WORDS =
  /\b(id|ids|identifier|nr|no|code|patient|subject|person|participant|individual|record|mrn|pseudonym|pseudonymi[sz]ed|name)\b/;
const TIME_WORDS = /\b(time|year|years|yrs|month|months|day|days|week|weeks|age|visit|since|t|date)\b/;

/** Whether a word of a name is usual for ids, or for times. */
export function hasWordOf(name: string, role: "id" | "time"): boolean {
  const words = role === "id" ? ID_WORDS : TIME_WORDS;
  return words.test(name.toLowerCase().replace(/[^a-z]+/g, " "));
}
