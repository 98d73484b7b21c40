/**
 * Risks after a landmark that nobody judged took part in making: individuals are dealt out to ten folds, and Cox's regressions on
 * the places (and covariates) of nine give the tenth its risks. The map was fitted to everyone; only the regressions are
 * cross-fitted. From these risks: concordance over pairs within folds, and calibration at fixed times.   (docs/math/survival.md §9)
 */
import { type Estimate, logitInterval, randomGroups } from "../associate/pair-auc.ts";
import { roundWindow } from "../map/clusters/followed.ts";
import { dot, takeRows } from "../numeric/matrix.ts";
import { concordanceWithin } from "../survival/concordance.ts";
import { fitCox } from "../survival/cox.ts";
import { coxHazard, coxRisks, coxScore } from "../survival/cox-risk.ts";
import { type CompetingFollowUp, causeFollowUp, type FollowUp, selectFollowUp } from "../survival/follow-up.ts";
import { calibrateRisk, type RiskCalibration } from "../survival/risk-calibration.ts";

export interface LandmarkRisk {
  readonly folds: number;
  /** Concordance of the cross-fitted risks, with its 95% interval, which is never below ½ as a whole. */
  readonly concordance: Estimate & { readonly standardError: number };
  /** Predicted against observed risk at each of the times asked for. */
  readonly calibration: readonly RiskCalibration[];
}

const NUM_FOLDS = 10;
/** As for simple predictors (associate/predictors.ts). */
const LEAST_EVENTS = 10;
const EVENTS_PER_COVARIATE = 5;

/** Whether there are enough events for a regression on p covariates to be cross-fitted or pooled. */
export function enoughEvents({ events }: FollowUp, p: number): boolean {
  const count = Array.from(events).reduce((sum, e) => sum + e, 0);
  return count >= Math.max(LEAST_EVENTS, EVENTS_PER_COVARIATE * p);
}

/** Cross-fitted risks of cause 1 on covariates X [n,p], judged; null with too few events. */
export function landmarkRisk(
  followUp: CompetingFollowUp,
  numCauses: number,
  X: Float64Array,
  times: readonly number[],
  seed = 1,
): LandmarkRisk | null {
  const n = followUp.times.length;
  const p = X.length / n;
  const event = causeFollowUp(followUp, 1);
  if (!enoughEvents(event, p)) return null;
  const everyone = Array.from({ length: n }, (_, i) => i);
  const classes = [0, 1].map((e) => Int32Array.from(everyone.filter((i) => event.events[i] === e)));
  const folds = randomGroups(classes, n, NUM_FOLDS, seed);
  const score = new Float64Array(n);
  const risks = new Float64Array(n * times.length);
  for (let f = 0; f < NUM_FOLDS; f++) {
    const train = everyone.filter((i) => folds[i] !== f);
    const own = selectFollowUp(followUp, train);
    const rows = takeRows(X, p, train);
    const hazards = Array.from({ length: numCauses }, (_, c) => hazardOf(causeFollowUp(own, c + 1), rows, p, c === 0));
    for (const i of everyone.filter((k) => folds[k] === f)) {
      const x = X.subarray(i * p, (i + 1) * p);
      score[i] = coxScore(hazards[0], x);
      risks.set(coxRisks(hazards, x, times), i * times.length);
    }
  }
  const { value, influence, pairs } = concordanceWithin(event, score, folds);
  const standardError = Math.sqrt(dot(influence, influence));
  const { lower, upper } = logitInterval(value, standardError, pairs);
  return {
    folds: NUM_FOLDS,
    // Without a relation a fold tends to have the sign that the other nine, short of it, have not: below ½ there is nothing to find.
    concordance: { value, lower, upper: Math.max(upper, 0.5), standardError },
    calibration: times.map((time, t) =>
      calibrateRisk(
        followUp,
        numCauses,
        everyone.map((i) => risks[i * times.length + t]),
        time,
      ),
    ),
  };
}

/** The hazard of one cause; a competing one with few events has no covariates. */
function hazardOf(followUp: FollowUp, rows: Float64Array, p: number, always: boolean) {
  if (always || enoughEvents(followUp, p)) return coxHazard(followUp, rows, fitCox(followUp, rows, p));
  const terms = Array.from({ length: p }, () => ({ coefficient: 0 }));
  return coxHazard(followUp, rows, { terms, ties: "efron" });
}

/** Of the individuals, this share and number must still be at risk at a time at which risks are told. */
const SHARE_AT_RISK = 0.1;
const LEAST_AT_RISK = 10;
const NUM_TIMES = 3;

/** Round times at about a third, two thirds and the whole of the follow-up while enough are at risk. */
export function fixedTimes({ times }: Pick<FollowUp, "times">): number[] {
  const ends = Float64Array.from(times).sort();
  const enough = Math.min(ends.length, Math.max(LEAST_AT_RISK, Math.ceil(SHARE_AT_RISK * ends.length)));
  const { until, step } = roundWindow({ from: 0, until: ends[ends.length - enough] });
  const count = Math.round(until / step);
  const chosen = Array.from({ length: NUM_TIMES }, (_, k) => Math.round(((k + 1) * count) / NUM_TIMES));
  return [...new Set(chosen)].filter((k) => k > 0).map((k) => Number((k * step).toPrecision(12)));
}
