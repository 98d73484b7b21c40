/**
 * The optimal q(v) = N(ν, Ξ) of the whitened inducing values for given node sums 𝒢_g = Σ_i r_ig G̃_i, γ_g = Σ_i r_ig g̃_i
 * (docs/math/dtm.md §5); index kp + j (coefficient k, inducing place j):
 *   Λ_kl = δ_kl I + Σ_g 𝒢_g,kl a_g a_g',   c = vec(Σ_g a_g γ_g'),   ν = Λ⁻¹c,   Ξ = Λ⁻¹,
 *   KL = ½(Tr Ξ + ν'ν − dp + log|Λ|),      φ = ½c'ν − ½ log|Λ| − ½ Σ_g k̃_g Tr 𝒢_g  (the bound in which only a_g moves).
 * Gradient of φ, with R_kl = Ξ_kl + ν_k ν_l' and ȧ = ∂a/∂log ℓ:
 *   ∂φ/∂log ℓ = Σ_g (ȧ_g'𝒱γ_g + Tr(𝒢_g) ȧ_g'a_g) − Σ_kl ⟨R_kl, Σ_g 𝒢_g,kl (ȧ_g a_g')⟩,
 *   ∂φ/∂log α = the same with ½a_g for ȧ_g, less ½α Σ_g Tr 𝒢_g.
 * Sums over nodes are those of pairs.ts. O(Γp²d²/4 + (dp)³).
 */
import { dot } from "../../numeric/matrix.ts";
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
  /** What the mean of the observations moved by, [d]. */
  readonly meanShift: Float64Array;
  readonly covariance: Float64Array; // Ξ [dp,dp]
  logDeterminant: number; // log|Λ|
  divergence: number; // KL
  phi: number;
  /** ∂φ/∂log α, ∂φ/∂log ℓ. */
  readonly gradient: Float64Array; // [2]
}

/** Scratch of the solver. */
export interface InducingWorkspace {
  readonly solve: PositiveSolver;
  readonly pairs: PairKernel;
  readonly traces: Float64Array; // Tr 𝒢_g [Γ]
  readonly sums: Float64Array; // Σ_g 𝒢_g,kl a_j a_j' by pair [pairs,kl]
  readonly sumsDot: Float64Array; // Σ_g 𝒢_g,kl ½(ȧ_j a_j' + a_j ȧ_j') by pair
}

/** An empty posterior to be filled. */
export function inducingPosterior(layout: InducingLayout): InducingPosterior {
  const n = layout.numBasis * layout.numInducing;
  return {
    precision: new Float64Array(n * n),
    linear: new Float64Array(n),
    mean: new Float64Array(n),
    meanShift: new Float64Array(layout.numBasis),
    covariance: new Float64Array(n * n),
    logDeterminant: Number.NaN,
    divergence: Number.NaN,
    phi: Number.NaN,
    gradient: new Float64Array(2),
  };
}

/** Scratch for a layout; the solver runs on the given kernels. */
export function inducingWorkspace(layout: InducingLayout, kernels: KernelKind = "typescript"): InducingWorkspace {
  const n = layout.numBasis * layout.numInducing;
  const numSums = layout.inducingRow.length * layout.basisRow.length;
  return {
    solve: inducingSolver(n, kernels),
    pairs: pairKernel(layout, kernels),
    traces: new Float64Array(layout.numNodes),
    sums: new Float64Array(numSums),
    sumsDot: new Float64Array(numSums),
  };
}

/**
 * Fills the posterior for node sums [K,Γ] (γ in the first d rows, then 𝒢 packed); with `derivative`, ∇φ too; with a joint
 * mean (prepared from the same sums), at the mean that goes best with it, φ and c there.
 */
export function solveInducingPosterior(
  layout: InducingLayout,
  kernel: NodeKernel,
  nodeSums: Float64Array,
  derivative: boolean,
  ws: InducingWorkspace,
  out: InducingPosterior,
  joint: JointMean | null = null,
): void {
  const { numBasis: d, numInducing: p, numNodes: n } = layout;
  const { precision, linear, mean, covariance } = out;
  ws.pairs.sum(kernel.features, kernel.features, pairRows(layout, nodeSums), ws.sums);
  scatterPrecision(layout, ws.sums, precision);
  rowDots(kernel.features, p, nodeSums, d, n, linear);
  // Every eigenvalue of Λ is at least 1, so there is no factor only where numbers are not finite.
  out.logDeterminant = ws.solve(precision, linear, mean, covariance);
  out.meanShift.fill(0);
  let moved = 0;
  if (joint !== null) {
    moved = moveMean(layout, kernel.features, nodeSums, covariance, joint, linear, mean);
    out.meanShift.set(joint.shift);
  }
  nodeTraces(layout, nodeSums, ws.traces);
  out.divergence = inducingKl(mean, covariance, out.logDeterminant);
  const rest = dot(kernel.restVariance, ws.traces);
  out.phi = 0.5 * (dot(linear, mean) - out.logDeterminant - rest) + moved;
  if (derivative) phiGradient(layout, kernel, nodeSums, joint?.linearSums ?? nodeSums, ws, out);
}

