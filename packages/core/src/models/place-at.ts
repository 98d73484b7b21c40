/** Standing at a point of the map: the distribution of courses that belongs there, ready for `predict`. */
import { DtmError } from "../errors.ts";
import { deviationDecoder } from "./decoder.ts";
import { inducingDistance, isMapModel, type TrajectoryModel } from "./model.ts";
import { fitLocation } from "./orient.ts";
import type { Placement } from "./placement.ts";

/**
 * A placement exactly at a shown place [q]: for maps the coefficients are N(f̄(x), Cov f(x) + Σ_e), for LMM and FPCA
 * the linear course of those scores.
 */
export function placementAt(model: TrajectoryModel, location: ArrayLike<number>): Placement {
  const q = model.mapDimension;
  const d = model.basis.numBasis;
  if (location.length !== q) {
    throw new DtmError("shape", `placementAt: expected a place of ${q} coordinates, received ${location.length}.`);
  }
  const shown = Float64Array.from(location);
  if (!shown.every(Number.isFinite)) {
    throw new DtmError("not-finite", `placementAt: expected finite coordinates, received ${shown.join(", ")}.`);
  }
  const x = fitLocation(model.orientation, shown, q);
  const means = new Float64Array(d);
  const covariances = new Float64Array(d * d);
  deviationDecoder(model)(x, means, covariances);
  return {
    id: "place",
    numObservations: 0,
    lastTime: Number.NEGATIVE_INFINITY,
    location: shown,
    covariance: new Float64Array(q * q),
    posterior: {
      nodes: new Int32Array(1),
      weights: Float64Array.of(1),
      locations: x,
      means,
      covariances,
      logLikelihood: 0,
    },
    logLikelihood: 0,
    numOutsideTimes: 0,
    outsideMass: isMapModel(model) && inducingDistance(model.map, x) > 1 ? 1 : 0,
  };
}
