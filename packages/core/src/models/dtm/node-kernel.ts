/**
 * The kernel at the nodes, whitened by the inducing points (docs/math/dtm.md §4). With C_jk = exp(−|z_j−z_k|²/2ℓ²),
 * L_C = chol(C + εI) and c_g = (exp(−|x_g−z_j|²/2ℓ²))_j:
 *   a_g = √α L_C⁻¹ c_g,    k̃_g = max(0, α − a_g'a_g),
 *   ∂a_g/∂log ℓ = √α L_C⁻¹ ċ_g − Φ a_g,   Φ = low(L_C⁻¹ Ċ L_C⁻ᵀ),   ċ_gj = c_gj |x_g−z_j|²/ℓ²,  Ċ_jk = C_jk |z_j−z_k|²/ℓ²,
 * low(·) = strictly lower triangle plus half the diagonal. Features lie as rows [p,Γ]. O(Γp²).
 */
import { choleskyInPlace, solveLowerMatrixInPlace } from "../../numeric/cholesky.ts";
import { transpose } from "../../numeric/matrix.ts";

/** Squared distances, fixed for a fit. */
export interface NodeGeometry {
  readonly numNodes: number; // Γ
  readonly numInducing: number; // p
  readonly jitter: number; // ε
  /** |z_j − z_k|², [p,p]. */
  readonly inducingDistances: Float64Array;
  /** |z_j − x_g|², [p,Γ]. */
  readonly nodeDistances: Float64Array;
}

/** The kernel at the nodes for one α and ℓ. */
export interface NodeKernel {
  readonly signalVariance: number; // α
  readonly lengthscale: number; // ℓ
  readonly factor: Float64Array; // L_C [p,p]
  readonly features: Float64Array; // a [p,Γ]
  readonly restVariance: Float64Array; // k̃ [Γ]
  /** ∂a/∂log ℓ [p,Γ]; null unless asked for. */
  readonly featuresDot: Float64Array | null;
}

/** Squared distances of inducing points [p,q] among themselves and to the nodes [Γ,q]. */
export function nodeGeometry(locations: Float64Array, inducing: Float64Array, q: number, jitter: number): NodeGeometry {
  const p = inducing.length / q;
  const numNodes = locations.length / q;
  return {
    numNodes,
    numInducing: p,
    jitter,
    inducingDistances: squaredDistances(inducing, p, inducing, p, q),
    nodeDistances: squaredDistances(inducing, p, locations, numNodes, q),
  };
}

/** L_C, a and k̃ for given α and ℓ; with `derivative`, ∂a/∂log ℓ too. */
export function nodeKernel(geometry: NodeGeometry, alpha: number, ell: number, derivative: boolean): NodeKernel {
  const { numInducing: p, numNodes: n, jitter, inducingDistances, nodeDistances } = geometry;
  const precision = 1 / (ell * ell);
  const factor = inducingDistances.map((square) => Math.exp(-0.5 * square * precision));
  for (let j = 0; j < p; j++) factor[j * p + j] += jitter;
  choleskyInPlace(factor, p);
  const root = Math.sqrt(alpha);
  const features = new Float64Array(p * n);
  for (let e = 0; e < p * n; e++) features[e] = root * Math.exp(-0.5 * nodeDistances[e] * precision);
  const dot = derivative ? features.map((c, e) => c * nodeDistances[e] * precision) : null; // √α ċ_g
  solveLowerMatrixInPlace(factor, p, features, n);
  const restVariance = new Float64Array(n).fill(alpha);
  for (let j = 0; j < p; j++) for (let g = 0; g < n; g++) restVariance[g] -= features[j * n + g] ** 2;
  for (let g = 0; g < n; g++) restVariance[g] = Math.max(0, restVariance[g]);
  const featuresDot = dot && differentiate(geometry, precision, factor, features, dot);
  return { signalVariance: alpha, lengthscale: ell, factor, features, restVariance, featuresDot };
}

/** ∂a/∂log ℓ from √α ċ_g, in place. */
function differentiate(
  { numInducing: p, numNodes: n, inducingDistances }: NodeGeometry,
  precision: number,
  factor: Float64Array,
  features: Float64Array,
  featuresDot: Float64Array,
): Float64Array {
  solveLowerMatrixInPlace(factor, p, featuresDot, n);
  const half = inducingDistances.map((square) => square * precision * Math.exp(-0.5 * square * precision)); // Ċ
  solveLowerMatrixInPlace(factor, p, half, p);
  const phi = transpose(half, p, p);
  solveLowerMatrixInPlace(factor, p, phi, p);
  for (let j = 0; j < p; j++) {
    for (let k = 0; k <= j; k++) {
      const f = (k === j ? 0.5 : 1) * phi[j * p + k];
      for (let g = 0; g < n; g++) featuresDot[j * n + g] -= f * features[k * n + g];
    }
  }
  return featuresDot;
}

function squaredDistances(A: Float64Array, n: number, B: Float64Array, m: number, q: number): Float64Array {
  const out = new Float64Array(n * m);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j < m; j++) {
      for (let c = 0; c < q; c++) {
        const u = A[i * q + c] - B[j * q + c];
        out[i * m + j] += u * u;
      }
    }
  }
  return out;
}
