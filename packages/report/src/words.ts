/** Names and small grammar that text and figures share. */
import { listWords, whole } from "./numbers.ts";
import type { StudyPredictors } from "./study.ts";

const MODEL_NAMES: Readonly<Record<string, string>> = {
  population: "Population mean curve",
  locf: "Last value carried forward",
  constant: "Constant level",
  line: "Straight lines",
  lmm: "Mixed model",
  "lmm-covariates": "Mixed model with covariates",
  "lmm-paper": "Mixed model as published",
  fpca: "FPCA",
  "fpca-covariates": "FPCA with covariates",
  dtm: "Trajectory map",
  "dtm-plain": "Map without covariates",
  "dtm-paper": "Map as published",
  classes: "Latent classes",
  lcmm: "Latent-class mixed model",
};

/** Models of several markers, in words. */
export const SEVERAL_WORDS: Readonly<Record<string, string>> = {
  dtm: "one map",
  "dtm-separate": "a map for each marker",
  lmm: "mixed model of all markers",
  "lmm-separate": "a mixed model for each",
  "lmm-covariates": "mixed model of all with covariates",
};

/** A model's name for readers; unknown names stand as they are. */
export function modelName(model: string): string {
  return MODEL_NAMES[model] ?? model;
}

const MODEL_NOTES: Readonly<Record<string, string>> = {
  population: "the same for everyone",
  locf: "spread by horizon",
  constant: "random intercept",
  line: "random intercept and slope",
  lmm: "mean curve, spline random effects",
  "lmm-covariates": "the same covariates in its mean",
  "lmm-paper": "constant mean",
  fpca: "principal curves",
  "fpca-covariates": "the same covariates in its mean",
  dtm: "nonlinear map",
  "dtm-plain": "the same, without them",
  "dtm-paper": "variational, as in 2016",
  classes: "mixture of curves",
  lcmm: "classes and random effects",
};

/** Two or three words on what the model is. */
export function modelNote(model: string): string {
  return MODEL_NOTES[model] ?? "";
}

/** "late_decline" as a reader would write it: words, first letter large; "stage>=3" with its sign. Names with capitals of their own stay. */
export function outcomeName(name: string): string {
  const [, column = name, sign, level] = /^([^<>=]*[^<>= ]) ?(>=|=) ?([^<>=]+)$/.exec(name) ?? [];
  const words = /^[a-z0-9_ ]*[a-z0-9][a-z0-9_ ]*$/.test(column) ? capital(column.replaceAll("_", " ").trim()) : column;
  return sign === undefined ? words : `${words} ${sign === "=" ? "=" : "≥"} ${level}`;
}

const NUMBER_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

/** Small whole numbers as words. */
export function numberWord(n: number): string {
  return NUMBER_WORDS[n] ?? String(n);
}

/** The first letter large. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A name inside a sentence: its first letter small, unless it is an abbreviation. */
export function midSentence(text: string): string {
  return /^.[A-Z0-9]/.test(text) ? text : text.charAt(0).toLowerCase() + text.slice(1);
}

const READING_NOTES: Readonly<Record<string, string>> = {
  "few-cases": "few cases",
  "depends-on-prior": "depends on the assumed spread of places",
  "visits-follow-course": "visits follow the course",
};

interface Tested {
  readonly p: number;
  readonly adjusted: { readonly holm: number };
  readonly warnings: readonly { readonly code: string }[];
}

/** What the test of an outcome comes to, in a few words. */
export function outcomeReading({ p, adjusted, warnings }: Tested): string {
  if (!Number.isFinite(p)) return "Not tested: too few";
  const word = adjusted.holm < 0.05 ? "Related" : p < 0.05 ? "Not after adjustment" : "No relation found";
  return [word, ...warnings.flatMap(({ code }) => READING_NOTES[code] ?? [])].join("; ");
}

/** The method in one line, for every place that shows a p-value of it. */
export const OUTCOME_METHOD =
  "Uses all that is known and not known about each place; number, length and spacing of visits may differ between the groups.";

/** What results are adjusted for, and how many take no part for it. */
export function adjustedSentence(names: readonly string[], leftOut: number, shown = whole(leftOut)): string {
  const out =
    leftOut === 0 ? "" : ` ${shown} without a value of ${names.length === 1 ? "it" : "all of these"} left out.`;
  return `Adjusted for ${listWords(names)}.${out}`;
}

/** How AUC and C of simple predictors are made, for every place that shows them. */
export const PREDICTOR_METHOD =
  "Held out: a regression on nine tenths of the individuals judges pairs of the last tenth; 0.5 is chance, and without a relation estimates fall on either side of it. Visits only: their number, first and last time. The interval of what the place adds takes the regressions as given.";

/** What such figures are not, of outcomes that are compared with all visits. */
export const SEPARATION_NOTE =
  "All use all visits, so this is separation, not prediction: visits that stop with the outcome separate too.";

/** Which outcomes the place helps to tell beyond last value and visits; of one outcome, by how much. */
export function gainSentence(
  outcomes: readonly { readonly outcome: string; readonly predictors?: StudyPredictors }[],
): string {
  const compared = outcomes.flatMap(({ outcome, predictors }) => (predictors ? [{ outcome, ...predictors }] : []));
  if (compared.length === 1) return compared[0].verdict;
  const names = (list: typeof compared) => listWords(list.map(({ outcome }) => midSentence(outcomeName(outcome))));
  const known = compared.filter(({ added }) => Number.isFinite(added.value));
  const gain = known.filter(({ added, placeUsed }) => added.lower > 0 && placeUsed !== false);
  const unused = known.filter(({ placeUsed }) => placeUsed === false);
  const none = known.filter(({ added, placeUsed }) => !(added.lower > 0) && placeUsed !== false);
  const few = compared.filter(({ added }) => !Number.isFinite(added.value));
  const isAdjusted = compared.some(({ rows }) => rows.some(({ predictors }) => predictors === "covariates"));
  const base = isAdjusted ? "covariates, last value and visits" : "last value and visits";
  const parts = [
    ...(gain.length > 0 ? [`it adds to ${base} for ${names(gain)}`] : []),
    ...(none.length > 0 ? [`no gain is shown for ${names(none)}`] : []),
    ...(unused.length > 0 ? [`it adds nothing, so that it was left out, for ${names(unused)}`] : []),
    ...(few.length > 0 ? [`there are too few cases to say for ${names(few)}`] : []),
  ];
  return `What the place adds: ${parts.join("; ")}.`;
}

/** What a warning of a comparison is about. */
export const COMPARISON_NOTES: Readonly<Record<string, string>> = {
  "informative-dropout": "Last visits are missed to one side.",
  "approximate-likelihood": "Log-likelihoods are approximate.",
};
