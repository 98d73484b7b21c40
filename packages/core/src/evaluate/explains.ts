/** Whether a map explains more than a mixed model, for the light of trust on it. (docs/math/evaluation.md §4) */
import { signalShares } from "../models/dtm/carried.ts";
import type { FitRecord } from "../models/fit.ts";
import type { TrajectoryModel } from "../models/model.ts";
import { SEEN_ONCE } from "../models/prepare.ts";
import { forecastSign, gainText, likelihoodSign } from "./difference-words.ts";
import { type HeldOutEvidence, type Judged, type LightState, percent } from "./light.ts";

/** Below these shares of the variance between individuals a map carries next to nothing, and little. */
const NEXT_TO_NOTHING = 0.1;
const LITTLE = 0.5;
/** A signal below one standard deviation of none is chance, unless it is larger than this. Maps of noise have none at all. */
const WEAK = 0.2;

export const NOTHING = "explains nothing beyond the average course";

/** What the map explains; that most individuals were seen once is said first, or after it where nothing is explained. */
export function carries(model: TrajectoryModel, comparison: HeldOutEvidence | null): Judged {
  const judged = explains(model, comparison);
  const warning = model.record.warnings.find((text) => text.includes(SEEN_ONCE));
  if (warning === undefined) return judged;
  if (judged.state === "poor") return { ...judged, sentence: `${judged.sentence} ${warning}` };
  return { state: "caution", brief: "most individuals were seen once", sentence: `${warning} ${judged.sentence}` };
}

function explains(model: TrajectoryModel, comparison: HeldOutEvidence | null): Judged {
  const share = model.kind === "dtm" ? mean(model.markers.map(({ varianceShare }) => varianceShare)) : 1;
  if (share < NEXT_TO_NOTHING) {
    const carried = `In-sample the map carries ${percent(share)} of the variance between individuals`;
    return { state: "poor", brief: NOTHING, sentence: `${carried}: places say nothing beyond the average course.` };
  }
  const difference = comparison?.differences.find(
    (d) => d.model === model.kind && (d.reference === "lmm" || d.reference === "lmm-covariates"),
  );
  if (difference === undefined) return inSample(model, share);
  const average = comparison?.differences.find((d) => d.model === "population" && d.reference === difference.reference);
  // A mixed model that is no better than the average course leaves the map nothing to explain, unless the map beats it.
  if (likelihoodSign(difference) < 1 && average !== undefined && likelihoodSign(average) >= 0) {
    const sentence = `Held-out individuals are predicted as well by the average course alone: against the mixed model ${heldOutGain(difference)} for the map, ${gainText(average)} for the average course.`;
    return { state: "poor", brief: NOTHING, sentence };
  }
  return against(difference);
}

/** The map against the mixed model, by the signs that the verdict of a comparison has (verdict.ts), so that the light is never kinder. */
function against(difference: HeldOutEvidence["differences"][number]): Judged {
  const [likelihood, forecast] = [likelihoodSign(difference), forecastSign(difference)];
  const judged = (state: LightState, brief: string, words: string): Judged => {
    return { state, brief, sentence: `${words}: ${heldOutGain(difference)}.` };
  };
  if (likelihood === 1) {
    const higher = "The map has a higher likelihood than the mixed model";
    if (forecast === -1)
      return judged("caution", "forecasts worse than a mixed model", `${higher}, but worse forecasts`);
    const better = "The map predicts new individuals better than the mixed model";
    const words = forecast === 1 ? better : `${higher}; no gain in forecasts is shown`;
    return judged("good", "explains more than a mixed model", words);
  }
  if (forecast === 1) {
    const [brief, but] =
      likelihood === 0
        ? ["no gain in likelihood over a mixed model", "no gain in likelihood is shown"]
        : ["a lower likelihood than a mixed model", "has a lower likelihood"];
    return judged("caution", brief, `The map forecasts next visits better than the mixed model, but ${but}`);
  }
  if (likelihood === 0 && forecast === 0) {
    const words = "No gain of the map over the mixed model is shown for new individuals";
    return judged("caution", "no gain over a mixed model shown", words);
  }
  const does =
    likelihood === 0
      ? "forecasts next visits of new individuals better than the map"
      : forecast === 0
        ? "has a higher likelihood for new individuals than the map"
        : "predicts new individuals better than the map";
  return judged("caution", "a mixed model predicts better", `The mixed model ${does}`);
}

function heldOutGain(difference: HeldOutEvidence["differences"][number]): string {
  return `${gainText(difference)} in held-out log-likelihood per individual`;
}

/** What can be said before a comparison; `share` is of the variance between individuals. */
function inSample(model: TrajectoryModel, share: number): Judged {
  const notYet = "Not compared with a mixed model on held-out individuals yet.";
  if (model.kind === "dtm") {
    const signal = mean(signalShares(model));
    const chance = chanceShare(model.record, model.markers.length);
    if (signal <= chance) {
      const sentence = `In-sample, places account for ${percent(signal)} of the variance of a value, no more than chance may give with so few visits (up to ${percent(chance)}). ${notYet}`;
      return signal < WEAK
        ? { state: "poor", brief: NOTHING, sentence }
        : { state: "caution", brief: "too few repeated visits", sentence };
    }
  }
  if (share < LITTLE) {
    const sentence = `In-sample the map carries ${percent(share)} of the variance between individuals: places explain little. ${notYet}`;
    return { state: "caution", brief: "places explain little", sentence };
  }
  return { state: "unknown", brief: "not checked on new individuals yet", sentence: notYet };
}

/**
 * The share of the variance of a value that chance alone may seem to tie to individuals: the sd of the intraclass
 * correlation where there is none is √(2/Σ n_i(n_i − 1)), at most √(2m/N(N − m)) with m individuals and N values.
 */
export function chanceShare({ numIndividuals: m, numObservations }: FitRecord, numMarkers = 1): number {
  const N = numObservations / numMarkers;
  return N > m ? Math.min(1, Math.sqrt((2 * m) / (N * (N - m)))) : 1;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, v) => sum + v, 0) / values.length;
}
