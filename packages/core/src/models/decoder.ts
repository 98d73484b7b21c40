/**
 * From a place to the coefficients of its course: what a point of a map stands for (docs/math/dtm.md §6).
 *   maps          w ~ N(f̄(x), Cov f(x) + Σ_e)
 *   LMM, FPCA     w = the linear course of the scores x, without spread
 */
import { markerModel } from "./fit.ts";
import { type MapDecoder, mapDecoder } from "./gp/sparse-map.ts";
import { scoreCourse } from "./linear/scores.ts";
import { isMapModel, type TrajectoryModel } from "./model.ts";
import { fitLocation } from "./orient.ts";

/** Coefficients of the course at any place of a fitted model. */
export interface Decoder {
  readonly model: TrajectoryModel;
  readonly numBasis: number; // d
  readonly mapDimension: number; // q
  /** Writes E(β + w) [d] and, unless it is null, Cov w [d,d] at a shown place [q]. */
  decodeInto(shown: ArrayLike<number>, mean: Float64Array, covariance: Float64Array | null): void;
}

/** A decoder of the model, fast enough to be asked for every pixel: the kernel matrix is factored once. */
export function makeDecoder(model: TrajectoryModel): Decoder {
  const { mapDimension, orientation } = model;
  const decode = deviationDecoder(model);
  const beta = markerModel(model).mean.coefficients;
  return {
    model,
    numBasis: beta.length,
    mapDimension,
    decodeInto: (shown, mean, covariance) => {
      decode(fitLocation(orientation, Float64Array.from(shown), mapDimension), mean, covariance);
      for (let k = 0; k < beta.length; k++) mean[k] += beta[k];
    },
  };
}

/** The same for w, the deviation from the population mean, at places of the fit's frame. */
export function deviationDecoder(model: TrajectoryModel): MapDecoder {
  if (!isMapModel(model)) {
    return (x, mean, covariance) => {
      mean.set(scoreCourse(model, x));
      covariance?.fill(0);
    };
  }
  const decode = mapDecoder(markerModel(model).map);
  if (model.kind !== "dtm") return decode;
  const residual = markerModel(model).residual.covariance;
  return (x, mean, covariance) => {
    decode(x, mean, covariance);
    if (covariance !== null) for (let k = 0; k < residual.length; k++) covariance[k] += residual[k];
  };
}
