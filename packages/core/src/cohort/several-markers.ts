/**
 * Cohorts of several markers: joined from cohorts of fewer over the union of their individuals, and taken apart again. A marker is
 * measured at times of its own; who lacks it keeps an empty range in its series, so that individual i is the same in all.
 */
import { type Complaint, DtmError, type ErrorCode } from "../errors.ts";
import { compareText } from "./assemble.ts";
import type { Cohort, MarkerSeries } from "./cohort.ts";

/**
 * The cohort of marker k alone, with the individuals of the whole cohort: those without it have an empty range.
 * @throws DtmError "option" if there is no such marker.
 */
export function markerCohort(cohort: Cohort, k: number): Cohort {
  const { markers } = cohort;
  const series = markers[k];
  if (series === undefined) {
    throw new DtmError("option", `markerCohort: expected a marker from 0 to ${markers.length - 1}, received ${k}.`);
  }
  return { ...cohort, markers: [series] };
}

/** When each individual was seen: the different times of all its markers, ascending; of one marker its own times. */
export function visitTimes({ ids, markers }: Cohort): Pick<MarkerSeries, "offsets" | "times"> {
  if (markers.length === 1) return markers[0];
  const offsets = new Int32Array(ids.length + 1);
  const times: number[] = [];
  for (let i = 0; i < ids.length; i++) {
    const own = markers.flatMap((series) => [...series.times.subarray(series.offsets[i], series.offsets[i + 1])]);
    times.push(...[...new Set(own)].sort((a, b) => a - b));
    offsets[i + 1] = times.length;
  }
  return { offsets, times: Float64Array.from(times) };
}

/** How many individuals have a value of each marker, [K]. */
export function numMeasured({ markers }: Cohort): number[] {
  return markers.map(({ offsets }) =>
    offsets.reduce((sum, end, i) => sum + (i > 0 && end > offsets[i - 1] ? 1 : 0), 0),
  );
}

/**
 * All markers of the cohorts, in their order, over the union of their individuals.
 * @throws DtmError "several-markers" for two markers of one name, "other-marker" for times in different units.
 * @example
 * const both = combineMarkers([bilirubin, albumin]);
 */
export function combineMarkers(cohorts: readonly Cohort[]): Cohort {
  const markers = cohorts.flatMap((cohort) => cohort.markers.map((series) => ({ series, own: cohort.ids })));
  if (markers.length === 0) {
    throw new DtmError("no-rows", "combineMarkers: expected at least one cohort, received none.");
  }
  checkTogether(markers.map(({ series }) => series));
  const ids = unionOf(cohorts.map((cohort) => cohort.ids));
  return { ids, markers: markers.map(({ series, own }) => ({ ...series, offsets: offsetsOver(ids, own, series) })) };
}

function checkTogether(all: readonly MarkerSeries[]): void {
  const names = all.map(({ marker }) => marker.name);
  const twice = names.find((name, k) => names.indexOf(name) < k);
  if (twice !== undefined) {
    throw new DtmError(
      "several-markers",
      `combineMarkers: expected markers of different names, received "${twice}" twice. Name them apart.`,
    );
  }
  const [first, ...others] = all.map(({ marker }) => marker);
  const other = others.find(({ timeUnit }) => timeUnit !== first.timeUnit);
  if (other !== undefined) {
    throw new DtmError(
      "other-marker",
      `combineMarkers: expected times in "${first.timeUnit}", as of ${first.name}, received "${other.timeUnit}" of ${other.name}. Convert them first.`,
    );
  }
}

/** Ids of all lists, ascending, each once. */
function unionOf(lists: readonly (readonly string[])[]): readonly string[] {
  const [first, ...others] = lists;
  const isSame = (list: readonly string[]) => list.length === first.length && list.every((id, i) => id === first[i]);
  return others.every(isSame) ? first : [...new Set(lists.flat())].sort(compareText);
}

