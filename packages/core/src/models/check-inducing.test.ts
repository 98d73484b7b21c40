import { describe, expect, it } from "vitest";
import { makeCohort } from "../cohort/cohort.ts";
import { checkInducing } from "./check-inducing.ts";
import { startDtm } from "./fit-models.ts";

describe("more inducing points than individuals", () => {
  const rows = Array.from({ length: 40 }, (_, k) => ({ id: `p${k % 10}`, t: k % 4, y: Math.sin(k) }));
  const cohort = makeCohort({
    ids: rows.map(({ id }) => id),
    times: rows.map(({ t }) => t),
    values: rows.map(({ y }) => y),
  });

  it("are refused with both numbers, however they are asked for", () => {
    const refused = expect.objectContaining({
      code: "option",
      message: expect.stringMatching(/at most 10 .*received 16/),
    });
    expect(() => startDtm(cohort, { inducing: { perDimension: 4 } })).toThrow(refused);
    expect(() => startDtm(cohort, { kind: "dtm-paper", inducing: { placement: "grid", perDimension: 4 } })).toThrow(
      refused,
    );
    expect(() => checkInducing({ count: 11 }, 2, 10)).toThrow("received 11");
    expect(() => checkInducing({ locations: Array(12) }, 2, 10)).toThrow("received 12");
  });

  it("are taken when nothing was asked for, or as many as there are", () => {
    expect(() => checkInducing(undefined, 2, 10)).not.toThrow();
    expect(() => checkInducing({}, 2, 10)).not.toThrow();
    expect(() => checkInducing({ perDimension: 3 }, 2, 9)).not.toThrow();
    expect(startDtm(cohort).step().iteration).toBeGreaterThan(0);
  });
});