/** ∇φ; the mean is where φ is largest, so its own move does not count. `linearSums` are γ there. */
function phiGradient(
  layout: InducingLayout,
  kernel: NodeKernel,
  nodeSums: Float64Array,
  linearSums: Float64Array,
  ws: InducingWorkspace,
  out: InducingPosterior,
): void {
  const { numBasis: d, numInducing: p, numNodes: n } = layout;
  const { features: A, featuresDot: Adot } = kernel;
  ws.pairs.sum(A, Adot, pairRows(layout, nodeSums), ws.sumsDot);
  let linearDot = 0;
  let traceA = 0;
  let traceDot = 0;
  for (let j = 0; j < p; j++) {
    for (let k = 0; k < d; k++) {
      let s = 0;
      for (let g = 0; g < n; g++) s += Adot[j * n + g] * linearSums[k * n + g];
      linearDot += s * out.mean[k * p + j];
    }
    for (let g = 0; g < n; g++) {
      const t = ws.traces[g] * A[j * n + g];
      traceA += t * A[j * n + g];
      traceDot += t * Adot[j * n + g];
    }
  }
  let traces = 0;
  for (let g = 0; g < n; g++) traces += ws.traces[g];
  const half = 0.5 * (dot(out.linear, out.mean) - contractSecondMoment(layout, out, ws.sums) + traceA);
  out.gradient[0] = half - 0.5 * kernel.signalVariance * traces;
  out.gradient[1] = linearDot - contractSecondMoment(layout, out, ws.sumsDot) + traceDot;
}

/** Λ from the pair sums, whole matrix. */
function scatterPrecision(layout: InducingLayout, sums: Float64Array, precision: Float64Array): void {
  const { numBasis: d, numInducing: p, basisRow, basisColumn, inducingRow, inducingColumn } = layout;
  const dp = d * p;
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
}

/** Σ_kl ⟨Ξ_kl + ν_k ν_l', S_kl⟩ for symmetric blocks S_kl given as pair sums. */
function contractSecondMoment(layout: InducingLayout, posterior: InducingPosterior, sums: Float64Array): number {
  const { numBasis: d, numInducing: p, basisRow, basisColumn, inducingRow, inducingColumn } = layout;
  const { covariance, mean } = posterior;
  const dp = d * p;
  let total = 0;
  for (let pair = 0; pair < inducingRow.length; pair++) {
    const i = inducingRow[pair];
    const j = inducingColumn[pair];
    for (let e = 0; e < basisRow.length; e++) {
      const k = basisRow[e] * p;
      const l = basisColumn[e] * p;
      let R = covariance[(k + i) * dp + l + j] + mean[k + i] * mean[l + j];
      if (i !== j) R += covariance[(k + j) * dp + l + i] + mean[k + j] * mean[l + i];
      total += (k === l ? 1 : 2) * R * sums[pair * basisRow.length + e];
    }
  }
  return total;
}

/** Tr 𝒢_g. */
function nodeTraces(layout: InducingLayout, nodeSums: Float64Array, traces: Float64Array): void {
  const { numBasis: d, numNodes: n, basisRow, basisColumn } = layout;
  traces.fill(0);
  for (let e = 0; e < basisRow.length; e++) {
    if (basisRow[e] !== basisColumn[e]) continue;
    const row = (d + e) * n;
    for (let g = 0; g < n; g++) traces[g] += nodeSums[row + g];
  }
}

/** out[kp + j] = Σ_g A[j,g] S[k,g]. */
function rowDots(A: Float64Array, p: number, S: Float64Array, d: number, n: number, out: Float64Array): void {
  for (let k = 0; k < d; k++) {
    for (let j = 0; j < p; j++) {
      let s = 0;
      for (let g = 0; g < n; g++) s += A[j * n + g] * S[k * n + g];
      out[k * p + j] = s;
    }
  }
}
