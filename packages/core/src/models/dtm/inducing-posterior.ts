/**
 * The optimal q(v) = N(ν, Ξ) of the whitened inducing values for given node sums 𝒢_g = Σ_i r_ig G̃_i, γ_g = Σ_i r_ig g̃_i
 * (docs/math/dtm.md §5); index kp + j (coefficient k, inducing point j):
 *   Λ_kl = δ_kl I + Σ_g 𝒢_g,kl a_g a_g',   c = vec(Σ_g a_g γ_g'),   ν = Λ⁻¹c,   Ξ = Λ⁻¹,
 *   KL = ½(Tr Ξ + ν'ν − dp + log|Λ|),      φ = ½c'ν − ½ log|Λ| − ½ Σ_g k̃_g Tr 𝒢_g  (the bound in which only a_g moves).
 * Gradient of φ (and of the bound at any other ν and Ξ), with R_kl = Ξ_kl + ν_k ν_l' and ȧ = ∂a/∂log ℓ:
 *   ∂φ/∂log ℓ = Σ_g (ȧ_g'𝒱γ_g + Tr(𝒢_g) ȧ_g'a_g) − Σ_kl ⟨R_kl, Σ_g 𝒢_g,kl (ȧ_g a_g')⟩,
 *   ∂φ/∂log α = the same with ½a_g for ȧ_g, less ½α Σ_g Tr 𝒢_g.
 * Sums over nodes are those of pairs.ts. O(Γp²d²/4 + (dp)³).
 */
import { dot, multiplyTransposed } from "../../numeric/matrix.ts";
import type { PositiveSolver } from "../../wasm/cholesky.ts";
import type { KernelKind } from "../../wasm/instance.ts";
import type { PairKernel } from "../../wasm/pairs.ts";
import { inducingKl, inducingSolver } from "../gp/solve.ts";
import { type JointMean, moveMean } from "./joint-mean.ts";
import type { NodeKernel } from "./node-kernel.ts";
import { type InducingLayout, pairKernel, pairRows } from "./pairs.ts";

/** q(v) with the quantities it came from. */
export interface InducingPosterior {
  readonly precision: Float64Array; // Λ [dp,dp]
  readonly linear: Float64Array; // c [dp]
  readonly mean: Float64Array; // ν [dp]
  readonly covariance: Float64Array; // Ξ [dp,dp]
  readonly logDeterminant: number; // log|Λ|
  readonly divergence: number; // KL
  readonly phi: number;
  /** ∂φ/∂log α, ∂φ/∂log ℓ; NaN unless the kernel has its derivative. */
  readonly gradient: readonly [number, number];
  /** What the mean of the observations moved by, [d]. */
  readonly meanShift: Float64Array;
}

/** Scratch of the solver. */
export interface InducingWorkspace {
  readonly solve: PositiveSolver;
  readonly pairs: PairKernel;
  readonly sums: Float64Array; // Σ_g 𝒢_g,kl a_j a_j' by pair [pairs,kl]
  readonly sumsDot: Float64Array; // Σ_g 𝒢_g,kl ½(ȧ_j a_j' + a_j ȧ_j') by pair
}

/** Scratch for a layout; the solver runs on the given kernels. */
export function inducingWorkspace(layout: InducingLayout, kernels: KernelKind = "typescript"): InducingWorkspace {
  const n = layout.numBasis * layout.numInducing;
  const numSums = layout.inducingRow.length * layout.basisRow.length;
  return {
    solve: inducingSolver(n, kernels),
    pairs: pairKernel(layout, kernels),
    sums: new Float64Array(numSums),
    sumsDot: new Float64Array(numSums),
  };
}

/**
 * The posterior for node sums [K,Γ] (γ in the first d rows, then 𝒢 packed), with ∇φ where the kernel has its derivative;
 * with a joint mean (of the same sums), at the mean that goes best with it, φ and c there.
 */
export function inducingPosterior(
  layout: InducingLayout,
  kernel: NodeKernel,
  nodeSums: Float64Array,
  ws: InducingWorkspace,
  joint: JointMean | null = null,
): InducingPosterior {
  const { numBasis: d, numInducing: p, numNodes: n } = layout;
  const { features: A } = kernel;
  ws.pairs.sum(A, A, pairRows(layout, nodeSums), ws.sums);
  const precision = scatterPrecision(layout, ws.sums);
  const gamma = nodeSums.subarray(0, d * n);
  const linear = multiplyTransposed(gamma, A, d, n, p); // c
  const mean = new Float64Array(d * p);
  const covariance = new Float64Array(precision.length);
  // Every eigenvalue of Λ is at least 1, so there is no factor only where numbers are not finite.
  const logDeterminant = ws.solve(precision, linear, mean, covariance);
  const moved = joint && moveMean(layout, A, joint, covariance, linear, mean);
  const traces = nodeTraces(layout, nodeSums);
  const phi = 0.5 * (dot(linear, mean) - logDeterminant - dot(kernel.restVariance, traces)) + (moved?.gain ?? 0);
  const linearSums = moved?.linearSums ?? gamma;
  return {
    precision,
    linear,
    mean,
    covariance,
    logDeterminant,
    divergence: inducingKl(mean, covariance, logDeterminant),
    phi,
    // The mean of the observations is where φ is largest, so its own move does not count, and γ and c are those there.
    gradient:
      kernel.featuresDot === null
        ? [Number.NaN, Number.NaN]
        : kernelSlope(layout, kernel, nodeSums, ws, { linear, linearSums, mean, covariance }),
    meanShift: moved?.shift ?? new Float64Array(d),
  };
}

