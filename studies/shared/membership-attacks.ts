/** Ways to tell from a model file and somebody's visits whether they were in its fit, and how well they tell. */
import { type Cohort, selectIndividuals } from "../../packages/core/src/cohort/cohort.ts";
import { heldOutLogLikelihood } from "../../packages/core/src/evaluate/held-out.ts";
import { fitDtm, fitFpca, fitLmm, simulateCohort } from "../../packages/core/src/index.ts";
import type { LmmModel } from "../../packages/core/src/models/linear/lmm.ts";
import type { ScoredModel, TrajectoryModel } from "../../packages/core/src/models/model.ts";
import { choleskyInPlace } from "../../packages/core/src/numeric/cholesky.ts";
import { pseudoInverse } from "../../packages/core/src/numeric/semidefinite.ts";

export type AttackedKind = "lmm" | "fpca" | "dtm";

/** What a candidate is scored by, from the model and a reference; "unusual" is the ratio of the fifth that the reference expects least. */
export const ATTACKS = ["likelihood", "ratio", "unusual", "score", "mean", "noise", "spread"] as const;
export type Attack = (typeof ATTACKS)[number];

export interface Auc {
  readonly auc: number;
  readonly lower: number;
  readonly upper: number;
  readonly variance: number;
}

/** A model as people fit it; a reference takes the basis of the model that is attacked. */
export function fitAttacked(kind: AttackedKind, cohort: Cohort, like?: TrajectoryModel): TrajectoryModel {
  const basis = like === undefined ? {} : { basis: like.markers[0].basis, noise: like.markers[0].noise.kind };
  if (kind === "lmm") return fitLmm(cohort, basis);
  if (kind === "fpca") return fitFpca(cohort, basis);
  return fitDtm(cohort, { ...basis, restarts: 0 });
}

/** A model with what the attacker knows of its fit and of others. */
export interface Attacked {
  readonly model: TrajectoryModel;
  readonly numMembers: number;
  readonly reference: TrajectoryModel;
  /** Those of the reference. */
  readonly others: Cohort;
}

/** The scores of candidates by every attack that can be made; higher speaks for a member. */
export function scoresOf(
  { model, numMembers, reference, others }: Attacked,
  candidates: Cohort,
): Map<Attack, Float64Array> {
  const known = scored(reference, candidates);
  const against = (other: TrajectoryModel) => {
    const own = scored(other, candidates).logLikelihood;
    return own.map((v, i) => v - known.logLikelihood[i]);
  };
  const { logLikelihood, numObservations } = scored(model, candidates);
  const ratio = logLikelihood.map((v, i) => v - known.logLikelihood[i]);
  const perVisit = known.logLikelihood.map((v, i) => v / numObservations[i]);
  const low = perVisit.slice().sort()[Math.floor(perVisit.length / 5)];
  const found: [Attack, Float64Array][] = [
    ["likelihood", logLikelihood.map((v, i) => v / numObservations[i])],
    ["ratio", ratio],
    ["unusual", ratio.filter((_, i) => perVisit[i] <= low)],
    ["noise", against(withPart(reference, model, "noise"))],
  ];
  if (model.kind === "dtm") return new Map(found);
  const linear: [Attack, Float64Array][] = [
    ["mean", against(withPart(reference, model, "mean"))],
    ["spread", against(withSpread(reference, model))],
  ];
  if (model.kind !== "lmm" || reference.kind !== "lmm") return new Map([...found, ...linear]);
  return new Map([...found, ...linear, ["score", scoreAttack(model, reference, numMembers, others, candidates)]]);
}

/**
 * The most powerful score as numbers of members grow. With s the gradient of log p(y) at the reference, I its second moment and Δ the way from the reference to the model,
 * Δ is N(I⁻¹s/m, I⁻¹/m) if the candidate is one of m members and N(0, I⁻¹/m) if not: s'Δ − s'I⁻¹s/2m is the log of their ratio.
 */
function scoreAttack(
  model: LmmModel,
  reference: LmmModel,
  m: number,
  others: Cohort,
  candidates: Cohort,
): Float64Array {
  const [at, to] = [parametersOf(reference), parametersOf(model)];
  const p = at.length;
  const gradients = (cohort: Cohort): Float64Array[] =>
    Array.from(at, (value, k) => {
      const h = 1e-4 * (Math.abs(value) + 0.01);
      const [up, down] = [h, -h].map(
        (step) =>
          scored(
            withParameters(
              reference,
              at.map((v, j) => (j === k ? value + step : v)),
            ),
            cohort,
          ).logLikelihood,
      );
      return up.map((v, i) => (v - down[i]) / (2 * h));
    });
  const [own, theirs] = [gradients(candidates), gradients(others)];
  const information = Float64Array.from({ length: p * p }, (_, e) => {
    const [a, b] = [theirs[Math.floor(e / p)], theirs[e % p]];
    return a.reduce((sum, v, i) => sum + v * b[i], 0) / a.length;
  });
  const { inverse } = pseudoInverse(information, p);
  return Float64Array.from(candidates.ids, (_, i) => {
    let t = 0;
    for (let a = 0; a < p; a++) {
      t += own[a][i] * (to[a] - at[a]);
      for (let b = 0; b < p; b++) t -= (own[a][i] * inverse[a * p + b] * own[b][i]) / (2 * m);
    }
    return t;
  });
}

