/**
 * How well estimates are known when the model may be wrong (docs/math/covariates.md §3). Individual i has score s_i [S] and information
 * I_i [S,S]. With I = Σ I_i, a Newton step from the estimate to that without i moves by −d_i, and K is I with the map known,
 *   d_i = (I − I_i)⁻¹ s_i,   V = m/(m − S) · Σ_i (T d_i)(T d_i)',   T = (K⁻¹I)^½.
 * Where nothing but these S parameters is estimated, as in mixed models, K = I and T is the identity (HC3 of linear models; Mancl & DeRouen
 * 2001). Scores beside a map vary by K, as it is one map for all; estimates vary by I⁻¹, as it is estimated too. With T, V is I⁻¹ where the model is right.
 */
import { choleskyInPlace, invertLower, solveCholeskyInPlace } from "../numeric/cholesky.ts";
import { addTo, identity, multiply, multiplyVector, transpose } from "../numeric/matrix.ts";
import { scaledInverse } from "../numeric/semidefinite.ts";
import { symmetricEigen } from "../numeric/symmetric-eigen.ts";

/** What one individual says of S parameters, at the estimate. */
export interface IndividualEvidence {
  readonly score: Float64Array; // [S]
  readonly information: Float64Array; // [S,S]
  /** The information with the map known, where there is one. */
  readonly withMapKnown?: Float64Array; // [S,S]
}

/** I and K of m individuals, [S,S]. */
export interface Informations {
  readonly information: Float64Array;
  readonly withMapKnown: Float64Array;
}

/** The sums of what individuals say. */
export function addInformations(
  numIndividuals: number,
  evidenceOf: (individual: number) => IndividualEvidence,
  S: number,
): Informations {
  const sums = { information: new Float64Array(S * S), withMapKnown: new Float64Array(S * S) };
  for (let i = 0; i < numIndividuals; i++) {
    const { information, withMapKnown = information } = evidenceOf(i);
    addTo(sums.information, information);
    addTo(sums.withMapKnown, withMapKnown);
  }
  return sums;
}

/** V [S,S] of m individuals. */
export function jackknifeCovariance(
  numIndividuals: number,
  evidenceOf: (individual: number) => IndividualEvidence,
  { information, withMapKnown }: Informations,
): Float64Array {
  const S = Math.round(Math.sqrt(information.length));
  const sum = new Float64Array(S * S);
  const others = new Float64Array(S * S);
  const scale = numIndividuals / Math.max(numIndividuals - S, 1);
  for (let i = 0; i < numIndividuals; i++) {
    const { score, information: own } = evidenceOf(i);
    for (let e = 0; e < others.length; e++) others[e] = information[e] - own[e];
    const d = solved(others, score, S);
    for (let a = 0; a < S; a++) for (let b = 0; b < S; b++) sum[a * S + b] += scale * d[a] * d[b];
  }
  const T = rootOfRatio(withMapKnown, information, S);
  return multiply(multiply(T, sum, S, S, S), transpose(T, S, S), S, S, S);
}

/** (K⁻¹I)^½ = L'⁻¹ (L⁻¹IL'⁻¹)^½ L' for K = LL'; the identity where K is singular. */
function rootOfRatio(K: Float64Array, I: Float64Array, n: number): Float64Array {
  const L = K.slice();
  if (!choleskyInPlace(L, n)) return identity(n);
  const inverse = invertLower(L, n);
  const within = multiply(multiply(inverse, I, n, n, n), transpose(inverse, n, n), n, n, n);
  const { values, vectors } = symmetricEigen(within, n);
  const turned = transpose(vectors, n, n);
  for (let c = 0; c < n; c++) {
    const root = Math.sqrt(Math.max(values[c], 0));
    for (let r = 0; r < n; r++) turned[c * n + r] *= root;
  }
  const root = multiply(vectors, turned, n, n, n);
  return multiply(transpose(inverse, n, n), multiply(root, transpose(L, n, n), n, n, n), n, n, n);
}

/** A⁻¹b; of least norm where the others do not determine all parameters. */
function solved(A: Float64Array, b: Float64Array, n: number): Float64Array {
  const factor = A.slice();
  if (!choleskyInPlace(factor, n)) return multiplyVector(scaledInverse(A, n), b, n, n);
  const x = b.slice();
  solveCholeskyInPlace(factor, n, x);
  return x;
}
