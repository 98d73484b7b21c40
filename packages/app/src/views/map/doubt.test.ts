import { expect, it } from "vitest";
import { doubtSentence } from "./doubt.ts";

it("a value that the other visits contradict is asked about in words, the least expected one first", () => {
  const words = { when: (t: number) => `year ${t}`, exact: String, value: (v: number) => v.toFixed(0) };
  const suspect = (time: number, value: number, probability: number) =>
    ({ id: "a", marker: "bili", time, value, expected: 4.2, probability }) as const;
  expect(doubtSentence([suspect(1, 9, 0.6), suspect(4.5, 19.4, 0.76)], words)).toBe(
    "19.4 at year 4.5 is far from what the other visits let expect there, about 4.",
  );
  expect(doubtSentence([], words)).toBe("");
});
