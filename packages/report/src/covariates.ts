/**
 * What covariates do, as report and command line tell it: shifts of places and effects in the mean with their intervals, numbers by a
 * step of about a standard deviation, and the median course of individuals with chosen values.
 */
import {
  type Cohort,
  type Marker,
  type Placements,
  placeIndividual,
  predict,
  type TrajectoryModel,
} from "@trajectory-maps/core";
import type { CovariateCoding } from "@trajectory-maps/core/ingest";
import {
  type CovariateStep,
  codingOf,
  covariateEffects,
  type EffectEstimate,
  type EffectTables,
  modelAt,
  usualStep,
} from "@trajectory-maps/core/models";
import { remainingInPlaces } from "@trajectory-maps/core/study";
import type { DataTable } from "./figures/figure.ts";
import { pValue, significant } from "./numbers.ts";

/** Covariates of a study: their effects, and the courses that belong to chosen values. */
export interface StudyCovariates extends EffectTables {
  readonly courses: readonly CovariateCourses[];
  /** What to be careful with in effects in the mean, in sentences. */
  readonly cautions: readonly string[];
}

/** Courses of one marker by one covariate, the others at their means. */
export interface CovariateCourses {
  readonly covariate: string;
  readonly marker: Marker;
  readonly times: Float64Array; // [T]
  readonly courses: readonly {
    /** Such as "age 34 (10th percentile)" or "sex m". */
    readonly words: string;
    /** Median over individuals with the value before anything is measured, [T]. */
    readonly median: Float64Array;
  }[];
}

const POINTS = 41;

/** What a study tells of the covariates of its model; undefined for a model without any. */
export function studyCovariates(
  model: TrajectoryModel,
  cohort: Cohort,
  placements: Placements,
  lastTime: number,
): StudyCovariates | undefined {
  const tables = effectTables(model);
  if (tables === undefined) return undefined;
  const cautions = effectCautions(model, cohort, placements);
  return { ...tables, cautions, courses: coursesOf(model, cohort, lastTime) };
}

/**
 * What to be careful with in effects in the mean: covariates that places go with all the same, where the cohort is at hand, and effects
 * of which map and mixed model say different things about 0.
 */
export function effectCautions(
  model: TrajectoryModel,
  cohort: Cohort | undefined,
  placements: Pick<Placements, "location" | "mapDimension">,
): string[] {
  const remaining = cohort === undefined ? [] : placesGoWith(model, cohort, placements);
  return [...remaining, ...(effectTables(model)?.effects ?? []).flatMap(disagreement)];
}

function placesGoWith(
  model: TrajectoryModel,
  cohort: Cohort,
  placements: Pick<Placements, "location" | "mapDimension">,
): string[] {
  return remainingInPlaces(model, cohort, placements)
    .filter(({ p }) => p < 0.05)
    .map(
      ({ covariate, p }) =>
        `Places still go with ${covariate} (score test, p ${p < 0.001 ? "" : "= "}${pValue(p)}): part of what goes with it is in the map, and its effect in the mean is too small. Let it shift places instead (effects "places").`,
    );
}

/** An effect whose interval leaves out 0 in the map or in the mixed model, but not in both on the same side. */
export function disagreement(row: EffectTables["effects"][number]): string[] {
  const { mixedModel } = row;
  if (mixedModel === null) return [];
  const side = ({ lower, upper }: EffectEstimate) => (lower > 0 ? 1 : upper < 0 ? -1 : 0);
  const [own, other] = [side(row), side(mixedModel)];
  if (own === other) return [];
  const told = (estimate: EffectEstimate) => {
    const [value, interval] = withInterval(estimate);
    return `${value} (${interval})`;
  };
  const apart =
    own * other === -1 ? "have opposite signs" : `leave out 0 in the ${own !== 0 ? "map" : "mixed model"} alone`;
  return [
    `${rowWords(row)}: intervals of map and mixed model ${apart}, ${told(row)} against ${told(mixedModel)}. Whether there is an effect hangs on the model: do not rest on it.`,
  ];
}

/** Effects of a model's covariates, numbers by a step of about a standard deviation; undefined for a model without any. */
export function effectTables(model: TrajectoryModel): EffectTables | undefined {
  const coding = codingOf(model);
  if (coding === undefined) return undefined;
  const numbers = coding.columns.filter(({ level }) => level === null);
  const steps = Object.fromEntries(numbers.map((column) => [column.name, usualStep(column)]));
  return covariateEffects(model, { steps });
}

/** "prot, level at 5.6: sex, m against f". */
function rowWords(row: EffectTables["effects"][number]): string {
  const when = row.time === null ? "" : ` at ${significant(row.time)}`;
  return `${row.marker}, ${row.quantity}${when}: ${comparedWords(row)}`;
}

/** "age, per 10", "sex, m against f". */
export function comparedWords({ covariate, level, reference, step }: CovariateStep): string {
  return level === null ? `${covariate}, per ${step}` : `${covariate}, ${level} against ${reference}`;
}

/** The same in few words, beside an arrow: "age +10", "sex m". */
export function stepWords({ covariate, level, step }: CovariateStep): string {
  return level === null ? `${covariate} +${step}` : `${covariate} ${level}`;
}

export const SHIFT_NOTE =
  "Where people stand before anything is measured, in standard deviations of places given covariates (± half a 95% interval); p by Wald's test of no shift.";

