/**
 * The protocol of a study, written before any value is looked at, and how far the study has come. Both lie in the folder
 * of the run: a study given again with the same protocol goes on where it stopped, and with another is refused.
 */
import { createHash } from "node:crypto";
import { createReadStream, readdirSync } from "node:fs";
import { join } from "node:path";
import { FileError, UsageError } from "../exit-codes.ts";
import { checkBelongs, RECORD_FILE } from "./belongs.ts";
import { UNFINISHED } from "./checkpoint.ts";
import { toJson } from "./json.ts";
import { settled } from "./lock.ts";
import { fileExists, isFolder, nameOf, readText } from "./read.ts";
import { INSPECT_FILE, isPrivate, RUN_FILES } from "./run-folder.ts";
import { settleOrTell } from "./transaction.ts";
import { checkOutputs, type OutputFile, writeOutputs } from "./write.ts";

export const PROTOCOL_FILE = "protocol.json";
const PROGRESS_FILE = "study.json";

interface StudyInput {
  readonly name: string;
  /** Of the file's bytes; null where it is no file. */
  readonly sha256: string | null;
}

export interface Protocol {
  readonly format: "dtm-protocol";
  readonly formatVersion: 1;
  readonly version: string;
  readonly date: string;
  readonly inputs: readonly StudyInput[];
  /** The choices that were made, by name of option; all others are defaults of this version. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The steps as commands that can be typed. */
  readonly steps: readonly { readonly name: string; readonly command: string }[];
}

/** The name and digest of an input. */
export async function digestInput(path: string): Promise<StudyInput> {
  const [, file = path] = /^(.*\.xls[xm])#.+$/i.exec(path) ?? [];
  if (path === "-" || isFolder(file) || !fileExists(file)) return { name: nameOf(path), sha256: null };
  const hash = createHash("sha256");
  for await (const block of createReadStream(file)) hash.update(block as Buffer);
  return { name: nameOf(path), sha256: hash.digest("hex") };
}

/**
 * The steps that were finished under this protocol. Where there is none, or a new beginning is asked for, the protocol is written into
 * the unfinished part of the folder: what an earlier study left stays whole until the new one has a model.
 */
export function openStudy(folder: string, protocol: Protocol, force: boolean): readonly string[] {
  const inner = join(folder, UNFINISHED);
  if (fileExists(inner)) settleOrTell(inner);
  const before = [inner, folder].find((place) => fileExists(join(place, PROTOCOL_FILE)));
  if (before !== undefined && !force) {
    if (before === folder) checkBelongs(folder, PROTOCOL_FILE);
    const changed = changes(readJson(join(before, PROTOCOL_FILE)) as Protocol, protocol);
    if (changed.length > 0) {
      throw new UsageError(
        `${folder} holds a study with another protocol: ${changed.join("; ")}. Name another folder, or use --force to begin anew.`,
      );
    }
    return doneIn(before);
  }
  if (fileExists(join(folder, RECORD_FILE)) && !force) {
    throw new UsageError(
      `${folder} holds a run that is not of a study. Name another folder, or use --force to begin anew.`,
    );
  }
  // Its own table of visits may lie there, under the name that a run has for it.
  checkOutputs(
    folder,
    RUN_FILES.map(({ name }) => name),
    force,
  );
  const earlier = fileExists(inner) ? readdirSync(inner).filter((name) => !FIRST_FILES.includes(name)) : [];
  writeOutputs(inner, [{ name: PROTOCOL_FILE, text: toJson(protocol), private: true }, progressFile([])], earlier);
  return [];
}

/** Whether a study was begun in a folder. */
export function hasProtocol(folder: string): boolean {
  return [join(folder, UNFINISHED), folder].some((place) => fileExists(join(place, PROTOCOL_FILE)));
}

/**
 * Whether all that a folder holds is of a study of these inputs with these settings, finished or not, whatever its seed and version;
 * an empty folder, or none, holds nothing else. Hidden files do not count.
 */
