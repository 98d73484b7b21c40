/**
 * The protocol of a study, written before any value is looked at, and how far the study has come. Both lie in the folder
 * of the run: a study given again with the same protocol goes on where it stopped, and with another is refused.
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import { FileError, UsageError } from "../exit-codes.ts";
import { toJson } from "./json.ts";
import { fileExists, isFolder, nameOf, readText } from "./read.ts";
import { writeOutputs } from "./write.ts";

export const PROTOCOL_FILE = "protocol.json";
const PROGRESS_FILE = "study.json";

export interface StudyInput {
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

/** The steps that were finished under this protocol; writes the protocol where there is none. */
export function openStudy(folder: string, protocol: Protocol, force: boolean): readonly string[] {
  const path = join(folder, PROTOCOL_FILE);
  if (fileExists(path) && !force) {
    const before = readJson(path) as Protocol;
    const changed = changes(before, protocol);
    if (changed.length > 0) {
      throw new UsageError(
        `${folder} holds a study with another protocol: ${changed.join("; ")}. Name another folder, or use --force to begin anew.`,
      );
    }
    const progress = join(folder, PROGRESS_FILE);
    return fileExists(progress) ? ((readJson(progress) as { done: readonly string[] }).done ?? []) : [];
  }
  writeOutputs(folder, [{ name: PROTOCOL_FILE, text: toJson(protocol) }]);
  keepProgress(folder, []);
  return [];
}

/** Writes which steps are done. */
export function keepProgress(folder: string, done: readonly string[]): void {
  writeOutputs(folder, [{ name: PROGRESS_FILE, text: toJson({ format: "dtm-study", formatVersion: 1, done }) }]);
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
