import { describe, expect, it } from "vitest";
import { type KnownRange, readVisits, usableVisits } from "./visits-text.ts";

const known: KnownRange = {
  transform: "log",
  times: [0, 10],
  values: () => [0.5, 30],
  said: () => "anything in this cohort",
  when: (t) => `year ${t}`,
  value: (v) => String(v),
};

describe("readVisits", () => {
  it("reads two columns from a spreadsheet and says which lines are none", () => {
    expect(readVisits("year\tbili\n0\t1,5\n1\tx\n2\t3")).toEqual({
      times: ["0", "2"],
      values: [["1.5"], ["3"]],
      refused: [3],
    });
  });

  it("reads a column for each of several markers, empty where one was not measured", () => {
    expect(readVisits("0\t1,5\t3\n1\t\t2\n2\t4\t\n3\t\t\n4\t1", 2)).toEqual({
      times: ["0", "1", "2"],
      values: [
        ["1.5", "3"],
        ["", "2"],
        ["4", ""],
      ],
      refused: [4, 5],
    });
  });
});

describe("readVisits", () => {
  it("keeps dates and limits as they are written", () => {
    expect(readVisits("2024-03-01;<0,3\n3 Apr 2024;2")).toEqual({
      times: ["2024-03-01", "3 Apr 2024"],
      values: [["<0.3"], ["2"]],
      refused: [],
    });
  });
});

describe("usableVisits", () => {
  it("asks about a value outside those known, and takes it once it is kept", () => {
    const rows = [
      { time: "0", value: "9" },
      { time: "2", value: "700" },
    ];
    const { values, asked, complaints } = usableVisits(rows, known);
    expect([values, complaints]).toEqual([[9], []]);
    expect(asked).toEqual([{ row: 1, text: "700", sentence: "700 is far above anything in this cohort (0.5 to 30)." }]);
    expect(usableVisits([rows[0], { ...rows[1], kept: "700" }], known)).toMatchObject({ values: [9, 700], asked: [] });
    // Another value is another question.
    expect(usableVisits([{ time: "2", value: "900", kept: "700" }], known).asked).toHaveLength(1);
    // Near the ends there is no question, and of a limit it is not known how far the value is beyond it.
    const near = [33, ">700"].map((value) => ({ time: "2", value: String(value) }));
    expect(usableVisits(near, known).asked).toEqual([]);
  });

  it("takes whole rows and waits for half-typed ones", () => {
    const rows = [
      { time: "1", value: "2.5" },
      { time: "2", value: "" },
      { time: " 3 ", value: "1e1" },
    ];
    expect(usableVisits(rows, known)).toEqual({
      times: [1, 3],
      values: [2.5, 10],
      rows: [0, 2],
      complaints: [],
      asked: [],
    });
  });

  it("takes a value below or above a limit as that", () => {
    const rows = [
      { time: "1", value: "< 2.5" },
      { time: "2", value: "4" },
      { time: "3", value: "≥20" },
    ];
    const read = {
      times: [1, 2, 3],
      values: [2.5, 4, 20],
      censored: [-1, 0, 1],
      rows: [0, 1, 2],
      complaints: [],
      asked: [],
    };
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
      "Visit 3 is left out: its value is far from anything in this cohort, 0.5 to 30.",
      "Visit 4 is left out: its time is not a number.",
      "Visit 5 is left out: its value is not a number.",
    ]);
  });
});
