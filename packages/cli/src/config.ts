/**
 * Options from a file. Order of precedence: flag, then environment (DTM_TRANSFORM for --transform), then file, then
 * default. A file is YAML or JSON with one key per option (`time-unit` or `timeUnit`); a key that no command knows is
 * refused, a key of another command is passed over, so that one file can serve a whole study.
 */
import { parseDocument, visit } from "yaml";
import * as z from "zod";
import type { Command, OptionSpec } from "./commands/command.ts";
import { COMMON_OPTIONS } from "./commands/command.ts";
import { UsageError } from "./exit-codes.ts";
import { MOST_SETTINGS, readText } from "./io/read.ts";
import { longName, takesValue } from "./option-names.ts";

/** Options of a config file are never themselves taken from one. */
const NOT_IN_FILE = new Set(["config", "debug"]);

/** The values a file gives to a command's options, by long name, checked; `all` gives every command there is. */
export async function readConfig(
  path: string,
  command: Command,
  all: () => Promise<readonly Command[]>,
): Promise<Record<string, unknown>> {
  const raw = parseFile(path);
  const own = [...command.options, ...COMMON_OPTIONS].filter((option) => !NOT_IN_FILE.has(longName(option)));
  const names = new Set(own.map(longName));
  const values = Object.fromEntries(Object.entries(raw).map(([key, value]) => [camel(key), value]));
  const others = Object.keys(values).filter((key) => !names.has(key));
  // Other commands are only loaded to ask whether a name is theirs.
  const known = others.length === 0 ? new Set() : new Set((await all()).flatMap((c) => c.options.map(longName)));
  const unknown = others.filter((key) => !known.has(key) || NOT_IN_FILE.has(key));
  if (unknown.length > 0) {
    throw new UsageError(
      `${path}: expected names of options, received ${unknown.map(dashed).join(", ")}. ${command.name} takes ${[...names].map(dashed).join(", ")}.`,
    );
  }
  const parsed = z.object(Object.fromEntries(own.map((o) => [longName(o), schemaOf(o).optional()]))).safeParse(values);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    throw new UsageError(`${path}: the option ${issue?.path.join(".")} is not valid: ${issue?.message}.`);
  }
  return parsed.data;
}

/** As flags are written. */
function dashed(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function camel(key: string): string {
  return key.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Values as commander would give them: text, true or false, or a list of texts. */
function schemaOf(option: OptionSpec): z.ZodType {
  if (!takesValue(option)) return z.boolean();
  if (option.flags.includes("[")) return z.union([z.boolean(), z.string()]);
  const text = z.string();
  if (option.repeatable === true) return z.union([z.array(text), text.transform((one) => [one])]);
  if (option.choices !== undefined) return text.pipe(z.enum(option.choices as [string, ...string[]]));
  // Lists may be written as lists: outcomes: [death, ascites].
  return z.union([text, z.array(text).transform((list) => list.join(","))]);
}

/** What a YAML text holds, and JSON is YAML; numbers as they are written, as behind a flag: 1e3 may be a column, 0x10 is no seed. */
function asWritten(text: string): unknown {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error !== undefined) throw error;
  visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value === "number" && node.source !== undefined) node.value = node.source;
    },
  });
  return document.toJS();
}

function parseFile(path: string): Record<string, unknown> {
  const text = readText(path, MOST_SETTINGS);
  let raw: unknown;
  try {
    if (path.toLowerCase().endsWith(".json")) JSON.parse(text);
    raw = asWritten(text);
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
    throw new UsageError(`${path}: expected YAML or JSON, received text that is neither: ${reason}`);
  }
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) {
    throw new UsageError(`${path}: expected one option per line, such as "transform: log".`);
  }
  return raw as Record<string, unknown>;
}
