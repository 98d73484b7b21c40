/**
 * Effects of covariates in the mean of the mixed model (docs/math/linear.md §10): the coefficients of marker k have the mean
 *   β_k + Σ_c z_ic H_kγ_kc = A_ik(β_k, γ_k),   A_ik = [H⁰_k, z_i1H_k, …, z_iPH_k],
 * z_i [P] fixed in time, H_k of `effectColumns`. They move coefficients, so values less B_iΣ_c z_ic Hγ_c have statistics without reading any
 * value again (`movedStatistics`), and given these the mixed model is the one without covariates. Given Σ and noise, (β, γ) of all markers
 * is that of generalised least squares,
 *   Σ_i A_i'W_iA_i (β, γ) = Σ_i A_i'e_i,   W_i = B_i'V_i⁻¹B_i = (G_i − T_iA_i⁻¹T_i')/σ²,   e_i = B_i'V_i⁻¹y_i = (g_i − T_iv̂_i)/σ²,
 * V_i the covariance of y_i; the matrix on the left is the information on (β, γ). The two steps are taken in turn: mean and covariance have
 * no expected information in common, so few rounds are enough.
 */
import { type BasisStatistics, unpackGram } from "../../basis/statistics.ts";
import { noiseLevel } from "../../noise/noise.ts";
import { multiply, multiplyTransposed, multiplyVector, transpose } from "../../numeric/matrix.ts";
import { scaledInverse } from "../../numeric/semidefinite.ts";
import { type EffectCovariances, effectCovariances } from "../effect-covariances.ts";
import type { MarkerModel } from "../fit.ts";
import type { IndividualEvidence } from "../jackknife.ts";
import {
  effectColumns,
  type MeanCovariates,
  type MeanEffects,
  type MeanKind,
  meanDesign,
  withoutEffects,
} from "../mean.ts";
import { fitJointLmm } from "./fit-joint-levels.ts";
import { stackLevels } from "./joint-levels.ts";
import { type LmmModel, type LmmStatisticsOptions, lmmParameters } from "./lmm.ts";
import { createWorkspace, factorIndividual, notPositive, solvePosterior } from "./low-rank.ts";
import { type LinearParameters, markerOfRow } from "./stack.ts";

/** Fitted effects. */
export interface CovariateEffects extends MeanEffects, EffectCovariances {}

/** One column of the stacked design: h [D] times 1 or a covariate. */
interface Column {
  readonly marker: number;
  /** Which covariate; −1 for the mean. */
  readonly covariate: number;
  readonly h: Float64Array;
}

/** Columns marker by marker: of the mean, then of each covariate. */
function meanColumns(statistics: readonly BasisStatistics[], mean: MeanKind, of: MeanCovariates): Column[] {
  const D = markerOfRow(statistics).length;
  let from = 0;
  return statistics.flatMap(({ basis }, marker) => {
    const d = basis.numBasis;
    const own = meanDesign(mean, d);
    const effect = effectColumns(of.form, basis);
    const column = (M: Float64Array, width: number, c: number, covariate: number): Column => {
      const h = new Float64Array(D);
      for (let k = 0; k < d; k++) h[from + k] = M[k * width + c];
      return { marker, covariate, h };
    };
    const columns = [
      ...Array.from({ length: own.numColumns }, (_, c) => column(own.columns, own.numColumns, c, -1)),
      ...Array.from({ length: of.numCovariates }, (_, p) =>
        Array.from({ length: effect.h }, (__, c) => column(effect.columns, effect.h, c, p)),
      ).flat(),
    ];
    from += d;
    return columns;
  });
}

/** The mean of all individuals given covariance and noise. */
export interface GeneralizedMean {
  /** Coefficients of each marker: of its mean less the centre of its statistics, then of each covariate, [S_k]. */
  readonly coefficients: readonly Float64Array[];
  /** Information on all of them, markers one after another, [S,S]. */
  readonly information: Float64Array;
  /** Marker and covariate (−1: the mean) of each. */
  readonly columns: readonly Pick<Column, "marker" | "covariate">[];
  /** Score and information of an individual where these coefficients are. */
  readonly evidenceOf: (individual: number) => IndividualEvidence;
}

