/** The design of a planned study: a table of visits, of which only times are read, a design file, or flags. */
import { readCohortRows, readSubjectsFile, showComplaint, visitTimes } from "@trajectory-maps/core/ingest";
import type { StudyDesign, VisitSchedule } from "@trajectory-maps/core/study";
import { parse as parseYaml } from "yaml";
import * as z from "zod";
import { UsageError } from "../exit-codes.ts";
import { MOST_SETTINGS, nameOf, readText } from "../io/read.ts";
import { type Context, type OptionSpec, type Options, textOption } from "./command.ts";
import { realNumber, timesOf, wholeNumber } from "./numbers.ts";
import { formOf } from "./table-form.ts";
import { readVisits } from "./visits.ts";
import { visitsSource } from "./visits-source.ts";

/** Options that say who is seen when. */
export const DESIGN_OPTIONS: readonly OptionSpec[] = [
  {
    flags: "--individuals <number>",
    description: "number of individuals (default: those of the table; another number is drawn from them)",
  },
  {
    flags: "--visits <times>",
    description: "scheduled times with commas, or from:to:step; everybody comes to the first",
  },
  { flags: "--missing <share>", description: "share of later visits that are missed (default: 0)" },
  { flags: "--jitter <sd>", description: "standard deviation of the time of a later visit (default: 0)" },
  { flags: "--dropout <rate>", description: "rate at which individuals leave, per unit of time (default: 0)" },
];

const SCHEDULE_NUMBERS = ["missing", "jitter", "dropout"] as const;

const designFile = z.strictObject({
  individuals: z.number().int(),
  visits: z.array(z.number()).min(1),
  missing: z.number().optional(),
  jitter: z.number().optional(),
  dropout: z.number().optional(),
});

/** The design of a table, a design file (YAML, or JSON with the number of individuals), or of flags alone; flags take precedence over a file. */
export async function readDesign(
  path: string | undefined,
  options: Options,
  timeUnit: string,
  context: Context,
): Promise<StudyDesign> {
  const asked = textOption(options, "individuals");
  const given = asked === undefined ? undefined : wholeNumber("--individuals", asked, 10);
  const file = path === undefined ? {} : designOf(path);
  if (file !== undefined) return scheduled(file, given, options);
  const odd = ["visits", ...SCHEDULE_NUMBERS].find((name) => options[name] !== undefined);
  if (odd !== undefined) {
    throw new UsageError(`--${odd}: expected for a schedule, received with a table of visits. Leave one of them out.`);
  }
  const histories = await readTimes(path ?? "-", options, timeUnit, context);
  return { numIndividuals: given ?? histories.length, visits: histories };
}

/** What a design file says; undefined for a table. */
function designOf(path: string): z.infer<typeof designFile> | undefined {
  const isJson = /\.json$/i.test(path);
  if (!isJson && !/\.ya?ml$/i.test(path)) return undefined;
  let raw: unknown;
  try {
    const text = readText(path, MOST_SETTINGS);
    raw = isJson ? JSON.parse(text) : parseYaml(text);
  } catch (error) {
    // JSON that holds a row a line is a table.
    if (isJson && error instanceof SyntaxError) return undefined;
    const reason = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
    throw new UsageError(`${path}: expected a design as YAML or JSON, received text that is neither: ${reason}`);
  }
  if (isJson && (typeof raw !== "object" || raw === null || !("individuals" in raw))) return undefined;
  const parsed = designFile.safeParse(raw);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const where = issue === undefined || issue.path.length === 0 ? "" : ` (${issue.path.join(".")})`;
  throw new UsageError(
    `${path}: expected individuals, visits (a list of times) and, if wanted, missing, jitter, dropout; received something else${where}: ${issue?.message}.`,
  );
}

function scheduled(
  file: Partial<z.infer<typeof designFile>>,
  individuals: number | undefined,
  options: Options,
): StudyDesign {
  const visits = textOption(options, "visits");
  const times = visits === undefined ? file.visits : [...timesOf("--visits", visits)];
  const numIndividuals = individuals ?? file.individuals;
  if (times === undefined || numIndividuals === undefined) {
    throw new UsageError(
      "Name a table of visits or a design file, or give --individuals 300 --visits 0,0.5,1,2,3 (and --missing, --jitter, --dropout).",
    );
  }
  const numbers = SCHEDULE_NUMBERS.flatMap((name): [string, number][] => {
    const text = textOption(options, name);
    const value = text === undefined ? file[name] : realNumber(`--${name}`, text);
    return value === undefined ? [] : [[name, value]];
  });
  return { numIndividuals, visits: { times, ...Object.fromEntries(numbers) } as VisitSchedule };
}

/** The name that no column of a table has. */
const NO_VALUE = "dtm: no value";

/** Times of everybody's visits. Where no value column is named every row is a visit, whether it has values or not. */
async function readTimes(path: string, options: Options, timeUnit: string, context: Context): Promise<Float64Array[]> {
  const unit = textOption(options, "timeUnit") ?? timeUnit;
  const named = ["value", "markers", "wide"].some((name) => options[name] !== undefined);
  const { cohort } = named
    ? await readVisits(path, { ...options, timeUnit: unit }, context)
    : await readRows(path, options, unit, context);
  const { offsets, times } = visitTimes(cohort);
  return cohort.ids.map((_, i) => times.slice(offsets[i], offsets[i + 1]));
}

async function readRows(path: string, options: Options, timeUnit: string, { talk }: Context) {
  const [id, time] = ["id", "time"].map((name) => textOption(options, name));
  const form = { file: nameOf(path), ...formOf(options) };
  const { table } = await readSubjectsFile(await visitsSource(path, options), { ...form, ...(id && { id }) });
  const header = [...table.columns.map(({ name }) => name), NO_VALUE];
  const rows = table.ids.map((_, r) => [...table.columns.map(({ cells }) => cells[r] ?? ""), "1"]);
  const columns = { ...(id && { id }), ...(time && { time }), value: NO_VALUE };
  const read = readCohortRows(header, rows, { ...form, columns, marker: { timeUnit } });
  for (const note of read.notes) talk.say(note);
  // Rows that repeat id and time, and what is told of values, are of no interest here.
  for (const warning of read.warnings) {
    if (warning.code !== "duplicate-rows") talk.warn(`${showComplaint(warning)} [${warning.code}]`);
  }
  return read;
}
