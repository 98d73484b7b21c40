/**
 * From node moments to derivatives of F(m) = norm · Σ_n w_n exp(−½ u'Ru), u = m − z_n, up to order 4 in m.
 * With y = Ru and ⟨·⟩ = norm · Σ w e (·), differentiating the bump gives Hermite polynomials (docs/math/local-step.md §3):
 *   F_a    = −⟨y_a⟩
 *   F_ab   =  ⟨y_a y_b⟩ − R_ab ⟨1⟩
 *   F_abc  = −⟨y_a y_b y_c⟩ + R_ab ⟨y_c⟩ + R_ac ⟨y_b⟩ + R_bc ⟨y_a⟩
 *   F_abcd =  ⟨y_a y_b y_c y_d⟩ − (R_ab ⟨y_c y_d⟩ + 5 more) + (R_ab R_cd + R_ac R_bd + R_ad R_bc) ⟨1⟩
 * Because F is the expectation of a function under N(m,S), the same tensors give every derivative in S:
 *   ∂F/∂S_ab = ½ F_ab,  ∂²F/∂m_a∂S_bc = ½ F_abc,  ∂²F/∂S_ab∂S_cd = ¼ F_abcd   (heat equation).
 * Moments and derivatives are cubes as in nodes.ts.
 */
import { cubeStrides, type MomentOrder } from "./nodes.ts";

/** Tables and buffers for one q. */
export interface DerivativeWorkspace {
  readonly q: number;
  readonly strides: Int32Array; // [q]
  /** Cell of each entry of a dense tensor of order k, [q^k], k = 0..4. */
  readonly cells: readonly Int32Array[];
  readonly y1: Float64Array; // [q]
  readonly y2: Float64Array; // [q,q]
  readonly high: Float64Array; // [q,q,q,q]
  readonly scratch: Float64Array; // [q,q,q,q]
}

export function createDerivativeWorkspace(q: number): DerivativeWorkspace {
  const strides = cubeStrides(q);
  const cells = [new Int32Array(1)];
  for (let k = 1; k <= 4; k++) {
    const previous = cells[k - 1];
    cells.push(Int32Array.from({ length: q ** k }, (_, e) => previous[Math.floor(e / q)] + strides[e % q]));
  }
  return {
    q,
    strides,
    cells,
    y1: new Float64Array(q),
    y2: new Float64Array(q * q),
    high: new Float64Array(q ** 4),
    scratch: new Float64Array(q ** 4),
  };
}

/** Adds F and its derivatives up to `order` to the cube D. */
export function addDerivatives(
  ws: DerivativeWorkspace,
  moments: Float64Array,
  R: Float64Array,
  norm: number,
  order: MomentOrder,
  D: Float64Array,
): void {
  const { q, strides, y1, y2, high } = ws;
  const y0 = norm * moments[0];
  D[0] += y0;
  transformedMoments(ws, moments, 1, R, norm, y1);
  transformedMoments(ws, moments, 2, R, norm, y2);
  for (let a = 0; a < q; a++) {
    D[strides[a]] -= y1[a];
    for (let b = a; b < q; b++) D[strides[a] + strides[b]] += y2[a * q + b] - R[a * q + b] * y0;
  }
  if (order === 2) return;
  transformedMoments(ws, moments, 3, R, norm, high);
  for (let a = 0; a < q; a++) {
    for (let b = a; b < q; b++) {
      for (let c = b; c < q; c++) {
        const pairs = R[a * q + b] * y1[c] + R[a * q + c] * y1[b] + R[b * q + c] * y1[a];
        D[strides[a] + strides[b] + strides[c]] -= high[(a * q + b) * q + c] - pairs;
      }
    }
  }
  transformedMoments(ws, moments, 4, R, norm, high);
  for (let a = 0; a < q; a++) {
    for (let b = a; b < q; b++) {
      for (let c = b; c < q; c++) {
        for (let d = c; d < q; d++) {
          const ab = R[a * q + b];
          const ac = R[a * q + c];
          const ad = R[a * q + d];
          const bc = R[b * q + c];
          const bd = R[b * q + d];
          const cd = R[c * q + d];
          const two =
            ab * y2[c * q + d] +
            ac * y2[b * q + d] +
            ad * y2[b * q + c] +
            (bc * y2[a * q + d] + bd * y2[a * q + c] + cd * y2[a * q + b]);
          const none = ab * cd + ac * bd + ad * bc;
          D[strides[a] + strides[b] + strides[c] + strides[d]] += high[((a * q + b) * q + c) * q + d] - two + none * y0;
        }
      }
    }
  }
}

