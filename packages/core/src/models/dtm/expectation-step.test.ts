import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../../test/expect-gradient.ts";
import { randomCohort } from "../../../../../test/random-cohort.ts";
import { designMatrix } from "../../basis/bspline.ts";
import { type BasisStatistics, selectStatistics } from "../../basis/statistics.ts";
import { type Cohort, onlyMarker } from "../../cohort/cohort.ts";
import { whiteNoise } from "../../noise/noise.ts";
import { cholesky, invertFromCholesky, logDetFromCholesky } from "../../numeric/cholesky.ts";
import { bilinear, identity } from "../../numeric/matrix.ts";
import { createRandom } from "../../numeric/random.ts";
import { LOG_2PI, logSumExp } from "../../numeric/special.ts";
import { expectationPass, nodeWeights } from "./expectation-step.ts";
import { type IndividualModel, individualStatistics, packedStride, residualRoot } from "./individual-statistics.ts";
import { inducingWorkspace } from "./inducing-posterior.ts";
import { solveAt } from "./kernel-step.ts";
import { nodeGeometry, nodeKernel } from "./node-kernel.ts";
import { type NodeTable, nodeTable } from "./node-table.ts";
import { givenNodes, latticeNodes } from "./nodes.ts";
import { inducingLayout } from "./pairs.ts";
import { addStartingSums, placesWithSpread, startingWeights } from "./starting-places.ts";

/** A random table of the right shape: any numbers will do for the arithmetic. */
function randomTable(d: number, seed: number): NodeTable {
  const random = createRandom(seed);
  const nodes = latticeNodes(2, { step: 1, radius: 3 });
  const stride = packedStride(d);
  const rows = Float64Array.from({ length: stride * nodes.numNodes }, () => 0.2 * random.normal());
  return { numNodes: nodes.numNodes, stride, rows, logWeights: nodes.logWeights };
}

function modelFor(statistics: BasisStatistics): IndividualModel {
  const d = statistics.basis.numBasis;
  return {
    mean: new Float64Array(d).fill(20),
    noise: whiteNoise(1.5),
    residualRoot: residualRoot(identity(d, 0.4), d),
  };
}

describe("expectationPass", () => {
  for (const numIndividuals of [2, 4, 7]) {
    it(`equals the formulas one by one (${numIndividuals} individuals)`, () => {
      const { statistics } = randomCohort({ numIndividuals, numBasis: 4, seed: 3 });
      const d = 4;
      const table = randomTable(d, 2);
      const { stride, numNodes: n, rows, logWeights } = table;
      const model = modelFor(statistics);
      const nodeSums = new Float64Array(stride * n);
      const moments = new Float64Array(numIndividuals * stride);
      const contributions = new Float64Array(numIndividuals);
      const outputs = { nodeSums, moments: [moments], contributions };
      const total = expectationPass([statistics], [model], table, outputs);

      const expectedSums = new Float64Array(stride * n);
      const expectedMoments = new Float64Array(numIndividuals * stride);
      let expectedTotal = 0;
      for (let i = 0; i < numIndividuals; i++) {
        const { constant: c, row: packed } = individualStatistics(statistics, i, model);
        const E = logWeights.map((w, g) => packed.reduce((s, v, k) => s + v * rows[k * n + g], w));
        const lambda = logSumExp(E);
        expectedTotal += c + lambda;
        expect(contributions[i]).toBeCloseTo(c + lambda, 9);
        for (let g = 0; g < n; g++) {
          const r = Math.exp(E[g] - lambda);
          for (let k = 0; k < stride; k++) {
            expectedSums[k * n + g] += r * packed[k];
            expectedMoments[i * stride + k] += r * rows[k * n + g];
          }
        }
      }
      expect(total).toBeCloseTo(expectedTotal, 8);
      expect(relativeError(nodeSums, expectedSums)).toBeLessThan(1e-12);
      expect(relativeError(moments, expectedMoments)).toBeLessThan(1e-12);
    });
  }

  it("over some individuals and over the others adds up to the pass over all", () => {
    const { statistics } = randomCohort({ numIndividuals: 9, seed: 6 });
    const d = statistics.basis.numBasis;
    const table = randomTable(d, 4);
    const model = modelFor(statistics);
    const whole = expectationPass([statistics], [model], table, {});
    const passOver = (individuals: number[]) =>
      expectationPass([selectStatistics(statistics, individuals)], [model], table, {});
    const odd = passOver([1, 3, 5, 7]);
    const even = passOver([0, 2, 4, 6, 8]);
    expect(odd + even).toBeCloseTo(whole, 9);
  });
});

describe("nodeWeights", () => {
  it("sum to one and return the log of the sum, also far from zero", () => {
    for (const shift of [0, -5000, 5000]) {
      const x = Float64Array.of(shift, shift + 1, shift - 2, shift - 1e4);
      const r = new Float64Array(4);
      expect(nodeWeights(Float64Array.of(1), x, new Float64Array(4), r)).toBeCloseTo(logSumExp(x), 9);
      expect(r.reduce((s, v) => s + v, 0)).toBeCloseTo(1, 14);
    }
  });
});

