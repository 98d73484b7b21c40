/** The `dtm` program: commands as data become a commander program; this is the only place that decides the exit code. */
import process from "node:process";
import { Argument, CommanderError, Option, Command as Program } from "commander";
import { commandText } from "./command-line.ts";
import {
  COMMON_OPTIONS,
  type Command,
  type Context,
  type OptionSpec,
  type Options,
  textOption,
} from "./commands/command.ts";
import { COMMANDS, loadAll } from "./commands/list.ts";
import { EXIT, type ExitCode, exitCodeOf, messageOf, StoppedError, UsageError } from "./exit-codes.ts";
import { toJson } from "./io/json.ts";
import { whileLocked } from "./io/lock.ts";
import { isSameFile } from "./io/read.ts";
import { guardStreams, type Print, printOut } from "./io/standard-streams.ts";
import { ownVersion } from "./io/version.ts";
import { checkNumbers } from "./numeric-options.ts";
import { environmentName, flagOf, isNegated, longName, saidYes, takesValue } from "./option-names.ts";
import { plain } from "./print/plain.ts";
import { createTalk, type Talk, type TalkForm } from "./print/talk.ts";
import { mergeConfig, showSettings } from "./settings.ts";

/** One start of the program: what was typed, where results go, and the voice it has once options are known. */
interface Session {
  readonly argv: readonly string[];
  readonly print: Print;
  talk: Talk;
}

/** Runs the program as a process of its own: sets its exit code. */
export async function start(argv: readonly string[]): Promise<void> {
  let isLost = false;
  guardStreams((error) => {
    isLost = true;
    process.exitCode = EXIT.file;
    createTalk({ quiet: false }).fail(error.message);
  });
  const code = await main(argv);
  if (!isLost) process.exitCode = code;
}

/** Runs the program with the arguments after `dtm`; returns the exit code. */
export async function main(argv: readonly string[], print: Print = printOut): Promise<ExitCode> {
  const session: Session = { argv, print, talk: createTalk({ quiet: false }) };
  const completing = argv[0] === "complete";
  try {
    const program = await buildProgram(session, completing ? await loadAll() : await askedFor(argv));
    if (completing) (await import("./completion.ts")).addCompletion(program);
    await program.parseAsync([...argv], { from: "user" });
    return EXIT.ok;
  } catch (error) {
    // A shell that asks for suggestions must not be talked to.
    return completing && argv[1] === "--" ? EXIT.ok : reportFailure(error, session);
  }
}

/** The command that is typed, if there is one; the others are only named. */
async function askedFor(argv: readonly string[]): Promise<readonly Command[]> {
  const words = argv.filter((word) => !word.startsWith("-"));
  const [first, second, third] = words;
  const name = first === "config" ? third : first === "help" ? second : first;
  const entry = COMMANDS.find((known) => known.name === name);
  return entry === undefined ? [] : [await entry.load()];
}

async function buildProgram(session: Session, loaded: readonly Command[]): Promise<Program> {
  const program = new Program("dtm")
    .description(
      "Disease trajectory maps: place individuals with irregular marker series on a map, forecast their courses, compare models.",
    )
    .version(ownVersion(), "-V, --version", "print the version")
    .option("-q, --quiet", "print nothing on standard error but errors")
    .option("--debug", "print the stack trace of an unexpected error")
    .exitOverride()
    .configureOutput({ writeOut: session.print, outputError: (text, write) => write(plain(text)) })
    .configureHelp({ subcommandTerm: (command) => `${command.name()} ${usageOf(command)}`.trim() })
    .showHelpAfterError("Run with --help for usage.")
    .addHelpText(
      "after",
      "\nA study, step by step:\n  dtm inspect visits.csv\n  dtm fit visits.csv --id id --time years --value fvc -o run/\n" +
        "  dtm associate run/ subjects.csv --outcomes death,ild\n  dtm report run/ --subjects subjects.csv -o report.html",
    );
  const config = new Program("config").summary("where the value of each option comes from").usage("show <command>");
  config.description("Show settings: flag, then DTM_* environment, then --config file, then default.");
  const show = new Program("show").summary("the settings of a command, and where each is from").usage("<command>");
  show.description("Show the settings of a command as they would be used, each with its origin; nothing is run.");
  show.addHelpText("after", "\nExamples:\n  dtm config show fit --config study.yaml --transform log");
  config.copyInheritedSettings(program).addCommand(show.copyInheritedSettings(program));
  for (const entry of COMMANDS) {
    const command = loaded.find(({ name }) => name === entry.name);
    const stub = () => new Program(entry.name).summary(entry.summary).usage(entry.usage);
    program.addCommand(command === undefined ? stub() : toProgram(command, program, session).summary(entry.summary));
    show.addCommand(command === undefined ? stub() : toShow(command, program, session).summary(entry.summary));
  }
  return program.addCommand(config);
}

/** The arguments of a command as the first page of help shows them. */
function usageOf(command: Program): string {
  return COMMANDS.find(({ name }) => name === command.name())?.usage ?? command.usage();
}

