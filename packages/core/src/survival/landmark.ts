/**
 * Landmark analysis: individuals are placed by their visits up to a landmark and followed from there, so that no later
 * visit of theirs enters their place, and nobody is counted as surviving a time that was needed to see them. The model
 * that places them may know later visits; only one fitted on other individuals, or on visits up to the landmark, does not.
 * Visits and follow-up are on one clock. The default landmark is the time by which half the individuals have two visits:
 * the smallest t with #{second visit ≤ t} ≥ m/2, but not before 0 where no follow-up ends before 0.   (docs/math/survival.md §5)
 */
import { DtmError } from "../errors.ts";
import { checkFollowUp, type FollowUp } from "./follow-up.ts";

/** Visits of all individuals: those of individual i are `times[offsets[i] .. offsets[i+1])`, ascending. */
export interface Visits {
  readonly times: ArrayLike<number>;
  readonly offsets: ArrayLike<number>; // [m+1]
}

/** Who is at risk after the landmark, and their follow-up from there. */
export interface Landmark extends FollowUp {
  readonly landmark: number;
  /** Individuals in the analysis, increasing. */
  readonly individuals: Int32Array;
  /** Time from the landmark to event or end of follow-up. */
  readonly times: Float64Array;
  readonly events: Float64Array;
  /** Individuals left out: follow-up unknown; over by the landmark, with or without the event; not seen by then. */
  readonly leftOut: {
    readonly unknown: number;
    readonly eventBefore: number;
    readonly censoredBefore: number;
    readonly noVisitBefore: number;
  };
}

/**
 * The time by which half the individuals have two visits. Where visits reach back before 0 and no follow-up ends there, 0 at least: who is in
 * such a cohort lived to see 0 (a diagnosis, say), so that nobody is at risk before.
 */
export function defaultLandmark({ times, offsets }: Visits, ends: ArrayLike<number>): number {
  const m = offsets.length - 1;
  const second = Float64Array.from({ length: m }, (_, i) =>
    offsets[i + 1] - offsets[i] > 1 ? times[offsets[i] + 1] : Number.POSITIVE_INFINITY,
  );
  const landmark = second.sort()[Math.ceil(m / 2) - 1];
  if (landmark === undefined || !Number.isFinite(landmark)) {
    throw new DtmError(
      "landmark",
      `defaultLandmark: expected at least half of the ${m} individuals to have two visits. Give a landmark.`,
    );
  }
  return landmark < 0 && !Array.from(ends).some((end) => end < 0) ? 0 : landmark;
}

/**
 * The individuals seen by the landmark (a visit at or before it) and followed beyond it. A follow-up time that is not a
 * number means unknown and is left out.
 */
export function landmarkFollowUp(
  visits: Visits,
  followUp: FollowUp,
  landmark: number = defaultLandmark(visits, followUp.times),
): Landmark {
  const m = visits.offsets.length - 1;
  if (followUp.times.length !== m || followUp.events.length !== m || !Number.isFinite(landmark)) {
    throw new DtmError(
      "shape",
      `landmarkFollowUp: expected a finite landmark and follow-up of ${m} individuals, received ${landmark}, ` +
        `${followUp.times.length} times and ${followUp.events.length} events.`,
    );
  }
  const leftOut = { unknown: 0, eventBefore: 0, censoredBefore: 0, noVisitBefore: 0 };
  const individuals: number[] = [];
  for (let i = 0; i < m; i++) {
    const time = followUp.times[i];
    if (Number.isNaN(time) || Number.isNaN(followUp.events[i])) leftOut.unknown++;
    else if (time <= landmark) leftOut[followUp.events[i] === 1 ? "eventBefore" : "censoredBefore"]++;
    else if (!(visits.times[visits.offsets[i]] <= landmark)) leftOut.noVisitBefore++;
    else individuals.push(i);
  }
  if (individuals.length === 0) {
    throw new DtmError(
      "landmark",
      `landmarkFollowUp: nobody was seen by the landmark ${landmark} and followed beyond it. Give another landmark.`,
    );
  }
  const times = Float64Array.from(individuals, (i) => followUp.times[i] - landmark);
  const events = Float64Array.from(individuals, (i) => followUp.events[i]);
  checkFollowUp({ times, events }, "landmarkFollowUp");
  return { landmark, individuals: Int32Array.from(individuals), times, events, leftOut };
}
