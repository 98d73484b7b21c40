import { describe, expect, it } from "vitest";
import { createRandom } from "../numeric/random.ts";
import { followUpOf, followUpSupport, similarFollowed, similarFollowedTo, supportedTo } from "./follow-up.ts";

describe("followUpSupport", () => {
  const followUp = followUpOf({
    location: Float64Array.of(0, 0, 0.3, 0, 3, 3),
    lastTime: Float64Array.of(2, 8, 10),
    mapDimension: 2,
  });
  const exactly = { location: Float64Array.of(0, 0), covariance: new Float64Array(4) };

  it("counts individuals near the place that are still seen", () => {
    const support = followUpSupport(followUp, exactly);
    const near = Math.exp((-0.5 * 0.09) / 0.25);
    const far = Math.exp((-0.5 * 18) / 0.25);
    expect(support(1)).toBeCloseTo(1 + near + far, 12);
    expect(support(2)).toBeCloseTo(1 + near + far, 12);
    expect(support(5)).toBeCloseTo(near + far, 12);
    expect(support(9)).toBeCloseTo(far, 12);
    expect(support(11)).toBe(0);
  });

  it("is the average over an uncertain place", () => {
    const covariance = Float64Array.of(0.5, 0.2, 0.2, 0.3);
    const support = followUpSupport(followUp, { location: Float64Array.of(0.1, -0.2), covariance })(5);
    const random = createRandom(1);
    let sum = 0;
    for (let s = 0; s < 40_000; s++) {
      const [a, b] = [random.normal(), random.normal()];
      const x = 0.1 + Math.sqrt(0.5) * a;
      const y = -0.2 + (0.2 / Math.sqrt(0.5)) * a + Math.sqrt(0.3 - 0.08) * b;
      for (const [u, v] of [
        [0.3, 0],
        [3, 3],
      ]) {
        sum += Math.exp((-0.5 * ((x - u) ** 2 + (y - v) ** 2)) / 0.25) / 40_000;
      }
    }
    // Three standard errors of 40,000 draws between 0 and 1.
    expect(Math.abs(support - sum)).toBeLessThan(0.0075);
  });
});

/** 200 individuals on a line: those on the left are followed to 2, those on the right to 10. */
function cohort() {
  const random = createRandom(1);
  const location = Float64Array.from({ length: 200 }, (_, i) => (i < 100 ? -1 : 1) + 0.1 * random.normal());
  const lastTime = Float64Array.from({ length: 200 }, (_, i) => (i < 100 ? 2 : 10));
  return { location, lastTime, mapDimension: 1 };
}

describe("similarFollowed", () => {
  it("is n(t) of a place known exactly", () => {
    const spread = cohort();
    const support = followUpSupport(followUpOf(spread), {
      location: Float64Array.of(-0.9),
      covariance: Float64Array.of(0),
    });
    for (const t of [0, 2, 3, 11]) expect(similarFollowed(spread)([-0.9])(t)).toBe(support(t));
  });
});

describe("supportedTo", () => {
  it("is the end of follow-up itself to which enough similar individuals are seen, wherever the place is", () => {
    const places = cohort();
    const followUp = followUpOf({ ...places, lastTime: places.lastTime.map((_, i) => i / 20) });
    for (const [place, variance] of [
      [-1.4, 0],
      [0.2, 0.5],
      [1, 2],
    ]) {
      const support = followUpSupport(followUp, {
        location: Float64Array.of(place),
        covariance: Float64Array.of(variance),
      });
      const end = supportedTo(followUp, support);
      expect(support(end)).toBeGreaterThanOrEqual(5);
      expect(support(end + 1e-9)).toBeLessThan(5);
    }
    const nobody = followUpSupport(followUp, { location: Float64Array.of(50), covariance: Float64Array.of(0) });
    expect(supportedTo(followUp, nobody)).toBe(Number.NEGATIVE_INFINITY);
  });
});

describe("similarFollowedTo", () => {
  it("is the last time to which enough of those nearby are followed", () => {
    const until = similarFollowedTo(cohort());
    expect(until([-1.5])).toBe(2);
    expect(until([1])).toBe(10);
    // Far away nobody is similar: as long as everybody is followed.
    expect(until([8])).toBe(2);
  });

  it("is where support falls below what is enough", () => {
    const places = cohort();
    const spread = { ...places, lastTime: places.lastTime.map((_, i) => i / 20) };
    const support = followUpSupport(followUpOf(spread), {
      location: Float64Array.of(-1.4),
      covariance: new Float64Array(1),
    });
    const until = similarFollowedTo(spread)([-1.4]);
    expect(support(until)).toBeGreaterThanOrEqual(5);
    expect(support(until + 0.01)).toBeLessThan(5);
  });

  it("is the same for everybody gone through one by one, near and far, in one to three dimensions", () => {
    const random = createRandom(2);
    for (const q of [1, 2, 3]) {
      const places = {
        location: Float64Array.from({ length: 400 * q }, () => 1.5 * random.normal()),
        lastTime: Float64Array.from({ length: 400 }, () => Math.floor(8 * random.uniform())),
        mapDimension: q,
      };
      const until = similarFollowedTo(places);
      const support = similarFollowed(places);
      for (let n = 0; n < 200; n++) {
        const place = Array.from({ length: q }, () => 12 * random.uniform() - 6);
        const n0 = support(place);
        const enough = [7, 6, 5, 4, 3, 2, 1, 0].find((t) => n0(t) >= 5);
        expect(until(place)).toBe(enough ?? 0);
      }
    }
  });
});

describe("followUpOf", () => {
  it("puts those followed longest first, and leaves the order of those followed alike", () => {
    const { lastTimes, locations } = followUpOf({
      location: Float64Array.of(0, 1, 2, 3, 4, 5),
      lastTime: Float64Array.of(2, 8, -1, 8, 2, -0),
      mapDimension: 1,
    });
    expect([...lastTimes]).toEqual([8, 8, 2, 2, -0, -1]);
    expect([...locations]).toEqual([1, 3, 0, 4, 5, 2]);
  });
});
