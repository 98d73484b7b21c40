/**
 * Do the results hang on the choices? The model is fitted again with one choice changed at a time (variants.ts), and each refit is held
 * against the run (docs/math/sensitivity.md):
 *   places    aligned by Procrustes (turned, mirrored, scaled; the map of fewer dimensions with zeros for those it lacks): correlation
 *             R = √R², and median and 90th percentile of |y_i − (ȳ + s(x_i − x̄)Q)|, in standard deviations of the prior of places;
 *   groups    made again by the same method, as many as in the run: adjusted Rand index;
 *   outcomes  the same test on whole posteriors;
 *   score     held-out log-likelihood, the same folds: mean of the differences to the run's model, one for each individual. On another
 *             scale by the density of the values as measured. Where the visits are others there is none.
 * The pieces of work are stateless (variant-fit.ts), so threads may share them, and the result does not depend on how many there are.
 */
import { type Adjustment, NO_ADJUSTMENT } from "../associate/adjustment.ts";
import { type AssociationInput, outcomePValues } from "../associate/association.ts";
import type { MultiplierOptions } from "../associate/multipliers.ts";
import { testKernel } from "../associate/place-features.ts";
import { posteriorFeatures } from "../associate/posterior-features.ts";
import type { Cohort } from "../cohort/cohort.ts";
import { checkOption } from "../errors.ts";
import type { PairedDifference } from "../evaluate/compared-models.ts";
import { meanDifference } from "../evaluate/summarize-folds.ts";
import { adjustedRandIndex } from "../map/clusters/stability.ts";
import type { GroupMethod } from "../map/groups.ts";
import type { TrajectoryModel } from "../models/model.ts";
import { type Placements, placeSds } from "../models/placement.ts";
import { multiply } from "../numeric/matrix.ts";
import { procrustes } from "../numeric/procrustes.ts";
import { median, sortedQuantile } from "../numeric/select.ts";
import { type PlaceAgreement, type Sensitivity, sensitivityVerdict, type VariantResult } from "./sensitivity-result.ts";
import { runStudyTask, type StudyTask } from "./tasks.ts";
import type { FailedFit, VariantFit, VariantFold } from "./variant-fit.ts";
import { changeVisits, logJacobians, tailTime, type Variant, type VariantOptions, variantsOf } from "./variants.ts";

/** What a study of sensitivity is made from. */
export interface SensitivityInput {
  readonly model: TrajectoryModel;
  readonly cohort: Cohort;
  readonly placements: Placements;
  /** Groups of the run, [m], how many, and how they were made. */
  readonly groups: { readonly labels: ArrayLike<number>; readonly numGroups: number; readonly method: GroupMethod };
  readonly outcomes?: AssociationInput["outcomes"];
  readonly adjustment?: Adjustment;
}

export interface SensitivityOptions extends VariantOptions, MultiplierOptions {
  /** Default 5; 0 for no scores. */
  readonly folds?: number;
  readonly seed?: number;
  /** Seed of the tests of outcomes. Default `seed`. */
  readonly testSeed?: number;
  /** Runs one piece of work; a pool of threads can stand in. Default: here. */
  readonly run?: (task: StudyTask) => unknown | Promise<unknown>;
  /** Above 1 all tasks are handed to `run` at once, which keeps its own queue. Default 1. */
  readonly jobs?: number;
  readonly onProgress?: (done: number, of: number, stage: string) => void;
}

/**
 * Refits the model with one choice changed at a time, and tells what changes.
 * @throws DtmError "option" for one fold, or for options that `variantsOf` refuses.
 * @example
 * const { variants, verdict } = await studySensitivity({ model, cohort, placements, groups }, { folds: 5 });
 */
