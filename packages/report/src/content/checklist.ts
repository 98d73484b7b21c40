/**
 * The reporting checklist for latent trajectory studies (GRoLTS; van de Schoot and others, Structural Equation Modeling
 * 24, 2017), its sixteen items answered from the run. An answer is drawn from data or says why the item does not apply.
 */
import { markerModel } from "@trajectory-maps/core";
import { fixed, listWords, percent, whole } from "../numbers.ts";
import { midSentence, modelName, numberWord } from "../words.ts";
import type { Context } from "./context.ts";

export interface ChecklistItem {
  readonly number: string;
  readonly question: string;
  readonly answer: string;
}

/** All items in their published order. */
export function checklist(context: Context): ChecklistItem[] {
  const { study, groups, sizes, record, timeWord, decimals } = context;
  const { cohort, comparison, model } = study;
  const made = study.groups;
  const classes = comparison?.models.some(({ model: name }) => name === "classes" || name === "lcmm") ?? false;
  const models =
    comparison === undefined ? "" : listWords(comparison.models.map(({ model: name }) => midSentence(modelName(name))));
  const leftOut = cohort.numRowsLeftOut ?? 0;
  const restarts = record?.options.restarts;
  const item = (number: string, question: string, answer: string): ChecklistItem => ({ number, question, answer });
  const noGroups = "Not applicable because no groups were made in this run.";
  return [
    item(
      "1",
      "Is the metric of time used in the statistical model reported?",
      `Yes: ${timeWord}s as recorded, from ${fixed(cohort.firstTime, 1)} to ${fixed(cohort.lastTime, 1)}.`,
    ),
    item(
      "2",
      "Is information presented about the mean and variance of time within a wave?",
      `There are no waves: visits fall at any time, and each enters at its own. Over all visits time has mean ${fixed(cohort.time.mean, 1)} and standard deviation ${fixed(cohort.time.sd, 1)}.`,
    ),
    item(
      "3a",
      "Is the missing data mechanism reported?",
      "The models assume that whether and when a visit takes place depends only on values already seen (missing at random). The data cannot show this.",
    ),
    item(
      "3b",
      "Is a description provided of what variables are related to attrition or missing data?",
      study.association === undefined
        ? "Not studied in this run."
        : "The relation of visit count to places is tested as a negative control, and outcomes are tested on whole posteriors, which on average do not depend on how a group was seen.",
    ),
    item(
      "3c",
      "Is a description provided of how missing data in the analyses were dealt with?",
      `${leftOut > 0 ? "Rows without a usable value were left out and counted; " : "No row was left out; "}individuals enter with the visits they have; nothing is imputed.`,
    ),
    item(
      "4",
      "Is information about the distribution of the observed variables included?",
      `Yes: median ${fixed(cohort.value.quantiles[2], decimals)}, quartiles ${fixed(cohort.value.quantiles[1], decimals)} and ${fixed(cohort.value.quantiles[3], decimals)}, with a histogram, under “The data”.`,
    ),
    item("5", "Is the software mentioned?", softwareAnswer(context)),
    item(
      "6a",
      "Are alternative specifications of within-class heterogeneity considered and clearly documented?",
      comparison === undefined
        ? "Not in this run: models were not compared."
        : `${classes ? "Yes: latent classes without spread within a class, beside " : "Models with continuous individual effects only: "}${models}.`,
    ),
    item(
      "6b",
      "Are alternative specifications of the between-class differences in variance–covariance structure considered and clearly documented?",
      "Not applicable because groups are cut from a continuous map; they are no components with covariances of their own.",
    ),
    item(
      "7",
      "Are alternative shape or functional forms of the trajectories described?",
      model === undefined
        ? "Not applicable because no model was fitted."
        : `${capitalYes(comparison)} Courses are splines of degree ${markerModel(model).basis.degree} with ${numberWord(markerModel(model).basis.numBasis)} coefficients${comparison?.models.some(({ model: name }) => name === "line" || name === "constant") ? ", compared with simpler forms in Table 1" : ""}.`,
    ),
    item(
      "8",
      "If covariates have been used, can analyses still be replicated?",
      "Not applicable because the model uses no covariates: time and the marker alone.",
    ),
    item(
      "9",
      "Is information reported about the number of random start values and final iterations included?",
      record === undefined
        ? "Not applicable because no model was fitted."
        : `Yes: ${typeof restarts === "number" ? `${whole(restarts)} further starts beside the linear one, ` : ""}${whole(record.iterations)} iterations, seed ${record.seed}. ${record.verdict}`,
    ),
    item(
      "10",
      "Are the model comparison and selection tools described from a statistical perspective?",
      comparison === undefined
        ? "Not in this run: models were not compared."
        : `Yes: held-out log-likelihood by ${numberWord(comparison.folds)}-fold cross-validation with paired differences, coverage and error of forecasts.`,
    ),
    item(
      "11",
      "Are the total number of fitted models reported, including a one-class solution?",
      made?.number === undefined
        ? groups.length === 0
          ? noGroups
          : "The number of groups was given, not searched."
        : `Yes: ${made.number.evidence[0].numGroups} to ${made.number.evidence[made.number.evidence.length - 1].numGroups} groups were considered${made.number.evidence[0].numGroups === 1 ? ", one group included" : ""}${comparison === undefined ? "" : `; ${comparison.models.length} kinds of model were compared`}.`,
    ),
    item(
      "12",
      "Are the number of cases per class reported for each model?",
      groups.length === 0
        ? noGroups
        : `Yes, for the final groups: ${listWords(groups.map(({ letter }, k) => `${letter} ${sizes[k]}`))}.`,
    ),
    item(
      "13",
      "If classification of cases in a trajectory is the goal, is entropy reported?",
      made?.entropy === undefined
        ? "Classification is not the goal: places are continuous and carry their own uncertainty. Stability of the groups is reported where it was studied."
        : entropyAnswer(made.entropy, groups),
    ),
    item(
      "14a",
      "Is a plot included with the estimated mean trajectories of the final solution?",
      groups.length === 0 ? noGroups : "Yes: “Groups of similar courses”.",
    ),
    item(
      "14b",
      "Are plots included with the estimated mean trajectories for each model?",
      "For the final number of groups only; the map itself shows the courses at every place.",
    ),
    item(
      "14c",
      "Is a plot included of the combination of estimated means of the final model and the observed individual trajectories split out for each latent class?",
      groups.length === 0
        ? noGroups
        : "The spread of members is shown as a band from the 10th to the 90th percentile; single courses are withheld because they are data of individuals.",
    ),
    item(
      "15",
      "Are characteristics of the final class solution numerically described?",
      groups.length === 0
        ? noGroups
        : `Yes: medians, percentiles and numbers followed under “Show numbers”${made?.stability === undefined ? "" : `; stability (adjusted Rand index ${fixed(made.stability.meanAdjustedRand, 2)}${groups.some(({ pairsKept }) => pairsKept !== undefined) ? `, pairs kept ${listWords(groups.flatMap(({ letter, pairsKept }) => (pairsKept === undefined ? [] : [`${letter} ${percent(pairsKept)}`])))}` : ""})`}.`,
    ),
    item(
      "16",
      "Are the syntax files available?",
      study.run?.command === undefined
        ? "The settings in force are listed under “How the fit went”."
        : "Yes: the commands stand in this page and, with the settings in force, reproduce the run.",
    ),
  ];
}

/** Entropy and the mean probability of the group they are in, group by group. */
function entropyAnswer(entropy: number, groups: Context["groups"]): string {
  const means = groups.flatMap(({ letter, probability }) =>
    probability === undefined ? [] : [`${letter} ${percent(probability)}`],
  );
  const sure = means.length === 0 ? "" : `; mean probability of the group that members are in: ${listWords(means)}`;
  return `Yes, though places, not groups, are the goal: relative entropy ${fixed(entropy, 2)} (1 if everybody's group is certain, 0 if nobody's)${sure}.`;
}

function softwareAnswer({ study, record }: Context): string {
  const versions =
    study.run?.versions ?? (record === undefined ? [] : [{ name: "trajectory-maps", version: record.version }]);
  return versions.length === 0
    ? "Disease Trajectory Maps; version not recorded."
    : `Yes: ${listWords(versions.map(({ name, version }) => `${name} ${version}`))}.`;
}

function capitalYes(comparison: unknown): string {
  return comparison === undefined ? "One form was used." : "Yes.";
}