/** out = norm · Σ w e y⊗…⊗y (k factors) from the moments of u, y = Ru: one index at a time, rotating the indices. */
function transformedMoments(
  ws: DerivativeWorkspace,
  moments: Float64Array,
  k: number,
  R: Float64Array,
  norm: number,
  out: Float64Array,
): void {
  const { q, cells, scratch } = ws;
  const cell = cells[k];
  const size = cell.length;
  const rest = size / q;
  for (let e = 0; e < size; e++) out[e] = norm * moments[cell[e]];
  for (let turn = 0; turn < k; turn++) {
    for (let e = 0; e < rest; e++) {
      for (let a = 0; a < q; a++) {
        let s = 0;
        for (let b = 0; b < q; b++) s += R[a * q + b] * out[b * rest + e];
        scratch[e * q + a] = s;
      }
    }
    for (let e = 0; e < size; e++) out[e] = scratch[e];
  }
}

/** `addDerivatives` for q = 2, unrolled; R = [[r,s],[s,t]], cell 5i + j. */
export function addDerivatives2(
  M: Float64Array,
  R: Float64Array,
  norm: number,
  order: MomentOrder,
  D: Float64Array,
): void {
  const r = R[0];
  const s = R[1];
  const t = R[3];
  const rr = r * r;
  const rs = r * s;
  const ss = s * s;
  const st = s * t;
  const tt = t * t;
  const mixed = r * t + ss;
  const z = norm * M[0];
  const x = norm * (r * M[5] + s * M[1]);
  const y = norm * (s * M[5] + t * M[1]);
  const xx = norm * (rr * M[10] + 2 * rs * M[6] + ss * M[2]);
  const xy = norm * (rs * M[10] + mixed * M[6] + st * M[2]);
  const yy = norm * (ss * M[10] + 2 * st * M[6] + tt * M[2]);
  D[0] += z;
  D[5] -= x;
  D[1] -= y;
  D[10] += xx - r * z;
  D[6] += xy - s * z;
  D[2] += yy - t * z;
  if (order === 2) return;
  // Third order: two indices by R⊗R for each value of the remaining one (moments with one more u, one more v).
  const u20 = rr * M[15] + 2 * rs * M[11] + ss * M[7];
  const v20 = rr * M[11] + 2 * rs * M[7] + ss * M[3];
  const u02 = ss * M[15] + 2 * st * M[11] + tt * M[7];
  const v02 = ss * M[11] + 2 * st * M[7] + tt * M[3];
  D[15] -= norm * (r * u20 + s * v20) - 3 * r * x;
  D[11] -= norm * (s * u20 + t * v20) - r * y - 2 * s * x;
  D[7] -= norm * (r * u02 + s * v02) - t * x - 2 * s * y;
  D[3] -= norm * (s * u02 + t * v02) - 3 * t * y;
  // Fourth order: the pairs xx and yy first, then the other two indices.
  const a20 = rr * M[20] + 2 * rs * M[16] + ss * M[12];
  const a11 = rr * M[16] + 2 * rs * M[12] + ss * M[8];
  const a02 = rr * M[12] + 2 * rs * M[8] + ss * M[4];
  const b20 = ss * M[20] + 2 * st * M[16] + tt * M[12];
  const b11 = ss * M[16] + 2 * st * M[12] + tt * M[8];
  const b02 = ss * M[12] + 2 * st * M[8] + tt * M[4];
  const xxxx = norm * (rr * a20 + 2 * rs * a11 + ss * a02);
  const xxxy = norm * (rs * a20 + mixed * a11 + st * a02);
  const xxyy = norm * (ss * a20 + 2 * st * a11 + tt * a02);
  const xyyy = norm * (rs * b20 + mixed * b11 + st * b02);
  const yyyy = norm * (ss * b20 + 2 * st * b11 + tt * b02);
  D[20] += xxxx - 6 * r * xx + 3 * rr * z;
  D[16] += xxxy - 3 * (r * xy + s * xx) + 3 * rs * z;
  D[12] += xxyy - r * yy - t * xx - 4 * s * xy + (mixed + ss) * z;
  D[8] += xyyy - 3 * (t * xy + s * yy) + 3 * st * z;
  D[4] += yyyy - 6 * t * yy + 3 * tt * z;
}
