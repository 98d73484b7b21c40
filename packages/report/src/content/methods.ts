/** The methods paragraph, written from the run: each sentence is there only if its part of the study is. */

import type { Marker, TrajectoryModel } from "@trajectory-maps/core";
import { markerModel } from "@trajectory-maps/core";
import { describeTimes } from "@trajectory-maps/core/ingest";
import { describeNoise } from "@trajectory-maps/core/models";
import { cell, counted, fixed, listWords, maskSmall, percent, significant, whole } from "../numbers.ts";
import { capital, midSentence, modelName, numberWord, outcomeName } from "../words.ts";
import type { Context } from "./context.ts";
import { cite, numbered } from "./references.ts";
import { riskText } from "./risk-methods.ts";
import { sensitivityText } from "./sensitivity-figure.ts";

/** Paragraphs of the methods section with numbered citations, and the references in their order. */
export function methodsOf(context: Context): {
  readonly paragraphs: readonly string[];
  readonly references: readonly string[];
} {
  const { texts, references } = numbered(citedMethods(context));
  return { paragraphs: texts, references };
}

function citedMethods(context: Context): string[] {
  const paragraphs = [
    `${context.study.several === undefined ? modelText(context) : severalText(context)}${timesText(context)}`,
    covariatesText(context),
    fitText(context),
    groupText(context),
    comparisonText(context),
    associationText(context),
    survivalText(context),
    riskText(context),
    sensitivityText(context),
    characteristicsText(context),
  ].filter((text) => text !== "");
  return paragraphs.length === 0
    ? []
    : [
        ...paragraphs,
        `Items of STROBE${cite("strobe")} and GRoLTS${cite("grolts")} are answered in the checklists of this report.`,
      ];
}

/** How groups are compared in the table of characteristics. */
function characteristicsText({ study, groups }: Context): string {
  if (study.characteristics === undefined || groups.length < 2) return "";
  const categories = study.characteristics.rows.some(({ kind }) => kind === "category");
  return `Characteristics of groups are compared by the largest standardised mean difference over pairs of groups${cite("smd")}${categories ? `, for categories by the Mahalanobis distance of their shares${cite("smdCategories")}` : ""}; no tests are made there, since groups were made from the same data.`;
}

/** From when times were counted, where the table gave dates or an origin. */
function timesText({ study: { model } }: Context): string {
  const own = model?.markers[0];
  if (own?.columns === undefined) return "";
  const text = describeTimes(own.columns, own.marker.timeUnit);
  return text === "" ? "" : ` ${text}`;
}

/** One map of several markers: what they share, and what is each one's own. */
function severalText({ study }: Context): string {
  const { model, several } = study;
  if (model === undefined || several === undefined) return "";
  const parts = several.markers.flatMap(({ model: own }) => (own === undefined ? [] : [own]));
  const scaled = parts.map(({ markers: [{ marker }] }) => scaleName(marker));
  const each = parts.map((own) => {
    const { marker, basis, mean, noise } = markerModel(own);
    const process = own.kind === "dtm" ? ` ${processText(own)}.` : "";
    const center = mean.kind === "scalar" ? "a constant population mean" : "a population mean curve";
    return `${scaleName(marker)}: ${numberWord(basis.numBasis)} B-splines of degree ${basis.degree} around ${center}, with ${describeNoise(noise, significant, marker.timeUnit)}.${process}`;
  });
  const q = numberWord(model.mapDimension);
  const shared =
    model.kind === "dtm"
      ? `${listWords(scaled)} were described by one Disease Trajectory Map${cite("dtm")}: each individual has one place in ${q} ${model.mapDimension === 1 ? "dimension" : "dimensions"} with a standard normal prior, shared by all markers. For each marker a Gaussian process of its own carries places to its spline coefficients; given the place, markers are independent, and a marker that an individual lacks says nothing. Nothing is weighted or standardised: each marker has its own noise and unit.`
      : `${listWords(scaled)} were described by ${model.kind === "lmm" ? `one linear mixed model${cite("lmm")} with a full covariance of all their spline coefficients` : `functional principal components${cite("fpca")} of rank ${q} of all their spline coefficients`}.`;
  const sharing =
    several.sharing === undefined
      ? ""
      : " Whether the markers share the map was judged by its bound against the sum of the bounds of maps of each marker alone, fitted alike.";
  return `${shared} ${each.join(" ")}${sharing}`;
}

