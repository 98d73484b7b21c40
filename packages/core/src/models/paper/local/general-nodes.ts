/**
 * Gaussian bumps at arbitrary places: one exponential per place, every monomial summed directly.
 * For inducing places without structure the nodes of Ψ2 are the p(p+1)/2 midpoints of folded pairs j ≤ k.
 */
import { negativeExp } from "../../../numeric/negative-exp.ts";
import { cubeStrides, type MomentOrder, type Nodes } from "./nodes.ts";

/** Nodes at the rows of `places` [n,q]. */
export function generalNodes(places: Float64Array, n: number, q: number): Nodes {
  const values = new Float64Array(n);
  const strides = cubeStrides(q);
  const u = new Float64Array(q);
  return {
    numNodes: n,
    values: (m, R, scale, out) => placeValues(places, n, q, m, R, scale, u, out),
    moments:
      q === 2
        ? (w, m, R, order, moments) => placeMoments2(places, n, w, m, R, order, values, moments)
        : (w, m, R, order, moments) => {
            placeValues(places, n, q, m, R, 1, u, values);
            placeMoments(places, n, q, w, m, values, order, strides, u, moments);
          },
  };
}

function placeValues(
  places: Float64Array,
  n: number,
  q: number,
  m: Float64Array,
  R: Float64Array,
  scale: number,
  u: Float64Array,
  out: Float64Array,
): void {
  for (let j = 0; j < n; j++) {
    let s = 0;
    for (let c = 0; c < q; c++) {
      u[c] = m[c] - places[j * q + c];
      let t = 0.5 * R[c * q + c] * u[c];
      for (let b = 0; b < c; b++) t += R[c * q + b] * u[b];
      s += t * u[c];
    }
    out[j] = scale * negativeExp(-s);
  }
}

/** Sums over the places of w · value · (u_a u_b …), a ≤ b ≤ …, each monomial once. */
function placeMoments(
  places: Float64Array,
  n: number,
  q: number,
  w: Float64Array,
  m: Float64Array,
  values: Float64Array,
  order: MomentOrder,
  strides: Int32Array,
  u: Float64Array,
  M: Float64Array,
): void {
  M.fill(0);
  for (let j = 0; j < n; j++) {
    const e = w[j] * values[j];
    M[0] += e;
    for (let c = 0; c < q; c++) u[c] = m[c] - places[j * q + c];
    for (let a = 0; a < q; a++) {
      const ea = e * u[a];
      const atA = strides[a];
      M[atA] += ea;
      for (let b = a; b < q; b++) {
        const eb = ea * u[b];
        const atB = atA + strides[b];
        M[atB] += eb;
        if (order === 2) continue;
        for (let c = b; c < q; c++) {
          const ec = eb * u[c];
          const atC = atB + strides[c];
          M[atC] += ec;
          for (let d = c; d < q; d++) M[atC + strides[d]] += ec * u[d];
        }
      }
    }
  }
}

/** The same for q = 2, unrolled: orders 0 to 2 with the exponentials, then orders 3 and 4 (few sums at a time). */
function placeMoments2(
  places: Float64Array, // [n,2]
  n: number,
  weights: Float64Array,
  m: Float64Array,
  R: Float64Array,
  order: MomentOrder,
  weighted: Float64Array, // [n]
  M: Float64Array, // [25]
): void {
  const m0 = m[0];
  const m1 = m[1];
  const r = 0.5 * R[0];
  const s = R[1];
  const t = 0.5 * R[3];
  let m00 = 0;
  let m10 = 0;
  let m01 = 0;
  let m20 = 0;
  let m11 = 0;
  let m02 = 0;
  for (let j = 0; j < n; j++) {
    const u = m0 - places[2 * j];
    const v = m1 - places[2 * j + 1];
    const u2 = u * u;
    const uv = u * v;
    const v2 = v * v;
    const e = weights[j] * negativeExp(-(r * u2 + s * uv + t * v2));
    weighted[j] = e;
    m00 += e;
    m10 += e * u;
    m01 += e * v;
    m20 += e * u2;
    m11 += e * uv;
    m02 += e * v2;
  }
  M[0] = m00;
  M[5] = m10;
  M[1] = m01;
  M[10] = m20;
  M[6] = m11;
  M[2] = m02;
  if (order === 2) return;
  let m30 = 0;
  let m21 = 0;
  let m12 = 0;
  let m03 = 0;
  let m40 = 0;
  let m31 = 0;
  let m22 = 0;
  let m13 = 0;
  let m04 = 0;
  for (let j = 0; j < n; j++) {
    const u = m0 - places[2 * j];
    const v = m1 - places[2 * j + 1];
    const u2 = u * u;
    const v2 = v * v;
    const e20 = weighted[j] * u2;
    const e02 = weighted[j] * v2;
    const e30 = e20 * u;
    const e03 = e02 * v;
    m30 += e30;
    m21 += e20 * v;
    m12 += e02 * u;
    m03 += e03;
    m40 += e30 * u;
    m31 += e30 * v;
    m22 += e20 * v2;
    m13 += e03 * u;
    m04 += e03 * v;
  }
  M[15] = m30;
  M[11] = m21;
  M[7] = m12;
  M[3] = m03;
  M[20] = m40;
  M[16] = m31;
  M[12] = m22;
  M[8] = m13;
  M[4] = m04;
}
