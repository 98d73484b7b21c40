/**
 * From derivatives in m to the gradient and Hessian of J = c + F(m,S) − KL in the free parameters
 *   θ = [m (q), λ = log diag T (q), strictly lower T row by row],   S = TT',   KL = ½(Tr S + m'm − q) − Σ λ.
 * Let E = D2 − I (D2, D3, D4: the derivative tensors of F in m) and let a free entry of T be τ = (row c, column b) with
 * κ = T_cc for a logarithm and κ = 1 otherwise. The heat equation and dS = dT T' + T dT' give (docs/math/local-step.md §3)
 *   ∂J/∂m = D1 − m                     ∂J/∂τ = κ (ET)_cb  (+1 for a logarithm)
 *   ∂²J/∂m∂m' = E                      ∂²J/∂m_a∂τ = κ Σ_j D3_acj T_jb
 *   ∂²J/∂τ∂τ' = κκ' (Σ_jl D4_cjel T_jb T_lf + [b = f] E_ce)  (+ κ (ET)_cc on the diagonal of a logarithm),  τ' = (e,f).
 * S⁻¹ is never formed: S → 0 is safe.
 */
import { fastExp } from "../../../numeric/exp.ts";
import { cubeStrides } from "./nodes.ts";

/** q(x) = N(m, TT') unpacked, and where each free entry of T lives. */
export interface Place {
  readonly q: number;
  readonly numParameters: number; // P
  readonly m: Float64Array; // [q]
  readonly T: Float64Array; // [q,q] lower triangular
  readonly S: Float64Array; // [q,q]
  /** Row and column in T of free parameter q + k, [P − q]. */
  readonly rows: Int32Array;
  readonly columns: Int32Array;
  readonly strides: Int32Array; // [q] of the derivative cube
  readonly product: Float64Array; // [q,q] ET
}

export function createPlace(q: number, diagonal: boolean): Place {
  const rows = Array.from({ length: q }, (_, c) => c);
  const columns = rows.slice();
  if (!diagonal) {
    for (let c = 1; c < q; c++) {
      for (let b = 0; b < c; b++) {
        rows.push(c);
        columns.push(b);
      }
    }
  }
  return {
    q,
    numParameters: q + rows.length,
    m: new Float64Array(q),
    T: new Float64Array(q * q),
    S: new Float64Array(q * q),
    rows: Int32Array.from(rows),
    columns: Int32Array.from(columns),
    strides: cubeStrides(q),
    product: new Float64Array(q * q),
  };
}

/** Unpacks θ into m, T and S; returns KL(q(x) ‖ N(0,I)). */
export function unpackPlace(place: Place, theta: Float64Array, offset: number): number {
  const { q, numParameters, m, T, S, rows, columns } = place;
  let kl = 0;
  for (let c = 0; c < q; c++) {
    const x = theta[offset + c];
    const lambda = theta[offset + q + c];
    m[c] = x;
    T[c * q + c] = fastExp(lambda);
    kl += 0.5 * (x * x - 1) - lambda;
  }
  for (let k = 2 * q; k < numParameters; k++) T[rows[k - q] * q + columns[k - q]] = theta[offset + k];
  for (let a = 0; a < q; a++) {
    for (let b = 0; b <= a; b++) {
      let s = 0;
      for (let c = 0; c <= b; c++) s += T[a * q + c] * T[b * q + c];
      S[a * q + b] = s;
      S[b * q + a] = s;
    }
    kl += 0.5 * S[a * q + a];
  }
  return kl;
}

/** From the derivative cube D of F: ∂J/∂θ [P] and ∂²J/∂θ∂θ' [P,P] where given. */
export function writeDerivatives(
  place: Place,
  D: Float64Array,
  gradient: Float64Array | null,
  hessian: Float64Array | null,
): void {
  const { q, numParameters, m, T, rows, columns, strides, product } = place;
  multiplyCurvature(place, D);
  if (gradient !== null) {
    for (let a = 0; a < q; a++) gradient[a] = D[strides[a]] - m[a];
    for (let k = q; k < numParameters; k++) {
      const c = rows[k - q];
      const b = columns[k - q];
      gradient[k] = c === b ? T[c * q + c] * product[c * q + c] + 1 : product[c * q + b];
    }
  }
  if (hessian !== null) writeHessian(place, D, hessian);
}

/** product = (D2 − I)T. */
function multiplyCurvature(place: Place, D: Float64Array): void {
  const { q, T, strides, product } = place;
  for (let c = 0; c < q; c++) {
    for (let b = 0; b < q; b++) {
      let s = -T[c * q + b];
      for (let j = b; j < q; j++) s += D[strides[c] + strides[j]] * T[j * q + b];
      product[c * q + b] = s;
    }
  }
}

