/**
 * The step every fit begins with: check that the cohort can carry a trajectory model, choose the basis, take the
 * sufficient statistics. The basis has fewer functions than there are distinct times, and a warning says so: curves that can pass
 * through anything leave no noise.
 */
import type { Basis } from "../basis/bspline.ts";
import { type BasisOptions, bsplineBasis, roundKnots } from "../basis/knots.ts";
import { type BasisStatistics, basisStatistics, countDistinctTimes, numVisits } from "../basis/statistics.ts";
import { type Cohort, numIndividuals, numObservations, onlyMarker } from "../cohort/cohort.ts";
import { censoringLimits, measuredOnly, writeCensored } from "../cohort/limits.ts";
import { applyTransform, valueLimits } from "../cohort/marker.ts";
import { checkOption, DtmError } from "../errors.ts";
import { type Noise, type NoiseChoice, whiteNoise } from "../noise/noise.ts";

export interface PrepareOptions extends BasisOptions {
  /** A basis to use as it is (that of another model, say); `numBasis`, `degree` and `domain` are then not read. */
  readonly basis?: Basis;
  /** Statistics of this cohort under `basis`, if they have been taken before. */
  readonly statistics?: BasisStatistics;
  /**
   * Noise of one variance for all ("white"), of a level for each individual ("level"), correlated between neighbouring visits
   * ("serial"), both, or what the data ask for ("auto"; docs/math/noise.md). The noise of a fitted model stands for its kind
   * and its correlation, which is then not learned again. Default: that of linear models given,
   * or else `usualNoise`.
   */
  readonly noise?: NoiseChoice | Noise;
}

export interface PreparedCohort {
  readonly statistics: BasisStatistics;
  readonly warnings: readonly string[];
}

const MIN_INDIVIDUALS = 3;

/** Checks a cohort and takes its statistics; `noise` is what the fit begins with (models/choose-noise.ts chooses it). */
export function prepareCohort(
  cohort: Cohort,
  options: PrepareOptions = {},
  noise: Noise = whiteNoise(1),
): PreparedCohort {
  const warnings: string[] = [];
  checkCohort(cohort, warnings);
  const { statistics } = options;
  const isSame = statistics?.noise.correlation === noise.correlation && statistics?.noise.limits === noise.limits;
  if (statistics !== undefined && isSame) {
    return { statistics: { ...checkStatistics(cohort, statistics), noise }, warnings };
  }
  const basis = statistics?.basis ?? options.basis ?? chooseBasis(cohort, options, warnings);
  return { statistics: basisStatistics(cohort, basis, { noise }), warnings };
}

function checkStatistics(cohort: Cohort, statistics: BasisStatistics): BasisStatistics {
  const { numIndividuals: m } = statistics;
  const N = numVisits(statistics);
  if (m === numIndividuals(cohort) && N === numObservations(cohort)) return statistics;
  throw new DtmError(
    "shape",
    `Expected statistics of the cohort's ${numIndividuals(cohort)} individuals and ${numObservations(cohort)} observations, received those of ${m} and ${N}. Leave them out to have them taken.`,
  );
}

/** What a warning says where most individuals were seen once; verdicts on a map look for it. */
export const SEEN_ONCE = "individuals have one observation, which says little about their places";

/** Refuses a cohort that cannot carry a trajectory model. */
function checkCohort(cohort: Cohort, warnings: string[]): void {
  const m = numIndividuals(cohort);
  if (m < MIN_INDIVIDUALS) {
    throw new DtmError(
      "too-few-individuals",
      `Expected at least ${MIN_INDIVIDUALS} individuals, received ${m}. Variation between individuals cannot be learned from fewer.`,
    );
  }
  const { marker, values, offsets } = onlyMarker(cohort);
  if (values.every((v) => v === values[0])) {
    throw new DtmError(
      "no-variation",
      `Expected values that differ, received ${values[0]} in all ${values.length} observations. Check the value column.`,
    );
  }
  const measured = offsets.reduce((sum, end, i) => sum + (i > 0 && end > offsets[i - 1] ? 1 : 0), 0);
  if (values.length === measured) {
    throw new DtmError(
      "one-observation-each",
      `Expected individuals with repeated observations, received one each (${measured} individuals). Measurement noise and variation between individuals cannot be told apart.`,
    );
  }
  const [low, high] = valueLimits(marker);
  if (values.every((v) => v < low || v > high)) {
    throw new DtmError(
      "out-of-range",
      `Expected values of ${marker.name} within its limits, ${low} to ${high}, received ${values.length}, all outside. Check the limits, and the unit of the values.`,
    );
  }
  const singles = offsets.reduce((sum, end, i) => sum + (i > 0 && end - offsets[i - 1] === 1 ? 1 : 0), 0);
  if (singles > m / 2) {
    warnings.push(`${singles} of ${m} ${SEEN_ONCE}: they lie near the middle of the map.`);
  }
}

