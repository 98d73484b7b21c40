/** Commands that do one of several actions: which action reads which option. */
import { UsageError } from "../exit-codes.ts";
import { flagOf, longName } from "../option-names.ts";
import { COMMON_OPTIONS, type Context, type OptionSpec } from "./command.ts";

/** An option with the actions that read it. */
export type ActionOption = readonly [actions: readonly string[], option: OptionSpec];

/** The options of a command, each with its actions before its words. Common ones are there anyway. */
export function optionsOf(table: readonly ActionOption[]): OptionSpec[] {
  return table
    .filter(([, option]) => !COMMON_OPTIONS.some((common) => longName(common) === longName(option)))
    .map(([actions, option]) => ({ ...option, description: `${actions.join(", ")}: ${option.description}` }));
}

/** Refuses flags that an action does not read. Settings of a file or the environment may serve several commands. */
export function checkAction(command: string, action: string, table: readonly ActionOption[], { originOf }: Context) {
  const odd = table.find(([actions, option]) => !actions.includes(action) && originOf?.(longName(option)) === "flag");
  if (odd === undefined) return;
  const [actions, option] = odd;
  const expected = actions.map((name) => `dtm ${command} ${name}`).join(" or ");
  throw new UsageError(
    `${flagOf(option)}: expected with ${expected}, received with dtm ${command} ${action}, which does not read it. Leave it out.`,
  );
}
