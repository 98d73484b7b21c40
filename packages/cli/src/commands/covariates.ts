/** Covariates of individuals: which columns of a table of individuals, how they are coded, and what they change. */
import type { Cohort, TrajectoryModel } from "@trajectory-maps/core";
import {
  COVARIATE_EFFECTS,
  type CovariateChoices,
  type CovariateCoding,
  type CovariateEffect,
  type Covariates,
  codeCovariates,
  encodeTable,
  MISSING_RULES,
  type MissingRule,
  type SubjectsTable,
  showComplaint,
  type WantedCovariate,
} from "@trajectory-maps/core/ingest";
import { codingOf } from "@trajectory-maps/core/models";
import { type Adjustment, adjustmentOf } from "@trajectory-maps/core/study";
import { UsageError } from "../exit-codes.ts";
import { type Context, inGroup, listOption, type OptionSpec, type Options, textOption } from "./command.ts";
import { isFromColumn } from "./origin-table.ts";
import { QUOTING, splitList, unquote } from "./quoted.ts";
import { readSubjectsTable } from "./subjects.ts";

/** The table that covariates stand in. */
export const SUBJECTS_OPTION: OptionSpec = {
  flags: "--subjects <file>",
  description:
    "table of individuals, a row each, with covariates or the origin of times (default: the table of visits)",
};

export const REFERENCE_OPTION: OptionSpec = {
  flags: "--reference <list>",
  description: "levels that others are compared with, as in sex=f,drug=placebo (default: the first)",
};

export const MISSING_OPTION: OptionSpec = {
  flags: "--missing <rule>",
  description: "individuals without a covariate: left out (complete), or with a level of their own (indicator)",
  choices: MISSING_RULES,
  default: "complete",
};

export const COVARIATE_OPTIONS = inGroup("Covariates", [
  SUBJECTS_OPTION,
  {
    flags: "--covariates <list>",
    description:
      "columns with commas; each may say :number or :category, and an effect of its own, as in age,stage:category,sex:level",
  },
  REFERENCE_OPTION,
  MISSING_OPTION,
  {
    flags: "--effects <kind>",
    description:
      "what covariates change: places on the map, or the mean course by its level, level and rate, or a curve",
    choices: COVARIATE_EFFECTS,
    default: "places",
  },
]);

/** Kinds of covariates, which may stand behind their names. */
export const COVARIATE_KINDS = ["number", "category"] as const;

/** What results of a run are adjusted for: columns of the table of individuals that they are read from. */
export const ADJUST_OPTIONS = inGroup("Covariates", [
  {
    flags: "--adjust <list>",
    description:
      "columns that relations to outcomes are adjusted for; each may say :number or :category, as in age,stage:category",
  },
  MISSING_OPTION,
]);

/** The adjustment of a cohort by --adjust; undefined if none is asked for. */
export function readAdjustment(
  table: SubjectsTable | undefined,
  { ids }: Cohort,
  options: Options,
  context: Context,
): Adjustment | undefined {
  const list = listOption(options, "adjust");
  if (list === undefined) {
    if (isChosen(options, MISSING_OPTION)) throw new UsageError("--missing: expected with --adjust.");
    return undefined;
  }
  if (table === undefined)
    throw new UsageError("--adjust: expected a table of individuals: add --subjects subjects.csv.");
  const covariates = codeCovariates(table, ids, {
    covariates: list.map((text) => covariateOf(text, new Map(), "--adjust", COVARIATE_KINDS)),
    // One parameter for each column, whatever it does in a fit.
    effect: "level",
    missing: (textOption(options, "missing") ?? "complete") as MissingRule,
  });
  tellMissing(covariates, context);
  return adjustmentOf(covariates, ids.length);
}

/** Whether an option is given as something else than its default. */
function isChosen(options: Options, { flags, default: usual }: OptionSpec): boolean {
  const value = options[/^--(\w+)/.exec(flags)?.[1] ?? ""];
  return value !== undefined && value !== usual;
}

/** Which covariates are asked for, and how; undefined if none are. `words` may stand behind a name. */
export function covariateChoices(
  options: Options,
  words: readonly string[] = [...COVARIATE_KINDS, ...COVARIATE_EFFECTS],
): CovariateChoices | undefined {
  const list = listOption(options, "covariates");
  const references = new Map(listOption(options, "reference")?.map(referenceOf));
  if (list === undefined) {
    const isOdd = (option: OptionSpec) =>
      isChosen(options, option) && !(option.flags === SUBJECTS_OPTION.flags && isFromColumn(options));
    const odd = COVARIATE_OPTIONS.find(isOdd)?.flags.split(" ")[0];
    const or = odd === "--subjects" ? ", or with --origin column:NAME" : "";
    if (odd !== undefined) throw new UsageError(`${odd}: expected with --covariates, which names the columns${or}.`);
    return undefined;
  }
  const covariates = list.map((text) => covariateOf(text, references, "--covariates", words));
  const unused = [...references.keys()].find((name) => !covariates.some((wanted) => wanted.name === name));
  if (unused !== undefined) {
    throw new UsageError(`--reference: expected names of covariates, received "${unused}".`);
  }
  return {
    covariates,
    effect: (textOption(options, "effects") ?? "places") as CovariateEffect,
    missing: (textOption(options, "missing") ?? "complete") as MissingRule,
  };
}

