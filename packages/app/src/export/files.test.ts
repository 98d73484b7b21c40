import type { Groups } from "@trajectory-maps/core";
import { describe, expect, it } from "vitest";
import { courseRows } from "./files.ts";

/** A group with so many members, of whom so many are followed at three times. */
const group = (letter: string, numMembers: number, followed: readonly number[]) => ({
  letter,
  numMembers,
  followed: Int32Array.from(followed),
  course: {
    times: Float64Array.from([0, 1, 2]),
    median: Float64Array.from([70.1, 70.2, 70.3]),
    lower: Float64Array.from([60.1, 60.2, 60.3]),
    upper: Float64Array.from([80.1, 80.2, 80.3]),
  },
});

describe("the file of courses of groups", () => {
  const groups = [group("A", 40, [40, 30, 10]), group("B", 1, [1, 1, 0]), group("C", 30, [30, 20, 11])];
  const rows = courseRows(groups as unknown as Groups["groups"], (k) => `group ${k}`, false);

  it("holds back a small size, and another from which it could be worked out", () => {
    expect(rows.filter((_, k) => k % 3 === 0).map((row) => row[2])).toEqual(["40", "<11", "≥11"]);
  });

  it("tells no course of fewer than eleven", () => {
    const told = rows.map((row) => row.slice(4).every((cell) => cell !== ""));
    expect(told).toEqual([true, true, false, false, false, false, true, true, true]);
    expect(rows.flat().filter((cell) => cell === 70.1)).toHaveLength(2);
  });
});
