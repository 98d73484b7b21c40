/** A run is one: a fit that is stopped or fails leaves the run that is there as it is, and files that do not belong together are refused. */
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { contents, withFault } from "../test/faults.ts";
import { run, smallCohort, workplace } from "../test/harness.ts";

const here = workplace();
afterAll(here.clear);
const columns = ["--id", "patient", "--time", "years", "--value", "fvc"];
const VISITS = here.file("visits.csv", smallCohort(40).visits);
const OTHER = here.file("other.csv", smallCohort(30, 8).visits);
const RUN = here.at("run");
const fit = (visits: string, ...more: string[]) => fitInto(RUN, visits, ...more);
const fitInto = (folder: string, visits: string, ...more: string[]) =>
  run("fit", visits, ...columns, "-o", folder, ...more);

beforeAll(async () => {
  expect((await fit(VISITS, "--model", "lmm", "-q")).code).toBe(0);
  expect((await run("groups", RUN, "--stability", "0", "-q")).code).toBe(0);
  expect((await run("report", RUN, "--no-compare", "-q")).code).toBe(0);
});

describe("a fit in place of another", () => {
  it("leaves the other one as it is when it is stopped, and takes its place when it is resumed", async () => {
    const before = contents(RUN);
    const listening = process.listenerCount("SIGINT");
    let sent = false;
    const timer = setInterval(() => {
      if (sent || process.listenerCount("SIGINT") <= listening) return;
      sent = true;
      process.emit("SIGINT", "SIGINT");
    }, 5);
    const stopped = await fit(OTHER, "--restarts", "0", "--force");
    clearInterval(timer);
    expect(stopped.code).toBe(130);
    const { "unfinished/checkpoint.json": state, "unfinished/visits.csv": visits, ...rest } = contents(RUN);
    expect([state !== undefined, visits !== undefined]).toEqual([true, true]);
    expect(rest).toEqual(before);
    // The model of the first fit with its own visits, and nothing of the second.
    expect((await run("summary", RUN)).code).toBe(0);
    const { code, talk } = await run("fit", "--resume", RUN);
    expect(code).toBe(0);
    expect(talk).toContain("are removed: groups.json, groups.csv, report.html");
    const { individuals } = JSON.parse(here.text("run", "run.json"));
    expect(individuals).toBe(30);
    expect(Object.keys(contents(RUN)).filter((name) => /unfinished|groups|report/.test(name))).toEqual([]);
    expect((await run("groups", RUN, "--stability", "0", "-q")).code).toBe(0);
  });

  it("leaves the other one as it is on a full disk, and says so", async () => {
    const before = contents(RUN);
    // The disk is full when the last file is written, and when the files are about to be put in their places.
    const again = (folder: string) => fitInto(folder, VISITS, "--model", "lmm", "--force", "-q");
    cpSync(RUN, here.at("rehearsed"), { recursive: true });
    const { calls } = await withFault(undefined, () => again(here.at("rehearsed")));
    const ready = calls.lastIndexOf("chmodSync");
    for (const at of [calls.lastIndexOf("fsyncSync", ready), ready]) {
      const { result } = await withFault({ kind: "full disk", at }, () => again(RUN));
      expect(result?.code).toBe(4);
      expect(result?.talk).toContain("the disk is full");
      expect(result?.talk).toContain("Existing files were not changed");
      expect(contents(RUN)).toEqual(before);
    }
  });

  it("keeps its state now and then, and warns where it cannot", async () => {
    const folder = here.at("kept");
    // Every step is time enough.
    const argv = ["fit", VISITS, ...columns, "-o", folder, "--checkpoint", "0.001", "--restarts", "0"];
    const { result, calls } = await withFault(undefined, () => run(...argv, "-q"));
    expect(result?.code).toBe(0);
    const plain = await run("fit", VISITS, ...columns, "-o", here.at("plain"), "--restarts", "0", "-q");
    expect(plain.code).toBe(0);
    expect(here.text("kept", "model.json")).toBe(here.text("plain", "model.json"));
    expect(existsSync(join(folder, "unfinished"))).toBe(false);
    const killed = await withFault({ kind: "kill", at: Math.floor(calls.length / 2) }, () =>
      run(...argv, "--force", "-q"),
    );
    expect(killed.result?.code).not.toBe(0);
    const { code } = await run("fit", "--resume", folder, "-q");
    expect(code).toBe(0);
    expect(here.text("kept", "model.json")).toBe(here.text("plain", "model.json"));
  });
});

