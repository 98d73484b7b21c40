/** Results belong to the data and to each other, or are made anew: what was stored is not told of another table or other groups. */
import { existsSync, statSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { run, smallCohort, workplace } from "../test/harness.ts";

const here = workplace();
afterAll(here.clear);
const RUN = here.at("run");
const { visits, subjects } = smallCohort(60);
const TABLE = here.file("visits.csv", visits);
const SUBJECTS = here.file("subjects.csv", subjects);
/** The same people with outcome and follow-up of others. */
const [head = "", ...rows] = subjects.trim().split("\n");
const turned = rows.map((row, i) =>
  [row.split(",")[0], ...(rows[(i + 7) % rows.length] ?? "").split(",").slice(1)].join(),
);
const OTHERS = here.file("others.csv", `${[head, ...turned].join("\n")}\n`);
const COLUMNS = ["--id", "patient", "--time", "years", "--value", "fvc"];
const EVENT = ["--outcomes", "severe", "--event", "died:months", "--landmark", "1", "--draws", "99"];
const quick = ["-q", "-j", "1"];
const json = async (...argv: string[]) => {
  const { code, out, talk } = await run(...argv, "--json", "-j", "1");
  expect([code, talk]).toEqual([0, expect.anything()]);
  return { ...(JSON.parse(out) as { computed: string[]; reused: string[] }), talk };
};

beforeAll(async () => {
  expect((await run("fit", TABLE, ...COLUMNS, "--model", "lmm", "-o", RUN, ...quick)).code).toBe(0);
  expect((await run("associate", RUN, SUBJECTS, ...EVENT, ...quick)).code).toBe(0);
});

describe("a report", () => {
  const report = (table: string, ...more: string[]) =>
    json(
      "report",
      RUN,
      "--subjects",
      table,
      "--no-compare",
      "--stability",
      "0",
      "-o",
      here.at("page.html"),
      "--force",
      ...more,
    );

  it("uses what the run holds of the same people", async () => {
    expect(await report(SUBJECTS)).toMatchObject({ computed: ["groups"], reused: ["association", "survival"] });
  });

  it("tests anew with another table of individuals, and does not tell survival of the first", async () => {
    const { computed, reused, talk } = await report(OTHERS, "--outcomes", "severe");
    expect([computed, reused]).toEqual([["groups", "association"], []]);
    expect(talk).toContain("it is left out. Name the event: --event died:months.");
    expect(here.text("page.html")).not.toContain("Time to died");
  });

  it("tests anew with other draws or another seed, if they are asked for", async () => {
    expect((await report(SUBJECTS, "--draws", "199")).computed).toContain("association");
    expect((await report(SUBJECTS, "--seed", "2")).computed).toContain("association");
    expect((await report(SUBJECTS, "--draws", "99")).reused).toContain("association");
  });

  it("says what is wrong with the table before any work is done", async () => {
    for (const asked of [
      ["--subjects", here.at("none.csv")],
      ["--subjects", SUBJECTS, "--outcomes", "nothing"],
    ]) {
      const { code, talk } = await run("report", RUN, ...asked, "-o", here.at("none.html"), "-j", "1");
      expect([code > 0, talk]).toEqual([true, expect.not.stringContaining("Places under")]);
    }
  });

  it("takes no file of a run, no picture of others and no other kind of file for its own", async () => {
    const model = here.text("run", "model.json");
    expect((await run("report", RUN, "-o", here.at("run", "model.json"), "--force", ...quick)).code).toBe(2);
    expect(here.text("run", "model.json")).toBe(model);
    here.file("map.png", "mine");
    const into = ["--no-compare", "--stability", "0", "-o", here.at("other.html"), "--figures", here.at()];
    const { code, talk } = await run("report", RUN, ...into, "-j", "1");
    expect([code, talk]).toEqual([2, expect.stringContaining("already holds map.png")]);
    expect(here.text("map.png")).toBe("mine");
  });
});

describe("a table of results", () => {
  it("is not written over a file of a run, nor over what it is made from", async () => {
    const placements = here.at("run", "placements.csv");
    const own = await run("embed", RUN, TABLE, ...COLUMNS, "-o", placements, "--force", "-q");
    expect([own.code, own.talk]).toEqual([
      2,
      expect.stringContaining("expected a name that is not of a file of the run"),
    ]);
    const { code, talk } = await run("predict", RUN, TABLE, "--at", "1", "-o", TABLE, "--force", "-q");
    expect([code, talk]).toEqual([2, expect.stringContaining("which is read")]);
    expect(here.text("visits.csv")).toBe(visits);
  });
});

describe("other groups", () => {
  it("are used by associate, and asked for otherwise are refused", async () => {
    expect((await run("groups", RUN, "--groups", "2", "--stability", "0", ...quick)).code).toBe(0);
    expect((await run("associate", RUN, SUBJECTS, ...EVENT, "--force", ...quick)).code).toBe(0);
    const { survival } = JSON.parse(here.text("run", "associate.json"));
    expect(survival.groups.length + survival.emptyGroups.length).toBe(2);
    const { code, talk } = await run("report", RUN, "--groups", "3", "-o", here.at("three.html"), ...quick);
    expect([code, talk]).toEqual([2, expect.stringContaining("--groups: expected 2, as the run has, received 3")]);
  });

  it("take away what was told of the earlier ones, and leave what is told of none", async () => {
    const same = await run("groups", RUN, "--groups", "2", "--stability", "0", "--force", "-j", "1");
    expect([same.code, existsSync(here.at("run", "associate.json"))]).toEqual([0, true]);
    const { code, talk } = await run("groups", RUN, "--groups", "3", "--stability", "0", "--force", "-j", "1");
    expect([code, talk]).toEqual([0, expect.stringContaining("associate.json told of other groups and is removed")]);
    expect(existsSync(here.at("run", "associate.json"))).toBe(false);
    const { later, files } = JSON.parse(here.text("run", "run.json"));
    expect(later.map(({ name }: { name: string }) => name)).toEqual(["groups"]);
    expect(files.map(({ name }: { name: string }) => name)).not.toContain("associate.json");
    expect((await run("summary", RUN, "-q")).code).toBe(0);
    expect((await run("associate", RUN, SUBJECTS, "--outcomes", "severe", "--draws", "99", ...quick)).code).toBe(0);
    expect((await run("groups", RUN, "--groups", "2", "--stability", "0", "--force", ...quick)).code).toBe(0);
    expect(existsSync(here.at("run", "associate.json"))).toBe(true);
  });
});

describe("a study", () => {
  const folder = here.at("study");
  const typed = [
    "study",
    TABLE,
    SUBJECTS,
    ...COLUMNS,
    "--model",
    "lmm",
    "--without",
    "sensitivity,compare",
    "--stability",
    "0",
  ];
  const study = [...typed, "--groups", "2", "--outcomes", "severe", "--draws", "99", "-o", folder, ...quick];

  it("does again what rests on a result that was made anew, and tells digests of its tables to nobody", async () => {
    expect((await run(...study)).code).toBe(0);
    const results = here.text("study", "results.json");
    expect(JSON.parse(here.text("study", "run.json")).files).toContainEqual(
      expect.objectContaining({ name: "protocol.json", private: true }),
    );
    expect(here.text("study", "run.json")).not.toMatch(/"protocol.json",[^}]*sha256/);
    expect(statSync(here.at("study", "protocol.json")).mode & 0o077).toBe(0);
    // A comparison that was left out is not made by the report instead.
    expect(here.text("study", "protocol.json")).toMatch(/dtm report study [^"]*--no-compare/);
    expect(here.text("study", "report.html")).not.toContain("held-out");
    expect((await run("groups", folder, "--groups", "3", "--stability", "0", "--force", ...quick)).code).toBe(0);
    expect(JSON.parse(here.text("study", "study.json")).done).toEqual(["inspect", "fit"]);
    expect(existsSync(here.at("study", "results.json"))).toBe(false);
    const again = await run(...study.slice(0, -3), "-j", "1");
    expect([again.code, again.out]).toEqual([0, expect.not.stringContaining("groups: done before")]);
    expect(here.text("study", "results.json")).toBe(results);
  });
});
