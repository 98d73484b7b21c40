/** How a table is written and from when its times are counted, as the user says it or it was recognised. Pure, so that it can be tested. */
import type { TablePreview, Thousands } from "@trajectory-maps/core/ingest";
import type { TableForm } from "../../worker/api.ts";
import { unitColumnsOf } from "./marker-units.ts";
import type { TableChoice } from "./table-choice.ts";

/** What was said of the form of a table; "none" and false are answers too. */
export interface SaidForm
  extends Omit<TableForm, "decimal" | "thousands" | "wide" | "partialDates" | "swappedDates" | "unitColumns"> {
  readonly thousands?: Thousands | "none";
  readonly wide?: true | string | false;
  readonly partialDates?: "middle" | "none";
  readonly swappedDates?: boolean;
  /** The column with the unit of each value, by the source of each marker; empty if its values are left as they are. */
  readonly unitColumns?: Readonly<Record<string, string>>;
}

/** The table as it is read: a wide one as one row per visit, once that is said. */
export function tableAsRead(preview: TablePreview, form: SaidForm): TablePreview {
  const isLong = form.wide !== undefined && form.wide !== false && preview.wide !== undefined;
  return isLong ? { ...preview, ...preview.wide } : preview;
}

/** Whether it has to be said if columns are times of a marker. */
export function asksWide({ kind, wide }: TablePreview): boolean {
  return kind === "wide" && wide !== undefined;
}

/** The unit of the numbers in names of columns: as the names say, years of the calendar, or months where they look like those. */
export function wideUnit({ unit, rows, header, time }: NonNullable<TablePreview["wide"]>): string {
  if (unit !== undefined) return unit;
  const times = rows.map((row) => Number(row[header.indexOf(time)]));
  if (times.some((t) => !Number.isInteger(t)) || times.every((t) => t >= FIRST_YEAR)) return "years";
  return Math.max(...times) >= 6 && times.every((t) => t % 3 === 0) ? "months" : "years";
}

const FIRST_YEAR = 1800;

/** Whether the column of times holds dates. */
export function isDated({ positions }: TableChoice, table: TablePreview): boolean {
  return table.columns[positions.time]?.dates !== undefined;
}

/** Whether times are numbers of years in the calendar. */
function isCalendar({ positions }: TableChoice, { rows }: TablePreview): boolean {
  const cells = rows.map((row) => (row[positions.time] ?? "").trim()).filter((cell) => cell !== "");
  return cells.length > 0 && cells.every((cell) => /^(18|19|20|21)\d\d$/.test(cell));
}

/** From when times are counted, as the reader is asked; undefined for numbers that are taken as they are. */
export function originOf(choice: TableChoice, table: TablePreview): string | undefined {
  return choice.form.origin ?? (isDated(choice, table) ? "first" : undefined);
}

export interface OriginOption {
  readonly origin: string;
  readonly words: string;
}

/** Another table that lies beside the visits: one row per individual. */
export interface Beside {
  readonly name: string;
  readonly preview: TablePreview;
}

/** Origins to choose from; none where times are numbers since some origin already. */
export function originOptions(choice: TableChoice, table: TablePreview, beside: Beside | null): OriginOption[] {
  const chosen = originOf(choice, table);
  if (!isDated(choice, table)) {
    const isAsked = isCalendar(choice, table) || (chosen !== undefined && chosen !== "none");
    if (!isAsked) return [];
    return withChosen([NUMBERS, FIRST], chosen === undefined ? "none" : chosen);
  }
  const dated = (columns: TablePreview["columns"]) => columns.filter(({ dates }) => dates !== undefined);
  const own = dated(table.columns).filter(({ name }) => name !== table.columns[choice.positions.time]?.name);
  const others = dated(beside?.preview.columns ?? []).filter(({ name }) => !own.some((column) => column.name === name));
  const options = [
    ...(chosen === "none" ? [{ origin: "none", words: "choose" }] : []),
    FIRST,
    ...own.map(({ name }) => ({ origin: `column:${name}`, words: `${name} of each individual` })),
    ...others.map(({ name }) => ({ origin: `column:${name}`, words: `${name} in ${beside?.name}` })),
    { origin: chosen?.startsWith("date:") ? chosen : `date:${firstYear(choice, table)}-01-01`, words: "a fixed date" },
  ];
  return withChosen(options, chosen ?? "first");
}

const FIRST: OriginOption = { origin: "first", words: "the first visit" };
const NUMBERS: OriginOption = { origin: "none", words: "as written" };

function withChosen(options: OriginOption[], chosen: string): OriginOption[] {
  if (options.some(({ origin }) => origin === chosen)) return options;
  return [...options, { origin: chosen, words: `${chosen.replace(/^column:/, "")} of each individual` }];
}

/** The earliest year that is written among the first times. */
function firstYear({ positions }: TableChoice, { rows }: TablePreview): string {
  const years = rows.flatMap((row) => /(?:18|19|20|21)\d\d/.exec(row[positions.time] ?? "")?.[0] ?? []);
  return years.sort()[0] ?? "2000";
}

/** From when times are counted, for a sentence: "since the first visit"; empty for numbers as they are. */
export function sinceWords(choice: TableChoice, table: TablePreview, beside: Beside | null): string {
  const origin = originOf(choice, table);
  if (origin === undefined || origin === "none") return "";
  if (origin.startsWith("date:")) return ` since ${origin.slice("date:".length)}`;
  return ` since ${originOptions(choice, table, beside).find((option) => option.origin === origin)?.words ?? origin}`;
}

/** The form as the reader takes it. */
export function readForm(choice: TableChoice, table: TablePreview): TableForm {
  const { thousands, wide, partialDates, swappedDates, unitColumns: _, origin: __, ...rest } = choice.form;
  const unitColumns = unitColumnsOf(choice, table);
  const origin = originOf(choice, table);
  return {
    ...rest,
    ...(choice.decimal === "auto" ? {} : { decimal: choice.decimal }),
    ...(origin === undefined ? {} : { origin }),
    ...(thousands === undefined || thousands === "none" ? {} : { thousands }),
    ...(wide === undefined || wide === false ? {} : { wide }),
    ...(partialDates === "middle" ? { partialDates } : {}),
    ...(swappedDates ? { swappedDates } : {}),
    ...(unitColumns === undefined ? {} : { unitColumns }),
  };
}

/** A note of the reader without the part that speaks of flags: the page has its own controls. */
export function plainNote(note: string): string {
  return note.replace(/\s*[^.:]*\(--?[^)]*\)\.?/g, "").trim();
}
