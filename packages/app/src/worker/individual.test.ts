import { embed, fitDtm, groupPlaces, placeIndividual, predict, simulateCohort } from "@trajectory-maps/core";
import { onlyMarker } from "@trajectory-maps/core/ingest";
import { guardFor, modelMixture, placeSds } from "@trajectory-maps/core/models";
import { calibrateForecasts } from "@trajectory-maps/core/study";
import { describe, expect, it } from "vitest";
import { answerDifference, answerIndividual, guardOf } from "./individual.ts";

const { cohort } = simulateCohort("pfvc", { numIndividuals: 120, seed: 4 });
const { offsets, times, values } = onlyMarker(cohort);
const AT = [0, 2.5, 5, 7.5, 10];

function visitsOf(i: number) {
  const [from, to] = [offsets[i], offsets[i + 1]];
  const own = { times: Array.from(times.subarray(from, to)), values: Array.from(values.subarray(from, to)) };
  return { id: cohort.ids[i], visits: [own] };
}
const often = offsets.findIndex((from, i) => offsets[i + 1] - from >= 6);

describe.each([1, 2] as const)("answerIndividual on a map of %i dimensions", (mapDimension) => {
  const model = fitDtm(cohort, { kind: "dtm", mapDimension, restarts: 0, maxIterations: 8, seed: 1 });
  const mixture = modelMixture(model);
  const placements = embed(model, cohort, { mixture });
  const answer = (over: object) => answerIndividual(model, mixture, null, { ...visitsOf(often), at: AT, ...over });
  const q = mapDimension;

  it("puts an individual where the map has it, as surely", () => {
    const { location, sd, numUsed } = answer({});
    for (let c = 0; c < q; c++) expect(location[c]).toBeCloseTo(placements.location[often * q + c], 9);
    expect(sd).toBeCloseTo(placeSds(placements)[often], 9);
    expect(numUsed).toBe(placements.numObservations[often]);
  });

  it("known at the last visit is the same as known wholly, and the first visit alone is less sure", () => {
    const [{ times }] = visitsOf(often).visits;
    const whole = answer({ threshold: 70, change: [4, 5] });
    expect(answer({ threshold: 70, change: [4, 5], knownAt: times[times.length - 1] })).toEqual(whole);
    const first = answer({ knownAt: times[0] });
    expect(first.numUsed).toBe(times.filter((t) => t === times[0]).length);
    expect(first.curve.upper[4] - first.curve.lower[4]).toBeGreaterThan(whole.curve.upper[4] - whole.curve.lower[4]);
  });

  it("takes a value below a limit as that, whatever the order of visits", () => {
    const [{ times, values }] = visitsOf(often).visits;
    const censored = values.map((_, j) => (j === 1 ? -1 : 0));
    const reversed = { times: times.toReversed(), values: values.toReversed(), censored: censored.toReversed() };
    const placed = placeIndividual(model, { times, values, censored }, { mixture });
    const { location, observation } = answer({ visits: [reversed] });
    expect(location).toEqual(placed.location);
    expect(observation.median[4]).not.toBe(answer({}).observation.median[4]);
  });

  it("has the bands of predict", () => {
    const { curve, observation } = answer({});
    const placed = placeIndividual(model, visitsOf(often).visits[0], { mixture });
    expect(curve).toEqual(predict(model, placed, AT, { interval: "curve" }));
    expect(observation).toEqual(predict(model, placed, AT, { interval: "observation" }));
  });

  it("has the band whose coverage was measured, calibrated after the last visit", () => {
    expect(answer({}).calibrated).toBeNull();
    const { cohort: others } = simulateCohort("pfvc", { numIndividuals: 45, seed: 6 });
    const calibration = calibrateForecasts([{ model, cohort: others }]);
    const wide = { ...calibration, classes: calibration.classes.map((c) => ({ ...c, lower: c.lower.map(() => 3) })) };
    const question = { ...visitsOf(often), at: [0, 10] };
    const placed = placeIndividual(model, question.visits[0], { mixture });
    const { calibrated, observation } = answerIndividual({ ...model, calibration: wide }, mixture, null, question);
    const { lower, upper } = predict({ ...model, calibration: wide }, placed, [0, 10], { interval: "conformal" });
    expect(calibrated!.lower[0]).toBe(observation.lower[0]);
    expect(calibrated!.lower[1]).toBe(lower[1]);
    expect(calibrated!.lower[1]).toBeLessThan(observation.lower[1]);
    expect(calibrated!.upper[1]).toBe(upper[1]);
    // Where the factors are small, the course is the least there is; and nobody's band was calibrated.
    const narrow = { ...wide, classes: wide.classes.map((c) => ({ ...c, upper: c.upper.map(() => 0.01) })) };
    const held = answerIndividual({ ...model, calibration: narrow }, mixture, null, question);
    expect(held.calibrated!.upper[1]).toBe(held.curve.upper[1]);
    const nobody = { ...question, visits: [{ times: [], values: [] }] };
    expect(answerIndividual({ ...model, calibration: wide }, mixture, null, nobody).calibrated).toBeNull();
    const few = { ...wide, classes: wide.classes.map((c) => ({ ...c, lower: c.lower.map(() => null) })) };
    expect(answerIndividual({ ...model, calibration: few }, mixture, null, question).calibrated).toBeNull();
  });

  it("falls back on the mixed model where few like this were followed, as predict does", () => {
    const guard = guardOf({ model, placements, seconds: 0, finished: true }, cohort)!;
    const question = { ...visitsOf(often), at: AT, threshold: 70 };
    const { curve, below } = answerIndividual(model, mixture, null, question, guard);
    const placed = placeIndividual(model, visitsOf(often).visits[0], { mixture });
    const own = guardFor(guard, visitsOf(often).visits[0]);
    expect(curve).toEqual(predict(model, placed, AT, { interval: "curve", guard: own }));
    expect(curve.support).toHaveLength(AT.length);
    // The probability belongs to the curve: one half at its median.
    const at = { ...question, threshold: curve.median[4] };
    expect(answerIndividual(model, mixture, null, at, guard).below![4]).toBeCloseTo(0.5, 6);
    expect(below).toHaveLength(AT.length);
    const { cohort: other } = simulateCohort("pfvc", { numIndividuals: 60, seed: 5 });
    expect(guardOf({ model, placements, seconds: 0, finished: true }, other)).toBeNull();
  });

  it("gives a trail that ends at the place, and membership that sums to one", () => {
    const { regions } = groupPlaces(model, placements, { numGroups: 2 });
    const { trail, location, membership, numUsed } = answerIndividual(model, mixture, regions, {
      ...visitsOf(often),
      at: AT,
      trail: true,
    });
    expect(trail).toHaveLength(numUsed);
    expect(trail[numUsed - 1].location).toEqual(location);
    expect(membership[0] + membership[1]).toBeCloseTo(1, 9);
  });

  it("does not mind the order in which visits are typed", () => {
    const { id, visits } = visitsOf(often);
    const turned = { id, visits: [{ times: [...visits[0].times].reverse(), values: [...visits[0].values].reverse() }] };
    expect(answerIndividual(model, mixture, null, { ...turned, at: AT })).toEqual(answer({}));
  });

  it("of two individuals gives a difference that holds zero for one and the same history", () => {
    const question = { ...visitsOf(often), at: [5] };
    const [same] = answerDifference(model, mixture, question, question);
    expect(same.lower).toBeLessThan(0);
    expect(same.upper).toBeGreaterThan(0);
  });
});
