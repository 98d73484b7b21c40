import { describe, expect, it } from "vitest";
import { expectGradient, relativeError } from "../../../../test/expect-gradient.ts";
import { randomCohort } from "../../../../test/random-cohort.ts";
import { designMatrix } from "../basis/bspline.ts";
import { pooledGram, residualStatistics } from "../basis/statistics.ts";
import { onlyMarker } from "../cohort/cohort.ts";
import {
  designGradient,
  designInformation,
  meanCoefficients,
  meanDesign,
  meanParameters,
  meanShift,
  misfitChange,
  numUndetermined,
} from "./mean.ts";

const { statistics, cohort, basis } = randomCohort({ seed: 31 });
const d = basis.numBasis;
const G = pooledGram(statistics);
const start = new Float64Array(d).fill(18);
const E = new Float64Array(d);
for (let i = 0; i < statistics.numIndividuals; i++) {
  const g = new Float64Array(d);
  residualStatistics(statistics, i, start, g);
  for (let k = 0; k < d; k++) E[k] += g[k];
}

/** Σ (y − b(t)'β)², read observation by observation. */
function squares(beta: Float64Array): number {
  const B = designMatrix(basis, onlyMarker(cohort).times);
  let total = 0;
  onlyMarker(cohort).values.forEach((y, j) => {
    let r = y;
    for (let k = 0; k < d; k++) r -= B[j * d + k] * beta[k];
    total += r * r;
  });
  return total;
}

const moved = (shift: Float64Array) => start.map((b, k) => b + shift[k]);

describe.each(["scalar", "spline"] as const)("a %s mean", (kind) => {
  const design = meanDesign(kind, d);
  const at = (gamma: Float64Array) => squares(meanCoefficients(design, gamma));

  it("moves to least squares, and says by how much the squares fall", () => {
    const shift = meanShift(design, G, E);
    const gamma = meanParameters(design, moved(shift));
    expectGradient(at, gamma, new Float64Array(design.numColumns), 1e-8 * squares(start));
    expect(relativeError(misfitChange(G, E, shift), [squares(moved(shift)) - squares(start)])).toBeLessThan(1e-9);
    expect(numUndetermined(design, G)).toBe(0);
  });

  it("has the gradient −2H'E and the curvature 2H'GH", () => {
    const gamma = meanParameters(design, start);
    expectGradient(
      at,
      gamma,
      designGradient(design, E).map((v) => -2 * v),
    );
    const c = design.numColumns;
    const information = designInformation(design, G);
    for (let k = 0; k < c; k++) {
      const step = gamma.map((v, l) => v + (l === k ? 1 : 0));
      const back = gamma.map((v, l) => v - (l === k ? 1 : 0));
      const curvature = at(step) + at(back) - 2 * at(gamma);
      expect(Math.abs(curvature / (2 * information[k * c + k]) - 1)).toBeLessThan(1e-8);
    }
  });

  it("is read back from its coefficients", () => {
    const gamma = Float64Array.from({ length: design.numColumns }, (_, k) => 3 + k);
    expect(meanParameters(design, meanCoefficients(design, gamma))).toEqual(gamma);
  });
});

describe("meanShift", () => {
  it("takes the solution of least norm where times leave coefficients open", () => {
    const open = G.map((v, e) => (e % d === d - 1 || Math.floor(e / d) === d - 1 ? 0 : v));
    const residual = E.map((v, k) => (k === d - 1 ? 0 : v));
    const design = meanDesign("spline", d);
    expect(meanShift(design, open, residual)[d - 1]).toBe(0);
    expect(numUndetermined(design, open)).toBe(1);
  });
});
