/** Visits and outcomes from OMOP CDM: what is asked for, how rows become observations, and what is told of them. */
import { DAYS_PER, dayNumber, type TypedRows, timeUnitOf } from "@trajectory-maps/core/ingest";
import {
  askMeasurements,
  askSubjects,
  cellsOf,
  conceptNames,
  countMeasurements,
  type OmopCount,
  type OmopQuestion,
} from "../databases/omop.ts";
import { UsageError } from "../exit-codes.ts";
import { counted } from "../print/words.ts";
import { type Context, inGroup, listOption, type OptionSpec, type Options, textOption } from "./command.ts";

export const OMOP_OPTIONS = inGroup("OMOP CDM", [
  {
    flags: "--omop <address>",
    description: "visits from OMOP CDM tables: postgres://user@host/name, a DuckDB file, or a folder of CSV or Parquet",
  },
  { flags: "--schema <name>", description: "with --omop: schema of the tables in the database" },
  { flags: "--measurement <concepts>", description: "with --omop: measurement concepts of the marker, with commas" },
  {
    flags: "--index <day>",
    description:
      "with --omop: the day that times are counted from: first (value), observation_period, birth, or condition:CONCEPT (default: first)",
  },
  {
    flags: "--unit-concept <concepts>",
    description: "with --omop: units that are taken, with commas, 0 for none (default: the only one there is)",
  },
]);

export const OUTCOME_OPTION: OptionSpec = {
  flags: "--outcome <list>",
  description: "with --omop: outcomes for a table of individuals, with commas: death, condition:CONCEPT",
};

/** The column with the day of the index. */
const INDEX = "index_date";

/** Operators of OMOP by their concepts; of a value at or below a limit nothing more is known than of one below. */
const OPERATORS: ReadonlyMap<number, string> = new Map([
  [0, ""],
  [4172703, ""],
  [4171756, "<"],
  [4171754, "<"],
  [4172704, ">"],
  [4171755, ">"],
]);

function omopQuestion(options: Options): OmopQuestion {
  if (options.origin !== undefined) {
    throw new UsageError("--origin: expected with a table; with --omop times are counted from the day of --index.");
  }
  const address = textOption(options, "omop") ?? "";
  const schema = textOption(options, "schema");
  const concepts = conceptsOf("--measurement", listOption(options, "measurement") ?? []);
  if (concepts.length === 0)
    throw new UsageError("--omop: expected the concepts of the marker. Add --measurement 3004410.");
  const [kind, ...rest] = (textOption(options, "index") ?? "first").split(":");
  if (kind === "condition" && rest.length > 0) {
    const index = { kind: "condition", concepts: conceptsOf("--index", rest.join(":").split(",")) } as const;
    return { address, concepts, index, ...(schema === undefined ? {} : { schema }) };
  }
  if (rest.length > 0 || (kind !== "first" && kind !== "observation_period" && kind !== "birth")) {
    throw new UsageError(
      `--index: expected first, observation_period, birth or condition:CONCEPT, received "${textOption(options, "index")}".`,
    );
  }
  return { address, concepts, index: { kind, concepts: [] }, ...(schema === undefined ? {} : { schema }) };
}

function conceptsOf(flag: string, words: readonly string[]): number[] {
  return words.map((word) => {
    if (!/^\d{1,15}$/.test(word.trim()))
      throw new UsageError(`${flag}: expected whole numbers of concepts, received "${word}".`);
    return Number(word);
  });
}

/** What is read of a database: its rows as id, date, day of the index and value, from when they are counted, what is known of the marker, and what is told afterwards. */
export interface OmopVisits {
  readonly rows: TypedRows;
  readonly origin: string;
  readonly marker: { readonly name: string; readonly unit: string };
  readonly tell: () => void;
}

export async function omopVisits(options: Options, { talk }: Context): Promise<OmopVisits> {
  const question = omopQuestion(options);
  const counts = await countMeasurements(question);
  const units = unitsOf(counts, question, options);
  const ids = [...question.concepts, ...counts.map(({ unit }) => unit)];
  const names = await conceptNames(question, [...new Set(ids)]);
  const nameOf = (concept: number) => names.get(concept) ?? `concept ${concept}`;
  if (question.concepts.length > 1) {
    const each = question.concepts.map(
      (concept) => `${nameOf(concept)}: ${total(counts, (own) => own.concept === concept)}`,
    );
    talk.say(`Rows of each measurement concept, taken as one marker: ${each.join("; ")}.`);
  }
  const otherUnits = total(counts, ({ unit }) => !units.includes(unit));
  if (otherUnits > 0)
    talk.warn(`${counted(otherUnits, "row")} in other units, or without one, are left out (--unit-concept).`);
  if (units.every((unit) => unit === 0))
    talk.warn("The measurements have no unit (unit_concept_id 0); they are taken as of one.");
  const lost = { withoutIndex: 0, people: new Set<string>(), operators: new Map<string, number>() };
  const answer = await askMeasurements(question, units);
  async function* batches() {
    for await (const batch of answer.batches) {
      yield batch.flatMap((row) => {
        const [person = "", day = "", index = "", value = "", operator = ""] = cellsOf(row);
        const sign = OPERATORS.get(Number(operator));
        if (index === "") {
          lost.withoutIndex++;
          lost.people.add(person);
          return [];
        }
        if (sign === undefined) {
          lost.operators.set(operator, (lost.operators.get(operator) ?? 0) + 1);
          return [];
        }
        return [[person, day, index, value === "" ? "" : `${sign}${value}`]];
      });
    }
  }
  const tell = () => {
    if (lost.people.size > 0) {
      talk.warn(
        `${counted(lost.people.size, "individual")} without the day of --index ${textOption(options, "index") ?? "first"} (${counted(lost.withoutIndex, "row")}) are left out.`,
      );
    }
    for (const [operator, count] of lost.operators) {
      talk.warn(
        `${counted(count, "row")} with the operator concept ${operator}, which is none of <, <=, =, >=, >, are left out.`,
      );
    }
  };
  const rows = {
    columns: ["id", "date", INDEX, "value"],
    batches: batches(),
    ...(answer.close && { close: answer.close }),
  };
  const unit = units.length === 1 && units[0] !== 0 ? (names.get(units[0] ?? 0) ?? "") : "";
  const origin = question.index.kind === "first" ? "first" : `column:${INDEX}`;
  return { rows, origin, marker: { name: nameOf(question.concepts[0] ?? 0), unit }, tell };
}

