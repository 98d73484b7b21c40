/**
 * npm run test:slow: every call by which a writing command changes files fails once as on a full disk, and is once the last one before a
 * kill. After each, the folder is the old one whole or the new one whole, the next command reads it, and the command given again ends as if
 * nothing had happened. EVERY=7 takes every seventh call alone, where time is short.
 */
import { cpSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { afterAll, beforeAll, expect, it } from "vitest";
import { contents, leftovers, withFault } from "../test/faults.ts";
import { run, smallCohort, workplace } from "../test/harness.ts";
import { checkBelongs } from "./io/belongs.ts";
import { settled } from "./io/lock.ts";
import { RUN_FILES } from "./io/run-folder.ts";

const here = workplace();
afterAll(here.clear);
const cohort = smallCohort(15);
const VISITS = here.file("visits.csv", cohort.visits);
const SUBJECTS = here.file("subjects.csv", cohort.subjects);
const OTHER = here.file("other.csv", smallCohort(12, 8).visits);
const columns = ["--id", "patient", "--time", "years", "--value", "fvc"];
const BASE = here.at("base");
const OUT = here.at("out");
const linear = ["--model", "lmm", "-q"];

/** Commands that write, each on a copy of a run (or on nothing), and the whole of what it makes of it. */
const COMMANDS: Record<
  string,
  {
    readonly argv: readonly string[];
    readonly onRun: boolean;
    readonly again?: readonly string[];
    readonly every?: number;
  }
> = {
  "fit anew": { argv: ["fit", VISITS, ...columns, "-o", OUT, ...linear], onRun: false, again: ["--force"] },
  "fit --force": { argv: ["fit", OTHER, ...columns, "-o", OUT, "--force", ...linear], onRun: true },
  groups: { argv: ["groups", OUT, "--stability", "0", "--force", "--groups", "2", "-q"], onRun: true },
  compare: {
    argv: ["compare", OUT, "--models", "constant,line", "--folds", "2", "--force", "-j", "1", "-q"],
    onRun: true,
  },
  associate: {
    argv: ["associate", OUT, SUBJECTS, "--outcomes", "severe", "--draws", "99", "--force", "-j", "1", "-q"],
    onRun: true,
  },
  sensitivity: {
    argv: ["sensitivity", OUT, "--only", "mean", "--folds", "0", "--force", "-j", "1", "-q"],
    onRun: true,
  },
  calibrate: { argv: ["calibrate", OUT, "--folds", "2", "-q"], onRun: true },
  report: { argv: ["report", OUT, "--no-compare", "--force", "-j", "1", "-q"], onRun: true },
  // Figures are many files that are written alike, and take long to draw.
  "report --figures": {
    argv: ["report", OUT, "--no-compare", "--figures", join(OUT, "figures"), "--force", "-j", "1", "-q"],
    onRun: true,
    every: 10,
  },
  simulate: { argv: ["simulate", "pfvc", "--individuals", "9", "-o", OUT, "--force", "-q"], onRun: false },
  "predict -o": {
    argv: ["predict", BASE, VISITS, ...columns, "--at", "1", "-o", join(OUT, "courses.csv"), "--force", "-q"],
    onRun: false,
  },
  "embed -o": {
    argv: ["embed", BASE, VISITS, ...columns, "-o", join(OUT, "places.parquet"), "--force", "-q"],
    onRun: false,
  },
};

/** Ends what hangs, on a machine with much else to do. */
const PATIENCE = 7_200_000;
const EVERY = Number(process.env.EVERY ?? "1");
/** How many faults there are to each after which the command is given again. */
const EACH = 4;
let numFaults = 0;
beforeAll(async () => {
  expect((await run("fit", VISITS, ...columns, "-o", BASE, ...linear)).code).toBe(0);
  expect((await run("groups", BASE, "--stability", "0", "-q")).code).toBe(0);
  expect((await run("associate", BASE, SUBJECTS, "--outcomes", "noise", "--draws", "99", "-q")).code).toBe(0);
});
afterAll(() => process.stdout.write(`${numFaults} faults injected\n`));

function fresh(onRun: boolean): void {
  rmSync(OUT, { recursive: true, force: true });
  if (onRun) cpSync(BASE, OUT, { recursive: true });
}

/** Every file of a run belongs to it. */
function checkWhole(folder: string): void {
  for (const { name } of RUN_FILES) checkBelongs(folder, name);
}

it.each(Object.entries(COMMANDS))("%s", { timeout: PATIENCE }, async (name, { argv, onRun, again = [], every = 1 }) => {
  fresh(onRun);
  const before = contents(OUT);
  const { result, calls } = await withFault(undefined, () => run(...argv));
  expect([name, result?.code, result?.talk]).toEqual([name, 0, ""]);
  const after = contents(OUT);
  const seen = { old: 0, new: 0 };
  for (const kind of ["full disk", "kill"] as const) {
    for (let at = 0; at < calls.length; at += every * EVERY) {
      fresh(onRun);
      numFaults++;
      await withFault({ kind, at }, () => run(...argv));
      const where = `${kind} in call ${at}, ${calls[at]}`;
      // The next command reads what is there.
      if (existsSync(OUT)) await withFault(undefined, () => settled(OUT));
      if (onRun || existsSync(join(OUT, "run.json"))) {
        const { result: read } = await withFault(undefined, () => run("summary", OUT, "-q"));
        expect([where, read?.code, read?.talk]).toEqual([where, 0, ""]);
        checkWhole(OUT);
      }
      const found = contents(OUT);
      const isNew = JSON.stringify(found) === JSON.stringify(after);
      if (!isNew) expect([where, found]).toEqual([where, before]);
      seen[isNew ? "new" : "old"]++;
      // The command given again ends as if nothing had happened; of the many states that look alike, some.
      if ((at / (every * EVERY)) % EACH !== 0) continue;
      const { result: last } = await withFault(undefined, () => run(...argv, ...again));
      expect([where, last?.code, last?.talk.replace(/warning: Results of the previous.*\n/, "")]).toEqual([
        where,
        0,
        "",
      ]);
      expect([where, Object.keys(contents(OUT))]).toEqual([where, Object.keys(after)]);
      // Beside a single file, which needs no lock, what a killed writer left is nobody's.
      if (!argv.some((word) => /\.(csv|parquet)$/.test(word) && word.startsWith(OUT))) {
        expect([where, leftovers(OUT)]).toEqual([where, []]);
      }
    }
  }
  process.stdout.write(
    `${name}: ${calls.length} calls, ${seen.old + seen.new} faults; old ${seen.old}, new ${seen.new}\n`,
  );
  expect(seen.old).toBeGreaterThan(0);
});

it("study, whose steps are one change each: given again it goes on and ends the same", {
  timeout: PATIENCE,
}, async () => {
  const study = ["study", VISITS, SUBJECTS, ...columns, "--model", "lmm", "--without", "sensitivity,compare,report"];
  const argv = [...study, "--outcomes", "severe", "--draws", "99", "--stability", "0", "-o", OUT, "-j", "1", "-q"];
  for (const onRun of [false, true]) {
    const force = onRun ? ["--force"] : [];
    fresh(onRun);
    const { result, calls } = await withFault(undefined, () => run(...argv, ...force));
    expect(result?.code).toBe(0);
    const after = contents(OUT);
    for (const kind of ["full disk", "kill"] as const) {
      for (let at = 0; at < calls.length; at += EVERY) {
        fresh(onRun);
        numFaults++;
        await withFault({ kind, at }, () => run(...argv, ...force));
        const where = `${kind} in call ${at}, ${calls[at]}`;
        if (existsSync(OUT)) await withFault(undefined, () => settled(OUT));
        if (existsSync(join(OUT, "run.json"))) {
          const { result: read } = await withFault(undefined, () => run("summary", OUT, "-q"));
          expect([where, read?.code, read?.talk]).toEqual([where, 0, ""]);
          checkWhole(OUT);
        }
        // A study that has not begun in place of a run must be told to.
        const isBegun = [OUT, join(OUT, "unfinished")].some((folder) => existsSync(join(folder, "protocol.json")));
        const { result: last } = await withFault(undefined, () => run(...argv, ...(isBegun ? [] : force)));
        expect([where, last?.code, last?.talk.replace(/warning: Results of the previous.*\n/, "")]).toEqual([
          where,
          0,
          "",
        ]);
        expect([where, contents(OUT)]).toEqual([where, after]);
        expect([where, leftovers(OUT)]).toEqual([where, []]);
      }
    }
    const faults = 2 * Math.ceil(calls.length / EVERY);
    process.stdout.write(`study${onRun ? " --force" : ""}: ${calls.length} calls, ${faults} faults\n`);
  }
});
