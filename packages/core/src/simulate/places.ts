/**
 * Cohorts drawn from places on a map: one or several markers whose places are related as stated, with or without covariates
 * (docs/math/simulation.md). For each individual a place x ~ N(0, I) of two coordinates, and for marker k a place u_k:
 *   same-place u_k = x;   one-axis u_k = (x_1, own);   unrelated u_k all own, but for the first marker, u_1 = x;
 *   level a = 2 tanh u_1 + 0.3 ε;   slope b = 1.2 u_2 + 0.6 u_1² − 0.6 + 0.3 ε (markers 1, 3, …) or |u_1| − u_2 + 0.3 ε (2, 4, …);
 *   1 + Poisson(3) visits of each marker at times uniform on [0, 1];   y = 10 + a + 2b(t − ½) + noise.
 * Covariates, standardised to z: 1, 3, 4 are yes with probability 0.5, 0.4, 0.3, and 2, 5 are normal. "places" shifts x by (0.5 z_1,
 * −0.3 z_2); "mean" adds 0.4 z_1 + 0.4 z_2 · 2(t − ½) to every marker. The third only doubles visits: 1 + Poisson(2), or Poisson(5)
 * with it, at most 9. The others change nothing.
 */
import { type Cohort, makeCohort } from "../cohort/cohort.ts";
import { combineMarkers } from "../cohort/several-markers.ts";
import { checkGiven, checkNames, checkOption, checkSeed, optionNames } from "../errors.ts";
import { createRandom, type Random } from "../numeric/random.ts";

/** How the places of several markers are related. */
export const MARKER_RELATIONS = ["same-place", "one-axis", "unrelated"] as const;
export type MarkerRelation = (typeof MARKER_RELATIONS)[number];

/** What covariates change. */
export const SIMULATED_EFFECTS = ["none", "places", "mean"] as const;
export type SimulatedEffect = (typeof SIMULATED_EFFECTS)[number];

export interface SimulatePlacesOptions {
  /** Default 200, or 150 with covariates. */
  readonly numIndividuals?: number;
  /** Default 2, or 1 with covariates. */
  readonly numMarkers?: number;
  /** Default "same-place". */
  readonly relation?: MarkerRelation;
  /** Five covariates and what they change; left out, there are none. */
  readonly covariates?: SimulatedEffect;
  readonly seed?: number;
  /** Standard deviation of the noise. Default 0.5. */
  readonly noiseSd?: number;
}

const PLACES_OPTIONS = optionNames<SimulatePlacesOptions>({
  ...{ numIndividuals: true, numMarkers: true, relation: true, covariates: true, seed: true, noiseSd: true },
});

export interface SimulatedPlaces {
  readonly cohort: Cohort;
  /** Places behind each marker, [K] of [m,2]. */
  readonly places: readonly Float64Array[];
  /** Covariates as a table of individuals; no columns if there are none. */
  readonly subjects: {
    readonly ids: readonly string[];
    readonly columns: readonly { readonly name: string; readonly cells: readonly string[] }[];
  };
}

/** Probability of the covariates that are yes or no; null for normal ones. */
const SHARES = [0.5, null, 0.4, 0.3, null];
const MOST_VISITS = 9;

/**
 * A cohort with the places behind it; the same seed gives the same bits.
 * @throws DtmError "option" for a number out of range or an unknown relation.
 * @example
 * const { cohort } = simulatePlaces({ numMarkers: 2, relation: "one-axis", seed: 1 });
 */
export function simulatePlaces(options: SimulatePlacesOptions = {}): SimulatedPlaces {
  checkGiven("simulatePlaces", { options });
  checkNames("simulatePlaces", options, PLACES_OPTIONS);
  checkSeed("simulatePlaces", options.seed);
  const { covariates, relation = "same-place", seed = 1, noiseSd = 0.5 } = options;
  const { numIndividuals: m = covariates === undefined ? 200 : 150 } = options;
  const { numMarkers: K = covariates === undefined ? 2 : 1 } = options;
  const where = "simulatePlaces";
  checkOption(Number.isInteger(m) && m >= 2, where, "numIndividuals from 2", m, "Give a whole number.");
  checkOption(Number.isInteger(K) && K >= 1, where, "numMarkers from 1", K, "Give a whole number.");
  checkOption(MARKER_RELATIONS.includes(relation), where, `relation ${MARKER_RELATIONS.join(", ")}`, relation, "");
  checkOption(noiseSd >= 0, where, "noiseSd of at least 0", noiseSd, "Give a standard deviation.");
  const random = createRandom(seed);
  const digits = Math.max(4, String(m).length);
  // Padded, so that the order of ids as text is the order of drawing.
  const ids = Array.from({ length: m }, (_, i) => `P${String(i + 1).padStart(digits, "0")}`);
  const raw = covariates === undefined ? [] : SHARES.map((share) => drawCovariate(share, m, random));
  const z = raw.map(standardized);
  const normals = (n: number) => Float64Array.from({ length: n }, () => random.normal());
  const x = normals(2 * m);
  if (covariates === "places") {
    for (let i = 0; i < m; i++) {
      x[2 * i] += 0.5 * z[0][i];
      x[2 * i + 1] -= 0.3 * z[1][i];
    }
  }
  const places = Array.from({ length: K }, (_, k) => {
    if (k === 0 || relation === "same-place") return x;
    const own = normals(2 * m);
    return relation === "unrelated" ? own : own.map((v, e) => (e % 2 === 0 ? x[e] : v));
  });
  const inMean = (i: number, t: number) => (covariates === "mean" ? 0.4 * z[0][i] + 0.4 * z[1][i] * 2 * (t - 0.5) : 0);
  const cohorts = places.map((u, k) => {
    const rows = { ids: [] as string[], times: [] as number[], values: [] as number[] };
    for (let i = 0; i < m; i++) {
      const n = covariates === undefined ? 1 + random.poisson(3) : drawVisits(raw[2][i], random);
      const [u1, u2] = [u[2 * i], u[2 * i + 1]];
      const level = 2 * Math.tanh(u1) + 0.3 * random.normal();
      const slope = (k % 2 === 0 ? 1.2 * u2 + 0.6 * u1 ** 2 - 0.6 : Math.abs(u1) - u2) + 0.3 * random.normal();
      for (let j = 0; j < n; j++) {
        const t = random.uniform();
        rows.ids.push(ids[i]);
        rows.times.push(t);
        rows.values.push(10 + level + 2 * slope * (t - 0.5) + inMean(i, t) + noiseSd * random.normal());
      }
    }
    return makeCohort(rows, { name: `marker ${k + 1}` });
  });
  const columns = raw.map((column, c) => ({ name: `c${c + 1}`, cells: Array.from(column, String) }));
  return { cohort: combineMarkers(cohorts), places, subjects: { ids, columns } };
}

function drawCovariate(share: number | null, m: number, random: Random): Float64Array {
  const draw = () => (share === null ? random.normal() : random.uniform() < share ? 1 : 0);
  return Float64Array.from({ length: m }, draw);
}

/** Mean 0 and variance 1 over the individuals. */
function standardized(x: Float64Array): Float64Array {
  const mean = x.reduce((sum, v) => sum + v, 0) / x.length;
  const sd = Math.sqrt(x.reduce((sum, v) => sum + (v - mean) ** 2, 0) / x.length);
  return x.map((v) => (sd > 0 ? (v - mean) / sd : 0));
}

function drawVisits(often: number, random: Random): number {
  return Math.min(1 + random.poisson(2 + 3 * often), MOST_VISITS);
}
