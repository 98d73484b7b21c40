/**
 * The built program as a process of its own, ended at a moment that nobody chose, and what it may leave: files as they were before or as
 * they are after, byte for byte. Shared by kills.slow.test.ts and signals.slow.test.ts.
 */
import { spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { watch } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { contents } from "../packages/cli/test/faults.ts";
import { smallCohort } from "../packages/cli/test/harness.ts";

const BIN = fileURLToPath(new URL("../packages/cli/bin/dtm.mjs", import.meta.url));
export const COLUMNS = ["--id", "patient", "--time", "years", "--value", "fvc"] as const;

export interface Ended {
  readonly code: number | null;
  /** The signal that ended it, where nobody listened. */
  readonly signal: NodeJS.Signals | null;
  readonly talk: string;
  /** Milliseconds from start to end. */
  readonly took: number;
}

/** When a program is ended: so many milliseconds after it began, or after it began to write into a folder. */
export interface Moment {
  readonly after: number;
  readonly writingTo?: string;
}

/** Starts the program; sends it a signal at a moment unless it has ended by then; lets one that was stopped go on so much later. */
export async function dtm(
  argv: readonly string[],
  moment?: Moment,
  signal: NodeJS.Signals = "SIGKILL",
  continueAfter?: number,
): Promise<Ended> {
  const began = Date.now();
  const child = spawn(process.execPath, [BIN, ...argv], { stdio: ["ignore", "ignore", "pipe"] });
  let talk = "";
  child.stderr.on("data", (bytes) => {
    talk += String(bytes);
  });
  const ending = new Promise<readonly [number | null, NodeJS.Signals | null]>((resolve) =>
    child.once("close", (code, by) => resolve([code, by])),
  );
  if (moment !== undefined) {
    const stop = new AbortController();
    await Promise.race([reached(moment, stop.signal), ending]);
    stop.abort();
    child.kill(signal);
    if (continueAfter !== undefined) {
      await setTimeout(continueAfter);
      child.kill("SIGCONT");
    }
  }
  const [code, by] = await ending;
  return { code, signal: by, talk, took: Date.now() - began };
}

/** Waits for a moment, or until it is told to stop. */
async function reached({ after, writingTo }: Moment, signal: AbortSignal): Promise<void> {
  try {
    if (writingTo !== undefined) {
      // Not the lock, nor the trial whether the folder can be written.
      for await (const { filename } of watch(writingTo, { signal })) {
        if (/^\.[^.].*\.tmp$/.test(filename ?? "") && !filename?.startsWith(".dtm.")) break;
      }
    }
    await setTimeout(after, undefined, { signal });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** The program to its end, which must be a good one. */
export async function done(...argv: string[]): Promise<Ended> {
  const ended = await dtm(argv);
  expect([argv.join(" "), ended.code, ended.talk]).toEqual([argv.join(" "), 0, expect.anything()]);
  return ended;
}

/** A command that writes: OUT is the folder that changes, TABLES and BASE stay as they are. */
interface Writer {
  readonly argv: readonly string[];
  /** Whether OUT is a run to begin with, or an empty folder. */
  readonly onRun: boolean;
  /** A command that reads what was written, and so finishes a change that was made. */
  readonly reader?: readonly string[];
}

const tables = ["TABLES/visits.csv", ...COLUMNS];
const linear = ["--model", "lmm"];

/** Every command that writes, but `fit` of a map and `study`, which go on where they were ended. */
export const WRITERS: Record<string, Writer> = {
  "fit lmm": { argv: ["fit", ...tables, "-o", "OUT", "--force", "-j", "1", ...linear], onRun: true },
  groups: { argv: ["groups", "OUT", "--stability", "0", "--groups", "2", "--force", "-j", "1"], onRun: true },
  compare: {
    argv: ["compare", "OUT", "--models", "constant,line", "--folds", "2", "--force", "-j", "1"],
    onRun: true,
  },
  associate: {
    argv: ["associate", "OUT", "TABLES/subjects.csv", "--outcomes", "severe", "--draws", "99", "--force", "-j", "1"],
    onRun: true,
  },
  sensitivity: {
    argv: ["sensitivity", "OUT", "--only", "mean", "--folds", "0", "--force", "-j", "1"],
    onRun: true,
  },
  calibrate: { argv: ["calibrate", "OUT", "--folds", "2"], onRun: true },
  report: { argv: ["report", "OUT", "--no-compare", "--force", "-j", "1"], onRun: true },
  simulate: {
    argv: ["simulate", "pfvc", "--individuals", "60", "-o", "OUT", "--force"],
    onRun: false,
    reader: ["inspect", "OUT/visits.csv"],
  },
  predict: { argv: ["predict", "BASE", ...tables, "--at", "1", "-o", "OUT/courses.csv", "--force"], onRun: false },
  embed: { argv: ["embed", "BASE", ...tables, "-o", "OUT/places.parquet", "--force"], onRun: false },
  statistics: { argv: ["statistics", ...tables, "-o", "OUT/a.parquet", "--force"], onRun: false },
  calculator: { argv: ["calculator", "BASE", "-o", "OUT/page.html", "--force"], onRun: false },
  template: { argv: ["template", "visits", "-o", "OUT/visits.csv", "--force"], onRun: false },
};

/** A folder with tables, a run of a linear model with groups, and room for what is written. */
export interface Place {
  readonly at: (...parts: string[]) => string;
  /** A command line with its paths. */
  readonly typed: (argv: readonly string[]) => string[];
  readonly clear: () => void;
}

export async function makePlace(): Promise<Place> {
  const folder = mkdtempSync(join(tmpdir(), "dtm-ended-"));
  const at = (...parts: string[]) => join(folder, ...parts);
  const { visits, subjects } = smallCohort(30);
  mkdirSync(at("tables"));
  writeFileSync(at("tables", "visits.csv"), visits);
  writeFileSync(at("tables", "subjects.csv"), subjects);
  writeFileSync(at("tables", "other.csv"), smallCohort(25, 8).visits);
  await done("fit", at("tables", "other.csv"), ...COLUMNS, "-o", at("base"), "-q", "-j", "1", ...linear);
  await done("groups", at("base"), "--stability", "0", "-q");
  const paths: Record<string, string> = { OUT: at("out"), BASE: at("base"), TABLES: at("tables") };
  const typed = (argv: readonly string[]) => [
    ...argv.map((word) => word.replace(/^(OUT|BASE|TABLES)/, (name) => paths[name] ?? name)),
    "-q",
  ];
  return { at, typed, clear: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Puts the folder back to what a writer begins with. */
export function putBack({ at }: Place, { onRun }: Writer): void {
  rmSync(at("out"), { recursive: true, force: true });
  if (onRun) cpSync(at("base"), at("out"), { recursive: true });
  else mkdirSync(at("out"));
}

export interface Tally {
  ended: number;
  finished: number;
  old: number;
  new: number;
  unsettled: number;
}

/** About how long a command writes, with the disk asked for every file. */
const WRITING_MS = 40;

/**
 * Ends a writer again and again by the signals in turn, `times` in all, at moments drawn by `random`; after each the folder holds the
 * bytes of before or of after, and at the end the command still does what it does.
 */
export async function endOften(
  place: Place,
  writer: Writer,
  signals: readonly NodeJS.Signals[],
  times: number,
  random: () => number,
  onEnd: (ended: Ended, signal: NodeJS.Signals) => void = () => {},
): Promise<Tally> {
  const out = place.at("out");
  const argv = place.typed(writer.argv);
  putBack(place, writer);
  const { took } = await done(...argv);
  const after = contents(out);
  putBack(place, writer);
  const before = contents(out);
  expect(after).not.toEqual(before);
  const tally = { ended: 0, finished: 0, old: 0, new: 0, unsettled: 0 };
  while (tally.ended < times) {
    const signal = signals[tally.ended % signals.length] ?? "SIGKILL";
    // Results are written at the end: every other moment is after writing has begun.
    const moment =
      tally.ended % 2 === 0
        ? { after: Math.round((0.4 + 0.7 * random()) * took) }
        : { after: Math.round(WRITING_MS * random()), writingTo: out };
    const ended = await dtm(argv, moment, signal);
    onEnd(ended, signal);
    if (ended.code === 0) tally.finished++;
    else tally.ended++;
    if (existsSync(join(out, ".dtm-commit"))) {
      tally.unsettled++;
      await done(...place.typed(writer.reader ?? ["summary", "OUT"]));
    }
    const found = withoutState(contents(out));
    const isNew = JSON.stringify(found) === JSON.stringify(after);
    if (!isNew) expect([signal, moment, found]).toEqual([signal, moment, before]);
    tally[isNew ? "new" : "old"]++;
    // What a writer left behind is met by the next one, unless the work is done.
    if (isNew) putBack(place, writer);
  }
  await done(...argv);
  expect(contents(out)).toEqual(after);
  const hidden = readdirSync(out).filter((name) => name.startsWith("."));
  // Beside a single file, which needs no lock, what a killed writer left is nobody's.
  expect(hidden.filter((name) => writer.onRun || !/\.tmp$/.test(name))).toEqual([]);
  return tally;
}

/** A fit that is stopped keeps its state beside the run that is there. */
function withoutState(files: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).filter(([name]) => !name.startsWith("unfinished/")));
}

export function told(name: string, { ended, finished, old, new: isNew, unsettled }: Tally): string {
  return `${name}: ended ${ended} times, finished ${finished} times; old ${old}, new ${isNew}, ${unsettled} of them settled by the next command\n`;
}
