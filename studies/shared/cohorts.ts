/**
 * The cohorts that studies run over: the bundled one, by marker, and simulated ones, and tables of visits of one's own:
 *   npm run study:NAME -- --cohort NAME=FILE,COLUMN[,TRANSFORM] ...
 * with columns `id` and `time` beside the one named.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type Cohort, type Marker, readCohort, simulateCohort } from "../../packages/core/src/index.ts";

/** A cohort with its name in tables. */
export interface StudyCohort {
  readonly name: string;
  readonly cohort: Cohort;
}

const PBC = "examples/pbc/visits.csv";
const PBC_MARKERS: readonly (readonly [string, Marker["transform"]])[] = [
  ["bili", "log"],
  ["albumin", "identity"],
  ["alk_phos", "log"],
  ["platelet", "identity"],
  ["protime", "log"],
];

/** The cohorts of a study: bundled, simulated, and those that the command line names; `--only` keeps some. */
export function studyCohorts(): StudyCohort[] {
  const { values } = parseArgs({
    options: { cohort: { type: "string", multiple: true }, only: { type: "string" } },
  });
  const makers = new Map<string, () => Cohort>();
  for (const [value, transform] of PBC_MARKERS) makers.set(`pbc ${value}`, () => readMarker(PBC, value, transform));
  makers.set("pfvc", () => simulateCohort("pfvc", { seed: 1 }).cohort);
  makers.set("tss", () => simulateCohort("tss", { seed: 1 }).cohort);
  for (const given of values.cohort ?? []) {
    const [name, rest = ""] = given.split("=");
    const [file, value, transform = "identity"] = rest.split(",");
    if (file === "" || value === undefined) {
      throw new Error(`--cohort: expected NAME=FILE,COLUMN[,TRANSFORM], received ${given}.`);
    }
    makers.set(name, () => readMarker(file, value, transform as Marker["transform"]));
  }
  const only = values.only?.split(",");
  return [...makers]
    .filter(([name]) => only === undefined || only.some((part) => name.includes(part)))
    .map(([name, make]) => ({ name, cohort: make() }));
}

export function readMarker(file: string, value: string, transform: Marker["transform"]): Cohort {
  const options = { columns: { id: "id", time: "time", value }, marker: { name: value, transform } };
  return readCohort(readFileSync(file, "utf8"), options).cohort;
}

/** A table in Markdown. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [head, head.map(() => "---"), ...rows].map(line).join("\n");
}
