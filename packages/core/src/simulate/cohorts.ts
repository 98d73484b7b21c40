/**
 * Cohorts with the published facts of a scleroderma registry (numbers of individuals and observations, range, window
 * of time, groups of courses, outcomes), drawn from a stated recipe; nothing else about real people is known or
 * implied. For each individual (docs/math/simulation.md):
 *   group ~ probabilities;  n = 1 + NegBin(size r, mean ν), at most nMax;  entry e = 10 Beta(0.8, 2.2);
 *   span s = (10 − e) Beta(1.2 + 0.25 min(n, 12), 1.2);  times e and n − 1 uniform on [e, e + s];
 *   curve(t) = group curve(t) + level + slope (t − 5);  y = curve + noise, clipped to the marker's range;
 *   outcomes independent Bernoulli with probabilities by group.
 * In cohorts of 1,000 or more one individual, chosen at random, has exactly nMax observations.
 */
import { type Cohort, makeCohort } from "../cohort/cohort.ts";
import type { Marker } from "../cohort/marker.ts";
import { checkGiven, checkNames, checkOption, checkSeed, optionNames } from "../errors.ts";
import { createRandom, type Random } from "../numeric/random.ts";

/** Percent-predicted forced vital capacity, or total skin score. */
export type SimulatedMarker = "pfvc" | "tss";

export interface SimulateCohortOptions {
  /** Default 2,323 (PFVC) or 2,239 (TSS), as published. */
  readonly numIndividuals?: number;
  readonly seed?: number;
  /** Standard deviation of the noise. Default 5 (PFVC) or 3 (TSS). */
  readonly noiseSd?: number;
}

const SIMULATE_OPTIONS = optionNames<SimulateCohortOptions>({ numIndividuals: true, seed: true, noiseSd: true });

export interface SimulatedCohort {
  readonly cohort: Cohort;
  /** Group of each individual in the cohort's order, [m]. */
  readonly groups: Int32Array;
  readonly groupNames: readonly string[];
  /** By name: 1 for individuals with the outcome, [m]. */
  readonly outcomes: Readonly<Record<string, Uint8Array>>;
  readonly truth: {
    /** Level and slope of each individual beside its group, [m]. */
    readonly levels: Float64Array;
    readonly slopes: Float64Array;
    /** Value of the curve at each observation, before noise and clipping, [N]. */
    readonly curve: Float64Array;
    readonly noiseSd: number;
  };
}

interface Group {
  readonly name: string;
  readonly probability: number;
  /** Mean curve at CURVE_TIMES. */
  readonly curve: readonly number[];
  readonly levelSd: number;
  readonly slopeSd: number;
}

interface Recipe {
  readonly marker: Partial<Marker>;
  readonly numIndividuals: number;
  readonly maxObservations: number;
  readonly range: readonly [number, number];
  readonly noiseSd: number;
  /** Size r and mean ν of the negative binomial number of further observations. */
  readonly size: number;
  readonly mean: number;
  readonly groups: readonly Group[];
  /** Probability of each outcome by group. */
  readonly outcomes: Readonly<Record<string, readonly number[]>>;
}

/** Years since first symptom; the window is 0 to 10. */
const CURVE_TIMES = [0, 1, 2, 3.5, 5, 6, 8, 10];
const WINDOW = 10;
const MANY = 1000;

const group = (
  name: string,
  probability: number,
  curve: readonly number[],
  levelSd: number,
  slopeSd: number,
): Group => ({
  name,
  probability,
  curve,
  levelSd,
  slopeSd,
});

const RECIPES: Readonly<Record<SimulatedMarker, Recipe>> = {
  pfvc: {
    marker: { name: "PFVC", unit: "% predicted", timeUnit: "years" },
    numIndividuals: 2323,
    maxObservations: 55,
    range: [15, 140],
    noiseSd: 5,
    size: 0.85,
    mean: 3.45,
    groups: [
      group("rapid decline", 0.12, [80, 68, 58, 51, 47, 45, 42, 40], 9, 0.8),
      group("slow decline", 0.25, [85, 83, 80, 76, 72, 70, 65, 60], 10, 0.7),
      group("recovering", 0.13, [64, 64, 67, 73, 78, 80, 83, 84], 9, 0.8),
      group("stable", 0.38, [96, 96, 96, 96, 96, 96, 95, 95], 11, 0.6),
      group("late decline", 0.12, [88, 88, 88, 88, 87, 84, 72, 60], 9, 0.8),
    ],
    outcomes: {
      "congestive heart failure": [0.18, 0.12, 0.08, 0.07, 0.12],
      "pulmonary hypertension": [0.4, 0.28, 0.2, 0.14, 0.26],
      "pulmonary arterial hypertension": [0.22, 0.14, 0.1, 0.07, 0.13],
      gastrointestinal: [0.4, 0.4, 0.4, 0.4, 0.4],
      myositis: [0.16, 0.09, 0.13, 0.07, 0.08],
      "interstitial lung disease": [0.85, 0.6, 0.6, 0.18, 0.5],
      "ulcers and gangrene": [0.2, 0.2, 0.2, 0.2, 0.2],
    },
  },
  tss: {
    marker: { name: "TSS", unit: "points", timeUnit: "years" },
    numIndividuals: 2239,
    maxObservations: 22,
    range: [0, 55],
    noiseSd: 3,
    size: 0.55,
    mean: 3,
    groups: [
      group("minimal", 0.52, [4, 4, 4, 4, 4, 4, 4, 4], 1.5, 0.15),
      group("early, then stabilises", 0.25, [20, 24, 20, 13, 9, 8, 6, 6], 4, 0.4),
      group("increasing", 0.13, [5, 6, 8, 11, 15, 17, 21, 24], 2, 0.4),
      group("persistently high", 0.1, [26, 30, 31, 31, 30, 30, 29, 29], 4, 0.5),
    ],
    outcomes: {
      "congestive heart failure": [0.09, 0.1, 0.1, 0.12],
      "pulmonary hypertension": [0.2, 0.2, 0.2, 0.2],
      "pulmonary arterial hypertension": [0.1, 0.1, 0.1, 0.1],
      gastrointestinal: [0.37, 0.42, 0.44, 0.5],
      myositis: [0.06, 0.14, 0.13, 0.22],
      "interstitial lung disease": [0.4, 0.4, 0.4, 0.4],
      "ulcers and gangrene": [0.15, 0.19, 0.24, 0.3],
    },
  },
};