function writeHessian(place: Place, D: Float64Array, H: Float64Array): void {
  const { q, numParameters: P, T, rows, columns, strides, product } = place;
  for (let a = 0; a < q; a++) {
    for (let b = 0; b < q; b++) H[a * P + b] = D[strides[a] + strides[b]] - (a === b ? 1 : 0);
  }
  for (let k = q; k < P; k++) {
    const c = rows[k - q];
    const b = columns[k - q];
    const kappa = c === b ? T[c * q + c] : 1;
    for (let a = 0; a < q; a++) {
      let s = 0;
      for (let j = b; j < q; j++) s += D[strides[a] + strides[c] + strides[j]] * T[j * q + b];
      H[a * P + k] = kappa * s;
      H[k * P + a] = kappa * s;
    }
    for (let l = q; l <= k; l++) {
      const e = rows[l - q];
      const f = columns[l - q];
      const corner = strides[c] + strides[e];
      let s = 0;
      for (let j = b; j < q; j++) {
        const tj = T[j * q + b];
        for (let i = f; i < q; i++) s += D[corner + strides[j] + strides[i]] * tj * T[i * q + f];
      }
      if (b === f) s += D[corner] - (c === e ? 1 : 0);
      s *= kappa * (e === f ? T[e * q + e] : 1);
      if (k === l && c === b) s += kappa * product[c * q + c];
      H[k * P + l] = s;
      H[l * P + k] = s;
    }
  }
}

/** `unpackPlace` for q = 2: T = [[l, 0], [c, r]]. */
export function unpackPlace2(place: Place, theta: Float64Array, offset: number): number {
  const { m, T, S } = place;
  const x = theta[offset];
  const y = theta[offset + 1];
  const l = fastExp(theta[offset + 2]);
  const r = fastExp(theta[offset + 3]);
  const c = place.numParameters > 4 ? theta[offset + 4] : 0;
  m[0] = x;
  m[1] = y;
  T[0] = l;
  T[2] = c;
  T[3] = r;
  const s11 = l * l;
  const s22 = c * c + r * r;
  S[0] = s11;
  S[1] = l * c;
  S[2] = l * c;
  S[3] = s22;
  return 0.5 * (x * x + y * y + s11 + s22 - 2) - theta[offset + 2] - theta[offset + 3];
}

/** `writeDerivatives` for q = 2, unrolled; D at 5i + j. */
export function writeDerivatives2(
  place: Place,
  D: Float64Array,
  gradient: Float64Array | null,
  H: Float64Array | null,
): void {
  const { numParameters: P, m, T } = place;
  const l = T[0];
  const c = T[2];
  const r = T[3];
  const e11 = D[10] - 1;
  const e12 = D[6];
  const e22 = D[2] - 1;
  const gl = l * (e11 * l + e12 * c);
  const gr = e22 * r * r;
  if (gradient !== null) {
    gradient[0] = D[5] - m[0];
    gradient[1] = D[1] - m[1];
    gradient[2] = gl + 1;
    gradient[3] = gr + 1;
    if (P > 4) gradient[4] = e12 * l + e22 * c;
  }
  if (H === null) return;
  // Contractions with the columns of T: (l, c) once for D3, twice for D4; the other column is (0, r).
  const ll = l * l;
  const lc = 2 * l * c;
  const cc = c * c;
  const rr = r * r;
  const d12 = rr * (l * D[12] + c * D[8]);
  const h02 = l * (D[15] * l + D[11] * c);
  const h12 = l * (D[11] * l + D[7] * c);
  const h03 = D[7] * rr;
  const h13 = D[3] * rr;
  const h23 = l * d12;
  H[0] = e11;
  H[1] = e12;
  H[P] = e12;
  H[P + 1] = e22;
  H[2] = h02;
  H[2 * P] = h02;
  H[P + 2] = h12;
  H[2 * P + 1] = h12;
  H[3] = h03;
  H[3 * P] = h03;
  H[P + 3] = h13;
  H[3 * P + 1] = h13;
  H[2 * P + 2] = ll * (ll * D[20] + lc * D[16] + cc * D[12] + e11) + gl;
  H[2 * P + 3] = h23;
  H[3 * P + 2] = h23;
  H[3 * P + 3] = rr * (rr * D[4] + e22) + gr;
  if (P === 4) return;
  const h04 = D[11] * l + D[7] * c;
  const h14 = D[7] * l + D[3] * c;
  const h24 = l * (ll * D[16] + lc * D[12] + cc * D[8] + e12);
  const h34 = rr * (l * D[8] + c * D[4]);
  H[4] = h04;
  H[4 * P] = h04;
  H[P + 4] = h14;
  H[4 * P + 1] = h14;
  H[2 * P + 4] = h24;
  H[4 * P + 2] = h24;
  H[3 * P + 4] = h34;
  H[4 * P + 3] = h34;
  H[4 * P + 4] = ll * D[12] + lc * D[8] + cc * D[4] + e22;
}
