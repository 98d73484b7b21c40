/**
 * A study of several markers seen through one of them: what panels of one marker show. The place, and when people were seen, is
 * of all markers; observations, courses and quality are the marker's own.
 */
import type { Cohort, Groups } from "@trajectory-maps/core";
import { markerCohort, visitTimes } from "@trajectory-maps/core/ingest";
import { viewMarker, viewPlacements } from "@trajectory-maps/core/models";
import type { Fitted, Loaded } from "./api.ts";

/** Visits of one marker of an individual, in any order. */
export interface Visits {
  readonly times: readonly number[];
  readonly values: readonly number[];
  /** −1 for a value below the limit given, 1 for one above, 0 for a measured one; all measured if left out. */
  readonly censored?: readonly number[];
}

/** A table as marker k has it, of the individuals of the fit if that left some out. */
export function viewLoaded(loaded: Loaded, fitted: Fitted | null, k: number): Loaded {
  const cohort = fitted?.cohort ?? loaded.cohort;
  if (cohort === loaded.cohort && cohort.markers.length === 1) return loaded;
  const name = cohort.markers[k].marker.name;
  const quality = loaded.qualities.find(({ marker }) => marker.name === name) ?? loaded.qualities[0];
  return { ...loaded, cohort: markerCohort(cohort, k), qualities: [quality] };
}

/** A map as marker k has it; visits are times at which any marker was measured. */
export function viewFitted(fitted: Fitted, cohort: Cohort, k: number): Fitted {
  const { model, placements } = fitted;
  const { markers } = model;
  if (markers.length === 1) return fitted;
  const { offsets } = visitTimes(fitted.cohort ?? cohort);
  // Levels are told of those markers alone that have them.
  const level = markers.slice(0, k).filter(({ noise }) => noise.spread !== undefined).length;
  const noiseLevel = markers[k].noise.spread === undefined ? undefined : placements.noiseLevels?.[level];
  return {
    ...fitted,
    model: viewMarker(model, k),
    placements: {
      ...viewPlacements(placements, markers, k),
      numObservations: placements.numObservations.map((_, i) => offsets[i + 1] - offsets[i]),
      ...(noiseLevel === undefined ? {} : { noiseLevel }),
    },
  };
}

/** Groups with the courses of marker k; their names stay. */
export function viewGroups(groups: Groups, k: number): Groups {
  if (groups.groups.every(({ markers }) => markers === undefined)) return groups;
  const own = groups.groups.map((group) => ({ ...group, ...pick(group.markers?.[k]) }));
  return { ...groups, groups: own };
}

function pick(own: NonNullable<Groups["groups"][number]["markers"]>[number] | undefined) {
  return own === undefined ? {} : { course: own.course, summary: own.summary, rate: own.rate };
}

/** Times at which an individual was seen, ascending: of one marker every visit, of several each time once. */
export function timesOf(visits: readonly Visits[]): number[] {
  const all = visits.flatMap(({ times }) => times);
  return (visits.length === 1 ? all : [...new Set(all)]).sort((a, b) => a - b);
}
