/** A model fitted again to other individuals, with the kind, basis, mean, noise and dimension of the first. */

import type { Cohort } from "../cohort/cohort.ts";
import { DtmError } from "../errors.ts";
import type { FitControl } from "../models/fit.ts";
import { fitDtm, fitFpca, fitLinear, fitLmm } from "../models/fit-models.ts";
import { type TrajectoryModel, unknownModel } from "../models/model.ts";

/**
 * Fits the cohort as `model` was fitted; learned values start afresh. `coarse` maps stop earlier and use wider cells: places are the
 * same to what differs between samples (R² with the first fit to 0.02 on four cohorts), in a third of the time. There are as many
 * starts as the first fit had.
 */
export function refitLike(
  model: TrajectoryModel,
  cohort: Cohort,
  { coarse = false, ...control }: FitControl & { readonly coarse?: boolean } = {},
): TrajectoryModel {
  const { mapDimension } = model;
  const common = {
    ...control,
    basis: model.markers.map(({ basis }) => basis),
    mean: model.markers[0].mean.kind,
    noise: model.markers.map(({ noise }) => noise.kind),
  };
  const { effects } = model;
  if (effects !== undefined && (model.kind === "lmm" || model.kind === "fpca")) {
    const { lmm, fpca, leftOut } = fitLinear(cohort, { ...common, mapDimension, effects: effects.form });
    if (model.kind === "lmm") return lmm;
    if (fpca === undefined) throw new DtmError("option", `refitLike: ${leftOut.join(" ")}`);
    return fpca;
  }
  switch (model.kind) {
    case "lmm":
      return fitLmm(cohort, { ...common, mapDimension });
    case "fpca":
      return fitFpca(cohort, { ...common, rank: mapDimension });
    case "dtm":
      return fitDtm(cohort, {
        ...common,
        mapDimension: mapDimension as 1 | 2,
        ...(coarse
          ? {
              tolerance: 0.05,
              restarts: (model.record.starts?.length ?? 1) - 1,
              nodes: { step: 0.5 },
              // A start need not be the best of several maxima.
              linear: fitLinear(cohort, { ...common, mapDimension, restarts: 0 }),
            }
          : {}),
      });
    case "dtm-paper":
      return fitDtm(cohort, {
        ...common,
        basis: common.basis[0],
        noise: common.noise[0],
        kind: "dtm-paper",
        mapDimension: mapDimension as 1 | 2 | 3,
        schedule: model.schedule,
        learn: model.learned,
      });
    default:
      throw unknownModel(model);
  }
}
