/** What the map view knows of the study: made once per fit or grouping, shared by rail, stage, inspector and table. */

import type { Cohort, Placements, TrajectoryModel } from "@trajectory-maps/core";
import { markerModel } from "@trajectory-maps/core";
import { courseTimes, placeSds } from "@trajectory-maps/core/models";
import { expectedCourses } from "@trajectory-maps/core/study";
import { caveatOf, niceStep } from "@trajectory-maps/report";
import { cutSeries, extentOf } from "../../charts/scale.ts";
import { explorer } from "../../state/explorer.svelte.ts";
import type { View } from "../../state/view.ts";
import type { Fitted } from "../../worker/api.ts";
import { coursesOf } from "../../worker/fans.ts";
import { spreadOf, type ValueSpread } from "../../worker/prepare.ts";
import { followedUntil, membersByGroup, sampleOf } from "./cohort-facts.ts";
import { type MarkerWords, markerWords } from "./words.ts";

export interface MapStudy {
  readonly cohort: Cohort;
  readonly model: TrajectoryModel;
  readonly placements: Placements;
  readonly words: MarkerWords;
  /** Times of the courses, [T]. */
  readonly times: Float64Array;
  /** Expected value at the last time, [m]. */
  readonly expected: Float64Array;
  /** Standard deviation of each place in prior sd, [m]. */
  readonly sd: Float64Array;
  /** Values that hold nearly all measurements: the scale of charts of individuals. */
  readonly range: readonly [number, number];
  /** A round value in the lower half of what is expected last: the first threshold offered. */
  readonly threshold: number;
  /** Which way courses go on the whole: the side of a threshold that is asked about first. */
  readonly direction: "below" | "above";
}

export interface GroupStudy {
  readonly members: readonly (readonly number[])[];
  /** Some members of each group, whose courses are drawn. */
  readonly sampled: readonly (readonly number[])[];
  /** To when half of the members are followed: what names speak of. */
  readonly until: readonly number[];
  /** To when enough are for the course to be drawn at all, dashed. */
  readonly seenTo: readonly number[];
  /** One scale for all groups. */
  readonly range: readonly [number, number];
}

const NUM_TIMES = 41;
const NUM_SAMPLED = 40;

class Studies {
  /** Of each marker, [K]; none before a fit. */
  readonly markers: readonly MapStudy[] = $derived(
    explorer.views.flatMap(({ loaded: { cohort }, fitted }, k) => {
      if (fitted === null) return [];
      const [{ values }] = cohort.markers;
      return [makeStudy(cohort, fitted, explorer.prepared?.values[k] ?? spreadOf(values))];
    }),
  );

  /** Of the chosen marker; null before a fit. */
  readonly study: MapStudy | null = $derived(this.markers[explorer.marker] ?? null);

  readonly groups: GroupStudy | null = $derived.by(() => {
    const { groups, fitted } = explorer;
    if (groups === null || fitted === null || groups.labels.length !== fitted.placements.ids.length) return null;
    const members = membersByGroup(groups.labels, groups.groups.length);
    const until = groups.groups.map((group) => group.until);
    return {
      members,
      sampled: members.map((list) => sampleOf(list, NUM_SAMPLED)),
      until,
      seenTo: members.map((list) => followedUntil(fitted.placements.lastTime, list)),
      // Only as far as courses are drawn: beyond, a few extremes would decide.
      range: extentOf(
        groups.groups.flatMap(({ course }, k) => [
          cutSeries(course.times, course.lower, until[k]).values,
          cutSeries(course.times, course.upper, until[k]).values,
        ]),
        0.08,
        markerModel(fitted.model).marker.transform === "log",
      ),
    };
  });

  /** Why the map should not be read; null if it may be. */
  readonly caveat: string | null = $derived(explorer.trust === null ? null : caveatOf(explorer.trust));

  /** The selection, without positions that a link made for another cohort may hold. */
  readonly selection: View["selection"] = $derived.by(() => {
    const { selection } = explorer.view;
    const m = explorer.fitted?.placements.ids.length ?? 0;
    if (selection === null || selection.members.every((i) => i < m)) return selection;
    const members = selection.members.filter((i) => i < m);
    return members.length === 0 ? null : { ...selection, members };
  });
}

/** The study of the page. */
export const studies = new Studies();

function makeStudy(cohort: Cohort, { model, placements }: Fitted, values: ValueSpread): MapStudy {
  const words = markerWords(model, values.median, Math.max(Math.abs(values.low), Math.abs(values.high)));
  const times = courseTimes(model, NUM_TIMES);
  const m = placements.ids.length;
  const expected = expectedCourses(model, placements, times.subarray(NUM_TIMES - 1));
  const begun = expectedCourses(model, placements, times.subarray(0, 1));
  const falling = expected.filter((v, i) => v < begun[i]).length;
  const [low, high] = extentOf([[values.low, values.high]], 0.06, words.transform === "log");
  // A margin must not take a positive marker below zero: nothing is measured there.
  const range = [values.least >= 0 ? Math.max(low, values.least) : low, high] as const;
  const ordered = expected.slice().sort();
  const spread = ordered[Math.floor(0.95 * (m - 1))] - ordered[Math.floor(0.05 * (m - 1))];
  const step = niceStep(spread, 10);
  const threshold = Math.round(ordered[Math.floor(0.3 * (m - 1))] / step) * step || step;
  return {
    cohort,
    model,
    placements,
    words,
    times,
    expected,
    sd: placeSds(placements),
    range,
    threshold: Number(threshold.toPrecision(6)),
    direction: 2 * falling > m ? "below" : "above",
  };
}

/** Expected courses of some individuals, [T] each; made when asked for: everyone's would fill memory. */
export function courseRows(study: MapStudy, members: ArrayLike<number>): Float64Array[] {
  const courses = coursesOf(study, study.times, members);
  return Array.from({ length: members.length }, (_, k) => courses.subarray(k * NUM_TIMES, (k + 1) * NUM_TIMES));
}

/** Threshold in use. */
export function thresholdOf(study: MapStudy): number {
  return explorer.view.threshold ?? study.threshold;
}

/** Side of the threshold in use. */
export function directionOf(study: MapStudy): "below" | "above" {
  return explorer.view.direction ?? study.direction;
}

/** Whether a group's mark is a ring: past six its hue stands for another group already. */
export const isRing = (k: number): boolean => k >= 6;

/** Colour of a group. */
export function groupColour(k: number): string {
  return k < 0 ? "var(--ink-2)" : `var(--group-${k % 6})`;
}
