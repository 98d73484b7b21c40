/** fixtures/psi.json: kernel matrix, psi statistics and all their derivatives. */

import { type Kernel, kernelMatrix, rbfKernel } from "../../packages/core/src/models/gp/kernel.ts";
import { factorKernel } from "../../packages/core/src/models/gp/stable-kernel.ts";
import { locationKl, packLocations } from "../../packages/core/src/models/paper/state.ts";
import { addPsiGradient, computePsi, createPsi, createPsiGradient, type PsiGradient } from "../../test/psi.ts";
import { type Check, type Checker, compare, flatten, type Nested } from "./checker.ts";

interface PsiSubject {
  readonly m: readonly number[];
  readonly S: Nested;
  readonly psi1: Nested;
  readonly Psi2: Nested;
  readonly dpsi1_dm: Nested;
  readonly dpsi1_dS: Nested;
  readonly dpsi1_dlogell: Nested;
  readonly dPsi2_dm: Nested;
  readonly dPsi2_dS: Nested;
  readonly dPsi2_dlogell: Nested;
  readonly kl: number;
}

interface PsiCase {
  readonly q: number;
  readonly p: number;
  readonly diagonal_S: boolean;
  readonly alpha: number;
  readonly ell: number;
  readonly eps: number;
  readonly Z: Nested;
  readonly K: Nested;
  readonly K_chol: Nested;
  readonly K_logdet: number;
  readonly K_inv: Nested;
  readonly subjects: readonly PsiSubject[];
}

/** Checks a file of the form of fixtures/psi.json. */
export const checkPsi: Checker = (fixture: { readonly cases: readonly PsiCase[] }) =>
  fixture.cases.flatMap((c, n) => checkCase(c, `cases[${n}]`));

function checkCase(c: PsiCase, path: string): Check[] {
  const { p, q } = c;
  const Z = flatten(c.Z);
  const kernel = rbfKernel(q, c.alpha, c.ell, c.eps);
  const factor = factorKernel(kernel, Z, p, q)!;
  const checks = [
    compare(`${path}.K`, kernelMatrix(kernel, Z, p, q), c.K),
    compare(`${path}.K_chol`, factor.cholesky, c.K_chol),
    compare(`${path}.K_logdet`, factor.logDet, c.K_logdet),
    compare(`${path}.K_inv`, factor.inverse, c.K_inv),
  ];
  c.subjects.forEach((s, i) => {
    checks.push(...checkSubject(c, s, kernel, Z, `${path}.subjects[${i}]`));
  });
  return checks;
}

function checkSubject(c: PsiCase, s: PsiSubject, kernel: Kernel, Z: Float64Array, path: string): Check[] {
  const { p, q } = c;
  const m = Float64Array.from(s.m);
  const S = flatten(s.S);
  const psi = createPsi(p);
  const at = { kernel, inducingLocations: Z, numInducing: p, mapDimension: q };
  computePsi(at, { m, S }, psi);
  // A derivative of one entry is the pull-back of a unit weight.
  const pull = (j: number, k: number | null): PsiGradient => {
    const weights = createPsi(p);
    if (k === null) weights.psi1[j] = 1;
    else {
      weights.psi2[j * p + k] += 0.5;
      weights.psi2[k * p + j] += 0.5;
    }
    const out = createPsiGradient(p, q);
    addPsiGradient(at, { place: { m, S }, psi, weights }, out);
    return out;
  };
  const entries1 = Array.from({ length: p }, (_, j) => pull(j, null));
  const entries2 = Array.from({ length: p * p }, (_, e) => pull(Math.floor(e / p), e % p));
  const places = (g: PsiGradient[]) => g.map((x) => Array.from(x.location));
  const covariances = (g: PsiGradient[]) => g.map((x) => Array.from(x.covariance));
  const lengthscale = (g: PsiGradient[]) => g.map((x) => x.logLengthscales.reduce((a, b) => a + b, 0));
  const theta = packLocations({ mean: m, covariance: S }, q, c.diagonal_S);
  return [
    compare(`${path}.psi1`, psi.psi1, s.psi1),
    compare(`${path}.Psi2`, psi.psi2, s.Psi2),
    compare(`${path}.dpsi1_dm`, places(entries1), s.dpsi1_dm),
    compare(`${path}.dpsi1_dS`, covariances(entries1), s.dpsi1_dS),
    compare(`${path}.dpsi1_dlogell`, lengthscale(entries1), s.dpsi1_dlogell),
    compare(`${path}.dPsi2_dm`, places(entries2), s.dPsi2_dm),
    compare(`${path}.dPsi2_dS`, covariances(entries2), s.dPsi2_dS),
    compare(`${path}.dPsi2_dlogell`, lengthscale(entries2), s.dPsi2_dlogell),
    compare(`${path}.kl`, locationKl(theta, 0, q, c.diagonal_S), s.kl),
  ];
}
