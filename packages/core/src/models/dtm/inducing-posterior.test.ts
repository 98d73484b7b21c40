import { describe, expect, it } from "vitest";
import { expectGradient, relativeError } from "../../../../../test/expect-gradient.ts";
import { cholesky, logDetFromCholesky, solveCholeskyInPlace } from "../../numeric/cholesky.ts";
import { dot, identity, multiply, transpose } from "../../numeric/matrix.ts";
import { createRandom } from "../../numeric/random.ts";
import { gridLocations } from "../gp/inducing.ts";
import { rbfKernel } from "../gp/kernel.ts";
import { mapMoments } from "../gp/sparse-map.ts";
import { packedStride } from "./individual-statistics.ts";
import { inducingWorkspace } from "./inducing-posterior.ts";
import { type KernelProblem, kernelCurvature, kernelStep, solveAt } from "./kernel-step.ts";
import { nodeGeometry } from "./node-kernel.ts";
import { nodeTable } from "./node-table.ts";
import { latticeNodes } from "./nodes.ts";
import { inducingLayout } from "./pairs.ts";

/** A problem with random node sums: 𝒢_g positive definite, γ_g of the size of a smooth map's. */
function randomProblem(
  d: number,
  q: number,
  seed = 1,
): KernelProblem & { readonly locations: Float64Array; readonly inducing: Float64Array } {
  const random = createRandom(seed);
  const nodes = latticeNodes(q, { step: 1, radius: 3 });
  const inducing = gridLocations(q, 3);
  const geometry = nodeGeometry(nodes.locations, inducing, q, 1e-6);
  const layout = inducingLayout(d, geometry);
  const n = nodes.numNodes;
  const nodeSums = new Float64Array(packedStride(d) * n);
  for (let g = 0; g < n; g++) {
    const F = Float64Array.from({ length: d * d }, () => random.normal());
    const G = multiply(F, transpose(F, d, d), d, d, d);
    for (let k = 0; k < d; k++) nodeSums[k * n + g] = 3 * Math.sin(nodes.locations[g * q] + k) + random.normal();
    let e = d;
    for (let k = 0; k < d; k++) for (let l = k; l < d; l++) nodeSums[e++ * n + g] = G[k * d + l];
  }
  return { geometry, layout, nodeSums, workspace: inducingWorkspace(layout), locations: nodes.locations, inducing };
}

/** Λ and c entry by entry, as the formulas stand. */
function naivePosterior({ layout, nodeSums }: KernelProblem, A: Float64Array) {
  const { numBasis: d, numInducing: p, numNodes: n } = layout;
  const dp = d * p;
  const Lambda = identity(dp);
  const c = new Float64Array(dp);
  for (let g = 0; g < n; g++) {
    let e = d;
    for (let k = 0; k < d; k++) {
      for (let j = 0; j < p; j++) c[k * p + j] += A[j * n + g] * nodeSums[k * n + g];
      for (let l = k; l < d; l++) {
        const G = nodeSums[e++ * n + g];
        for (let i = 0; i < p; i++) {
          for (let j = 0; j < p; j++) {
            const v = G * A[i * n + g] * A[j * n + g];
            Lambda[(k * p + i) * dp + l * p + j] += v;
            if (k !== l) Lambda[(l * p + i) * dp + k * p + j] += v;
          }
        }
      }
    }
  }
  return { Lambda, c };
}

const cases = [
  { d: 5, q: 2 },
  { d: 4, q: 1 },
  { d: 2, q: 2 },
  { d: 1, q: 1 },
];

describe("inducingPosterior", () => {
  for (const { d, q } of cases) {
    it(`equals the formulas written out (d = ${d}, q = ${q})`, () => {
      const problem = randomProblem(d, q);
      const solution = solveAt(problem, 1.7, 1.2, false);
      const { kernel, posterior } = solution;
      const dp = d * problem.layout.numInducing;
      const { Lambda, c } = naivePosterior(problem, kernel.features);
      expect(relativeError(posterior.precision, Lambda)).toBeLessThan(1e-12);
      expect(relativeError(posterior.linear, c)).toBeLessThan(1e-12);
      const L = cholesky(Lambda, dp);
      const nu = c.slice();
      solveCholeskyInPlace(L, dp, nu);
      expect(relativeError(posterior.mean, nu)).toBeLessThan(1e-9);
      expect(posterior.logDeterminant).toBeCloseTo(logDetFromCholesky(L, dp), 8);
      expect(relativeError(multiply(Lambda, posterior.covariance, dp, dp, dp), identity(dp))).toBeLessThan(1e-9);
      expect(posterior.divergence).toBeGreaterThan(0);
    });

    it(`has the gradient of φ (d = ${d}, q = ${q})`, () => {
      const problem = randomProblem(d, q, 2);
      const phi = (x: Float64Array) => solveAt(problem, Math.exp(x[0]), Math.exp(x[1]), false).posterior.phi;
      for (const [alpha, ell] of [
        [0.5, 0.6],
        [2, 1.5],
        [9, 4],
      ]) {
        const gradient = Float64Array.from(solveAt(problem, alpha, ell, true).posterior.gradient);
        expectGradient(phi, Float64Array.of(Math.log(alpha), Math.log(ell)), gradient);
      }
    });
  }

  it("maximises the bound in q(u): φ is linear term, quadratic term and KL at the optimum", () => {
    const problem = randomProblem(3, 2, 5);
    const solution = solveAt(problem, 2, 1, false);
    const { kernel, posterior } = solution;
    const { Lambda, c } = naivePosterior(problem, kernel.features);
    const dp = c.length;
    // c'ν − ½(ν'Hν + Tr HΞ) − KL with H = Λ − I, less ½ Σ k̃ Tr 𝒢.
    let value = dot(c, posterior.mean) - posterior.divergence;
    for (let a = 0; a < dp; a++) {
      for (let b = 0; b < dp; b++) {
        const H = Lambda[a * dp + b] - (a === b ? 1 : 0);
        value -= 0.5 * H * (posterior.mean[a] * posterior.mean[b] + posterior.covariance[a * dp + b]);
      }
    }
    const { numBasis, numNodes: n, basisRow, basisColumn } = problem.layout;
    basisRow.forEach((k, e) => {
      const row = problem.nodeSums.subarray((numBasis + e) * n, (numBasis + e + 1) * n);
      if (k === basisColumn[e]) value -= 0.5 * dot(kernel.restVariance, row);
    });
    expect(posterior.phi).toBeCloseTo(value, 8);
  });
});

