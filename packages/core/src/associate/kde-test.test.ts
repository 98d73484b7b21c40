import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../test/expect-gradient.ts";
import { createRandom, type Random } from "../numeric/random.ts";
import { selectBandwidth } from "./bandwidth.ts";
import { kdeTest } from "./kde-test.ts";
import { minimizeLikeR } from "./r-bfgs.ts";
import { describeSample } from "./sample.ts";

const normals = (random: Random, n: number, d: number, shift = 0) =>
  Float64Array.from({ length: n * d }, () => random.normal() + shift);

const FIXTURES = new URL("../../../../fixtures/kde/", import.meta.url);

describe("kdeTest", () => {
  it.each(readdirSync(FIXTURES).filter((name) => /^d\d.*\.json$/.test(name)))("agrees with ks on %s", (name) => {
    const fixture = JSON.parse(readFileSync(new URL(name, FIXTURES), "utf8"));
    const d: number = fixture.dimension;
    const { ks, exact_gradient: exact } = fixture;
    const H = d === 1 ? [[ks.h1 ** 2], [ks.h2 ** 2]] : [ks.H1.flat(), ks.H2.flat()];
    const x1 = Float64Array.from(fixture.x1.flat());
    const x2 = Float64Array.from(fixture.x2.flat());
    const test = kdeTest(x1, x2, d, { bandwidth: [Float64Array.from(H[0]), Float64Array.from(H[1])] });
    expect(relativeError([test.statistic, test.nullMean], [ks.Tstat, ks.mean])).toBeLessThan(1e-10);
    expect(relativeError([test.nullVariance], [exact.var])).toBeLessThan(1e-9);
    expect(Math.abs(test.z - exact.zstat)).toBeLessThan(1e-9 * Math.abs(exact.zstat));
    // Own bandwidths: equal unless ks bins the sample first, which moves them by half a percent.
    const own = kdeTest(x1, x2, d);
    const binned = d === 2 && Math.max(fixture.x1.length, fixture.x2.length) > 500;
    expect(relativeError(own.bandwidth1, H[0])).toBeLessThan(binned ? 1e-2 : 1e-9);
    expect(relativeError(own.bandwidth2, H[1])).toBeLessThan(binned ? 1e-2 : 1e-9);
  });

  it("finds no difference between a sample and itself", () => {
    const x = normals(createRandom(1), 40, 2);
    const test = kdeTest(x, x, 2);
    expect(Math.abs(test.statistic)).toBeLessThan(1e-14);
    expect(test.z).toBeLessThan(0);
    expect(test.pValue).toBeGreaterThan(0.5);
  });

  it("does not depend on which sample is called the first", () => {
    const random = createRandom(2);
    const [a, b] = [normals(random, 30, 2), normals(random, 45, 2, 0.5)];
    expect(kdeTest(a, b, 2).z).toBeCloseTo(kdeTest(b, a, 2).z, 12);
  });

  it("has the same z in any affine coordinates, with the closed-form bandwidth", () => {
    const random = createRandom(3);
    const [a, b] = [normals(random, 30, 2), normals(random, 45, 2, 0.7)];
    const map = (x: Float64Array) =>
      x.map((_, k) => (k % 2 === 0 ? 3 * x[k] - x[k + 1] + 5 : 0.5 * x[k - 1] + 2 * x[k] - 1));
    const z = kdeTest(a, b, 2, { bandwidth: "closed-form" }).z;
    expect(kdeTest(map(a), map(b), 2, { bandwidth: "closed-form" }).z).toBeCloseTo(z, 10);
  });

  it("keeps tiny p-values", () => {
    const random = createRandom(4);
    const { z, pValue } = kdeTest(normals(random, 150, 1), normals(random, 150, 1, 3), 1);
    expect(z).toBeGreaterThan(8);
    expect(pValue).toBeLessThan(1e-15);
    expect(pValue).toBeGreaterThanOrEqual(0);
  });

  // In one dimension only the rounding of nine million terms is left.
  it.each([
    [1, 1e-11],
    [2, 1e-8],
    [3, 1e-5],
  ])("takes linear time for many and gives the same numbers, %i dimensions to %f", (d, tolerance) => {
    const random = createRandom(5);
    const many = 3001;
    const [x, y] = [normals(random, many, d), normals(random, 60, d, 0.2)];
    const fast = kdeTest(x, y, d, { bandwidth: "closed-form" });
    expect(Math.abs(fast.psi1 / psiOf(x, x, d, fast.bandwidth1) - 1)).toBeLessThan(tolerance);
    expect(Math.abs(fast.psi21 / psiOf(y, x, d, fast.bandwidth2) - 1)).toBeLessThan(tolerance);
    // One individual fewer is summed pair by pair and can hardly change the bandwidth.
    const nearly = selectBandwidth(describeSample(x.subarray(0, (many - 1) * d), d), "closed-form").matrix;
    expect(relativeError(fast.bandwidth1, nearly)).toBeLessThan(1e-2);
  });

  it.each([
    ["too-few-individuals", [1, 2, 3, 5], [0, 1, 1, 0, 2, 2]],
    ["constant-column", [1, 2, 1, 3, 1, 5, 1, 7], [0, 1, 1, 0, 2, 2, 1, 3]],
    ["singular-covariance", [1, 2, 2, 4, 3, 6, 5, 10], [0, 1, 1, 0, 2, 2, 1, 3]],
    ["not-finite", [1, Number.NaN, 2, 4, 3, 6, 5, 1], [0, 1, 1, 0, 2, 2, 1, 3]],
    ["zero-variance", [1, 0, -1, 0, 0, 1, 0, -1], [2, 0, -2, 0, 0, 2, 0, -2]],
  ])("refuses with %s", (code, first, second) => {
    expect(() => kdeTest(Float64Array.from(first), Float64Array.from(second), 2)).toThrowError(
      expect.objectContaining({ code }),
    );
  });
});

