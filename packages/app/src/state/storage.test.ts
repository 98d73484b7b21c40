import { idList, makeCohort } from "@trajectory-maps/core";
import { describe, expect, it } from "vitest";
import { type Kept, upToDate } from "./storage.ts";

const cohort = makeCohort({ ids: ["b", "é", "b"], times: [0, 1, 2], values: [1, 2, 3] });
const kept = { version: 2, loaded: { source: "visits.csv", cohort }, saved: [] } as unknown as Kept;

describe("a kept study", () => {
  it("of this page is taken as it is", () => {
    expect(upToDate(kept)).toBe(kept);
  });

  it("of an earlier page, with ids as text, is brought up to date", () => {
    const before = { ...kept, version: 1, loaded: { ...kept.loaded, cohort: { ...cohort, ids: idList(cohort.ids) } } };
    expect(upToDate(before as Parameters<typeof upToDate>[0])).toEqual(kept);
  });

  it("of a later page is left alone", () => {
    expect(upToDate({ ...kept, version: 3 } as unknown as Kept)).toBeNull();
  });
});
