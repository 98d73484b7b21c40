/** What `dtm fit` does besides fitting: plans, settings, events, stops, locks, refusals with their exit codes. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { LIBRARY_VERSION, loadModel } from "@trajectory-maps/core";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { run, smallCohort, workplace } from "../test/harness.ts";
import { lockFolder } from "./io/lock.ts";
import { createTalk } from "./print/talk.ts";

const here = workplace();
afterAll(here.clear);
afterEach(() => vi.unstubAllEnvs());

const small = smallCohort(40);
const VISITS = here.file("visits.csv", small.visits);
const SUBJECTS = here.file("subjects.csv", small.subjects);

describe("dtm --version", () => {
  it("is that of the library", async () => {
    expect((await run("--version")).out).toBe(`${LIBRARY_VERSION}\n`);
  });
});

describe("dtm fit --dry-run", () => {
  it("prints the plan and the guessed columns, and writes nothing", async () => {
    const { code, out, talk } = await run("fit", VISITS, "--dry-run", "-o", here.at("plan"), "--dim", "1");
    expect(code).toBe(0);
    expect(out).toContain('id = "patient", time = "years", value = "fvc"');
    expect(out).toContain("dtm, 1 dimension, scalar mean, auto noise, seed 1, schedule batch");
    expect(out).toContain("placements.csv   (private)");
    expect(talk).toContain('Column "patient" is taken as id.');
    expect(existsSync(here.at("plan"))).toBe(false);
    const plan = JSON.parse((await run("fit", VISITS, "--dry-run", "-o", here.at("plan"), "--json", "-q")).out);
    expect(plan).toMatchObject({ dryRun: true, individuals: 40, columns: { id: "patient" }, model: { kind: "dtm" } });
  });

  it("refuses what the fit would refuse", async () => {
    expect((await run("fit", here.file("bad.csv", "id,time,value\na,0,x\n"), "--dry-run")).code).toBe(3);
    expect((await run("fit", VISITS, "--dry-run", "--schedule", "paper")).code).toBe(2);
  });
});

describe("the courses that dtm fit prints", () => {
  it("have a dash where fewer than five similar individuals were followed that long", async () => {
    const folder = here.at("courses");
    const { code, out } = await run("fit", VISITS, "--restarts", "0", "-o", folder);
    expect(code).toBe(0);
    const [header = "", ...rows] = readFileSync(join(folder, "placements.csv"), "utf8").trim().split("\n");
    const columns = ["x1", "x2", "last_time"].map((name) => header.split(",").indexOf(name));
    const people = rows.map((row) => columns.map((c) => Number(row.split(",")[c])));
    const similar = (x: number, y: number, t: number) =>
      people.reduce((n, [u = 0, v = 0, last = 0]) => {
        return last >= t ? n + Math.exp(-0.5 * (((x - u) ** 2 + (y - v) ** 2) / 0.25)) : n;
      }, 0);
    const printed = out.slice(out.indexOf("at place")).split("\n");
    const times = (printed[0] ?? "").match(/\d[\d.]*/g)!.map(Number);
    let [dashes, values] = [0, 0];
    for (const row of printed.slice(1, 6)) {
      const [x = 0, y = 0] = row
        .match(/\((.*)\)/)![1]!
        .replaceAll("−", "-")
        .split(", ")
        .map(Number);
      const cells = row
        .slice(row.indexOf(")") + 1)
        .trim()
        .split(/\s+/);
      expect(cells).toHaveLength(times.length);
      cells.forEach((cell, k) => {
        expect(cell === "–", `${row} at ${times[k]}`).toBe(similar(x, y, times[k]!) < 5);
        if (cell === "–") dashes++;
        else values++;
      });
    }
    expect(dashes).toBeGreaterThan(0);
    expect(values).toBeGreaterThan(0);
    expect(out).toContain("–: fewer than 5 similar individuals were followed that long");
  });
});

