import type { Course } from "@trajectory-maps/core/models";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { ownCourses } from "./own-courses.ts";
import type { LensReading } from "./types.ts";

const course = (level: number) => ({ median: Float64Array.of(level) }) as unknown as Course;
const reading = (individual: number | null): LensReading => ({
  x: 0,
  y: 0,
  onLand: true,
  course: course(1),
  seenTo: 5,
  numNear: 3,
  individual,
  own: false,
});

describe("the course of the individual under the pointer", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("takes the place of the place's once it is known, and is asked for where the pointer rests alone", async () => {
    const asked: number[] = [];
    const told: number[] = [];
    const own = ownCourses(
      () => async (i) => {
        asked.push(i);
        return course(10 * i);
      },
      (i) => told.push(i),
    );
    expect(own.read(reading(3))).toMatchObject({ own: false });
    own.read(reading(4));
    own.read(reading(4));
    await vi.runAllTimersAsync();
    expect([asked, told]).toEqual([[4], [4]]);
    expect(own.read(reading(4))).toMatchObject({ own: true, course: { median: Float64Array.of(40) } });
    expect(own.read(reading(null))).toMatchObject({ own: false, course: { median: Float64Array.of(1) } });
    own.forget();
    expect(own.read(reading(4))).toMatchObject({ own: false });
    own.read(null);
    await vi.runAllTimersAsync();
    expect(asked).toEqual([4]);
  });
});
