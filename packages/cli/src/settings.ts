/** Where the value of each option comes from: flag, then environment, then config file, then default. */
import process from "node:process";
import type { Command as Program } from "commander";
import { COMMON_OPTIONS, type Command, type CommandResult, type OptionSpec } from "./commands/command.ts";
import { loadAll } from "./commands/list.ts";
import { shownAddress } from "./databases/address.ts";
import { environmentName, flagOf, isNegated, longName, saidYes, takesValue } from "./option-names.ts";
import { table } from "./print/table.ts";

/** Takes options that neither flag nor environment gives from the file named by --config. */
export async function mergeConfig(program: Program, command: Command): Promise<void> {
  const file: unknown = program.opts().config;
  if (typeof file !== "string") return;
  const { readConfig } = await import("./config.ts");
  const settled = new Set([...command.options, ...COMMON_OPTIONS].filter(isSettled).map(longName));
  for (const [name, value] of Object.entries(await readConfig(file, command, loadAll))) {
    const source = program.getOptionValueSource(name);
    if (value === undefined || source === "cli" || source === "env" || settled.has(name)) continue;
    program.setOptionValueWithSource(name, value, "config");
  }
}

/** Whether a variable says yes or no to an option that is given or not; "no" leaves it as if it were not, whatever a file says. */
function isSettled(option: OptionSpec): boolean {
  const said = process.env[environmentName(option)]?.trim();
  return (
    said !== undefined &&
    said !== "" &&
    (!takesValue(option) || option.flags.includes("[")) &&
    saidYes(said) !== undefined
  );
}

/** One option's value and where it is from. */
export interface Setting {
  readonly name: string;
  readonly value: unknown;
  readonly origin: "flag" | "environment" | "file" | "default" | "none";
}

/** The merged settings of a command, in the order of its help. */
function settingsOf(program: Program, command: Command): Setting[] {
  const origins: Readonly<Record<string, Setting["origin"]>> = {
    cli: "flag",
    env: "environment",
    config: "file",
    default: "default",
  };
  return [...command.options, ...COMMON_OPTIONS].map((option) => {
    const name = longName(option);
    const value: unknown = program.opts()[name];
    const origin = value === undefined ? "none" : (origins[program.getOptionValueSource(name) ?? ""] ?? "default");
    const told = typeof value === "string" ? shownAddress(value) : (value ?? null);
    // Told of the flag, which takes away what its name without "no" says.
    if (isNegated(option) && typeof told === "boolean") return { name: flagOf(option), value: !told, origin };
    return { name: flagOf(option), value: told, origin };
  });
}

/** What `dtm config show` prints. */
export function showSettings(program: Program, command: Command): CommandResult {
  const settings = settingsOf(program, command);
  const file: unknown = program.opts().config;
  const from = (setting: Setting, k: number): string => {
    const option = [...command.options, ...COMMON_OPTIONS][k];
    if (setting.origin === "environment" && option !== undefined) return environmentName(option);
    return setting.origin === "file" ? String(file) : setting.origin === "none" ? "" : setting.origin;
  };
  const rows = settings.map((setting, k) => [setting.name, shown(setting.value), from(setting, k)]);
  return { text: table(["option", "value", "from"], rows, [1, 2]), json: { command: command.name, settings } };
}

function shown(value: unknown): string {
  if (value === null) return "-";
  if (typeof value === "boolean") return value ? "yes" : "no";
  return Array.isArray(value) ? value.join(", ") : String(value);
}