/** Mean curve, lower triangle of the factor of the covariance, and log noise variance of a mixed model. */
function parametersOf({ markers: [{ mean, noise }], covarianceFactor: L }: LmmModel): Float64Array {
  const d = mean.coefficients.length;
  const S = Float64Array.from({ length: d * d }, (_, e) => {
    let sum = 0;
    for (let c = 0; c < d; c++) sum += L[Math.floor(e / d) * d + c] * L[(e % d) * d + c];
    return sum;
  });
  const trace = S.reduce((sum, v, e) => sum + (e % (d + 1) === 0 ? v : 0), 0);
  for (let a = 0; a < d; a++) S[a * (d + 1)] += 1e-9 * trace;
  choleskyInPlace(S, d);
  const lower = S.filter((_, e) => e % d <= Math.floor(e / d));
  return Float64Array.from([...mean.coefficients, ...lower, Math.log(noise.variance)]);
}

function withParameters(model: LmmModel, parameters: Float64Array): LmmModel {
  const [own] = model.markers;
  const d = own.mean.coefficients.length;
  const covarianceFactor = new Float64Array(d * d);
  let next = d;
  for (let a = 0; a < d; a++) for (let b = 0; b <= a; b++) covarianceFactor[a * d + b] = parameters[next++];
  const mean = { ...own.mean, coefficients: parameters.slice(0, d) };
  return {
    ...model,
    covarianceFactor,
    markers: [{ ...own, mean, noise: { ...own.noise, variance: Math.exp(parameters[next]) } }],
  };
}

function scored(model: TrajectoryModel, cohort: Cohort) {
  return heldOutLogLikelihood(model as ScoredModel, cohort);
}

/** The reference with mean or noise of the model. */
function withPart(reference: TrajectoryModel, model: TrajectoryModel, part: "mean" | "noise"): TrajectoryModel {
  const markers = reference.markers.map((own, k) => ({ ...own, [part]: model.markers[k][part] }));
  return { ...reference, markers } as TrajectoryModel;
}

/** The reference with the variation between individuals of the model. */
function withSpread(reference: TrajectoryModel, model: TrajectoryModel): TrajectoryModel {
  if (reference.kind === "lmm" && model.kind === "lmm") {
    return { ...reference, covarianceFactor: model.covarianceFactor };
  }
  return reference.kind === "fpca" && model.kind === "fpca" ? { ...reference, loadings: model.loadings } : reference;
}

/** The probability that one of `inside` scores above one of `outside`, with the variance of DeLong, DeLong & Clarke-Pearson (1988). */
export function aucOf(inside: Float64Array, outside: Float64Array): Auc {
  const above = (x: number, y: number) => (x > y ? 1 : x === y ? 0.5 : 0);
  const mean = (list: ArrayLike<number>) => Array.from(list).reduce((sum, v) => sum + v, 0) / list.length;
  const ofInside = inside.map((x) => mean(outside.map((y) => above(x, y))));
  const ofOutside = outside.map((y) => mean(inside.map((x) => above(x, y))));
  const auc = mean(ofInside);
  const part = (list: Float64Array) =>
    list.length < 2 ? 0.25 : list.reduce((sum, v) => sum + (v - auc) ** 2, 0) / (list.length - 1) / list.length;
  return withInterval(auc, part(ofInside) + part(ofOutside));
}

/** The average of AUCs of separate cohorts. */
export function averageAuc(list: readonly Auc[]): Auc {
  const auc = list.reduce((sum, one) => sum + one.auc, 0) / list.length;
  return withInterval(auc, list.reduce((sum, one) => sum + one.variance, 0) / list.length ** 2);
}

function withInterval(auc: number, variance: number): Auc {
  const half = 1.96 * Math.sqrt(variance);
  return { auc, variance, lower: Math.max(0, auc - half), upper: Math.min(1, auc + half) };
}

/** How well two mixed models, of m individuals and of k more, tell who joined: newcomers of all repeats against those in neither. */
export function newcomerAuc(k: number, repeats: number, m: number): Auc {
  const outside = 200;
  const inside: number[] = [];
  const others: number[] = [];
  for (let r = 0; r < repeats; r++) {
    const { cohort } = simulateCohort("pfvc", { numIndividuals: m + k + outside, seed: 77 + r });
    const part = (from: number, to: number) =>
      selectIndividuals(
        cohort,
        Int32Array.from({ length: to - from }, (_, i) => from + i),
      );
    const [before, after] = [part(0, m), part(0, m + k)].map((own) => fitLmm(own));
    const gain = (own: Cohort) => {
      const [a, b] = [before, after].map((model) => scored(model, own).logLikelihood);
      return Array.from(b, (v, i) => v - a[i]);
    };
    inside.push(...gain(part(m, m + k)));
    others.push(...gain(part(m + k, m + k + outside)));
  }
  return aucOf(Float64Array.from(inside), Float64Array.from(others));
}
