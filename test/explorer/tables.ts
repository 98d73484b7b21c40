/** Tables for tests of the explorer: a simulated registry as the files people have. */
// Not by the door: tests of pages would wait for all of the core.
import { onlyMarker } from "../../packages/core/src/cohort/cohort.ts";
import type { DtmModel } from "../../packages/core/src/models/dtm/model.ts";
import { fitDtm } from "../../packages/core/src/models/fit-models.ts";
import { createRandom } from "../../packages/core/src/numeric/random.ts";
import { type SimulatedMarker, simulateCohort } from "../../packages/core/src/simulate/cohorts.ts";

export interface TableOptions {
  readonly marker?: SimulatedMarker;
  readonly numIndividuals?: number;
  readonly seed?: number;
  /** Names of the columns of individual, time and value. */
  readonly columns?: readonly [string, string, string];
  /** The id an individual gets. */
  readonly rename?: (id: string, index: number) => string;
}

export interface Tables {
  readonly visits: string;
  /** One row per individual with outcomes of 0 and 1, and years of follow-up. */
  readonly subjects: string;
  readonly ids: readonly string[];
  readonly numRows: number;
}

/** Both tables of a simulated cohort, separated by commas. */
export function simulatedTables(options: TableOptions = {}): Tables {
  const { marker = "pfvc", columns = ["id", "years", "FVC"], rename = (id: string) => id, ...of } = options;
  const { cohort, outcomes } = simulateCohort(marker, { numIndividuals: 100, seed: 5, ...of });
  const ids = cohort.ids.map(rename);
  const rows = ids.flatMap((id, i) =>
    Array.from({ length: onlyMarker(cohort).offsets[i + 1] - onlyMarker(cohort).offsets[i] }, (_, k) => {
      const j = onlyMarker(cohort).offsets[i] + k;
      return [id, onlyMarker(cohort).times[j].toFixed(4), onlyMarker(cohort).values[j].toFixed(1)];
    }),
  );
  const names = Object.keys(outcomes);
  const subjects = ids.map((id, i) => [
    id,
    ...names.map((name) => String(outcomes[name][i])),
    (onlyMarker(cohort).times[onlyMarker(cohort).offsets[i + 1] - 1] + 1 + (i % 3)).toFixed(2),
  ]);
  return {
    visits: csv([columns, ...rows]),
    subjects: csv([[columns[0], ...names, "followed"], ...subjects]),
    ids,
    numRows: rows.length,
  };
}

/** A table of m individuals with 1 to 5 visits each, on slopes and levels of their own. */
export function largeTable(m: number): string {
  const random = createRandom(11);
  const lines = ["id,years,pFVC"];
  for (let i = 0; i < m; i++) {
    const [level, slope] = [75 + 14 * random.normal(), -1 + 2 * random.normal()];
    for (let k = 0; k <= i % 5; k++) {
      const t = Math.min(10, 2 * k + 2 * random.uniform());
      lines.push(`P${i},${t.toFixed(3)},${(level + slope * t + 3 * random.normal()).toFixed(1)}`);
    }
  }
  return lines.join("\n");
}

/** A map of few individuals, fitted in a moment. */
export function smallMap(): DtmModel {
  const { cohort } = simulateCohort("pfvc", { numIndividuals: 60, seed: 3 });
  return fitDtm(cohort, { mean: "scalar", restarts: 0, seed: 1, maxIterations: 5 });
}

/** Rows as CSV. */
export function csv(rows: Iterable<readonly string[]>, delimiter = ","): string {
  const cell = (text: string) => (/["\n\r,;]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  return `${Array.from(rows, (row) => row.map(cell).join(delimiter)).join("\n")}\n`;
}