describe("nodeTable", () => {
  for (const { d, q } of cases) {
    it(`holds mean and second moment of the map at every node (d = ${d}, q = ${q})`, () => {
      const problem = randomProblem(d, q, 3);
      const { layout, inducing, locations } = problem;
      const solution = solveAt(problem, 1.7, 1.2, false);
      const { mean, covariance } = solution.posterior;
      const table = nodeTable(layout, solution.kernel, mean, covariance, problem.workspace);
      const n = layout.numNodes;
      const map = {
        kernel: rbfKernel(q, 1.7, 1.2),
        mapDimension: q,
        numInducing: layout.numInducing,
        numBasis: d,
        inducingLocations: inducing,
        inducingMean: mean,
        inducingCovariance: covariance,
      };
      const { means, covariances } = mapMoments(map, locations, n);
      const expected = new Float64Array(table.length);
      for (let g = 0; g < n; g++) {
        let e = d;
        for (let k = 0; k < d; k++) {
          expected[k * n + g] = means[g * d + k];
          for (let l = k; l < d; l++) {
            const R = means[g * d + k] * means[g * d + l] + covariances[(g * d + k) * d + l];
            expected[e++ * n + g] = k === l ? -0.5 * R : -R;
          }
        }
      }
      expect(relativeError(table, expected)).toBeLessThan(1e-11);
    });
  }
});

describe("kernelStep", () => {
  it("reaches a point where the free gradient vanishes", () => {
    for (const seed of [1, 2, 3]) {
      const problem = randomProblem(3, 2, seed);
      const { best } = kernelStep(problem, 1, 1, kernelCurvature(), {
        maxIterations: 200,
        maxEvaluations: 1000,
      });
      const [a, l] = best.posterior.gradient;
      const atBound = best.kernel.lengthscale === 12 || best.kernel.lengthscale === 0.3;
      expect(Math.abs(a)).toBeLessThan(1e-5);
      if (!atBound) expect(Math.abs(l)).toBeLessThan(1e-5);
    }
  });

  it("never lowers φ, whatever the evaluations allowed", () => {
    const problem = randomProblem(4, 1, 7);
    const start = solveAt(problem, 3, 0.5, false);
    let last = start.posterior.phi;
    for (let evaluations = 1; evaluations <= 12; evaluations++) {
      const { best } = kernelStep(problem, 3, 0.5, kernelCurvature(), {
        maxIterations: 50,
        maxEvaluations: evaluations,
      });
      expect(best.posterior.phi).toBeGreaterThanOrEqual(last);
      last = best.posterior.phi;
    }
  });

  it("keeps ℓ within its bounds", () => {
    const problem = randomProblem(2, 1, 4);
    // Observations of weight 50 on the straight lines f_k(x) = x ask for the longest length-scale.
    const { numNodes: n, basisRow, basisColumn } = problem.layout;
    for (let g = 0; g < n; g++) {
      for (let k = 0; k < 2; k++) problem.nodeSums[k * n + g] = 50 * problem.locations[g];
      for (let e = 0; e < 3; e++) problem.nodeSums[(2 + e) * n + g] = basisRow[e] === basisColumn[e] ? 50 : 0;
    }
    const { best } = kernelStep(problem, 1, 1, kernelCurvature(), {
      maxIterations: 200,
      maxEvaluations: 1000,
    });
    expect(best.kernel.lengthscale).toBeCloseTo(12, 10);
  });

  it("needs fewer evaluations with curvature from the step before", () => {
    const problem = randomProblem(3, 2, 9);
    const curvature = kernelCurvature();
    const options = { maxIterations: 100, maxEvaluations: 500, minGain: 1e-6 };
    const first = kernelStep(problem, 1, 1, curvature, options);
    for (let e = 0; e < problem.nodeSums.length; e++) problem.nodeSums[e] *= 1.01;
    const { signalVariance, lengthscale } = first.best.kernel;
    const again = kernelStep(problem, signalVariance, lengthscale, curvature, options);
    expect(curvature.known).toBe(true);
    expect(again.evaluations).toBeLessThan(first.evaluations);
    expect(again.evaluations).toBeLessThanOrEqual(4);
  });
});
