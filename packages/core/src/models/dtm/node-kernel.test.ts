import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../../test/expect-gradient.ts";
import { cholesky, solveLowerMatrixInPlace } from "../../numeric/cholesky.ts";
import { transpose } from "../../numeric/matrix.ts";
import { gridLocations } from "../gp/inducing.ts";
import { kernelCross, kernelMatrix, rbfKernel } from "../gp/kernel.ts";
import { nodeGeometry, nodeKernel } from "./node-kernel.ts";
import { latticeNodes } from "./nodes.ts";

function at(q: number, alpha: number, ell: number) {
  const nodes = latticeNodes(q, { step: 1, radius: 3 });
  const Z = gridLocations(q, 3);
  const geometry = nodeGeometry(nodes.locations, Z, q, 1e-6);
  const kernel = nodeKernel(geometry, alpha, ell, true);
  return { nodes, Z, geometry, kernel };
}

describe("nodeKernel", () => {
  for (const q of [1, 2]) {
    it(`whitens as the map's own features do (q = ${q})`, () => {
      const { nodes, Z, geometry, kernel } = at(q, 2.5, 1.3);
      const p = geometry.numInducing;
      // a = L_K⁻¹ k(x_n) as columns, [p,n].
      const isotropic = rbfKernel(q, 2.5, 1.3);
      const A = transpose(kernelCross(isotropic, nodes.locations, nodes.numNodes, Z, p, q), nodes.numNodes, p);
      solveLowerMatrixInPlace(cholesky(kernelMatrix(isotropic, Z, p, q), p, "K"), p, A, nodes.numNodes);
      expect(relativeError(kernel.features, A)).toBeLessThan(1e-12);
      for (let g = 0; g < nodes.numNodes; g++) {
        let s = 0;
        for (let j = 0; j < p; j++) s += A[j * nodes.numNodes + g] ** 2;
        expect(kernel.restVariance[g]).toBeCloseTo(Math.max(0, 2.5 - s), 10);
      }
    });

    for (const ell of [0.4, 1, 3]) {
      it(`differentiates the features by log ℓ (q = ${q}, ℓ = ${ell})`, () => {
        const h = 1e-5;
        const { kernel } = at(q, 2.5, ell);
        const up = at(q, 2.5, ell * Math.exp(h)).kernel.features;
        const down = at(q, 2.5, ell * Math.exp(-h)).kernel.features;
        const difference = up.map((v, e) => (v - down[e]) / (2 * h));
        expect(relativeError(kernel.featuresDot ?? [], difference)).toBeLessThan(1e-6);
      });
    }
  }
});
