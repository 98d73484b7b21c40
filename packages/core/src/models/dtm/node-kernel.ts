/**
 * The kernel at the nodes, whitened by the inducing places (docs/math/dtm.md §4). With C_jk = exp(−|z_j−z_k|²/2ℓ²),
 * L_C = chol(C + εI) and c_g = (exp(−|x_g−z_j|²/2ℓ²))_j:
 *   a_g = √α L_C⁻¹ c_g,    k̃_g = max(0, α − a_g'a_g),
 *   ∂a_g/∂log ℓ = √α L_C⁻¹ ċ_g − Φ a_g,   Φ = low(L_C⁻¹ Ċ L_C⁻ᵀ),   ċ_gj = c_gj |x_g−z_j|²/ℓ²,  Ċ_jk = C_jk |z_j−z_k|²/ℓ²,
 * low(·) = strictly lower triangle plus half the diagonal. Features lie as rows [p,Γ]. O(Γp²).
 */
import { choleskyInPlace, solveLowerMatrixInPlace } from "../../numeric/cholesky.ts";

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
  readonly factor: Float64Array; // L_C [p,p]
  readonly features: Float64Array; // a [p,Γ]
  readonly restVariance: Float64Array; // k̃ [Γ]
  readonly featuresDot: Float64Array; // ∂a/∂log ℓ [p,Γ]
  readonly phi: Float64Array; // Φ [p,p]
  readonly scratch: Float64Array; // [p,p]
  signalVariance: number;
  lengthscale: number;
}

/** Squared distances of inducing places [p,q] among themselves and to the nodes [Γ,q]. */
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

/** An empty kernel to be filled. */
export function nodeKernelWorkspace(geometry: NodeGeometry): NodeKernel {
  const { numNodes, numInducing: p } = geometry;
  return {
    factor: new Float64Array(p * p),
    features: new Float64Array(p * numNodes),
    restVariance: new Float64Array(numNodes),
    featuresDot: new Float64Array(p * numNodes),
    phi: new Float64Array(p * p),
    scratch: new Float64Array(p * p),
    signalVariance: Number.NaN,
    lengthscale: Number.NaN,
  };
}

/** Fills L_C, a and k̃ for given α and ℓ; with `derivative`, ∂a/∂log ℓ too. */
export function evaluateNodeKernel(
  geometry: NodeGeometry,
  alpha: number,
  ell: number,
  derivative: boolean,
  out: NodeKernel,
): void {
  const { numInducing: p, numNodes, jitter, inducingDistances, nodeDistances } = geometry;
  const { factor, features, featuresDot, restVariance } = out;
  const precision = 1 / (ell * ell);
  out.signalVariance = alpha;
  out.lengthscale = ell;
  for (let e = 0; e < p * p; e++) factor[e] = Math.exp(-0.5 * inducingDistances[e] * precision);
  for (let j = 0; j < p; j++) factor[j * p + j] += jitter;
  choleskyInPlace(factor, p);
  const root = Math.sqrt(alpha);
  for (let e = 0; e < p * numNodes; e++) {
    const u = nodeDistances[e] * precision;
    const c = root * Math.exp(-0.5 * u);
    features[e] = c;
    featuresDot[e] = c * u;
  }
  solveLowerMatrixInPlace(factor, p, features, numNodes);
  for (let g = 0; g < numNodes; g++) {
    let s = alpha;
    for (let j = 0; j < p; j++) s -= features[j * numNodes + g] * features[j * numNodes + g];
    restVariance[g] = Math.max(0, s);
  }
  if (derivative) differentiate(geometry, precision, out);
}

/** Turns √α ċ_g, left in `featuresDot`, into ∂a/∂log ℓ. */
function differentiate(geometry: NodeGeometry, precision: number, out: NodeKernel): void {
  const { numInducing: p, numNodes: n, inducingDistances } = geometry;
  const { factor, features, featuresDot, phi, scratch } = out;
  solveLowerMatrixInPlace(factor, p, featuresDot, n);
  for (let e = 0; e < p * p; e++) {
    const u = inducingDistances[e] * precision;
    scratch[e] = u * Math.exp(-0.5 * u);
  }
  solveLowerMatrixInPlace(factor, p, scratch, p);
  for (let j = 0; j < p; j++) for (let k = 0; k < p; k++) phi[j * p + k] = scratch[k * p + j];
  solveLowerMatrixInPlace(factor, p, phi, p);
  for (let j = 0; j < p; j++) {
    phi[j * p + j] *= 0.5;
    for (let k = j + 1; k < p; k++) phi[j * p + k] = 0;
    const row = j * n;
    for (let k = 0; k <= j; k++) {
      const f = phi[j * p + k];
      const other = k * n;
      for (let g = 0; g < n; g++) featuresDot[row + g] -= f * features[other + g];
    }
  }
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