/** Generalised least squares of mean and effects; the mean in `parameters` is not read. */
export function generalizedMean(
  markers: readonly BasisStatistics[],
  given: LinearParameters,
  mean: MeanKind,
  of: MeanCovariates,
): GeneralizedMean {
  const centers = Float64Array.from(markerOfRow(markers), (k) => markers[k].center);
  const { statistics, parameters, scales } = stackLevels(markers, { ...given, meanCoefficients: centers });
  const columns = meanColumns(markers, mean, of);
  const S = columns.length;
  const ws = createWorkspace(statistics, parameters);
  const { d, r, g, T, v, P } = ws;
  const sigma2 = noiseLevel(parameters.noise);
  const W = new Float64Array(d * d);
  const A = new Float64Array(d * S);
  /** Information A_i'W_iA_i, and A_i'e_i: the score where all coefficients are 0. */
  const evidenceAtZero = (i: number): IndividualEvidence => {
    if (Number.isNaN(factorIndividual(statistics, i, parameters, ws))) throw notPositive(given.noises);
    solvePosterior(ws);
    unpackGram(statistics, i, W);
    const explained = multiplyTransposed(multiply(T, P, d, r, r), T, d, r, d);
    const fitted = multiplyVector(T, v, d, r);
    columns.forEach(({ covariate, h }, s) => {
      const z = covariate < 0 ? 1 : of.covariates[i * of.numCovariates + covariate];
      for (let k = 0; k < d; k++) A[k * S + s] = scales[k] * z * h[k];
    });
    const At = transpose(A, d, S);
    for (let e = 0; e < d * d; e++) W[e] = (W[e] - explained[e]) / sigma2;
    const open = g.map((c, k) => (c - fitted[k]) / sigma2);
    return {
      score: multiplyVector(At, open, S, d),
      information: multiply(At, multiply(W, A, d, d, S), S, d, S),
    };
  };
  const information = new Float64Array(S * S);
  const score = new Float64Array(S);
  for (let i = 0; i < statistics.numIndividuals; i++) {
    const own = evidenceAtZero(i);
    for (let e = 0; e < S * S; e++) information[e] += own.information[e];
    for (let s = 0; s < S; s++) score[s] += own.score[s];
  }
  const solution = multiplyVector(scaledInverse(information, S), score, S, S);
  const coefficients = markers.map((_, k) => solution.filter((__, s) => columns[s].marker === k));
  const evidenceOf = (i: number): IndividualEvidence => {
    const own = evidenceAtZero(i);
    const explained = multiplyVector(own.information, solution, S, S);
    return { score: own.score.map((v, s) => v - explained[s]), information: own.information };
  };
  return { coefficients, information, columns, evidenceOf };
}

export type LmmWithEffects = LmmModel & { readonly covariateEffects: CovariateEffects };

/** Rounds at most; five to ten are usual. */
const MAX_ROUNDS = 30;

/** Fits the mixed model with effects of covariates in its mean: mean and scores are those of z = 0. */
export function fitLmmEffects(
  statistics: readonly BasisStatistics[],
  of: MeanCovariates,
  options: LmmStatisticsOptions = {},
): LmmWithEffects {
  const { mean = "scalar", tolerance = 1e-6 } = options;
  let model = fitJointLmm(statistics, options);
  for (let round = 1; ; round++) {
    const parameters = lmmParameters(model);
    const fitted = generalizedMean(statistics, parameters, mean, of);
    const effects = { form: of.form, numCovariates: of.numCovariates, coefficients: ofCovariates(fitted) };
    const start = { ...parameters, meanCoefficients: meanOf(model.markers, fitted) };
    const moved = withoutEffects(statistics, effects, of.covariates);
    const next = fitJointLmm(moved, { ...options, start, restarts: 0, maxEmIterations: 1 });
    const gain = next.record.trace.at(-1)! - model.record.trace.at(-1)!;
    model = next;
    if (round < MAX_ROUNDS && gain > 10 * tolerance) continue;
    const verdict = `${model.record.verdict} Effects of covariates by generalised least squares, in ${round} rounds.`;
    const converged = model.record.converged && gain <= 10 * tolerance;
    return {
      ...model,
      record: { ...model.record, options: { ...model.record.options, effects: of.form }, verdict, converged },
      covariateEffects: { ...effects, ...covariancesOf(fitted, statistics[0].numIndividuals) },
    };
  }
}

function ofCovariates({ coefficients, columns }: GeneralizedMean): Float64Array[] {
  return coefficients.map((own, k) => {
    const kept = columns.filter(({ marker }) => marker === k);
    return own.filter((_, s) => kept[s].covariate >= 0);
  });
}

/** β of each marker, one after another. */
function meanOf(markers: readonly MarkerModel[], { coefficients, columns }: GeneralizedMean): Float64Array {
  return Float64Array.from(
    markers.flatMap(({ mean, center, basis }, k) => {
      const kept = columns.filter(({ marker }) => marker === k);
      const own = coefficients[k].filter((_, s) => kept[s].covariate < 0);
      const design = meanDesign(mean.kind, basis.numBasis);
      return Array.from(multiplyVector(design.columns, own, basis.numBasis, own.length), (b) => center + b);
    }),
  );
}

/** How well the effects are known: those of the columns that belong to covariates. */
function covariancesOf({ columns, evidenceOf }: GeneralizedMean, m: number): EffectCovariances {
  const kept = columns.flatMap(({ covariate }, s) => (covariate < 0 ? [] : [s]));
  return effectCovariances(m, evidenceOf, columns.length, kept);
}
