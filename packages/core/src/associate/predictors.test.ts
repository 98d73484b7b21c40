import { describe, expect, it } from "vitest";
import { type Cohort, makeCohort } from "../cohort/cohort.ts";
import type { Places } from "../models/placement.ts";
import { createRandom } from "../numeric/random.ts";
import type { CoxRows } from "../survival/partial-likelihood.ts";
import { comparePredictors, heldOut } from "./predictors.ts";
import { fitShrunk, linearPredictor } from "./shrunk-regression.ts";

interface Drawn {
  readonly cohort: Cohort;
  readonly places: Places;
  readonly events: Float64Array;
  readonly times: Float64Array;
}

/**
 * One visit of n individuals; its value goes with the outcome, and so, by `slope`, does the second axis of the place. The
 * first axis repeats most of the value.
 */
function draw(n: number, seed: number, slope: number): Drawn {
  const random = createRandom(seed);
  const ids = Array.from({ length: n }, (_, i) => String(i).padStart(5, "0"));
  const values = Float64Array.from(ids, () => random.normal());
  const location = Float64Array.from({ length: 2 * n }, (_, k) =>
    k % 2 === 0 ? 0.8 * values[k / 2] + 0.6 * random.normal() : random.normal(),
  );
  const times = Float64Array.from(ids, () => random.uniform());
  const risk = values.map((v, i) => v + slope * location[2 * i + 1]);
  return {
    cohort: makeCohort({ ids, times, values }),
    places: {
      ids,
      mapDimension: 2,
      numObservations: Int32Array.from(ids, () => 1 + random.poisson(3)),
      location,
      covariance: new Float64Array(4 * n),
      logLikelihood: new Float64Array(n),
      firstTime: times,
      lastTime: times.map((t) => t + 3 * random.uniform()),
    },
    events: risk.map((r) => (random.uniform() < 1 / (1 + Math.exp(-r)) ? 1 : 0)),
    times: risk.map((r) => -Math.log(1 - random.uniform()) * Math.exp(-r)),
  };
}

const byName = ({ rows }: ReturnType<typeof comparePredictors>) =>
  Object.fromEntries(rows.map(({ predictors, value }) => [predictors, value]));

