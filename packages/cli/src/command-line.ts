/** The command as it was typed, for records that may be shared: file names without their folders, fit to be pasted. */
import { basename } from "node:path";
import type { Command, Options } from "./commands/command.ts";
import { isPostgres, shownAddress } from "./databases/address.ts";
import { isNegated, longName } from "./option-names.ts";

/** Options whose values are words, not paths: a unit such as mg/dl has a slash of its own. */
const WORDS =
  /^--(unit|time-unit|marker|markers|covariates|reference|id|time|value|outcomes|event|title|transform|models|origin|wide|thousands|sheet|code|condition|analyte|convert-above|convert-below)\b/;

/** The words after `dtm` as one line. */
export function commandText(words: readonly string[]): string {
  return ["dtm", ...words.map((word, k) => withoutFolder(word, words[k - 1]))].map(shellWord).join(" ");
}

/** A command that another one runs for its user: name, arguments, and the options that are given. */
export function commandOf(command: Command, args: readonly string[], options: Options): string {
  const negated = command.options.filter(isNegated).map(longName);
  const flags = Object.entries(options).flatMap(([key, value]) => {
    const long = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    if (value === false && negated.includes(key)) return [`--no-${long}`];
    const flag = `--${long}`;
    if (value === true) return [flag];
    const values = typeof value === "string" ? [value] : Array.isArray(value) ? (value as readonly string[]) : [];
    return values.flatMap((one) => [flag, one]);
  });
  return commandText([command.name, ...args, ...flags]);
}

/** A path's last part: records are shared, and folders tell of people and machines. */
function withoutFolder(word: string, before: string | undefined): string {
  const [flag, address] = /^(--[a-z]+=)(.*)$/.exec(word)?.slice(1) ?? ["", word];
  if (isPostgres(address ?? "")) return `${flag}${shownAddress(address ?? "")}`;
  // Of files in a query, too, the folders are left out.
  if (before === "--sql" || word.startsWith("--sql=")) return word.replace(/'[^']*[\\/]([^'\\/]+)'/g, "'$1'");
  if (WORDS.test(word) || (before !== undefined && WORDS.test(before) && !before.includes("="))) return word;
  return /[\\/]./.test(word) ? basename(word) : word;
}

/** A word as it can be pasted into a shell. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
