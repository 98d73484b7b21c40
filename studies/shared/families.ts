/**
 * Laws of values that calibration is asked of: those of the models themselves, and others that none of the models is. Everybody has
 * one to fourteen visits (of test individuals two or more) between an entry and an end of one's own, within ten years.
 */
import { type Cohort, makeCohort, onlyMarker } from "../../packages/core/src/cohort/cohort.ts";
import { markerModel } from "../../packages/core/src/models/fit.ts";
import { fitDtm, fitLinear } from "../../packages/core/src/models/fit-models.ts";
import type { TrajectoryModel } from "../../packages/core/src/models/model.ts";
import { drawNoise, levelNoise, NOISE_KINDS, type NoiseKind } from "../../packages/core/src/noise/noise.ts";
import { createRandom, type Random } from "../../packages/core/src/numeric/random.ts";
import { simulateCohort } from "../../packages/core/src/simulate/cohorts.ts";
import { simulateFromModel } from "../../packages/core/src/simulate/from-model.ts";

export const MODELS = ["lmm", "fpca", "dtm", "dtm-paper"] as const;
export type Fitted = (typeof MODELS)[number];
export type Fit = { readonly model: Fitted; readonly noise: NoiseKind | "auto" };

/** Values of one individual at its times. */
type Values = (times: Float64Array, random: Random) => Float64Array;

/** Noise of each kind with a mean variance of 25: levels with ω = 0.6; 0.8 of the variance serial, with a range of a year. */
const NOISES = Object.fromEntries(
  NOISE_KINDS.map((kind) => {
    const spread = kind.startsWith("level") ? 0.6 : 0;
    const correlation = kind.endsWith("serial") ? { range: 1, whiteShare: 0.2 } : undefined;
    // ω is the standard deviation of the logarithm of the variance: a median that gives the mean asked for.
    return [kind, levelNoise(25 * Math.exp(-0.5 * spread * spread), spread, correlation)];
  }),
) as Record<NoiseKind, ReturnType<typeof levelNoise>>;

/** Student's t with three degrees of freedom, of variance 1. */
function heavy(random: Random): number {
  return random.normal() / Math.sqrt(2 * random.gamma(1.5));
}

/** Lines of normal level and slope, with noise of a kind. */
const lines = (noise: NoiseKind): Values => {
  return (times, random) => {
    const [level, slope] = [80 + 12 * random.normal(), -1 + 1.5 * random.normal()];
    return drawNoise(NOISES[noise], times, random).map((e, j) => level + slope * (times[j] - 5) + e);
  };
};

export const FAMILIES: Readonly<Record<string, { readonly words: string; readonly draw: Values }>> = {
  lines: { words: "level sd 12, slope sd 1.5 a year, white noise sd 5", draw: lines("white") },
  "heavy-tailed slopes": {
    words: "the same, slopes of Student's t with 3 degrees of freedom and the same sd",
    draw: (times, random) => {
      const [level, slope] = [80 + 12 * random.normal(), -1 + 1.5 * heavy(random)];
      return times.map((t) => level + slope * (t - 5) + 5 * random.normal());
    },
  },
  "change points": {
    words: "level until a time uniform in 0 to 10, then a loss of 0.5 to 8 a year",
    draw: (times, random) => {
      const [level, change, loss] = [85 + 10 * random.normal(), 10 * random.uniform(), 0.5 + 7.5 * random.uniform()];
      return times.map((t) => level - loss * Math.max(0, t - change) + 5 * random.normal());
    },
  },
  "two classes": {
    words: "half stable at 90 (sd 6), half falling exponentially from 90 (sd 6) towards 50",
    draw: (times, random) => {
      const [falls, level] = [random.uniform() < 0.5, 90 + 6 * random.normal()];
      return times.map((t) => level - (falls ? 40 * (1 - Math.exp(-t / 3)) : 0) + 5 * random.normal());
    },
  },
  "t-noise": {
    words: "lines, noise of Student's t with 3 degrees of freedom, sd 5",
    draw: (times, random) => {
      const [level, slope] = [80 + 12 * random.normal(), -1 + 1.5 * random.normal()];
      return times.map((t) => level + slope * (t - 5) + 5 * heavy(random));
    },
  },
  "noise levels": { words: "lines, noise variance of one's own, ω = 0.6, mean 25", draw: lines("level") },
  "serial noise": {
    words: "lines, noise sd 5, four fifths of its variance serial, range 1 year",
    draw: lines("serial"),
  },
  "levels and serial": { words: "both of these", draw: lines("level+serial") },
  bounded: {
    words:
      "100 expit(a + bt), a sd 2, b sd 0.4, white noise sd 5, whole numbers held in 0 to 100 (a third of them at a bound)",
    draw: (times, random) => {
      const [a, b] = [1 + 2 * random.normal(), 0.4 * random.normal()];
      const value = (t: number) => 100 / (1 + Math.exp(-a - b * (t - 5))) + 5 * random.normal();
      return times.map((t) => Math.round(Math.min(100, Math.max(0, value(t)))));
    },
  },
};

