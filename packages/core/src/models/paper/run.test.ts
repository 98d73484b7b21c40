import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../../test/expect-gradient.ts";
import { type DtmPaperFit, fitDtmPaperStatistics, locationsOf } from "../../../../../test/paper-fit.ts";
import { bendingCohort, cohortStatistics, crudeStart } from "../../../../../test/paper-problem.ts";
import { makeCohort, onlyMarker } from "../../cohort/cohort.ts";
import { DtmError } from "../../errors.ts";
import type { Noise } from "../../noise/noise.ts";
import type { FitProgress } from "../fit.ts";
import { markerModel } from "../fit.ts";
import type { DtmPaperOptions } from "./options.ts";
import { paperSettings } from "./options.ts";
import { resumeDtmPaper, startDtmPaper } from "./run.ts";

const statistics = cohortStatistics(bendingCohort(40, 1));
const start = crudeStart(statistics, 2);
const SMALL = { inducing: { placement: "grid", perDimension: 3, halfWidth: 1.5 } } as const;

/** All of a fit that must not depend on the clock. */
function content(fit: DtmPaperFit) {
  const { milliseconds, ...record } = fit.model.record;
  expect(Object.keys(milliseconds).sort()).toEqual(["map", "places"]);
  return { ...fit, model: { ...fit.model, record } };
}

const SCHEDULES: readonly DtmPaperOptions[] = [
  { schedule: "batch", maxIterations: 15 },
  { schedule: "batch", maxIterations: 15, learn: true, lengthscalePerDimension: true },
  { schedule: "svi", epochs: 3, batchSize: 13 },
  { schedule: "svi", epochs: 3, batchSize: 13, learn: true },
  { schedule: "paper", epochs: 3 },
  { schedule: "coordinate", maxIterations: 6 },
];

