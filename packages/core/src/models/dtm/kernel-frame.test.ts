import { describe, expect, it } from "vitest";
import { createRandom } from "../../numeric/random.ts";
import { gridLocations } from "../gp/inducing.ts";
import { carryCovariance, fromFrame, kernelFrame, toFrame } from "./kernel-frame.ts";
import { nodeGeometry, nodeKernel } from "./node-kernel.ts";

const JITTER = 1e-6;

/** Geometry of a grid with its own places as nodes, whitened features there, and the frame. */
function gridAt(q: number, perAxis: number, ell: number) {
  const places = gridLocations(q, perAxis);
  const geometry = nodeGeometry(places, places, q, JITTER);
  const kernel = nodeKernel(geometry, 1, ell, false);
  const U = kernelFrame(geometry.inducingDistances, perAxis, JITTER, ell);
  return { p: geometry.numInducing, features: kernel.features, U };
}

const cases = [
  { q: 1, perAxis: 9 },
  { q: 2, perAxis: 3 },
  { q: 2, perAxis: 5 },
] as const;

describe("the frame of the kernel's eigenvectors", () => {
  for (const { q, perAxis } of cases) {
    for (const ell of [0.3, 1, 4, 12]) {
      it(`is orthogonal and turns signs alone in a mirror, ${perAxis} places on each of ${q} axes, ℓ = ${ell}`, () => {
        const { p, features, U } = gridAt(q, perAxis, ell);
        for (let a = 0; a < p; a++) {
          for (let b = 0; b < p; b++) {
            let s = 0;
            for (let j = 0; j < p; j++) s += U[a * p + j] * U[b * p + j];
            // D loses digits against ε where eigenvalues are far below it.
            expect(Math.abs(s - (a === b ? 1 : 0))).toBeLessThan(1e-8);
          }
        }
        // Features of a place and of the opposite one, in the frame.
        const column = (g: number) =>
          toFrame(
            Float64Array.from({ length: p }, (_, j) => features[j * p + g]),
            U,
          );
        for (let g = 0; g < p; g++) {
          const [here, there] = [column(g), column(p - 1 - g)];
          // Eigenvalues nearly coincide where ℓ is far below the distance of places.
          for (let j = 0; j < p; j++) expect(Math.abs(Math.abs(here[j]) - Math.abs(there[j]))).toBeLessThan(1e-6);
        }
      });
    }
  }

  it("brings back what it took, and carries covariances with the values they belong to", () => {
    const [one, other] = [gridAt(2, 3, 1), gridAt(2, 3, 2.5)];
    const [p, d] = [one.p, 2];
    const n = d * p;
    const random = createRandom(1);
    const v = Float64Array.from({ length: n }, () => random.normal());
    const back = fromFrame(toFrame(v, one.U), one.U);
    for (let e = 0; e < n; e++) expect(Math.abs(back[e] - v[e])).toBeLessThan(1e-10);

    const outer = Float64Array.from({ length: n * n }, (_, e) => v[Math.floor(e / n)] * v[e % n]);
    const carried = fromFrame(toFrame(v, one.U), other.U);
    const covariance = carryCovariance(outer, n, one.U, other.U);
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) expect(Math.abs(covariance[i * n + j] - carried[i] * carried[j])).toBeLessThan(1e-9);
      for (let j = 0; j < i; j++) expect(covariance[i * n + j]).toBe(covariance[j * n + i]);
    }
  });
});
