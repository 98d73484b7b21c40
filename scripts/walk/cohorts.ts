/** Cohorts of a walk: files, and what is answered at their import. */
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Answer, Messy } from "../../test/explorer/messy-files.ts";
import { simulatedTables } from "../../test/explorer/tables.ts";
import { ROOT } from "../../test/root.ts";

export interface WalkedCohort {
  readonly name: string;
  readonly files: readonly { readonly name: string; readonly bytes: Buffer }[];
  /** A table of outcomes for the summary page. */
  readonly subjects?: { readonly name: string; readonly bytes: Buffer };
  readonly answers: readonly Answer[];
  readonly unit?: string;
  readonly dimension?: string;
  /** Fields of the summary page that change how long everything takes. */
  readonly brief: boolean;
}

const file = (path: string) => ({ name: basename(path), bytes: readFileSync(path) });

/** A cohort as it is named on the command line. */
export function cohortOf(word: string): WalkedCohort {
  if (word === "pbc") {
    const at = (name: string) => join(ROOT, "examples", "pbc", name);
    return cohortOf(`pbc:${at("visits.csv")},${at("subjects.csv")},value=bili,transform=log,unit=mg/dl`);
  }
  if (word === "tss" || word === "pfvc") {
    const columns = ["id", "years", word === "tss" ? "TSS" : "FVC"] as const;
    const { visits, subjects } = simulatedTables({ marker: word, numIndividuals: 400, seed: 7, columns });
    return {
      name: word,
      files: [{ name: `${word}.csv`, bytes: Buffer.from(visits) }],
      subjects: { name: "subjects.csv", bytes: Buffer.from(subjects) },
      answers: [],
      brief: false,
    };
  }
  const [, name, rest] = /^([\w-]+):(.+)$/.exec(word) ?? [];
  if (name === undefined)
    throw new Error(`walk: expected NAME:visits.csv,... or tss, pfvc, pbc, messy; received "${word}".`);
  const parts = rest.split(",");
  const paths = parts.filter((part) => !part.includes("="));
  const given = Object.fromEntries(
    parts.filter((part) => part.includes("=")).map((part) => part.split("=") as [string, string]),
  );
  const answers: Answer[] = [];
  if (given.value !== undefined) answers.push({ select: `Use of column ${given.value}`, option: "value" });
  if (given.transform !== undefined) answers.push({ select: "Transform", option: given.transform });
  return {
    name,
    files: [file(paths[0])],
    ...(paths[1] !== undefined && { subjects: file(paths[1]) }),
    answers,
    ...(given.unit !== undefined && { unit: given.unit }),
    ...(given.dimension !== undefined && { dimension: given.dimension }),
    brief: false,
  };
}

/** A messy file, visited in its main views only. */
export function messyCohort({ files, answers }: Messy): WalkedCohort {
  return {
    name: `messy-${files[0].replace(/\..*/, "")}`,
    files: files.map((name) => file(join(ROOT, "examples", "messy", name))),
    answers,
    brief: true,
  };
}