describe("dtm fit --noise level", () => {
  it("gives everybody's noise ratio with the places, in the run and by embed, and compares like with like", async () => {
    const folder = here.at("levels");
    const fitted = await run("fit", VISITS, "--noise", "level", "--restarts", "0", "-o", folder, "--json");
    expect(fitted.code).toBe(0);
    expect(JSON.parse(fitted.out)).toMatchObject({ run: { options: { noise: "level" } } });
    const [header, first] = readFileSync(join(folder, "placements.csv"), "utf8").split("\n");
    expect(header).toMatch(/,last_time,noise_ratio,noise_ratio_lower,noise_ratio_upper$/);
    const [ratio, lower, upper] = (first ?? "").split(",").slice(-3).map(Number);
    expect(lower).toBeLessThan(ratio ?? 0);
    expect(upper).toBeGreaterThan(ratio ?? 0);
    const placed = await run("embed", folder, VISITS, "--json");
    const { placements } = JSON.parse(placed.out) as { placements: { noise_ratio: number }[] };
    expect(placements.every(({ noise_ratio }) => noise_ratio > 0)).toBe(true);
    const compared = await run("compare", folder, "--models", "lmm", "--folds", "2", "--json");
    expect(JSON.parse(compared.out)).toMatchObject({ noise: "level" });
  });

  it("has an approximate log-likelihood beside values below a limit, and says so", async () => {
    const [header = "", ...rows] = small.visits.trim().split("\n");
    const at = header.split(",").indexOf("fvc");
    const cells = rows.map((row) => row.split(","));
    const limit = cells.map((row) => Number(row[at])).sort((a, b) => a - b)[Math.floor(cells.length / 10)] ?? 0;
    const hidden = cells.map((row) =>
      row.map((cell, c) => (c === at && Number(cell) < limit ? `<${limit}` : cell)).join(","),
    );
    const visits = here.file("limits.csv", `${[header, ...hidden].join("\n")}\n`);
    const told = async (noise: string) =>
      (await run("fit", visits, "--noise", noise, "--restarts", "0", "-o", here.at(`limits-${noise}`))).out;
    for (const noise of ["level", "white"]) {
      const out = await told(noise);
      expect(out).toMatch(/linear mixed model.* log-likelihood, approximate /);
      expect(out).toMatch(/trajectory map.* bound, approximate /);
    }
  });

  it.each(["level", "level+serial"])("is understood by every command that reads a run: %s", async (noise) => {
    const folder = here.at(`run-${noise}`);
    const fitted = await run("fit", VISITS, "--noise", noise, "--restarts", "0", "-o", folder);
    expect(fitted.code).toBe(0);
    expect(fitted.out).toMatch(/Noise +noise variance [\d.]+ in the middle/);
    if (noise === "level+serial")
      expect(fitted.out.replace(/\s+/g, " ")).toMatch(/correlating by .* Serial correlation as asked for/);
    for (const argv of [
      ["predict", folder, VISITS, "--at", "0:10:5"],
      ["groups", folder, "--groups", "2", "--stability", "2"],
      ["associate", folder, SUBJECTS, "--outcomes", "severe", "--draws", "199"],
      ["calibrate", folder, "--folds", "2"],
      ["simulate", folder, "-o", here.at(`simulated-${noise}`)],
      ["report", folder, "--no-compare", "-o", here.at(`report-${noise}.html`)],
    ]) {
      const { code, talk } = await run(...argv);
      expect(code, `${argv.join(" ")}: ${talk}`).toBe(0);
    }
    expect(readFileSync(here.at(`report-${noise}.html`), "utf8")).toContain("noise sd varying by a factor");
  });

  it("is chosen by the data if left out, and the run says so", async () => {
    const folder = here.at("auto");
    expect((await run("fit", VISITS, "--restarts", "0", "-o", folder)).code).toBe(0);
    const { noise } = loadModel(readFileSync(join(folder, "model.json"), "utf8")).markers[0]!;
    expect(noise.reason).toMatch(/^(Levels of noise|The same noise for all): levels gain .* ½ log N/);
  });

  it("is refused for the map as published", async () => {
    const { code, talk } = await run("fit", VISITS, "--noise", "level", "--model", "dtm-paper", "-o", here.at("paper"));
    expect(code).toBe(2);
    expect(talk).toContain("white noise");
  });
});

describe("dtm config show", () => {
  it("gives every option with its origin: flag before environment before file before default", async () => {
    const file = here.file("study.yaml", "transform: log\ntime-unit: months\nunit: mg/dl\noutcomes: [a, b]\n");
    vi.stubEnv("DTM_TIME_UNIT", "years");
    vi.stubEnv("DTM_UNIT", "g/l");
    const argv = ["config", "show", "fit", "visits.csv", "--config", file, "--unit", "percent"];
    const { code, out } = await run(...argv, "--json");
    expect(code).toBe(0);
    const { settings } = JSON.parse(out) as { settings: { name: string; value: unknown; origin: string }[] };
    const of = (name: string) => settings.find((setting) => setting.name === name);
    expect(of("--unit")).toMatchObject({ value: "percent", origin: "flag" });
    expect(of("--time-unit")).toMatchObject({ value: "years", origin: "environment" });
    expect(of("--transform")).toMatchObject({ value: "log", origin: "file" });
    expect(of("--dim")).toMatchObject({ value: "2", origin: "default" });
    expect(of("--schedule")).toMatchObject({ value: null, origin: "none" });
    expect(of("--no-visits")).toMatchObject({ value: false, origin: "default" });
    const kept = JSON.parse((await run(...argv, "--no-visits", "--json")).out) as { settings: unknown[] };
    expect(kept.settings).toContainEqual({ name: "--no-visits", value: true, origin: "flag" });
    const text = (await run(...argv)).out;
    expect(text).toMatch(/--time-unit +years +DTM_TIME_UNIT/);
    expect(text).toMatch(/--transform +log +.*study\.yaml/);
  });

  it("refuses names that no command knows", async () => {
    const { code, talk } = await run("config", "show", "fit", "--config", here.file("odd.yaml", "colour: red\n"));
    expect(code).toBe(2);
    expect(talk).toContain("colour");
  });
});

