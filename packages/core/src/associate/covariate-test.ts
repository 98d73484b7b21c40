/**
 * Does a covariate move places? A score test from the map as it is, fitted without the covariate, so that any number of them can
 * be screened without a refit (MULTI.md §3.6). With x̄_i the posterior mean of a place, x⁰_i its mean before any value is seen
 * (0 where nothing shifts places) and z_i the coded columns of a covariate, [P], centred as all u are here,
 *   u_i = x̄_i − x⁰_i,   s_i = z_i ⊗ u_i,   S = Σ s_i,   T = S'(Σ s_i s_i')⁻¹ S,   on Pq degrees.
 * Without an effect E u_i = 0 whatever the visits, as long as these follow from values already seen: that is what posterior means
 * keep of association.md §1. p by random signs ξ_i, T* from Σ ξ_i s_i with the same variance, and beside it by χ². Nothing is permuted:
 * covariate and course may both have caused the visits, so that neither all individuals nor those seen equally often are exchangeable.
 *                                                                                  (docs/math/association.md §14)
 */

import type { CodedColumn, Covariate } from "../cohort/coding.ts";
import type { Cohort } from "../cohort/cohort.ts";
import { type CovariateChoices, codeCovariates } from "../covariates/code.ts";
import { type Covariates, usualStep } from "../covariates/covariates.ts";
import { checkOption, DtmError } from "../errors.ts";
import type { SubjectsTable } from "../ingest/subjects-table.ts";
import { priorsOf } from "../models/covariate-model.ts";
import { isMapModel, type TrajectoryModel } from "../models/model.ts";
import { type EmbedOptions, embedPlaces, placeIndividual } from "../models/place.ts";
import type { Placements } from "../models/placement.ts";
import { choleskyInPlace, solveCholeskyInPlace, solveLowerInPlace } from "../numeric/cholesky.ts";
import { dot, joinFloats, multiply, takeRows, transpose } from "../numeric/matrix.ts";
import { chisquareUpper } from "../numeric/special.ts";
import { type AdjustedPValue, adjustPValues, UNADJUSTED } from "./multiplicity.ts";
import { DEFAULT_DRAWS, eachSignedSum, randomSigns } from "./multipliers.ts";
import { weightedSum } from "./score-test.ts";

/** How far individuals stand from where they were expected. */
export interface PlaceShifts {
  readonly ids: readonly string[];
  readonly mapDimension: number;
  /** u [m,q]. */
  readonly shifts: Float64Array;
}

export interface ScoreTest {
  readonly statistic: number;
  readonly degrees: number;
  /** By random signs, and by χ². */
  readonly p: number;
  readonly chiSquareP: number;
  readonly draws: number;
}

export interface ScoreTestOptions {
  /** Default 9,999. */
  readonly draws?: number;
  readonly seed?: number;
}

/** Mean shift of the known places for one column of a covariate. */
export interface ColumnShift {
  readonly column: string;
  /** What is compared: "m against f", or "per 10", about the standard deviation of a number (`usualStep`). */
  readonly compared: string;
  /** How much of the covariate the shift is for: 1 for a level. */
  readonly step: number;
  readonly shift: Float64Array; // [q]
  readonly length: number;
  /** Degrees from the first axis towards the second; null on maps that are no plane. */
  readonly angle: number | null;
}

export interface CovariateTest extends ScoreTest {
  readonly covariate: string;
  readonly kind: Covariate["kind"];
  readonly numIndividuals: number;
  /** Individuals without a value of it. */
  readonly leftOut: number;
  readonly adjusted: AdjustedPValue;
  readonly columns: readonly ColumnShift[];
  /** Why it was not tested; null if it was. */
  readonly untested: string | null;
}

const FEWEST_DRAWS = 19;
/** Below this share of the largest spread an axis of the map is not used. */
const UNUSED = 1e-10;

/** The shifts of a cohort's places; where the model has covariates itself, those of the cohort say what was expected. */
export function placeShifts(model: TrajectoryModel, cohort: Cohort, options: EmbedOptions = {}): PlaceShifts {
  const { ids, mapDimension: q, location } = embedPlaces(model, cohort, options);
  const expected = expectedPlaces(model, cohort);
  return { ids, mapDimension: q, shifts: location.map((x, e) => x - expected[e % expected.length]) };
}

