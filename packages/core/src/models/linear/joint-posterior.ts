/**
 * One individual under a linear model of several markers (docs/math/linear.md §9): the coefficients of all are one Gaussian vector
 * Fv, so those of marker k given everything are N(F_k v̂, F_k C F_k'), from the posterior N(v̂, C) of the effects. Where markers have
 * noise levels, moments are averaged over them, and a new measurement has the levels of the population.
 */
import { selectStatistics } from "../../basis/statistics.ts";
import { noiseLevels } from "../../noise/noise.ts";
import { joinFloats } from "../../numeric/matrix.ts";
import type { JointConditioner } from "../mixture/joint.ts";
import type { CoefficientPosterior } from "../mixture/posterior.ts";
import type { FpcaModel } from "./fpca.ts";
import { individualLogLikelihoods } from "./likelihood.ts";
import type { LmmModel } from "./lmm.ts";
import { effectPosterior } from "./posterior.ts";
import { linearParameters } from "./scores.ts";
import { splitRows } from "./stack.ts";

/** The posteriors of all markers of an individual given everything. */
export function linearConditioner(model: LmmModel | FpcaModel): JointConditioner {
  const parameters = linearParameters(model);
  const factors = splitRows(model.markers, parameters.factor);
  return (statistics, individual): CoefficientPosterior[] => {
    const own = statistics.map((of) => selectStatistics(of, Int32Array.of(individual)));
    const [logLikelihood] = individualLogLikelihoods(own, parameters);
    return model.markers.map(({ noise, basis: { numBasis: d } }, k) => {
      const through = { matrix: factors[k], shift: new Float64Array(d) };
      const { mean, covariance } = effectPosterior(own, parameters, through);
      const { variances, logWeights } = noiseLevels(noise);
      const repeated = (moments: Float64Array) => joinFloats(Array.from(variances, () => moments));
      return {
        nodes: new Int32Array(1),
        weights: Float64Array.of(1),
        locations: new Float64Array(0),
        shares: logWeights.map(Math.exp),
        noiseVariances: variances,
        means: repeated(mean),
        covariances: repeated(covariance),
        logLikelihood,
      };
    });
  };
}
