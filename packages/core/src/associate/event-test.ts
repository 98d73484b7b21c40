/**
 * Does the time to an event go with the place? The label is the Nelson–Aalen martingale residual, so that S is the score of
 * a Cox model in the features at zero. Those followed longer are seen more; given times and events the average posterior is
 * the prior all the same. Values after the event, or after the end of follow-up, do not place anybody.
 *                                                                                  (docs/math/association.md §6)
 */
import type { Cohort } from "../cohort/cohort.ts";
import type { TrajectoryModel } from "../models/model.ts";
import type { FollowUp } from "../survival/follow-up.ts";
import { martingaleResiduals } from "../survival/martingale.ts";
import { type Adjustment, isAdjustable, NO_ADJUSTMENT } from "./adjustment.ts";
import { type LabelTest, type TestOptions, testLabel } from "./outcome-test.ts";
import { testKernel } from "./place-features.ts";
import { featuresUntil } from "./posterior-features.ts";

export interface EventAssociation extends LabelTest {
  readonly numIndividuals: number;
  readonly numEvents: number;
}

/**
 * The test of a cohort's follow-up [m], adjusted for covariates; a time or event that is not a number is unknown, and those who lack
 * a covariate take no part.
 */
export async function testEvent(
  model: TrajectoryModel,
  cohort: Cohort,
  followUp: FollowUp,
  options: TestOptions = {},
  adjustment: Adjustment = NO_ADJUSTMENT,
): Promise<EventAssociation> {
  const known = Array.from(followUp.times, (_, i) => i).filter(
    (i) => !Number.isNaN(followUp.times[i]) && !Number.isNaN(followUp.events[i]) && isAdjustable(adjustment, i),
  );
  const times = known.map((i) => followUp.times[i]);
  const events = known.map((i) => followUp.events[i]);
  const residuals = martingaleResiduals({ times, events });
  const labels = new Float64Array(followUp.times.length).fill(Number.NaN);
  for (const [k, i] of known.entries()) labels[i] = residuals[k];
  const until = Float64Array.from(followUp.times, (t) => (Number.isNaN(t) ? Number.POSITIVE_INFINITY : t));
  const { rows } = featuresUntil(model, cohort, until, testKernel(model.mapDimension));
  const test = await testLabel(rows, labels, adjustment, options.seed ?? 1, options);
  return { ...test, numIndividuals: known.length, numEvents: events.reduce((s, e) => s + e, 0) };
}
