/**
 * Do hazards stay proportional? The test of R's cox.zph (survival 3 or newer): the score test of θ = 0 in
 *   hazard(t | x) = h0(t) exp( x'β + g(t) x'θ ),   g centred over the events,
 * at β̂. With r_j = Σ_D (x − x̄) and V_j the weighted covariance of the risk set at the event time t_j (Efron's weights or Breslow's),
 *   u = Σ_j g_j r_j,   I = Σ_j [ V_j, g_j V_j; g_j V_j, g_j² V_j ],   χ² = (0,u)' I⁻¹ (0,u) on p degrees of freedom;
 * for term c alone u_c and the rows and columns of θ_c, on one. g is 1 − S(t−) of Kaplan–Meier ("km", the default: a few late
 * events do not rule) or t itself ("identity"). The scaled Schoenfeld residuals (I_ββ/d)⁻¹ (x_i − x̄) + β̂, d events in all, scatter
 * around β(t) (Grambsch and Therneau 1994).   (docs/math/survival.md §7)
 */
import { DtmError } from "../errors.ts";
import { choleskyInPlace, solveCholeskyInPlace, solveLowerInPlace } from "../numeric/cholesky.ts";
import { dot } from "../numeric/matrix.ts";
import { type ChiSquareTest, type CoxOptions, chiSquare, fitCox } from "./cox.ts";
import { sortRows, standardizeInPlace } from "./cox-rows.ts";
import type { FollowUp } from "./follow-up.ts";
import { kaplanMeier } from "./kaplan-meier.ts";
import { coxWorkspace, partialLikelihood } from "./partial-likelihood.ts";

export type TimeTransform = "km" | "identity";

export interface ProportionalHazards {
  readonly transform: TimeTransform;
  /** One test for each covariate. */
  readonly terms: readonly ChiSquareTest[];
  readonly global: ChiSquareTest;
}

/** Scaled Schoenfeld residuals, summed over the events of each time. */
export interface SchoenfeldResiduals {
  readonly times: Float64Array; // increasing [J]
  readonly events: Float64Array; // [J]
  readonly sums: Float64Array; // [J,p]
}

/** Tests of proportional hazards of a Cox regression, one for each way to look at time, and its scaled residuals. */
export function testProportionalHazards(
  followUp: FollowUp,
  covariates: Float64Array,
  numCovariates: number,
  {
    ties = "efron",
    transforms = ["km", "identity"],
  }: Pick<CoxOptions, "ties"> & { readonly transforms?: readonly TimeTransform[] } = {},
): { readonly tests: readonly ProportionalHazards[]; readonly residuals: SchoenfeldResiduals } {
  const p = numCovariates;
  const n = followUp.times.length;
  const { terms } = fitCox(followUp, covariates, p, { ties });
  const rows = sortRows(followUp, covariates, n, p);
  const scales = standardizeInPlace(rows);
  const gamma = Float64Array.from(terms, ({ coefficient }, c) => coefficient * scales[c]);

  // r_j and V_j at each time of events, from the last to the first, as differences of U and I.
  const work = coxWorkspace(n, p);
  const steps: { time: number; d: number; residual: Float64Array; V: Float64Array }[] = [];
  const before = { U: new Float64Array(p), I: new Float64Array(p * p) };
  partialLikelihood(rows, gamma, ties === "efron", work, (start, end) => {
    const d = rows.events.subarray(start, end).reduce((sum, event) => sum + event, 0);
    const { gradient, information } = work;
    const residual = gradient.map((v, c) => v - before.U[c]);
    steps.push({ time: rows.times[start], d, residual, V: information.map((v, e) => v - before.I[e]) });
    before.U.set(gradient);
    before.I.set(information);
  });
  steps.reverse();
  const total = steps.reduce((sum, { d }) => sum + d, 0);

  const tests = transforms.map((transform): ProportionalHazards => {
    const at = transform === "km" ? survivalBefore(followUp) : (t: number) => t;
    const raw = steps.map(({ time }) => at(time));
    const mean = steps.reduce((sum, { d }, j) => sum + d * raw[j], 0) / total;
    const u = new Float64Array(2 * p);
    const I = new Float64Array(4 * p * p);
    for (const [j, { residual, V }] of steps.entries()) {
      const g = raw[j] - mean;
      for (let a = 0; a < p; a++) {
        u[p + a] += g * residual[a];
        for (let b = 0; b < p; b++) {
          const v = V[a * p + b];
          I[a * 2 * p + b] += v;
          I[a * 2 * p + p + b] += g * v;
          I[(p + a) * 2 * p + b] += g * v;
          I[(p + a) * 2 * p + p + b] += g * g * v;
        }
      }
    }
    const main = Array.from({ length: p }, (_, c) => c);
    const test = (chosen: readonly number[]) => {
      const kept = [...main, ...chosen.map((c) => p + c)];
      return chiSquare(scoreStatistic(u, I, 2 * p, kept), chosen.length);
    };
    return { transform, terms: main.map((c) => test([c])), global: test(main) };
  });
  return { tests, residuals: scaledResiduals(steps, before.I, gamma, scales, total) };
}

/** u'I⁻¹u over the chosen rows and columns; NaN where I has no inverse there, as with events at one time only. */
function scoreStatistic(u: Float64Array, I: Float64Array, width: number, chosen: readonly number[]): number {
  const k = chosen.length;
  const L = Float64Array.from({ length: k * k }, (_, e) => I[chosen[Math.floor(e / k)] * width + chosen[e % k]]);
  const half = Float64Array.from(chosen, (c) => u[c]);
  if (!choleskyInPlace(L, k)) return Number.NaN;
  solveLowerInPlace(L, k, half);
  return dot(half, half);
}

/** 1 − S just before a time. */
function survivalBefore(followUp: FollowUp): (time: number) => number {
  const { times, survival } = kaplanMeier(followUp);
  const before = new Map(Array.from(times, (t, j) => [t, j === 0 ? 0 : 1 - survival[j - 1]]));
  return (time) => before.get(time) ?? Number.NaN;
}

function scaledResiduals(
  steps: readonly { readonly time: number; readonly d: number; readonly residual: Float64Array }[],
  information: Float64Array,
  gamma: Float64Array,
  scales: Float64Array,
  total: number,
): SchoenfeldResiduals {
  const p = gamma.length;
  const L = information.slice();
  if (!choleskyInPlace(L, p)) {
    throw new DtmError(
      "collinear",
      "testProportionalHazards: expected covariates that vary independently. Leave one out.",
    );
  }
  const sums = new Float64Array(steps.length * p);
  for (const [j, { d, residual }] of steps.entries()) {
    const scaled = residual.map((v) => total * v);
    solveCholeskyInPlace(L, p, scaled);
    for (let c = 0; c < p; c++) sums[j * p + c] = (scaled[c] + d * gamma[c]) / scales[c];
  }
  return {
    times: Float64Array.from(steps, ({ time }) => time),
    events: Float64Array.from(steps, ({ d }) => d),
    sums,
  };
}
