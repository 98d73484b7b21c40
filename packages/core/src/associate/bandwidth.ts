/**
 * Plug-in bandwidths for the integrated squared density, as in R's ks::kde.test (Duong, Goud & Schauer 2012).
 * The sample x [n,d] is sphered to x* = x S^−½; a pilot bandwidth h₂ gives the second-order functional
 *   Ψ = n⁻² Σ_ij φ_{h₂²I}(u) (uu'/h₂⁴ − I/h₂²),  u = x*_i − x*_j,  always negative definite;
 * the bandwidth H* of the sphered sample solves K₀ n⁻¹ |H*|^−½ + ½ tr(H*Ψ) = 0, and H = S^½ H* S^½. The equation has a
 * whole surface of solutions for d ≥ 2: "ks" takes the one where R's optimiser ends, "closed-form" the multiple of I.
 * In one dimension ks has its own rule, for both names.                             (docs/math/association.md §10)
 */
import { DtmError } from "../errors.ts";
import { choleskyInPlace } from "../numeric/cholesky.ts";
import { multiply, trace } from "../numeric/matrix.ts";
import { gradientOuterIntegral } from "./gauss-grid.ts";
import { minimizeLikeR } from "./r-bfgs.ts";
import type { Sample } from "./sample.ts";

export type BandwidthRule = "ks" | "closed-form";

/** A bandwidth and what led to it. */
export interface Bandwidth {
  readonly rule: BandwidthRule;
  /** H [d,d], in squared units of the places; [h²] in one dimension. */
  readonly matrix: Float64Array;
  /** h₂ in the sphered space; g in the units of the places in one dimension. */
  readonly pilot: number;
  /** Ψ [d,d] of the sphered sample; ψ₂ of the sample itself in one dimension. */
  readonly functional: Float64Array;
}

/** The bandwidth of a sample. */
export function selectBandwidth(sample: Sample, rule: BandwidthRule): Bandwidth {
  if (sample.d === 1) return { rule, ...oneDimensional(sample) };
  const { n, d } = sample;
  const { pilot, functional } = spheredFunctional(sample);
  const sphered = rule === "ks" ? minimizeObjective(functional, n, d) : closedForm(functional, n, d);
  const half = multiply(sample.root, sphered, d, d, d);
  return { rule, matrix: multiply(half, sample.root, d, d, d), pilot, functional };
}

/** Pilot bandwidth h₂ = [2^{d/2+1} / (n(d+2))]^{1/(d+4)} and Ψ of the sphered sample. */
function spheredFunctional(sample: Sample): { readonly pilot: number; readonly functional: Float64Array } {
  const { n, d } = sample;
  const pilot = (2 ** (d / 2 + 1) / (n * (d + 2))) ** (1 / (d + 4));
  const z = multiply(sample.x, sample.inverseRoot, n, d, d);
  for (let k = 0; k < z.length; k++) z[k] /= pilot;
  const functional = gridFunctional(z, d) ?? pairFunctional(z, n, d);
  // z is in pilots: φ brings h₂^−d, the two derivatives h₂^−2.
  const scale = (2 * Math.PI) ** (-d / 2) / (n * n * pilot ** (d + 2));
  for (let k = 0; k < functional.length; k++) functional[k] *= scale;
  return { pilot, functional };
}

/** Σ_ij exp(−½|u|²)(uu' − I), u = z_i − z_j, pair by pair; [d,d]. */
function pairFunctional(z: Float64Array, n: number, d: number): Float64Array {
  const out = new Float64Array(d * d);
  const u = new Float64Array(d);
  let total = 0;
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < i; j++) {
      let r = 0;
      for (let k = 0; k < d; k++) {
        u[k] = z[i * d + k] - z[j * d + k];
        r += u[k] * u[k];
      }
      const w = Math.exp(-0.5 * r);
      total += w;
      for (let a = 0; a < d; a++) for (let b = 0; b <= a; b++) out[a * d + b] += w * u[a] * u[b];
    }
  }
  for (let a = 0; a < d; a++) {
    for (let b = 0; b <= a; b++) {
      // Each pair counts twice, the diagonal i = j once.
      const v = 2 * out[a * d + b] - (a === b ? 2 * total + n : 0);
      out[a * d + b] = v;
      out[b * d + a] = v;
    }
  }
  return out;
}

