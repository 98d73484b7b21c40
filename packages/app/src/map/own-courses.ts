/**
 * The course of the individual under the pointer, by all that was measured of them, in the place of the place's. It is a
 * question to the host's model: asked only where the pointer rests, and kept for the last ones looked at.
 */
import type { Course } from "@trajectory-maps/core/models";
import type { LensReading, MapOptions } from "./types.ts";

/** ms that the pointer rests on a dot before its course is asked for, and how many are kept. */
const REST = 60;
const KEPT = 200;

interface OwnCourses {
  /** The reading with the individual's own course if it is known; else it is asked for. */
  read(reading: LensReading | null): LensReading | null;
  /** Forgets the courses of a map that is no longer shown. */
  forget(): void;
}

/** `onKnown` is called once the course of an individual is there. */
export function ownCourses(courseOf: () => MapOptions["courseOf"], onKnown: (index: number) => void): OwnCourses {
  let known = new Map<number, Course>();
  let asked = -1;
  let waiting: ReturnType<typeof setTimeout> | null = null;
  const stop = () => {
    if (waiting !== null) clearTimeout(waiting);
    waiting = null;
    asked = -1;
  };
  const ask = (i: number, question: NonNullable<MapOptions["courseOf"]>) => {
    const ours = known;
    asked = i;
    waiting = setTimeout(() => {
      question(i).then(
        (course) => {
          if (ours.size >= KEPT) ours.delete(ours.keys().next().value ?? -1);
          ours.set(i, course);
          if (ours === known) onKnown(i);
        },
        // A map that goes meanwhile answers nothing.
        () => undefined,
      );
    }, REST);
  };
  return {
    read(reading) {
      const i = reading?.individual ?? -1;
      if (i !== asked) stop();
      const question = courseOf();
      if (reading === null || i < 0 || question === undefined) return reading;
      const course = known.get(i);
      if (course !== undefined) return { ...reading, course, own: true };
      if (i !== asked) ask(i, question);
      return reading;
    },
    forget() {
      stop();
      known = new Map();
    },
  };
}
