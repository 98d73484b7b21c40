/**
 * A model with covariates as it is for one individual (docs/math/covariates.md §4): the prior of the place is shifted by Φz, the mean moved by
 * Σ_c z_c Hγ_c, and nothing of covariates is left. Whatever places or predicts one individual does so by this model.
 */

import type { CohortStatistics } from "../basis/statistics.ts";
import type { CovariateCoding } from "../cohort/coding.ts";
import type { Cohort } from "../cohort/cohort.ts";
import { type CovariateValue, columnsWith, encodeFor, farCovariates, takeColumns } from "../covariates/covariates.ts";
import { DtmError } from "../errors.ts";
import { multiplyTransposed } from "../numeric/matrix.ts";
import { logSumExp } from "../numeric/special.ts";
import type { DtmModel } from "./dtm/model.ts";
import type { MarkerModel, ModelBase } from "./fit.ts";
import { type EffectForm, effectOffsets, withoutEffects } from "./mean.ts";
import type { ScoredModel, TrajectoryModel } from "./model.ts";
import { modelStatistics } from "./new-individuals.ts";

/** What of a model knows covariates. */
type CovariateParts = Pick<ModelBase, "markers" | "covariates" | "effects">;

/**
 * The model for an individual with these covariates; a model without covariates is as it is.
 * @throws DtmError "missing-covariate", "unknown-level" or "not-a-number".
 * @example
 * const hers = modelFor(model, { age: 54, sex: "f" });
 * const someone = placeIndividual(hers, { times: [0, 1], values: [81, 77] });
 * predict(hers, someone, [2, 3]);
 */
export function modelFor<M extends TrajectoryModel>(model: M, row: Readonly<Record<string, CovariateValue>>): M {
  const coding = codingOf(model);
  return coding === undefined ? model : modelAt(model, encodeFor(coding, row));
}

/** The same for coded columns [P]. */
export function modelAt<M extends TrajectoryModel>(model: M, values: Float64Array): M {
  if (model.covariates === undefined) return model;
  const { covariates: coding, effects, ...rest } = model as TrajectoryModel;
  const { shift: _, ...own } = rest as DtmModel;
  const terms = shiftTerms(model, values);
  const nodes = terms === null ? {} : { nodes: { ...own.nodes, logWeights: shiftedPrior(own, terms) } };
  const markers = effects === undefined ? own.markers : movedMeans(own.markers, effects.form, coding!, values);
  const [far] = farCovariates({ coding: coding!, values });
  return { ...own, markers, ...nodes, ...(far.length > 0 && { farCovariates: far }) } as unknown as M;
}

/** Markers whose mean is that of an individual with coded columns [P]. */
function movedMeans<Part extends MarkerModel>(
  markers: readonly Part[],
  form: EffectForm,
  coding: CovariateCoding,
  values: Float64Array,
): Omit<Part, "effects">[] {
  const z = takeColumns(values, coding.columns.length, columnsWith(coding, [form]));
  return markers.map(({ effects, ...part }) => {
    const offsets = effectOffsets(form, part.basis, effects!, z);
    const coefficients = part.mean.coefficients.map((v, k) => v + offsets[k]);
    return { ...part, mean: { kind: form === "level" ? part.mean.kind : "spline", coefficients } as const };
  });
}

/** Statistics of a cohort under a model, of values without the effects of its covariates in the mean. */
export function statisticsFor(model: ScoredModel, cohort: Cohort): CohortStatistics {
  return statisticsAt(model, modelStatistics(model, cohort), codedFor(model, cohort));
}

/** The part of a marker as it is for individual i of a cohort: with their mean. */
export function partsFor(model: CovariateParts, cohort: Cohort, k: number): (i: number) => MarkerModel {
  if (model.effects === undefined || model.covariates === undefined) return () => model.markers[k];
  const { covariates: coding, effects, markers } = model;
  const P = coding.columns.length;
  const coded = codedFor(model, cohort)!;
  return (i) => movedMeans([markers[k]], effects.form, coding, coded.subarray(i * P, (i + 1) * P))[0];
}

/** Statistics of a cohort with coded columns [m,P] as a model reads them: of values without effects in the mean. */
export function statisticsAt(
  model: CovariateParts,
  statistics: CohortStatistics,
  values: Float64Array | null,
): CohortStatistics {
  if (model.effects === undefined || model.covariates === undefined || values === null) return statistics;
  const { covariates: coding, effects, markers } = model;
  const z = takeColumns(values, coding.columns.length, columnsWith(coding, [effects.form]));
  const coefficients = markers.map((part) => part.effects!);
  return withoutEffects(statistics, { form: effects.form, coefficients }, z);
}

/** How a model codes covariates, if it has any. */
export function codingOf(model: CovariateParts): CovariateCoding | undefined {
  return model.covariates;
}

/** Φz of individuals with coded columns [m,P], [m,q], fit's frame; null where covariates do not shift places. */
export function shiftTerms(model: TrajectoryModel, values: Float64Array): Float64Array | null {
  if (model.kind !== "dtm" || model.covariates === undefined || model.shift === undefined) return null;
  const { covariates: coding, shift, mapDimension: q } = model;
  const columns = columnsWith(coding, ["places"]);
  const z = takeColumns(values, coding.columns.length, columns);
  return multiplyTransposed(z, shift.loadings, z.length / columns.length, columns.length, q);
}

/** The individual's own log prior of the model's nodes for each of a cohort; undefined where all have the same. */
export function priorsOf(
  model: TrajectoryModel,
  cohort: Pick<Cohort, "covariates">,
): (i: number) => Float64Array | undefined {
  const coded = codedFor(model, cohort);
  const terms = coded === null ? null : shiftTerms(model, coded);
  const q = model.mapDimension;
  return (i) =>
    terms === null || model.kind !== "dtm" ? undefined : shiftedPrior(model, terms.subarray(i * q, (i + 1) * q));
}

/** log π_g(z) ∝ log π_g + x_g'η of the model's nodes, [Γ], for η [q]. */
export function shiftedPrior({ nodes, mapDimension: q }: DtmModel, terms: Float64Array): Float64Array {
  const prior = nodes.logWeights.map((v, g) => {
    let s = v;
    for (let a = 0; a < q; a++) s += nodes.locations[g * q + a] * terms[a];
    return s;
  });
  const total = logSumExp(prior);
  return prior.map((v) => v - total);
}

/**
 * The coded columns [m,P] that a model needs of a cohort or of one individual; null where it needs none.
 * @throws DtmError "missing-covariate" where it needs some and the cohort has none, or others.
 */
export function codedFor(
  model: CovariateParts,
  { covariates: given }: Pick<Cohort, "covariates">,
): Float64Array | null {
  const coding = codingOf(model);
  if (coding === undefined) return null;
  const text = ({ columns }: CovariateCoding) => columns.map(({ name, center, scale }) => [name, center, scale].join());
  if (given !== undefined && text(given.coding).join() === text(coding).join()) return given.values;
  const names = coding.covariates.map(({ name }) => name).join(", ");
  const received = given === undefined ? "none" : "others, or coded otherwise";
  const remedy = "Code them with the model's coding (encodeTable), or use modelFor for one individual.";
  throw new DtmError("missing-covariate", `Expected the covariates ${names}, received ${received}. ${remedy}`);
}
