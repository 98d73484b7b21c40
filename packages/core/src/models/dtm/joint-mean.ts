/**
 * The mean together with q(u), for fixed responsibilities (docs/math/dtm.md §5). A constant in the map and one in the mean
 * say the same to the observations and differ in the divergence alone, so one after the other they would need thousands of
 * iterations to agree; together they are one linear system. Where the mean moves by Dδ (D: the columns of its design,
 * models/mean.ts), γ_g becomes γ_g − 𝒢_gDδ, and the bound is quadratic in δ and ν:
 *   H = Σ_g (𝒢_gD) ⊗ a_g [dp,s],   b = D'Σ_g γ_g,   B = D'(Σ_g 𝒢_g)D,
 *   (B − H'ΞH) δ = b − H'Ξc,       ν = Ξ(c − Hδ),   Ξ as it was.
 * All of it is in the node sums: no individual is visited. O(Γdps + (dp)²s).
 */
import { bilinear, dot, multiply, multiplyTransposed, multiplyVector } from "../../numeric/matrix.ts";
import { pseudoInverse } from "../../numeric/semidefinite.ts";
import { designGradient, type MeanDesign, meanCoefficients } from "../mean.ts";
import type { InducingLayout } from "./pairs.ts";

/** What node sums say of the mean, whatever α and ℓ. */
export interface JointMean {
  readonly design: MeanDesign; // D [d,s]
  readonly linearSums: Float64Array; // γ [d,Γ]
  readonly response: Float64Array; // 𝒢_gD [s,d,Γ]
  readonly totals: Float64Array; // b [s]
  readonly gram: Float64Array; // B [s,s]
}

/** What the mean moved by, and what came of it. */
export interface MeanMove {
  readonly shift: Float64Array; // Dδ [d]
  /** γ_g − 𝒢_gDδ [d,Γ]. */
  readonly linearSums: Float64Array;
  /** b'δ − ½δ'Bδ, which the bound gains beside ½c'ν. */
  readonly gain: number;
}

/** 𝒢_gD, b and B from node sums [K,Γ]. */
export function jointMean(layout: InducingLayout, design: MeanDesign, nodeSums: Float64Array): JointMean {
  const { numBasis: d, numNodes: n, basisRow, basisColumn } = layout;
  const { columns: D, numColumns: s } = design;
  const response = new Float64Array(s * d * n);
  const add = (entry: number, row: number, column: number) => {
    for (let t = 0; t < s; t++) {
      const weight = D[column * s + t];
      if (weight === 0) continue;
      for (let g = 0; g < n; g++) response[(t * d + row) * n + g] += weight * nodeSums[(d + entry) * n + g];
    }
  };
  for (let e = 0; e < basisRow.length; e++) {
    add(e, basisRow[e], basisColumn[e]);
    if (basisRow[e] !== basisColumn[e]) add(e, basisColumn[e], basisRow[e]);
  }
  const ones = new Float64Array(n).fill(1);
  const linearSums = nodeSums.subarray(0, d * n);
  const totals = designGradient(design, multiplyVector(linearSums, ones, d, n));
  const gram = multiply(multiplyVector(response, ones, s * d, n), D, s, d, s);
  return { design, linearSums, response, totals, gram };
}

/** D B⁺ (b − Σ_g (𝒢_gD)'f̄_g), [d]: the step of the mean alone, where the map f̄ [d,Γ] stays. */
export function meanStep({ design, response, totals, gram }: JointMean, nodeMeans: Float64Array): Float64Array {
  const s = totals.length;
  const fitted = multiplyVector(response, nodeMeans, s, nodeMeans.length);
  const { inverse } = pseudoInverse(gram, s);
  return meanCoefficients(
    design,
    multiplyVector(
      inverse,
      totals.map((b, t) => b - fitted[t]),
      s,
      s,
    ),
  );
}

/** How mean and q(u) hang together at given features and Ξ. */
export interface MeanSystem {
  readonly cross: Float64Array; // H' [s,dp]
  readonly solved: Float64Array; // (ΞH)' [s,dp]
  /** (B − H'ΞH)⁺ [s,s]: directions that the observed times do not determine stay. */
  readonly inverse: Float64Array;
}

/** The system for features [p,Γ] and Ξ [dp,dp]. */
export function meanSystem(
  { numBasis: d, numInducing: p, numNodes: n }: InducingLayout,
  features: Float64Array,
  { response, totals, gram }: JointMean,
  covariance: Float64Array,
): MeanSystem {
  const s = totals.length;
  const cross = multiplyTransposed(response, features, s * d, n, p);
  const solved = multiply(cross, covariance, s, d * p, d * p);
  const explained = multiplyTransposed(cross, solved, s, d * p, s);
  const { inverse } = pseudoInverse(
    gram.map((v, e) => v - explained[e]),
    s,
  );
  return { cross, solved, inverse };
}

/** b − H'ν, [s]: the derivative of the bound by the parameters of the mean at any ν. */
export function meanSlope({ totals }: JointMean, { cross }: MeanSystem, mean: Float64Array): Float64Array {
  return multiplyVector(cross, mean, totals.length, mean.length).map((v, t) => totals[t] - v);
}

/** Moves the mean, with c and ν [dp], to where the bound is largest, given Ξ [dp,dp] and features [p,Γ]. */
export function moveMean(
  layout: InducingLayout,
  features: Float64Array,
  joint: JointMean,
  covariance: Float64Array,
  linear: Float64Array,
  mean: Float64Array,
): MeanMove {
  const { design, linearSums, response, totals, gram } = joint;
  const s = totals.length;
  const system = meanSystem(layout, features, joint, covariance);
  const delta = multiplyVector(system.inverse, meanSlope(joint, system, mean), s, s);
  const moved = multiply(delta, response, 1, s, linearSums.length);
  multiply(delta, system.cross, 1, s, mean.length).forEach((v, e) => {
    linear[e] -= v;
  });
  multiply(delta, system.solved, 1, s, mean.length).forEach((v, e) => {
    mean[e] -= v;
  });
  return {
    shift: meanCoefficients(design, delta),
    linearSums: linearSums.map((v, e) => v - moved[e]),
    gain: dot(delta, totals) - 0.5 * bilinear(delta, gram, delta),
  };
}
