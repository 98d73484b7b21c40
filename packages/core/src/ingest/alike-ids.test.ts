import { describe, expect, it } from "vitest";
import { alikeIds, alikeWords } from "./alike-ids.ts";
import { inspectCohort } from "./quality.ts";
import { readCohort } from "./read-cohort.ts";

describe("ids that differ only in how they are written", () => {
  it.each([
    ["001", "1"],
    ["1", "1.0"],
    ["P1", "p1"],
    ["P007", "p7"],
    ["M\u00fcller", "Mu\u0308ller"],
    ["a", "a\u200b"],
    ["\ufeffa", "a"],
    ["\uff11", "1"],
    ["a", "a\u00a0"],
  ])("%j and %j are told", (first, again) => {
    expect(alikeIds([first, "other", again])).toEqual({ count: 1, pairs: [[first, again]] });
  });

  it("leaves those apart that differ in more", () => {
    const ids = ["1", "10", "100", "1.5", "1.05", "a1", "a10", "a-1", "0", "p", "q", "1-01", "1-1", "\u00e4", "a"];
    expect(alikeIds(ids)).toEqual({ count: 0, pairs: [] });
  });

  it("counts each but the first, and shows three pairs", () => {
    const { count, pairs } = alikeIds(["1", "01", "001", "2", "02", "3", "03", "4"]);
    expect(count).toBe(4);
    expect(pairs).toEqual([
      ["1", "01"],
      ["1", "001"],
      ["2", "02"],
    ]);
  });

  it("shows what is not seen by its number", () => {
    const [, received] = alikeWords(alikeIds(["a\u200b", "a", "P\u00e4", "p\u00e4"]));
    expect(received).toContain('"a\\u200b" and "a", "P\u00e4" and "p\u00e4"');
  });

  it("are a warning with count, line and column, and stay individuals of their own", () => {
    const read = readCohort("id,time,value\np1,0,1\np1,1,2\nP1,0,1\n02,0,3\n2,1,4\n");
    expect(read.cohort.ids).toHaveLength(4);
    expect(read.warnings).toMatchObject([{ code: "alike-ids", count: 2, where: { column: "id", columnNumber: 1 } }]);
    expect([4, 5, 6]).toContain(read.warnings[0].where.line);
    expect(read.warnings[0].received).toMatch(/^2 ids like another/);
    expect(inspectCohort(read).warnings).toEqual(read.warnings);
    expect(readCohort("id,time,value\np1,0,1\np1,1,2\np2,0,1\n").warnings).toEqual([]);
  });

  it("are told of several markers once, and of a wide table", () => {
    const options = { markers: [{ column: "a" }, { column: "b" }] };
    const { warnings } = readCohort("id,time,a,b\np1,0,1,\nP1,0,,2\np2,1,3,4\np2,2,3,5\n", options);
    expect(warnings).toMatchObject([{ code: "alike-ids", count: 1 }]);
    const wide = readCohort("id,v_0,v_1\np1,1,2\nP1,3,5\n", { wide: "v_*" });
    expect(wide.warnings).toMatchObject([{ code: "alike-ids", count: 1, where: { column: "id" } }]);
  });
});
