/**
 * Values that are probably wrong (docs/math/noise.md §5): a linear mixed model says what is usual, a visit is wrong with
 * probability ε, and of every individual the sets of visits that may be wrong are weighed against each other. White noise comes
 * first, or a wrong value is taken for an unsteady individual. As wrong values widen the noise and the covariance behind which others
 * hide, the model is fitted again without those found. At last those found are judged by a model in which individuals differ in
 * their noise, so that the unsteady are not told as wrong. Nothing is removed from the data.
 */
import { evaluateActive } from "../basis/bspline.ts";
import { type Cohort, type MarkerSeries, makeCohort, numIndividuals, selectIndividuals } from "../cohort/cohort.ts";
import { applyTransform, markerScale } from "../cohort/marker.ts";
import { markerCohort } from "../cohort/several-markers.ts";
import { checkOption, DtmError, type ErrorKind } from "../errors.ts";
import { markerModel } from "../models/fit.ts";
import type { LmmModel } from "../models/linear/lmm.ts";
import { fitLmm } from "../models/linear-models.ts";
import { atLevels, effectMoments, gaussianEffect, type Observations } from "../models/mixture/effect.ts";
import { candidateSets, GROSS_FACTOR, setLogDensities } from "../noise/gross.ts";
import { type NoiseChoice, noiseLevel } from "../noise/noise.ts";
import { filterVisits, UNCORRELATED, type VisitRows, whitenedProducts } from "../noise/serial.ts";
import { bilinear, dot, multiplyVector } from "../numeric/matrix.ts";
import { createRandom } from "../numeric/random.ts";
import { logSumExp } from "../numeric/special.ts";

export interface SuspectValue {
  readonly id: string;
  /** Name of the marker. */
  readonly marker: string;
  readonly time: number;
  /** As it was measured, and what the individual's other values let expect; both on the marker's own scale. */
  readonly value: number;
  readonly expected: number;
  /** That the value is wrong. */
  readonly probability: number;
}

export interface SuspectOptions {
  /** ε, the share of wrong values before looking. Default 0.01. */
  readonly epsilon?: number;
  /** Probability from which on a value is told. Default 0.5. */
  readonly least?: number;
  /** Individuals that the model is fitted to, at random where there are more. Default 2,000. */
  readonly sampleSize?: number;
}

/** Individuals up to which hosts look for suspect values: some ten seconds. */
export const MOST_LOOKED_THROUGH = 100_000;
/** Further fits without the values found before. */
const REFITS = 2;
/** Individuals that the model with noise levels is fitted to: it takes several times as long. */
const NUM_JUDGED_BY = 500;

/**
 * Values of each marker that are wrong with a probability of a half or more, by marker, individual and time. None where a mixed model
 * cannot be fitted.
 * @throws DtmError "option" for numbers out of range.
 */
export function suspectValues(cohort: Cohort, options: SuspectOptions = {}): SuspectValue[] {
  const { epsilon = 0.01, least = 0.5, sampleSize = 2000 } = options;
  checkOption(epsilon > 0 && epsilon < 0.5, "suspectValues", "epsilon between 0 and 0.5", epsilon, "");
  checkOption(least > 0 && least <= 1, "suspectValues", "least above 0, up to 1", least, "");
  const order = createRandom(1).permutation(numIndividuals(cohort));
  const some = (count: number) => (order.length > count ? selectIndividuals(cohort, order.slice(0, count)) : cohort);
  const [sample, few] = [some(sampleSize), some(Math.min(sampleSize, NUM_JUDGED_BY))];
  return cohort.markers.flatMap((_, k) => {
    const [whole, ofSample, ofFew] = [cohort, sample, few].map((part) => markerCohort(part, k));
    let model = usualModel(ofSample, []);
    for (let round = 0; round < REFITS && model !== undefined; round++) {
      const found = wrongVisits(ofSample, model, epsilon, least);
      if (found.length === 0) break;
      model = usualModel(ofSample, found) ?? model;
    }
    if (model === undefined) return [];
    const doubted = new Set(wrongVisits(whole, model, epsilon, least).map(({ suspect }) => suspect.id));
    if (doubted.size === 0) return [];
    const judge = usualModel(ofFew, wrongVisits(ofFew, model, epsilon, least), "level") ?? model;
    const isDoubted = Array.from(whole.ids.keys()).filter((i) => doubted.has(whole.ids[i]));
    return wrongVisits(selectIndividuals(whole, isDoubted), judge, epsilon, least).map(({ suspect }) => suspect);
  });
}

interface WrongVisit {
  /** Place among the observations of the marker. */
  readonly at: number;
  readonly suspect: SuspectValue;
}

/** What a cohort may be too small or too odd for. */
const NO_MODEL: readonly ErrorKind[] = ["cohort", "table", "numerical"];

