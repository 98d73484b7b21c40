/** A command as data: what it is called, what it takes, and a `run` that calls the core. */
import type { Talk } from "../print/talk.ts";

export interface OptionSpec {
  /** As commander writes them: "-o, --out <folder>". */
  readonly flags: string;
  readonly description: string;
  readonly default?: string | boolean;
  readonly choices?: readonly string[];
  /** May be given several times; values are collected. */
  readonly repeatable?: boolean;
}

export interface Command {
  readonly name: string;
  readonly description: string;
  readonly arguments: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly OptionSpec[];
  /** Lines that can be pasted. */
  readonly examples: readonly string[];
  readonly run: (args: readonly string[], options: Options, context: Context) => void;
}

/** Values of the options, by long name. */
export type Options = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

export interface Context {
  /** Results, on standard output. */
  readonly print: (text: string) => void;
  readonly talk: Talk;
}

export function textOption(options: Options, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}
