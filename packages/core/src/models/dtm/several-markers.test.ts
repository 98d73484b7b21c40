import { describe, expect, it } from "vitest";
import { columnsOf, expectSameBits, movedState, problemOf, quick } from "../../../../../test/dtm-problem.ts";
import { relativeError } from "../../../../../test/expect-gradient.ts";
import { type CohortStatistics, mapColumns } from "../../basis/statistics.ts";
import { dot, joinFloats } from "../../numeric/matrix.ts";
import { createRandom } from "../../numeric/random.ts";
import { wasmPasses } from "../../wasm/expectation.ts";
import type { MapStart } from "../map-start.ts";
import { batchIteration, startBatch } from "./batch.ts";
import { createEngine, individualModel, startAnchors } from "./engine.ts";
import { expectationPass } from "./expectation-step.ts";
import { individualStatistics } from "./individual-statistics.ts";
import { packParameters } from "./parameters.ts";
import { expectBound, keepSquares, placeMeans } from "./passes.ts";
import { fitDtmFrom, startDtm } from "./run.ts";
import { type DtmOptions, dtmSettings } from "./settings.ts";
import { slopeLearning, slopesAt } from "./slope.ts";
import { nodePowers, startingPlaces } from "./starting-places.ts";
import { firstState } from "./state.ts";

/** Two markers of the same people, the second measured in two of three. */
function problemOfTwo(noise: "white" | "level" = "white") {
  const [a, b] = [
    problemOf(columnsOf(60, 3, 0.9), 2, "scalar", noise),
    problemOf(columnsOf(60, 8, 0.4), 2, "scalar", noise),
  ];
  const some = mapColumns(
    b.statistics,
    (values, width) => values.map((v, e) => (Math.floor(e / width) % 3 === 0 ? 0 : v)) as typeof values,
  );
  const numObservations = some.counts.reduce((sum, n) => sum + n, 0);
  const statistics: CohortStatistics = [a.statistics, { ...some, numObservations }];
  const start: MapStart = { ...a.start, markers: [a.start.markers[0], b.start.markers[0]] };
  return { statistics, start };
}

function stateOfTwo({ statistics, start }: ReturnType<typeof problemOfTwo>, options: DtmOptions, iterations: number) {
  const settings = dtmSettings({ ...quick, ...options }, start, statistics[0].numIndividuals);
  const engine = createEngine(statistics, startAnchors(start), settings);
  const state = firstState(start, settings);
  startBatch(engine, state, startingPlaces(start, 0, 2, 1));
  while (state.iteration < iterations) batchIteration(engine, state);
  return { engine, state };
}

describe("a map of two markers", () => {
  it.each(["white", "level"] as const)("never lets the bound fall and settles: %s noise", (noise) => {
    const { statistics, start } = problemOfTwo(noise);
    const { record, bound, markers } = fitDtmFrom(statistics, start, quick);
    for (let k = 1; k < record.trace.length; k++)
      expect(record.trace[k]).toBeGreaterThanOrEqual(record.trace[k - 1] - 1e-8 * Math.abs(bound));
    expect(record.converged).toBe(true);
    expect(markers).toHaveLength(2);
    expect(record.numObservations).toBe(statistics[0].numObservations + statistics[1].numObservations);
  });

  it("is the map of one marker where the other was measured in nobody", () => {
    const { statistics, start } = problemOfTwo();
    const nobody = mapColumns(statistics[1], (column) => column.map(() => 0) as typeof column);
    const single = { ...start, markers: start.markers.slice(0, 1) };
    const options = { ...quick, learn: false };
    const one = startDtm(statistics.slice(0, 1), single, options);
    const two = startDtm([statistics[0], nobody], start, options);
    for (let k = 0; k < 5; k++) for (const run of [one, two]) run.step();
    expect(relativeError(two.places(), one.places())).toBeLessThan(1e-10);
  });

  it("does not depend on the order of the markers but for rounding", () => {
    const { statistics, start } = problemOfTwo();
    const turned = { ...start, markers: [start.markers[1], start.markers[0]] };
    const a = fitDtmFrom(statistics, start, quick);
    const b = fitDtmFrom([statistics[1], statistics[0]], turned, quick);
    expect(Math.abs(a.bound - b.bound)).toBeLessThan(1e-3);
    expect(b.markers[1].noise.variance).toBeCloseTo(a.markers[0].noise.variance, 2);
  });

  it("has the slope that differences of the bound give", () => {
    const { engine, state } = stateOfTwo(problemOfTwo(), {}, 5);
    expectBound(engine, state, null, slopeLearning(engine, state));
    const gradient = joinFloats(slopesAt(engine, state).map((slope) => slope.gradient));
    const n = packParameters(engine, state).length;
    expect(gradient).toHaveLength(n);
    const scale = Math.sqrt(dot(gradient, gradient) / n);
    const h = 1e-4;
    for (const k of [0, 11, n / 2 - 4, n / 2 - 2, n / 2, n / 2 + 7, n - 5, n - 4, n - 3, n - 2, n - 1]) {
      if (gradient[k] === 0) continue;
      const at = (by: number) => expectBound(engine, movedState(engine, state, k, by), null, null);
      const difference = (at(h) - at(-h)) / (2 * h);
      expect(Math.abs(gradient[k] - difference)).toBeLessThan(2e-4 * (scale + Math.abs(difference)));
    }
  });

  it.each([{ ...quick }, { ...quick, schedule: "svi", maxIterations: 6, batchSize: 20 }] as const)(
    "is the same bit for bit after a snapshot and in shards: %j",
    (options) => {
      const { statistics, start } = problemOfTwo("level");
      expectSameBits(statistics, start, options);
    },
  );
});

