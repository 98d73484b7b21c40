/**
 * Weights of the nodes of a mixture for one individual after the other through WebAssembly (wasm/placing.ts), at all noise levels that
 * matter. With ρ' = rest and constant those of observed.ts,
 *   log p(y) = constant + log Σ_g π_g Σ_k p_k λ_k^{−n/2} exp(−½ρ'/λ_k) (|λ_kN|/|V_gk|)^½ exp(−½ e'V_gk⁻¹e).
 *
 * A sum over levels h apart in z errs by the Fourier transform of the posterior at 2π/h: by 2 exp(−2π²σ²/h²) where that is Gaussian with
 * sd σ, and by about exp(−π²/(hω)) where few values leave it skewed. So levels between are left out, and the others count for them, where
 * h ≤ σ/0.9 and h ≤ 0.5/ω; the outermost count what is left of all weights, and must be light. Together this is felt by 2e-5 in log p(y) at
 * most.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { logLevelMoments } from "../../noise/levels.ts";
import { noiseLevels } from "../../noise/noise.ts";
import { loadLevels, loadObserved, type Nodes, nodeDensities, openNodes, weighNodes } from "../../wasm/placing.ts";
import type { Observations } from "./effect.ts";
import type { CoefficientMixture } from "./mixture.ts";
import { type Observed, observe } from "./observed.ts";
import { individualObservations } from "./posterior.ts";

/** Steps between levels, coarse to fine. */
const STRIDES = [4, 3, 2, 1];
/** The least posterior sd of a step, and the largest step in log λ. */
const LEAST_SD = 0.9;
const LARGEST_STEP = 0.5;
/** Share of the outermost levels above which more are looked at, and share beside which none is. */
const LIGHT_END = 3e-4;
const NO_SHARE = Math.exp(-20);
/** Below this posterior sd of z it is worth looking first where levels have any share. */
const NARROW = 0.4;

/** One individual; weights and sums are in the memory until the next. */
export interface WeighedNodes {
  readonly logLikelihood: number;
  /** Levels looked at, [K]. */
  readonly levels: Int32Array;
  /** Their posterior, [K]. */
  readonly shares: Float64Array;
  readonly observations: Observations;
  readonly observed: Observed;
}

/** Weighs the nodes for an individual; with `solve` also what E[w | y] needs. */
export interface NodeWeigher {
  readonly memory: Nodes;
  readonly weigh: (statistics: BasisStatistics, individual: number, solve: boolean) => WeighedNodes;
  /** log p(y | g), summed over levels, for the prior in the memory, [Γ]. */
  readonly densities: (statistics: BasisStatistics, individual: number) => Float64Array;
}

export function nodeWeigher(mixture: CoefficientMixture, columns?: Float64Array): NodeWeigher {
  const table = noiseLevels(mixture.noise);
  const { z, spread, logWeights } = table;
  const most = z.length;
  const step = most === 1 ? 0 : z[1] - z[0];
  const rules = new Map(STRIDES.map((stride) => [stride, rule(logWeights, stride)]));
  const memory = openNodes(mixture, most, columns);
  /** The largest step that a posterior sd allows, up to `most`. */
  const strideFor = (sd: number, most: number): number =>
    STRIDES.find((s) => s <= most && s * step * LEAST_SD <= sd && s * step * spread <= LARGEST_STEP) ?? 1;

  const load = (statistics: BasisStatistics, i: number) => {
    const observations = individualObservations(mixture, statistics, i);
    const observed = observe({ ...observations, G: observations.G.slice() }, most > 1);
    loadObserved(memory, observed);
    // Where there are several levels, they hold what is left.
    const constant = observations.noiseConstant - (most === 1 ? 0.5 * observed.rest : 0);
    return { observations, observed, constant };
  };
  const loadRule = ({ levels, logCounts }: LevelRule, { n, sigma2 }: Observations, { rest }: Observed): void => {
    const rows = new Float64Array(2 * levels.length);
    for (let k = 0; k < levels.length; k++) {
      const logLevel = spread * z[levels[k]];
      const lambda = Math.exp(logLevel);
      rows[2 * k] = lambda * sigma2;
      rows[2 * k + 1] = logCounts[k] - 0.5 * (n * logLevel + rest / lambda);
    }
    loadLevels(memory, rows);
  };
  const weigh: NodeWeigher["weigh"] = (statistics, i, solve) => {
    const { observations, observed, constant } = load(statistics, i);
    const { totals, levelSums } = memory.buffers;
    const at = (own: LevelRule): WeighedNodes => {
      loadRule(own, observations, observed);
      const logLikelihood = constant + weighNodes(memory, solve);
      const { levels } = own;
      const shares = most === 1 ? Float64Array.of(1) : levelSums.slice(0, levels.length).map((w) => w / totals[2]);
      return { logLikelihood, levels, shares, observations, observed };
    };
    if (most === 1) return at(rules.get(1)!);
    // What n values that say all of their level would leave of its prior.
    const expected = 1 / Math.sqrt(1 + 0.5 * observations.n * spread * spread);
    const first = strideFor(expected, STRIDES[0]);
    let own = rules.get(first === 1 && expected < NARROW ? STRIDES[0] : first)!;
    for (;;) {
      const weighed = at(own);
      const { levels, shares } = weighed;
      const sd = logLevelMoments(shares, { ...table, z: Float64Array.from(levels, (k) => z[k]) }).sd / spread;
      const light = Math.max(shares[0], shares[shares.length - 1]) < LIGHT_END;
      const stride = strideFor(sd, light ? own.stride : own.stride - 1);
      if (own.stride === 1 || stride === own.stride) return weighed;
      own = near(rules.get(stride)!, weighed);
    }
  };
  return {
    memory,
    weigh,
    densities: (statistics, i) => {
      const { observations, observed, constant } = load(statistics, i);
      loadRule(rules.get(1)!, observations, observed);
      return nodeDensities(memory, mixture.numNodes).map((v) => v + constant);
    },
  };
}

/** Levels to look at, and the logarithms of what each counts, [K]. */
interface LevelRule {
  readonly stride: number;
  readonly levels: Int32Array;
  readonly logCounts: Float64Array;
}

/** Every `stride`-th level, the outermost at equal distances from both ends. */
function rule(logWeights: Float64Array, stride: number): LevelRule {
  const most = logWeights.length;
  const first = ((most - 1) % stride) / 2;
  const levels = Int32Array.from({ length: Math.floor((most - 1) / stride) + 1 }, (_, k) => first + k * stride);
  const counts = Float64Array.from(levels, (k) => stride * Math.exp(logWeights[k]));
  if (stride > 1) {
    const between = counts.subarray(1, -1).reduce((sum, w) => sum + w, 0);
    counts[0] = counts[counts.length - 1] = 0.5 * (1 - between);
  }
  return { stride, levels, logCounts: counts.map(Math.log) };
}

/** The part of a rule that lies beside levels with any share. */
function near({ stride, levels, logCounts }: LevelRule, known: WeighedNodes): LevelRule {
  const kept = Array.from(levels.keys()).filter((j) => {
    const right = known.levels.findIndex((k) => k >= levels[j]);
    const at = (k: number) => known.shares[Math.min(Math.max(k, 0), known.shares.length - 1)];
    return right < 0 ? at(known.levels.length) >= NO_SHARE : Math.max(at(right - 1), at(right)) >= NO_SHARE;
  });
  return {
    stride,
    levels: Int32Array.from(kept, (j) => levels[j]),
    logCounts: Float64Array.from(kept, (j) => logCounts[j]),
  };
}
