/**
 * What the place adds to simple predictors. An outcome, or the time to an event after a landmark, is told from
 *   the last value, on the scale of the model;   visits only: log of their number, first and last time;
 *   the place: posterior mean x with the products x_a x_b;   last value and visits;   all of these together,
 * where covariates are adjusted for also from these alone, and the two last sets hold them too,
 * each by a logistic or Cox's regression on standardised predictors, shrunk by kind (shrunk-regression.ts).
 *
 * Held out: cases and others are dealt out to ten folds; β̂ of nine gives the tenth its risks x'β̂, and pairs within a fold
 * are compared,
 *   C = Σ_folds (c + ½t) / n,   n = Σ_folds (c + d + t)   (survival/concordance.ts).
 * Nobody judged takes part in choosing a direction, and the two of a pair are judged alike, so that C has mean ½ where
 * there is nothing. Events that share one time make it the AUC. With c_i, t_i, n_i the pairs that hold i,
 *   ψ_i = (c_i + ½t_i − C n_i) / n,   se² = Σ ψ_i²,   of a difference Σ (ψ_i − ψ'_i)²:
 * the infinitesimal jackknife; for the AUC DeLong's. It takes β̂ as given.          (docs/math/association.md §12)
 */
import type { Cohort, MarkerSeries } from "../cohort/cohort.ts";
import { applyTransform } from "../cohort/marker.ts";
import type { Places } from "../models/placement.ts";
import { decimals, decimalsApart } from "../numeric/decimals.ts";
import { dot, takeRows } from "../numeric/matrix.ts";
import { meanAndSd } from "../numeric/moments.ts";
import { normalQuantile } from "../numeric/special.ts";
import { concordanceWithin } from "../survival/concordance.ts";
import type { CoxRows } from "../survival/partial-likelihood.ts";
import { type Adjustment, NO_ADJUSTMENT } from "./adjustment.ts";
import { type Estimate, logitInterval, randomGroups } from "./pair-auc.ts";
import { fitShrunk, linearPredictor, type Regression } from "./shrunk-regression.ts";

/** AUC or C of a set of predictors, held out; NaN with too few cases. */
export interface PredictorRow extends Estimate {
  readonly predictors: (typeof SETS | typeof ADJUSTED_SETS)[number]["predictors"];
  readonly numPredictors: number;
}

export interface PredictorComparison {
  /** "AUC" of an outcome, "C" of the time to an event. */
  readonly measure: "AUC" | "C";
  readonly rows: readonly PredictorRow[];
  /** The last row less the one before, or less ½ where that is below: what the place adds to last value and visits, and to covariates. */
  readonly added: Estimate;
  /** Whether the place has weight beside the others in some fold; false where it was shrunk out of all of them. */
  readonly placeUsed: boolean;
  readonly verdict: string;
}

/** Events 1 or 0, NaN for unknown, [m]; without times an outcome that has none. */
export interface Response {
  readonly events: ArrayLike<number>;
  readonly times?: ArrayLike<number>;
}

type Part = "covariates" | "value" | "visits" | "place";

const SETS = [
  { predictors: "last value", parts: ["value"] },
  { predictors: "visits only", parts: ["visits"] },
  { predictors: "place", parts: ["place"] },
  { predictors: "last value and visits", parts: ["value", "visits"] },
  { predictors: "last value, visits and place", parts: ["value", "visits", "place"] },
] as const;

/** The same beside covariates: the strongest simple base holds them. */
const ADJUSTED_SETS = [
  { predictors: "covariates", parts: ["covariates"] },
  ...SETS.slice(0, 3),
  { predictors: "covariates, last value and visits", parts: ["covariates", "value", "visits"] },
  { predictors: "covariates, last value, visits and place", parts: ["covariates", "value", "visits", "place"] },
] as const;

const NUM_FOLDS = 10;
/** Fewer cases (of an outcome: or fewer without it) for each predictor are too few. */
const CASES_PER_PREDICTOR = 5;
const LEAST_CASES = 10;
/** A kind of predictors is used where its part of the risks x'β̂ has more than this share of their sd. */
const LEAST_SHARE = 0.02;

