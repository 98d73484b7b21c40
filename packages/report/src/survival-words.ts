/** Sentences about death and dropout that report and command line share. */
import type { DropoutSensitivity } from "@trajectory-maps/core/study";
import { listWords, significant, timeWord } from "./numbers.ts";
import { midSentence, outcomeName } from "./words.ts";

/** What curves of competing events are. */
export const INCIDENCE_NOTE =
  "Cumulative incidence by Aalen and Johansen: the share with the event by then, where a competing event may come first. Log-rank and Cox are about the hazard of the event itself, with competing events censored.";

/** What is cross-fitted and what is not. */
export const CROSS_FITTED =
  "The map was fitted to all; Cox coefficients are cross-fitted: each individual's risk is from a regression on the other nine tenths.";

/** What a Cox regression warns of, for terms called so. */
export function coxCautions(warnings: readonly string[], term: "axis" | "term"): string[] {
  const words: Readonly<Record<string, string>> = {
    "few-events": `fewer than ten events per ${term}`,
    "infinite-coefficient": "a hazard ratio has no finite estimate",
    "collinear-covariates": `nine tenths or more of one ${term} follow from the others, so that single hazard ratios say little; read the p of the place as a whole`,
  };
  return warnings.map((code) => words[code] ?? code);
}

/** How Cox over draws of the places is made. */
export const POOLED_NOTE =
  "Over draws of the places, pooled by Rubin's rules. Draws given the visits alone pull hazard ratios towards 1; draws given the event too, one turn from the regression at mean places, do not. Missing: the share of information lost because places are not known exactly, in the latter.";

/** What the test of proportional hazards is. */
export const PROPORTIONAL_NOTE =
  "Score tests that a hazard ratio does not change with time (scaled Schoenfeld residuals); a small p says that it does, and then it is an average over the follow-up.";

/** What a course is after the last visit, and after death. */
export const AFTER_DEATH =
  "Courses after the last visit, and after death, are what the model says for somebody still measured: the course if measurement had gone on, under missing at random given the measured values. They are not courses of those still alive.";

/** Headline of what is said about death and dropout. */
export function riskTitle({ event }: { readonly event: string }): string {
  return `Risk of ${midSentence(outcomeName(event))}, and those who left`;
}

/** "mg/dL per year", "log mg/dL per year". */
export function deltaUnit({ marker }: Pick<DropoutSensitivity, "marker">): string {
  const scale = marker.transform === "identity" ? "" : `${marker.transform} `;
  const unit = marker.unit === "" ? `${scale}units` : `${scale}${marker.unit}`;
  return `${unit} per ${timeWord(marker.timeUnit)}`;
}

/** What was shifted, how and for whom. */
export function shiftSentence(dropout: Pick<DropoutSensitivity, "marker" | "who">): string {
  const factor = dropout.marker.transform === "log" ? "; 0.1 is a factor of 1.11" : "";
  return `If ${dropout.who} had gone on otherwise than the model says: after the last visit their course is shifted by delta (${deltaUnit(dropout)}${factor}); map, places and groups stay as they are, and delta 0 is missing at random.`;
}

/** A shift as text with a true minus. */
export function deltaText(delta: number): string {
  return delta > 0 ? `+${significant(delta)}` : significant(delta);
}

/** Where the medians of two groups meet: a sentence for each pair that does, and one for all that do not. */
export function tippingSentences({ tipping, groups, reach, at, ...told }: DropoutSensitivity): string[] {
  const unit = deltaUnit(told);
  const time = `${timeWord(told.marker.timeUnit)} ${significant(at)}`;
  const apart: string[] = [];
  const meeting = tipping.flatMap(({ first, second, both, firstAlone, secondAlone }) => {
    const [a, b] = [groups[first].letter, groups[second].letter];
    const found = [
      { delta: both, whose: "in both groups" },
      { delta: firstAlone, whose: `in ${a} alone` },
      { delta: secondAlone, whose: `in ${b} alone` },
    ].flatMap(({ delta, whose }) => (delta === null ? [] : [`${deltaText(delta)} ${whose}`]));
    if (found.length === 0) apart.push(`${a} and ${b}`);
    return found.length === 0
      ? []
      : [`The difference of ${a} and ${b} at ${time} vanishes at delta ${listWords(found)} (${unit}).`];
  });
  if (apart.length === 0) return meeting;
  const whole = meeting.length === 0 && groups.length > 2 ? "All groups" : apart.join("; ");
  return [...meeting, `${whole} stay apart at ${time} for every delta up to ${significant(reach)} ${unit} either way.`];
}
