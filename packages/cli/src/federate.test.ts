/** `dtm federate` and `dtm shards`: several processes, one map, and what they refuse. */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { run, smallCohort, workplace } from "../test/harness.ts";

const BIN = fileURLToPath(new URL("../bin/dtm.mjs", import.meta.url));
const here = workplace();
const children = new Set<ChildProcess>();
afterAll(() => {
  for (const child of children) child.kill("SIGKILL");
  here.clear();
});

/** The built program in a process of its own; places wait for each other, which one process could not. */
function start(...argv: string[]) {
  const child = spawn(process.execPath, [BIN, ...argv, "-q"], { stdio: ["ignore", "pipe", "pipe"] });
  children.add(child);
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (bytes) => (said += String(bytes)));
  const ended = new Promise<{ code: number | null; said: string }>((resolve) => {
    child.on("close", (code) => {
      children.delete(child);
      resolve({ code, said });
    });
  });
  return { child, ended };
}

const SITES = ["a", "b", "c"] as const;
const MODEL = ["--dim", "1", "--restarts", "0", "--tolerance", "0.1"];
const WAIT = ["--wait", "600"];
const COHORT = { a: smallCohort(30, 3), b: smallCohort(24, 4), c: smallCohort(21, 5) };
const at = (site: string) => here.at(`${site}.parquet`);
const visitsOf = (site: (typeof SITES)[number]) => COHORT[site].visits.replace(/^P/gm, `${site}P`);

/** Statistics of three sites in the basis of the first, and an agreement. */
const begun = (async () => {
  for (const site of SITES) here.file(`${site}.csv`, visitsOf(site));
  const first = await run("statistics", here.at("a.csv"), "--noise", "white", "-o", at("a"), "-q");
  expect([first.code, first.talk]).toEqual([0, ""]);
  await init("agreed");
  for (const site of ["b", "c"]) {
    const like = ["--like", here.at("agreed", "agreement.json")];
    expect((await run("statistics", here.at(`${site}.csv`), ...like, "-o", at(site), "-q")).code).toBe(0);
  }
})();

/** `more` stands in place of what is usual. */
function init(folder: string, ...more: string[]) {
  const usual = ["--sites", SITES.join(), ...MODEL];
  const others = usual.filter((_, k) => !more.includes(usual[k - (k % 2)] ?? ""));
  return run("federate", "init", here.at(folder), "--like", at("a"), ...others, ...more);
}

/** One site in this process, which does what it can and ends. */
function round(folder: string, site: string, ...more: string[]) {
  const given = more.includes("--statistics") ? [] : ["--statistics", at(site)];
  return run(
    "federate",
    "round",
    here.at(folder),
    "--site",
    site,
    ...given,
    "-o",
    here.at(`${folder}-${site}`),
    ...more,
  );
}

const merge = (folder: string) => run("federate", "merge", here.at(folder));