describe("comparePredictors", () => {
  it("gives 1 to a value that separates, ½ to visits that are all alike, and nothing to add", () => {
    const { cohort, places } = draw(120, 1, 0);
    const { values } = cohort.markers[0];
    const alike = new Float64Array(120).fill(1);
    const same = { ...places, numObservations: new Int32Array(120).fill(2), firstTime: alike, lastTime: alike };
    const found = comparePredictors(cohort, same, { events: values.map((v) => (v < 0 ? 1 : 0)) });
    expect(byName(found)).toMatchObject({ "last value": 1, "visits only": 0.5, "last value and visits": 1 });
    expect(found.rows[1].numPredictors).toBe(0);
    expect(found.added.value).toBeLessThanOrEqual(0);
    expect(found.verdict).toMatch(/^The place adds nothing to|no gain shown\.$/);
  });

  it("compares pairs within folds by a fit to the others: C, AUC and their errors by brute force", () => {
    const { places, events, times } = draw(90, 4, 1);
    const order = Array.from(places.ids.keys()).sort((i, j) => times[j] - times[i]);
    const folds = Int32Array.from(order, (_, k) => (7 * k) % 10);
    const pick = (x: Float64Array) => Float64Array.from(order, (i) => x[i]);
    for (const regression of ["cox", "logistic"] as const) {
      const rows: CoxRows = {
        n: 90,
        p: 2,
        times: regression === "cox" ? pick(times) : new Float64Array(90).fill(1),
        events: pick(events),
        X: Float64Array.from(order.flatMap((i) => [places.location[2 * i], places.location[2 * i + 1]])),
      };
      const slow = slowConcordance(rows, folds, regression);
      const { value, influence, pairs } = heldOut(rows, ["place", "place"], folds, regression);
      expect(value).toBeCloseTo(slow.value, 12);
      expect(pairs).toBe(slow.pairs);
      influence.forEach((v, i) => {
        expect(v).toBeCloseTo(slow.influence[i], 12);
      });
    }
  });

  it("finds what a place adds, for outcomes and for times", () => {
    const { cohort, places, events, times } = draw(600, 2, 1);
    const auc = comparePredictors(cohort, places, { events });
    expect(auc.measure).toBe("AUC");
    expect(auc.added.lower).toBeGreaterThan(0.03);
    expect(auc.verdict).toMatch(/^The place adds 0\.\d{3} \(95% CI 0\.\d{3} to 0\.\d{3}\) to last value and visits\.$/);
    const c = comparePredictors(cohort, places, { events: new Float64Array(600).fill(1), times });
    expect(c.measure).toBe("C");
    expect(c.added.lower).toBeGreaterThan(0.03);
    for (const { value, lower, upper } of [...auc.rows, ...c.rows]) expect(lower <= value && value <= upper).toBe(true);
  });

  it("says that the place is not used where it was shrunk out of every fold, and not where it tells something", () => {
    const told = (slope: number) =>
      Array.from({ length: 12 }, (_, k) => {
        const { cohort, places, events } = draw(300, 50 + k, slope);
        return comparePredictors(cohort, places, { events });
      });
    const unused = told(0).filter(({ placeUsed }) => !placeUsed);
    expect(unused.length).toBeGreaterThan(0);
    for (const { added, verdict } of unused) {
      expect(Math.abs(added.value)).toBeLessThan(0.005);
      expect(verdict).toBe("The place adds nothing to last value and visits: held out, it was left out every time.");
    }
    expect(told(1.5).every(({ placeUsed }) => placeUsed)).toBe(true);
  });

  it("adds nothing on average, and says so, where the place says no more than the value", () => {
    const added = Array.from({ length: 40 }, (_, k) => {
      const { cohort, places, events } = draw(150, 100 + k, 0);
      return comparePredictors(cohort, places, { events }, k).added;
    });
    // Standard error of the mean of 40: about 0.001.
    expect(Math.abs(added.reduce((s, { value }) => s + value / 40, 0))).toBeLessThan(0.005);
    expect(added.filter(({ lower, upper }) => lower <= 0 && upper >= 0).length).toBeGreaterThanOrEqual(36);
    expect(added.filter(({ lower }) => lower > 0).length).toBeLessThanOrEqual(2);
  });

  it("has mean ½ for predictors that say nothing; what is worse than chance counts as chance", () => {
    const random = createRandom(3);
    const values = Array.from({ length: 60 }, (_, k) => {
      const { cohort, places } = draw(100, 200 + k, 0);
      const events = Float64Array.from({ length: 100 }, () => (random.uniform() < 0.5 ? 1 : 0));
      const { rows, added } = comparePredictors(cohort, places, { events });
      const [base, full] = rows.slice(-2);
      if (Number.isFinite(full.value)) expect(added.value).toBe(full.value - Math.max(base.value, 0.5));
      return rows[0].value;
    });
    // Standard error of the mean of 60: about 0.01.
    expect(Math.abs(values.reduce((s, v) => s + v / 60, 0) - 0.5)).toBeLessThan(0.04);
  });

  it("says too few cases instead of a number: five to a predictor, ten at least", () => {
    const { cohort, places } = draw(200, 6, 0);
    const withCases = (n: number) =>
      comparePredictors(cohort, places, { events: places.firstTime.map((_, i) => (i < n ? 1 : 0)) });
    const known = (n: number) => withCases(n).rows.map(({ value }) => Number.isFinite(value));
    expect(known(9)).toEqual([false, false, false, false, false]);
    expect(known(10)).toEqual([true, false, false, false, false]);
    expect(known(44)).toEqual([true, true, true, true, false]);
    expect(known(45)).toEqual([true, true, true, true, true]);
    expect(withCases(44).verdict).toMatch(/^Too few cases/);
    expect(withCases(44).added.value).toBeNaN();
  });

  it("leaves unknown responses out and does not depend on the order of individuals, bit for bit", () => {
    const { cohort, places, events, times } = draw(140, 8, 0.5);
    events[3] = Number.NaN;
    const back = <T extends Float64Array | Int32Array>(x: T) => x.slice().reverse() as T;
    const pairsBack = Float64Array.from(
      places.ids.flatMap((_, i) => [...places.location.slice(2 * (139 - i), 2 * (140 - i))]),
    );
    const series = cohort.markers[0];
    const turned = comparePredictors(
      { ...cohort, markers: [{ ...series, values: back(series.values) }] },
      {
        ...places,
        location: pairsBack,
        numObservations: back(places.numObservations),
        firstTime: back(places.firstTime),
        lastTime: back(places.lastTime),
      },
      { events: back(events), times: back(times) },
    );
    expect(turned).toEqual(comparePredictors(cohort, places, { events, times }));
  });
});

/** Every pair of a fold in turn; the influence of i by its definition. */
function slowConcordance(rows: CoxRows, folds: Int32Array, regression: "cox" | "logistic") {
  const { n, p, X, times, events } = rows;
  const risk = new Float64Array(n);
  for (let f = 0; f < 10; f++) {
    const others = Array.from({ length: n }, (_, i) => i).filter((i) => folds[i] !== f);
    const train = {
      n: others.length,
      p,
      X: Float64Array.from(others.flatMap((i) => [...X.slice(i * p, (i + 1) * p)])),
      times: Float64Array.from(others, (i) => times[i]),
      events: Float64Array.from(others, (i) => events[i]),
    };
    const all = linearPredictor(rows, fitShrunk(train, ["place", "place"], regression));
    for (let i = 0; i < n; i++) if (folds[i] === f) risk[i] = all[i];
  }
  const wins: number[][] = [];
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < n; j++) {
      const earlier = events[i] === 1 && (times[i] < times[j] || (times[i] === times[j] && events[j] === 0));
      if (folds[i] === folds[j] && earlier) wins.push([i, j, risk[i] > risk[j] ? 1 : risk[i] === risk[j] ? 0.5 : 0]);
    }
  }
  const pairs = wins.length;
  const value = wins.reduce((s, [, , w]) => s + w, 0) / pairs;
  const influence = Array.from({ length: n }, (_, k) =>
    wins.filter(([i, j]) => i === k || j === k).reduce((s, [, , w]) => s + (w - value) / pairs, 0),
  );
  return { value, pairs, influence };
}
