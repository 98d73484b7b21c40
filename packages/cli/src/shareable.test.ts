/** Files that may be shared: what they tell, and who can read the others, on every path that writes them. */
import { statSync } from "node:fs";
import { afterAll, describe, expect, it } from "vitest";
import { expectNothingTold, LAST } from "../../../test/differences.ts";
import { run, smallCohort, workplace } from "../test/harness.ts";

const here = workplace();
afterAll(here.clear);
const columns = ["--id", "patient", "--time", "years", "--value", "fvc"];
const { visits } = smallCohort(60);
const [, ...rows] = visits.trim().split("\n");
const times = rows.map((row) => Number(row.split(",")[1]));
const first = here.file("first.csv", visits);
const second = here.file("second.csv", `${visits}${rows[0]?.split(",")[0]},${LAST.time},${LAST.value}\n`);
const mode = (...path: string[]) => (statSync(here.at(...path)).mode & 0o777).toString(8);

describe("model files of two fits that differ by one visit", () => {
  it.each(["lmm", "dtm"])("tell nothing of it: %s, and the models beside it", async (model) => {
    for (const [name, table] of [
      ["a", first],
      ["b", second],
    ] as const) {
      const quick = model === "dtm" ? ["--restarts", "0", "--dim", "1", "--tolerance", "0.1"] : [];
      const { code, talk } = await run(
        "fit",
        table,
        ...columns,
        "--model",
        model,
        ...quick,
        "-o",
        here.at(model, name),
        "-q",
      );
      expect([code, talk]).toEqual([0, expect.anything()]);
    }
    for (const file of model === "dtm" ? ["model.json", "baselines/lmm.json"] : ["model.json"]) {
      expectNothingTold(here.text(model, "a", file), here.text(model, "b", file), times);
    }
  });
});

describe("files with sizes of small groups", () => {
  it("are readable by their owner alone, on every path; what may be shared is readable", async () => {
    const folder = here.at("lmm", "a");
    const small = ["--groups", "4", "--stability", "0"];
    expect((await run("groups", folder, ...small, "-q")).code).toBe(0);
    for (const name of ["groups.json", "groups.csv", "placements.csv", "visits.csv"])
      expect([name, mode("lmm", "a", name)]).toEqual([name, "600"]);
    expect(mode("lmm", "a", "model.json")).not.toBe("600");
    for (const table of ["coefficients.csv", "coefficients.parquet"]) {
      const { out } = await run("coef", folder, "-o", here.at(table));
      expect([out, mode(table)]).toEqual([expect.not.stringContaining("(private)"), "644"]);
    }
    const report = (...more: string[]) => run("report", folder, "--no-compare", ...more, "-q");
    for (const [name, option] of [
      ["individuals", "--individuals"],
      ["own", "--own"],
      ["exact", "--small-cell=1"],
    ] as const) {
      const out = here.at(`${name}.html`);
      const { code, talk } = await report(option, "-o", out);
      expect([name, code, talk]).toEqual([name, 0, expect.anything()]);
      expect([name, mode(`${name}.html`)]).toEqual([name, "600"]);
    }
    const shared = await report("-o", here.at("shared.html"));
    expect(shared.code).toBe(0);
    expect(mode("shared.html")).toBe("644");
  });
});
