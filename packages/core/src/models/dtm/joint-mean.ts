/**
 * The mean together with q(u), for fixed responsibilities (docs/math/dtm.md §5). A constant in the map and one in the mean
 * say the same to the observations and differ in the divergence alone, so one after the other they would need thousands of
 * iterations to agree; together they are one linear system. Where the mean moves by Dδ (D = 1 for a scalar mean, I for a
 * curve), γ_g becomes γ_g − 𝒢_gDδ, and the bound is quadratic in δ and ν:
 *   H = Σ_g (𝒢_gD) ⊗ a_g [dp,s],   b = D'Σ_g γ_g,   B = D'(Σ_g 𝒢_g)D,
 *   (B − H'ΞH) δ = b − H'Ξc,       ν = Ξ(c − Hδ),   Ξ as it was.
 * All of it is in the node sums: no individual is visited. O(Γdps + (dp)²s).
 */
import { dot } from "../../numeric/matrix.ts";
import { symmetricEigen } from "../../numeric/symmetric-eigen.ts";
import type { InducingLayout } from "./pairs.ts";

/** Scratch, and what the mean moved by. */
export interface JointMean {
  readonly kind: "scalar" | "spline";
  readonly numMoves: number; // s
  readonly shift: Float64Array; // Dδ [d]
  /** γ_g − 𝒢_gDδ [d,Γ]. */
  readonly linearSums: Float64Array;
  readonly response: Float64Array; // 𝒢_gD [s,d,Γ]
  readonly totals: Float64Array; // b [s]
  readonly gram: Float64Array; // B [s,s]
  readonly cross: Float64Array; // H' [s,dp]
  readonly solved: Float64Array; // (ΞH)' [s,dp]
}

/** Scratch for a layout. */
export function jointMean(layout: InducingLayout, kind: "scalar" | "spline"): JointMean {
  const { numBasis: d, numInducing: p, numNodes: n } = layout;
  const s = kind === "scalar" ? 1 : d;
  return {
    kind,
    numMoves: s,
    shift: new Float64Array(d),
    linearSums: new Float64Array(d * n),
    response: new Float64Array(s * d * n),
    totals: new Float64Array(s),
    gram: new Float64Array(s * s),
    cross: new Float64Array(s * d * p),
    solved: new Float64Array(s * d * p),
  };
}

/** Takes 𝒢_gD, b and B from node sums [K,Γ]; they hold for all α and ℓ. */
export function prepareJointMean(layout: InducingLayout, nodeSums: Float64Array, joint: JointMean): void {
  const { numBasis: d, numNodes: n, basisRow, basisColumn } = layout;
  const { kind, numMoves: s, response, totals, gram } = joint;
  response.fill(0);
  totals.fill(0);
  gram.fill(0);
  const move = (k: number) => (kind === "scalar" ? 0 : k);
  const add = (entry: number, row: number, column: number) => {
    const from = (d + entry) * n;
    const to = (move(column) * d + row) * n;
    let sum = 0;
    for (let g = 0; g < n; g++) {
      response[to + g] += nodeSums[from + g];
      sum += nodeSums[from + g];
    }
    gram[move(row) * s + move(column)] += sum;
  };
  for (let e = 0; e < basisRow.length; e++) {
    add(e, basisRow[e], basisColumn[e]);
    if (basisRow[e] !== basisColumn[e]) add(e, basisColumn[e], basisRow[e]);
  }
  for (let k = 0; k < d; k++) {
    for (let g = 0; g < n; g++) totals[move(k)] += nodeSums[k * n + g];
  }
}

/**
 * Moves the mean, with c and ν [dp], to where the bound is largest, given Ξ [dp,dp] and features [p,Γ]; writes the shift
 * and the γ that belong to it. Returns b'δ − ½δ'Bδ, which the bound gains beside ½c'ν.
 */
export function moveMean(
  layout: InducingLayout,
  features: Float64Array,
  nodeSums: Float64Array,
  covariance: Float64Array,
  joint: JointMean,
  linear: Float64Array,
  mean: Float64Array,
): number {
  const { numBasis: d, numInducing: p, numNodes: n } = layout;
  const { kind, numMoves: s, shift, linearSums, response, totals, gram, cross, solved } = joint;
  const dp = d * p;
  for (let row = 0; row < s * d; row++) {
    for (let j = 0; j < p; j++) {
      let sum = 0;
      for (let g = 0; g < n; g++) sum += features[j * n + g] * response[row * n + g];
      cross[row * p + j] = sum;
    }
  }
  for (let t = 0; t < s; t++) {
    for (let e = 0; e < dp; e++) {
      let sum = 0;
      for (let f = 0; f < dp; f++) sum += covariance[e * dp + f] * cross[t * dp + f];
      solved[t * dp + e] = sum;
    }
  }
  const ofMove = (all: Float64Array, t: number) => all.subarray(t * dp, (t + 1) * dp);
  const rest = gram.map((v, e) => v - dot(ofMove(cross, Math.floor(e / s)), ofMove(solved, e % s)));
  const right = totals.map((v, t) => v - dot(ofMove(cross, t), mean));
  const delta = solveDetermined(rest, right);
  linearSums.set(nodeSums.subarray(0, d * n));
  let gain = 0;
  for (let t = 0; t < s; t++) {
    for (let e = 0; e < dp; e++) {
      linear[e] -= delta[t] * cross[t * dp + e];
      mean[e] -= delta[t] * solved[t * dp + e];
    }
    for (let e = 0; e < d * n; e++) linearSums[e] -= delta[t] * response[t * d * n + e];
    gain += delta[t] * totals[t];
    for (let u = 0; u < s; u++) gain -= 0.5 * delta[t] * gram[t * s + u] * delta[u];
  }
  if (kind === "scalar") shift.fill(delta[0]);
  else shift.set(delta);
  return gain;
}

/** δ with Sδ = b, zero in directions that the observed times do not determine. */
function solveDetermined(S: Float64Array, b: Float64Array): Float64Array {
  const s = b.length;
  const { values, vectors } = symmetricEigen(S, s);
  const delta = new Float64Array(s);
  for (let c = 0; c < s && values[c] > 1e-10 * values[0]; c++) {
    let along = 0;
    for (let t = 0; t < s; t++) along += vectors[t * s + c] * b[t];
    for (let t = 0; t < s; t++) delta[t] += (along / values[c]) * vectors[t * s + c];
  }
  return delta;
}
