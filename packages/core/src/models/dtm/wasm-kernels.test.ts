import { describe, expect, it } from "vitest";
import { quick } from "../../../../../test/dtm-problem.ts";
import { relativeError } from "../../../../../test/expect-gradient.ts";
import { randomCohort } from "../../../../../test/random-cohort.ts";
import { whiteNoise } from "../../noise/noise.ts";
import { identity } from "../../numeric/matrix.ts";
import { createRandom } from "../../numeric/random.ts";
import { wasmPasses } from "../../wasm/expectation.ts";
import { markerModel } from "../fit.ts";
import { gridLocations } from "../gp/inducing.ts";
import { linearStart } from "../linear/start.ts";
import { expectationPass } from "./expectation-step.ts";
import { type IndividualModel, packedStride, residualRoot } from "./individual-statistics.ts";
import { inducingWorkspace } from "./inducing-posterior.ts";
import { solveAt } from "./kernel-step.ts";
import { maximizationSums } from "./maximization-step.ts";
import { nodeGeometry } from "./node-kernel.ts";
import { type NodeTable, nodeTable } from "./node-table.ts";
import { latticeNodes } from "./nodes.ts";
import { inducingLayout } from "./pairs.ts";
import { residualObjective } from "./residual-step.ts";
import { fitDtmFrom } from "./run.ts";
import { addStartingSums, placesFromPosterior, startingWeights } from "./starting-places.ts";

const KINDS = ["typescript", "wasm-simd"] as const;
// Both sum the same numbers in another order.
const TOLERANCE = 1e-12;

/** A smooth random map on a lattice, with second moments as a map has them. */
function randomTable(d: number, seed: number): NodeTable {
  const random = createRandom(seed);
  const nodes = latticeNodes(2, { step: 0.7, radius: 3 });
  const { numNodes: n, locations, logWeights } = nodes;
  const stride = packedStride(d);
  const rows = new Float64Array(stride * n);
  const F = Float64Array.from({ length: 2 * d }, () => 2 * random.normal());
  for (let g = 0; g < n; g++) {
    const f = Float64Array.from({ length: d }, (_, k) => F[k] * locations[2 * g] + F[d + k] * locations[2 * g + 1]);
    let e = d;
    for (let k = 0; k < d; k++) {
      rows[k * n + g] = f[k];
      for (let l = k; l < d; l++) rows[e++ * n + g] = k === l ? -0.5 * (f[k] * f[k] + 0.2) : -f[k] * f[l];
    }
  }
  return { numNodes: n, stride, rows, logWeights };
}

const cases = [
  { d: 5, degree: 2, count: 131, residual: 0.4 },
  { d: 5, degree: 2, count: 64, residual: 0 },
  { d: 4, degree: 3, count: 7, residual: 0.4 },
  { d: 7, degree: 1, count: 66, residual: 1e-3 },
  { d: 2, degree: 1, count: 1, residual: 2 },
];