/** Mean of φ_H(x_i − y_j) over all pairs, slow and obvious. */
function psiOf(x: Float64Array, y: Float64Array, d: number, H: Float64Array): number {
  const n = x.length / d;
  const m = y.length / d;
  const L = new Float64Array(d * d);
  for (let i = 0; i < d; i++) {
    for (let j = 0; j <= i; j++) {
      let s = H[i * d + j];
      for (let k = 0; k < j; k++) s -= L[i * d + k] * L[j * d + k];
      L[i * d + j] = i === j ? Math.sqrt(s) : s / L[j * d + j];
    }
  }
  let determinant = 1;
  for (let k = 0; k < d; k++) determinant *= L[k * d + k];
  let total = 0;
  const z = new Float64Array(d);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < m; j++) {
      let r = 0;
      for (let a = 0; a < d; a++) {
        let u = x[i * d + a] - y[j * d + a];
        for (let b = 0; b < a; b++) u -= L[a * d + b] * z[b];
        z[a] = u / L[a * d + a];
        r += z[a] * z[a];
      }
      total += Math.exp(-0.5 * r);
    }
  }
  return ((2 * Math.PI) ** (-d / 2) * total) / (determinant * n * m);
}

describe("selectBandwidth", () => {
  // R's optimiser stops when the square of the left side no longer falls by 1.5e-8.
  it.each([
    ["ks", 1e-4],
    ["closed-form", 1e-12],
  ] as const)("solves its equation K₀/(n|H*|^½) + ½ tr(H*Ψ) = 0 (%s)", (rule, tolerance) => {
    for (const d of [2, 3]) {
      const sample = describeSample(normals(createRandom(6), 80, d), d);
      const { matrix, functional } = selectBandwidth(sample, rule);
      // H* = S^−½ H S^−½: tr(H*Ψ) = tr(S^−½ H S^−½ Ψ), |H*| = |H|/|S|.
      const left = product(product(sample.inverseRoot, matrix, d), sample.inverseRoot, d);
      const half = 0.5 * product(left, functional, d).reduce((s, v, k) => s + (k % (d + 1) === 0 ? v : 0), 0);
      const K0 = (2 * Math.PI) ** (-d / 2) / (sample.n * Math.sqrt(determinantOf(left, d)));
      expect(Math.abs(K0 + half)).toBeLessThan(tolerance * K0);
    }
  });

  it("is the same for both rules in one dimension", () => {
    const sample = describeSample(normals(createRandom(7), 50, 1), 1);
    expect(selectBandwidth(sample, "ks").matrix).toEqual(selectBandwidth(sample, "closed-form").matrix);
  });
});

function product(A: Float64Array, B: Float64Array, d: number): Float64Array {
  return A.map((_, k) => {
    let s = 0;
    for (let l = 0; l < d; l++) s += A[Math.floor(k / d) * d + l] * B[l * d + (k % d)];
    return s;
  });
}

function determinantOf(A: Float64Array, d: number): number {
  if (d === 2) return A[0] * A[3] - A[1] * A[2];
  const minor = (a: number, b: number, c: number, e: number) => A[a] * A[e] - A[b] * A[c];
  return A[0] * minor(4, 5, 7, 8) - A[1] * minor(3, 5, 6, 8) + A[2] * minor(3, 4, 6, 7);
}

describe("minimizeLikeR", () => {
  it("finds the minimum of a bowl and of Rosenbrock's valley", () => {
    const bowl = minimizeLikeR((x) => (x[0] - 1) ** 2 + 3 * (x[1] + 2) ** 2, Float64Array.of(5, 5));
    expect(relativeError(bowl.x, [1, -2])).toBeLessThan(1e-6);
    // R 4.2.2: optim(c(-1.2, 1), function(x) 100 * (x[2] - x[1]^2)^2 + (1 - x[1])^2, method = "BFGS")$par
    const valley = (x: Float64Array) => 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2;
    const { x } = minimizeLikeR(valley, Float64Array.of(-1.2, 1));
    expect(relativeError(x, [0.9998044332313974, 0.9996083806234812])).toBeLessThan(1e-9);
  });
});
