import { describe, expect, it } from "vitest";
import { columnsOf, movedState, problemOf, quick, stateAfter, timeless } from "../../../../../test/dtm-problem.ts";
import { relativeError } from "../../../../../test/expect-gradient.ts";
import { levelNoise, noiseSpread } from "../../noise/noise.ts";
import { dot } from "../../numeric/matrix.ts";
import { wasmPasses } from "../../wasm/expectation.ts";
import { markerModel } from "../fit.ts";
import { individualModel } from "./engine.ts";
import { expectationPass } from "./expectation-step.ts";
import { individualStatistics, residualRoot } from "./individual-statistics.ts";
import { levelStatistics, levelSums, startingSquares } from "./level-statistics.ts";
import { expectBound, keepSquares } from "./passes.ts";
import { fitDtmFrom, resumeDtm, startDtm } from "./run.ts";
import { slopeAt, slopeLearning } from "./slope.ts";
import { addStartingSums, startingPlaces, startingWeights } from "./starting-places.ts";

const problem = problemOf(columnsOf(80, 3, 0.9), 2, "scalar", "level");
const { statistics, start } = problem;
const d = statistics.basis.numBasis;

describe("statistics of individuals with noise levels", () => {
  it("are those of white noise where levels hardly differ", () => {
    const { mean, covariance } = start.markers[0];
    const model = { mean: mean.coefficients, residualRoot: residualRoot(covariance, d) };
    const noise = { kind: "level", variance: 7, spread: 1e-9 } as const;
    const squares = new Float64Array(statistics.numIndividuals * (1 + d));
    startingSquares(statistics, { ...model, noise }, squares);
    for (let i = 0; i < 20; i++) {
      const own = levelStatistics(statistics, i, { ...model, noise }, squares.subarray(i * (1 + d), (i + 1) * (1 + d)));
      const white = individualStatistics(statistics, i, { ...model, noise: levelNoise(7, 0) });
      expect(relativeError(own.row, white.row)).toBeLessThan(1e-7);
      expect(own.constant).toBeCloseTo(white.constant, 6);
    }
  });
});

describe("the bound with noise levels", () => {
  it.each([{}, { residual: "none" }, { priors: "weak" }] as const)(
    "has the slope that differences give where places and levels agree: %j",
    (options) => {
      const { engine, state } = stateAfter(5, problem, options);
      const passAt = (at: typeof state) => {
        engine.nodeSums.fill(0);
        return expectBound(engine, at, engine.nodeSums, slopeLearning(engine, at));
      };
      for (let k = 0; k < 60; k++) {
        passAt(state);
        keepSquares(engine, state, null);
      }
      passAt(state);
      const { gradient } = slopeAt(engine.markers[0], state.markers[0]);
      const boundAt = (k: number, by: number) => passAt(movedState(engine, state, k, by));
      const n = state.markers[0].inducingMean.length;
      const h = 1e-4;
      const scale = Math.sqrt(dot(gradient, gradient) / gradient.length);
      for (const k of [0, 11, ...Array.from({ length: gradient.length - n }, (_, e) => n + e)]) {
        if (gradient[k] === 0) continue;
        const difference = (boundAt(k, h) - boundAt(k, -h)) / (2 * h);
        expect(Math.abs(gradient[k] - difference)).toBeLessThan(3e-4 * (scale + Math.abs(difference)));
      }
    },
  );

  it("never falls, ends settled, and learns the spread", () => {
    const model = fitDtmFrom([statistics], start, quick);
    const { trace, converged, warnings } = model.record;
    for (let k = 1; k < trace.length; k++)
      expect(trace[k]).toBeGreaterThanOrEqual(trace[k - 1] - 1e-8 * Math.abs(trace[k]));
    expect(converged).toBe(true);
    expect(warnings.join()).not.toMatch(/fell/);
    expect(noiseSpread(markerModel(model).noise)).toBeGreaterThan(0.4);
    expect(noiseSpread(markerModel(model).noise)).toBeLessThan(1.3);
  });

  it.each([{ ...quick }, { ...quick, schedule: "svi", maxIterations: 8, batchSize: 20 }] as const)(
    "is the same bit for bit after a snapshot: %j",
    (options) => {
      const whole = startDtm([statistics], start, options);
      const snapshots = [whole.snapshot()];
      while (!whole.step().done) snapshots.push(whole.snapshot());
      const expected = timeless(whole.finish());
      for (const at of [1, Math.floor(snapshots.length / 2), snapshots.length - 1]) {
        const resumed = resumeDtm([statistics], structuredClone(snapshots[at]));
        while (!resumed.step().done);
        expect(timeless(resumed.finish())).toEqual(expected);
      }
    },
  );

  it("is nearly reached by minibatches", () => {
    const batch = fitDtmFrom([statistics], start, quick);
    const svi = fitDtmFrom([statistics], start, { ...quick, schedule: "svi", batchSize: 40 });
    expect(Math.abs(svi.bound - batch.bound)).toBeLessThan(0.01 * Math.abs(batch.bound));
    const [a, b] = [svi, batch].map((model) => markerModel(model).noise);
    expect(Math.abs(noiseSpread(a) - noiseSpread(b))).toBeLessThan(0.2);
  });

  it("has a mean that minibatches move towards that of a batch", () => {
    const [marker] = start.markers;
    const coefficients = marker.mean.coefficients.map((v) => v + 9);
    const moved = { ...start, markers: [{ ...marker, mean: { ...marker.mean, coefficients } }] };
    const [batch, svi] = (["batch", "svi"] as const).map((schedule) => {
      const model = fitDtmFrom([statistics], moved, { ...quick, schedule, batchSize: 40 });
      return markerModel(model).mean.coefficients[0] - coefficients[0];
    });
    expect(Math.abs(svi)).toBeGreaterThan(0.1);
    expect(Math.sign(svi)).toBe(Math.sign(batch));
  });

  it("is refused for a free residual covariance", () => {
    expect(() => startDtm([statistics], start, { ...quick, residual: "full" })).toThrow(/residual/);
  });
});

