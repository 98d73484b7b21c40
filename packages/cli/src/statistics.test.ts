/** `dtm statistics` and `dtm fit --statistics`: the same model as from visits, shard by shard too. */
import { existsSync, mkdirSync, statSync } from "node:fs";
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { parquetWriteFile } from "hyparquet-writer";
import { afterAll, describe, expect, it } from "vitest";
import { run, smallCohort, workplace } from "../test/harness.ts";

const here = workplace();
afterAll(here.clear);

const { visits } = smallCohort(60);
const VISITS = here.file("visits.csv", visits);
const [header = "", ...rows] = visits.trim().split("\n");
const fitting = ["--restarts", "0", "-q"];

/** The fit of visits, to compare with. */
const WHOLE = here.at("whole");
const STATISTICS = here.at("statistics.parquet");
const fitted = (async () => {
  expect((await run("fit", VISITS, ...fitting, "-o", WHOLE)).code).toBe(0);
  expect((await run("statistics", VISITS, "-o", STATISTICS, "-q")).code).toBe(0);
})();

describe("dtm fit --statistics", () => {
  it("gives the model and the places of the visits, byte for byte", async () => {
    await fitted;
    const folder = here.at("from-statistics");
    const { code, out } = await run("fit", "--statistics", STATISTICS, ...fitting, "-o", folder);
    expect(code).toBe(0);
    expect(out).toContain("60 individuals");
    expect(here.text("from-statistics", "model.json")).toBe(here.text("whole", "model.json"));
    const places = (name: string) =>
      here
        .text(name, "placements.csv")
        .split("\n")
        .map((line) => line.split(",").slice(0, 7).join());
    expect(places("from-statistics")).toEqual(places("whole"));
    // Over an earlier run, nothing of which is left.
    const again = here.at("again");
    expect((await run("fit", VISITS, ...fitting, "-o", again)).code).toBe(0);
    expect((await run("fit", "--statistics", STATISTICS, ...fitting, "-o", again, "--force")).code).toBe(0);
    expect(existsSync(here.at("again/visits.csv"))).toBe(false);
    // What belongs to one person is for its owner alone.
    expect(statSync(STATISTICS).mode & 0o077).toBe(0);
  });

  it("are not fitted with three dimensions, and it is said what was received", async () => {
    await fitted;
    const { code, talk } = await run("fit", "--statistics", STATISTICS, "--dim", "3", "-o", here.at("three"));
    expect([code, talk]).toEqual([2, expect.stringContaining("one or two dimensions, received three dimensions")]);
  });

  it("says so where --like takes a column of another name for its marker", async () => {
    await fitted;
    const renamed = here.file("renamed.csv", visits.replace("fvc", "dlco"));
    const like = ["statistics", renamed, "--like", STATISTICS, "-o", here.at("renamed.parquet")];
    const refused = await run(...like);
    expect([refused.code, refused.talk]).toEqual([3, expect.stringContaining('expected a column of "fvc"')]);
    const { code, talk } = await run(...like, "--id", "patient", "--time", "years", "--value", "dlco");
    expect(code).toBe(0);
    expect(talk).toContain('Column "dlco" is taken as "fvc", the marker of the model or statistics.');
    const same = await run("statistics", VISITS, "--like", STATISTICS, "--value", "fvc", "-o", here.at("same.parquet"));
    expect(same.talk).not.toContain("is taken as");
    // What was found of the noise was found in another cohort.
    expect(same.out).toMatch(/: \w+ noise\. Taken from \S+\.parquet\./);
  });

  it("takes shards that were made apart, in the basis and noise of the first", async () => {
    await fitted;
    const ids = [...new Set(rows.map((row) => row.split(",")[0]))];
    const first = new Set(ids.filter((_, i) => i % 2 === 0));
    const parts = [true, false].map((own, k) =>
      here.file(
        `part-${k}.csv`,
        [header, ...rows.filter((row) => first.has(row.split(",")[0] ?? "") === own)].join("\n"),
      ),
    );
    const files = parts.map((_, k) => here.at(`part-${k}.parquet`));
    for (const [k, part] of parts.entries()) {
      expect((await run("statistics", part, "--like", STATISTICS, "-o", files[k]!, "-q")).code).toBe(0);
    }
    const { code, out } = await run("fit", "--statistics", files.join(), ...fitting, "-o", here.at("parts"), "--json");
    expect(code).toBe(0);
    expect(JSON.parse(out).run).toMatchObject({ individuals: 60, observations: rows.length });
    for (const name of ["model.json", "placements.csv"]) {
      const own = (text: string) => text.split("\n").map((line) => line.split(",").slice(0, 7).join());
      expect(own(here.text("parts", name))).toEqual(own(here.text("whole", name)));
    }
    // Twice the same people, and another plan, are refused.
    const twice = await run("fit", "--statistics", `${files[0]},${files[0]}`, ...fitting, "-o", here.at("twice"));
    expect(twice.code).toBe(4);
    expect(twice.talk).toMatch(/30 ids again/);
    const other = here.at("other.parquet");
    expect((await run("statistics", parts[1]!, "-o", other, "-q")).code).toBe(0);
    const mixed = await run("fit", "--statistics", `${files[0]},${other}`, ...fitting, "-o", here.at("mixed"));
    expect(mixed.code).toBe(4);
    expect(mixed.talk).toMatch(/--like/);
  });

  it("takes folders of engines, whose rows say their plan: shards in any order, each once, nothing stale", async () => {
    await fitted;
    const { visits: many } = smallCohort(600);
    const source = here.at("many.parquet");
    const alike = ["--like", STATISTICS, "-o", source, "-q"];
    expect((await run("statistics", here.file("many.csv", many), ...alike)).code).toBe(0);
    const file = await asyncBufferFromFile(source);
    const metadata = await parquetMetadataAsync(file);
    const plan = metadata.key_value_metadata?.find(({ key }) => key === "trajectory-maps")?.value ?? "";
    const shards = await parquetReadObjects({ file, metadata, utf8: false });
    expect(shards.length).toBe(3);
    /** A file as an engine writes it: columns that may be empty, the plan in every row, no metadata of ours. */
    const write = (name: string, own: readonly Record<string, unknown>[], ownPlan = plan) => {
      const types: Record<string, "INT32" | "STRING" | "BYTE_ARRAY"> = {
        ...{ shard: "INT32", individuals: "INT32", ids: "STRING", plan: "STRING" },
      };
      const columnData = [...Object.keys(shards[0]!), "plan"].map((column) => ({
        name: column,
        data: own.map((row) => (column === "plan" ? ownPlan : row[column])),
        type: types[column] ?? "BYTE_ARRAY",
      }));
      parquetWriteFile({ filename: here.at(name), columnData });
    };
    for (const folder of ["engine", "stale", "other", "none"]) mkdirSync(here.at(folder));
    const [a, b, c] = shards as [Record<string, unknown>, Record<string, unknown>, Record<string, unknown>];
    write("engine/part-0.parquet", [c, a]);
    write("engine/part-1.parquet", []);
    write("engine/part-2.parquet", [b, c]);
    const fitOf = async (from: string, to: string) =>
      run("fit", "--statistics", here.at(from), ...fitting, "-o", here.at(to));
    expect((await fitOf("engine", "from-engine")).code).toBe(0);
    expect((await fitOf("many.parquet", "from-file")).code).toBe(0);
    for (const name of ["model.json", "placements.csv"]) {
      expect(here.text("from-engine", name)).toBe(here.text("from-file", name));
    }
    expect(
      (await run("statistics", VISITS, "--like", here.at("engine"), "-o", here.at("like.parquet"), "-q")).code,
    ).toBe(0);
    // Jobs take such a folder alike: four rows, three shards.
    const jobs = await run(
      "shards",
      "plan",
      here.at("jobs"),
      "--statistics",
      here.at("engine"),
      "--shards",
      "2",
      "--json",
    );
    expect(JSON.parse(jobs.out)).toMatchObject({ shards: 2, rows: 3 });
    write("stale/part-0.parquet", [a, b]);
    write("stale/part-1.parquet", [{ ...b, sumSquares_1: new Uint8Array(b.sumSquares_1 as Uint8Array).reverse() }]);
    const stale = await fitOf("stale", "no");
    expect(stale.code).toBe(4);
    expect(stale.talk).toMatch(/shard 1 once.*earlier run/);
    write("other/part-0.parquet", [a]);
    write("other/part-1.parquet", [b], plan.replace(/"center":[^,]*/, '"center":1'));
    expect((await fitOf("other", "no")).talk).toMatch(/received others, perhaps of an earlier run/);
    write("none/part-0.parquet", []);
    expect((await fitOf("none", "no")).talk).toMatch(/expected shards of individuals, received none/);
  });

  it("refuses visits beside it, options of visits, and files that are something else", async () => {
    await fitted;
    const refused = async (...argv: string[]) => (await run("fit", "--statistics", ...argv, "-o", here.at("no"))).code;
    expect(await refused(STATISTICS, VISITS)).toBe(2);
    expect(await refused(STATISTICS, "--noise", "white")).toBe(2);
    expect(await refused(STATISTICS, "--model", "lmm")).toBe(2);
    expect(await refused(STATISTICS, "--transform", "log")).toBe(2);
    expect(await refused(STATISTICS, "--limits", "0,5")).toBe(2);
    expect(await refused(STATISTICS, "--time-unit", "months")).toBe(2);
    expect(await refused(STATISTICS, "--origin", "first")).toBe(2);
    expect(await refused(STATISTICS, "--covariates", "age")).toBe(2);
    expect(await refused(`${STATISTICS},`)).toBe(4);
    const alike = ["statistics", VISITS, "--like", STATISTICS, "-o", here.at("alike.parquet")];
    for (const more of [
      ["--transform", "log"],
      ["--limits", "0,5"],
      ["--time-unit", "months"],
      ["--marker", "x"],
    ]) {
      expect((await run(...alike, ...more)).code).toBe(2);
    }
    expect(await refused(here.at("missing.parquet"))).toBe(4);
    expect(await refused(VISITS)).toBe(4);
    const foreign = here.at("foreign.parquet");
    parquetWriteFile({ filename: foreign, columnData: [{ name: "id", data: ["a"], type: "STRING" }] });
    const { code, talk } = await run("fit", "--statistics", foreign, "-o", here.at("no"));
    expect(code).toBe(3);
    expect(talk).toMatch(/the plan that `dtm statistics` writes/);
  });
});