/** The same sum in linear time for many: −(2/π)^{d/2} ∫ ∇F∇F' for F(t) = Σ exp(−|t − z_i|²). */
function gridFunctional(z: Float64Array, d: number): Float64Array | undefined {
  return gradientOuterIntegral(z, d)?.map((v) => v * -((2 / Math.PI) ** (d / 2)));
}

/** H* = h²I with h = [−2K₀/(n tr Ψ)]^{1/(d+2)}: the one solution that treats all directions alike. */
function closedForm(functional: Float64Array, n: number, d: number): Float64Array {
  const h = ((-2 * (2 * Math.PI) ** (-d / 2)) / (n * trace(functional, d))) ** (1 / (d + 2));
  const H = new Float64Array(d * d);
  for (let k = 0; k < d; k++) H[k * d + k] = h * h;
  return H;
}

/** Follows R: Q(V) = (K₀/(n|H*|^½) + ½ tr(H*Ψ))², H* = V², over vech V, from H* = 2[2/(nd)]^{2/(d+2)} I. */
function minimizeObjective(functional: Float64Array, n: number, d: number): Float64Array {
  const K0 = (2 * Math.PI) ** (-d / 2);
  const V = new Float64Array(d * d);
  const H = new Float64Array(d * d);
  const L = new Float64Array(d * d);
  const square = (theta: Float64Array) => {
    for (let column = 0, k = 0; column < d; column++) {
      for (let row = column; row < d; row++, k++) {
        V[row * d + column] = theta[k];
        V[column * d + row] = theta[k];
      }
    }
    multiply(V, V, d, d, d, H);
  };
  const objective = (theta: Float64Array) => {
    square(theta);
    let half = 0;
    for (let k = 0; k < H.length; k++) half += 0.5 * H[k] * functional[k];
    L.set(H);
    if (!choleskyInPlace(L, d)) return Number.POSITIVE_INFINITY;
    let root = 1;
    for (let k = 0; k < d; k++) root *= L[k * d + k];
    return (K0 / (n * root) + half) ** 2;
  };
  const start = new Float64Array((d * (d + 1)) / 2);
  const side = Math.sqrt(2 * (2 / (n * d)) ** (2 / (d + 2)));
  for (let column = 0, k = 0; column < d; k += d - column, column++) start[k] = side;
  const { x } = minimizeLikeR(objective, start);
  square(x);
  return H.slice();
}

/** σ → ψ₄ = 3/(8√π σ⁵) → g = [2K₀/(ψ₄n)]^{1/5} → ψ₂ = n⁻² Σ φ_g''(x_i − x_j) → h = [K₀/(−ψ₂n)]^{1/3}. */
function oneDimensional(sample: Sample): Omit<Bandwidth, "rule"> {
  const { x, n } = sample;
  const K0 = 1 / Math.sqrt(2 * Math.PI);
  const psi4 = 3 / (8 * Math.sqrt(Math.PI) * sample.covariance[0] ** 2.5);
  const pilot = ((2 * K0) / (psi4 * n)) ** 0.2;
  const z = x.map((v) => v / pilot);
  const sum = gridFunctional(z, 1) ?? pairFunctional(z, n, 1);
  const psi2 = (K0 * sum[0]) / (n * n * pilot ** 3);
  const h = (K0 / (-psi2 * n)) ** (1 / 3);
  if (!(h > 0 && Number.isFinite(h))) {
    throw new DtmError("bandwidth", `bandwidth: expected a positive width, received ${h}; are the places too spread?`);
  }
  return { matrix: Float64Array.of(h * h), pilot, functional: Float64Array.of(psi2) };
}
