/** A model fitted again to other individuals, with the kind, basis, mean and dimension of the first. */
import type { Cohort } from "../cohort/cohort.ts";
import type { FitControl } from "../models/fit.ts";
import { fitDtm, fitFpca, fitLmm } from "../models/fit-models.ts";
import { type TrajectoryModel, unknownModel } from "../models/model.ts";

/** Fits the cohort as `model` was fitted; learned values start afresh. */
export function refitLike(model: TrajectoryModel, cohort: Cohort, control: FitControl = {}): TrajectoryModel {
  const { basis, mapDimension } = model;
  const common = { ...control, basis, mean: model.mean.kind };
  switch (model.kind) {
    case "lmm":
      return fitLmm(cohort, { ...common, mapDimension });
    case "fpca":
      return fitFpca(cohort, { ...common, rank: mapDimension });
    case "dtm":
      return fitDtm(cohort, { ...common, mapDimension });
    case "dtm-paper":
      return fitDtm(cohort, {
        ...common,
        kind: "dtm-paper",
        mapDimension: mapDimension as 1 | 2 | 3,
        schedule: model.schedule,
        learn: model.learned,
      });
    default:
      throw unknownModel(model);
  }
}
