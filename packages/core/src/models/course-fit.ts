/**
 * Whether the visits of somebody to be placed are like any course of the model (docs/math/prediction.md §9). With β and Σ the mean and
 * covariance of coefficients over all places, and σ² the noise, the squared distance of the visits of a marker from what is usual is
 *   D² = (y − Bβ)'(BΣB' + σ²I)⁻¹(y − Bβ),   p = P(χ²_n ≥ D²);
 * of several markers the smallest p counts, times their number. A mixture of courses is not one Gaussian: p is a measure of oddity, not
 * a test of level p. Where it is small a map still gives a place, and a sure one, at its rim: nobody like that was seen.
 */
import type { CohortStatistics } from "../basis/statistics.ts";
import { dot } from "../numeric/matrix.ts";
import { chisquareUpper } from "../numeric/special.ts";
import { atLevels, gaussianEffect, observationsOf } from "./mixture/effect.ts";
import type { TrajectoryModel } from "./model.ts";
import { usualEffects } from "./suspect-visits.ts";

/** Visits that are odder than this fit no course seen. */
const UNLIKE_BELOW = 1e-3;

/** How odd the visits of the only individual of statistics are, from 1 (usual) to 0; 1 without visits. */
export function courseFit(model: TrajectoryModel, statistics: CohortStatistics): number {
  const odds = model.markers.map(({ noise, mean }, k) => {
    const own = statistics[k];
    if (own.counts[0] === 0) return 1;
    const { shift, factor } = usualEffects(model, k);
    const beta = mean.coefficients.map((v, a) => v + shift[a]);
    const observed = observationsOf(own, 0, beta, noise);
    // Of several noise levels the one that fits best: who is measured unsteadily is not odd.
    const distances = atLevels(observed, noise).map((at) => {
      const { zeta } = gaussianEffect(at, factor);
      return Math.max(at.rho - dot(zeta, zeta), 0) / at.sigma2;
    });
    return chisquareUpper(Math.min(...distances), observed.visits ?? observed.n);
  });
  return Math.min(1, model.markers.length * Math.min(...odds));
}

/** Whether visits with that `courseFit` are unlike every course the model has seen. */
export function fitsNoCourse({ courseFit: fit }: { readonly courseFit: number }): boolean {
  return fit < UNLIKE_BELOW;
}
