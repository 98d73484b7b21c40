/**
 * Power over effects, and the smallest effect with a given power. Of R simulated cohorts, each with the outcome drawn D times for each effect,
 *   power(β) = mean_r s_r(β),   s_r the share of the D outcomes that are found,   its error sd_r(s_r)/√R.
 * The smallest effect solves Φ(a + bβ) = target, with a, b of greatest binomial likelihood over the effects whose power is neither near the level nor near 1, so
 * that only the middle of the curve need be a probit; its interval is from resampled cohorts. (docs/math/power.md §4)
 */
import { createRandom } from "../numeric/random.ts";
import { sortedQuantile } from "../numeric/select.ts";
import { normalCdf, normalQuantile } from "../numeric/special.ts";

export interface PowerPoint {
  readonly effect: number;
  readonly power: number;
  readonly standardError: number;
}

/** The smallest effect with the power asked for, and its 95% interval; the upper end is infinite where some resamples do not reach it. */
export interface SmallestEffect {
  readonly effect: number;
  readonly lower: number;
  readonly upper: number;
}

/** Shares s [R,E] as a curve over effects [E]. */
export function powerCurve(effects: readonly number[], shares: readonly (readonly number[])[]): PowerPoint[] {
  const R = shares.length;
  return effects.map((effect, e) => {
    const power = shares.reduce((sum, row) => sum + row[e], 0) / R;
    const spread = shares.reduce((sum, row) => sum + (row[e] - power) ** 2, 0);
    return { effect, power, standardError: Math.sqrt(spread / (R - 1) / R) };
  });
}

const RESAMPLES = 400;

/** The smallest effect with power `target` for shares s [R,E] at ascending effects [E]; null if none of the effects reaches it. */
export function smallestEffect(
  effects: readonly number[],
  shares: readonly (readonly number[])[],
  target: number,
  seed: number,
): SmallestEffect | null {
  const random = createRandom(seed);
  const R = shares.length;
  const meanOf = (rows: readonly (readonly number[])[]) =>
    effects.map((_, e) => rows.reduce((s, row) => s + row[e], 0) / R);
  const effect = solveProbit(effects, meanOf(shares), target);
  if (effect === null) return null;
  const resampled = Float64Array.from({ length: RESAMPLES }, () => {
    const rows = Array.from({ length: R }, () => shares[random.integer(R)]);
    return solveProbit(effects, meanOf(rows), target) ?? Number.POSITIVE_INFINITY;
  }).sort();
  return { effect, lower: sortedQuantile(resampled, 0.025), upper: resampled[Math.ceil(0.975 * RESAMPLES) - 1] };
}

/** Power that the fit looks at. */
const MIDDLE = [0.25, 0.985] as const;

/** The effect at which Φ(a + bβ), fitted to powers [E], is the target; null beyond the last effect. */
export function solveProbit(effects: readonly number[], powers: readonly number[], target: number): number | null {
  const above = powers.findIndex((p) => p >= target);
  if (above < 0) return null;
  // The two that enclose the target always take part.
  const used = effects
    .map((effect, e) => ({ effect, power: powers[e], e }))
    .filter(({ power, e }) => (power > MIDDLE[0] && power < MIDDLE[1]) || e === above || e === above - 1);
  const [a, b] = probitLine(used);
  const effect = (normalQuantile(target) - a) / b;
  if (b > 0 && effect > 0 && effect <= effects[effects.length - 1]) return effect;
  const [from, to] = [above === 0 ? 0 : effects[above - 1], effects[above]];
  const [low, high] = [above === 0 ? 0 : powers[above - 1], powers[above]];
  return from + ((to - from) * (target - low)) / (high - low);
}

/** a, b of Φ(a + bβ) by Fisher scoring from the line through probits. */
function probitLine(points: readonly { readonly effect: number; readonly power: number }[]): [number, number] {
  let [a, b] = [0, 0];
  for (let step = 0; step < 30; step++) {
    // Weighted regression of the working response.
    let [w0, w1, w2, y0, y1] = [0, 0, 0, 0, 0];
    for (const { effect: x, power } of points) {
      const p = Math.min(Math.max(power, 0.001), 0.999);
      const eta = step === 0 ? normalQuantile(p) : a + b * x;
      const mu = Math.min(Math.max(normalCdf(eta), 1e-6), 1 - 1e-6);
      const density = Math.exp(-0.5 * eta * eta) / Math.sqrt(2 * Math.PI);
      const weight = (density * density) / (mu * (1 - mu));
      const y = eta + (p - mu) / Math.max(density, 1e-6);
      w0 += weight;
      w1 += weight * x;
      w2 += weight * x * x;
      y0 += weight * y;
      y1 += weight * x * y;
    }
    const determinant = w0 * w2 - w1 * w1;
    const next: [number, number] = [(y0 * w2 - y1 * w1) / determinant, (w0 * y1 - w1 * y0) / determinant];
    const moved = Math.abs(next[0] - a) + Math.abs(next[1] - b);
    [a, b] = next;
    if (moved < 1e-9) break;
  }
  return [a, b];
}
