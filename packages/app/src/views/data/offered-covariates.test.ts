import { describe, expect, it } from "vitest";
import { isOfTheFuture, offeredCovariates } from "./offered-covariates.ts";

const ids = ["a", "b", "c", "d"];
const column = (name: string, ...cells: string[]) => ({ name, cells });

describe("columns offered as covariates", () => {
  it("come with what they look like, ids and outcomes apart", () => {
    const table = {
      ids,
      columns: [
        column("id", ...ids),
        column("age", "50", "61", "NA", "47.5"),
        column("sex", "m", "f", "f", ""),
        column("died", "0", "1", "0", "1"),
      ],
    };
    const died = { name: "died" } as Parameters<typeof offeredCovariates>[1][number];
    expect(offeredCovariates(table, [died])).toEqual([
      { name: "age", kind: "number", levels: ["47.5", "50", "61"] },
      { name: "sex", kind: "category", levels: ["f", "m"] },
    ]);
  });

  it("leave out how long and how often somebody was seen", () => {
    const numbers = ["3", "8", "2", "5.5"];
    const names = ["followup_years", "age", "n_visits", "event_months", "condition_7_time"];
    const table = { ids, columns: names.map((name) => column(name, ...numbers)) };
    expect(offeredCovariates(table, []).map(({ name }) => name)).toEqual(["age", "condition_7_time"]);
    // Beside the column that it is the time of.
    const both = { ids, columns: [...table.columns, column("condition_7", "0", "1", "1", "0")] };
    expect(offeredCovariates(both, []).map(({ name }) => name)).toEqual(["age", "condition_7"]);
    for (const name of [
      "followed",
      "followUp",
      "Follow-up (days)",
      "fu_time",
      "visits",
      "Number of visits",
      "time_to_death",
      "survival time",
      "status",
    ])
      expect(isOfTheFuture(name), name).toBe(true);
    for (const name of [
      "time_since_diagnosis",
      "visits_before",
      "prior_event",
      "disease_years",
      "event_history",
      "fungal",
      "smoking_status",
    ])
      expect(isOfTheFuture(name), name).toBe(false);
  });

  it("read decimal commas as the table does", () => {
    const table = { ids, decimal: "," as const, columns: [column("dose", "0,5", "1", "1,5", "2")] };
    expect(offeredCovariates(table, []).map(({ kind }) => kind)).toEqual(["number"]);
  });
});