describe("a fit of the published model", () => {
  it("gives the same bits for the same seed, by every schedule", () => {
    for (const options of SCHEDULES) {
      const fit = () => content(fitDtmPaperStatistics(statistics, start, { ...SMALL, ...options, seed: 5 }));
      expect(fit()).toEqual(fit());
    }
  });

  it("finds the same map with either kind of kernels and says which, by every schedule", () => {
    for (const options of SCHEDULES) {
      const fit = (kernels: "wasm" | "typescript") =>
        fitDtmPaperStatistics(statistics, start, { ...SMALL, ...options, kernels }).model;
      const a = fit("typescript");
      const b = fit("wasm");
      expect([a.record.kernels, b.record.kernels]).toEqual(["typescript", "wasm-simd"]);
      // Local steps end within their tolerance, which rounding decides.
      expect(Math.abs(b.elbo.total - a.elbo.total)).toBeLessThan(1e-5 * Math.abs(a.elbo.total));
    }
  });

  it("depends on the seed only where it is random", () => {
    const bound = (options: DtmPaperOptions) =>
      fitDtmPaperStatistics(statistics, start, { ...SMALL, ...options }).model.elbo.total;
    expect(bound({ schedule: "svi", epochs: 2, seed: 1 })).not.toBe(bound({ schedule: "svi", epochs: 2, seed: 2 }));
    expect(bound({ maxIterations: 5, seed: 1 })).toBe(bound({ maxIterations: 5, seed: 2 }));
  });

  it("resumes from a cloned snapshot at any step bit for bit, by every schedule", () => {
    for (const options of SCHEDULES) {
      const whole = content(fitDtmPaperStatistics(statistics, start, { ...SMALL, ...options }));
      for (const stop of [0, 2, 5]) {
        const first = startDtmPaper(statistics, start, { ...SMALL, ...options });
        for (let k = 0; k < stop; k++) first.step();
        const second = resumeDtmPaper(statistics, structuredClone(first.snapshot()));
        // The first run going on must not disturb the second.
        first.step();
        while (!second.step().done);
        expect(content({ model: second.finish(), locations: locationsOf(second.snapshot()) })).toEqual(whole);
      }
    }
  });

  it("does not depend on the order of rows", () => {
    const cohort = bendingCohort(40, 2);
    const ids = cohort.ids.flatMap((id, i) =>
      Array<string>(onlyMarker(cohort).offsets[i + 1] - onlyMarker(cohort).offsets[i]).fill(id),
    );
    const reversed = makeCohort({
      ids: [...ids].reverse(),
      times: Array.from(onlyMarker(cohort).times).reverse(),
      values: Array.from(onlyMarker(cohort).values).reverse(),
    });
    const fit = (c: typeof cohort) => {
      const s = cohortStatistics(c);
      return content(fitDtmPaperStatistics(s, crudeStart(s, 2), { ...SMALL, schedule: "svi", epochs: 2 }));
    };
    expect(fit(reversed)).toEqual(fit(cohort));
  });

  it("never lowers the bound by coordinate ascent, nor by the last pass of any deterministic schedule", () => {
    for (const schedule of ["coordinate", "batch"] as const) {
      for (const diagonalLocations of [false, true]) {
        const { model } = fitDtmPaperStatistics(statistics, start, {
          ...SMALL,
          schedule,
          diagonalLocations,
          maxIterations: 25,
        });
        const { trace } = model.record;
        for (let k = 1; k < trace.length; k++) {
          expect(trace[k]).toBeGreaterThanOrEqual(trace[k - 1] - 1e-8 * Math.abs(trace[k]));
        }
        expect(model.elbo.total).toBe(trace[trace.length - 1]);
      }
    }
  });

  it("ends near the same bound by every schedule with fixed hyperparameters", () => {
    const bound = (options: DtmPaperOptions) =>
      fitDtmPaperStatistics(statistics, start, { ...SMALL, ...options }).model.elbo.total;
    const batch = bound({ schedule: "batch" });
    expect(bound({ schedule: "coordinate" })).toBeGreaterThan(batch - 0.01 * Math.abs(batch));
    expect(bound({ schedule: "svi", epochs: 20, batchSize: 5 })).toBeGreaterThan(batch - 0.01 * Math.abs(batch));
    const paper = bound({ schedule: "paper" });
    expect(paper).toBeGreaterThan(batch - 0.1 * Math.abs(batch));
    expect(paper).toBeLessThan(batch + 1e-3 * Math.abs(batch));
  });

  it("raises the bound by learning, and more so with one length-scale per dimension", () => {
    const bound = (options: DtmPaperOptions) =>
      fitDtmPaperStatistics(statistics, start, { ...SMALL, ...options }).model.elbo.total;
    const fixed = bound({});
    const learned = bound({ learn: true });
    expect(learned).toBeGreaterThan(fixed + 1);
    expect(bound({ learn: true, lengthscalePerDimension: true })).toBeGreaterThan(learned - 0.1);
    expect(bound({ schedule: "svi", learn: true, epochs: 20, batchSize: 6 })).toBeGreaterThan(
      learned - 0.02 * Math.abs(learned),
    );
  });

  it("keeps learned hyperparameters near a strong prior", () => {
    const { model } = fitDtmPaperStatistics(statistics, start, {
      ...SMALL,
      learn: true,
      priors: { logLengthscale: { mean: Math.log(1.5), precision: 1e7 } },
    });
    const { kernel } = markerModel(model).map;
    expect(kernel.kind === "rbf" && kernel.lengthscales[0]).toBeCloseTo(1.5, 2);
    expect(model.learned).toBe(true);
  });

  it("has the isotropic numbers when length-scales per dimension are equal", () => {
    const one = fitDtmPaperStatistics(statistics, start, { ...SMALL, lengthscale: 1.3, maxIterations: 10 });
    const two = fitDtmPaperStatistics(statistics, start, { ...SMALL, lengthscale: [1.3, 1.3], maxIterations: 10 });
    expect(markerModel(two.model).map).toEqual(markerModel(one.model).map);
    expect(two.locations).toEqual(one.locations);
  });

  it("is the same on a grid of inducing points and on places that only nearly are one", () => {
    const options = { schedule: "coordinate", maxIterations: 3 } as const;
    const locations = [-1.5, 0, 1.5].flatMap((a) => [-1.5, 0, 1.5].map((b) => [a + (b === 0 ? 1e-9 : 0), b]));
    const grid = fitDtmPaperStatistics(statistics, start, { ...SMALL, ...options });
    const general = fitDtmPaperStatistics(statistics, start, {
      ...options,
      inducing: { placement: "given", locations },
    });
    expect(relativeError(general.locations.mean, grid.locations.mean)).toBeLessThan(1e-5);
    expect(general.model.elbo.total).toBeCloseTo(grid.model.elbo.total, 6);
  });

  it("follows a change of unit: places stay, variances scale", () => {
    const cohort = bendingCohort(40, 2);
    const ids = cohort.ids.flatMap((id, i) =>
      Array<string>(onlyMarker(cohort).offsets[i + 1] - onlyMarker(cohort).offsets[i]).fill(id),
    );
    const scaled = makeCohort({
      ids,
      times: onlyMarker(cohort).times,
      values: onlyMarker(cohort).values.map((y) => 1e6 * y - 3e7),
    });
    const fit = (c: typeof cohort) => {
      const s = cohortStatistics(c);
      const crude = crudeStart(s, 2);
      // The crude start's places are not free of the unit; take those of the original cohort.
      const places = crudeStart(cohortStatistics(cohort), 2);
      const { scores, locationMean, locationCovariance } = places;
      const from = { ...crude, scores, locationMean, locationCovariance };
      return fitDtmPaperStatistics(s, from, { ...SMALL, schedule: "coordinate", maxIterations: 5 });
    };
    const [a, b] = [fit(cohort), fit(scaled)];
    expect(relativeError(b.locations.mean, a.locations.mean)).toBeLessThan(1e-5);
    expect(markerModel(b.model).noise.variance / markerModel(a.model).noise.variance).toBeCloseTo(1e12, -3);
    const shift = onlyMarker(cohort).times.length * Math.log(1e6);
    expect(b.model.elbo.total + shift).toBeCloseTo(a.model.elbo.total, 4);
  });

  it("works for one and three dimensions, k-means and given inducing points, the linear kernel and a spline mean", () => {
    const fit = (q: 1 | 2 | 3, options: DtmPaperOptions, kind: "scalar" | "spline" = "scalar") => {
      const own = crudeStart(statistics, q);
      const [marker] = own.markers;
      const from = { ...own, markers: [{ ...marker, mean: { ...marker.mean, kind } }] };
      return fitDtmPaperStatistics(statistics, from, { mapDimension: q, maxIterations: 8, ...options }).model;
    };
    expect(markerModel(fit(1, {})).map.numInducing).toBe(9);
    expect(markerModel(fit(2, {})).map.numInducing).toBe(25);
    expect(markerModel(fit(3, { maxIterations: 2 })).map.numInducing).toBe(64);
    expect(markerModel(fit(2, { inducing: { placement: "kmeans", count: 7 } })).map.numInducing).toBe(7);
    const given = {
      placement: "given",
      locations: [
        [0, 1],
        [1, 0],
        [-1, -1],
      ],
    } as const;
    expect(Array.from(markerModel(fit(2, { inducing: given })).map.inducingLocations)).toEqual(given.locations.flat());
    const linear = fit(2, { kernel: "linear", learn: true });
    expect(markerModel(linear).map.kernel.kind).toBe("linear");
    expect(linear.record.trace[8]).toBeGreaterThan(linear.record.trace[0]);
    const spline = fit(2, { learn: true }, "spline");
    expect(markerModel(spline).mean.kind).toBe("spline");
    expect(Array.from(markerModel(spline).mean.coefficients)).toEqual(Array.from(start.markers[0].mean.coefficients));
  });

  it("does the published recipe: scores with sd 0.1, diagonal covariances, minibatches of 25, five epochs", () => {
    const { model, locations } = fitDtmPaperStatistics(statistics, start, { schedule: "paper" });
    const { options, trace } = model.record;
    expect(options).toMatchObject({ batchSize: 25, epochs: 5, stepSize: 0.1, startPlaces: "scores", startSd: 0.1 });
    expect(model.diagonalLocations).toBe(true);
    // Start, five epochs, last pass.
    expect(trace).toHaveLength(7);
    for (let i = 0; i < statistics.numIndividuals; i++) expect(locations.covariance[i * 4 + 1]).toBe(0);
    expect(() => fitDtmPaperStatistics(statistics, start, { schedule: "paper", learn: true })).toThrow(/fixed/);
  });

  it("tells in words how it ended, reports progress and obeys the signal", () => {
    const seen: FitProgress[] = [];
    const { model } = fitDtmPaperStatistics(statistics, start, {
      ...SMALL,
      maxIterations: 3,
      onProgress: (p) => seen.push(p),
    });
    expect(model.record.verdict).toMatch(/limit of 3 iterations/);
    expect(model.record.converged).toBe(false);
    expect(seen.map((p) => p.stage)).toEqual(["map", "map", "places", "places"]);
    const signal = { aborted: false };
    const run = startDtmPaper(statistics, start, { ...SMALL, signal });
    run.step();
    signal.aborted = true;
    expect(() => run.step()).toThrow(DtmError);
    const early = startDtmPaper(statistics, start, SMALL);
    early.step();
    expect(early.finish().record.verdict).toBe("Stopped by the caller after 1 iterations.");
    const long = fitDtmPaperStatistics(statistics, start, { ...SMALL, maxIterations: 500, tolerance: 1e-6 });
    expect(long.model.record.converged).toBe(true);
    expect(long.model.record.verdict).toMatch(/^Converged/);
  });

  it("refuses options out of range and statistics that are not its own, in words", () => {
    const refuse = (options: object, words: RegExp) =>
      expect(() => startDtmPaper(statistics, start, options)).toThrow(words);
    refuse({ mapDimension: 4 }, /mapDimension/);
    refuse({ schedule: "fast" }, /schedule among/);
    refuse({ lengthscale: [1, 2, 3] }, /one per dimension/);
    refuse({ lengthscale: -1 }, /lengthscale above 0/);
    refuse({ stepSize: 2 }, /stepSize/);
    refuse({ batchSize: 2.5 }, /whole number/);
    refuse({ schedule: "coordinate", learn: true }, /fixed hyperparameters/);
    refuse({ priors: { logLengthscale: { mean: 0, precision: -1 } } }, /precision/);
    refuse({ inducing: { placement: "given", locations: [[1]] } }, /rows of 2/);
    refuse({ mapDimension: 1 }, /places of 40 individuals in 1/);
    const correlated = { ...statistics, noise: { kind: "serial", variance: 1 } as unknown as Noise };
    expect(() => startDtmPaper(correlated, start, SMALL)).toThrow(/statistics of white noise, received "serial"/);
    const snapshot = startDtmPaper(statistics, start, SMALL).snapshot();
    const others = cohortStatistics(bendingCohort(61, 1));
    expect(() => resumeDtmPaper(others, snapshot)).toThrow(/the data the snapshot was taken from/);
  });
});

describe("paperSettings", () => {
  it("chooses minibatches above 50,000 individuals unless only whole passes can learn what is asked for", () => {
    expect(paperSettings({}, 50_000).schedule).toBe("batch");
    expect(paperSettings({}, 50_001)).toMatchObject({ schedule: "svi", batchSize: 1000 });
  });
});