describe("--progress json", () => {
  it("makes all talk events, one JSON object a line", async () => {
    const argv = ["fit", VISITS, "--model", "fpca", "-o", here.at("events")];
    const { code, talk } = await run(...argv, "--progress", "json");
    expect(code).toBe(0);
    const events = talk.trimEnd().split("\n");
    const parsed = events.map((line) => JSON.parse(line) as { event: string; title?: string });
    expect(parsed.filter(({ event }) => event === "start").map(({ title }) => title)).toContain("Linear models");
    const kinds = new Set(parsed.map(({ event }) => event));
    expect([...kinds].sort()).toEqual(["end", "note", "progress", "start"]);
    const refused = await run(...argv, "--progress", "json");
    expect(refused.code).toBe(2);
    expect(JSON.parse(refused.talk)).toMatchObject({ event: "error" });
  });

  it("writes progress with numbers, and null for those that are not finite", () => {
    const lines: string[] = [];
    const talk = createTalk({ quiet: false, form: "json", stream: { write: (text) => lines.push(text) } });
    talk.during("work", (tell) => tell({ stage: "s", iteration: 2, maxIterations: 5, value: Number.NaN }));
    expect(JSON.parse(lines[1] ?? "")).toEqual({
      event: "progress",
      title: "work",
      stage: "s",
      iteration: 2,
      maxIterations: 5,
      value: null,
    });
  });
});

describe("a stop after the model is fitted", () => {
  /** Sends a signal to this process when a line of talk says so. */
  async function stoppedAt(line: string, ...argv: string[]) {
    let sent = false;
    const listener = (text: string) => {
      if (sent || !text.includes(line)) return;
      sent = true;
      process.emit("SIGINT", "SIGINT");
    };
    const finished = run(...argv, "--progress", "json");
    // The harness listens by now; this looks at each line before it does.
    const spy = vi.mocked(process.stderr.write);
    const inner = spy.getMockImplementation();
    spy.mockImplementation((text) => {
      listener(String(text));
      return inner?.(text) ?? true;
    });
    return await finished;
  }

  it("keeps the model, exits with 130, and is finished by --resume with the same files", async () => {
    const whole = here.at("whole");
    expect((await run("fit", VISITS, "--model", "fpca", "-o", whole, "-q")).code).toBe(0);
    const out = here.at("half");
    const stopped = await stoppedAt('"start","title":"Linear models"', "fit", VISITS, "--model", "fpca", "-o", out);
    expect(stopped.code).toBe(130);
    expect(stopped.talk).toContain(`the model is kept. Resume with: dtm fit --resume ${out}`);
    expect(readdirSync(out)).toEqual(["unfinished"]);
    expect(readdirSync(join(out, "unfinished")).sort()).toEqual(["checkpoint.json", "visits.csv"]);
    const anew = await run("fit", VISITS, "--model", "fpca", "-o", out);
    expect([anew.code, anew.talk]).toEqual([2, expect.stringContaining(`Finish it with dtm fit --resume ${out}`)]);
    const other = await run("fit", "--resume", out, "--model", "lmm", "--seed", "1", "--id", "x");
    expect(other.code).toBe(2);
    expect(other.talk).toContain("received --id, --model, --seed. Leave them out");
    expect((await run("fit", VISITS, "--resume", out, "--delimiter", "tab")).code).toBe(3);
    expect((await run("fit", "--resume", out, "--delimiter", "tab")).code).toBe(2);
    expect((await run("fit", "--resume", out, "-q")).code).toBe(0);
    for (const name of ["model.json", "baselines/lmm.json", "placements.csv", "trace.csv", "visits.csv"]) {
      expect(here.text("half", name)).toBe(here.text("whole", name));
    }
    expect(existsSync(join(out, "unfinished"))).toBe(false);
  });
});

