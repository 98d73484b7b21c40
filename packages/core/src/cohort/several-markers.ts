/**
 * Cohorts of several markers: joined from cohorts of fewer over the union of their individuals, and taken apart again. A marker is
 * measured at times of its own; who lacks it keeps an empty range in its series, so that individual i is the same in all.
 */
import { DtmError } from "../errors.ts";
import { compareText } from "./assemble.ts";
import type { Cohort, MarkerSeries } from "./cohort.ts";

/**
 * The cohort of marker k alone, with the individuals of the whole cohort: those without it have an empty range.
 * @throws DtmError "option" if there is no such marker.
 */
export function markerCohort({ ids, markers }: Cohort, k: number): Cohort {
  const series = markers[k];
  if (series === undefined) {
    throw new DtmError("option", `markerCohort: expected a marker from 0 to ${markers.length - 1}, received ${k}.`);
  }
  return { ids, markers: [series] };
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
