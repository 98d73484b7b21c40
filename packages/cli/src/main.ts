/** The `dtm` program: commands as data become a commander program; this is the only place that decides the exit code. */
import { basename } from "node:path";
import process from "node:process";
import { LIBRARY_VERSION } from "@trajectory-maps/core";
import { Argument, CommanderError, Option, Command as Program } from "commander";
import { associate } from "./commands/associate.ts";
import { COMMON_OPTIONS, type Command, type Context, type OptionSpec } from "./commands/command.ts";
import { compare } from "./commands/compare.ts";
import { demo } from "./commands/demo.ts";
import { doctor } from "./commands/doctor.ts";
import { embedCommand } from "./commands/embed.ts";
import { fit } from "./commands/fit.ts";
import { groups } from "./commands/groups.ts";
import { inspect } from "./commands/inspect.ts";
import { predictCommand } from "./commands/predict.ts";
import { report } from "./commands/report.ts";
import { simulate } from "./commands/simulate.ts";
import { addCompletion, isCompletionRequest } from "./completion.ts";
import { environmentName, longName, readConfig } from "./config.ts";
import { EXIT, type ExitCode, exitCodeOf } from "./exit-codes.ts";
import { toJson } from "./io/json.ts";
import { createTalk } from "./print/talk.ts";

export const COMMANDS: readonly Command[] = [
  inspect,
  fit,
  embedCommand,
  predictCommand,
  compare,
  groups,
  associate,
  report,
  simulate,
  demo,
  doctor,
];

/** Runs the program with the arguments after `dtm`; returns the exit code. */
export async function main(argv: readonly string[]): Promise<ExitCode> {
  const program = buildProgram(argv);
  addCompletion(program);
  try {
    await program.parseAsync([...argv], { from: "user" });
    return EXIT.ok;
  } catch (error) {
    return isCompletionRequest(argv) ? EXIT.ok : reportFailure(error, argv);
  }
}

function buildProgram(argv: readonly string[]): Program {
  const program = new Program("dtm")
    .description("Disease trajectory maps: place individuals with irregular marker series on a map, forecast, compare.")
    .version(LIBRARY_VERSION, "-V, --version", "print the version")
    .option("-q, --quiet", "no talk on standard error but errors")
    .option("--debug", "show where an unforeseen error came from")
    .exitOverride()
    .showHelpAfterError("Run it with --help to see what it takes.")
    .addHelpText(
      "after",
      "\nA study, step by step:\n  dtm inspect visits.csv\n  dtm fit visits.csv --id id --time years --value fvc -o run/\n" +
        "  dtm associate run/ subjects.csv --outcomes death,ild\n  dtm report run/ --subjects subjects.csv -o report.html",
    );
  for (const command of COMMANDS) program.addCommand(toProgram(command, program, argv));
  return program;
}

function toProgram(command: Command, parent: Program, argv: readonly string[]): Program {
  const program = new Program(command.name).description(command.description).copyInheritedSettings(parent);
  for (const { name, description, optional, choices } of command.arguments) {
    const argument = new Argument(optional === true ? `[${name}]` : `<${name}>`, description);
    program.addArgument(choices === undefined ? argument : argument.choices([...choices]));
  }
  const specifications = [...command.options, ...COMMON_OPTIONS];
  for (const option of specifications) program.addOption(toOption(option));
  program.addHelpText("after", `\nExamples:\n${command.examples.map((example) => `  ${example}`).join("\n")}`);
  program.action(async () => {
    const file = program.opts().config;
    if (typeof file === "string") {
      for (const [name, value] of Object.entries(readConfig(file, command, COMMANDS))) {
        const source = program.getOptionValueSource(name);
        if (value === undefined || source === "cli" || source === "env") continue;
        program.setOptionValueWithSource(name, value, "config");
      }
    }
    const options = program.optsWithGlobals();
    const result = await command.run(program.args, options, contextOf(options, argv));
    process.stdout.write(options.json === true ? toJson(result.json) : withLineEnd(result.text));
    if (result.failure !== undefined) throw result.failure;
  });
  return program;
}

function withLineEnd(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

function toOption(specification: OptionSpec): Option {
  const { flags, description, default: preset, choices, repeatable } = specification;
  const option = new Option(flags, description);
  if (longName(specification) !== "config") option.env(environmentName(specification));
  // The variable is the same for every option; one line in the documentation says it better than thirty in the help.
  option.envVar = option.envVar && process.env[option.envVar] !== undefined ? option.envVar : undefined;
  if (choices !== undefined) option.choices([...choices]);
  if (preset !== undefined && preset !== "") option.default(preset);
  if (repeatable === true) option.argParser((value: string, all: string[] | undefined) => [...(all ?? []), value]);
  return option;
}

function contextOf(options: { readonly quiet?: boolean }, argv: readonly string[]): Context {
  return {
    talk: createTalk({ quiet: options.quiet === true }),
    commandLine: ["dtm", ...argv.map(withoutFolder)].map(shellWord).join(" "),
  };
}

/** A path's last part: records are shared, and folders tell of people and machines. */
function withoutFolder(word: string): string {
  return /[\\/]./.test(word) ? basename(word) : word;
}

/** A word as it can be pasted into a shell. */
function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Says what went wrong, without a stack unless asked for, and gives the exit code. */
function reportFailure(error: unknown, argv: readonly string[]): ExitCode {
  // Commander has already printed help, version or the complaint.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  const talk = createTalk({ quiet: false });
  const code = exitCodeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  if (code === EXIT.internal) talk.fail(`something went wrong that should not have (internal): ${message}`);
  else if (code === EXIT.interrupted || code === EXIT.terminated) talk.say(message);
  else talk.fail(message);
  const debug = argv.includes("--debug");
  if (debug && error instanceof Error) talk.say(error.stack ?? "");
  else if (code === EXIT.internal) talk.say("Run it again with --debug to see where it came from.");
  return code;
}
