/**
 * Values that are probably wrong (docs/math/noise.md §5): a linear mixed model says what is usual, a visit is wrong with
 * probability ε, and of every individual the sets of visits that may be wrong are weighed against each other. White noise comes
 * first, or a wrong value is taken for an unsteady individual. As wrong values widen the noise and the covariance behind which others
 * hide, the model is fitted again without those found. At last those found are judged by a model in which individuals differ in
 * their noise, so that the unsteady are not told as wrong. Nothing is removed from the data.
 */
import { type Cohort, makeCohort, numIndividuals, selectIndividuals } from "../cohort/cohort.ts";
import { markerCohort } from "../cohort/several-markers.ts";
import { checkOption, DtmError, type ErrorKind } from "../errors.ts";
import { markerModel } from "../models/fit.ts";
import type { LmmModel } from "../models/linear/lmm.ts";
import { fitLmm } from "../models/linear-models.ts";
import type { SuspectValue } from "../models/placement.ts";
import {
  LEAST_PROBABILITY,
  type UsualCourses,
  WRONG_SHARE,
  type WrongVisit,
  wrongVisits,
} from "../models/suspect-visits.ts";
import type { NoiseChoice } from "../noise/noise.ts";
import { createRandom } from "../numeric/random.ts";

export type { SuspectValue };

export interface SuspectOptions {
  /** ε, the share of wrong values before looking. Default 0.01. */
  readonly epsilon?: number;
  /** Probability from which on a value is told. Default 0.5. */
  readonly least?: number;
  /** Individuals that the model is fitted to, at random where there are more. Default 2,000. */
  readonly sampleSize?: number;
}

/** Individuals up to which hosts look for suspect values: some ten seconds. */
export const MOST_LOOKED_THROUGH = 100_000;
/** Further fits without the values found before. */
const REFITS = 2;
/** Individuals that the model with noise levels is fitted to: it takes several times as long. */
const NUM_JUDGED_BY = 500;

/**
 * Values of each marker that are wrong with a probability of a half or more, by marker, individual and time. None where a mixed model
 * cannot be fitted.
 * @throws DtmError "option" for numbers out of range.
 */
export function suspectValues(cohort: Cohort, options: SuspectOptions = {}): SuspectValue[] {
  const { epsilon = WRONG_SHARE, least = LEAST_PROBABILITY, sampleSize = 2000 } = options;
  checkOption(epsilon > 0 && epsilon < 0.5, "suspectValues", "epsilon between 0 and 0.5", epsilon, "");
  checkOption(least > 0 && least <= 1, "suspectValues", "least above 0, up to 1", least, "");
  const order = createRandom(1).permutation(numIndividuals(cohort));
  const some = (count: number) => (order.length > count ? selectIndividuals(cohort, order.slice(0, count)) : cohort);
  const [sample, few] = [some(sampleSize), some(Math.min(sampleSize, NUM_JUDGED_BY))];
  return cohort.markers.flatMap((_, k) => {
    const [whole, ofSample, ofFew] = [cohort, sample, few].map((part) => markerCohort(part, k));
    let model = usualModel(ofSample, []);
    for (let round = 0; round < REFITS && model !== undefined; round++) {
      const found = wrongVisits(ofSample, usualOf(model), epsilon, least);
      if (found.length === 0) break;
      model = usualModel(ofSample, found) ?? model;
    }
    if (model === undefined) return [];
    const doubted = new Set(wrongVisits(whole, usualOf(model), epsilon, least).map(({ suspect }) => suspect.id));
    if (doubted.size === 0) return [];
    const judge = usualModel(ofFew, wrongVisits(ofFew, usualOf(model), epsilon, least), "level") ?? model;
    const isDoubted = Array.from(whole.ids.keys()).filter((i) => doubted.has(whole.ids[i]));
    const doubtful = selectIndividuals(whole, isDoubted);
    return wrongVisits(doubtful, usualOf(judge), epsilon, least).map(({ suspect }) => suspect);
  });
}

/** What is usual by a mixed model, the same for everybody. */
function usualOf(model: LmmModel): (i: number) => UsualCourses {
  const { basis, mean, noise } = markerModel(model);
  const usual = { basis, noise, mean: mean.coefficients, factor: model.covarianceFactor };
  return () => usual;
}

/** What a cohort may be too small or too odd for. */
const NO_MODEL: readonly ErrorKind[] = ["cohort", "table", "numerical"];

/** The mixed model of a marker without some of its values; undefined if there is none. */
function usualModel(
  { ids, markers: [series] }: Cohort,
  without: readonly WrongVisit[],
  noise: NoiseChoice = "white",
): LmmModel | undefined {
  const dropped = new Set(without.map(({ at }) => at));
  const kept = Array.from(series.times.keys()).filter((j) => !dropped.has(j));
  const owners = ids.flatMap((id, i) => new Array<string>(series.offsets[i + 1] - series.offsets[i]).fill(id));
  const columns = {
    ids: kept.map((j) => owners[j]),
    times: kept.map((j) => series.times[j]),
    values: kept.map((j) => series.values[j]),
  };
  try {
    return fitLmm(makeCohort(columns, series.marker), { mean: "spline", mapDimension: 1, restarts: 0, noise });
  } catch (error) {
    if (error instanceof DtmError && NO_MODEL.includes(error.kind)) return undefined;
    throw error;
  }
}
