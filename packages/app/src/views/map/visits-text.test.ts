import { describe, expect, it } from "vitest";
import { type KnownRange, readVisits, usableVisits } from "./visits-text.ts";

const known: KnownRange = {
  transform: "log",
  times: [0, 10],
  values: [0.5, 30],
  when: (t) => `year ${t}`,
  value: (v) => String(v),
};

describe("readVisits", () => {
  it("reads two columns from a spreadsheet and says which lines are none", () => {
    expect(readVisits("year\tbili\n0\t1,5\n1\tx\n2\t3")).toEqual({ times: [0, 2], values: [[1.5], [3]], refused: [3] });
  });

  it("reads a column for each of several markers, empty where one was not measured", () => {
    expect(readVisits("0\t1,5\t3\n1\t\t2\n2\t4\t\n3\t\t\n4\t1", 2)).toEqual({
      times: [0, 1, 2],
      values: [
        [1.5, 3],
        [null, 2],
        [4, null],
      ],
      refused: [4, 5],
    });
  });
});

describe("usableVisits", () => {
  it("takes whole rows and waits for half-typed ones", () => {
    const rows = [
      { time: "1", value: "2.5" },
      { time: "2", value: "" },
      { time: " 3 ", value: "1e1" },
    ];
    expect(usableVisits(rows, known)).toEqual({ times: [1, 3], values: [2.5, 10], complaints: [] });
  });

  it("takes a value below or above a limit as that", () => {
    const rows = [
      { time: "1", value: "< 2.5" },
      { time: "2", value: "4" },
      { time: "3", value: "≥20" },
    ];
    const read = { times: [1, 2, 3], values: [2.5, 4, 20], censored: [-1, 0, 1], complaints: [] };
    expect(usableVisits(rows, known)).toEqual(read);
  });

  it("leaves nonsense out and says why in plain words", () => {
    const rows = [
      { time: "40", value: "2" },
      { time: "1", value: "-3" },
      { time: "1", value: "1e300" },
      { time: "1e999", value: "2" },
      { time: "2", value: "x" },
      { time: "2", value: "4" },
    ];
    const { times, values, complaints } = usableVisits(rows, known);
    expect([times, values]).toEqual([[2], [4]]);
    expect(complaints).toEqual([
      "Visit 1 is left out: its time lies outside those of the map, year 0 to year 10.",
      "Visit 2 is left out: values of this marker are above 0.",
      "Visit 3 is left out: its value is far from every value of the cohort, 0.5 to 30.",
      "Visit 4 is left out: its time is not a number.",
      "Visit 5 is left out: its value is not a number.",
    ]);
  });
});
