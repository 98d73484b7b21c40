import { describe, expect, it } from "vitest";
import { expectGradient, relativeError } from "../../../../../test/expect-gradient.ts";
import { multiply, transpose } from "../../numeric/matrix.ts";
import { createRandom } from "../../numeric/random.ts";
import { gridLocations } from "../gp/inducing.ts";
import { meanDesign } from "../mean.ts";
import { packedStride } from "./individual-statistics.ts";
import { inducingWorkspace } from "./inducing-posterior.ts";
import { jointMean, meanStep } from "./joint-mean.ts";
import { type KernelProblem, solveAt } from "./kernel-step.ts";
import { nodeGeometry } from "./node-kernel.ts";
import { latticeNodes } from "./nodes.ts";
import { inducingLayout } from "./pairs.ts";

/** Random node sums, 𝒢_g positive definite in the first `seen` coefficients and zero in the others. */
function randomProblem(d: number, q: number, seen = d): KernelProblem {
  const random = createRandom(d + q);
  const nodes = latticeNodes(q, { step: 1, radius: 3 });
  const geometry = nodeGeometry(nodes.locations, gridLocations(q, 3), q, 1e-6);
  const layout = inducingLayout(d, geometry);
  const n = nodes.numNodes;
  const nodeSums = new Float64Array(packedStride(d) * n);
  for (let g = 0; g < n; g++) {
    const F = Float64Array.from({ length: d * d }, (_, e) => (Math.floor(e / d) < seen ? random.normal() : 0));
    const G = multiply(F, transpose(F, d, d), d, d, d);
    for (let k = 0; k < seen; k++) nodeSums[k * n + g] = 2 + Math.sin(nodes.locations[g * q] + k) + random.normal();
    let e = d;
    for (let k = 0; k < d; k++) for (let l = k; l < d; l++) nodeSums[e++ * n + g] = G[k * d + l];
  }
  return { geometry, layout, nodeSums, workspace: inducingWorkspace(layout) };
}

/** Node sums after the mean has moved by v [d], and what the bound gains of observations alone, v'Σγ − ½v'(Σ𝒢)v. */
function movedSums({ layout, nodeSums }: KernelProblem, v: Float64Array): { sums: Float64Array; gain: number } {
  const { numBasis: d, numNodes: n, basisRow, basisColumn } = layout;
  const sums = nodeSums.slice();
  let gain = 0;
  for (let g = 0; g < n; g++) {
    for (let k = 0; k < d; k++) gain += v[k] * nodeSums[k * n + g];
    for (let e = 0; e < basisRow.length; e++) {
      const [k, l] = [basisRow[e], basisColumn[e]];
      const G = nodeSums[(d + e) * n + g];
      sums[k * n + g] -= G * v[l];
      if (k !== l) sums[l * n + g] -= G * v[k];
      gain -= (k === l ? 0.5 : 1) * G * v[k] * v[l];
    }
  }
  return { sums, gain };
}

function withMean(problem: KernelProblem, kind: "scalar" | "spline"): KernelProblem {
  const mean = jointMean(problem.layout, meanDesign(kind, problem.layout.numBasis), problem.nodeSums);
  return { ...problem, mean };
}

const cases = [
  { d: 5, q: 2, kind: "scalar" },
  { d: 5, q: 2, kind: "spline" },
  { d: 3, q: 1, kind: "spline" },
  { d: 1, q: 1, kind: "scalar" },
] as const;

describe("the mean together with q(u)", () => {
  for (const { d, q, kind } of cases) {
    it(`is where the bound is largest (d = ${d}, q = ${q}, ${kind} mean)`, () => {
      const problem = randomProblem(d, q);
      const solution = solveAt(withMean(problem, kind), 2, 1.3, false);
      const { phi, meanShift, mean } = solution.posterior;
      let other = solution;
      const phiAt = (shift: Float64Array): number => {
        const { sums, gain } = movedSums(problem, shift);
        other = solveAt({ ...problem, nodeSums: sums }, 2, 1.3, false);
        return other.posterior.phi + gain;
      };
      expect(phiAt(meanShift)).toBeCloseTo(phi, 8);
      expect(relativeError(other.posterior.mean, mean)).toBeLessThan(1e-8);
      const directions =
        kind === "scalar" ? [new Float64Array(d).fill(1)] : [...Array(d).keys()].map((k) => unit(d, k));
      for (const v of directions) {
        for (const step of [-0.1, 0.1]) {
          expect(phiAt(meanShift.map((s, k) => s + step * v[k]))).toBeLessThan(phi);
        }
      }
    });

    it(`has the gradient of φ by α and ℓ (d = ${d}, q = ${q}, ${kind} mean)`, () => {
      const problem = withMean(randomProblem(d, q), kind);
      const phi = (x: Float64Array) => solveAt(problem, Math.exp(x[0]), Math.exp(x[1]), false).posterior.phi;
      const gradient = Float64Array.from(solveAt(problem, 2, 1.5, true).posterior.gradient);
      expectGradient(phi, Float64Array.of(Math.log(2), Math.log(1.5)), gradient);
    });
  }

  it.each(["scalar", "spline"] as const)("alone, with the map as it is, ends where its slope is zero: %s", (kind) => {
    const problem = randomProblem(5, 2);
    const { layout } = problem;
    const random = createRandom(9);
    const map = Float64Array.from({ length: 5 * layout.numNodes }, () => random.normal());
    const design = meanDesign(kind, 5);
    const shift = meanStep(jointMean(layout, design, problem.nodeSums), map);
    expect(Math.max(...shift.map(Math.abs))).toBeGreaterThan(0.1);
    const { sums } = movedSums(problem, shift);
    const again = meanStep(jointMean(layout, design, sums), map);
    expect(Math.max(...again.map(Math.abs))).toBeLessThan(1e-10);
  });

  it("leaves a coefficient where it is that no observed time determines", () => {
    const problem = withMean(randomProblem(4, 1, 3), "spline");
    const solution = solveAt(problem, 2, 1.3, false);
    const { meanShift } = solution.posterior;
    expect(Math.abs(meanShift[3])).toBeLessThan(1e-8);
    for (let k = 0; k < 3; k++) expect(Math.abs(meanShift[k])).toBeGreaterThan(1e-3);
  });
});

function unit(d: number, k: number): Float64Array {
  const e = new Float64Array(d);
  e[k] = 1;
  return e;
}
