/** Histories of individuals as commands read them, and placed. */
import { type Cohort, type Placement, placeIndividual, type TrajectoryModel } from "@trajectory-maps/core";
import { codingOf, modelAt, type Visits } from "@trajectory-maps/core/models";

/** Visits by the names of their markers. */
type MarkerHistory = { readonly id: string; readonly markers: { readonly [name: string]: Visits } };

/** An individual placed by all markers. */
export interface PlacedHistory {
  readonly history: MarkerHistory;
  /** The model as it is for the individual: covariates are in it. */
  readonly own: TrajectoryModel;
  readonly placement: Placement;
  /** Coded, where the model has such. */
  readonly covariates?: Float64Array;
}

/** The same with the covariates of the individual, coded. */
type Described = MarkerHistory & { readonly covariates?: Float64Array };

export function placeDescribed(model: TrajectoryModel, { covariates, ...history }: Described): PlacedHistory {
  const coding = codingOf(model);
  if (coding === undefined || covariates === undefined)
    return { history, own: model, placement: placeIndividual(model, history) };
  const placement = placeIndividual(model, history, { covariates: { coding, values: covariates } });
  return { history, own: modelAt(model, covariates), placement, covariates };
}

export function historiesOf(cohort: Cohort): Described[] {
  return cohort.ids.map((id, i) => {
    const own = cohort.markers.map(({ marker, offsets, times, values, censored }) => {
      const [from, to] = [offsets[i], offsets[i + 1]];
      const visits = { times: times.subarray(from, to), values: values.subarray(from, to) };
      return [marker.name, { ...visits, ...(censored && { censored: censored.subarray(from, to) }) }] as const;
    });
    const P = cohort.covariates?.coding.columns.length ?? 0;
    const covariates = cohort.covariates?.values.subarray(i * P, (i + 1) * P);
    return { id, markers: Object.fromEntries(own), ...(covariates && { covariates }) };
  });
}