/**
 * The comparison for individuals of a cohort at their places, both from the same visits; `seed` deals out the folds. Those who lack
 * a covariate take no part.
 */
export function comparePredictors(
  cohort: Cohort,
  places: Places,
  { events, times }: Response,
  seed = 1,
  adjustment: Adjustment = NO_ADJUSTMENT,
): PredictorComparison {
  const columns = predictorColumns(cohort, places, adjustment);
  const isAdjusted = adjustment.columns.length > 0;
  const known = sortedIndividuals(columns, events, times);
  const n = known.length;
  const rowsOf = (chosen: typeof columns): CoxRows => ({
    n,
    p: chosen.length,
    times: Float64Array.from(known, (i) => times?.[i] ?? 1),
    events: Float64Array.from(known, (i) => events[i]),
    X: Float64Array.from(known.flatMap((i) => chosen.map(({ values }) => values[i]))),
  });
  const rows = Array.from(known.keys());
  const classes = [0, 1].map((event) => Int32Array.from(rows.filter((k) => events[known[k]] === event)));
  const cases = times === undefined ? Math.min(classes[0].length, classes[1].length) : classes[1].length;
  const folds = randomGroups(classes, n, NUM_FOLDS, seed);
  const judged = (isAdjusted ? ADJUSTED_SETS : SETS).map(({ predictors, parts }) => {
    const chosen = columns.filter(({ part }) => parts.some((own) => own === part));
    const numPredictors = chosen.length;
    if (cases < Math.max(LEAST_CASES, CASES_PER_PREDICTOR * numPredictors)) {
      const influence = new Float64Array(n).fill(Number.NaN);
      return { row: { predictors, numPredictors, ...UNKNOWN }, influence, used: new Set<string>() };
    }
    const { value, influence, pairs, used } = heldOut(
      rowsOf(chosen),
      chosen.map(({ part }) => part),
      folds,
      times === undefined ? "logistic" : "cox",
    );
    return { row: { predictors, numPredictors, ...logitInterval(value, norm(influence), pairs) }, influence, used };
  });
  const [base, full] = judged.slice(-2);
  // Worse than chance, as predictors that tell nothing often are when held out, is no base to gain on.
  const chance = base.row.value < 0.5;
  const difference = full.row.value - (chance ? 0.5 : base.row.value);
  const reach = normalQuantile(0.975) * norm(full.influence.map((v, i) => v - (chance ? 0 : base.influence[i])));
  const added = { value: difference, lower: difference - reach, upper: difference + reach };
  const placeUsed = full.used.has("place");
  return {
    measure: times === undefined ? "AUC" : "C",
    rows: judged.map(({ row }) => row),
    added,
    placeUsed,
    verdict: verdictOf(added, placeUsed, isAdjusted ? "covariates, last value and visits" : "last value and visits"),
  };
}

const UNKNOWN: Estimate = { value: Number.NaN, lower: Number.NaN, upper: Number.NaN };

function verdictOf({ value, lower, upper }: Estimate, placeUsed: boolean, base: string): string {
  if (!Number.isFinite(value)) return `Too few cases to say what the place adds to ${base}.`;
  if (!placeUsed) return `The place adds nothing to ${base}: held out, it was left out every time.`;
  const places = decimalsApart([lower, upper], 0, 3);
  const found = lower > 0 ? "" : ": no gain shown";
  return `The place adds ${decimals(value, 3)} (95% CI ${decimals(lower, places)} to ${decimals(upper, places)}) to ${base}${found}.`;
}

