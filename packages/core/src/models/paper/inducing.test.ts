import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../../test/expect-gradient.ts";
import {
  directSums,
  elboTerms,
  exactInducingPosterior,
  naturalOfPosterior,
  priorInducingPosterior,
  unwhiten,
  whiten,
} from "../../../../../test/paper-bound.ts";
import { randomProblem } from "../../../../../test/paper-problem.ts";
import { naturalStep } from "../gp/solve.ts";
import { requireKernelFactor } from "./bound.ts";
import {
  coefficientsOfInducing,
  createInducingCoefficients,
  createInducingSolve,
  inducingKl,
  inducingOfCoefficients,
  naturalTarget,
  posteriorOfNatural,
  rewhitenNatural,
} from "./inducing.ts";

describe("q(u)", () => {
  const problem = randomProblem(11, { q: 2, p: 5, m: 12 });
  const { statistics, parameters, theta, posterior, p, d } = problem;
  const factor = requireKernelFactor(parameters);
  const map = { statistics, parameters, factor };
  const sums = directSums(parameters, statistics, theta, false);
  const exact = exactInducingPosterior(map, sums);

  it("reaches the closed form by one full-batch natural step of length 1, from anywhere", () => {
    const target = naturalTarget(map, sums);
    for (const start of [posterior, priorInducingPosterior(p, d)]) {
      const reached = posteriorOfNatural(naturalStep(naturalOfPosterior(start), target, 1));
      expect(relativeError(reached.mean, exact.mean)).toBeLessThan(1e-12);
      expect(relativeError(reached.covariance, exact.covariance)).toBeLessThan(1e-12);
    }
  });

  it("rises monotonically along natural steps with all individuals", () => {
    const target = naturalTarget(map, sums);
    let natural = naturalOfPosterior(posterior);
    const bound = () => {
      const at = coefficientsOfInducing(map, posteriorOfNatural(natural));
      return elboTerms(parameters, statistics, theta, false, at).terms.total;
    };
    let before = bound();
    for (let step = 0; step < 10; step++) {
      natural = naturalStep(natural, target, 0.2);
      const value = bound();
      expect(value).toBeGreaterThan(before);
      before = value;
    }
  });

  it("is the same whitened, unwhitened and in coefficient space", () => {
    const u = unwhiten(exact, factor, p, d);
    const back = whiten(u.mean, u.covariance, factor, p, d);
    expect(relativeError(back.mean, exact.mean)).toBeLessThan(1e-10);
    expect(relativeError(back.covariance, exact.covariance)).toBeLessThan(1e-10);
    expect(back.logDet).toBeCloseTo(exact.logDet, 8);
    for (const kernels of ["typescript", "wasm-simd"] as const) {
      const solved = createInducingCoefficients(statistics, p, d);
      expect(createInducingSolve(statistics, p, d, kernels)(map, sums, solved)).toBe(true);
      const whitened = inducingOfCoefficients(map, solved);
      expect(relativeError(whitened.mean, exact.mean)).toBeLessThan(1e-10);
      expect(relativeError(whitened.covariance, exact.covariance)).toBeLessThan(1e-10);
      expect(solved.kl).toBeCloseTo(inducingKl(exact), 9);
      expect(inducingKl(whitened)).toBeCloseTo(inducingKl(exact), 8);
    }
  });

  it("has no KL at the prior, and a positive one elsewhere", () => {
    expect(inducingKl(priorInducingPosterior(p, d))).toBe(0);
    expect(inducingKl(posterior)).toBeGreaterThan(0);
  });

  it("stays the same q(u) when the kernel moves and it is whitened anew", () => {
    const kernel = { ...parameters.kernel, signalVariance: 1.7 * parameters.kernel.signalVariance };
    const after = requireKernelFactor({ ...parameters, kernel });
    const moved = posteriorOfNatural(
      rewhitenNatural({ parameters, factor: after }, naturalOfPosterior(posterior), factor),
    );
    const [a, b] = [unwhiten(posterior, factor, p, d), unwhiten(moved, after, p, d)];
    expect(relativeError(b.mean, a.mean)).toBeLessThan(1e-9);
    expect(relativeError(b.covariance, a.covariance)).toBeLessThan(1e-9);
  });
});