/**
 * Do places still go with covariates whose effect is in the mean? The model takes places as independent of them; where they are not,
 * the map holds part of what goes with the covariate, and its effect is too small. p by χ².
 */
export function remainingInPlaces(
  model: TrajectoryModel,
  cohort: Cohort,
  { location, mapDimension: q }: Pick<Placements, "location" | "mapDimension">,
): { readonly covariate: string; readonly p: number }[] {
  const { covariates } = cohort;
  if (covariates === undefined) return [];
  const { coding, values } = covariates;
  const expected = expectedPlaces(model, cohort);
  const shifts = location.map((x, e) => x - expected[e % expected.length]);
  const P = coding.columns.length;
  return coding.covariates.flatMap(({ name, effect }, c) => {
    if (effect === "places") return [];
    const z = values.filter((_, e) => coding.columns[e % P].covariate === c);
    return [{ covariate: name, p: scoreCovariate({ mapDimension: q, shifts }, z, { draws: FEWEST_DRAWS }).chiSquareP }];
  });
}

/** x⁰ in the shown frame: [m,q] where covariates of the model shift places, else [q] for everyone. */
function expectedPlaces(model: TrajectoryModel, cohort: Cohort): Float64Array {
  const q = model.mapDimension;
  const priorOf = priorsOf(model, cohort);
  if (model.kind === "dtm" && priorOf(0) !== undefined) {
    const { locations } = model.nodes;
    const means = cohort.ids.map((_, i) => {
      const prior = priorOf(i)!.map(Math.exp);
      return weightedSum(prior, locations, prior.length, q);
    });
    return multiply(joinFloats(means), model.orientation, means.length, q, q);
  }
  // Lattices are symmetric about 0; coefficients of a mixed model are not.
  return isMapModel(model) ? new Float64Array(q) : placeIndividual(model, { times: [], values: [] }).location;
}

/** The test for columns z [n,P] of the individuals whose shifts these are; z is centred. */
export function scoreCovariate(
  { mapDimension, shifts }: Pick<PlaceShifts, "mapDimension" | "shifts">,
  z: Float64Array,
  { draws = DEFAULT_DRAWS, seed = 1 }: ScoreTestOptions = {},
): ScoreTest {
  checkOption(
    Number.isInteger(draws) && draws >= FEWEST_DRAWS,
    "scoreCovariate",
    "19 draws or more",
    draws,
    "Take 9,999.",
  );
  const n = shifts.length / mapDimension;
  const u = centredAxes(shifts, mapDimension);
  const [P, q] = [z.length / n, u.length / n];
  const d = P * q;
  // Scores in units of their own spread: T is |Σ w_i|².
  const w = Float64Array.from({ length: n * d }, (_, e) => {
    const [i, k] = [Math.floor(e / d), e % d];
    return z[i * P + Math.floor(k / q)] * u[i * q + (k % q)];
  });
  const L = multiply(transpose(w, n, d), w, d, n, d);
  if (d === 0 || !choleskyInPlace(L, d)) return { statistic: 0, degrees: d, p: 1, chiSquareP: 1, draws };
  for (let i = 0; i < n; i++) solveLowerInPlace(L, d, w.subarray(i * d, (i + 1) * d));
  const ones = new Float64Array(n).fill(1);
  const sum = weightedSum(ones, w, n, d);
  const statistic = dot(sum, sum);
  let reached = 0;
  eachSignedSum({ n, numFeatures: d, rows: w, weights: [ones] }, randomSigns(seed), 0, draws, (sums, at) => {
    const drawn = sums.subarray(at, at + d);
    if (dot(drawn, drawn) >= statistic * (1 - 1e-12)) reached++;
  });
  return { statistic, degrees: d, p: (1 + reached) / (1 + draws), chiSquareP: chisquareUpper(statistic, d), draws };
}