describe("the bound", () => {
  it("is never above the evidence, which two individuals on few nodes allow to be summed", () => {
    const { cohort, statistics } = randomCohort({ numIndividuals: 2, maxObservations: 4, numBasis: 3, seed: 12 });
    const d = 3;
    const nodes = givenNodes(Float64Array.of(-1.5, -0.5, 0.5, 1.5), 1);
    const geometry = nodeGeometry(nodes.locations, nodes.locations, 1, 1e-6);
    const layout = inducingLayout(d, geometry);
    const workspace = inducingWorkspace(layout, "typescript");
    for (const [tau, noiseVariance, alpha, ell] of [
      [0, 1, 2, 1],
      [0.5, 0.4, 20, 0.8],
      [3, 2, 5, 3],
    ]) {
      const model: IndividualModel = {
        mean: new Float64Array(d).fill(20),
        noise: whiteNoise(noiseVariance),
        residualRoot: residualRoot(identity(d, tau), d),
      };
      const nodeSums = new Float64Array(packedStride(d) * 4);
      const problem = { geometry, layout, nodeSums, workspace };
      const kernel = nodeKernel(geometry, alpha, ell, false);
      const places = placesWithSpread(Float64Array.of(-1, 1), 1, 0.5);
      addStartingSums([statistics], [model], startingWeights(nodes, places), nodeSums);
      let bound = Number.NEGATIVE_INFINITY;
      for (let sweep = 0; sweep < 30; sweep++) {
        const { mean, covariance, divergence } = solveAt(problem, alpha, ell, false).posterior;
        const rows = nodeTable(layout, kernel, mean, covariance, workspace);
        const { numNodes, logWeights } = nodes;
        const table = { numNodes, stride: packedStride(d), rows, logWeights };
        nodeSums.fill(0);
        const next = expectationPass([statistics], [model], table, { nodeSums }) - divergence;
        expect(next).toBeGreaterThanOrEqual(bound - 1e-10);
        bound = next;
      }
      const evidence = summedEvidence(cohort, statistics, model, tau, kernel, nodes.logWeights);
      expect(bound).toBeLessThanOrEqual(evidence + 1e-9);
      expect(bound).toBeGreaterThan(evidence - 10);
    }
  });
});

/** log Σ over the places of both of π π N(y | μ, joint covariance): coefficients of the two share the map. */
function summedEvidence(
  cohort: Cohort,
  statistics: BasisStatistics,
  model: IndividualModel,
  tau: number,
  kernel: { readonly features: Float64Array; readonly restVariance: Float64Array },
  logWeights: Float64Array,
): number {
  const d = statistics.basis.numBasis;
  const n = logWeights.length;
  const N = onlyMarker(cohort).times.length;
  const B = designMatrix(statistics.basis, onlyMarker(cohort).times);
  const owner = Int32Array.from({ length: N }, (_, j) => (j < onlyMarker(cohort).offsets[1] ? 0 : 1));
  const r = Float64Array.from({ length: N }, (_, j) => onlyMarker(cohort).values[j] - model.mean[0]);
  const terms: number[] = [];
  for (let a = 0; a < n; a++) {
    for (let b = 0; b < n; b++) {
      const place = [a, b];
      const V = identity(N, model.noise.variance);
      for (let i = 0; i < N; i++) {
        for (let j = 0; j < N; j++) {
          const [x, y] = [place[owner[i]], place[owner[j]]];
          let k = owner[i] === owner[j] ? kernel.restVariance[x] + tau : 0;
          for (let p = 0; p < n; p++) k += kernel.features[p * n + x] * kernel.features[p * n + y];
          let overlap = 0;
          for (let c = 0; c < d; c++) overlap += B[i * d + c] * B[j * d + c];
          V[i * N + j] += k * overlap;
        }
      }
      const L = cholesky(V, N);
      const density = -0.5 * (N * LOG_2PI + logDetFromCholesky(L, N) + bilinear(r, invertFromCholesky(L, N), r));
      terms.push(logWeights[a] + logWeights[b] + density);
    }
  }
  return logSumExp(terms);
}

describe("starting responsibilities", () => {
  it("are a Gaussian about the guess, cut to the lattice", () => {
    const nodes = latticeNodes(2, { step: 0.5 });
    const places = placesWithSpread(Float64Array.of(0.3, -0.4), 2, 0.5);
    const r = new Float64Array(nodes.numNodes);
    const { terms, powers } = startingWeights(nodes, places);
    nodeWeights(terms, powers, new Float64Array(nodes.numNodes), r);
    let total = 0;
    const mean = [0, 0];
    for (let g = 0; g < r.length; g++) {
      total += r[g];
      for (let c = 0; c < 2; c++) mean[c] += r[g] * nodes.locations[2 * g + c];
    }
    expect(total).toBeCloseTo(1, 12);
    expect(mean[0]).toBeCloseTo(0.3, 6);
    expect(mean[1]).toBeCloseTo(-0.4, 6);
  });
});