/** The marker on the scale of the model, as a sentence begins. */
function scaleName({ name, transform }: Marker): string {
  return transform === "identity" ? capital(name) : capital(`${transform} ${name}`);
}

/** What covariates of individuals the model has, and what they change. */
function covariatesText({ study: { model } }: Context): string {
  if (model?.kind !== "dtm" || model.covariates === undefined) return "";
  const { covariates, missing } = model.covariates;
  const named = (places: boolean) => covariates.filter(({ effect }) => (effect === "places") === places);
  const [shifting, moving] = [named(true), named(false)];
  const names = (of: typeof covariates) => listWords(of.map(({ name }) => name));
  const references = covariates
    .filter(({ kind }) => kind === "category")
    .map(({ name, levels }) => `${name} ${levels[0]}`);
  const sentences = [
    shifting.length === 0
      ? ""
      : `Before anything is measured, the prior of a place is shifted by ${names(shifting)}, in proportion to numbers and by a vector of its own for each level of a category; shifts are tested by Wald's statistic.`,
    moving.length === 0 ? "" : `The mean course has effects of ${names(moving)}: ${EFFECT_WORDS[moving[0].effect]}.`,
    references.length === 0 ? "" : `Levels are compared with ${listWords(references)}.`,
    missing === "complete"
      ? "Individuals without one of them were left out."
      : "Missing covariates have a level of their own.",
    `Intervals are by Louis' information${cite("louis")}, in which places are not taken as known.`,
  ];
  return sentences.filter((text) => text !== "").join(" ");
}

const EFFECT_WORDS = {
  places: "",
  level: "a constant",
  "level-and-rate": "a constant and a straight line in time",
  curve: "a spline in time",
} as const;

function modelText({ study }: Context): string {
  const { model, cohort } = study;
  if (model === undefined) return "";
  const { marker } = cohort;
  const scale = scaleName(marker);
  const { basis } = markerModel(model);
  const inner = basis.numBasis - basis.degree - 1;
  const knots = {
    percentiles: "at percentiles of the observation times",
    "distinct-percentiles": "at percentiles of the distinct observation times",
    equal: "at equal distances",
    given: "at given times",
  }[basis.placement];
  const shape = `${numberWord(basis.numBasis)} B-splines of degree ${basis.degree} with ${counted(inner, "inner knot")} ${knots}`;
  const mean = markerModel(model).mean.kind === "scalar" ? "a constant population mean" : "a population mean curve";
  const noise = describeNoise(markerModel(model).noise, significant, marker.timeUnit);
  const q = numberWord(model.mapDimension);
  switch (model.kind) {
    case "lmm":
      return `${scale} was described by a linear mixed model${cite("lmm")} with ${shape}, ${mean} and ${noise}; places are scores on the first ${q} principal directions.`;
    case "fpca":
      return `${scale} was described by functional principal components${cite("fpca")} of rank ${q} with ${shape}, ${mean} and ${noise}.`;
    case "dtm":
    case "dtm-paper":
      return `${scale} was described by a Disease Trajectory Map${cite("dtm")}: each individual has a place in ${q} ${model.mapDimension === 1 ? "dimension" : "dimensions"} with a standard normal prior, and a Gaussian process carries places to the coefficients of ${shape}, around ${mean}, with ${noise}. ${processText(model)}.`;
  }
}

