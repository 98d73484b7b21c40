/** Which function of the core fits which kind of model, and what is written about a fit. */
import {
  embed,
  type FitProgress,
  fitDtm,
  fitFpca,
  fitLmm,
  type ReadCohort,
  saveModel,
  type TrajectoryModel,
} from "@trajectory-maps/core";
import { UsageError } from "../exit-codes.ts";
import { toCsv } from "../io/csv.ts";
import type { OutputFile } from "../io/write.ts";
import type { FittedModel } from "../print/summary.ts";
import type { Context } from "./command.ts";

export const KINDS = ["dtm", "dtm-paper", "lmm", "fpca"] as const;
export type Kind = (typeof KINDS)[number];

export interface FitChoice {
  readonly kind: Kind;
  readonly mapDimension: number;
  readonly mean: "scalar" | "spline";
  readonly seed: number;
}

const TITLES: Readonly<Record<Kind, string>> = {
  lmm: "Linear mixed model",
  fpca: "Functional principal components",
  dtm: "Trajectory map",
  "dtm-paper": "Trajectory map as published",
};

/** Names of what `outputsOf` writes. */
export const OUTPUT_NAMES = ["model.json", "placements.csv", "trace.csv", "run.json"] as const;

/** Fits one model and places everyone, with progress. */
export function fitAndPlace(read: ReadCohort, choice: FitChoice, { talk }: Context): FittedModel {
  const model = talk.during(TITLES[choice.kind], (onProgress) => fitModel(read, choice, onProgress));
  if (!model.record.converged) talk.warn(model.record.verdict);
  return { model, placements: talk.during("  places of everyone", () => embed(model, read.cohort)) };
}

function fitModel(
  { cohort, columns }: ReadCohort,
  { kind, mapDimension, mean, seed }: FitChoice,
  onProgress: (progress: FitProgress) => void,
): TrajectoryModel {
  const common = { seed, onProgress, mean, columns };
  switch (kind) {
    case "lmm":
      return fitLmm(cohort, { ...common, mapDimension });
    case "fpca":
      return fitFpca(cohort, { ...common, rank: mapDimension });
    case "dtm":
      return fitDtm(cohort, { ...common, mapDimension });
    case "dtm-paper":
      return fitDtm(cohort, { ...common, mapDimension: upToThree(mapDimension), kind });
    default:
      throw new UsageError(`Expected a model among ${KINDS.join(", ")}, received ${String(kind satisfies never)}.`);
  }
}

function upToThree(mapDimension: number): 1 | 2 | 3 {
  if (mapDimension === 1 || mapDimension === 2 || mapDimension === 3) return mapDimension;
  throw new UsageError(`--map-dimension: expected 1, 2 or 3 for a map as published, received ${mapDimension}.`);
}

/** The files of a finished fit: the model, everyone's place, the trace of the fit and the record of the run. */
export function outputsOf(fit: FittedModel, command: string): OutputFile[] {
  const { model, placements } = fit;
  const { record } = model;
  const run = { command, ...record, trace: undefined };
  return [
    { name: "model.json", text: saveModel(model) },
    { name: "placements.csv", text: placementsCsv(fit) },
    {
      name: "trace.csv",
      text: toCsv(
        ["iteration", "value"],
        record.trace.map((value, k) => [k + 1, value]),
      ),
    },
    { name: "run.json", text: `${JSON.stringify({ ...run, placed: placements.ids.length }, null, 2)}\n` },
  ];
}

function placementsCsv({ placements }: FittedModel): string {
  const { ids, mapDimension: q, location, covariance, numObservations, logLikelihood } = placements;
  const axes = Array.from({ length: q }, (_, a) => a);
  const pairs = axes.flatMap((a) => axes.slice(a + 1).map((b) => [a, b] as const));
  const header = [
    "id",
    "observations",
    ...axes.map((a) => `x${a + 1}`),
    ...axes.map((a) => `sd${a + 1}`),
    ...pairs.map(([a, b]) => `cov${a + 1}${b + 1}`),
    "log_likelihood",
  ];
  const rows = ids.map((id, i) => [
    id,
    numObservations[i] ?? 0,
    ...axes.map((a) => location[i * q + a] ?? Number.NaN),
    ...axes.map((a) => Math.sqrt(covariance[(i * q + a) * q + a] ?? Number.NaN)),
    ...pairs.map(([a, b]) => covariance[(i * q + a) * q + b] ?? Number.NaN),
    logLikelihood[i] ?? Number.NaN,
  ]);
  return toCsv(header, rows);
}