/** Predictors that differ between individuals, standardised over all of them who have them, [m] each. */
function predictorColumns(
  cohort: Cohort,
  places: Places,
  adjustment: Adjustment,
): { readonly part: Part; readonly values: Float64Array }[] {
  const { numObservations, firstTime, lastTime, location, mapDimension: q } = places;
  const individuals = Array.from(places.ids.keys());
  const column = (part: Part, of: (i: number) => number) => ({ part, values: Float64Array.from(individuals, of) });
  const axes = Array.from({ length: q }, (_, a) => a);
  const at = (i: number, a: number) => location[i * q + a];
  return [
    ...cohort.markers.map((series) => ({ part: "value" as const, values: lastValues(series) })),
    column("visits", (i) => Math.log(numObservations[i])),
    column("visits", (i) => firstTime[i]),
    column("visits", (i) => lastTime[i]),
    ...axes.map((a) => column("place", (i) => at(i, a))),
    ...axes.flatMap((a) => axes.slice(a).map((b) => column("place", (i) => at(i, a) * at(i, b)))),
    ...adjustment.columns.map(({ values }) => ({ part: "covariates" as const, values })),
  ].flatMap(({ part, values }) => {
    // In one order, whatever that of the individuals.
    const { mean, sd } = meanAndSd(values.filter((v) => !Number.isNaN(v)).sort());
    return sd > 1e-12 * Math.abs(mean) ? [{ part, values: values.map((v) => (v - mean) / sd) }] : [];
  });
}

/** The last value of each individual on the scale of the model, [m]; who lacks the marker has the mean of the others. */
function lastValues({ marker, offsets, values }: MarkerSeries): Float64Array {
  const last = Float64Array.from({ length: offsets.length - 1 }, (_, i) =>
    offsets[i + 1] > offsets[i] ? applyTransform(marker.transform, values[offsets[i + 1] - 1]) : Number.NaN,
  );
  const { mean } = meanAndSd(last.filter((v) => !Number.isNaN(v)).sort());
  return last.map((v) => (Number.isNaN(v) ? mean : v));
}

/** Those whose response is known, in falling order of time, then by event and predictors: the order given does not matter. */
function sortedIndividuals(
  columns: readonly { readonly values: Float64Array }[],
  events: ArrayLike<number>,
  times?: ArrayLike<number>,
): number[] {
  const time = (i: number) => times?.[i] ?? 1;
  const isKnown = (i: number) =>
    !Number.isNaN(events[i]) && !Number.isNaN(time(i)) && columns.every(({ values }) => !Number.isNaN(values[i]));
  const known = Array.from(events, (_, i) => i).filter(isKnown);
  return known.sort((i, j) => {
    let difference = time(j) - time(i) || events[j] - events[i];
    for (let c = 0; c < columns.length && difference === 0; c++) {
      difference = columns[c].values[i] - columns[c].values[j];
    }
    return difference;
  });
}

/** C over pairs within folds [n], each individual's influence ψ [n] on it, the number of pairs, and which kinds are used in some fold. */
export function heldOut(
  { n, p, times, events, X }: CoxRows,
  kinds: readonly string[],
  folds: Int32Array,
  regression: Regression,
) {
  const risk = new Float64Array(n);
  const rowsOf = (members: Int32Array): CoxRows => ({
    n: members.length,
    p,
    times: Float64Array.from(members, (i) => times[i]),
    events: Float64Array.from(members, (i) => events[i]),
    X: takeRows(X, p, members),
  });
  const everyone = Int32Array.from({ length: n }, (_, i) => i);
  const used = new Set<string>();
  for (let f = 0; f < NUM_FOLDS; f++) {
    const train = rowsOf(everyone.filter((i) => folds[i] !== f));
    const beta = fitShrunk(train, kinds, regression);
    const spread = (of: Float64Array) => meanAndSd(linearPredictor(train, of)).sd;
    for (const kind of new Set(kinds)) {
      const own = beta.map((b, c) => (kinds[c] === kind ? b : 0));
      if (spread(own) > LEAST_SHARE * spread(beta)) used.add(kind);
    }
    const judged = everyone.filter((i) => folds[i] === f);
    const own = linearPredictor(rowsOf(judged), beta);
    for (const [k, i] of judged.entries()) risk[i] = own[k];
  }
  return { ...concordanceWithin({ times, events }, risk, folds), used };
}

function norm(x: Float64Array): number {
  return Math.sqrt(dot(x, x));
}