function processText(model: Extract<TrajectoryModel, { kind: "dtm" | "dtm-paper" }>): string {
  const { kernel, numInducing } = markerModel(model).map;
  const scales =
    kernel.kind === "rbf"
      ? ` with length-scale ${listWords([...new Set(Array.from(kernel.lengthscales, (l) => significant(l)))])}`
      : "";
  const process = `The process has ${numInducing} inducing points and a ${kernel.kind === "rbf" ? "squared exponential" : "linear"} kernel${scales} and signal variance ${significant(kernel.signalVariance)}`;
  if (model.kind === "dtm-paper") {
    return `${process}; its hyperparameters were ${model.learned ? "learned" : "held at their starting values"}, fitted by the ${model.schedule} schedule of the variational bound as published${cite("gplvm")}`;
  }
  const { nodes } = model;
  const { residual } = markerModel(model);
  const rest =
    residual.kind === "none"
      ? "no residual individual effects"
      : `residual individual effects${residual.tau === null ? "" : ` of ${significant(residual.tau)} times the mixed model's covariance${residual.atCap ? " (at its cap)" : ""}`}`;
  return `${process}, with ${rest}. Places were integrated over ${whole(nodes.logWeights.length)} nodes`;
}

function fitText({ study, record, smallCell }: Context): string {
  if (record === undefined) return "";
  const { options } = record;
  const restarts =
    typeof options.restarts === "number"
      ? ` ${options.restarts === 0 ? "No further starts were tried." : `${capital(counted(options.restarts, "further start"))} ${options.restarts === 1 ? "was" : "were"} tried.`}`
      : "";
  const places =
    study.placements === undefined ? "" : " Places are means of the posterior given all visits of the individual.";
  return `The fit used ${cell(record.numIndividuals, smallCell)} individuals with ${whole(record.numObservations)} observations and seed ${record.seed}. ${record.verdict}${restarts}${places}`;
}

function groupText({ study, groups, smallCell, mapOutcome }: Context): string {
  const made = study.groups;
  if (made === undefined || groups.length === 0) return "";
  const { number, stability, method } = made;
  const tried =
    number === undefined
      ? ""
      : ` From ${number.evidence[0].numGroups} to ${number.evidence[number.evidence.length - 1].numGroups} groups were considered by the gap statistic${cite("gap")}. ${number.sentence ?? ""}`;
  const kept =
    stability === undefined
      ? ""
      : ` Stability over ${stability.adjustedRand.length} refits to 80% of the individuals: mean adjusted Rand index${cite("rand")} ${fixed(stability.meanAdjustedRand, 2)}.`;
  const how = (method ?? "Groups were cut from a tree of the places").replace(
    "Ward's method",
    `Ward's method${cite("ward")}`,
  );
  return `${how}${how.endsWith(".") ? "" : "."}${maskSmall(tried, 1)}${kept} Names were made by rule from the median courses. ${mapOutcome === undefined ? "" : `Intervals of shares with an outcome are Wilson's${cite("wilson")}. `}${capital(numberWord(groups.length))} groups hold ${cell(
    groups.reduce((s, g) => s + g.size, 0),
    smallCell,
  )} individuals.`;
}

function comparisonText({ study }: Context): string {
  const { comparison, several } = study;
  if (several?.comparison !== undefined) {
    const known = several.comparison.models.some(({ model }) => model === "lmm-covariates");
    const adjusted = known ? ", and the mixed model of all with effects of the covariates in its mean," : "";
    return `One map, a map for each marker, the mixed model of all markers with a mean curve and a full covariance, and a mixed model for each${adjusted} were compared by ${numberWord(several.comparison.folds)}-fold cross-validation over individuals by the log-likelihood of all markers. Forecasts are scored by their log density${cite("scores")} and condition on what was measured up to the median of an individual's visit times.`;
  }
  if (comparison === undefined) return "";
  const names = listWords(
    comparison.models.map(
      ({ model }) =>
        `${midSentence(modelName(model))}${model === "lmm" ? cite("lmm") : model === "fpca" ? cite("fpca") : model === "dtm-paper" ? cite("gplvm") : ""}`,
    ),
  );
  const repeats = (comparison.repeats ?? 1) > 1 ? `, repeated ${comparison.repeats} times` : "";
  const adjusted = comparison.models.some(({ model }) => model === "lmm-covariates")
    ? " Models with covariates have effects of the same covariates in their mean."
    : "";
  return `Models (${names}) were compared by ${numberWord(comparison.folds)}-fold cross-validation over individuals${repeats}, fitted anew in each fold and scored on the individuals left out. Forecasts condition on the first half of an individual's visits and are scored by CRPS${cite("scores")}, mean absolute error and coverage of central intervals.${adjusted}`;
}

