import { describe, expect, it } from "vitest";
import { factColumns, fitEnd } from "./header.ts";

describe("fitEnd", () => {
  it("says of a fit that ran to its end that it settled", () => {
    const said = (verdict: string) => fitEnd({ converged: true, verdict });
    expect(said("Converged: after 20 EM steps a round of steps gained less than 1e-6 in log-likelihood.")).toBe(
      "Settled",
    );
    expect(said("Settled: after 12 passes the bound, estimated from minibatches, rose by less than 0.1 a pass.")).toBe(
      "Settled",
    );
    expect(said("Finished the 20 planned epochs; in the last one the bound settled: 0.001%.")).toBe("Settled");
  });

  it("says of other fits what they lack", () => {
    const said = (verdict: string) => fitEnd({ converged: false, verdict });
    expect(said("Stopped at the limit of 9 iterations before the map had settled.")).toBe("Not settled");
    expect(said("Finished the 20 planned epochs; in the last one the bound still moved: 0.4%.")).toBe("Not settled");
    expect(
      said("Stopped after 9 iterations with the noise at its lower limit: the bound has no maximum for these data."),
    ).toBe("Stopped");
  });
});

describe("factColumns", () => {
  it("leaves no fact alone in a row", () => {
    expect([1, 4, 5, 6, 7, 8, 9, 13].map(factColumns)).toEqual([1, 4, 5, 6, 4, 4, 5, 5]);
  });
});