/** Refuses a cohort of which too few values were measured: noise and variation are learned from these, not from limits. */
export function checkMeasured(cohort: Cohort): void {
  const measured = measuredOnly(cohort);
  const { marker, values: all } = onlyMarker(cohort);
  const { values } = onlyMarker(measured);
  if (values.every((v) => v === values[0])) {
    const received =
      values.length === 0 ? "none" : values.length === 1 ? `one, ${values[0]}` : `${values[0]} in all ${values.length}`;
    throw new DtmError(
      "no-variation",
      `Expected measured values of ${marker.name} that differ, received ${received}: ${all.length - values.length} of ${all.length} values are below or above a limit. Check that the signs (<, >) are meant. If they are, take another marker, or a finer assay: courses cannot be learned from limits alone.`,
    );
  }
  checkCohort(measured, []);
  checkReach(cohort, values);
}

/** Limits of detection may lie this many ranges of the measured values away from them. */
const REACH = 10;

/** Refuses limits of detection so far from all measured values, on the scale of the model, that no course leads there. */
function checkReach(cohort: Cohort, measured: Float64Array): void {
  const series = onlyMarker(cohort);
  const { name, transform } = series.marker;
  const z = measured.map((v) => applyTransform(transform, v)).sort();
  const [least, most] = [z[0], z[z.length - 1]];
  const reach = REACH * (most - least);
  const far = censoringLimits(series).find(({ limit }) => {
    const at = applyTransform(transform, limit);
    return at < least - reach || at > most + reach;
  });
  if (far === undefined) return;
  const shown = writeCensored(far.side, far.limit);
  throw new DtmError(
    "censored-value",
    `Expected limits of ${name} near its measured values, received "${shown}", further away than ${REACH} times their range${transform === "identity" ? "" : ` on the ${transform} scale`}. Give the limit of the assay, or leave these cells empty.`,
  );
}

/** A fit takes the square of their number for every individual, and a map its sixth power. */
const MOST_BASIS = 20;

/** A size asked for is kept or refused; the default size is lowered below the number of distinct times, to two at least. */
function chooseBasis(cohort: Cohort, options: BasisOptions, warnings: string[]): Basis {
  const { knots } = options;
  const asked = options.numBasis ?? (knots === undefined ? undefined : knots.length + (options.degree ?? 2) + 1);
  checkOption(
    asked === undefined || asked <= MOST_BASIS,
    "fit: numBasis",
    `at most ${MOST_BASIS} basis functions`,
    asked ?? 0,
    "A course seen a few times needs about five.",
  );
  // Beyond the size of the basis it does not matter how many there are.
  const distinct = countDistinctTimes(cohort, Math.max(asked ?? 0, 6));
  if (distinct < 2) {
    throw new DtmError(
      "one-time",
      "Expected observations at two distinct times or more, received one. A trajectory needs change over time.",
    );
  }
  if (asked !== undefined && asked > distinct) {
    throw new DtmError(
      "basis-too-large",
      `Expected numBasis of at most ${distinct} (the number of distinct times), received ${asked}. Use numBasis ${distinct} or fewer.`,
    );
  }
  const numBasis = asked ?? Math.min(5, Math.max(2, distinct - 1));
  const degree = options.degree ?? Math.min(2, numBasis - 1);
  if (asked === undefined && numBasis < 5) {
    warnings.push(`The basis was limited to ${numBasis} functions, because there are only ${distinct} distinct times.`);
  }
  if (numBasis === distinct) {
    warnings.push(
      `There are as many basis functions as distinct times (${distinct}): noise can hardly be told from variation between individuals.`,
    );
  }
  const basis = bsplineBasis(onlyMarker(cohort).times, { ...options, numBasis, degree });
  return options.rounded === false ? basis : roundKnots(basis, options.domain);
}
