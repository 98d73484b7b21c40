/**
 * Outcomes that go with the place: with u a number read off the true place x, z_i is 1 with probability
 *   expit(b₀(β) + β u_i),   b₀ such that the mean over the population of places is the risk asked for.
 * Along a direction v of the map u = v'x, standard normal under the prior; between two groups of the map, parted by the line v'x = c, u is 1 beyond it and 0 before. So β
 * is the log odds ratio per prior standard deviation, or between the groups. (docs/math/power.md §2)
 */
import { gaussHermite, type QuadratureRule } from "../numeric/quadrature.ts";
import type { Random } from "../numeric/random.ts";
import { normalCdf } from "../numeric/special.ts";

export type LinkKind = "most-resolved" | "least-resolved" | "groups";

/** How an outcome depends on the place, and the effects β to be tried, ascending. */
export interface OutcomeLink {
  readonly kind: LinkKind;
  /** v [q], of length 1. */
  readonly direction: Float64Array;
  /** c, in prior standard deviations; null along a direction. */
  readonly cut: number | null;
  readonly effects: readonly number[];
}

/** Risks that an effect means. */
export interface LinkRisks {
  /** One prior standard deviation to either side of the middle, or in the first and the second group. */
  readonly lower: number;
  readonly upper: number;
  /** Mean of u among those with the outcome less that among those without: between groups that are known, such as arms, what this test finds alike. */
  readonly placeDifference: number;
}

/** u [m] at true places [m,q]. */
export function linkScores({ direction, cut }: OutcomeLink, locations: Float64Array): Float64Array {
  const q = direction.length;
  return Float64Array.from({ length: locations.length / q }, (_, i) => {
    const at = direction.reduce((sum, v, c) => sum + v * locations[i * q + c], 0);
    return cut === null ? at : Number(at > cut);
  });
}

/** Share of the population in the second group; null along a direction. */
export function secondShare({ cut }: Pick<OutcomeLink, "cut">): number | null {
  return cut === null ? null : normalCdf(-cut);
}

/** Labels [m] of an outcome with log-odds b₀ + βu. */
export function drawOutcome(scores: Float64Array, intercept: number, effect: number, random: Random): Uint8Array {
  return Uint8Array.from(scores, (u) => (random.uniform() < expit(intercept + effect * u) ? 1 : 0));
}

/** What an effect means in risks. */
export function risksOf(link: OutcomeLink, effect: number, risk: number): LinkRisks {
  const b0 = interceptOf(link, effect, risk);
  const [low, high] = link.cut === null ? [-1, 1] : [0, 1];
  const { nodes, weights } = population(link);
  let sum = 0;
  for (const [k, u] of nodes.entries()) {
    const p = expit(b0 + effect * u);
    sum += weights[k] * u * (p / risk - (1 - p) / (1 - risk));
  }
  return { lower: expit(b0 + effect * low), upper: expit(b0 + effect * high), placeDifference: sum };
}

/** Points of the quadrature over a standard normal u, which every effect and every simulated study asks for: found once. */
const POINTS = 40;
let normal: QuadratureRule | undefined;

/** The law of u over the population. */
function population(link: OutcomeLink): QuadratureRule {
  const share = secondShare(link);
  if (share === null) {
    normal ??= gaussHermite(POINTS);
    return normal;
  }
  return { nodes: Float64Array.of(0, 1), weights: Float64Array.of(1 - share, share) };
}

/** b₀ for an effect and a mean risk, by bisection: the mean risk rises with it. */
export function interceptOf(link: OutcomeLink, effect: number, risk: number): number {
  const { nodes, weights } = population(link);
  const meanRisk = (b0: number) => weights.reduce((sum, w, k) => sum + w * expit(b0 + effect * nodes[k]), 0);
  let [low, high] = [-60, 60];
  for (let step = 0; step < 60; step++) {
    const middle = 0.5 * (low + high);
    if (meanRisk(middle) < risk) low = middle;
    else high = middle;
  }
  return 0.5 * (low + high);
}

const expit = (x: number) => 1 / (1 + Math.exp(-x));
