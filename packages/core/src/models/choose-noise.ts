/**
 * The noise of a fit: what was asked for, or what the data ask for (docs/math/noise.md §5). Correlation is learned once, in the
 * mixed model of at most 1,000 individuals, and kept by all models of the cohort, which then read whitened statistics; so is what
 * values below or above a limit are read under, while the correlation is learned from the measured values alone.
 */
import type { Basis } from "../basis/bspline.ts";
import { type BasisStatistics, basisStatistics, type CohortStatistics } from "../basis/statistics.ts";
import { type Cohort, type MarkerSeries, numIndividuals, onlyMarker, selectIndividuals } from "../cohort/cohort.ts";
import { atLimits, measuredOnly } from "../cohort/limits.ts";
import { markerCohort } from "../cohort/several-markers.ts";
import { checkOption, withoutBreakdown } from "../errors.ts";
import type { LimitPrior } from "../noise/limits.ts";
import { firstNoise, NOISE_CHOICES, type Noise, type NoiseChoice, noiseLevel } from "../noise/noise.ts";
import type { SerialCorrelation } from "../noise/serial.ts";
import { createRandom } from "../numeric/random.ts";
import {
  type CorrelationFit,
  type CorrelationOptions,
  fitRoughly,
  learnCorrelation,
  type VisitGaps,
  visitGaps,
} from "./linear/correlation.ts";
import { learnLimits } from "./linear/limits.ts";
import { checkMeasured, type PreparedCohort, type PrepareOptions, prepareCohort } from "./prepare.ts";

/** Individuals whose visits are enough to learn two numbers from. */
const SAMPLE_SIZE = 1_000;
/** Fewer distinct gaps, or fewer visits of most individuals, and a correlation cannot be told from a curve. */
const FEWEST_GAPS = 3;
const FEWEST_VISITS = 3;
/** ρ within this of its upper bound serves as a further smooth curve, unless it gains this much per visit. */
const NEAR_BOUND = 0.95;
const LARGE_GAIN = 0.03;
/** Noise below this share of the mean square of values has no levels: all that differs is rounding. */
const ALMOST_NONE = 1e-6;
/** Below this in log-likelihood nothing is said of a gain. */
const LEAST_GAIN = 0.1;

/** The statistics of each marker of a cohort, and what to warn of. */
export interface PreparedMarkers {
  readonly statistics: CohortStatistics;
  readonly warnings: readonly string[];
}

/** What belongs to a marker is a list, or one for all where that can be (a basis: for the only marker). */
export interface MarkersOptions extends CorrelationOptions, Omit<PrepareOptions, "basis" | "statistics" | "noise"> {
  readonly basis?: Basis | readonly Basis[];
  readonly statistics?: BasisStatistics | CohortStatistics;
  readonly noise?: PrepareOptions["noise"] | readonly (NoiseChoice | Noise)[];
}

/** `prepareFit` of each marker. */
export function prepareMarkers(cohort: Cohort, options: MarkersOptions = {}): PreparedMarkers {
  const { basis, statistics, noise, ...others } = options;
  const prepared = cohort.markers.map(({ marker }, k) => {
    const known = { basis: oneOf(basis, k), statistics: oneOf(statistics, k), noise: oneOf(noise, k) };
    const own = prepareFit(markerCohort(cohort, k), { ...others, ...known });
    const name = cohort.markers.length > 1 ? `${marker.name}: ` : "";
    return { ...own, warnings: own.warnings.map((text) => name + text) };
  });
  return {
    statistics: prepared.map((own) => own.statistics),
    warnings: prepared.flatMap((own) => own.warnings),
  };
}

/** What is given for marker k. */
export function oneOf<T extends object | string>(given: T | readonly T[] | undefined, k: number): T | undefined {
  return Array.isArray(given) ? given[k] : (given as T | undefined);
}

/** Checks a cohort, takes its statistics and settles the noise that the fit begins with. */
export function prepareFit(cohort: Cohort, options: PrepareOptions & CorrelationOptions = {}): PreparedCohort {
  const isCensored = onlyMarker(cohort).censored !== undefined;
  if (isCensored) checkMeasured(cohort);
  const prepared = prepareCohort(isCensored ? atLimits(cohort) : cohort, options);
  const warnings = [...prepared.warnings, ...(isCensored ? censoredWarnings(onlyMarker(cohort)) : [])];
  const found = chooseNoise(isCensored ? measuredOnly(cohort) : cohort, prepared, options, warnings);
  const chosen = isCensored && typeof options.noise === "string" ? withMeasuredOnly(found) : found;
  const noise = isCensored ? { ...chosen, limits: limitsFor(cohort, prepared, options, chosen) } : chosen;
  const { statistics } = prepareCohort(cohort, { statistics: options.statistics ?? prepared.statistics }, noise);
  return { statistics, warnings };
}