function toProgram(command: Command, parent: Program, session: Session): Program {
  const program = withOptions(command, parent);
  for (const { name, description, optional, variadic, choices } of command.arguments) {
    const shown = variadic === true ? `${name}...` : name;
    const argument = new Argument(optional === true ? `[${shown}]` : `<${shown}>`, description);
    program.addArgument(choices === undefined ? argument : argument.choices([...choices]));
  }
  program.addHelpText("after", `\nExamples:\n${command.examples.map((example) => `  ${example}`).join("\n")}`);
  program.action(async () => {
    await mergeConfig(program, command);
    const options = program.optsWithGlobals();
    checkNumbers(command, options);
    checkNoInput(program.args, options);
    session.talk = createTalk({ quiet: options.quiet === true, form: options.progress as TalkForm });
    const folder = command.writes?.(program.args, options);
    const result = await whileLocked(folder, () => command.run(program.args, options, contextOf(session, program)));
    session.print(options.json === true ? toJson(result.json) : shown(withLineEnd(result.text)));
    if (result.failure !== undefined) throw result.failure;
  });
  return program;
}

/** Refuses to write a result over a file that it is made from, with --force too. */
function checkNoInput(args: readonly string[], options: Options): void {
  const out = textOption(options, "out");
  const inputs = [...args, textOption(options, "subjects"), textOption(options, "visits")];
  if (out === undefined || !inputs.some((path) => path !== undefined && isSameFile(path, out))) return;
  throw new UsageError(`--out: expected another file than ${out}, which is read. Name another.`);
}

/** `dtm config show COMMAND`: takes what the command takes, and runs nothing. */
function toShow(command: Command, parent: Program, session: Session): Program {
  const program = withOptions(command, parent).argument("[arguments...]", "as for the command; not read");
  program.action(async () => {
    await mergeConfig(program, command);
    const { quiet, json } = program.optsWithGlobals();
    session.talk = createTalk({ quiet: quiet === true });
    const result = showSettings(program, command);
    session.print(json === true ? toJson(result.json) : withLineEnd(result.text));
  });
  return program;
}

function withOptions(command: Command, parent: Program): Program {
  const program = new Program(command.name).description(command.description).copyInheritedSettings(parent);
  for (const option of [...command.options, ...COMMON_OPTIONS]) {
    program.addOption(toOption(option));
    if (takesValue(option) && option.repeatable !== true) refuseTwice(program, option);
  }
  return program;
}

/** Refuses an option that is given twice with two values, of which the last would win in silence. */
function refuseTwice(program: Program, specification: OptionSpec): void {
  const given: string[] = [];
  program.on(`option:${flagOf(specification).slice(2)}`, (value: string | null) => {
    given.push(value ?? "no value");
    const [first] = given;
    if (first === given.at(-1)) return;
    const received = given.map((one) => `"${one}"`).join(" and ");
    throw new UsageError(`${flagOf(specification)}: expected once, received ${received}. Give one of them.`);
  });
}

/** Text of a result as it is in a file, and safe on a terminal. */
function shown(text: string): string {
  return process.stdout.isTTY ? plain(text) : text;
}

function withLineEnd(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

function toOption(specification: OptionSpec): Option {
  const { flags, description, default: preset, choices, repeatable, group } = specification;
  const option = new Option(flags, description);
  const variable = environmentName(specification);
  // The variable is the same for every option; one line in the documentation says it better than thirty in the help.
  if (longName(specification) !== "config" && isSaid(specification, process.env[variable])) option.env(variable);
  if (group !== undefined) option.helpGroup(`${group}:`);
  if (choices !== undefined) option.choices([...choices]);
  if (preset !== undefined && preset !== "") option.default(preset, String(preset));
  if (repeatable === true) option.argParser((value: string, all: string[] | undefined) => [...(all ?? []), value]);
  return option;
}

/** Whether a variable gives an option: of a flag its words are read, since commander asks only whether the variable is there. */
function isSaid(specification: OptionSpec, text: string | undefined): boolean {
  if (text === undefined || takesValue(specification)) {
    // Of an option that may stand alone, no means that it was not given.
    return text !== undefined && !(specification.flags.includes("[") && saidYes(text) === false);
  }
  const yes = saidYes(text);
  if (yes === undefined) {
    const expected = "1, true, yes or on, or 0, false, no or off";
    throw new UsageError(`${environmentName(specification)}: expected ${expected}, received "${text}".`);
  }
  return yes !== isNegated(specification);
}

function contextOf({ talk, argv }: Session, program: Program): Context {
  const originOf = (option: string) => {
    const source = program.getOptionValueSource(option);
    return source === "cli" ? "flag" : source === "env" || source === "config" ? "setting" : undefined;
  };
  return { talk, commandLine: commandText(argv), originOf };
}

/** Says what went wrong, without a stack unless asked for, and gives the exit code. */
function reportFailure(error: unknown, { talk, argv }: Session): ExitCode {
  // Commander has already printed help, version or the complaint.
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  const code = exitCodeOf(error);
  const message = messageOf(error);
  if (code === EXIT.internal) talk.fail(`something went wrong that should not have (internal): ${message}`);
  else if (error instanceof StoppedError) talk.insist(message);
  else talk.fail(message);
  const debug = argv.includes("--debug");
  if (debug && error instanceof Error) talk.say(error.stack ?? "");
  else if (code === EXIT.internal) talk.say("Run it again with --debug to see where it came from.");
  return code;
}
