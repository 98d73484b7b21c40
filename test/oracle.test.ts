import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { checkFolder, checkText } from "../oracles/check/run.ts";

const FIXTURES = fileURLToPath(new URL("../fixtures", import.meta.url));

describe("the oracle's fixtures", () => {
  it("all agree with what we compute", () => {
    const reports = checkFolder(FIXTURES);
    expect(reports.length).toBeGreaterThan(30);
    expect(reports.filter((file) => file.verdict !== "ok")).toEqual([]);
  });
});

describe("checkText", () => {
  const basis = {
    cases: [
      {
        kind: "one",
        d: 2,
        degree: 1,
        domain: null,
        training_times: [0, 2],
        knots: [0, 0, 2, 2],
        eval_times: [1],
        rows: [[0.5, 0.5]],
      },
    ],
  };

  it("passes a right file and fails a wrong one, with the worst error", () => {
    expect(checkText("a.json", JSON.stringify(basis))).toMatchObject({ verdict: "ok", worst: { error: 0 } });
    basis.cases[0].rows = [[0.5, 0.6]];
    const report = checkText("a.json", JSON.stringify(basis));
    expect(report.verdict).toBe("FAIL");
    expect(report.worst?.error).toBeCloseTo(0.1 / 0.6, 12);
  });

  it("fails files it cannot read or does not know, and says why", () => {
    expect(checkText("a.json", "{")).toMatchObject({ verdict: "FAIL", reason: expect.stringContaining("not JSON") });
    expect(checkText("a.json", "[1]")).toMatchObject({ verdict: "FAIL", reason: expect.stringContaining("unknown") });
    expect(checkText("a.json", '{"cases":[]}').verdict).toBe("FAIL");
  });
});
