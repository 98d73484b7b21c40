/** The `dtm` program: commands as data become a commander program; this is the only place that decides the exit code. */
import process from "node:process";
import { LIBRARY_VERSION } from "@trajectory-maps/core";
import { CommanderError, Option, Command as Program } from "commander";
import type { Command, Context, OptionSpec } from "./commands/command.ts";
import { demo } from "./commands/demo.ts";
import { fit } from "./commands/fit.ts";
import { EXIT, type ExitCode, exitCodeOf } from "./exit-codes.ts";
import { createTalk } from "./print/talk.ts";

const COMMANDS: readonly Command[] = [demo, fit];

/** Runs the program with the arguments after `dtm`; returns the exit code. */
export async function main(argv: readonly string[]): Promise<ExitCode> {
  const program = buildProgram();
  try {
    await program.parseAsync([...argv], { from: "user" });
    return EXIT.ok;
  } catch (error) {
    return report(error, argv);
  }
}

function buildProgram(): Program {
  const program = new Program("dtm")
    .description("Disease trajectory maps: place individuals with irregular marker series on a map, forecast, compare.")
    .version(LIBRARY_VERSION, "-V, --version", "print the version")
    .option("-q, --quiet", "no talk on standard error but errors")
    .option("--debug", "show where an unforeseen error came from")
    .exitOverride()
    .showHelpAfterError("Run it with --help to see what it takes.");
  for (const command of COMMANDS) program.addCommand(toProgram(command, program));
  return program;
}

function toProgram(command: Command, parent: Program): Program {
  const program = new Program(command.name).description(command.description).copyInheritedSettings(parent);
  for (const { name, description } of command.arguments) program.argument(`<${name}>`, description);
  for (const option of command.options) program.addOption(toOption(option));
  program.addHelpText("after", `\nExamples:\n${command.examples.map((example) => `  ${example}`).join("\n")}`);
  program.action(() => command.run(program.args, program.opts(), contextOf(program.optsWithGlobals())));
  return program;
}

function toOption({ flags, description, default: preset, choices, repeatable }: OptionSpec): Option {
  const option = new Option(flags, description);
  if (choices !== undefined) option.choices([...choices]);
  if (preset !== undefined && preset !== "") option.default(preset);
  if (repeatable === true) option.argParser((value: string, all: string[] | undefined) => [...(all ?? []), value]);
  return option;
}

function contextOf(options: { readonly quiet?: boolean }): Context {
  return {
    print: (text) => {
      process.stdout.write(`${text}\n`);
    },
    talk: createTalk({ quiet: options.quiet === true }),
  };
}

/** Says what went wrong, without a stack unless asked for, and gives the exit code. */
function report(error: unknown, argv: readonly string[]): ExitCode {
  // Commander has already printed help, version or the complaint.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  const talk = createTalk({ quiet: false });
  const code = exitCodeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  if (code === EXIT.internal) talk.fail(`something went wrong that should not have (internal): ${message}`);
  else talk.fail(message);
  const debug = argv.includes("--debug");
  if (debug && error instanceof Error) talk.say(error.stack ?? "");
  else if (code === EXIT.internal) talk.say("Run it again with --debug to see where it came from.");
  return code;
}