/** Units that are taken: those asked for, or the only one; rows without a unit are only taken where none has one. */
function unitsOf(counts: readonly OmopCount[], { concepts }: OmopQuestion, options: Options): number[] {
  const asked = listOption(options, "unitConcept");
  if (asked !== undefined) return conceptsOf("--unit-concept", asked);
  if (counts.length === 0) {
    throw new UsageError(
      `--measurement: expected concepts of measurements that are there, received ${concepts.join(", ")}, of which there is no row.`,
    );
  }
  const known = [...new Set(counts.map(({ unit }) => unit))].filter((unit) => unit !== 0);
  if (known.length < 2) return known.length === 0 ? [0] : known;
  const each = known.map(
    (unit) =>
      `${unit} (${counted(
        total(counts, (own) => own.unit === unit),
        "row",
      )})`,
  );
  throw new UsageError(
    `--measurement: expected values in one unit, received the unit concepts ${each.join(", ")}. Choose with --unit-concept.`,
  );
}

function total(counts: readonly OmopCount[], holds: (count: OmopCount) => boolean): number {
  return counts.filter(holds).reduce((sum, { rows }) => sum + rows, 0);
}

/** Whole days between two days. */
function daysBetween(from: string, to: string): number {
  const day = (text: string) => {
    const [year = 0, month = 0, date = 0] = text.slice(0, 10).split("-").map(Number);
    return dayNumber(year, month, date);
  };
  return day(to) - day(from);
}

const SEX: ReadonlyMap<string, string> = new Map([
  ["8507", "male"],
  ["8532", "female"],
]);

/** An outcome as a column: its name, and the day of it in a row of the database. */
function outcomesOf(options: Options): { readonly name: string; readonly concept?: number }[] {
  return (listOption(options, "outcome") ?? []).map((word) => {
    if (word === "death") return { name: "death" };
    const [, concept] = /^condition:(\d{1,15})$/.exec(word) ?? [];
    if (concept !== undefined) return { name: `condition_${concept}`, concept: Number(concept) };
    throw new UsageError(`--outcome: expected death or condition:CONCEPT, received "${word}".`);
  });
}

/**
 * Individuals with sex, age in years on the index day, and for each outcome whether it was ever seen (0 or 1) and the time from the index day to
 * it, counted as that of visits is, or to death or the end of observation, whichever comes first; empty where the outcome was there before the index day.
 */
export async function omopSubjects(options: Options): Promise<{ columns: string[]; rows: string[][] }> {
  const question = omopQuestion(options);
  const units = unitsOf(await countMeasurements(question), question, options);
  const outcomes = outcomesOf(options);
  const unit = timeUnitOf(textOption(options, "timeUnit") ?? "years") ?? "years";
  const concepts = outcomes.flatMap(({ concept }) => (concept === undefined ? [] : [concept]));
  const people = new Map<string, { readonly about: readonly string[]; readonly days: Map<number, string> }>();
  for (const cells of await askSubjects(question, units, concepts)) {
    const [id = "", , , , , , concept = "", day = ""] = cells;
    const person = people.get(id) ?? { about: cells, days: new Map() };
    people.set(id, person);
    if (concept !== "") person.days.set(Number(concept), day);
  }
  const rows = [...people].map(([id, { about, days }]) => {
    const [, index = "", gender = "", birth = "", last = "", death = ""] = about;
    const end = [death, last].filter((day) => day !== "").sort()[0] ?? "";
    const cells = outcomes.flatMap(({ concept }) => {
      const day = concept === undefined ? death : (days.get(concept) ?? "");
      const until = day === "" ? end : day;
      const time = until === "" ? Number.NaN : daysBetween(index, until) / DAYS_PER[unit];
      return [day === "" ? "0" : "1", time >= 0 ? String(time) : ""];
    });
    return [
      id,
      SEX.get(gender) ?? "",
      birth === "" ? "" : String(daysBetween(birth, index) / DAYS_PER.years),
      ...cells,
    ];
  });
  const names = outcomes.flatMap(({ name }) => [name, `${name}_time`]);
  return { columns: ["id", "sex", "age", ...names], rows: rows.sort((a, b) => Number(a[0]) - Number(b[0])) };
}