describe("passes over individuals in WebAssembly", () => {
  for (const { d, degree, count, residual } of cases) {
    const { statistics } = randomCohort({ numIndividuals: count, numBasis: d, degree, seed: d + count });
    const model: IndividualModel = {
      mean: Float64Array.from({ length: d }, (_, k) => 19 + k),
      noise: whiteNoise(1.5),
      residualRoot: residual === 0 ? null : residualRoot(identity(d, residual), d),
    };
    const table = randomTable(d, 4);
    const title = `d = ${d}, degree ${degree}, ${count} individuals, Σ_e = ${residual} I`;

    it(`give bound, node sums, moments and contributions of the TypeScript pass (${title})`, () => {
      const [a, b] = KINDS.map((kernels) => {
        const nodeSums = new Float64Array(table.rows.length).fill(0.5);
        const moments = new Float64Array(count * table.stride);
        const contributions = new Float64Array(count);
        const pass = kernels === "typescript" ? expectationPass : wasmPasses([d], table.numNodes, table.stride).expect;
        const outputs = { nodeSums, moments: [moments], contributions };
        const bound = pass([statistics], [model], table, outputs);
        const again = pass([statistics], [model], table, {});
        expect(again).toBe(bound);
        return { nodeSums, moments, contributions, bound };
      });
      expect(Math.abs(a.bound - b.bound) / Math.abs(a.bound)).toBeLessThan(TOLERANCE);
      expect(relativeError(b.nodeSums, a.nodeSums)).toBeLessThan(TOLERANCE);
      expect(relativeError(b.moments, a.moments)).toBeLessThan(TOLERANCE);
      expect(relativeError(b.contributions, a.contributions)).toBeLessThan(TOLERANCE);
    });

    for (const q of [1, 2]) {
      it(`give the node sums of starting places on ${q} axes (${title})`, () => {
        const random = createRandom(q);
        const nodes = latticeNodes(q, q === 1 ? { step: 0.3 } : { step: 0.7, radius: 3 });
        const means = Float64Array.from({ length: count * q }, () => random.normal());
        const places = placesFromPosterior(means, new Float64Array(count * q * q).fill(0.02), q);
        const [a, b] = KINDS.map((kernels) => {
          const add = kernels === "typescript" ? addStartingSums : wasmPasses([d], nodes.numNodes, table.stride).start;
          const nodeSums = new Float64Array(table.stride * nodes.numNodes).fill(0.5);
          add([statistics], [model], startingWeights(nodes, places), nodeSums);
          return nodeSums;
        });
        expect(relativeError(b, a)).toBeLessThan(TOLERANCE);
      });
    }

    it(`give the sums of the maximisation step and Q(τ) (${title})`, () => {
      const moments = new Float64Array(count * table.stride);
      expectationPass([statistics], [model], table, { moments: [moments] });
      const moved = { ...model, residualRoot: residualRoot(identity(d, 0.3), d) };
      const kernel = wasmPasses([d], 0, table.stride);
      const a = {
        ...maximizationSums(statistics, model, moments),
        Q: residualObjective(statistics, moved, moments),
      };
      const b = { ...kernel.maximize(statistics, model, moments), Q: kernel.residual(statistics, moved, moments) };
      expect(b.numObservations).toBe(a.numObservations);
      for (const name of ["gram", "cross", "fitted"] as const) {
        expect(relativeError(b[name], a[name])).toBeLessThan(1e-11);
      }
      for (const name of ["sumSquares", "crossFitted", "quadratic", "Q"] as const) {
        expect(Math.abs(b[name] - a[name]) / Math.abs(a[name])).toBeLessThan(1e-11);
      }
    });
  }

  it("pass NaN on to the bound, and forget it afterwards", () => {
    const { statistics } = randomCohort({ numIndividuals: 9, numBasis: 4, seed: 2 });
    const model = {
      mean: new Float64Array(4).fill(20),
      noise: whiteNoise(1),
      residualRoot: residualRoot(identity(4), 4),
    };
    const table = randomTable(4, 4);
    const { expect: pass } = wasmPasses([4], table.numNodes, table.stride);
    const nodeSums = new Float64Array(table.rows.length);
    const broken = { ...table, rows: table.rows.map((v, e) => (e === 3 ? Number.NaN : v)) };
    const before = pass([statistics], [model], table, { nodeSums });
    expect(pass([statistics], [model], broken, { nodeSums: nodeSums.slice() })).toBeNaN();
    const again = new Float64Array(nodeSums.length);
    expect(pass([statistics], [model], table, { nodeSums: again })).toBe(before);
    expect(again).toEqual(nodeSums);
  });

  it("take the expectation of further rows of a table", () => {
    const { statistics } = randomCohort({ numIndividuals: 6, numBasis: 4, seed: 2 });
    const model = { mean: new Float64Array(4).fill(20), noise: whiteNoise(1), residualRoot: null };
    const table = randomTable(4, 4);
    const { stride, numNodes: n } = table;
    const rows = new Float64Array((stride + 2) * n);
    rows.set(table.rows);
    for (let g = 0; g < n; g++) rows[stride * n + g] = g;
    const wider = { ...table, stride: stride + 2, rows };
    const [plain, kernel] = [new Float64Array(6 * 2), new Float64Array(6 * 2)];
    const bound = expectationPass([statistics], [model], wider, { placeMoments: plain });
    expect(bound).toBeCloseTo(expectationPass([statistics], [model], table, {}), 10);
    wasmPasses([4], n, wider.stride).expect([statistics], [model], wider, { placeMoments: kernel });
    expect(relativeError(kernel, plain)).toBeLessThan(TOLERANCE);
    expect(plain[0]).toBeGreaterThan(0);
  });
});

