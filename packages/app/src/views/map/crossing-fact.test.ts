import type { Crossing } from "@trajectory-maps/core/models";
import { describe, expect, it } from "vitest";
import { crossingFact } from "./crossing-fact.ts";
import type { MarkerWords } from "./words.ts";

const words = {
  last: 14,
  timeWord: "year",
  exact: String,
  time: String,
  when: (t: number) => `year ${t}`,
} as unknown as MarkerWords;
const crossing = (over: Partial<Crossing>): Crossing => ({
  threshold: 2.7,
  from: 3.7,
  direction: "down",
  quantiles: [
    { probability: 0.05, time: 4 },
    { probability: 0.5, time: 9 },
    { probability: 0.95, time: null },
  ],
  probabilityAlready: 0.02,
  probabilityNone: 0.1,
  ...over,
});

describe("crossingFact", () => {
  it("says when, with its interval", () => {
    expect(crossingFact(crossing({}), words)).toEqual({
      title: "Falls below 2.7 in year",
      estimate: "9",
      interval: "4 to later",
    });
    const never = [0.05, 0.5, 0.95].map((probability) => ({ probability, time: null }));
    expect(crossingFact(crossing({ quantiles: never }), words)).toMatchObject({ estimate: "after 14", interval: "" });
  });

  it("names no time beyond the one that is told", () => {
    expect(crossingFact(crossing({}), words, 8)).toMatchObject({ estimate: "after 8", interval: "4 to later" });
    expect(crossingFact(crossing({}), words, 3.9)).toMatchObject({ estimate: "after 3.9", interval: "" });
    expect(crossingFact(crossing({ probabilityAlready: 1 }), words).estimate).toBe("> 99%");
  });

  it("says of a course beside the threshold on which side it is, not when it comes there", () => {
    // A falling course just below: a third of its draws are above already, and no rise is to come.
    expect(crossingFact(crossing({ direction: "up", probabilityAlready: 0.35 }), words)).toEqual({
      title: "Above 2.7 already at year 3.7",
      estimate: "35%",
      interval: "",
    });
  });
});
