import { cpSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { run, smallCohort, workplace } from "../../test/harness.ts";
import { groupsContract } from "../contract-fit.ts";
import { loadServed } from "../serve/models.ts";

const here = workplace();
afterAll(here.clear);
const RUN = here.at("run");

beforeAll(async () => {
  const visits = here.file("visits.csv", smallCohort(90).visits);
  const columns = ["--id", "patient", "--time", "years", "--value", "fvc", "--time-unit", "years"];
  const { code } = await run("fit", visits, ...columns, "--model", "fpca", "-o", RUN, "-q");
  expect(code).toBe(0);
});

describe("dtm groups", () => {
  it("writes soft membership of Gaussians for every individual, shares that sum to one", async () => {
    const argv = ["groups", RUN, "--method", "mixture", "--groups", "3", "--stability", "2"];
    const { code, out } = await run(...argv, "--force", "--json", "-q");
    expect(code).toBe(0);
    const json: unknown = JSON.parse(out);
    expect(groupsContract.safeParse(json).error?.issues ?? []).toEqual([]);
    expect(json).toMatchObject({ method: "mixture", numGroups: 3, choice: null });
    const [header, ...rows] = here
      .text("run", "groups.csv")
      .trimEnd()
      .split("\n")
      .map((line) => line.split(","));
    expect(header).toEqual(["id", "group", "probability_A", "probability_B", "probability_C"]);
    expect(rows).toHaveLength(90);
    for (const [, , ...shares] of rows) expect(shares.reduce((s, v) => s + Number(v), 0)).toBeCloseTo(1, 9);
  });

  it("says which method made them, and its evidence", async () => {
    const { out } = await run("groups", RUN, "--method", "mixture", "--stability", "0", "--force", "-q");
    expect(out).toMatch(/mixture of\s+Gaussians fitted to the\s+places/);
    expect(out).toMatch(/lowest BIC of 1 to \d/);
    expect(out).not.toContain("2-means");
    const ward = await run("groups", RUN, "--method", "ward", "--stability", "0", "--force", "-q");
    expect(ward.out).toContain("by Ward's method on the places");
  });

  it("gives the top of the tree, whose branches hold everybody clustered", async () => {
    const { out } = await run("groups", RUN, "--stability", "0", "--force", "--json", "-q");
    const json = groupsContract.parse(JSON.parse(out));
    const { leaves, merges, cut } = json.tree;
    expect(leaves.length).toBeLessThanOrEqual(30);
    expect(merges).toHaveLength(leaves.length - 1);
    expect(leaves.reduce((s, { size }) => s + size, 0)).toBe(json.clustered);
    expect(merges.filter(([, , height]) => height > cut)).toHaveLength(json.numGroups - 1);
    expect(json.choice?.courses?.evidence.length).toBeGreaterThan(0);
  });

  it("shows the components of the linear model after varimax, shares that sum to one", async () => {
    const { out } = await run("groups", RUN, "--stability", "0", "--force", "-q");
    expect(out).toMatch(/components of fpca after varimax: \d+% most at .* years; \d+% most at/);
    const { components } = groupsContract.parse(JSON.parse(here.text("run", "groups.json")));
    expect(components?.components.reduce((s, { share }) => s + share, 0)).toBeCloseTo(1, 9);
  });

  it("keeps the regions of the groups; a file of an earlier version, without them, is refused where they are needed", async () => {
    expect((await run("groups", RUN, "--groups", "2", "--stability", "0", "--force", "-q")).code).toBe(0);
    const { regions, ...earlier } = groupsContract.parse(JSON.parse(here.text("run", "groups.json")));
    expect(regions).toMatchObject({ numGroups: 2, dimension: 2 });
    const old = here.at("old");
    cpSync(RUN, old, { recursive: true });
    // Runs of earlier versions have no digests either.
    rmSync(join(old, "digests.json"));
    const record = JSON.parse(here.text("old", "run.json")) as { files: { name: string; sha256?: string }[] };
    const files = record.files.filter(({ name }) => name !== "digests.json").map(({ sha256: _, ...file }) => file);
    writeFileSync(join(old, "run.json"), JSON.stringify({ ...record, files }));
    writeFileSync(join(old, "groups.json"), JSON.stringify(earlier));
    const columns = ["--id", "id", "--time", "time", "--value", "value", "-q"];
    for (const argv of [
      ["embed", old, join(old, "visits.csv"), ...columns],
      ["calculator", old, "-o", here.at("page.html")],
    ]) {
      const { code, talk } = await run(...argv);
      expect(code).toBe(4);
      expect(talk.replace(/\s+/g, " ")).toMatch(/expected the regions of the groups, received a file of an earlier/);
      expect(talk.replace(/\s+/g, " ")).toMatch(/dtm groups .*old again with --force, or name .*model\.json to go/);
    }
    await expect(loadServed("old", old)).rejects.toThrow(/regions of the groups/);
    const alone = await run("embed", join(old, "model.json"), join(old, "visits.csv"), ...columns);
    expect(alone.code).toBe(0);
    expect(alone.out).not.toContain("probability_A");
    // What needs no regions reads it as before.
    expect((await run("summary", old, "-q")).out).toMatch(/[Gg]roups/);
  });

  it("refuses a method it does not know", async () => {
    const { code } = await run("groups", RUN, "--method", "kmeans", "--force", "-q");
    expect(code).toBe(2);
  });
});