describe("the map in WebAssembly", () => {
  for (const { d, perDimension, q } of [
    { d: 5, perDimension: 4, q: 2 },
    { d: 3, perDimension: 3, q: 2 },
    { d: 4, perDimension: 5, q: 1 },
    { d: 1, perDimension: 3, q: 1 },
  ]) {
    it(`has q(u), φ, its gradient and the node table of the TypeScript solver (d = ${d}, p = ${perDimension}^${q})`, () => {
      const random = createRandom(5);
      const nodes = latticeNodes(q, { step: 0.7, radius: 3 });
      const geometry = nodeGeometry(nodes.locations, gridLocations(q, perDimension), q, 1e-6);
      const layout = inducingLayout(d, geometry);
      const n = nodes.numNodes;
      const nodeSums = new Float64Array(packedStride(d) * n);
      for (let g = 0; g < n; g++) {
        const f = Float64Array.from({ length: d }, () => random.normal());
        let e = d;
        for (let k = 0; k < d; k++) {
          nodeSums[k * n + g] = 3 * random.normal();
          for (let l = k; l < d; l++) nodeSums[e++ * n + g] = f[k] * f[l] + (k === l ? 1 : 0);
        }
      }
      const [a, b] = KINDS.map((kernels) => {
        const workspace = inducingWorkspace(layout, kernels);
        const solution = solveAt({ geometry, layout, nodeSums, workspace }, 1.7, 1.3, true);
        const { mean, covariance } = solution.posterior;
        const rows = nodeTable(layout, solution.kernel, mean, covariance, workspace);
        return { ...solution.posterior, rows };
      });
      for (const name of ["precision", "linear", "mean", "covariance", "rows"] as const) {
        expect(relativeError(b[name], a[name]), name).toBeLessThan(1e-10);
      }
      expect(relativeError(b.gradient, a.gradient)).toBeLessThan(1e-9);
      for (const name of ["logDeterminant", "divergence", "phi"] as const) {
        expect(Math.abs(b[name] - a[name])).toBeLessThan(1e-10 * Math.max(1, Math.abs(a[name])));
      }
    });
  }
});

describe("fitDtmFrom", () => {
  for (const residual of ["capped", "none", "full"] as const) {
    it(`finds the same map with either kind of kernels and says which (${residual} residual)`, () => {
      const { statistics } = randomCohort({ numIndividuals: 90, seed: 8 });
      const start = linearStart([statistics], { mapDimension: 2, mean: "scalar" });
      const fit = (kernels: "wasm" | "typescript") =>
        fitDtmFrom([statistics], start, { ...quick, kernels, residual, tolerance: 1e-6 });
      const a = fit("typescript");
      const b = fit("wasm");
      expect([a.record.kernels, b.record.kernels]).toEqual(["typescript", "wasm-simd"]);
      // Rounding leads them by different ways to the same maximum.
      expect(Math.abs(b.bound - a.bound)).toBeLessThan(1e-7 * Math.abs(a.bound));
      const [p, q] = [markerModel(a), markerModel(b)];
      expect(relativeError(q.residual.covariance, p.residual.covariance)).toBeLessThan(1e-4);
      expect(relativeError([q.noise.variance], [p.noise.variance])).toBeLessThan(1e-4);
      // A free residual leaves a map that hardly minds being turned.
      if (residual !== "full") expect(relativeError(q.map.inducingMean, p.map.inducingMean)).toBeLessThan(1e-4);
      expect(markerModel(fit("wasm")).map.inducingMean).toEqual(markerModel(b).map.inducingMean);
    });
  }
});