/** "name", with ":number" or ":category" and an effect behind it in any order. */
function covariateOf(
  text: string,
  references: ReadonlyMap<string, string>,
  option: string,
  words: readonly string[],
): WantedCovariate {
  const [quoted = "", ...rest] = splitList(text, ":");
  const name = unquote(quoted);
  const reference = references.get(name);
  let wanted: WantedCovariate = reference === undefined ? { name } : { name, reference };
  for (const word of rest) {
    if (!words.includes(word)) {
      throw new UsageError(
        `${option}: expected ${words.join(", ")} after the colon, received "${word}" in "${text}". ${QUOTING}`,
      );
    }
    wanted =
      word === "number" || word === "category"
        ? { ...wanted, kind: word }
        : { ...wanted, effect: word as CovariateEffect };
  }
  return wanted;
}

function referenceOf(text: string): [string, string] {
  const [name = "", ...level] = splitList(text, "=");
  if (name === "" || level.length === 0) {
    throw new UsageError(`--reference: expected name=level, such as sex=f, received "${text}".`);
  }
  return [unquote(name), unquote(level.join("="))];
}

/** Ids of individuals who were left out, written out at most. */
const IDS_SHOWN = 5;

/** The covariates of a cohort that is to be fitted; `visits` is its table. Undefined if none are asked for. */
export async function readCovariates(
  visits: string,
  { ids }: Cohort,
  options: Options,
  context: Context,
  sizes: Pick<CovariateChoices, "mapDimension" | "numBasis"> = {},
  own?: SubjectsTable,
): Promise<Covariates | undefined> {
  const choices = covariateChoices(options);
  if (choices === undefined) return undefined;
  const table = await subjectsOf(visits, own, options, context);
  const covariates = codeCovariates(table, ids, { ...choices, ...sizes });
  tellMissing(covariates, context);
  return covariates;
}

/** Says who lacks which covariate, and who is left out. */
function tellMissing({ warnings, leftOut }: Covariates, { talk }: Context): void {
  for (const warning of warnings) talk.warn(`${showComplaint(warning)} [${warning.code}]`);
  if (leftOut.length === 0) return;
  talk.say(`Left out: ${someOf(leftOut)}.`);
}

/** Warns of individuals whose covariates are far outside those fitted. */
export function tellFar(ids: readonly string[], far: readonly (readonly string[])[], { talk }: Context): void {
  const found = ids.filter((_, i) => (far[i]?.length ?? 0) > 0);
  if (found.length === 0) return;
  const names = [...new Set(far.flat())].join(", ");
  talk.warn(
    `${found.length} of ${ids.length} individuals have covariates far outside those fitted (${names}; ${someOf(found)}): what the model says of them is extrapolated.`,
  );
}

function someOf(ids: readonly string[]): string {
  const more = ids.length > IDS_SHOWN ? ` and ${ids.length - IDS_SHOWN} more` : "";
  return `${ids.slice(0, IDS_SHOWN).join(", ")}${more}`;
}

/** Refuses a table of individuals for a model that does not read it. */
export function checkSubjects(model: TrajectoryModel, options: Options): void {
  if (options.subjects === undefined || codingOf(model) !== undefined) return;
  if (isFromColumn(options, model.markers[0]?.columns?.origin)) return;
  throw new UsageError(
    "--subjects: expected with a model of covariates or of times since a column; this one has neither. Leave it out.",
  );
}

/** The coded covariates [m,P] of new individuals, as a model needs them. */
export async function readCovariatesFor(
  coding: CovariateCoding,
  visits: string,
  { ids }: Cohort,
  options: Options,
  context: Context,
  own?: SubjectsTable,
): Promise<Float64Array> {
  return encodeTable(coding, await subjectsOf(visits, own, options, context), ids);
}

/** The table of --subjects, else the one that the visits came with, else their own. */
async function subjectsOf(
  visits: string,
  own: SubjectsTable | undefined,
  options: Options,
  context: Context,
): Promise<SubjectsTable> {
  if (own !== undefined && options.subjects === undefined) return own;
  return readSubjectsTable(tablePath(visits, options), options, context, true);
}

function tablePath(visits: string, options: Options): string {
  const path = textOption(options, "subjects") ?? visits;
  if (path === "-")
    throw new UsageError("--subjects: expected a table of individuals where visits come from standard input.");
  return path;
}
