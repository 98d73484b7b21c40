/**
 * dtm study VISITS: a whole study by one file of settings: the protocol is written first, then the steps run one after
 * the other, each as the command that it is. What stopped goes on when the same study is given again.
 */
import process from "node:process";
import { setImmediate } from "node:timers/promises";
import { LIBRARY_VERSION } from "@trajectory-maps/core";
import { commandOf } from "../command-line.ts";
import { shownAddress } from "../databases/address.ts";
import { StoppedError, UsageError } from "../exit-codes.ts";
import { hasCheckpoint } from "../io/checkpoint.ts";
import { toJson } from "../io/json.ts";
import { unlockAll } from "../io/lock.ts";
import {
  begunFiles,
  digestInput,
  keepBegun,
  openStudy,
  PROTOCOL_FILE,
  type Protocol,
  progressFile,
} from "../io/protocol.ts";
import { readResult } from "../io/results.ts";
import { INSPECT_FILE, RESULTS_FILE } from "../io/run-folder.ts";
import { listenForSignals } from "../io/signals.ts";
import { flagOf, longName } from "../option-names.ts";
import { table } from "../print/table.ts";
import { counted } from "../print/words.ts";
import { type Command, type CommandResult, type Context, type Options, textOption } from "./command.ts";
import { jobsOf } from "./numbers.ts";
import { writeResults } from "./run-record.ts";
import {
  leavable,
  leftOut,
  STUDY_OPTIONS,
  STUDY_STEPS,
  type StudyInputs,
  type StudyStep,
  stepNames,
  stepOptions,
} from "./study-steps.ts";
import { type StepTime, studyTimes } from "./study-time.ts";
import { tellApart } from "./tables-apart.ts";
import { readVisits, VISITS_ARGUMENT } from "./visits.ts";
import { visitsPath } from "./visits-source.ts";

export const study: Command = {
  name: "study",
  description:
    "Run a whole study from one file of settings: protocol, inspection, fit, groups, comparison, outcomes and report. Given again, it goes on where it stopped.",
  arguments: [
    VISITS_ARGUMENT,
    { name: "subjects", description: "table of individuals, as --subjects names it", optional: true },
  ],
  options: STUDY_OPTIONS,
  examples: [
    "dtm study visits.csv --subjects subjects.csv --config study.yaml -o run/",
    "dtm study visits.csv --config study.yaml --plan",
  ],
  writes: (_, options) => (options.plan === true ? undefined : (textOption(options, "out") ?? "run")),
  run: async ([first, second], given, context) => {
    const asked = givenOnly(given, context);
    const inputs = await inputsOf(first, second, asked, given, context);
    const steps = stepsOf(inputs);
    const protocol = await protocolOf(steps, inputs);
    if (given.plan === true) return planOf(steps, protocol, inputs, context);
    const { folder } = inputs;
    const done = [...openStudy(folder, protocol, given.force === true)];
    return await runSteps(steps, done, inputs, protocol, context);
  },
};

/** Options of one machine and one moment, which no protocol holds. */
const NOT_DECIDED = [
  "out",
  "force",
  "jobs",
  "checkpoint",
  "json",
  "config",
  "progress",
  "quiet",
  "debug",
  "plan",
  "subjects",
];

/** What was chosen: defaults are left to the steps. */
function givenOnly(options: Options, { originOf }: Context): Options {
  const chosen = Object.entries(options).filter(([name, value]) => {
    return value !== undefined && (originOf === undefined || originOf(name) !== undefined);
  });
  return Object.fromEntries(chosen);
}

async function inputsOf(
  first: string | undefined,
  second: string | undefined,
  asked: Options,
  given: Options,
  context: Context,
): Promise<StudyInputs> {
  const flagged = textOption(asked, "subjects");
  const path = visitsPath(first, asked);
  const folder = textOption(given, "out") ?? "run";
  const options = { ...asked, seed: textOption(given, "seed") ?? "1" };
  if (first === undefined) return { visits: undefined, subjects: flagged, folder, options };
  if (path === "-") throw new UsageError("A study reads its visits more than once: name a file instead of -.");
  if (second !== undefined && flagged !== undefined) {
    throw new UsageError(`--subjects: expected one table of individuals, received ${flagged} and ${second}.`);
  }
  const subjects = second ?? flagged;
  const told = await tellApart(path, undefined, { ...asked, ...(subjects && { subjects }) }, context);
  return { visits: told.visits, subjects: textOption(told.options, "subjects"), folder, options };
}