/**
 * A simulated cohort with its groups, outcomes and true curves; the same seed gives the same bits.
 * @throws DtmError "option" for a marker or number out of range.
 * @example
 * const { cohort, outcomes } = simulateCohort("pfvc", { numIndividuals: 200, seed: 1 });
 */
export function simulateCohort(marker: SimulatedMarker, options: SimulateCohortOptions = {}): SimulatedCohort {
  checkGiven("simulateCohort", { marker, options });
  checkNames("simulateCohort", options, SIMULATE_OPTIONS);
  checkSeed("simulateCohort", options.seed);
  const known = Object.keys(RECIPES).join(" or ");
  checkOption(Object.hasOwn(RECIPES, marker), "simulateCohort", `marker ${known}`, marker, "");
  const recipe = RECIPES[marker];
  const { numIndividuals: m = recipe.numIndividuals, seed = 1, noiseSd = recipe.noiseSd } = options;
  checkOption(Number.isInteger(m) && m >= 1, "simulateCohort", "numIndividuals from 1", m, "Give a whole number.");
  checkOption(noiseSd >= 0, "simulateCohort", "noiseSd of at least 0", noiseSd, "Give a standard deviation.");
  const random = createRandom(seed);
  const longest = m >= MANY ? random.integer(m) : -1;
  const groups = new Int32Array(m);
  const levels = new Float64Array(m);
  const slopes = new Float64Array(m);
  const outcomes = Object.fromEntries(Object.keys(recipe.outcomes).map((name) => [name, new Uint8Array(m)]));
  const rows = { ids: [] as string[], times: [] as number[], values: [] as number[] };
  const curve: number[] = [];
  const probabilities = recipe.groups.map((g) => g.probability);
  const digits = Math.max(4, String(m).length);
  for (let i = 0; i < m; i++) {
    // Padded, so that the order of ids as text is the order of drawing.
    const id = `P${String(i + 1).padStart(digits, "0")}`;
    groups[i] = random.categorical(probabilities);
    const g = recipe.groups[groups[i]];
    const n = i === longest ? recipe.maxObservations : drawCount(recipe, random);
    levels[i] = g.levelSd * random.normal();
    slopes[i] = g.slopeSd * random.normal();
    for (const t of drawTimes(n, random)) {
      const f = interpolate(g.curve, t) + levels[i] + slopes[i] * (t - WINDOW / 2);
      const y = f + noiseSd * random.normal();
      rows.ids.push(id);
      rows.times.push(t);
      rows.values.push(Math.min(Math.max(y, recipe.range[0]), recipe.range[1]));
      curve.push(f);
    }
    for (const [name, byGroup] of Object.entries(recipe.outcomes)) {
      outcomes[name][i] = random.uniform() < byGroup[groups[i]] ? 1 : 0;
    }
  }
  return {
    cohort: makeCohort(rows, recipe.marker),
    groups,
    groupNames: recipe.groups.map((g) => g.name),
    outcomes,
    truth: { levels, slopes, curve: Float64Array.from(curve), noiseSd },
  };
}

/** 1 + a negative binomial, as a Poisson variable with a gamma-distributed mean. */
function drawCount(recipe: Recipe, random: Random): number {
  const mean = (random.gamma(recipe.size) * recipe.mean) / recipe.size;
  return Math.min(1 + random.poisson(mean), recipe.maxObservations);
}

/** Entry and n − 1 later times, ascending. */
function drawTimes(n: number, random: Random): Float64Array {
  const entry = WINDOW * random.beta(0.8, 2.2);
  const span = (WINDOW - entry) * random.beta(1.2 + 0.25 * Math.min(n, 12), 1.2);
  return Float64Array.from({ length: n }, (_, j) => (j === 0 ? entry : entry + span * random.uniform())).sort();
}

/** Linear interpolation of a group's curve at t in [0, 10]. */
function interpolate(curve: readonly number[], t: number): number {
  let k = 1;
  while (k < CURVE_TIMES.length - 1 && t > CURVE_TIMES[k]) k++;
  const share = (t - CURVE_TIMES[k - 1]) / (CURVE_TIMES[k] - CURVE_TIMES[k - 1]);
  return curve[k - 1] + share * (curve[k] - curve[k - 1]);
}
