import { describe, expect, it } from "vitest";
import type { Fitted } from "../../worker/api.ts";
import { endOf, fitTitle, gainSentence, gainText, leftText } from "./fit-words.ts";

/** A fit of which only the record matters. */
function fitted(converged: boolean, verdict = ""): Fitted {
  const record = { iterations: 192, converged, verdict, warnings: [] };
  return { model: { kind: "dtm-paper", record }, finished: true } as unknown as Fitted;
}

describe("the end of a fit", () => {
  const said = (converged: boolean, verdict: string) => endOf(fitted(converged, verdict));

  it("is settled, not settled, or stopped where more passes would not help", () => {
    expect(said(true, "Settled: after 12 passes the bound, estimated from minibatches, rose by less.")).toBe("Settled");
    expect(said(true, "Finished the 20 planned epochs; in the last one the bound settled: 0.001%.")).toBe("Settled");
    expect(said(false, "Stopped at the limit of 9 iterations before the map had settled.")).toBe("Not settled");
    expect(said(false, "Finished the 20 planned epochs; in the last one the bound still moved: 1%.")).toBe(
      "Not settled",
    );
    const limited = fitted(false, "Stopped after 9 iterations with the noise at its lower limit: no maximum.");
    expect(endOf(limited)).toBe("Stopped");
    expect(fitTitle(limited, [-2, -1]).text).not.toContain("improving");
    expect(endOf({ ...fitted(true), finished: false })).toBe("Not settled");
  });

  it("says how much was still gained when the fit did not settle, or was stopped", () => {
    const title = fitTitle(fitted(false), [-100.5, -100.25]);
    expect(title.kind).toBe("warn");
    expect(title.text).toBe(
      "the fit was still improving by 0.25 per pass when it stopped after 192. The map may change.",
    );
    expect(fitTitle({ ...fitted(true), finished: false }, [-1]).text).toBe(
      "the fit was still improving when it stopped after 192. The map may change.",
    );
    // No second number beside that of the record, which is of the last pass alone.
    const told = fitted(
      false,
      "Stopped at the limit of 150 iterations; the last one still raised the bound by 0.0039.",
    );
    expect(fitTitle(told, [-2, -1.99, -1.98]).text).toBe(
      "the fit was still improving when it stopped after 192. The map may change.",
    );
    // A bound that fell, as estimates from minibatches do, did not improve.
    const lower = fitTitle(fitted(false), [-100, -102.2]).text;
    expect(lower).toBe("the fit was still going up and down when it stopped after 192. The map may change.");
    expect(gainSentence(-2.2)).toBe("The fit goes up and down");
    expect(gainSentence(2.2)).toBe("The fit improves by 2.2 per pass");
    expect(fitTitle(fitted(true), [])).toEqual({ kind: "good", title: "Settled after 192 passes.", text: "" });
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