/**
 * The derivatives of the bound by log α and log ℓ at any q(v) = N(ν, Ξ), with γ and c of the mean in force; the pair sums of
 * the features are those of `inducingPosterior` for the same kernel.
 */
export function kernelSlope(
  layout: InducingLayout,
  { features: A, featuresDot, signalVariance }: NodeKernel,
  nodeSums: Float64Array,
  ws: InducingWorkspace,
  at: {
    readonly linear: Float64Array;
    readonly linearSums: Float64Array;
    readonly mean: Float64Array;
    readonly covariance: Float64Array;
  },
): [number, number] {
  const { numBasis: d, numInducing: p, numNodes: n } = layout;
  const Adot = featuresDot ?? new Float64Array(A.length);
  ws.pairs.sum(A, Adot, pairRows(layout, nodeSums), ws.sumsDot);
  const traces = nodeTraces(layout, nodeSums);
  let traceA = 0;
  let traceDot = 0;
  for (let row = 0; row < p * n; row += n) {
    for (let g = 0; g < n; g++) {
      const t = traces[g] * A[row + g];
      traceA += t * A[row + g];
      traceDot += t * Adot[row + g];
    }
  }
  const linearDot = dot(multiplyTransposed(at.linearSums, Adot, d, n, p), at.mean);
  const total = traces.reduce((sum, v) => sum + v, 0);
  // Σ_kl ⟨R_kl, S_kl⟩ of symmetric blocks S_kl given as pair sums is −2 ⟨packed R, S⟩.
  const R = packSecondMoments(layout, at.mean, at.covariance);
  const slope = 0.5 * (dot(at.linear, at.mean) + 2 * dot(R, ws.sums) + traceA - signalVariance * total);
  return [slope, linearDot + 2 * dot(R, ws.sumsDot) + traceDot];
}

/** Λ from the pair sums, whole matrix. */
function scatterPrecision(layout: InducingLayout, sums: Float64Array): Float64Array {
  const { numBasis: d, numInducing: p, basisRow, basisColumn, inducingRow, inducingColumn } = layout;
  const dp = d * p;
  const precision = new Float64Array(dp * dp);
  for (let pair = 0; pair < inducingRow.length; pair++) {
    const i = inducingRow[pair];
    const j = inducingColumn[pair];
    for (let e = 0; e < basisRow.length; e++) {
      const k = basisRow[e] * p;
      const l = basisColumn[e] * p;
      const v = sums[pair * basisRow.length + e];
      precision[(k + i) * dp + l + j] = v;
      precision[(k + j) * dp + l + i] = v;
      precision[(l + i) * dp + k + j] = v;
      precision[(l + j) * dp + k + i] = v;
    }
  }
  for (let e = 0; e < dp; e++) precision[e * dp + e] += 1;
  return precision;
}

/** The coefficient of a_i a_j in −½R_kk or −R_kl, [pairs (i ≤ j), pairs (k ≤ l)]. */
export function packSecondMoments(layout: InducingLayout, mean: Float64Array, covariance: Float64Array): Float64Array {
  const { numBasis: d, numInducing: p, basisRow, basisColumn, inducingRow, inducingColumn } = layout;
  const dp = d * p;
  const out = new Float64Array(inducingRow.length * basisRow.length);
  let at = 0;
  for (let pair = 0; pair < inducingRow.length; pair++) {
    const i = inducingRow[pair];
    const j = inducingColumn[pair];
    for (let e = 0; e < basisRow.length; e++) {
      const k = basisRow[e] * p;
      const l = basisColumn[e] * p;
      let R = covariance[(k + i) * dp + l + j] + mean[k + i] * mean[l + j];
      if (i !== j) R += covariance[(k + j) * dp + l + i] + mean[k + j] * mean[l + i];
      out[at++] = k === l ? -0.5 * R : -R;
    }
  }
  return out;
}

/** Tr 𝒢_g, [Γ]. */
function nodeTraces({ numBasis: d, numNodes: n, basisRow, basisColumn }: InducingLayout, nodeSums: Float64Array) {
  const traces = new Float64Array(n);
  for (let e = 0; e < basisRow.length; e++) {
    if (basisRow[e] !== basisColumn[e]) continue;
    for (let g = 0; g < n; g++) traces[g] += nodeSums[(d + e) * n + g];
  }
  return traces;
}