export function holdsOnly(folder: string, { inputs, settings }: Pick<Protocol, "inputs" | "settings">): boolean {
  settled(folder);
  return [folder, join(folder, UNFINISHED)].every((place) => {
    const names = isFolder(place) ? readdirSync(place) : [];
    const shown = names.filter((name) => name !== UNFINISHED && !name.startsWith("."));
    if (shown.length === 0) return true;
    if (!shown.includes(PROTOCOL_FILE)) return false;
    const before = readJson(join(place, PROTOCOL_FILE)) as Protocol;
    const seed = before.settings?.seed;
    return changes(before, { ...before, inputs, settings: { ...settings, seed } }).length === 0;
  });
}

function doneIn(place: string): readonly string[] {
  const progress = join(place, PROGRESS_FILE);
  return fileExists(progress) ? ((readJson(progress) as { done: readonly string[] }).done ?? []) : [];
}

const FIRST_FILES = [PROTOCOL_FILE, PROGRESS_FILE];

/** How far a study has come, to be written with what it has come to. */
export function progressFile(done: readonly string[]): OutputFile {
  return { name: PROGRESS_FILE, text: toJson({ format: "dtm-study", formatVersion: 1, done }) };
}

/** Steps of the study in a folder whose results rest on that of a command, which is given on its own: they are to be done again. */
const RESTING: Readonly<Record<string, readonly string[]>> = {
  groups: ["groups", "associate", "sensitivity", "report"],
  compare: ["compare", "report"],
  associate: ["associate", "sensitivity", "report"],
  sensitivity: ["sensitivity", "report"],
  calibrate: ["report"],
  report: ["report"],
};

/** The study in a folder without the steps that a command on its own undoes; nothing where there is no study, or it did not. */
export function progressWithout(folder: string, command: string): OutputFile[] {
  const undone = RESTING[command] ?? [];
  const done = doneIn(folder);
  const left = done.filter((step) => !undone.includes(step));
  return left.length === done.length ? [] : [progressFile(left)];
}

/** What a study has written before its fit, which the run takes over with the word that the fit is done; nothing where there is no study. */
export function begunFiles(folder: string): OutputFile[] {
  const inner = join(folder, UNFINISHED);
  if (!fileExists(join(inner, PROTOCOL_FILE))) return [];
  const files = [PROTOCOL_FILE, INSPECT_FILE].filter((name) => fileExists(join(inner, name)));
  return [
    ...files.map((name) => ({ name, text: readText(join(inner, name)), private: isPrivate(name) })),
    progressFile([...doneIn(inner), "fit"]),
  ];
}

/** Keeps the result of a step before the fit. */
export function keepBegun(folder: string, files: readonly OutputFile[]): void {
  writeOutputs(join(folder, UNFINISHED), files);
}

/** In words, what differs between two protocols; the day they were written does not count. */
function changes(before: Protocol, now: Protocol): string[] {
  const names = [...new Set([...Object.keys(before.settings ?? {}), ...Object.keys(now.settings)])];
  const word = (value: unknown) => (value === undefined ? "not given" : JSON.stringify(value));
  const settings = names
    .filter((name) => word(before.settings?.[name]) !== word(now.settings[name]))
    .map((name) => `${name} was ${word(before.settings?.[name])}, is ${word(now.settings[name])}`);
  const inputs = now.inputs.flatMap(({ name, sha256 }, k) => {
    const { name: earlier, sha256: digest } = before.inputs?.[k] ?? {};
    if (earlier !== name) return [`${earlier ?? "no table"} then, ${name} now`];
    return digest === sha256 ? [] : [`${name} has other bytes`];
  });
  const steps = (protocol: Protocol) => protocol.steps?.map(({ name }) => name).join(", ");
  const others = [
    ...(before.version === now.version ? [] : [`version ${before.version} then, ${now.version} now`]),
    ...(steps(before) === steps(now) ? [] : [`steps were ${steps(before)}, are ${steps(now)}`]),
  ];
  return [...settings, ...inputs, ...others];
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readText(path));
  } catch {
    throw new FileError(
      `${path}: expected JSON written by this program, received another text. Begin anew with --force.`,
    );
  }
}
