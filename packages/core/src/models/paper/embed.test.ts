import { describe, expect, it } from "vitest";
import { fitDtmPaperStatistics } from "../../../../../test/paper-fit.ts";
import { bendingCohort, cohortStatistics, crudeStart } from "../../../../../test/paper-problem.ts";
import { basisStatistics } from "../../basis/statistics.ts";
import { makeCohort } from "../../cohort/cohort.ts";
import { markerModel } from "../fit.ts";
import { mapMoments } from "../gp/sparse-map.ts";
import { logLikelihoods } from "../mixture/conditioner.ts";
import { makeMixture } from "../mixture/mixture.ts";
import { embedLocal } from "./embed.ts";

describe("embedLocal", () => {
  const statistics = cohortStatistics(bendingCohort(80, 4));
  const { model, locations } = fitDtmPaperStatistics(statistics, crudeStart(statistics, 2), { maxIterations: 40 });

  it("gives a bound below the log-likelihood of each individual, and close to it for most", () => {
    const fresh = basisStatistics(bendingCohort(30, 99), markerModel(model).basis, markerModel(model));
    const local = embedLocal(model, fresh);
    const per = 101;
    const nodes = new Float64Array(per * per * 2);
    const logWeights = new Float64Array(per * per);
    for (let g = 0; g < per * per; g++) {
      const [a, b] = [-5 + 0.1 * Math.floor(g / per), -5 + 0.1 * (g % per)];
      nodes.set([a, b], 2 * g);
      logWeights[g] = -0.5 * (a * a + b * b) - Math.log(2 * Math.PI) + 2 * Math.log(0.1);
    }
    const mixture = makeMixture({
      numBasis: markerModel(model).basis.numBasis,
      mapDimension: 2,
      locations: nodes,
      logWeights,
      ...mapMoments(markerModel(model).map, nodes, per * per),
      meanCoefficients: markerModel(model).mean.coefficients,
      noise: markerModel(model).noise,
    });
    const exact = logLikelihoods(mixture, fresh);
    // The lattice is good to 1e-3 per individual.
    for (const [i, bound] of local.bound.entries()) expect(bound).toBeLessThan(exact[i] + 1e-3);
    const gaps = Array.from(exact, (v, i) => v - local.bound[i]).sort((a, b) => a - b);
    expect(gaps[15]).toBeLessThan(2);
  });

  it("finds places of training individuals no worse than the fit did", () => {
    const local = embedLocal(model, statistics);
    const near = local.mean.filter((x, k) => Math.abs(x - locations.mean[k]) < 0.05).length;
    // q(u) moved once after the last places of the fit; a few individuals may prefer another maximum.
    expect(near / local.mean.length).toBeGreaterThan(0.9);
  });

  it("puts twins at the same place, and an individual without observations at the prior", () => {
    const cohort = makeCohort({ ids: ["a", "a", "b", "b"], times: [2, 6, 2, 6], values: [75, 66, 75, 66] });
    const twins = embedLocal(model, basisStatistics(cohort, markerModel(model).basis, markerModel(model)));
    expect(Array.from(twins.mean.subarray(0, 2))).toEqual(Array.from(twins.mean.subarray(2)));
    expect(twins.bound[0]).toBe(twins.bound[1]);
    const one = basisStatistics(cohort, markerModel(model).basis, markerModel(model));
    const empty = {
      ...one,
      gram: new Float64Array(one.gram.length),
      cross: new Float64Array(one.cross.length),
      sumSquares: new Float64Array(2),
      counts: new Float64Array(2),
    };
    const prior = embedLocal(model, empty);
    for (const [k, v] of [1, 0, 0, 1].entries()) expect(prior.covariance[k]).toBeCloseTo(v, 6);
    expect(Math.abs(prior.mean[0]) + Math.abs(prior.bound[0])).toBeLessThan(1e-9);
  });
});
