import { describe, expect, it } from "vitest";
import { gradientError, relativeError } from "../../../../../test/expect-gradient.ts";
import { randomCovariance } from "../../../../../test/paper-problem.ts";
import { productRule } from "../../../../../test/product-rule.ts";
import { addPsiGradient, computePsi, createPsi, createPsiGradient, type Psi } from "../../../../../test/psi.ts";
import { cholesky } from "../../numeric/cholesky.ts";
import { gaussHermite } from "../../numeric/quadrature.ts";
import { createRandom, type Random } from "../../numeric/random.ts";
import { type Kernel, kernelCross, kernelVariance } from "../gp/kernel.ts";

const RULES = [gaussHermite(48), gaussHermite(40), gaussHermite(22)];

function randomKernel(random: Random, q: number, kind: "rbf" | "ard" | "linear"): Kernel {
  const signalVariance = Math.exp(random.normal());
  if (kind === "linear") return { kind, signalVariance, jitter: 1e-6 };
  const ell = 0.8 + random.uniform();
  const lengthscales = Float64Array.from({ length: q }, () => (kind === "ard" ? 0.8 + random.uniform() : ell));
  return { kind: "rbf", signalVariance, lengthscales, jitter: 1e-6 };
}

/** ψ0, ψ1, Ψ2 by quadrature over x = m + L ξ: slow and obvious. */
function quadraturePsi(kernel: Kernel, Z: Float64Array, p: number, q: number, m: Float64Array, S: Float64Array): Psi {
  const { nodes, logWeights } = productRule(RULES[q - 1], q);
  const L = cholesky(S, q);
  const out = createPsi(p);
  const x = new Float64Array(q);
  for (let n = 0; n < logWeights.length; n++) {
    for (let c = 0; c < q; c++) {
      x[c] = m[c];
      for (let b = 0; b <= c; b++) x[c] += L[c * q + b] * nodes[n * q + b];
    }
    const w = Math.exp(logWeights[n]);
    const k = kernelCross(kernel, x, 1, Z, p, q);
    out.psi0 += w * kernelVariance(kernel, x, 0, q);
    for (let j = 0; j < p; j++) {
      out.psi1[j] += w * k[j];
      for (let i = 0; i < p; i++) out.psi2[j * p + i] += w * k[j] * k[i];
    }
  }
  return out;
}

function randomCase(seed: number) {
  const random = createRandom(seed);
  const q = 1 + (seed % 3);
  const p = q === 3 ? 2 : 4;
  const kernel = randomKernel(random, q, (["rbf", "ard", "linear"] as const)[Math.floor(seed / 3) % 3]);
  const Z = Float64Array.from({ length: p * q }, () => 1.5 * random.normal());
  const m = Float64Array.from({ length: q }, () => random.normal());
  const S = randomCovariance(random, q, 0.02 + 0.1 * random.uniform());
  return { random, q, p, kernel, Z, m, S };
}

describe("psi statistics", () => {
  it("agree with Gauss–Hermite quadrature to 1e-9 in 200 random cases", () => {
    let worst = 0;
    for (let seed = 0; seed < 200; seed++) {
      const { q, p, kernel, Z, m, S } = randomCase(seed);
      const psi = createPsi(p);
      computePsi({ kernel, inducingLocations: Z, numInducing: p, mapDimension: q }, { m, S }, psi);
      const expected = quadraturePsi(kernel, Z, p, q, m, S);
      worst = Math.max(worst, relativeError([psi.psi0], [expected.psi0]));
      worst = Math.max(worst, relativeError(psi.psi1, expected.psi1), relativeError(psi.psi2, expected.psi2));
    }
    expect(worst).toBeLessThan(1e-9);
  });

  it("become the kernel itself when the place is certain", () => {
    const { q, p, kernel, Z, m } = randomCase(1);
    const at = { kernel, inducingLocations: Z, numInducing: p, mapDimension: q };
    const psi = createPsi(p);
    computePsi(at, { m, S: new Float64Array(q * q) }, psi);
    const k = kernelCross(kernel, m, 1, Z, p, q);
    expect(relativeError(psi.psi1, k)).toBeLessThan(1e-14);
    expect(psi.psi2[1]).toBeCloseTo(k[0] * k[1], 12);
  });

  it("have derivatives that agree with central differences at 100 random points", () => {
    let worst = 0;
    for (let seed = 0; seed < 100; seed++) worst = Math.max(worst, derivativeError(seed));
    expect(worst).toBeLessThan(1e-6);
  });
});

/** Error of the pull-back of random weights by m, lower S, log α, log ℓ and Z. */
function derivativeError(seed: number): number {
  const { random, q, p, kernel, Z, m, S } = randomCase(seed);
  const weights = createPsi(p);
  weights.psi0 = random.normal();
  for (let j = 0; j < p; j++) {
    weights.psi1[j] = random.normal();
    for (let k = 0; k <= j; k++) {
      weights.psi2[j * p + k] = random.normal();
      weights.psi2[k * p + j] = weights.psi2[j * p + k];
    }
  }
  const lower: [number, number][] = [];
  for (let c = 0; c < q; c++) for (let b = 0; b <= c; b++) lower.push([c, b]);
  const numEll = kernel.kind === "rbf" ? q : 0;
  const read = (x: Float64Array) => {
    let at = 0;
    const mean = x.slice(0, q);
    at += q;
    const cov = new Float64Array(q * q);
    for (const [c, b] of lower) {
      cov[c * q + b] = x[at];
      cov[b * q + c] = x[at++];
    }
    const signalVariance = Math.exp(x[at++]);
    const ell = x.slice(at, at + numEll).map(Math.exp);
    at += numEll;
    const trial: Kernel =
      kernel.kind === "rbf" ? { ...kernel, signalVariance, lengthscales: ell } : { ...kernel, signalVariance };
    return { mean, cov, trial, places: x.slice(at) };
  };
  const value = (x: Float64Array): number => {
    const { mean, cov, trial, places } = read(x);
    const psi = createPsi(p);
    const at = { kernel: trial, inducingLocations: places, numInducing: p, mapDimension: q };
    computePsi(at, { m: mean, S: cov }, psi);
    let s = weights.psi0 * psi.psi0;
    for (let j = 0; j < p; j++) s += weights.psi1[j] * psi.psi1[j];
    for (let e = 0; e < p * p; e++) s += weights.psi2[e] * psi.psi2[e];
    return s;
  };
  const ell = kernel.kind === "rbf" ? kernel.lengthscales.map(Math.log) : [];
  const x = Float64Array.from([
    ...m,
    ...lower.map(([c, b]) => S[c * q + b]),
    Math.log(kernel.signalVariance),
    ...ell,
    ...Z,
  ]);
  const psi = createPsi(p);
  const at = { kernel, inducingLocations: Z, numInducing: p, mapDimension: q };
  computePsi(at, { m, S }, psi);
  const out = createPsiGradient(p, q);
  addPsiGradient(at, { place: { m, S }, psi, weights }, out);
  const gradient = Float64Array.from([
    ...out.location,
    // Moving S_cb moves S_bc too.
    ...lower.map(([c, b]) => (c === b ? 1 : 2) * out.covariance[c * q + b]),
    out.logSignalVariance,
    ...out.logLengthscales.subarray(0, numEll),
    ...out.inducing,
  ]);
  return gradientError(value, x, gradient);
}