/** What effects in the mean are and what their intervals know, for the rows there are. */
export function effectNote(effects: EffectTables["effects"]): string {
  const rate = effects.some(({ quantity }) => quantity === "rate") ? ", rate per unit of time" : "";
  const middle = effects.some(({ time }) => time !== null)
    ? " in the middle of the range of times, another at other times"
    : "";
  const robust = effects.some(({ errorKind }) => errorKind === "robust")
    ? " Standard errors are the larger of model-based and robust ones, which do not count on the model being right; the column says which."
    : "";
  const beside = effects.some(({ mixedModel }) => mixedModel !== null)
    ? " The mixed model with the same covariates and a mean curve has no places that could take part of an effect."
    : "";
  return (
    `In the mean course, given the place: level${middle}${rate}, on the scale of the model. Intervals are given this map: ` +
    `that another map might leave more or less of an effect to the mean is not in them.${robust}${beside}`
  );
}

/** Half-widths of 95% intervals of a shift along one axis. */
const Z_95 = 1.959963984540054;

/** Shifts of places, a row each. */
export function shiftTable(shifts: EffectTables["shifts"]): DataTable {
  const q = shifts[0]?.shift.length ?? 0;
  return {
    columns: ["Covariate", ...Array.from({ length: q }, (_, a) => `axis ${a + 1}`), "length", "p"],
    rows: shifts.map((row) => [
      comparedWords(row),
      ...Array.from(row.shift, (s, a) => `${plus(s)} ± ${significant(Z_95 * Math.sqrt(row.covariance[a * q + a]))}`),
      significant(row.length),
      pValue(row.test.pValue),
    ]),
  };
}

/** Effects in the mean, a row each; beside them those of the mixed model, where it is known. */
export function effectTable(effects: EffectTables["effects"]): DataTable {
  const beside = effects.some(({ mixedModel }) => mixedModel !== null);
  return {
    columns: ["Marker and covariate", "effect", "95% CI", "error", ...(beside ? ["mixed model", "95% CI"] : [])],
    rows: effects.map((row) => [
      rowWords(row),
      ...withInterval(row),
      row.errorKind,
      ...(beside ? (row.mixedModel === null ? ["", ""] : withInterval(row.mixedModel)) : []),
    ]),
  };
}

function withInterval({ estimate, lower, upper }: Pick<EffectEstimate, "estimate" | "lower" | "upper">): string[] {
  return [plus(estimate), `${plus(lower)} to ${plus(upper)}`];
}

function plus(x: number): string {
  return x < 0 ? significant(x) : `+${significant(x)}`;
}

function coursesOf(model: TrajectoryModel, cohort: Cohort, lastTime: number): CovariateCourses[] {
  const coding = codingOf(model)!;
  const firstTime = Math.min(...cohort.markers.map(({ times }) => times.reduce((a, b) => Math.min(a, b))));
  const times = Float64Array.from(
    { length: POINTS },
    (_, k) => firstTime + ((lastTime - firstTime) * k) / (POINTS - 1),
  );
  const courses = coding.covariates.map((_, c) =>
    chosenValues(coding, cohort, c).map(({ words, z }) => {
      const own = modelAt(model, z);
      const prior = placeIndividual(own, { markers: {} });
      const of = (marker: string) => predict(own, prior, times, { interval: "curve", marker }).median;
      return { words, medians: model.markers.map(({ marker }) => of(marker.name)) };
    }),
  );
  return coding.covariates.flatMap(({ name }, c) =>
    model.markers.map(({ marker }, k) => ({
      covariate: name,
      marker,
      times,
      courses: courses[c].map(({ words, medians }) => ({ words, median: medians[k] })),
    })),
  );
}

/** The values of a covariate that courses are shown for, with the coded columns [P]: those of the others are at their means. */
function chosenValues(coding: CovariateCoding, cohort: Cohort, c: number) {
  const { name, kind, levels } = coding.covariates[c];
  const { columns } = coding;
  const own = columns.flatMap((column, p) => (column.covariate === c ? [{ ...column, p }] : []));
  const at = (coded: (column: (typeof own)[number]) => number) => {
    const z = new Float64Array(columns.length);
    for (const column of own) z[column.p] = (coded(column) - column.center) / column.scale;
    return z;
  };
  if (kind === "category") {
    return levels.map((level) => ({ words: `${name} ${level}`, z: at((column) => (column.level === level ? 1 : 0)) }));
  }
  const [{ p, center, scale }, unknown] = own;
  const coded = cohort.covariates!.values;
  const P = columns.length;
  const x = Float64Array.from(cohort.ids, (_, i) => center + scale * coded[i * P + p])
    .filter((_, i) => unknown === undefined || coded[i * P + unknown.p] < 0)
    .sort();
  const quantile = (share: number) => x[Math.round(share * (x.length - 1))];
  const [low, high] = [quantile(0.1), quantile(0.9)];
  // Numbers that hardly anybody has otherwise, such as a rare yes.
  const ends = low < high ? [low, high] : [x[0], x[x.length - 1]];
  const said = low < high && new Set(x).size > 2 ? [" (10th percentile)", " (90th percentile)"] : ["", ""];
  return ends.map((value, k) => ({
    words: `${name} ${significant(value)}${said[k]}`,
    z: at(({ level }) => (level === null ? value : 0)),
  }));
}
