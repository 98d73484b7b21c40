/** Times to a threshold of placed individuals: the rows of `dtm predict --threshold`. */
import { predictCrossing, type TrajectoryModel } from "@trajectory-maps/core";
import { basisDomain, type CrossingOptions, viewMarker, viewPlacement } from "@trajectory-maps/core/models";
import type { CsvCell } from "@trajectory-maps/report";
import { type Context, type Options, textOption } from "./command.ts";
import { impossibleWarning, orReason, withReasons } from "./courses.ts";
import type { PlacedHistory } from "./histories.ts";
import { realNumber, seedOf } from "./numbers.ts";
import type { ResultTable } from "./table-out.ts";

const PROBABILITIES = [0.05, 0.25, 0.5, 0.75, 0.95] as const;
export const CROSSING_COLUMNS = [
  "id",
  "threshold",
  "direction",
  "from",
  "probability",
  "already",
  ...PROBABILITIES.map((p) => `time${String(Math.round(100 * p)).padStart(2, "0")}`),
  "suspects",
];

export function crossings(
  model: TrajectoryModel,
  [k = 0]: readonly number[],
  individuals: readonly PlacedHistory[],
  options: Options,
  { talk }: Context,
): { readonly table: ResultTable; readonly json: unknown } {
  const own = model.markers[k]!;
  const threshold = realNumber("--threshold", textOption(options, "threshold") ?? "");
  const direction = options.above === true ? ("up" as const) : options.below === true ? ("down" as const) : undefined;
  const given = textOption(options, "from");
  const from = given === undefined ? undefined : realNumber("--from", given);
  const [, last] = basisDomain(own.basis);
  const asked = {
    threshold,
    seed: seedOf(options),
    ...(direction && { direction }),
    ...(from !== undefined && { from }),
  };
  const rows: CsvCell[][] = [];
  let late = 0;
  const reasons = new Map<CsvCell[], string>();
  for (const individual of individuals) {
    const row = orReason(() => crossingRow(individual, k, asked));
    if ("reason" in row) {
      const { id, suspects = [] } = individual.placement;
      const empty = Array<number>(PROBABILITIES.length + 3).fill(Number.NaN);
      const cells = [id, threshold, "", ...empty, suspects.length];
      reasons.set(cells, row.reason);
      rows.push(cells);
      continue;
    }
    if (row.late) late++;
    rows.push(row.cells);
  }
  if (reasons.size > 0) {
    const ids = [...reasons.keys()].map(([id]) => String(id));
    talk.warn(impossibleWarning(ids, reasons.values()));
  }
  const table = withReasons(CROSSING_COLUMNS, rows, reasons);
  if (late > 0)
    talk.warn(
      `${late} individuals were last seen after ${last}, the last time in the training data; their cells are left empty.`,
    );
  return {
    table,
    json: {
      threshold,
      until: last,
      marker: own.marker,
      crossings: table.rows.map((row) => record(table.columns, row)),
    },
  };
}

/** The row of one individual; who was seen after the last time the model knows has empty cells: nothing can be said of later ones. */
export function crossingRow(
  { own, placement: whole }: PlacedHistory,
  k: number,
  asked: Pick<CrossingOptions, "threshold" | "seed" | "direction" | "from">,
): { readonly cells: CsvCell[]; readonly late: boolean } {
  const placement = viewPlacement(whole, k);
  const { id, lastTime, suspects = [] } = placement;
  const [, last] = basisDomain(own.markers[k]!.basis);
  if (asked.from === undefined && lastTime > last) {
    const empty = Array<number>(PROBABILITIES.length + 2).fill(Number.NaN);
    return { cells: [id, asked.threshold, "", lastTime, ...empty, suspects.length], late: true };
  }
  const found = predictCrossing(viewMarker(own, k), placement, { ...asked, probabilities: PROBABILITIES });
  const cells = [
    id,
    found.threshold,
    found.direction === "up" ? "above" : "below",
    found.from,
    shareOf(1 - found.probabilityNone),
    found.probabilityAlready,
    ...found.quantiles.map(({ time }) => time ?? Number.NaN),
    suspects.length,
  ];
  return { cells, late: false };
}

/** A share of draws without the last digits that subtraction leaves behind. */
function shareOf(probability: number): number {
  return Math.round(probability * 1e12) / 1e12;
}

/** A row by the names of its columns; null for what is no number. */
export function record(columns: readonly string[], row: readonly CsvCell[]): Record<string, CsvCell | null> {
  return Object.fromEntries(
    columns.map((name, k) => {
      const cell = row[k] ?? "";
      return [name, typeof cell === "number" && !Number.isFinite(cell) ? null : cell];
    }),
  );
}