/** Visits of one individual: a number between two, entry within the first three years, a year or more of follow-up. */
function drawTimes(random: Random, [fewest, most]: readonly [number, number]): Float64Array {
  const entry = 3 * random.uniform();
  const end = entry + 1 + (9 - entry) * random.uniform();
  const n = fewest + random.integer(most - fewest + 1);
  return Float64Array.from({ length: n }, () => entry + (end - entry) * random.uniform()).sort();
}

/** m individuals whose values `draw` gives. */
function cohortOf(draw: Values, m: number, visits: readonly [number, number], random: Random, marker = {}): Cohort {
  const rows = Array.from({ length: m }, (_, i) => {
    const times = drawTimes(random, visits);
    return { id: String(i).padStart(5, "0"), times, values: draw(times, random) };
  });
  const columns = {
    ids: rows.flatMap(({ id, times }) => Array.from(times, () => id)),
    times: rows.flatMap(({ times }) => [...times]),
    values: rows.flatMap(({ values }) => [...values]),
  };
  return makeCohort(columns, marker);
}

/** The model asked for, with default options but for the noise; the published map has white noise alone. */
export function fitModel(cohort: Cohort, { model, noise }: Fit, seed: number): TrajectoryModel {
  if (model === "dtm-paper") return fitDtm(cohort, { kind: "dtm-paper", seed });
  const linear = fitLinear(cohort, { noise, seed, mean: model === "lmm" ? "spline" : "scalar" });
  if (model === "dtm") return fitDtm(cohort, { noise, linear, seed, restarts: 0 });
  return model === "lmm" ? linear.lmm : linear.fpca!;
}

const laws = new Map<string, TrajectoryModel>();

/** The law of a model: fitted to 600 individuals of the simulated PFVC registry with noise of the kind (of "auto": both). */
export function lawOf({ model, noise }: Fit): TrajectoryModel {
  const kind = noise === "auto" ? "level+serial" : noise;
  const key = `${model} ${kind}`;
  const known = laws.get(key);
  if (known !== undefined) return known;
  const { cohort } = simulateCohort("pfvc", { seed: 1, numIndividuals: 600, noiseSd: 1e-3 });
  const { offsets, times, values } = onlyMarker(cohort);
  const random = createRandom(2);
  const noisy = cohort.ids.flatMap((_, i) => {
    const noise = drawNoise(NOISES[kind], times.slice(offsets[i], offsets[i + 1]), random);
    return Array.from(noise, (e, j) => values[offsets[i] + j] + e);
  });
  const ids = cohort.ids.flatMap((id, i) => new Array<string>(offsets[i + 1] - offsets[i]).fill(id));
  const law = fitModel(makeCohort({ ids, times, values: noisy }), { model, noise: kind }, 1);
  laws.set(key, law);
  return law;
}

export interface Drawn {
  readonly cohort: Cohort;
  /** Places in the shown frame, [m,q], where the law is a map; else empty. */
  readonly locations: Float64Array;
}

/** m individuals of a family, or of the law itself, seen so many times. */
export function drawFamily(
  family: string | TrajectoryModel,
  m: number,
  visits: readonly [number, number],
  seed: number,
): Drawn {
  const random = createRandom(seed);
  if (typeof family === "string") {
    return { cohort: cohortOf(FAMILIES[family].draw, m, visits, random), locations: new Float64Array(0) };
  }
  const design = cohortOf((times) => times.map(() => 0), m, visits, random, markerModel(family).marker);
  return simulateFromModel(family, design, { seed });
}