describe("dtm federate", () => {
  it("ends at every site with the model of the pooled files, byte for byte", async () => {
    await begun;
    expect((await init("fit")).out).toMatch(/Budget +some 200 to 800 rounds/);
    const merging = start("federate", "merge", here.at("fit"), ...WAIT);
    const sites = SITES.map((site) =>
      start(
        ...["federate", "round", here.at("fit"), "--site", site, "--statistics", at(site), ...WAIT],
        ...["--allow-exposed", "-j", "1", "-o", here.at(`run-${site}`)],
      ),
    );
    for (const { ended } of [...sites, merging]) expect(await ended).toMatchObject({ code: 0 });
    const pooled = await run(
      "fit",
      "--statistics",
      SITES.map(at).join(),
      "--by-file",
      ...MODEL,
      "-o",
      here.at("pooled"),
      "-q",
    );
    expect(pooled.code).toBe(0);
    const model = here.text("pooled", "model.json");
    for (const site of SITES) expect(here.text(`run-${site}`, "model.json")).toBe(model);
    expect(here.text("fit", "model.json")).toBe(model);
    // Places are those of the site's own individuals, as the pooled fit has them.
    const rows = (name: string) => here.text(name, "placements.csv").trim().split("\n").slice(1);
    expect(SITES.flatMap((site) => rows(`run-${site}`)).sort()).toEqual(rows("pooled").sort());
    expect((await sites[1]!.ended).said).toMatch(/24 individuals.* of 75 individuals in\s+all/);
    expect((await sites[1]!.ended).said).toMatch(/in all +\d+ +[\d,]+/);
  });

  it("says what leaves, whom it waits for, and goes on from there", async () => {
    await begun;
    expect((await init("steps")).code).toBe(0);
    const preview = await round("steps", "b", "--preview");
    expect(preview.out).toMatch(/round 1 of b: individuals of each place\n +sums over 24 individuals, 48 bytes/);
    expect(readdirSync(here.at("steps"))).toEqual(["agreement.json"]);
    expect((await merge("steps")).out).toMatch(/Added +0 rounds\nWaits +for sums of round 1 of a, b, c/);
    expect((await round("steps", "b")).out).toMatch(/000001-b\.sums, the sums of round 1\nWaits/);
    expect((await merge("steps")).out).toMatch(/Waits +for sums of round 1 of a, c/);
    for (const site of ["a", "c"]) expect((await round("steps", site)).code).toBe(0);
    expect((await merge("steps")).out).toMatch(/Added +1 round\nWaits +for sums of round 2 of a, b, c/);
    const next = await round("steps", "c", "--json");
    expect(JSON.parse(next.out)).toMatchObject({ done: false, round: 2 });
    // The first line names what the numbers are, two for each sum.
    const bytes = readFileSync(here.at("steps", "sums", "000002-c.sums"));
    const end = bytes.indexOf("\n");
    const header = JSON.parse(bytes.subarray(0, end).toString());
    expect(header).toMatchObject({ format: "trajectory-maps-sums", round: 2, what: "visits", place: "c" });
    expect(bytes.length - end - 1).toBe(8 * header.numbers);
    expect(bytes.readDoubleLE(end + 1)).toBe(21);
  });

  it("refuses sites that do not take part as agreed", async () => {
    await begun;
    expect((await init("rules", "--least", "24")).code).toBe(0);
    const refused = async (site: string, ...more: string[]) => {
      const { code, talk } = await round("rules", site, ...more);
      expect(existsSync(here.at("rules", "sums"))).toBe(false);
      return `${code} ${talk}`;
    };
    expect(await refused("c")).toMatch(/^2 .*24 individuals or more, as agreed, received 21/);
    expect(await refused("d", "--statistics", at("a"))).toMatch(/^2 .*one of the places a, b, c, received d/);
    const other = here.at("other.parquet");
    expect((await run("statistics", here.at("b.csv"), "--noise", "white", "-o", other, "-q")).code).toBe(0);
    expect(await refused("b", "--statistics", other)).toMatch(
      /^4 .*basis, centre and noise that were agreed on.*--like/,
    );
    expect(await refused("b", "--statistics", here.at("missing.parquet"))).toMatch(/^4 /);
    const twice = await init("rules");
    expect([twice.code, twice.talk]).toEqual([2, expect.stringMatching(/already holds agreement\.json/)]);
    // Places of a random start are known to everybody.
    const restarts = await init("random", "--restarts", "2");
    expect([restarts.code, restarts.talk]).toEqual([2, expect.stringMatching(/0 or 1, received 2.*privacy/)]);
    expect((await init("random", "--restarts", "2", "--allow-exposed")).code).toBe(0);
    expect((await round("random", "a")).talk).toMatch(/--restarts: expected 0 or 1/);
    expect((await run("federate", "round", here.at("none"), "--site", "a", "--statistics", at("a"))).code).toBe(4);
    const three = ["--like", at("a"), "--sites", "a,b", "--dim", "3"];
    expect((await run("federate", "init", here.at("three"), ...three)).talk).toMatch(/expected 1 or 2/);
    for (const names of ["a,a", "a,A", "a,../b"]) {
      expect((await init("names", "--sites", names)).talk).toMatch(/different names/);
    }
    // An agreement that somebody changed on its way.
    const agreement = here.at("rules", "agreement.json");
    writeFileSync(
      agreement,
      readFileSync(agreement, "utf8").replace('"leastIndividuals": 24', '"leastIndividuals": 0'),
    );
    const rows = visitsOf("b").split("\n");
    const alone = rows.filter((row, k) => k === 0 || row.startsWith(`${rows[1]!.split(",")[0]},`));
    const one = here.file("one.csv", `${alone.join("\n")}\n`);
    expect((await run("statistics", one, "--like", agreement, "-o", at("one"), "-q")).code).toBe(0);
    expect(await refused("b", "--statistics", at("one"))).toMatch(/^2 .*2 individuals or more, received 1/);
  });

  it("refuses sums of other data, of another fit, and damaged ones", async () => {
    await begun;
    expect((await init("stale")).code).toBe(0);
    const own = here.at("stale", "sums", "000001-b.sums");
    for (const site of SITES) expect((await round("stale", site)).code).toBe(0);
    const good = readFileSync(own);
    // Other individuals, in the same basis.
    const fewer = here.file("fewer.csv", `${visitsOf("b").split("\nbP0021,")[0]}\n`);
    const like = ["--like", here.at("stale", "agreement.json")];
    expect((await run("statistics", fewer, ...like, "-o", at("fewer"), "-q")).code).toBe(0);
    const other = await round("stale", "b", "--statistics", at("fewer"));
    expect([other.code, other.talk]).toEqual([4, expect.stringMatching(/sums of these statistics, received others/)]);
    // One number changed, a file cut short, and one of another fit.
    const bitten = Uint8Array.from(good);
    bitten[good.length - 3]! ^= 1;
    for (const bytes of [bitten, good.subarray(0, good.length - 8), Buffer.from("x")]) {
      writeFileSync(own, bytes);
      const { code, talk } = await merge("stale");
      expect([code, talk]).toEqual([4, expect.stringMatching(/000001-b\.sums: expected a line of JSON.*damaged/)]);
    }
    expect((await init("another", "--least", "2")).code).toBe(0);
    expect((await round("another", "b")).code).toBe(0);
    writeFileSync(own, readFileSync(here.at("another", "sums", "000001-b.sums")));
    const mixed = await merge("stale");
    expect([mixed.code, mixed.talk]).toEqual([
      4,
      expect.stringMatching(/expected agreement \w+, received \w+\. It belongs/),
    ]);
    // What is no number would make all of the next rounds so.
    const numbers = Buffer.from(new Float64Array(6).fill(Number.NaN).buffer);
    const [line] = good.toString("latin1").split("\n", 1);
    const checksum = createHash("sha256").update(numbers).digest("hex").slice(0, 16);
    writeFileSync(own, Buffer.concat([Buffer.from(`${line!.replace(/\w+"}$/, `${checksum}"}`)}\n`), numbers]));
    expect((await merge("stale")).talk).toMatch(/000001-b\.sums: .*finite numbers/);
    writeFileSync(own, good);
    expect((await merge("stale")).out).toMatch(/Added +1 round/);
    // Nor with other data once the total is there.
    const later = await round("stale", "b", "--statistics", at("fewer"));
    expect([later.code, later.talk]).toEqual([4, expect.stringMatching(/sums of these statistics, received others/)]);
    expect(readdirSync(here.at("stale", "sums"))).toHaveLength(3);
    expect(existsSync(here.at("stale", "model.json"))).toBe(false);
    // And where its sums of the rounds before are gone, the one who adds finds out, started anew or not.
    rmSync(own);
    expect((await round("stale", "b", "--statistics", at("fewer"))).code).toBe(0);
    for (const site of ["a", "c"]) expect((await round("stale", site)).code).toBe(0);
    const changed = await merge("stale");
    expect([changed.code, changed.talk]).toEqual([
      4,
      expect.stringMatching(/sums.000002-b\.sums: expected sums of the statistics that the rounds before are of/),
    ]);
    rmSync(here.at("stale", "sums", "000002-b.sums"));
    expect((await round("stale", "b")).code).toBe(0);
    expect((await merge("stale")).out).toMatch(/Added +2 rounds/);
  });

  it("refuses to hand out sums at nodes that are of one individual", async () => {
    // Few individuals with many precise visits: each stands at a node of its own.
    const rows = Array.from({ length: 8 }, (_, i) =>
      Array.from({ length: 40 }, (_, j) => `p${i},${j / 8},${10 * i - j * i * 0.1 + 0.01 * ((7 * j) % 5)}`),
    );
    for (const site of ["x", "y"]) {
      const own = rows.flat().map((row) => `${site}${row}`);
      here.file(`${site}.csv`, ["id,time,value", ...own, ""].join("\n"));
    }
    const folder = here.at("few");
    expect((await run("statistics", here.at("x.csv"), "--noise", "white", "-o", at("x"), "-q")).code).toBe(0);
    const agreed = ["--like", at("x"), "--sites", "x,y", "--least", "5", "--residual", "none", ...MODEL];
    expect((await run("federate", "init", folder, ...agreed)).code).toBe(0);
    const like = ["--like", here.at("few", "agreement.json")];
    expect((await run("statistics", here.at("y.csv"), ...like, "-o", at("y"), "-q")).code).toBe(0);
    const site = (name: string, ...more: string[]) =>
      start(
        ...["federate", "round", folder, "--site", name, "--statistics", at(name), "-j", "1"],
        ...["-o", here.at(`few-${name}`), ...more],
      );
    const merging = start("federate", "merge", folder, ...WAIT);
    const allowed = site("x", ...WAIT, "--allow-exposed");
    const refused = await site("y", ...WAIT).ended;
    expect([refused.code, refused.said]).toEqual([2, expect.stringMatching(/nearly all is of one individual/)]);
    const preview = await site("y", "--preview").ended;
    expect(preview.said).toMatch(/of y: map\n +sums over 8 individuals/);
    expect(preview.said).toMatch(/at [1-9]\d* of \d+ nodes one individual/);
    expect(existsSync(here.at("few", "models", "x.json"))).toBe(false);
    expect((await site("y", ...WAIT, "--allow-exposed").ended).code).toBe(0);
    for (const { ended } of [allowed, merging]) expect((await ended).code).toBe(0);
  });
});

describe("options of several actions", () => {
  it.each([
    [["federate", "round", "f", "--site", "a", "--statistics", "a.parquet", "--dim", "1"], "--dim"],
    [["federate", "round", "f", "--site", "a", "--statistics", "a.parquet", "--seed", "5"], "--seed"],
    [["federate", "init", "f", "--like", "a.parquet", "--sites", "a,b", "--force"], "--force"],
    [["federate", "merge", "f", "--preview"], "--preview"],
    [["shards", "run", "f", "--shard", "0", "--statistics", "zzz"], "--statistics"],
    [["shards", "plan", "f", "--statistics", "zzz", "--wait", "5"], "--wait"],
  ])("are refused where the action does not read them: %j", async (argv, flag) => {
    await begun;
    const { code, talk } = await run(...(argv as string[]));
    expect([code, talk.replace(/\s+/g, " ")]).toEqual([
      2,
      expect.stringContaining(`${flag}: expected with dtm ${argv[0]} `),
    ]);
  });

  it("say in the help which action reads them", async () => {
    await begun;
    for (const command of ["federate", "shards"]) {
      const { out } = await run(command, "--help");
      const own = out.slice(out.indexOf("Options:"), out.indexOf("--json"));
      const options = own.match(/^ {2,6}(?:-\w, )?--\S+ .*$/gm) ?? [];
      expect(options.length).toBeGreaterThan(10);
      expect(options.filter((text) => !/--help | (init|round|merge|plan|run|reduce)(, \w+)?:/.test(text))).toEqual([]);
      expect(own.replace(/\s+/g, " ")).not.toMatch(/2 or 3|published map/);
    }
  });
});

describe("dtm shards", () => {
  it("gives the bytes of one process, whatever is killed and run twice", async () => {
    await begun;
    const statistics = ["--statistics", SITES.map(at).join()];
    const planned = await run("shards", "plan", here.at("jobs"), ...statistics, ...MODEL);
    expect(planned.out).toMatch(/3 jobs over 3 rows of 3 files/);
    const unnamed = await run("shards", "run", here.at("jobs"), "--wait", "0");
    expect([unnamed.code, unnamed.talk]).toEqual([2, expect.stringContaining("expected --shard, received none")]);
    const job = (k: number) => start("shards", "run", here.at("jobs"), "--shard", String(k), ...WAIT);
    const adding = () => start("shards", "reduce", here.at("jobs"), ...WAIT);
    const rounds = () => (existsSync(here.at("jobs", "totals")) ? readdirSync(here.at("jobs", "totals")).length : 0);
    const jobs = [0, 1, 2].map(job);
    const twin = job(2);
    let adder = adding();
    for (const [k, after] of [5, 25, 50].entries()) {
      await expect.poll(rounds, { interval: 5 }).toBeGreaterThan(after);
      jobs[k]!.child.kill("SIGKILL");
      adder.child.kill("SIGKILL");
      await Promise.all([jobs[k]!.ended, adder.ended]);
      jobs[k] = job(k);
      adder = adding();
    }
    for (const { ended } of [...jobs, twin, adder]) {
      const { code, said } = await ended;
      expect([code, said]).toEqual([0, said]);
    }
    const one = await run("fit", ...statistics, "--by-file", ...MODEL, "-o", here.at("one"), "-q");
    expect(one.code).toBe(0);
    expect(here.text("jobs", "model.json")).toBe(here.text("one", "model.json"));
    // The fit is done: what is started once more finds all totals, and changes nothing.
    rmSync(here.at("jobs", "model.json"));
    expect((await job(1).ended).code).toBe(0);
    expect((await adding().ended).code).toBe(0);
    expect(here.text("jobs", "model.json")).toBe(here.text("one", "model.json"));
    const outside = await run("shards", "run", here.at("jobs"), "--shard", "3");
    expect([outside.code, outside.talk]).toEqual([2, expect.stringMatching(/0 to 2, as planned, received 3/)]);
    const ofSites = await run("shards", "run", here.at("agreed"), "--shard", "0");
    expect([ofSites.code, ofSites.talk]).toEqual([2, expect.stringMatching(/expected a plan of jobs/)]);
    const twice = await run("shards", "plan", here.at("twice"), "--statistics", `${at("a")},${at("a")}`);
    expect([twice.code, twice.talk]).toEqual([4, expect.stringMatching(/a\.parquet: expected each file .* once/)]);
    const many = await run("shards", "plan", here.at("many"), ...statistics, "--shards", "4");
    expect([many.code, many.talk]).toEqual([2, expect.stringMatching(/at most 3/)]);
  });
});

describe("dtm shards plan", () => {
  it("is of statistics as they were, and of each individual once", async () => {
    await begun;
    const moved = here.at("moved.parquet");
    writeFileSync(moved, readFileSync(at("b")));
    const planned = await run("shards", "plan", here.at("planned"), "--statistics", `${at("a")},${moved}`, ...MODEL);
    expect(planned.code).toBe(0);
    expect(statSync(here.at("planned", "agreement.json")).mode & 0o077).toBe(0);
    writeFileSync(moved, readFileSync(at("c")));
    const other = await run("shards", "run", here.at("planned"), "--shard", "1", "--wait", "0");
    expect([other.code, other.talk]).toEqual([
      4,
      expect.stringMatching(/moved\.parquet: .*planned for, received others/),
    ]);
    expect((await run("shards", "run", here.at("planned"), "--shard", "0", "--wait", "0")).code).toBe(0);
    const twice = await run("shards", "plan", here.at("again"), "--statistics", `${at("c")},${moved}`, ...MODEL);
    expect([twice.code, twice.talk]).toEqual([
      4,
      expect.stringMatching(/every individual in one shard, received \d+ ids/),
    ]);
  });
});

describe("dtm fit --rounds", () => {
  const fit = ["fit", "--statistics", at("a"), ...MODEL];
  const asking = (name: string) => [...fit, "--by-file", "--rounds", here.at(name), "-o", here.at(`${name}-run`)];
  /** Answers the first question of a fit by this file. */
  const answered = async (name: string, file: string, bytes: string) => {
    const { ended } = start(...asking(name));
    await expect.poll(() => existsSync(here.at(name, "questions", "000001.json"))).toBe(true);
    writeFileSync(here.at(name, "totals", file), bytes);
    return ended;
  };

  it("asks for the passes of the map and refuses what is no answer to them", async () => {
    await begun;
    const numbers = Buffer.alloc(8);
    const checksum = createHash("sha256").update(numbers).digest("hex").slice(0, 16);
    const header = { format: "trajectory-maps-sums", agreement: "", before: "", round: 1, what: "map", place: "all" };
    const stale = JSON.stringify({ ...header, state: "0123456789abcdef", numbers: 1, checksum });
    const [other, failed] = await Promise.all([
      answered("asked-stale", "000001.sums", `${stale}\n${numbers.toString("latin1")}`),
      answered("asked-failed", "000001.failed", "No machine was left.\n"),
    ]);
    expect(other).toEqual({ code: 4, said: expect.stringMatching(/expected state .*received 0123456789abcdef/) });
    expect(failed).toEqual({ code: 4, said: expect.stringMatching(/No machine was left/) });
    const question = JSON.parse(here.text("asked-stale", "questions", "000001.json"));
    expect(question).toMatchObject({ format: "trajectory-maps-question", round: 1, work: "map" });
    expect(Object.keys(question.markers[0])).toEqual(["mean", "variance", "root", "roots"]);
    const again = await run(...asking("asked-stale"));
    expect([again.code, again.talk]).toEqual([2, expect.stringMatching(/--rounds: expected a new or empty folder/)]);
    const alone = await run(...fit, "--rounds", here.at("alone"), "-o", here.at("alone-run"));
    expect([alone.code, alone.talk]).toEqual([2, expect.stringMatching(/--rounds: expected with --by-file/)]);
  });
});
