import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../../test/expect-gradient.ts";
import { makeCohort, selectVisits } from "../../cohort/cohort.ts";
import { combineMarkers, markerCohort } from "../../cohort/several-markers.ts";
import { heldOutLogLikelihood } from "../../evaluate/held-out.ts";
import { simulateCohort } from "../../simulate/cohorts.ts";
import { markerIndex, viewMarker } from "../fit.ts";
import { fitDtm, fitLmm } from "../fit-models.ts";
import { modelMixtures } from "../model.ts";
import { modelStatistics } from "../new-individuals.ts";
import { embed, embedPlaces, placeIndividual } from "../place.ts";
import { viewPlacement } from "../placement.ts";
import { predict } from "../predict.ts";
import { createJointConditioner, createNodeDensities, jointLogLikelihoods } from "./joint.ts";

/** Two markers of the same people; the second, a noisy half of the first, lacks every fourth of them. */
const first = simulateCohort("pfvc", { numIndividuals: 60, seed: 4 }).cohort;
const { offsets, times, values } = first.markers[0];
const rows = first.ids.flatMap((id, i) =>
  i % 4 === 0 ? [] : Array.from({ length: offsets[i + 1] - offsets[i] }, (_, n) => ({ id, j: offsets[i] + n })),
);
const second = makeCohort(
  {
    ids: rows.map(({ id }) => id),
    times: rows.map(({ j }) => times[j]),
    values: rows.map(({ j }) => 10 + 0.5 * values[j] + Math.sin(17 * j)),
  },
  { name: "half", timeUnit: first.markers[0].marker.timeUnit },
);
const cohort = combineMarkers([first, second]);
const [name] = cohort.markers.map(({ marker }) => marker.name);

describe.each(["white", "level"] as const)("a place by two markers, %s noise", (noise) => {
  const model = fitDtm(cohort, { noise, nodes: { step: 0.4 }, restarts: 0, maxIterations: 25 });
  const mixtures = modelMixtures(model);
  const statistics = modelStatistics(model, cohort);

  it("has the densities of the definition at every node, in kernels too", () => {
    mixtures.forEach((mixture, k) => {
      const [plain, kernel] = (["typescript", "wasm"] as const).map((kind) => createNodeDensities(mixture, kind));
      for (const i of [0, 1, 2]) {
        const expected = plain(statistics[k], i);
        expect(relativeError(kernel(statistics[k], i), expected)).toBeLessThan(1e-9);
        if (statistics[k].counts[i] === 0) expect(expected.every((v) => v === 0)).toBe(true);
      }
    });
  });

  it("has weights and a likelihood that do not depend on which marker is asked", () => {
    const condition = createJointConditioner(mixtures);
    const total = jointLogLikelihoods(mixtures, statistics);
    for (const i of [0, 1, 5]) {
      const [a, b] = condition(statistics, i);
      // Levels that can be spared are left out of one and not of the other.
      expect(a.logLikelihood).toBeCloseTo(total[i], 4);
      expect(b.logLikelihood).toBeCloseTo(total[i], 4);
      const mean = ({ weights, locations }: typeof a) => weights.reduce((sum, w, n) => sum + w * locations[2 * n], 0);
      expect(mean(a)).toBeCloseTo(mean(b), 4);
    }
  });

  it("is the same one by one and as columns, in threads of either kernels", () => {
    const all = embed(model, cohort);
    expect(all.coefficients).toHaveLength(60 * 10);
    expect(all.visitsOfMarkers?.map((counts) => counts[0])).toEqual([offsets[1], 0]);
    expect(all.noiseLevels?.length ?? 0).toBe(noise === "level" ? 2 : 0);
    const slow = embedPlaces(model, cohort, { kernels: "typescript" });
    expect(relativeError(all.location, slow.location)).toBeLessThan(1e-4);
    const own = cohort.markers.map(({ offsets: at, times: t, values: y }) => ({
      times: t.subarray(at[1], at[2]),
      values: y.subarray(at[1], at[2]),
    }));
    const one = placeIndividual(model, { markers: { [name]: own[0], half: own[1] } });
    expect(relativeError(one.location, all.location.subarray(2, 4))).toBeLessThan(1e-4);
    expect(one.logLikelihood).toBeCloseTo(all.logLikelihood[1], 4);
    expect(one.numObservations).toBe(all.numObservations[1]);
  });

  it("is narrower than by one of them, and that of one where the other was not measured", () => {
    const both = embed(model, cohort);
    const alone = embed(viewMarker(model, 0), first);
    const median = (v: Float64Array) => v.slice().sort()[30];
    expect(median(both.area90)).toBeLessThan(median(alone.area90));
    expect(relativeError(both.location.subarray(0, 2), alone.location.subarray(0, 2))).toBeLessThan(1e-6);
  });

  it("forecasts each marker given the visits of both", () => {
    const visits = { times: [0.5, 1, 1.5, 2.5], values: [70, 66, 61, 55] };
    const someone = placeIndividual(model, { markers: { [name]: visits } });
    const forecast = predict(model, someone, [3, 4], { marker: "half" });
    const nobody = predict(model, placeIndividual(model, { markers: {} }), [3, 4], { marker: "half" });
    expect(forecast.upper[0] - forecast.lower[0]).toBeLessThan(nobody.upper[0] - nobody.lower[0]);
    expect(forecast.median[0]).toBeLessThan(nobody.median[0]);
    const k = markerIndex(model, "half");
    expect(predict(viewMarker(model, k), viewPlacement(someone, k), [3, 4])).toEqual(forecast);
    expect(() => predict(model, someone, [3])).toThrow(/one of the markers/);
    expect(() => placeIndividual(model, { markers: { other: visits } })).toThrow(/other/);
  });

  it("scores visits given others, of one marker or of both", () => {
    const history = selectVisits(cohort, () => 2);
    const { logLikelihood } = heldOutLogLikelihood(model, cohort);
    expect(Array.from(logLikelihood)).toEqual(Array.from(jointLogLikelihoods(mixtures, statistics)));
    expect(() => heldOutLogLikelihood(model, markerCohort(cohort, 1))).not.toThrow();
    const some = heldOutLogLikelihood(model, history).logLikelihood;
    expect(some.every(Number.isFinite)).toBe(true);
  });
});

describe("linear models of two markers", () => {
  it("place and score people by both", () => {
    const model = fitLmm(cohort, { mapDimension: 2 });
    const { location, logLikelihood, coefficients } = embed(model, cohort);
    expect(location.every(Number.isFinite)).toBe(true);
    expect(coefficients).toHaveLength(60 * 10);
    expect(Array.from(heldOutLogLikelihood(model, cohort).logLikelihood)).toEqual(Array.from(logLikelihood));
  });
});
