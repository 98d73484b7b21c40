import { describe, expect, it } from "vitest";
import { noFollowUpOf } from "./is-follow-up.ts";

/** Individual i is seen at 0, 2, 4, … up to 2 (i mod 6). */
const m = 60;
const counts = Array.from({ length: m }, (_, i) => (i % 6) + 1);
const offsets = [0, ...counts.map((_, i) => counts.slice(0, i + 1).reduce((s, n) => s + n, 0))];
const visits = { offsets, times: counts.flatMap((n) => Array.from({ length: n }, (_, j) => 2 * j)) };
const last = counts.map((n) => 2 * (n - 1));
const events = counts.map((_, i) => (i % 3 === 0 ? 1 : 0));
const told = (times: readonly number[], of = events) => noFollowUpOf(visits, { times, events: of })?.join("; ") ?? "";

describe("noFollowUpOf", () => {
  it("takes times that go on from the last visit, unknown and rounded ones too", () => {
    expect(told(last.map((t) => t + 0.5))).toBe("");
    expect(told(last.map((t, i) => (i % 5 === 0 ? Number.NaN : t - 0.1)))).toBe("");
    // Long after the visits for most, near them for some.
    expect(told(last.map((t, i) => t + (i < 5 ? 1 : 20)))).toBe("");
  });

  it("takes a follow-up that goes on for twice the visits, where nobody's ends near them", () => {
    expect(told(last.map((_, i) => 14 + (i % 7)))).toBe("");
  });

  it("takes a very long follow-up of people who were seen early alone, if some of it ends early", () => {
    expect(told(last.map((t, i) => t + (i < 5 ? 1 : 200)))).toBe("");
  });

  it("takes events that come before visits end", () => {
    expect(told(last.map((t, i) => (events[i] === 1 ? t / 2 : t + 1)))).toBe("");
  });

  it("tells of an age, of a stage, of a count of visits", () => {
    expect(told(last.map((_, i) => 25 + i))).toMatch(/which end at 10; a median of 55, far beyond/);
    expect(told(last.map((_, i) => 1 + (i % 4)))).toMatch(/reach the last visit .*; shorter ones for \d+ of 40/);
    expect(
      told(
        counts,
        events.map(() => 1),
      ),
    ).toMatch(/the number of visits/);
  });

  it("takes the year of the last of yearly visits, though it is their number too", () => {
    const yearly = { offsets, times: counts.flatMap((n) => Array.from({ length: n }, (_, j) => j + 1)) };
    expect(noFollowUpOf(yearly, { times: counts, events })).toBeUndefined();
  });

  it("knows nothing against times where nothing is known", () => {
    expect(told(last.map(() => Number.NaN))).toBe("");
  });
});
