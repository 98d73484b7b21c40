/** What an option is called in code, in config files and in the environment. */
import type { OptionSpec } from "./commands/command.ts";

/** "-o, --out <folder>" → "out"; "--no-visits" → "visits". */
export function longName({ flags }: OptionSpec): string {
  const long = /--(?:no-)?([a-z][a-z-]*)/.exec(flags)?.[1] ?? flags;
  return long.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** "-o, --out <folder>" → "--out". */
export function flagOf({ flags }: OptionSpec): string {
  return /--[a-z][a-z-]*/.exec(flags)?.[0] ?? flags;
}

/** Name of the environment variable for an option. */
export function environmentName(option: OptionSpec): string {
  return `DTM_${longName(option)
    .replace(/([A-Z])/g, "_$1")
    .toUpperCase()}`;
}

/** Whether a flag is written with "no", and takes away what is there otherwise. */
export function isNegated({ flags }: OptionSpec): boolean {
  return /--no-/.test(flags);
}

const WORDS: Readonly<Record<string, boolean>> = {
  ...{ "1": true, true: true, yes: true, on: true },
  ...{ "0": false, false: false, no: false, off: false, "": false },
};

/** Yes or no as variables say it; undefined for any other text. */
export function saidYes(text: string): boolean | undefined {
  return WORDS[text.trim().toLowerCase()];
}

/** Whether an option takes a value. */
export function takesValue({ flags }: OptionSpec): boolean {
  return /[<[]/.test(flags);
}