export async function studySensitivity(
  input: SensitivityInput,
  options: SensitivityOptions = {},
): Promise<Sensitivity> {
  const { model, cohort, placements, groups, outcomes = [], adjustment = NO_ADJUSTMENT } = input;
  const { folds = 5, seed = 1, testSeed = seed, run = runStudyTask, jobs = 1, tail = 0.9, shift = 0.5 } = options;
  checkOption(folds === 0 || folds >= 2, "studySensitivity", "no folds (0), or two or more", folds, "Use 5.");
  const { variants, leftOut } = variantsOf(model, cohort, { ...options, tail, shift });
  const shared = { model, cohort };
  const fit = (variant: Variant): StudyTask => {
    const part = { variant, seed, withFeatures: outcomes.length > 0, ...groupChoice(groups) };
    return { kind: "variant", shared, part };
  };
  const scored = [undefined, ...variants.filter((variant) => hasSameVisits(variant))];
  const fold = (variant: Variant | undefined, k: number): StudyTask => {
    return { kind: "variant-fold", shared, part: { fold: k, folds, seed, ...(variant && { variant }) } };
  };
  const tasks = [
    ...variants.map((variant) => ({ stage: variant.name, task: fit(variant) })),
    ...(folds === 0 ? [] : scored).flatMap((variant) =>
      Array.from({ length: folds }, (_, k) => ({
        stage: `scores, ${variant?.name ?? "as fitted"}`,
        task: fold(variant, k),
      })),
    ),
  ];
  let done = 0;
  const work = async ({ stage, task }: (typeof tasks)[number]) => {
    const found = await run(task);
    options.onProgress?.(++done, tasks.length, stage);
    return found;
  };
  const found: unknown[] = [];
  if (jobs > 1) found.push(...(await Promise.all(tasks.map(work))));
  else for (const task of tasks) found.push(await work(task));

  const fits = found.slice(0, variants.length) as (VariantFit | FailedFit)[];
  const foldsOf = (variant: Variant | undefined) => {
    const from = variants.length + scored.indexOf(variant) * folds;
    return found.slice(from, from + folds) as (VariantFold | FailedFit)[];
  };
  const own = folds === 0 ? null : joinFolds(foldsOf(undefined), cohort.ids.length);
  const { draws, count, shards } = options;
  const test = { seed: testSeed, draws, count, shards };
  const position = new Map(cohort.ids.map((id, i) => [id, i]));
  const results: VariantResult[] = [];
  for (const [v, variant] of variants.entries()) {
    const fitted = fits[v];
    const about = { family: variant.family, name: variant.name, note: variant.note ?? null };
    if ("failed" in fitted) {
      results.push({ ...about, ...NOTHING, failed: fitted.failed });
      continue;
    }
    const at = Int32Array.from(fitted.ids, (id) => position.get(id)!);
    const values =
      fitted.features === null
        ? []
        : await outcomePValues(fitted.features, outcomes.map(atPositions(at)), adjustmentAt(adjustment, at), test);
    const score = own === null ? null : scoreOf(variant, cohort, own, () => foldsOf(variant));
    results.push({
      ...about,
      failed: null,
      converged: fitted.converged,
      places: agreementOf(fitted, placements, at),
      adjustedRand:
        groups.numGroups < 2
          ? null
          : adjustedRandIndex(
              fitted.labels,
              Int32Array.from(at, (i) => groups.labels[i]),
            ),
      outcomes: outcomes.map(({ name }, k) => ({ outcome: name, p: values[k] })),
      score: score === null || typeof score === "string" ? null : score,
      scoreNote: score === null ? null : typeof score === "string" ? score : scaleNote(variant),
    });
  }
  const ownP = outcomes.length === 0 ? [] : await outcomePValues(featuresOf(input), outcomes, adjustment, test);
  const about = {
    numIndividuals: cohort.ids.length,
    ...groupChoice(groups),
    outcomes: outcomes.map(({ name }, k) => ({ outcome: name, p: ownP[k] })),
    perIndividual: own === null || typeof own === "string" ? null : own.reduce((sum, v) => sum + v, 0) / own.length,
    placeSd: median(placeSds(placements)),
  };
  const verdict = sensitivityVerdict(results, about);
  return {
    variants: results,
    leftOut,
    run: about,
    folds,
    seed,
    tail,
    tailTime: tailTime(cohort, tail),
    shift,
    verdict,
  };
}

const NOTHING = {
  ...{ converged: null, places: null, adjustedRand: null, outcomes: [], score: null, scoreNote: null },
} as const;

