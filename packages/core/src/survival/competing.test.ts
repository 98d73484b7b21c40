import { describe, expect, it } from "vitest";
import { firstEvents } from "./competing.ts";

describe("firstEvents", () => {
  it("takes the first event, the lower cause at equal times, and the end of the first follow-up without any", () => {
    const death = { times: [5, 5, 5, 5], events: [1, 0, 1, 0] };
    const transplant = { times: [3, 5, 5, Number.NaN], events: [1, 1, 1, 0] };
    const { times, causes } = firstEvents([death, transplant]);
    expect(Array.from(times)).toEqual([3, 5, 5, 5]);
    expect(Array.from(causes)).toEqual([2, 2, 1, 0]);
  });

  it("does not know the event of somebody of whom one is unknown", () => {
    const death = { times: [5, Number.NaN, 5], events: [0, 0, 1] };
    const transplant = { times: [5, 5, Number.NaN], events: [Number.NaN, 0, 1] };
    expect(Array.from(firstEvents([death, transplant]).causes)).toEqual([Number.NaN, Number.NaN, Number.NaN]);
  });

  it("refuses follow-up of other individuals", () => {
    expect(() =>
      firstEvents([
        { times: [1], events: [0] },
        { times: [1, 2], events: [0, 0] },
      ]),
    ).toThrow(/same 1 individuals/);
  });
});
