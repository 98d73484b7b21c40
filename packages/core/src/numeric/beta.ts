/** The beta distribution, apart from special.ts so that only association loads it. */
import betaQuantile_ from "@stdlib/stats-base-dists-beta-quantile";

/** Quantile of Beta(a, b). */
export function betaQuantile(p: number, a: number, b: number): number {
  return betaQuantile_(p, a, b);
}
