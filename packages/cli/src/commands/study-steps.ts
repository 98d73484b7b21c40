/**
 * The steps of a study, in order: which command each is, what it is given of the study's options, and where its result
 * lies. A study is nothing but these commands; each could be typed by hand, and is recorded as if it had been.
 */
import { join } from "node:path";
import { VARIANT_FAMILIES } from "@trajectory-maps/core/study";
import { longName } from "../option-names.ts";
import { associate } from "./associate.ts";
import {
  type Command,
  FORCE_OPTION,
  JOBS_OPTION,
  listOption,
  type OptionSpec,
  type Options,
  textOption,
} from "./command.ts";
import { compare } from "./compare.ts";
import { fit } from "./fit.ts";
import { groups } from "./groups.ts";
import { inspect } from "./inspect.ts";
import { isFromColumn } from "./origin-table.ts";
import { report } from "./report.ts";
import { sensitivity } from "./sensitivity.ts";

/** What a study is of. */
export interface StudyInputs {
  /** The table of visits; undefined where a query or resources of FHIR stand for it. */
  readonly visits: string | undefined;
  readonly subjects: string | undefined;
  readonly folder: string;
  readonly options: Options;
}

export interface StudyStep {
  readonly command: Command;
  /** Options of the study that go to the command. */
  readonly takes: readonly OptionSpec[];
  readonly args: (inputs: StudyInputs) => readonly string[];
  /** Options that the study gives it by itself. */
  readonly own?: (inputs: StudyInputs) => Options;
  readonly isWanted?: (inputs: StudyInputs) => boolean;
}

/** Options of a command but those named. */
const except = ({ options }: Command, ...names: string[]) =>
  options.filter((option) => ![...names, ...ELSEWHERE].includes(longName(option)));
const only = ({ options }: Command, ...names: string[]) => options.filter((option) => names.includes(longName(option)));

/** Where things are, which the study knows, and what makes no sense within one. */
const ELSEWHERE = ["out", "visits", "subjects", "force", "jobs", "resume", "statistics", "byFile", "rounds", "dryRun"];
/** The form of the table of visits, which need not be that of the individuals. */
const TABLE_FORM = ["id", "delimiter", "decimal", "encoding"];

const visitsOf = ({ visits }: StudyInputs) => (visits === undefined ? [] : [visits]);
const runOf = ({ folder }: StudyInputs) => [folder];
const subjectsOf = ({ subjects }: StudyInputs): Options => (subjects === undefined ? {} : { subjects });
/** The table of individuals where reading visits needs it. */
const subjectsRead = (inputs: StudyInputs): Options => {
  const needed = isFromColumn(inputs.options) || inputs.options.covariates !== undefined;
  return needed ? subjectsOf(inputs) : {};
};
const named = (name: string, value: Options[string]): Options => (value === undefined ? {} : { [name]: value });
const hasOutcomes = ({ subjects, options }: StudyInputs) =>
  subjects !== undefined && (options.outcomes !== undefined || options.event !== undefined);

export const STUDY_STEPS: readonly StudyStep[] = [
  {
    command: inspect,
    takes: except(inspect),
    args: visitsOf,
    own: (inputs) => (isFromColumn(inputs.options) ? subjectsOf(inputs) : {}),
  },
  {
    command: fit,
    takes: except(fit, "outcome"),
    args: visitsOf,
    own: (inputs) => ({ ...subjectsRead(inputs), out: inputs.folder }),
  },
  { command: groups, takes: only(groups, "method", "groups", "stability", "better"), args: runOf },
  { command: compare, takes: only(compare, "models", "folds", "repeats", "mean", "dim"), args: runOf },
  {
    command: associate,
    takes: except(associate, ...TABLE_FORM),
    args: ({ folder, subjects = "" }) => [folder, subjects],
    isWanted: hasOutcomes,
  },
  {
    command: sensitivity,
    takes: only(sensitivity, "tail", "shift", "adjust"),
    args: runOf,
    own: (inputs) => ({
      ...(hasOutcomes(inputs) ? subjectsOf(inputs) : {}),
      ...named("only", inputs.options.sensitivity),
      ...named("folds", inputs.options.sensitivityFolds),
    }),
  },
  {
    command: report,
    takes: except(report, "format", "folds", "compare", "figures", "stability", ...TABLE_FORM),
    args: runOf,
    own: (inputs) => ({
      ...subjectsOf(inputs),
      // Left out of the study, the comparison is not made by its report either.
      ...(leftOut(inputs.options).includes("compare") ? { compare: false } : {}),
      ...(inputs.options.figures === true ? { figures: join(inputs.folder, "figures") } : {}),
    }),
  },
];

/** Options of a study: those of its steps, each once, and its own. */
export const STUDY_OPTIONS: readonly OptionSpec[] = [
  ...STUDY_STEPS.flatMap(({ takes }) => takes).filter(
    (option, k, all) => all.findIndex((other) => longName(other) === longName(option)) === k,
  ),
  { flags: "--subjects <file>", description: "table of individuals: outcomes, covariates, characteristics" },
  { flags: "--without <steps>", description: `steps to leave out, with commas, among ${stepNames(leavable())}` },
  {
    flags: "--sensitivity <list>",
    description: `what the analysis of sensitivity changes: ${VARIANT_FAMILIES.join(", ")}`,
  },
  { flags: "--sensitivity-folds <number>", description: "folds of its held-out scores; 0 for none (default: 5)" },
  { flags: "--figures", description: "also write every figure as a file, into figures/ of the run" },
  { flags: "-o, --out <folder>", description: "folder of the study", default: "run" },
  { flags: "--plan", description: "print what will be done and what it will take; do nothing" },
  JOBS_OPTION,
  FORCE_OPTION,
];

/** Names of the steps that are left out, as they were given. */
export function leftOut(options: Options): readonly string[] {
  return listOption(options, "without") ?? [];
}

/** Steps that a study can do without. */
export function leavable(): readonly StudyStep[] {
  return STUDY_STEPS.filter(({ command }) => command !== inspect && command !== fit);
}

export function stepNames(steps: readonly StudyStep[]): string {
  return steps.map(({ command }) => command.name).join(", ");
}

/** What a step's command is given, without what concerns the machine. */
export function stepOptions({ takes, own }: StudyStep, inputs: StudyInputs): Options {
  const taken = takes.map(longName).filter((name) => inputs.options[name] !== undefined);
  return {
    ...Object.fromEntries(taken.map((name) => [name, inputs.options[name]])),
    ...own?.(inputs),
    seed: textOption(inputs.options, "seed") ?? "1",
  };
}
