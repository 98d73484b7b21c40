/**
 * Cox regression on places that are not known exactly. Each individual has C candidate places, draws from its posterior given its
 * visits. M times everyone stands at one of them and Cox's model is fitted; Rubin's rules pool the M fits
 * (numeric/rubin.ts, with events less covariates as degrees of freedom of complete data).
 *
 * Given "visits" each candidate is as likely as the others. Such draws know nothing of the event and pull coefficients towards 0, by
 * about var(mean)/(var(mean) + uncertainty): they are a lower bound of the effect. Given the "event" too they do not: with β̂, V of Cox's
 * model at the means of the candidates, for each cause k,
 *   β ~ N(β̂, V),   H the baseline hazard at β,   η_c = (x_c − centre)'β,
 *   candidate c of individual i with weight ∝ exp( Σ_k [cause of i is k] η_kc − H_k(t_i) e^{η_kc} ),
 * over the causes with ten events or more for each covariate. This is one turn of the sampler of Bartlett, Seaman, White and Carpenter
 * (2015) from the plug-in estimate. More turns are not taken: with a free baseline hazard the event times come to decide the places
 * where visits say little, and coefficients drift.   (docs/math/survival.md §10)
 */
import { checkOption, DtmError } from "../errors.ts";
import { choleskyInPlace } from "../numeric/cholesky.ts";
import { createRandom, type Random } from "../numeric/random.ts";
import { type PooledEstimate, poolEstimates } from "../numeric/rubin.ts";
import { type CoxFit, fitCox } from "./cox.ts";
import { type CoxHazard, coxHazard } from "./cox-risk.ts";
import { type CompetingFollowUp, causeFollowUp, type FollowUp } from "./follow-up.ts";

/** One covariate's coefficient over all draws. */
export interface PooledTerm extends PooledEstimate {
  readonly hazardRatio: number;
  /** Interval of the hazard ratio. */
  readonly hazardLower: number;
  readonly hazardUpper: number;
}

export interface PooledCox {
  /** Axes of the place, then covariates. */
  readonly terms: readonly PooledTerm[];
  readonly draws: number;
  readonly given: "visits" | "event";
}

/** Candidate places of n individuals [n,C,q] and what else is known exactly [n,k]. */
export interface PlaceCandidates {
  readonly places: Float64Array;
  readonly numCandidates: number;
  readonly mapDimension: number;
  readonly covariates: Float64Array;
  readonly numCovariates: number;
}

export interface PooledCoxOptions {
  /** M. Default 20. */
  readonly draws?: number;
  /** Draws given the visits alone, or given the event too. Default "event". */
  readonly given?: PooledCox["given"];
  readonly seed?: number;
}

const EVENTS_PER_COVARIATE = 10;

/** Cox regression of cause 1, pooled over draws of the places. */
export function poolCox(
  followUp: CompetingFollowUp,
  numCauses: number,
  candidates: PlaceCandidates,
  { draws = 20, given = "event", seed = 1 }: PooledCoxOptions = {},
): PooledCox {
  checkOption(Number.isInteger(draws) && draws >= 2, "poolCox: draws", "a whole number from 2 on", draws, "Try 20.");
  const { places, numCandidates: C, mapDimension: q, covariates, numCovariates: k } = candidates;
  const n = followUp.times.length;
  if (places.length !== n * C * q || covariates.length !== n * k) {
    throw new DtmError(
      "shape",
      `poolCox: expected places [${n},${C},${q}] and covariates [${n},${k}], received ${places.length} and ${covariates.length} numbers.`,
    );
  }
  const p = q + k;
  const all = Array.from({ length: numCauses }, (_, c) => causeFollowUp(followUp, c + 1));
  const countOf = ({ events }: FollowUp) => Array.from(events).reduce((sum, e) => sum + e, 0);
  const causes = all.filter((own, c) => c === 0 || countOf(own) >= EVENTS_PER_COVARIATE * p);
  const random = createRandom(seed);
  const rows = new Float64Array(n * p);
  for (let i = 0; i < n; i++) rows.set(covariates.subarray(i * k, (i + 1) * k), i * p + q);
  const stand = (i: number, c: number) => rows.set(places.subarray((i * C + c) * q, (i * C + c + 1) * q), i * p);

  // Everyone at the mean of the candidates.
  const means = rows.slice();
  for (let e = 0; e < places.length; e++) means[Math.floor(e / (C * q)) * p + (e % q)] += places[e] / C;
  const plugIn = causes.map((own) => fitCox(own, means, p));
  const weights = new Float64Array(C);
  const standGivenEvent = () => {
    const hazards = causes.map((own, a) => drawHazard(own, means, plugIn[a], random));
    const passed = hazards.map((hazard) => hazardsAt(hazard, followUp.times));
    for (let i = 0; i < n; i++) {
      for (let c = 0; c < C; c++) {
        stand(i, c);
        weights[c] = hazards.reduce((sum, { coefficients, centre }, a) => {
          let eta = 0;
          for (let j = 0; j < p; j++) eta += coefficients[j] * (rows[i * p + j] - centre[j]);
          return sum + causes[a].events[i] * eta - passed[a][i] * Math.exp(eta);
        }, 0);
      }
      const top = weights.reduce((a, b) => Math.max(a, b));
      stand(i, random.categorical(weights.map((w) => Math.exp(w - top))));
    }
  };
  const fits = Array.from({ length: draws }, () => {
    if (given === "event") standGivenEvent();
    else for (let i = 0; i < n; i++) stand(i, random.integer(C));
    return fitCox(causes[0], rows, p);
  });

  const completeDegrees = Math.max(1, countOf(causes[0]) - p);
  const terms = Array.from({ length: p }, (_, j) => {
    const pooled = poolEstimates(
      fits.map(({ terms }) => terms[j].coefficient),
      fits.map(({ terms }) => terms[j].standardError ** 2),
      { completeDegrees },
    );
    const [hazardRatio, hazardLower, hazardUpper] = [pooled.estimate, pooled.lower, pooled.upper].map(Math.exp);
    return { ...pooled, hazardRatio, hazardLower, hazardUpper };
  });
  return { terms, draws, given };
}

/** The hazard at a draw β ~ N(β̂, V). */
function drawHazard(
  followUp: FollowUp,
  rows: Float64Array,
  { terms, covariance, ties }: CoxFit,
  random: Random,
): CoxHazard {
  const p = terms.length;
  const L = covariance.slice();
  const noise = Float64Array.from({ length: p }, () => random.normal());
  const spread = choleskyInPlace(L, p);
  const drawn = terms.map(({ coefficient }, a) => {
    let shift = 0;
    for (let b = 0; b <= a && spread; b++) shift += L[a * p + b] * noise[b];
    return { coefficient: coefficient + shift };
  });
  return coxHazard(followUp, rows, { terms: drawn, ties });
}

/** H at each of the times, [n]. */
function hazardsAt({ times, steps }: CoxHazard, at: ArrayLike<number>): Float64Array {
  const order = Int32Array.from(at, (_, i) => i).sort((a, b) => at[a] - at[b]);
  const out = new Float64Array(order.length);
  let [H, j] = [0, 0];
  for (const i of order) {
    for (; j < times.length && times[j] <= at[i]; j++) H += steps[j];
    out[i] = H;
  }
  return out;
}
