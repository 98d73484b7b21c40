/** A command as data: what it is called, what it takes, and a `run` that calls the core. */
import type { OutputFile } from "../io/write.ts";
import type { Talk } from "../print/talk.ts";
import { splitList } from "./quoted.ts";

export interface OptionSpec {
  /** As commander writes them: "-o, --out <folder>". */
  readonly flags: string;
  readonly description: string;
  readonly default?: string | boolean;
  readonly choices?: readonly string[];
  /** The heading in the help; those without stand under "Options". */
  readonly group?: string;
  /** May be given several times; values are collected. */
  readonly repeatable?: boolean;
}

export interface ArgumentSpec {
  readonly name: string;
  readonly description: string;
  readonly optional?: boolean;
  /** One or more; the last argument alone. */
  readonly variadic?: boolean;
  readonly choices?: readonly string[];
}

export interface Command {
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly ArgumentSpec[];
  readonly options: readonly OptionSpec[];
  /** Lines that can be pasted. */
  readonly examples: readonly string[];
  /** The folder that it writes into, by what it is given; nobody else writes there meanwhile. */
  readonly writes?: (args: readonly string[], options: Options) => string | undefined;
  readonly run: (args: readonly string[], options: Options, context: Context) => CommandResult | Promise<CommandResult>;
}

/** A result in both its forms; one of them goes to standard output. */
export interface CommandResult {
  readonly text: string;
  /** Plain data; typed arrays and numbers that are not finite are allowed and written as lists and null. */
  readonly json: unknown;
  /** Thrown after the result was printed: what is worth a failing exit code although everything was written. */
  readonly failure?: Error;
}

/** Values of the options, by long name. */
export type Options = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

export interface Context {
  readonly talk: Talk;
  /** The command as it was typed, for records; ids and cells never stand in it. */
  readonly commandLine: string;
  /** Of a step of a study: what the study writes with the result, as one change. */
  readonly beside?: readonly OutputFile[];
  /** Where the value of an option comes from, by its long name; undefined for a default. */
  readonly originOf?: (option: string) => "flag" | "setting" | undefined;
}

/** Options under a heading of the help, unless they have one. */
export function inGroup(group: string, options: readonly OptionSpec[]): readonly OptionSpec[] {
  return options.map((option) => (option.group === undefined ? { ...option, group } : option));
}

const COMMON = "Of every command";

export const SEED_OPTION: OptionSpec = {
  group: COMMON,
  flags: "--seed <number>",
  description: "seed of all randomness",
  default: "1",
};

/** Options every command takes. */
export const COMMON_OPTIONS = inGroup(COMMON, [
  { flags: "--json", description: "one JSON document on standard output instead of text" },
  SEED_OPTION,
  {
    flags: "--config <file>",
    description: "options from a YAML or JSON file (flags and DTM_* variables take precedence)",
  },
  {
    flags: "--progress <form>",
    description: "progress on standard error: a bar for people, or one JSON event per line for programs",
    default: "auto",
    choices: ["auto", "json"],
  },
  { flags: "-q, --quiet", description: "print nothing on standard error but errors" },
  { flags: "--debug", description: "print the stack trace of an unexpected error" },
]);

/** Threads for work that can be shared; never changes a result. */
export const JOBS_OPTION: OptionSpec = {
  flags: "-j, --jobs <number>",
  description: "number of threads; does not change results (default: one per core)",
};

export const FORCE_OPTION: OptionSpec = { flags: "--force", description: "overwrite existing results" };

export function textOption(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

/** The values of an option that may be given several times. */
export function repeatedOption(options: Options, name: string): readonly string[] {
  const given = options[name];
  return Array.isArray(given) ? (given as readonly string[]) : [];
}

/** A list written with commas, names in quotes still quoted; empty parts are dropped. */
export function listOption(options: Options, name: string): string[] | undefined {
  const text = textOption(options, name);
  return text === undefined ? undefined : splitList(text, ",").filter((part) => part !== "");
}
