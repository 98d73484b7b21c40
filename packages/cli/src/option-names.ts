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

/** Whether an option takes a value. */
export function takesValue({ flags }: OptionSpec): boolean {
  return /[<[]/.test(flags);
}
