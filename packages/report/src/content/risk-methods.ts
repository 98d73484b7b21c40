/** Sentences of the methods about competing events, risks and those who left. */
import { listWords, timeWord as unitWord } from "../numbers.ts";
import { midSentence, outcomeName } from "../words.ts";
import type { Context } from "./context.ts";
import { cite } from "./references.ts";

/** One paragraph, or none. */
export function riskText({ study: { survival } }: Context): string {
  if (survival === undefined) return "";
  const { competing, proportionalHazards, pooledCox, risk, dropout } = survival;
  const names = (competing?.names ?? []).map((name) => midSentence(outcomeName(name)));
  return [
    competing &&
      `${listWords(names)} ${names.length === 1 ? "was a competing event" : "were competing events"}: cumulative incidence was estimated by Aalen and Johansen${cite("aalenJohansen")} with standard errors by the infinitesimal jackknife, and Cox regression is of the cause-specific hazard.`,
    proportionalHazards &&
      `Proportional hazards were tested by scaled Schoenfeld residuals${cite("proportionalHazards")}, against Kaplan–Meier time and against time.`,
    pooledCox &&
      `Uncertainty of the places was carried through by ${pooledCox.event.draws} draws from their posteriors, given visits alone and given the event time too, pooled by Rubin's rules${cite("rubin")} with the degrees of freedom of Barnard and Rubin${cite("barnardRubin")}.`,
    risk &&
      `Risks were cross-fitted over ${risk.folds} folds of individuals (Cox coefficients; the map was fitted to all) and compared with observed ones within parts that expect as many events each.`,
    dropout &&
      `Courses after the last visit rest on missing at random given the measured values; as a sensitivity analysis the courses of ${dropout.who} were shifted after their last visit by up to ${Math.max(...dropout.deltas.map(Math.abs))} on the scale of the model per ${unitWord(dropout.marker.timeUnit)} (pattern mixture${cite("patternMixture")}).`,
  ]
    .filter((sentence) => typeof sentence === "string")
    .map((sentence) => sentence.charAt(0).toUpperCase() + sentence.slice(1))
    .join(" ");
}
