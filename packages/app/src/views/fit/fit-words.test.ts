import type { StartResult } from "@trajectory-maps/core/models";
import { describe, expect, it } from "vitest";
import type { Fitted } from "../../worker/api.ts";
import { endOf, gainText, leftText, verdictOf } from "./fit-words.ts";

/** A fit of which only the record matters. */
function fitted(converged: boolean, starts?: readonly StartResult[], verdict = ""): Fitted {
  const record = { iterations: 192, converged, verdict };
  return { model: { record }, finished: true, starts } as unknown as Fitted;
}

/** A start beside the best one, whose bound is −10. */
const start = (bound: number, agreement: number): StartResult => ({
  name: "random places",
  bound,
  agreement,
  sameMap: agreement >= 0.9,
  similarBound: bound >= -12,
});

describe("verdictOf", () => {
  it("says that the fit converged, and whether starts agree", () => {
    expect(verdictOf(fitted(true), [])).toEqual({ kind: "good", title: "Converged after 192 passes.", text: "" });
    expect(verdictOf(fitted(true, [start(-10, 1), start(-11, 0.99), start(-11, 0.95)]), []).text).toBe(
      "3 of 3 starts agree on the same map.",
    );
  });

  it("warns of other maps of nearly equal quality, not of worse ones", () => {
    expect(verdictOf(fitted(true, [start(-10, 1), start(-11, 0.4)]), []).text).toContain("Treat small differences");
    expect(verdictOf(fitted(true, [start(-10, 1), start(-60, 0.4)]), []).text).toBe(
      "1 of 2 starts agree on the same map; the others ended on worse ones.",
    );
  });

  it("says how much was still gained when the fit did not converge, or was stopped", () => {
    const verdict = verdictOf(fitted(false), [-100.5, -100.25]);
    expect(verdict.kind).toBe("warn");
    expect(verdict.text).toBe(
      "the fit was still improving by 0.25 per pass when it stopped after 192. The map may change.",
    );
    expect(verdictOf({ ...fitted(true), finished: false }, [-1]).text).toBe(
      "the fit was still improving when it stopped after 192. The map may change.",
    );
  });
});

describe("endOf", () => {
  const said = (converged: boolean, verdict: string) => endOf(fitted(converged, undefined, verdict));

  it("tells a maximum from a bound that minibatches left at rest", () => {
    expect(said(true, "Converged: after 40 iterations the bound had risen by less than 0.01 3 times in a row.")).toBe(
      "Converged",
    );
    expect(said(true, "Settled: after 12 passes the bound, estimated from minibatches, rose by less.")).toBe("Settled");
    expect(said(true, "Finished the 20 planned epochs; in the last one the bound settled: 0.001%.")).toBe("Settled");
  });

  it("tells fits that need more passes from those that more would not help", () => {
    expect(said(false, "Stopped at the limit of 9 iterations before the bound had settled; the last gain was 3.")).toBe(
      "Not converged",
    );
    expect(said(false, "Finished the 20 planned epochs; in the last one the bound still moved: 1%.")).toBe(
      "Not settled",
    );
    const limited = fitted(
      false,
      undefined,
      "Stopped after 9 iterations with the noise at its lower limit: no maximum.",
    );
    expect(endOf(limited)).toBe("Stopped");
    expect(verdictOf(limited, [-2, -1]).text).not.toContain("improving");
    expect(endOf({ ...fitted(true), finished: false })).toBe("Not converged");
  });

  it("gives the heading of the verdict its word", () => {
    expect(verdictOf(fitted(true, undefined, "Settled: after 192 passes"), []).title).toBe("Settled after 192 passes.");
  });
});

describe("numbers of a fit", () => {
  it("are short", () => {
    expect([1234.5, 0.912, 0.00234, 1e-7, -0.5].map(gainText)).toEqual([
      "1,235",
      "0.91",
      "0.0023",
      "less than 0.0001",
      "−0.5",
    ]);
    expect([null, 0.2, 12.4, 300].map(leftText)).toEqual([
      "",
      "about 1 second left",
      "about 12 seconds left",
      "about 5 minutes left",
    ]);
  });
});