/** Offsets of a series of `own` individuals over all `ids` (both ascending): an empty range for those not among them. */
function offsetsOver(ids: readonly string[], own: readonly string[], { offsets }: MarkerSeries): Int32Array {
  const out = new Int32Array(ids.length + 1);
  for (let i = 0, k = 0; i < ids.length; i++) {
    if (own[k] === ids[i]) k++;
    out[i + 1] = offsets[k];
  }
  return out;
}

/** Fewest individuals with a value of each of several markers. */
const LEAST_MEASURED = 20;
/** Markers from which on two dimensions carry too little of each. */
const MANY_MARKERS = 5;
/** |correlation| at equal times above which two markers say the same, and the fewest pairs to tell it from. */
const SAME_CORRELATION = 0.999;
const LEAST_PAIRS = 20;

/**
 * Whether several markers can share a map: warnings, or a refusal that names the marker. One marker alone is not judged here.
 * @throws DtmError "too-few-individuals" for a marker of fewer than 20, "no-variation" for a constant one.
 */
export function checkMarkers(cohort: Cohort): readonly Complaint[] {
  const { markers } = cohort;
  if (markers.length === 1) return [];
  const measured = numMeasured(cohort);
  for (const [k, { marker, values }] of markers.entries()) {
    if (measured[k] < LEAST_MEASURED) {
      throw new DtmError(
        "too-few-individuals",
        `Expected values of ${marker.name} in at least ${LEAST_MEASURED} individuals, received them in ${measured[k]}. Leave this marker out.`,
      );
    }
    if (values.every((value) => value === values[0])) {
      throw new DtmError(
        "no-variation",
        `Expected values of ${marker.name} that differ, received ${values[0]} throughout. Leave this marker out.`,
      );
    }
  }
  const warnings: Complaint[] = [];
  const warn = (code: ErrorCode, expected: string, received: string, remedy: string) =>
    warnings.push({ code, severity: "warn", expected, received, where: {}, remedy });
  for (let b = 1; b < markers.length; b++) {
    for (let a = 0; a < b; a++) {
      const { correlation, numPairs } = correlationAtEqualTimes(markers[a], markers[b]);
      if (numPairs < LEAST_PAIRS || Math.abs(correlation) <= SAME_CORRELATION) continue;
      const names = `${markers[a].marker.name} and ${markers[b].marker.name}`;
      const received = `${names}, whose ${numPairs} pairs of values at equal times have a correlation of ${correlation.toFixed(4)}`;
      warn("same-marker", "markers that differ", received, "They count twice; leave one out.");
    }
  }
  if (markers.length >= MANY_MARKERS) {
    const remedy =
      "Two dimensions carry few markers: take the two or three that matter, and look at the share of each.";
    warn("many-markers", `at most ${MANY_MARKERS - 1} markers`, String(markers.length), remedy);
  }
  return warnings;
}

/** Correlation of the values of two markers that an individual has at the same time. */
function correlationAtEqualTimes(
  a: MarkerSeries,
  b: MarkerSeries,
): { readonly correlation: number; readonly numPairs: number } {
  const pairs: [number, number][] = [];
  for (let i = 0; i + 1 < a.offsets.length; i++) {
    let k = b.offsets[i];
    for (let j = a.offsets[i]; j < a.offsets[i + 1]; j++) {
      while (k < b.offsets[i + 1] && b.times[k] < a.times[j]) k++;
      if (k < b.offsets[i + 1] && b.times[k] === a.times[j]) pairs.push([a.values[j], b.values[k++]]);
    }
  }
  const n = pairs.length;
  const mean = (of: (pair: readonly [number, number]) => number) => pairs.reduce((sum, pair) => sum + of(pair), 0) / n;
  const [x, y] = [mean((pair) => pair[0]), mean((pair) => pair[1])];
  const xx = mean((pair) => (pair[0] - x) ** 2);
  const yy = mean((pair) => (pair[1] - y) ** 2);
  return { correlation: mean((pair) => (pair[0] - x) * (pair[1] - y)) / Math.sqrt(xx * yy), numPairs: n };
}
