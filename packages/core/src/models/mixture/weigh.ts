/**
 * Weights of the nodes of a mixture for one individual after the other through WebAssembly (wasm/placing.ts), at all noise levels that
 * matter. With ρ' = rest and constant those of observed.ts,
 *   log p(y) = constant + log Σ_g π_g Σ_k p_k λ_k^{−n/2} exp(−½ρ'/λ_k) (|λ_kN|/|V_gk|)^½ exp(−½ e'V_gk⁻¹e).
 * Which levels are looked at: noise/level-rules.ts.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { GAUSS, gaussRule, type LevelRule, levelRule, STRIDES, strideFor } from "../../noise/level-rules.ts";
import { logLevelMoments } from "../../noise/levels.ts";
import { noiseLevels } from "../../noise/noise.ts";
import { dot } from "../../numeric/matrix.ts";
import { loadLevels, loadObserved, type Nodes, nodeDensities, openNodes, weighNodes } from "../../wasm/placing.ts";
import type { Observations } from "./effect.ts";
import type { CoefficientMixture } from "./mixture.ts";
import { type Observed, observe } from "./observed.ts";
import { individualObservations } from "./posterior.ts";

/** Share of the outermost levels above which more are looked at, and share beside which none is. */
const LIGHT_END = 3e-4;
const NO_SHARE = Math.exp(-20);
/** Below this posterior sd of z it is worth looking first where levels have any share. */
const NARROW = 0.4;

/** One individual; weights and sums are in the memory until the next. */
export interface WeighedNodes {
  readonly logLikelihood: number;
  /** z of the levels looked at, [K]. */
  readonly z: Float64Array;
  /** Their posterior, [K]. */
  readonly shares: Float64Array;
  readonly observations: Observations;
  readonly observed: Observed;
}

/**
 * Weighs the nodes for an individual; with `solve` also what E[w | y] needs. Where nothing but sums over levels is read (`sumsOnly`), a
 * few points of Gauss may serve for them; forecasts, whose tails are those of the levels, need the levels themselves.
 */
export interface NodeWeigher {
  readonly memory: Nodes;
  readonly weigh: (statistics: BasisStatistics, individual: number, solve: boolean, sumsOnly: boolean) => WeighedNodes;
  /** log p(y | g), summed over levels, for the prior in the memory, [Γ]. */
  readonly densities: (statistics: BasisStatistics, individual: number) => Float64Array;
}

export function nodeWeigher(mixture: CoefficientMixture, columns?: Float64Array): NodeWeigher {
  const table = noiseLevels(mixture.noise);
  const { spread } = table;
  const most = table.z.length;
  const rules = new Map(STRIDES.map((stride) => [stride, levelRule(table, stride)]));
  const gauss = most === 1 ? [] : GAUSS.map((own) => ({ ...own, rule: gaussRule(table, own.points) }));
  const memory = openNodes(mixture, most, columns);

  const load = (statistics: BasisStatistics, i: number) => {
    const observations = individualObservations(mixture, statistics, i);
    // Where there are several levels, all is in units of the noise, and they hold what is left.
    const observed =
      most === 1 ? observe({ ...observations, G: observations.G.slice() }) : observe(inNoiseUnits(observations), true);
    loadObserved(memory, observed);
    const constant = observations.noiseConstant - (most === 1 ? 0.5 * observed.rest : 0);
    return { observations, observed, constant };
  };
  const loadRule = ({ z, logCounts }: LevelRule, { n }: Observations, { rank, rest }: Observed): void => {
    const rows = new Float64Array(2 * z.length);
    for (let k = 0; k < z.length; k++) {
      const logLevel = spread * z[k];
      const lambda = Math.exp(logLevel);
      rows[2 * k] = lambda;
      rows[2 * k + 1] = logCounts[k] - 0.5 * ((n - rank) * logLevel + rest / lambda);
    }
    loadLevels(memory, rows);
  };
  const weigh: NodeWeigher["weigh"] = (statistics, i, solve, sumsOnly) => {
    const { observations, observed, constant } = load(statistics, i);
    const { totals, levelSums } = memory.buffers;
    const at = (own: LevelRule): WeighedNodes => {
      loadRule(own, observations, observed);
      const logLikelihood = constant + weighNodes(memory, solve);
      const { z } = own;
      const shares = most === 1 ? Float64Array.of(1) : levelSums.slice(0, z.length).map((w) => w / totals[2]);
      return { logLikelihood, z, shares, observations, observed };
    };
    if (most === 1) return at(rules.get(1)!);
    const few = gauss.find(({ mostSpread }) => observations.n * spread * spread <= mostSpread);
    if (sumsOnly && few !== undefined) {
      const weighed = at(few.rule);
      if (Math.abs(dot(weighed.shares, weighed.z)) <= few.mostMean) return weighed;
    }
    // What n values that say all of their level would leave of its prior.
    const expected = 1 / Math.sqrt(1 + 0.5 * observations.n * spread * spread);
    const first = strideFor(table, expected);
    let own = rules.get(first === 1 && expected < NARROW ? STRIDES[0] : first)!;
    for (;;) {
      const weighed = at(own);
      const { z, shares } = weighed;
      const sd = logLevelMoments(shares, { ...table, z }).sd / spread;
      const light = Math.max(shares[0], shares[shares.length - 1]) < LIGHT_END;
      const stride = strideFor(table, sd, light ? own.stride : own.stride - 1);
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

/** The observations with their noise as the unit. */
function inNoiseUnits(own: Observations): Observations {
  const scale = 1 / own.sigma2;
  return { ...own, G: own.G.map((v) => scale * v), g: own.g.map((v) => scale * v), rho: scale * own.rho, sigma2: 1 };
}

/** The part of a rule that lies beside levels with any share. */
function near({ stride, z, logCounts }: LevelRule, known: WeighedNodes): LevelRule {
  const kept = Array.from(z.keys()).filter((j) => {
    const right = known.z.findIndex((v) => v >= z[j]);
    const at = (k: number) => known.shares[Math.min(Math.max(k, 0), known.shares.length - 1)];
    return right < 0 ? at(known.z.length) >= NO_SHARE : Math.max(at(right - 1), at(right)) >= NO_SHARE;
  });
  return {
    stride,
    z: Float64Array.from(kept, (j) => z[j]),
    logCounts: Float64Array.from(kept, (j) => logCounts[j]),
  };
}