describe("files that do not belong together", () => {
  const commands = [
    ["summary"],
    ["groups", "--force"],
    ["report", "--no-compare", "--force"],
    ["compare", "--force", "--folds", "2", "--models", "lmm"],
  ];

  it("are noticed by every command, with the file and what to do", async () => {
    const visits = join(RUN, "visits.csv");
    const before = readFileSync(visits);
    appendFileSync(visits, "someone,1,70\n");
    for (const [name = "", ...more] of commands) {
      const { code, talk } = await run(name, RUN, ...more);
      expect([name, code, talk]).toEqual([
        name,
        4,
        expect.stringContaining(`${visits}: expected the file that was written`),
      ]);
      expect(talk).toContain("Put it back as it was, or fit again with --force");
    }
    writeFileSync(visits, before);
    expect((await run("summary", RUN)).code).toBe(0);
  });

  it("are noticed of every kind: a model, groups, places, the digests themselves", async () => {
    const ownColumns = ["--id", "id", "--time", "time", "--value", "value"];
    const asked: Record<string, readonly string[]> = {
      "model.json": ["predict", RUN, VISITS, ...columns, "--at", "1"],
      "baselines/lmm.json": ["summary", RUN],
      "groups.json": ["embed", RUN, VISITS, ...columns],
      "groups.csv": ["sensitivity", RUN, "--only", "tail", "--folds", "0", "--force"],
      "placements.csv": ["summary", RUN, "--visits", join(RUN, "visits.csv"), ...ownColumns],
      "trace.csv": ["groups", RUN, "--stability", "0", "--force"],
      "digests.json": ["summary", RUN],
    };
    for (const [name, argv] of Object.entries(asked)) {
      const path = join(RUN, name);
      const before = readFileSync(path);
      if (name === "digests.json") writeFileSync(path, before.toString().replace(/"record": "./, '"record": "x'));
      else appendFileSync(path, "\n");
      const { code, talk } = await run(...argv);
      expect([name, code, talk]).toEqual([name, 4, expect.stringContaining("changed or replaced since")]);
      writeFileSync(path, before);
      expect((await run(...argv, "-q")).code).toBe(0);
    }
    rmSync(join(RUN, "digests.json"));
    expect((await run("summary", RUN)).talk).toContain("digests.json: expected the file that was written");
  });

  it("are refused where no record holds them together; a model alone needs none", async () => {
    const [folder, alone] = [here.at("incomplete"), here.at("alone")];
    cpSync(RUN, folder, { recursive: true });
    rmSync(join(folder, "run.json"));
    mkdirSync(alone);
    cpSync(join(RUN, "model.json"), join(alone, "model.json"));
    const forecast = (model: string) => run("predict", model, VISITS, ...columns, "--at", "1", "-q");
    for (const asked of [await run("groups", folder), await run("summary", folder), await forecast(folder)]) {
      expect([asked.code, asked.talk]).toEqual([4, expect.stringContaining("run.json: expected the record")]);
      expect(asked.talk).toContain(`name ${join(folder, "model.json")}`);
    }
    expect((await run("groups", alone, "--visits", VISITS, ...columns)).code).toBe(4);
    for (const model of [join(folder, "model.json"), alone]) expect((await forecast(model)).code).toBe(0);
  });

  it("are noticed where a run keeps no visits, by one value", async () => {
    const folder = here.at("bare");
    const bare = ["fit", VISITS, ...columns, "-o", folder, "--model", "lmm", "--no-visits", "-q"];
    expect((await run(...bare)).code).toBe(0);
    const rows = readFileSync(VISITS, "utf8").trimEnd().split("\n");
    const changed = rows.map((row, k) => (k === 3 ? row.replace(/[^,]+$/, (value) => String(Number(value) + 1)) : row));
    const other = here.file("changed.csv", `${changed.join("\n")}\n`);
    const groups = ["groups", folder, "--stability", "0", ...columns, "--visits"];
    expect((await run(...groups, VISITS)).code).toBe(0);
    const { code, talk } = await run(...groups, other, "--force");
    expect([code, talk]).toEqual([2, expect.stringContaining("received other times or values")]);
  });
});

describe("tables of a change that was killed while its files were put in their places", () => {
  it("are read as the change has them, all of them", async () => {
    const folder = here.at("simulated");
    const simulate = (seed: number) =>
      run("simulate", "pfvc", "--individuals", "20", "--seed", `${seed}`, "-o", folder, "--force", "-q");
    expect((await simulate(2)).code).toBe(0);
    const after = contents(folder);
    let numUnsettled = 0;
    for (let at = 0; numUnsettled === 0; at++) {
      expect((await simulate(1)).code).toBe(0);
      const { calls } = await withFault({ kind: "kill", at }, () => simulate(2));
      expect(calls.length).toBeGreaterThan(at);
      if (!existsSync(join(folder, ".dtm-commit"))) continue;
      numUnsettled++;
      expect(contents(folder)).not.toEqual(after);
      expect((await run("inspect", join(folder, "visits.csv"))).code).toBe(0);
      expect(contents(folder)).toEqual(after);
    }
  });
});
