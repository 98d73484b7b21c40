/**
 * Features of the linear kernel k(x,z) = α x'z: the first two moments of q(x) = N(m,S),
 *   ψ1 = α Z m,   Ψ2 = α² Z (S + mm') Z',   E[k(x,x)] = α (Tr S + m'm).
 * F is then quadratic in m, with the same heat equation as every expectation under N(m,S): D3 = D4 = 0.
 * `second` holds X = S + mm' as the entries c ≥ b of a lower triangle.
 */
import type { LinearKernel } from "../../gp/kernel.ts";
import type { Features } from "./features.ts";
import { cubeStrides } from "./nodes.ts";

/** Features for inducing places Z [p,q]. */
export function linearFeatures(kernel: LinearKernel, Z: Float64Array, p: number, q: number): Features {
  const alpha = kernel.signalVariance;
  const strides = cubeStrides(q);
  const numSecond = (q * (q + 1)) / 2;
  return {
    numFirst: q,
    numSecond,
    places: null,
    collapseFirst: (A, d, scale, out, stride) => {
      out.fill(0);
      for (let j = 0; j < p; j++) {
        for (let c = 0; c < q; c++) {
          const z = scale * alpha * Z[j * q + c];
          for (let k = 0; k < d; k++) out[c * stride + k] += z * A[j * d + k];
        }
      }
    },
    collapseSecond: (B, at, scale, out, stride, column) => {
      const factor = scale * alpha * alpha;
      for (let j = 0; j < p; j++) {
        for (let k = 0; k < p; k++) {
          const w = factor * B[at + j * p + k];
          let f = 0;
          for (let c = 0; c < q; c++) {
            for (let b = 0; b <= c; b++, f++) {
              const straight = Z[j * q + c] * Z[k * q + b];
              const swapped = c === b ? 0 : Z[j * q + b] * Z[k * q + c];
              out[f * stride + column] += w * (straight + swapped);
            }
          }
        }
      }
    },
    collapseVariance: (scale, out, stride, column) => {
      let f = 0;
      for (let c = 0; c < q; c++) {
        f += c;
        out[f * stride + column] += scale * alpha;
        f++;
      }
    },
    values: ({ m, S }, first, second) => {
      let f = 0;
      for (let c = 0; c < q; c++) {
        first[c] = m[c];
        for (let b = 0; b <= c; b++, f++) second[f] = S[c * q + b] + m[c] * m[b];
      }
    },
    derivatives: ({ m, S }, w1, w2, _order, D) => {
      D.fill(0);
      let f = 0;
      for (let c = 0; c < q; c++) {
        D[0] += w1[c] * m[c];
        D[strides[c]] += w1[c];
        for (let b = 0; b <= c; b++, f++) {
          const w = w2[f];
          D[0] += w * (S[c * q + b] + m[c] * m[b]);
          D[strides[c]] += w * m[b];
          D[strides[b]] += w * m[c];
          D[strides[c] + strides[b]] += c === b ? 2 * w : w;
        }
      }
    },
    expandFirst: (sums, stride, d, out) => {
      for (let j = 0; j < p; j++) {
        for (let k = 0; k < d; k++) {
          let s = 0;
          for (let c = 0; c < q; c++) s += Z[j * q + c] * sums[c * stride + k];
          out[j * d + k] = alpha * s;
        }
      }
    },
    expandSecond: (sums, stride, column, out, at) => {
      for (let j = 0; j < p; j++) {
        for (let k = 0; k <= j; k++) {
          let s = 0;
          let f = 0;
          for (let c = 0; c < q; c++) {
            for (let b = 0; b <= c; b++, f++) {
              const straight = Z[j * q + c] * Z[k * q + b];
              const swapped = c === b ? 0 : Z[j * q + b] * Z[k * q + c];
              s += (straight + swapped) * sums[f * stride + column];
            }
          }
          out[at + j * p + k] = alpha * alpha * s;
          out[at + k * p + j] = alpha * alpha * s;
        }
      }
    },
  };
}