describe("a map with more dimensions than the data vary in", () => {
  it("is warned of, by the axes that are not used", async () => {
    const rows = Array.from({ length: 240 }, (_, k) => {
      const [i, t] = [Math.floor(k / 6), k % 6];
      return `p${i},${t},${70 + 8 * Math.sin(7 * i) + Math.sin(131 * k)}`;
    });
    const path = here.file("one.csv", `id,time,value\n${rows.join("\n")}\n`);
    const { code, talk } = await run("fit", path, "--model", "fpca", "-o", here.at("one"));
    expect(code).toBe(0);
    expect(talk).toContain("x2 hardly changes the course. --dim 1");
    expect(JSON.parse(here.text("one", "run.json")).warnings.join()).toContain("x2 hardly changes");
    const used = await run("fit", path, "--model", "fpca", "--dim", "1", "-o", here.at("one1"));
    expect(used.talk).not.toContain("hardly");
  });
});

describe("rows left out", () => {
  it("are counted in run.json and in the record of every model", async () => {
    const lines = readFileSync(VISITS, "utf8").trimEnd().split("\n");
    const path = here.file("gaps.csv", [...lines, "p1,1,<LOD", "p1,2,NA", "p2,3,high"].join("\n"));
    const argv = ["fit", path, "--model", "lmm", "-o", here.at("gaps"), "-q"];
    expect((await run(...argv)).code).toBe(3);
    expect((await run(...argv, "--leave-out-bad")).code).toBe(0);
    const note = `3 of ${lines.length + 2} rows were left out (censored-value 1, not-a-number 1, missing-value 1).`;
    for (const name of ["model.json", "baselines/fpca.json"]) {
      expect(loadModel(here.text("gaps", name)).record.warnings).toContain(note);
    }
    expect(JSON.parse(here.text("gaps", "run.json"))).toMatchObject({ rowsLeftOut: 3, warnings: [note] });
  });
});

describe("dtm fit refuses", () => {
  it("a folder that another process writes to, and takes over the lock of one that is gone", async () => {
    const out = here.at("busy");
    const unlock = lockFolder(out);
    const lock = join(out, readdirSync(out)[0] ?? "");
    writeFileSync(lock, JSON.stringify({ process: process.ppid, since: "2020-01-31T00:00:00Z" }));
    const argv = ["fit", VISITS, "--model", "fpca", "-o", out, "-q"];
    const { code, talk } = await run(...argv);
    expect(code).toBe(4);
    expect(talk).toContain(`in use by process ${process.ppid} since 2020-01-31`);
    for (const command of ["groups", "compare", "calibrate", "sensitivity", "report"]) {
      expect((await run(command, out)).talk).toContain("in use by process");
    }
    expect(readdirSync(out)).toEqual([basename(lock)]);
    writeFileSync(lock, JSON.stringify({ process: process.ppid, host: "another-machine", since: "" }));
    expect((await run(...argv)).talk).toContain(
      `on another-machine (in-use). Wait for it, or name another folder, or remove ${lock}`,
    );
    // Numbers of processes are given out again: the one that began at another time is another one.
    writeFileSync(lock, JSON.stringify({ process: process.ppid, began: "1", since: "" }));
    if (process.platform === "linux") lockFolder(out)();
    writeFileSync(lock, JSON.stringify({ process: 2 ** 30, since: "" }));
    expect((await run(...argv)).code).toBe(0);
    expect(existsSync(lock)).toBe(false);
    unlock();
  });

  it("cells that are not finite as bad data, not as a numerical failure", async () => {
    const { code } = await run("inspect", here.file("inf.csv", "id,time,value\na,0,1e400\n"));
    expect(code).toBe(3);
  });
});

describe("a model applied to visits", () => {
  it("is refused for a column of another marker or another unit, with both names", async () => {
    const PBC = fileURLToPath(new URL("../../../examples/pbc/visits.csv", import.meta.url));
    const argv = ["fit", PBC, "--value", "bili", "--unit", "mg/dl", "--model", "fpca", "-o", here.at("pbc"), "-q"];
    expect((await run(...argv)).code).toBe(0);
    const other = here.file("other.csv", "id,time,albumin\na,0,3\na,1,4\n");
    const refused = await run("embed", here.at("pbc"), other);
    expect(refused.code).toBe(3);
    expect(refused.talk).toMatch(/"bili".*"albumin"/);
    expect((await run("embed", here.at("pbc"), other, "--value", "albumin", "-q")).code).toBe(0);
    expect((await run("embed", here.at("pbc"), here.file("v.csv", "id,time,value\na,0,3\n"), "-q")).code).toBe(0);
    const broken = await run("embed", here.file("broken.json", here.text("pbc", "model.json").replace("0", "1")), PBC);
    expect(broken.code).toBe(3);
    expect(broken.talk).toMatch(/broken\.json: expected .* \[[a-z-]+\]\n$/);
    const unit = await run("embed", here.at("pbc"), PBC, "--unit", "umol/l");
    expect(unit.code).toBe(3);
    expect(unit.talk).toMatch(/"mg\/dl".*"umol\/l"/);
  });
});
