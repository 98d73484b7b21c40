/**
 * How well estimates are known when the model may be wrong (docs/math/covariates.md §3). Individual i has score s_i [S] and information
 * I_i [S,S]; with I = Σ I_i, a Newton step from the estimate to that without i moves by −d_i, and one that counts i as before by −c_i,
 *   d_i = (I − I_i)⁻¹ s_i,   c_i = I⁻¹ s_i,   V = ½ Σ_i (d_ic_i' + c_id_i'):
 * the sandwich of scores Σ c_ic_i' with the leverage h of each individual made up for once, s²/(1 − h), as its score's own variance asks (HC2 of
 * linear models; Kauermann & Carroll 2001). Twice, Σ d_id_i' (HC3), is too wide where the model is right.
 */
import { choleskyInPlace, solveCholeskyInPlace } from "../numeric/cholesky.ts";
import { multiplyVector } from "../numeric/matrix.ts";
import { scaledInverse } from "../numeric/semidefinite.ts";

/** What one individual says of S parameters, at the estimate. */
export interface IndividualEvidence {
  readonly score: Float64Array; // [S]
  readonly information: Float64Array; // [S,S]
}

/** V [S,S] of m individuals, for I [S,S], the sum of their informations. */
export function jackknifeCovariance(
  numIndividuals: number,
  evidenceOf: (individual: number) => IndividualEvidence,
  information: Float64Array,
): Float64Array {
  const S = Math.round(Math.sqrt(information.length));
  const V = new Float64Array(S * S);
  const inverse = scaledInverse(information, S);
  const others = new Float64Array(S * S);
  for (let i = 0; i < numIndividuals; i++) {
    const { score, information: own } = evidenceOf(i);
    for (let e = 0; e < others.length; e++) others[e] = information[e] - own[e];
    const d = solved(others, score, S);
    const c = multiplyVector(inverse, score, S, S);
    for (let a = 0; a < S; a++) {
      for (let b = 0; b < S; b++) V[a * S + b] += 0.5 * (d[a] * c[b] + c[a] * d[b]);
    }
  }
  return V;
}

/** A⁻¹b; of least norm where the others do not determine all parameters. */
function solved(A: Float64Array, b: Float64Array, n: number): Float64Array {
  const factor = A.slice();
  if (!choleskyInPlace(factor, n)) return multiplyVector(scaledInverse(A, n), b, n, n);
  const x = b.slice();
  solveCholeskyInPlace(factor, n, x);
  return x;
}