/** Says of a noise chosen by the data which of them chose it. */
function withMeasuredOnly(noise: Noise): Noise {
  if (noise.reason === undefined) return noise;
  return { ...noise, reason: `${noise.reason} Judged by measured values alone, without those below or above a limit.` };
}

/** A share of values beyond limits above which courses rest on what nobody saw. */
const MANY_CENSORED = 0.5;

function censoredWarnings({ values: { length: N }, censored }: MarkerSeries): string[] {
  const count = censored?.filter((side) => side !== 0).length ?? 0;
  if (count <= MANY_CENSORED * N) return [];
  return [`${count} of ${N} values lie below or above a limit: courses there rest on the shape of a Gaussian tail.`];
}

/** What values below or above a limit are read under: what the model whose noise was given knew, or what is learned. */
function limitsFor(
  cohort: Cohort,
  { statistics: { basis } }: PreparedCohort,
  { noise: asked, seed = 1, ...options }: PrepareOptions & CorrelationOptions,
  noise: Noise,
): LimitPrior {
  const known = typeof asked === "object" ? asked.limits : undefined;
  return known ?? learnLimits(sampleOf(cohort, seed), basis, noise, { priors: "weak", ...options });
}

function chooseNoise(
  cohort: Cohort,
  { statistics: { basis } }: PreparedCohort,
  { noise: asked = "white", ...options }: PrepareOptions & CorrelationOptions,
  warnings: string[],
): Noise {
  const { seed = 1 } = options;
  if (typeof asked !== "string") {
    if (asked.correlation !== undefined)
      warnings.push(...boundWarnings(asked.correlation, visitGaps(sampleOf(cohort, seed))));
    return { ...firstNoise(asked.kind, asked.correlation), ...reasonOf(asked.reason) };
  }
  const expected = `noise ${NOISE_CHOICES.map((name) => `"${name}"`).join(" or ")}`;
  checkOption(NOISE_CHOICES.includes(asked), "fit", expected, asked, "Leave it out for the default.");
  if (asked === "white" || asked === "level") return firstNoise(asked);
  const sample = sampleOf(cohort, seed);
  const gaps = visitGaps(sample);
  const roughly = { priors: "weak", ...options } as const;
  const { without, words } =
    asked === "auto"
      ? withOrWithoutLevels(sample, basis, roughly)
      : { without: fitRoughly(sample, basis, asked === "serial" ? "white" : "level", roughly), words: "" };
  const { kind } = without.parameters.noises[0];
  const few = tooFew(gaps);
  if (asked === "auto" && few !== null) return { ...firstNoise(kind), reason: `${words}; ${few}.` };
  const fit = learnCorrelation(sample, basis, without, gaps, roughly);
  const judged = judge(fit, gaps, onlyMarker(cohort).marker.timeUnit);
  if (asked === "auto" && !judged.taken) return { ...firstNoise(kind), reason: `${words}; ${judged.words}.` };
  warnings.push(...boundWarnings(fit.correlation, gaps));
  const start = asked === "auto" ? `${words};` : "Serial correlation as asked for:";
  const correlated = kind === "white" ? "serial" : "level+serial";
  return { ...firstNoise(correlated, fit.correlation), reason: `${start} ${judged.words}.` };
}

