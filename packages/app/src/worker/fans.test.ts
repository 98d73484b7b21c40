import { embed, fitDtm, simulateCohort } from "@trajectory-maps/core";
import { expectedCourses } from "@trajectory-maps/core/study";
import { describe, expect, it } from "vitest";
import { coursesOf, fansOf, othersThan } from "./fans.ts";

const { cohort } = simulateCohort("pfvc", { numIndividuals: 50, seed: 6 });
const model = fitDtm(cohort, { mean: "scalar", restarts: 0, seed: 1, maxIterations: 3 });
const placed = { model, placements: embed(model, cohort) };
const times = Float64Array.of(0, 2.5, 7, 10);
const T = times.length;
const chosen = [3, 7, 20, 21, 40];

describe("courses of the chosen", () => {
  it("are those of everyone's that are theirs, to the last bit", () => {
    const everyone = expectedCourses(model, placed.placements, times);
    const courses = coursesOf(placed, times, chosen);
    chosen.forEach((i, k) => {
      expect(courses.subarray(k * T, (k + 1) * T)).toEqual(everyone.subarray(i * T, (i + 1) * T));
    });
  });

  it("have their median, and everyone else has theirs", () => {
    const everyone = expectedCourses(model, placed.placements, times);
    const { chosen: fan, others } = fansOf(placed, times, chosen);
    const middle = (who: ArrayLike<number>, t: number) =>
      Array.from(who, (i) => everyone[i * T + t]).sort((a, b) => a - b)[(who.length - 1) / 2];
    const rest = othersThan(placed.placements, chosen);
    expect(rest).toHaveLength(45);
    for (let t = 0; t < T; t++) {
      expect(fan.median[t]).toBe(middle(chosen, t));
      expect(others?.median[t]).toBe(middle(rest, t));
    }
    expect([fan.numMembers, others?.numMembers]).toEqual([5, 45]);
  });

  it("are beside nobody's if everyone is chosen", () => {
    expect(fansOf(placed, times, [...Array(50).keys()]).others).toBeNull();
  });
});