function stepsOf(inputs: StudyInputs): readonly StudyStep[] {
  const { options, subjects } = inputs;
  const without = leftOut(options);
  const unknown = without.filter((name) => !leavable().some(({ command }) => command.name === name));
  if (unknown.length > 0) {
    throw new UsageError(`--without: expected names among ${stepNames(leavable())}, received ${unknown.join(", ")}.`);
  }
  if (subjects === undefined && (options.outcomes !== undefined || options.event !== undefined)) {
    throw new UsageError("Outcomes are read from a table of individuals: add --subjects subjects.csv.");
  }
  return STUDY_STEPS.filter(
    (step) => !without.includes(step.command.name) && (step.isWanted === undefined || step.isWanted(inputs)),
  );
}

async function protocolOf(steps: readonly StudyStep[], inputs: StudyInputs): Promise<Protocol> {
  const { visits, subjects, options } = inputs;
  return {
    format: "dtm-protocol",
    formatVersion: 1,
    version: LIBRARY_VERSION,
    date: new Date().toISOString().slice(0, 10),
    inputs: await Promise.all([visits, subjects].flatMap((path) => (path === undefined ? [] : [digestInput(path)]))),
    settings: decided(options),
    steps: steps.map((step) => ({ name: step.command.name, command: commandFor(step, inputs) })),
  };
}

/** Options as a protocol holds them. */
export function decided(options: Options): Protocol["settings"] {
  const settings = Object.entries(options)
    .filter(([name]) => !NOT_DECIDED.includes(name))
    .map(([name, value]) => [flagName(name), typeof value === "string" ? shownAddress(value) : value]);
  return Object.fromEntries(settings);
}

function flagName(name: string): string {
  const option = STUDY_OPTIONS.find((known) => longName(known) === name);
  return option === undefined ? name : flagOf(option).replace(/^--/, "");
}

/** A step as one would type it. */
function commandFor(step: StudyStep, inputs: StudyInputs): string {
  return commandOf(step.command, step.args(inputs), stepOptions(step, inputs));
}

async function planOf(
  steps: readonly StudyStep[],
  protocol: Protocol,
  inputs: StudyInputs,
  context: Context,
): Promise<CommandResult> {
  const times = await timesOf(steps, inputs, context);
  const lines = [timesTable(times), "", "As commands:", ...protocol.steps.map(({ command }) => `  ${command}`)];
  return {
    text: [...lines, "", "Nothing was done (--plan)."].join("\n"),
    json: { plan: true, folder: inputs.folder, protocol, times },
  };
}

/** What the steps will take, from the visits themselves. */
async function timesOf(steps: readonly StudyStep[], inputs: StudyInputs, context: Context): Promise<StepTime[]> {
  const { visits, subjects, options } = inputs;
  const silent = { ...context, talk: { ...context.talk, say: () => {}, warn: () => {} } };
  const named = subjects === undefined ? {} : { subjects };
  const { cohort } = await readVisits(visitsPath(visits, options), { ...options, ...named }, silent);
  return studyTimes(
    cohort,
    steps.map(({ command }) => command.name),
    options,
    jobsOf(options),
  );
}