function associationText({ study }: Context): string {
  const { association } = study;
  if (association === undefined || association.outcomes.length === 0) return "";
  const { outcomes, madeUp } = association;
  const seed = association.seed === undefined ? "" : ` (seed ${association.seed})`;
  const draws = association.draws === undefined ? "" : `${whole(association.draws)} `;
  const made = madeUp
    ? ` As negative controls, of ${madeUp.labellings} made-up outcomes with labels dealt out at random ${percent(madeUp.below)} were below 0.05.`
    : "";
  const predictors = outcomes.some((outcome) => outcome.predictors)
    ? `AUCs of last value, visits (log of their number, first and last time) and place (posterior mean, squares and products) are of logistic regressions, shrunk by kind of predictor, on nine of ten folds, for pairs of the tenth; the interval of a difference is the infinitesimal jackknife over individuals with the regressions as given. `
    : "";
  const { adjustedFor = [] } = association;
  const published =
    adjustedFor.length > 0
      ? `All were adjusted for ${listWords(adjustedFor)}: labels and features of places were regressed on them, numbers with their squares, and those who lack a value took no part.`
      : `The published density test of posterior means${cite("kde")} stands beside them.`;
  return `Relations to ${counted(outcomes.length, "outcome")} were tested by the distance between the average posteriors of those with and without it, smoothed by a Gaussian kernel one prior standard deviation wide. Each individual enters with its whole posterior over the map: under the model the average posterior of a group is the prior, however the group was seen, so that number, length and spacing of visits may differ. P-values come from ${draws}studentised multiplier draws, each group with its own covariance${seed}; p-values of checks from fewer. ${published} The AUC is leave-pair-out${cite("leavePairOut")}: each case is compared with each control by the means of the others. ${predictors}Bands of the maps of differences hold everywhere at once with 95% probability without a relation. P-values were adjusted over outcomes by Holm${cite("holm")} and by Benjamini and Hochberg${cite("bh")}, within each model's places.${made}`;
}

function survivalText({ study, timeWord }: Context): string {
  const { survival } = study;
  if (survival === undefined) return "";
  const cox =
    survival.cox === undefined
      ? ""
      : ` Hazard ratios are from Cox regression${cite("cox")} on the places${survival.adjustedFor?.length ? ` and ${listWords(survival.adjustedFor)}` : ""}.`;
  const predictors =
    survival.predictors === undefined
      ? ""
      : ` Concordances${cite("concordance")} of last value, visits and place up to the landmark are of Cox regressions on nine of ten folds, shrunk by kind of predictor, for pairs of the tenth.`;
  return `Time to ${midSentence(outcomeName(survival.event))} was analysed from a landmark${cite("landmark")} at ${timeWord} ${significant(survival.landmark)}: individuals were placed by their visits up to it, on the map fitted to all visits, and followed from it, with ${survival.competing ? `Aalen–Johansen curves${cite("aalenJohansen")}` : `Kaplan–Meier curves${cite("kaplanMeier")}`} by the group of that place${survival.logRank === undefined ? "" : ` and a log-rank test${cite("logRank")}`}.${cox}${predictors}`;
}