const groupChoice = ({ numGroups, method }: SensitivityInput["groups"]) => ({ numGroups, method });

function featuresOf({ model, cohort }: SensitivityInput): Float64Array {
  return posteriorFeatures(model, cohort, [testKernel(model.mapDimension)])[0].rows;
}

/** The outcome of some of the individuals. */
const atPositions =
  (at: Int32Array) =>
  ({ name, labels }: AssociationInput["outcomes"][number]) => ({ name, labels: Uint8Array.from(at, (i) => labels[i]) });

function adjustmentAt(adjustment: Adjustment, at: Int32Array): Adjustment {
  const columns = adjustment.columns.map(({ name, values }) => ({
    name,
    values: Float64Array.from(at, (i) => values[i]),
  }));
  return { ...adjustment, columns };
}

/** Places of a variant [n,q] against those of the run at positions `at`. */
export function agreementOf(
  { location, mapDimension }: Pick<VariantFit, "location" | "mapDimension">,
  run: Pick<Placements, "location" | "mapDimension">,
  at: Int32Array,
): PlaceAgreement {
  const n = at.length;
  const q = Math.max(mapDimension, run.mapDimension);
  const X = widened(location, mapDimension, q, n, (i) => i);
  const Y = widened(run.location, run.mapDimension, q, n, (i) => at[i]);
  const { rotation, scale, fromCenter, toCenter, rSquared } = procrustes(X, Y, n, q);
  const turned = multiply(
    X.map((x, e) => x - fromCenter[e % q]),
    rotation,
    n,
    q,
    q,
  );
  const distances = Float64Array.from({ length: n }, (_, i) =>
    Math.hypot(...Array.from({ length: q }, (_, a) => Y[i * q + a] - toCenter[a] - scale * turned[i * q + a])),
  ).sort();
  const [half, most] = [0.5, 0.9].map((share) => sortedQuantile(distances, share));
  return { compared: n, correlation: Math.sqrt(rSquared), scale, median: half, p90: most };
}

/** Points [n,p] at chosen rows in q ≥ p dimensions, zeros behind. */
function widened(points: Float64Array, p: number, q: number, n: number, row: (i: number) => number): Float64Array {
  const out = new Float64Array(n * q);
  for (let i = 0; i < n; i++) out.set(points.subarray(row(i) * p, (row(i) + 1) * p), i * q);
  return out;
}

/** Whether a variant is scored on the visits that the run is scored on. */
function hasSameVisits({ visits }: Variant): boolean {
  return visits?.kind !== "until" && visits?.kind !== "without-last" && visits?.kind !== "shift";
}

/** Scores of all folds by position, [m], or why there are none. */
function joinFolds(parts: readonly (VariantFold | FailedFit)[], m: number): Float64Array | string {
  const scores = new Float64Array(m);
  for (const part of parts) {
    if ("failed" in part) return `A fold could not be scored: ${part.failed}`;
    part.individuals.forEach((i, k) => {
      scores[i] = part.logLikelihood[k];
    });
  }
  return scores;
}

/** The difference to the run's scores, or why there is none. */
function scoreOf(
  variant: Variant,
  cohort: Cohort,
  own: Float64Array | string,
  parts: () => readonly (VariantFold | FailedFit)[],
): PairedDifference | string {
  if (!hasSameVisits(variant)) return "Not comparable: other visits are scored.";
  if (typeof own === "string") return own;
  const scores = joinFolds(parts(), own.length);
  if (typeof scores === "string") return scores;
  const differences = Array.from(scores, (score, i) => score - own[i]);
  if (variant.family !== "transform") return meanDifference(differences);
  const [there, here] = [changeVisits(cohort, variant.visits), cohort].map(logJacobians);
  const measured = differences.map((difference, i) => difference + there[i] - here[i]);
  if (measured.every(Number.isFinite)) return meanDifference(measured);
  return "Not comparable: a value at the edge of a scale has no density on the original one.";
}

function scaleNote({ family }: Variant): string | null {
  return family === "transform" ? "On the original scale of the values, by the Jacobian of both transforms." : null;
}
