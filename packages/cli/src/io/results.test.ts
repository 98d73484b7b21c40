import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { run, smallCohort, workplace } from "../../test/harness.ts";

const here = workplace();
afterAll(here.clear);
const VISITS = here.file("visits.csv", smallCohort(40).visits);
const columns = ["--id", "patient", "--time", "years", "--value", "fvc"];

describe("a result in a run that was edited by hand", () => {
  it("is refused with the field that is wrong, not an error of the program", async () => {
    const folder = here.at("edited");
    expect((await run("fit", VISITS, ...columns, "--model", "lmm", "-o", folder, "-q")).code).toBe(0);
    const record = JSON.parse(here.text("edited", "run.json"));
    const sabotage: readonly (readonly [string, string, RegExp])[] = [
      ["groups.json", "{}", /groups\.json: expected the file that was written with this run .*not of this run/],
      ["run.json", "[]", /run\.json: .* received something that is not of its form\. Fit again/],
      // The record of an earlier version has no digests.
      ["groups.json", "{}", /groups\.json: expected JSON written by this program, received method .*Remove it/],
      ["groups.json", '{"method"', /groups\.json: .* received another text\. Remove it/],
    ];
    for (const [name, text, message] of sabotage) {
      writeFileSync(join(folder, name), text);
      const { code, talk } = await run("report", folder, "--no-compare");
      expect(code).toBe(4);
      expect(talk.replace(/\s+/g, " ")).toMatch(message);
      rmSync(join(folder, name));
      if (name === "run.json") writeFileSync(join(folder, name), JSON.stringify({ ...record, files: [] }));
    }
  });
});
