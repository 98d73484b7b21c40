/**
 * How well effects in the mean are known (docs/math/covariates.md §3), twice: by the inverse of the information, which counts on the model
 * being right, and by leaving out one individual after another (jackknife.ts), which does not; intervals take the larger. Maps and mixed models alike.
 */
import { scaledInverse } from "../numeric/semidefinite.ts";
import { addInformations, type IndividualEvidence, jackknifeCovariance } from "./jackknife.ts";

/** Covariances of γ of all markers, one after another, n = ΣPh in all. */
export interface EffectCovariances {
  /** Model-based, [n,n]. */
  readonly covariance: Float64Array;
  /** Robust, [n,n]; older files lack it. */
  readonly robustCovariance?: Float64Array;
  /** Of the t distribution of intervals: individuals less parameters of all means. */
  readonly degreesOfFreedom: number;
}

/** The covariances of some of S parameters, `kept`, from what individuals say of all. */
export function effectCovariances(
  numIndividuals: number,
  evidenceOf: (individual: number) => IndividualEvidence,
  S: number,
  kept: readonly number[],
): EffectCovariances {
  const sums = addInformations(numIndividuals, evidenceOf, S);
  const block = (all: Float64Array) => Float64Array.from(kept.flatMap((s) => kept.map((t) => all[s * S + t])));
  return {
    covariance: block(scaledInverse(sums.information, S)),
    robustCovariance: block(jackknifeCovariance(numIndividuals, evidenceOf, sums)),
    degreesOfFreedom: Math.max(numIndividuals - S, 1),
  };
}
