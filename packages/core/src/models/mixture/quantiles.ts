/**
 * Quantiles of mixtures of normals: the root of F(y) = p by guarded Newton steps. A mixture of many components is first
 * asked in a smaller form (`groupComponents`), which leaves two steps or so with all of them.
 */
import { addNormals } from "../../numeric/normal-sums.ts";
import { normalQuantile } from "../../numeric/special.ts";
import { groupComponents } from "./group-components.ts";
import { mixtureMean, mixtureVariance, type NormalMixture } from "./normal-mixture.ts";

/** The y with F(y) = p, to 1e-9 of the mixture's spread. */
export function mixtureQuantile(mixture: NormalMixture, p: number): number {
  return mixtureQuantiles(mixture, [p])[0];
}

/** Components from which on a smaller mixture is asked first where the quantile is. */
const MANY_COMPONENTS = 100;

/** The y with F(y) = p for each p, to 1e-9 of the mixture's spread. */
export function mixtureQuantiles(mixture: NormalMixture, probabilities: readonly number[]): Float64Array {
  const center = mixtureMean(mixture);
  const spread = Math.sqrt(mixtureVariance(mixture));
  const grouped = mixture.weights.length >= MANY_COMPONENTS ? groupComponents(mixture) : mixture;
  return Float64Array.from(probabilities, (p) => {
    const guess = center + normalQuantile(p) * spread;
    const near = grouped === mixture ? guess : solveQuantile(grouped, p, guess, spread, 1e-5);
    return solveQuantile(mixture, p, near, spread, 1e-9);
  });
}

/** The y with F(y) = p by guarded Newton steps from `start`, to `accuracy` times `spread`. */
function solveQuantile(mixture: NormalMixture, p: number, start: number, spread: number, accuracy: number): number {
  const { weights, means, sds } = mixture;
  const z = normalQuantile(p);
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  let smallest = Number.POSITIVE_INFINITY;
  // The quantile lies between the smallest and the largest component quantile.
  for (let k = 0; k < weights.length; k++) {
    const s = sds[k];
    const y = means[k] + z * s;
    if (y < low) low = y;
    if (y > high) high = y;
    if (s < smallest) smallest = s;
  }
  const sums = new Float64Array(2);
  const tolerance = accuracy * spread;
  // A Newton step δ leaves an error of ½|f'/f|δ², and |f'/f| is at most 8 over the smallest sd (see `addNormals`).
  const lastStep = Math.max(tolerance, Math.min(Math.sqrt(0.25 * tolerance * smallest), 1e-3 * smallest));
  let y = Math.min(Math.max(start, low), high);
  for (let step = 0; step < 200 && high - low > tolerance; step++) {
    addNormals(weights, means, sds, y, sums);
    const excess = sums[0] - p;
    if (excess > 0) high = y;
    else low = y;
    const newton = excess / sums[1];
    const next = y - newton;
    if (Math.abs(newton) <= lastStep) return next;
    y = next > low && next < high ? next : 0.5 * (low + high);
  }
  return y;
}