describe("a pass over two markers", () => {
  it("adds what the markers say of each node, with a prior of places of each individual's own", () => {
    const { engine, state } = stateOfTwo(problemOfTwo(), {}, 3);
    const { nodes } = engine;
    const { numNodes: n, logWeights } = nodes;
    const statistics = engine.markers.map((marker) => marker.statistics);
    const models = engine.markers.map((marker, k) => individualModel(marker, state.markers[k]));
    const rows = joinFloats([...engine.markers.map(({ table }) => table), nodePowers(nodes), new Float64Array(n)]);
    const table = { numNodes: n, stride: rows.length / n, rows, logWeights };
    const m = statistics[0].numIndividuals;
    const random = createRandom(2);
    const terms = Float64Array.from({ length: 2 * m }, () => random.normal());
    const logNormalizers = Float64Array.from({ length: m }, () => random.normal());
    const placeMoments = new Float64Array(5 * m);
    const contributions = new Float64Array(m);
    expectationPass(statistics, models, table, { contributions, placeMoments, shift: { terms, logNormalizers } });
    for (const i of [0, 1, 17]) {
      const own = models.map((model, k) => individualStatistics(statistics[k], i, model));
      const E = Array.from({ length: n }, (_, g) => {
        const shift = terms[2 * i] * nodes.locations[2 * g] + terms[2 * i + 1] * nodes.locations[2 * g + 1];
        const said = own.map(({ row }, k) =>
          row.reduce((sum, v, e) => sum + v * engine.markers[k].table[e * n + g], 0),
        );
        return logWeights[g] + shift - logNormalizers[i] + said[0] + said[1];
      });
      const largest = Math.max(...E);
      const total = E.reduce((sum, e) => sum + Math.exp(e - largest), 0);
      const constant = own[0].constant + own[1].constant;
      expect(contributions[i]).toBeCloseTo(constant + largest + Math.log(total), 9);
      const mean = E.reduce((sum, e, g) => sum + (Math.exp(e - largest) / total) * nodes.locations[2 * g], 0);
      expect(placeMoments[5 * i]).toBeCloseTo(mean, 9);
    }
  });

  it.each(["white", "level"] as const)("is the same in WebAssembly: %s noise", (noise) => {
    const { engine, state } = stateOfTwo(problemOfTwo(noise), { kernels: "typescript" }, 4);
    const { nodes } = engine;
    const { numNodes: n, logWeights } = nodes;
    const statistics = engine.markers.map((marker) => marker.statistics);
    const models = engine.markers.map((marker, k) => individualModel(marker, state.markers[k]));
    const rows = joinFloats([...engine.markers.map(({ table }) => table), nodePowers(nodes), new Float64Array(n)]);
    const stride = rows.length / n;
    const table = { numNodes: n, stride, rows, logWeights };
    const m = statistics[0].numIndividuals;
    const sizes = statistics.map(({ basis }) => basis.numBasis);
    const random = createRandom(4);
    const shift = {
      terms: Float64Array.from({ length: 2 * m }, () => random.normal()),
      logNormalizers: Float64Array.from({ length: m }, () => random.normal()),
    };
    const run = (pass: typeof expectationPass) => {
      const outputs = {
        nodeSums: new Float64Array((stride - 6) * n),
        moments: engine.markers.map(({ table: own }) => new Float64Array((m * own.length) / n)),
        placeMoments: new Float64Array(5 * m),
        contributions: new Float64Array(m),
        squares: state.markers.map(({ squares }, k) => {
          if (squares === null) return undefined;
          const directions = new Float64Array(m * sizes[k]);
          return { before: squares, after: new Float64Array(squares.length), directions };
        }),
        shift,
      };
      const total = pass(statistics, models, table, outputs);
      const after = outputs.squares.map((own) => own?.after ?? new Float64Array(1));
      const { nodeSums, moments, placeMoments, contributions } = outputs;
      return { total, all: [nodeSums, ...moments, placeMoments, contributions, ...after] };
    };
    const [a, b] = [run(expectationPass), run(wasmPasses(sizes, n, stride).expect)];
    expect(Math.abs(b.total / a.total - 1)).toBeLessThan(1e-11);
    a.all.forEach((expected, k) => {
      expect(relativeError(b.all[k], expected), String(k)).toBeLessThan(1e-8);
    });
  });

  it("places people by what both markers say", () => {
    const { engine, state } = stateOfTwo(problemOfTwo("level"), {}, 6);
    keepSquares(engine, state, null);
    const places = placeMeans(engine, state);
    expect(places).toHaveLength(2 * engine.numIndividuals);
    expect(places.every(Number.isFinite)).toBe(true);
  });
});
