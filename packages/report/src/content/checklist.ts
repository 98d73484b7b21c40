/**
 * The reporting checklist for latent trajectory studies (GRoLTS; van de Schoot and others, Structural Equation Modeling
 * 24, 2017), its sixteen items answered from the run: yes with where it stands, no where it is no.
 */
import { markerModel } from "@trajectory-maps/core";
import { fixed, listWords, percent, whole } from "../numbers.ts";
import { capital, midSentence, modelName, numberWord } from "../words.ts";
import type { Context } from "./context.ts";

export interface ChecklistItem {
  readonly number: string;
  readonly question: string;
  readonly state: ChecklistState;
  /** Where it stands, or why not, in sentences. */
  readonly answer: string;
}

export type ChecklistState = "yes" | "in part" | "no" | "not applicable";

/** Titles of sections that answers point to. */
export const SECTIONS = {
  individuals: "“Who was studied”",
  groups: "“Groups of similar courses”",
  models: "“Does the map describe the data better?”",
  outcomes: "“Is the map related to outcomes?”",
  covariates: "“What covariates do”",
  sensitivity: "“Do the results hang on the choices of the fit?”",
  fit: "“How the fit went”",
  data: "“The data”",
  methods: "“Methods”",
} as const;

/** Visits at each of few times, on average, from which on these are waves. */
const VISITS_PER_WAVE = 20;

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
  const item = (number: string, question: string, state: ChecklistState, answer: string): ChecklistItem => ({
    number,
    question,
    state,
    answer,
  });
  const noGroups = "No groups were made in this run.";
  /** An item about groups. */
  const ofGroups = (number: string, question: string, state: ChecklistState, answer: string) =>
    groups.length === 0 ? item(number, question, "not applicable", noGroups) : item(number, question, state, answer);
  const counted = model?.markers[0]?.columns?.origin !== undefined;
  const { distinct = Number.POSITIVE_INFINITY } = cohort.time;
  const waves = distinct * VISITS_PER_WAVE <= cohort.numObservations ? distinct : 0;
  const covariates = model?.kind === "dtm" ? model.covariates : undefined;
  const basis = model && markerModel(model).basis;
  const otherBases = study.sensitivity?.variants.some(({ family }) => family === "basis") ?? false;
  const simpler = comparison?.models.some(({ model: name }) => name === "line" || name === "constant") ?? false;
  const compared = comparison ?? study.several?.comparison;
  const number = made?.number;
  return [
    item(
      "1",
      "Is the metric of time used in the statistical model reported?",
      counted ? "yes" : "in part",
      `${capital(timeWord)}s, from ${fixed(cohort.firstTime, 1)} to ${fixed(cohort.lastTime, 1)}; ${counted ? `how they were counted: ${SECTIONS.methods}` : "from when they were counted is to be added"}.`,
    ),
    item(
      "2",
      "Is information presented about the mean and variance of time within a wave?",
      waves === 0 ? "not applicable" : "yes",
      waves > 0
        ? `Visits are at ${numberWord(waves)} times, the same for all: time does not vary within a wave.`
        : `There are no waves: each visit enters at its own time. Over all visits time has mean ${fixed(cohort.time.mean, 1)} and standard deviation ${fixed(cohort.time.sd, 1)}.`,
    ),
    item(
      "3a",
      "Is the missing data mechanism reported?",
      "yes",
      "Assumed to be missing at random: whether and when a visit takes place depends only on values already seen. The data cannot show this.",
    ),
    item(
      "3b",
      "Is a description provided of what variables are related to attrition or missing data?",
      study.association === undefined ? "no" : "in part",
      study.association === undefined
        ? "Not studied in this run."
        : `Number, first and last time of visits are tested against the place as negative controls (${SECTIONS.outcomes}); other variables are not.`,
    ),
    item(
      "3c",
      "Is a description provided of how missing data in the analyses were dealt with?",
      "yes",
      `${leftOut > 0 ? "Rows without a usable value were left out and counted" : "No row was left out"} (${SECTIONS.individuals}); individuals enter with the visits they have; nothing is imputed.`,
    ),
    item(
      "4",
      "Is information about the distribution of the observed variables included?",
      "yes",
      `Median ${fixed(cohort.value.quantiles[2], decimals)} (IQR ${fixed(cohort.value.quantiles[1], decimals)}–${fixed(cohort.value.quantiles[3], decimals)}), with a histogram: ${SECTIONS.data}.`,
    ),
    item("5", "Is the software mentioned?", ...softwareAnswer(context)),
    item(
      "6a",
      "Are alternative specifications of within-class heterogeneity considered and clearly documented?",
      comparison === undefined ? "no" : classes ? "yes" : "in part",
      comparison === undefined
        ? "Models were not compared in this run."
        : `${classes ? "Latent classes without spread within a class, beside " : "Only models with continuous individual effects: "}${models} (${SECTIONS.models}).`,
    ),
    item(
      "6b",
      "Are alternative specifications of the between-class differences in variance–covariance structure considered and clearly documented?",
      groups.length === 0 ? "not applicable" : "no",
      groups.length === 0
        ? noGroups
        : "Groups are cut from a continuous map; they are no components with covariances of their own.",
    ),
    item(
      "7",
      "Are alternative shape or functional forms of the trajectories described?",
      basis === undefined
        ? "not applicable"
        : simpler || otherBases
          ? "yes"
          : comparison === undefined
            ? "no"
            : "in part",
      basis === undefined
        ? "No model was fitted."
        : `Courses are splines of degree ${basis.degree} with ${numberWord(basis.numBasis)} coefficients${simpler ? `, compared with straight lines or levels (${SECTIONS.models})` : ""}${otherBases ? `; others were tried (${SECTIONS.sensitivity})` : "; other numbers of coefficients were not tried"}.`,
    ),
    item(
      "8",
      "If covariates have been used, can analyses still be replicated?",
      covariates === undefined ? "not applicable" : "yes",
      covariates === undefined
        ? "The model uses no covariates: time and the marker alone."
        : `${listWords(covariates.covariates.map(({ name }) => name))}: their coding and effects are under ${SECTIONS.methods} and ${SECTIONS.covariates}.`,
    ),
    item(
      "9",
      "Is information reported about the number of random start values and final iterations included?",
      record === undefined ? "not applicable" : "yes",
      record === undefined
        ? "No model was fitted."
        : `${typeof restarts === "number" ? `${whole(restarts)} further starts beside the linear one, ` : ""}${whole(record.iterations)} iterations, seed ${record.seed}: ${SECTIONS.fit}.`,
    ),
    item(
      "10",
      "Are the model comparison and selection tools described from a statistical perspective?",
      compared === undefined ? "no" : "yes",
      compared === undefined
        ? "Models were not compared in this run."
        : `Held-out log-likelihood by ${numberWord(compared.folds)}-fold cross-validation with paired differences, nominal and observed coverage, and error of forecasts.`,
    ),
    ofGroups(
      "11",
      "Are the total number of fitted models reported, including a one-class solution?",
      number === undefined ? "no" : "yes",
      number === undefined
        ? "The number of groups was given, not searched."
        : `${number.evidence[0].numGroups} to ${number.evidence[number.evidence.length - 1].numGroups} groups were considered${number.evidence[0].numGroups === 1 ? ", one group included" : ""}${comparison === undefined ? "" : `; ${comparison.models.length} kinds of model were compared`}.`,
    ),
    ofGroups(
      "12",
      "Are the number of cases per class reported for each model (absolute sample size, or proportion)?",
      "in part",
      `For the final groups only: ${listWords(groups.map(({ letter }, k) => `${letter} ${sizes[k]}`))}.`,
    ),
    made?.entropy === undefined
      ? item(
          "13",
          "If classification of cases in a trajectory is the goal, is entropy reported?",
          groups.length === 0 ? "not applicable" : "no",
          "Places are continuous and carry their own uncertainty.",
        )
      : item(
          "13",
          "If classification of cases in a trajectory is the goal, is entropy reported?",
          "yes",
          entropyAnswer(made.entropy, groups),
        ),
    ofGroups(
      "14a",
      "Is a plot included with the estimated mean trajectories of the final solution?",
      "yes",
      `Medians of the members' expected courses: ${SECTIONS.groups}.`,
    ),
    ofGroups(
      "14b",
      "Are plots included with the estimated mean trajectories for each model?",
      "no",
      "For the final number of groups only.",
    ),
    ofGroups(
      "14c",
      "Is a plot included of the combination of estimated means of the final model and the observed individual trajectories split out for each latent class?",
      "in part",
      "The spread of members is shown as a band from the 10th to the 90th percentile; single observed courses are not drawn, because they are data of individuals.",
    ),
    ofGroups(
      "15",
      "Are characteristics of the final class solution numerically described (means, SD/SE, n, CI, etc.)?",
      "yes",
      `Medians, percentiles and numbers followed under “Show numbers” of ${SECTIONS.groups}${study.characteristics === undefined ? "" : `, characteristics under ${SECTIONS.individuals}`}${made?.stability === undefined ? "" : `; stability: adjusted Rand index ${fixed(made.stability.meanAdjustedRand, 2)}`}.`,
    ),
    item(
      "16",
      "Are the syntax files available (either in the appendix, supplementary materials, or from the authors)?",
      study.run?.command === undefined ? "in part" : "yes",
      study.run?.command === undefined
        ? record === undefined
          ? "No command is recorded."
          : `The settings in force are listed under ${SECTIONS.fit}.`
        : "The commands stand in this page and, with the settings in force, reproduce the run.",
    ),
  ];
}

/** Entropy and the mean probability of the group they are in, group by group. */
function entropyAnswer(entropy: number, groups: Context["groups"]): string {
  const means = groups.flatMap(({ letter, probability }) =>
    probability === undefined ? [] : [`${letter} ${percent(probability)}`],
  );
  const sure = means.length === 0 ? "" : `; mean probability of the group that members are in: ${listWords(means)}`;
  return `Relative entropy ${fixed(entropy, 2)} (1 if everybody's group is certain, 0 if nobody's)${sure}.`;
}

function softwareAnswer({ study, record }: Context): [ChecklistState, string] {
  const versions =
    study.run?.versions ?? (record === undefined ? [] : [{ name: "trajectory-maps", version: record.version }]);
  return versions.length === 0
    ? ["in part", "Disease Trajectory Maps; version not recorded."]
    : ["yes", `${listWords(versions.map(({ name, version }) => `${name} ${version}`))}.`];
}