/** Levels are taken if they gain more than half of log N in log-likelihood; where they gain nothing, places are the same without. */
function withOrWithoutLevels(sample: Cohort, basis: Basis, options: CorrelationOptions) {
  const white = fitRoughly(sample, basis, "white", options);
  const { sumSquares, numObservations } = basisStatistics(sample, basis);
  const meanSquare = sumSquares.reduce((sum, v) => sum + v, 0) / numObservations;
  if (noiseLevel(white.parameters.noises[0]) < ALMOST_NONE * meanSquare) {
    return { without: white, words: "The same noise for all: there is almost none" };
  }
  const level = withoutBreakdown(() => fitRoughly(sample, basis, "level", options));
  if (level === undefined) return { without: white, words: "The same noise for all: a fit with levels breaks down" };
  const [gain, needed] = [level.logLikelihood - white.logLikelihood, 0.5 * Math.log(onlyMarker(sample).values.length)];
  const taken = gain > needed;
  const gains = gain < LEAST_GAIN ? "nothing" : number(gain);
  return {
    without: taken ? level : white,
    words: `${taken ? "Levels of noise" : "The same noise for all"}: levels gain ${gains} in log-likelihood (${taken ? "more" : "less"} than ½ log N = ${number(needed)})`,
  };
}

function number(v: number): string {
  return String(Number(v.toPrecision(2)));
}

function sampleOf(cohort: Cohort, seed: number): Cohort {
  const m = numIndividuals(cohort);
  if (m <= SAMPLE_SIZE) return cohort;
  return selectIndividuals(cohort, createRandom(seed).permutation(m).slice(0, SAMPLE_SIZE).sort());
}

/** What to warn of where ρ is at one of its bounds. */
function boundWarnings(correlation: SerialCorrelation, gaps: VisitGaps): string[] {
  const end = endOf(correlation, gaps);
  if (end === null) return [];
  const meaning =
    end === "upper"
      ? "it may serve as a further smooth curve rather than as noise"
      : "visits are too far apart to see it";
  return [
    `The range of the serial correlation ended at its ${end} bound: ${meaning}. Compare with noise "level" by held-out likelihood.`,
  ];
}

function reasonOf(reason: string | undefined) {
  return reason === undefined ? {} : { reason };
}

/** Why the times say nothing of a correlation; null where they do. */
function tooFew({ numDistinct, medianVisits }: VisitGaps): string | null {
  if (medianVisits < FEWEST_VISITS) return `half of the individuals have fewer than ${FEWEST_VISITS} visits`;
  if (numDistinct < FEWEST_GAPS) {
    return `visits are ${numDistinct === 0 ? "never closer than a fifth of the time span" : `at ${numDistinct} distinct ${numDistinct === 1 ? "gap" : "gaps"} below a fifth of the time span only`}`;
  }
  return null;
}

/** Which bound of ρ was reached. */
function endOf({ range }: SerialCorrelation, { shortest, longest }: VisitGaps): "upper" | "lower" | null {
  if (range >= NEAR_BOUND * longest) return "upper";
  return range <= shortest / NEAR_BOUND ? "lower" : null;
}

/**
 * The serial part is taken if it gains more than log N in log-likelihood, and either ρ ended below its upper bound or the gain is
 * above 0.03 per visit.
 */
function judge({ correlation, gain, numObservations: N }: CorrelationFit, gaps: VisitGaps, timeUnit: string) {
  const atBound = endOf(correlation, gaps) === "upper";
  const enough = gain > Math.log(N);
  const taken = enough && (!atBound || gain > LARGE_GAIN * N);
  const unit = timeUnit === "" ? "" : ` ${timeUnit}`;
  const atMedian = (1 - correlation.whiteShare) * Math.exp(-gaps.medianGap / correlation.range);
  const needed = `${enough ? "more" : "less"} than log N = ${number(Math.log(N))}`;
  const gains =
    gain < LEAST_GAIN
      ? "a correlation gains nothing in log-likelihood"
      : `a correlation gains ${number(gain)} in log-likelihood (${number(gain / N)} per visit; ${needed})`;
  const range = `its range of ${number(correlation.range)}${unit} is ${atBound ? "at" : "below"} its upper bound of ${number(gaps.longest)}`;
  const result = `noise of neighbouring visits correlates by ${number(atMedian)} at the median gap of ${number(gaps.medianGap)}${unit}`;
  const curve = atBound && enough && !taken ? ", so it would serve as a further curve" : "";
  return {
    taken,
    words: `${gains}, ${range}${curve}; ${gaps.numDistinct} distinct gaps${enough && curve === "" ? `; ${result}` : ""}`,
  };
}

/** The noise of linear models already fitted, where it is what was asked for: its correlation is not learned again. */
export function noiseLike(asked: NoiseChoice | Noise, fitted: Noise | undefined): NoiseChoice | Noise {
  return fitted !== undefined && (asked === "auto" || asked === fitted.kind) ? fitted : asked;
}
