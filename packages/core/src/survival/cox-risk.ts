/**
 * Risks by Cox's regressions. With the baseline hazard at the mean covariates c,
 *   H(t) = Σ_{t_j ≤ t} Σ_{l<d_j} 1/( Σ_R r − (l/d_j) Σ_D r ),   r = exp((x − c)'β̂)      (Efron; Breslow: without l),
 * the risk by t is 1 − exp(−H(t) e^{η}), η = (x − c)'β̂. With one such regression for each of competing causes it is
 *   F_1(t) = Σ_{t_j ≤ t} S(t_j−) (1 − e^{−a_j}) a_1j/a_j,   a_kj = ΔH_k(t_j) e^{η_k},   a_j = Σ_k a_kj,   S = e^{−Σ a},
 * which is the former where there is one cause (Benichou and Gail 1990).   (docs/math/survival.md §8)
 */
import { dot } from "../numeric/matrix.ts";
import { columnMeans } from "../numeric/moments.ts";
import type { CoxFit } from "./cox.ts";
import { sortRows } from "./cox-rows.ts";
import type { FollowUp } from "./follow-up.ts";
import { coxWorkspace, partialLikelihood } from "./partial-likelihood.ts";

/** A Cox regression that gives risks: H rises by `steps[j]` at `times[j]`. */
export interface CoxHazard {
  readonly times: Float64Array; // of events, increasing [J]
  readonly steps: Float64Array; // [J]
  readonly coefficients: Float64Array; // [p]
  readonly centre: Float64Array; // [p]
}

/** The hazard of a regression on the covariates [n,p] that it was fitted to. */
export function coxHazard(
  followUp: FollowUp,
  covariates: Float64Array,
  { terms, ties }: { readonly terms: readonly { readonly coefficient: number }[]; readonly ties: CoxFit["ties"] },
): CoxHazard {
  const [n, p] = [followUp.times.length, terms.length];
  const centre = columnMeans(covariates, n, p);
  const rows = sortRows(
    followUp,
    covariates.map((x, e) => x - centre[e % p]),
    n,
    p,
  );
  const coefficients = Float64Array.from(terms, ({ coefficient }) => coefficient);
  const found: { time: number; step: number }[] = [];
  partialLikelihood(rows, coefficients, ties === "efron", coxWorkspace(n, p), (start, _end, step) => {
    found.push({ time: rows.times[start], step });
  });
  found.reverse();
  return {
    times: Float64Array.from(found, ({ time }) => time),
    steps: Float64Array.from(found, ({ step }) => step),
    coefficients,
    centre,
  };
}

/** (x − c)'β̂ of one individual. */
export function coxScore({ coefficients, centre }: CoxHazard, x: Float64Array): number {
  return dot(
    coefficients,
    x.map((v, c) => v - centre[c]),
  );
}

/** H at a time: the definition that tests and oracles hold `coxRisks` against. */
export function cumulativeHazard({ times, steps }: Pick<CoxHazard, "times" | "steps">, time: number): number {
  let H = 0;
  for (let j = 0; j < times.length && times[j] <= time; j++) H += steps[j];
  return H;
}

/** Risk of the first cause by each time (increasing, [T]) for covariates X [n,p], [n,T]; `hazards` are those of all causes. */
export function coxRisks(hazards: readonly CoxHazard[], X: Float64Array, times: ArrayLike<number>): Float64Array {
  const p = hazards[0].centre.length;
  const [n, T] = [X.length / p, times.length];
  const jumps = hazards
    .flatMap((hazard, k) => Array.from(hazard.times, (time, j) => ({ time, k, step: hazard.steps[j] })))
    .sort((a, b) => a.time - b.time || a.k - b.k);
  const out = new Float64Array(n * T);
  for (let i = 0; i < n; i++) {
    const x = X.subarray(i * p, (i + 1) * p);
    const scale = hazards.map((hazard) => Math.exp(coxScore(hazard, x)));
    let [S, F] = [1, 0];
    for (let t = 0, j = 0; t < T; t++) {
      while (j < jumps.length && jumps[j].time <= times[t]) {
        let [own, all] = [0, 0];
        const { time } = jumps[j];
        for (; j < jumps.length && jumps[j].time === time; j++) {
          const a = jumps[j].step * scale[jumps[j].k];
          all += a;
          if (jumps[j].k === 0) own += a;
        }
        const left = -Math.expm1(-all);
        F += all > 0 ? (S * left * own) / all : 0;
        S *= 1 - left;
      }
      // Many small steps may round to a little more than everybody.
      out[i * T + t] = Math.min(1, F);
    }
  }
  return out;
}
