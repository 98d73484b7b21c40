import { describe, expect, it } from "vitest";
import { readTimes } from "./visit-times.ts";

const years = { unit: "years" };

describe("readTimes", () => {
  it("leaves numbers as they are", () => {
    expect(readTimes(["0", " 1.5 ", "x", ""], years)).toEqual({
      times: ["0", "1.5", "x", ""],
      isDated: false,
      counted: null,
      wanted: null,
      complaints: [],
    });
  });

  it("counts dates from the first of them, in the unit of the model", () => {
    expect(readTimes(["2024-01-01", "", "31 Dec 2024"], years).times).toEqual(["0", "", "0.999316"]);
    expect(readTimes(["2024-02-01", "2024-01-01"], { unit: "days" }).times).toEqual(["31", "0"]);
  });

  it("counts from a date that is given, and asks for it where the model counted from another column", () => {
    const rule = { unit: "days", origin: "column:onset" };
    const { times, wanted, complaints } = readTimes(["2024-01-11"], rule);
    expect([times, wanted]).toEqual([[""], "onset"]);
    expect(complaints).toEqual(["Times of this model are counted from onset: give its date."]);
    expect(readTimes(["2024-01-11"], rule, "2024-01-01").times).toEqual(["10"]);
    expect(readTimes(["2024-01-11"], { unit: "days", origin: "date:2024-01-10" }).times).toEqual(["1"]);
  });

  it("refuses what could be two dates, and numbers among dates", () => {
    const { times, complaints } = readTimes(["03/04/2024", "13/04/2024", "2"], { unit: "days" });
    expect(times).toEqual(["", "0", ""]);
    expect(complaints).toEqual([
      "Visit 1 is left out: 03/04/2024 may begin with the day or with the month. Write dates as 2024-03-31.",
      "Visit 3 is left out: it has a number among dates. Write dates as 2024-03-31.",
    ]);
  });

  it("says that dates cannot be counted in an unknown unit", () => {
    expect(readTimes(["2024-01-01"], { unit: "" }).complaints).toHaveLength(1);
  });
});