function timesTable(times: readonly StepTime[]): string {
  const about = (seconds: number) =>
    seconds < 1 ? "moments" : seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} min`;
  const rows = times.map(({ step, fits, seconds }) => [step, fits === 0 ? "" : counted(fits, "map"), about(seconds)]);
  const total = times.reduce((sum, { seconds }) => sum + seconds, 0);
  return `${table(["step", "fits", "about"], rows, [0, 1, 1])}\n${about(total)} in all, give or take a factor of two.`;
}

async function runSteps(
  steps: readonly StudyStep[],
  done: string[],
  inputs: StudyInputs,
  protocol: Protocol,
  context: Context,
): Promise<CommandResult> {
  const { folder } = inputs;
  const { talk } = context;
  const left = steps.filter(({ command }) => !done.includes(command.name));
  if (left.length > 0) talk.say(`${timesTable(await timesOf(left, inputs, context))}\n`);
  const pages: string[] = [];
  let failure: Error | undefined;
  for (const step of steps) {
    const { name } = step.command;
    if (done.includes(name)) {
      pages.push(`${name}: done before; its result is in ${folder}.`);
      continue;
    }
    done.push(name);
    const progress = progressFile(done);
    const beside = name === "fit" ? begunFiles(folder) : [progress];
    const result = await runStep(step, inputs, { ...context, beside });
    if (name === "inspect") {
      keepBegun(folder, [{ name: INSPECT_FILE, text: toJson(result.json), private: true }, progress]);
    }
    failure ??= result.failure;
    pages.push(result.text.replace(/\n+Written {3}[\s\S]*$/, ""));
  }
  const results = resultsOf(folder, steps, protocol);
  const files = [{ name: RESULTS_FILE, text: toJson(results), private: true }];
  const [file] = writeResults(folder, undefined, files, context);
  const closing = `Study     ${folder}: ${PROTOCOL_FILE}, results in ${file} (private), report.html`;
  return {
    text: [...pages, closing].join("\n\n"),
    json: { folder, ...results },
    ...(failure === undefined ? {} : { failure }),
  };
}

/** One command of the study. */
async function runStep(step: StudyStep, inputs: StudyInputs, context: Context): Promise<CommandResult> {
  const { folder, options } = inputs;
  const { command } = step;
  const own = { ...stepOptions(step, inputs), jobs: options.jobs, force: true };
  const { originOf: _, ...told } = { ...context, commandLine: commandFor(step, inputs) };
  try {
    if (command.name !== "fit") return await unlessStopped(() => command.run(step.args(inputs), own, told), told);
    if (hasCheckpoint(folder)) {
      return await command.run(
        [],
        { resume: folder, jobs: options.jobs, checkpoint: options.checkpoint, strict: options.strict },
        told,
      );
    }
    return await command.run(step.args(inputs), own, told);
  } catch (error) {
    if (!(error instanceof StoppedError)) throw error;
    throw new StoppedError(error.signal, STOPPED);
  }
}

const STOPPED = "Stopped; what is done is kept. Give the same study again to go on.";

/** Does a step that cannot be stopped half-way: a signal is told, and then ends the program and the threads that are at work. */
async function unlessStopped<T>(work: () => T | Promise<T>, { talk }: Context): Promise<T> {
  const signals = listenForSignals((signal) => {
    talk.insist(STOPPED);
    unlockAll();
    // Nobody listens any more. An exit would have to end threads, some of which may be loading, and Node aborts then.
    process.kill(process.pid, signal);
  });
  try {
    const result = await work();
    // A signal that came while nothing else could run is heard by the second turn.
    await setImmediate();
    await setImmediate();
    return result;
  } finally {
    signals.release();
  }
}

/** A study that goes on after its results were written has the bytes of one that was never ended: they do not list themselves. */
function withoutItself(result: unknown): unknown {
  const { files } = (result ?? {}) as { readonly files?: unknown };
  if (!Array.isArray(files)) return result;
  return { ...(result as object), files: files.filter((file) => file?.name !== RESULTS_FILE) };
}

/** Everything found, in one document. */
function resultsOf(folder: string, steps: readonly StudyStep[], protocol: Protocol) {
  const found = steps.flatMap(({ command: { name } }) => {
    if (name === "report") return [];
    const file = name === "fit" ? "run" : name;
    return [[file, withoutItself(readResult(folder, `${file as "run"}.json`))] as const];
  });
  return { format: "dtm-results", formatVersion: 1, protocol, ...Object.fromEntries(found) };
}