/** The mixed model of a marker without some of its values; undefined if there is none. */
function usualModel(
  { ids, markers: [series] }: Cohort,
  without: readonly WrongVisit[],
  noise: NoiseChoice = "white",
): LmmModel | undefined {
  const dropped = new Set(without.map(({ at }) => at));
  const kept = Array.from(series.times.keys()).filter((j) => !dropped.has(j));
  const owners = ids.flatMap((id, i) => new Array<string>(series.offsets[i + 1] - series.offsets[i]).fill(id));
  const columns = {
    ids: kept.map((j) => owners[j]),
    times: kept.map((j) => series.times[j]),
    values: kept.map((j) => series.values[j]),
  };
  try {
    return fitLmm(makeCohort(columns, series.marker), { mean: "spline", mapDimension: 1, restarts: 0, noise });
  } catch (error) {
    if (error instanceof DtmError && NO_MODEL.includes(error.kind)) return undefined;
    throw error;
  }
}

/** Visits of all individuals that are wrong with at least that probability. */
function wrongVisits(cohort: Cohort, model: LmmModel, epsilon: number, least: number): WrongVisit[] {
  const [series] = cohort.markers;
  const { basis, mean, noise } = markerModel(model);
  const d = basis.numBasis;
  const beta = mean.coefficients;
  const sigma2 = noiseLevel(noise);
  const scale = markerScale(series.marker);
  return cohort.ids.flatMap((id, i) => {
    const visits = visitRows(series, model, i);
    const n = visits.times.length;
    if (n === 0) return [];
    const observed = (products: Float64Array, logDet: number) => observationsOf(products, logDet, n, beta, sigma2);
    const evidence = (products: Float64Array, logDet: number) => {
      const levels = atLevels(observed(products, logDet), noise);
      return logSumExp(levels.map((own) => gaussianEffect(own, model.covarianceFactor).logDensity));
    };
    /** Coefficients of the individual's course, given visits of these weights. */
    const courseGiven = (weights: Float64Array) => {
      const { products, logDet } = whitenedProducts(filterVisits({ ...visits, weights }, UNCORRELATED));
      const effect = gaussianEffect(observed(products, logDet), model.covarianceFactor);
      return effectMoments(effect, sigma2).mean.map((w, a) => beta[a] + w);
    };
    const sets = candidateSets(visits, UNCORRELATED, courseGiven(new Float64Array(n).fill(1)), epsilon, evidence);
    if (sets.length === 1) return [];
    const joint = setLogDensities(visits, UNCORRELATED, epsilon, sets, evidence);
    const total = logSumExp(joint);
    const likeliest = sets[joint.indexOf(joint.reduce((a, b) => Math.max(a, b)))];
    return Array.from({ length: n }, (_, j) => j).flatMap((j) => {
      const holding = joint.filter((_, a) => sets[a].includes(j));
      const probability = holding.length === 0 ? 0 : Math.exp(logSumExp(holding) - total);
      const at = series.offsets[i] + j;
      // Of a limit it is not known how far the value is beyond it.
      if (!(probability >= least) || (series.censored?.[at] ?? 0) !== 0) return [];
      // What is expected rests on the visits that are right, this one apart.
      const weights = Float64Array.from({ length: n }, (_, v) =>
        v === j || likeliest.includes(v) ? 1 / GROSS_FACTOR : 1,
      );
      const b = visits.rows.subarray(j * (d + 1), j * (d + 1) + d);
      const expected = scale(dot(b, courseGiven(weights)));
      const measured = { time: series.times[at], value: series.values[at] };
      return [{ at, suspect: { id, marker: series.marker.name, ...measured, expected, probability } }];
    });
  });
}

/** Rows (b(t), y) of an individual's visits, y on the scale of the model. */
function visitRows({ marker, offsets, times, values }: MarkerSeries, model: LmmModel, i: number): VisitRows {
  const { basis } = markerModel(model);
  const c = basis.numBasis + 1;
  const [from, to] = [offsets[i], offsets[i + 1]];
  const rows = new Float64Array((to - from) * c);
  const active = new Float64Array(basis.degree + 1);
  for (let j = from; j < to; j++) {
    const first = evaluateActive(basis, times[j], active);
    rows.set(active, (j - from) * c + first);
    rows[(j - from + 1) * c - 1] = applyTransform(marker.transform, values[j]);
  }
  return { times: times.subarray(from, to), rows };
}

/** Statistics about the curve with coefficients β from the products of rows (b, y). */
function observationsOf(
  products: Float64Array,
  logDet: number,
  n: number,
  beta: Float64Array,
  sigma2: number,
): Observations {
  const d = beta.length;
  const c = d + 1;
  const G = Float64Array.from({ length: d * d }, (_, e) => products[Math.floor(e / d) * c + (e % d)]);
  const cross = Float64Array.from({ length: d }, (_, a) => products[a * c + d]);
  const fitted = multiplyVector(G, beta, d, d);
  const g = cross.map((v, a) => v - fitted[a]);
  const rho = Math.max(products[c * c - 1] - 2 * dot(cross, beta) + bilinear(beta, G, beta), 0);
  return { n, G, g, rho, sigma2, noiseConstant: -0.5 * (n * Math.log(2 * Math.PI * sigma2) + logDet) };
}