/** Every covariate of `choices` tested by itself, individuals without a value of it left out of its test alone. */
export function screenCovariates(
  places: PlaceShifts,
  table: SubjectsTable,
  choices: Pick<CovariateChoices, "covariates" | "missing">,
  options: ScoreTestOptions = {},
): CovariateTest[] {
  const tests = choices.covariates.map((wanted): CovariateTest => {
    const { effect: _, ...covariate } = wanted;
    try {
      const coded = codeCovariates(table, places.ids, {
        ...choices,
        covariates: [covariate],
        mapDimension: places.mapDimension,
      });
      return testOne(places, coded, options);
    } catch (error) {
      if (!(error instanceof DtmError) || !UNTESTABLE.some((code) => code === error.code)) throw error;
      return { ...NOTHING, covariate: wanted.name, untested: error.message.replace(/^codeCovariates: /, "") };
    }
  });
  const adjusted = adjustPValues(tests.map(({ p }) => p));
  return tests.map((test, k) => ({ ...test, adjusted: adjusted[k] }));
}

/** What ends the test of one covariate and not the screen. */
const UNTESTABLE = ["constant-column", "too-few-individuals", "collinear"] as const;

const NOTHING: Omit<CovariateTest, "covariate" | "untested"> = {
  ...{ kind: "category", numIndividuals: 0, leftOut: 0, columns: [], adjusted: UNADJUSTED },
  ...{ statistic: Number.NaN, degrees: 0, p: Number.NaN, chiSquareP: Number.NaN, draws: 0 },
};

function testOne(places: PlaceShifts, coded: Covariates, options: ScoreTestOptions): CovariateTest {
  const { mapDimension: q, shifts } = places;
  const own = {
    ids: coded.ids,
    mapDimension: q,
    shifts: takeRows(shifts, q, coded.individuals),
  };
  const [covariate] = coded.coding.covariates;
  return {
    covariate: covariate.name,
    kind: covariate.kind,
    numIndividuals: coded.ids.length,
    leftOut: coded.leftOut.length,
    ...scoreCovariate(own, coded.values, options),
    adjusted: UNADJUSTED,
    columns: meanShifts(own, coded.values, coded.coding.columns, covariate),
    untested: null,
  };
}

/** u [n,q] centred, without the axes on which nobody stands apart. */
function centredAxes(u: Float64Array, q: number): Float64Array {
  const axes = Array.from({ length: q }, (_, a) => u.filter((_, e) => e % q === a));
  const means = axes.map((axis) => axis.reduce((s, v) => s + v, 0) / axis.length);
  const centred = u.map((v, e) => v - means[e % q]);
  const squares = axes.map((axis, a) => axis.reduce((s, v) => s + (v - means[a]) ** 2, 0));
  const most = Math.max(...squares);
  return centred.filter((_, e) => squares[e % q] > UNUSED * most);
}

/** β = (Σ z z')⁻¹ Σ z u', [P,q], in steps of the covariate as it comes. */
function meanShifts(
  { ids, mapDimension: q, shifts: u }: PlaceShifts,
  z: Float64Array,
  columns: readonly CodedColumn[],
  { levels }: Covariate,
): ColumnShift[] {
  const n = ids.length;
  const P = columns.length;
  const cross = (x: Float64Array, width: number) =>
    Array.from({ length: width }, (_, a) =>
      Float64Array.from({ length: P }, (_, p) => {
        let sum = 0;
        for (let i = 0; i < n; i++) sum += z[i * P + p] * x[i * width + a];
        return sum;
      }),
    );
  const L = Float64Array.from(cross(z, P).flatMap((row) => [...row]));
  choleskyInPlace(L, P);
  const slopes = cross(u, q);
  for (const slope of slopes) solveCholeskyInPlace(L, P, slope);
  return columns.map((column, p) => {
    const { name, level, scale } = column;
    // Coded columns have unit variance: a step is step/scale of them.
    const step = usualStep(column);
    const shift = Float64Array.from(slopes, (slope) => (slope[p] * step) / scale);
    const degrees = (180 / Math.PI) * Math.atan2(shift[1] ?? 0, shift[0]);
    return {
      column: name,
      compared: level === null ? `per ${step}` : `${level} against ${levels[0] ?? "known"}`,
      step,
      shift,
      length: Math.sqrt(dot(shift, shift)),
      angle: q === 2 ? degrees : null,
    };
  });
}
