/** The harness of the benchmarks and its guard (docs/benchmarks.md); what they measure is for npm run bench and bench:check. */
import { describe, expect, it } from "vitest";
import { against, alone, type BenchCase, meets, timesFaster } from "../bench/case.ts";
import { CASES } from "../bench/cases/list.ts";
import { runGuard } from "../bench/guard.ts";
import { betweenMarkers, markdownTable, textTable } from "../bench/table.ts";

const context = { quick: true, large: false, say: () => {} };

/** A case whose guarded ratio takes the given values, one a run. */
function scripted(...ratios: number[]): BenchCase & { runs: number } {
  return {
    name: "scripted",
    about: "",
    guard: true,
    runs: 0,
    async run() {
      const ratio = ratios[this.runs++];
      return [
        against("kernel", "ns", ratio, "peer", 1, { goal: 2, guard: true }),
        alone("time", "ms", 1e9, { goal: 1 }),
        against("absent", "ns", 1, "peer", undefined, { goal: 2, guard: true }),
      ];
    },
  };
}

describe("runGuard", () => {
  it("runs a case once when it is well, within the slack", async () => {
    const bench = scripted(2.9);
    expect((await runGuard([bench], context)).misses).toEqual([]);
    expect(bench.runs).toBe(1);
  });

  it("forgives one miss and reports two in a row", async () => {
    const once = scripted(3.1, 1.9);
    expect((await runGuard([once], context)).misses).toEqual([]);
    expect(once.runs).toBe(2);
    const twice = await runGuard([scripted(3.1, 3.2)], context);
    expect(twice.misses.map(({ what, ratio }) => [what, ratio])).toEqual([["kernel", 3.2]]);
  });

  it("leaves out cases that are not guarded, absolute times and peers that are not here", async () => {
    const bench = { ...scripted(9), guard: false };
    expect(await runGuard([bench], context)).toEqual({ rows: [], misses: [] });
    const { rows } = await runGuard([scripted(1)], context);
    expect(rows.map(({ what }) => what)).toEqual(["kernel", "absent"]);
  });
});

describe("a row of the table", () => {
  it("is held to its ratio, its figure, or nothing", () => {
    expect(meets(against("a", "ns", 3, "C", 2, { goal: 1.5 }))).toBe(true);
    expect(meets(against("a", "ns", 3.1, "C", 2, { goal: 1.5 }))).toBe(false);
    expect(meets(against("a", "ns", 3.1, "C", 2, { goal: 1.5 }), 1.1)).toBe(true);
    expect(meets(against("a", "ns", 3, "C", undefined, { goal: 1.5 }))).toBeUndefined();
    expect(meets(timesFaster("a", "ms", 2, "GPy", 40, { goal: 20 }))).toBe(true);
    expect(meets(timesFaster("a", "ms", 2.1, "GPy", 40, { goal: 20 }))).toBe(false);
    expect(meets(alone("a", "s", 21, { goal: 20 }))).toBe(false);
    expect(meets(alone("a", "s", 21, { goal: 20, void: "busy" }))).toBeUndefined();
    expect(meets(alone("a", "s", 21))).toBeUndefined();
  });

  it("says in words what it found", () => {
    const rows = [
      against("fit", "s cpu", 0.5, "lme4", 10, { goal: 1 / 20 }),
      timesFaster("bound", "ms", 2.54, "GPy", undefined, { goal: 20 }),
      alone("speed-up", "x", Number.NaN, { goal: 1.7, atLeast: true, void: "busy" }),
    ];
    const lines = textTable(rows).split("\n");
    expect(lines[0]).toMatch(/^fit +0\.5 s cpu +lme4: 10 s cpu +1\/20 +≤ 1\/20 +met$/);
    expect(lines[1]).toMatch(/GPy: peer not here +≥ 20x$/);
    expect(lines[2]).toMatch(/^speed-up +– +≥ 1\.7x +void$/);
    expect(lines[3]).toBe("    busy");
    const machine = { cpu: "C", cores: 2, node: "20", platform: "linux x64" };
    const page = markdownTable({ machine, cases: { fits: { date: "2026-01-02", load: 0.5, rows } } });
    expect(page).toContain("| fit | 0.5 s cpu | lme4: 10 s cpu | 1/20 | ≤ 1/20 | met |");
    expect(page).toContain("2026-01-02 on C, 2 cores");
  });

  it("goes between markers, twice as well as once", () => {
    const page = "a\n<!-- figures -->\nold\n<!-- /figures -->\nb\n";
    const once = betweenMarkers(page, "figures", "new");
    expect(once).toBe("a\n<!-- figures -->\nnew\n<!-- /figures -->\nb\n");
    expect(betweenMarkers(once, "figures", "new")).toBe(once);
    expect(() => betweenMarkers("no markers", "figures", "new")).toThrow(/Expected <!-- figures -->/);
  });
});

describe("the cases", () => {
  it("have names of their own, and guard the kernels", () => {
    const names = CASES.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const guarded = CASES.filter(({ guard }) => guard === true).map(({ name }) => name);
    expect(guarded).toEqual(["local-kernel", "cholesky", "expectation", "visits"]);
  });
});
