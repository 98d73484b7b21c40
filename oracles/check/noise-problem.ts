/** The fixtures of the noise models (noise-*.json), and their data in our own form. */

import type { Observations } from "../../packages/core/src/models/mixture/effect.ts";
import {
  filterVisits,
  type SerialCorrelation,
  type VisitRows,
  whitenedProducts,
} from "../../packages/core/src/noise/serial.ts";
import { bilinear, dot, multiplyVector } from "../../packages/core/src/numeric/matrix.ts";
import { LOG_2PI } from "../../packages/core/src/numeric/special.ts";
import { flatten, type Nested } from "./checker.ts";

type Row = readonly number[];
type Matrix = readonly Row[];

export interface WhitenedFixture {
  readonly G: Nested;
  readonly By: Matrix;
  readonly B1: Matrix;
  readonly yy: Row;
  readonly one: Row;
  readonly y1: Row;
  readonly logDet: Row;
  readonly inverseRows: Matrix;
  readonly inverseDiagonal: Row;
}

/** A noise-*.json as it is written. */
export interface NoiseFixture {
  readonly data: {
    readonly id: Row;
    readonly time: Row;
    readonly y: Row;
    readonly knots: Row;
    readonly basis: Matrix;
  };
  readonly parameters: {
    readonly mean: number;
    readonly noiseVariance: number;
    readonly tau: number;
    readonly omega: number;
    readonly rho: number;
    readonly kappa: number;
    readonly reference: Matrix;
    readonly weights: Row;
  };
  readonly whitened: { readonly plain: WhitenedFixture; readonly weighted: WhitenedFixture };
  readonly whitenedGradient?: { readonly dS: Nested; readonly dLogDet: Matrix };
  readonly levels: { readonly z: Row; readonly logWeight: Row };
  readonly eigenvalues: Matrix;
  readonly nodes: {
    readonly logPrior: Row;
    readonly mean: Matrix;
    readonly covariance: Nested;
    readonly place: Matrix;
  };
  readonly estep: {
    readonly Gt: Nested;
    readonly gt: Matrix;
    readonly c: Row;
    readonly responsibilities: Matrix;
    readonly boundTerms: Row;
  };
  readonly levelStep: {
    readonly fbar: Matrix;
    readonly q0: Row;
    readonly Q: Matrix;
    readonly logSum: Row;
    readonly weights: Matrix;
    readonly objective: number;
    readonly gradientLogS2LogTauLogOmega: Row;
    readonly mean: number;
  };
  readonly serialStep?: { readonly objective: number; readonly dLogRho: number; readonly dLogitKappa: number };
  readonly grossStep: {
    readonly epsilon: number;
    readonly c: number;
    readonly e2: Row;
    readonly probability: Row;
    readonly weights: Row;
    readonly correction: number;
  };
  readonly score: {
    readonly logLikelihood: Row;
    readonly nodePosterior: Matrix;
    readonly levelPosterior: Matrix;
    readonly placeMean: Matrix;
    readonly placeCovariance: Nested;
    readonly expectedLogLevel: Row;
  };
  readonly forecast: {
    readonly id: Row;
    readonly time: Row;
    readonly logDensity: Row;
    readonly pit: Row;
    readonly mean: Row;
    readonly sd: Row;
    readonly logLikelihoodKnown: Row;
    readonly jointLogDensity: Row;
  };
  readonly grossScore: {
    readonly individuals: readonly { readonly sets: readonly Row[]; readonly logJoint: Row }[];
    readonly logLikelihood: Row;
  };
}

/** One individual: its rows (b, 1, y) by time, visit weights and whitened statistics about the mean. */
export interface NoiseIndividual {
  readonly visits: VisitRows;
  readonly weights: Row;
  readonly n: number;
  readonly logDet: number;
  readonly statistics: Pick<Observations, "G" | "g" | "rho">;
}

export interface NoiseProblem {
  readonly d: number;
  readonly correlation: SerialCorrelation;
  /** μ·1, [d]. */
  readonly mean: Float64Array;
  readonly individuals: readonly NoiseIndividual[];
}

/** A fixture's data in our own form. */
export function noiseProblem(fixture: NoiseFixture): NoiseProblem {
  const { data, parameters } = fixture;
  const d = data.basis[0].length;
  const mean = new Float64Array(d).fill(parameters.mean);
  const correlation = { range: parameters.rho, whiteShare: parameters.kappa };
  const individuals = [...new Set(data.id)].map((id): NoiseIndividual => {
    const own = [...data.id.keys()].filter((j) => data.id[j] === id);
    const visits = {
      times: own.map((j) => data.time[j]),
      rows: flatten(own.map((j) => [...data.basis[j], 1, data.y[j]])),
    };
    const { products, logDet } = whitenedProducts(filterVisits(visits, correlation));
    const weights = own.map((j) => parameters.weights[j]);
    return { visits, weights, n: own.length, logDet, statistics: statisticsOf(products, mean) };
  });
  return { d, correlation, mean, individuals };
}

/** The blocks of Z'R⁻¹Z for rows (b, 1, y). */
export function blocksOf(products: Float64Array, d: number) {
  const c = d + 2;
  const block = (rows: number, column: number) =>
    Float64Array.from({ length: rows }, (_, a) => products[a * c + column]);
  return {
    G: Float64Array.from({ length: d * d }, (_, e) => products[Math.floor(e / d) * c + (e % d)]),
    B1: block(d, d),
    By: block(d, d + 1),
    one: products[d * c + d],
    y1: products[d * c + d + 1],
    yy: products[c * c - 1],
  };
}

/** G, g and ρ about the mean with coefficients β. */
export function statisticsOf(products: Float64Array, mean: Float64Array): Pick<Observations, "G" | "g" | "rho"> {
  const d = mean.length;
  const { G, By, yy } = blocksOf(products, d);
  const Gm = multiplyVector(G, mean, d, d);
  return { G, g: By.map((v, k) => v - Gm[k]), rho: yy - 2 * dot(mean, By) + bilinear(mean, G, mean) };
}

/** Observations of middle level from Z'R⁻¹Z and log|R| of n visits. */
export function observationsFrom(
  products: Float64Array,
  logDet: number,
  n: number,
  mean: Float64Array,
  sigma2: number,
): Observations {
  const noiseConstant = -0.5 * (n * (LOG_2PI + Math.log(sigma2)) + logDet);
  return { n, ...statisticsOf(products, mean), sigma2, noiseConstant };
}