describe("the passes with noise levels in WebAssembly", () => {
  const { engine, state } = stateAfter(4, problem, { kernels: "typescript" });
  const numNodes = engine.nodes.numNodes;
  const [marker] = engine.markers;
  const stride = marker.table.length / numNodes;
  const { logWeights } = engine.nodes;
  const table = { numNodes, stride, rows: marker.table, logWeights };
  const kernels = wasmPasses([d], numNodes, stride);
  const both = [true, false].map((residual) => ({
    ...individualModel(marker, state.markers[0]),
    ...(residual ? {} : { residualRoot: null }),
  }));

  const definitions = {
    expect: expectationPass as never,
    levels: levelSums as never,
    squares: startingSquares as never,
  };

  it.each(both)("equal the definitions", (model) => {
    const run = (passes: Pick<typeof kernels, "expect" | "levels" | "squares">) => {
      const before = state.markers[0].squares!;
      const directions = new Float64Array(statistics.numIndividuals * d);
      const squares = { before, after: new Float64Array(before.length), directions };
      const nodeSums = new Float64Array(stride * numNodes);
      const moments = new Float64Array(statistics.numIndividuals * stride);
      const contributions = new Float64Array(statistics.numIndividuals);
      const outputs = { nodeSums, moments: [moments], contributions, squares: [squares] };
      const total = passes.expect([statistics], [model], table, outputs);
      const sums = passes.levels(statistics, model, squares, 1.3);
      const first = new Float64Array(before.length);
      passes.squares(statistics, model, first);
      return { total, nodeSums, moments, contributions, after: squares.after, directions, first, sums };
    };
    const [found, expected] = [run(kernels), run(definitions)];
    expect(Math.abs(found.total / expected.total - 1)).toBeLessThan(1e-12);
    for (const name of ["nodeSums", "moments", "contributions", "after", "directions", "first"] as const) {
      expect(relativeError(found[name], expected[name]), name).toBeLessThan(1e-9);
    }
    for (const name of ["value", "logVariance", "logTau", "logSpread"] as const) {
      expect(Math.abs(found.sums[name] - expected.sums[name])).toBeLessThan(1e-9 * (1 + Math.abs(expected.sums[name])));
    }
  });

  it("start from the same node sums", () => {
    const [model] = both;
    const weights = startingWeights(engine.nodes, startingPlaces(start, 0, 2, 1));
    const before = state.markers[0].squares!;
    const squares = { before, after: before, directions: new Float64Array(0) };
    const [a, b] = [new Float64Array(stride * numNodes), new Float64Array(stride * numNodes)];
    kernels.start([statistics], [model], weights, a, [squares]);
    addStartingSums([statistics], [model], weights, b, [squares]);
    expect(relativeError(a, b)).toBeLessThan(1e-9);
  });
});
