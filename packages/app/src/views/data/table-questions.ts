/** What has to be asked about a table before it can be read, each question with how the first cells would be read. Pure, so that it can be tested. */
import type { DatesPreview, TablePreview } from "@trajectory-maps/core/ingest";
import type { TableChoice } from "./table-choice.ts";
import { asksWide, type Beside, isDated, originOf } from "./table-form.ts";
import { unitQuestions } from "./unit-questions.ts";

export interface Answer {
  readonly words: string;
  /** How each of the cells is read then. */
  readonly readings: readonly string[];
  readonly isChosen: boolean;
  readonly take: (choice: TableChoice) => TableChoice;
}

export interface Question {
  readonly key: string;
  readonly words: string;
  /** First cells that it is about, as written. */
  readonly cells: readonly string[];
  readonly answers: readonly Answer[];
}

/** Cells shown of a question. */
const SHOWN = 3;

/** Questions of a table as it is read, answered ones among them; of a wide table none until that is answered. */
export function questionsOf(choice: TableChoice, table: TablePreview, beside: Beside | null): Question[] {
  if (asksWide(table) && choice.form.wide === undefined) return [];
  return [...dateQuestions(choice, table, beside), ...markQuestions(choice, table), ...unitQuestions(choice, table)];
}

/** What is still open, in words for a button that waits for it; null if nothing is. */
export function openQuestion(choice: TableChoice, table: TablePreview, beside: Beside | null): string | null {
  if (asksWide(table) && choice.form.wide === undefined) return "Say whether columns are times.";
  const isOpen = questionsOf(choice, table, beside).some(({ answers }) => answers.every(({ isChosen }) => !isChosen));
  if (isOpen) return "Answer the question above.";
  return isDated(choice, table) && originOf(choice, table) === "none"
    ? "Choose from when times are counted, as for the model."
    : null;
}

function dateQuestions(choice: TableChoice, table: TablePreview, beside: Beside | null): Question[] {
  const { form, positions } = choice;
  const time = table.columns[positions.time];
  if (time?.dates === undefined) return [];
  const origin = /^column:(.*)$/s.exec(originOf(choice, table) ?? "")?.[1];
  const other = [...table.columns, ...(beside?.preview.columns ?? [])].find(({ name }) => name === origin);
  const asked = [
    { ...time, cells: table.rows.map((row) => row[positions.time] ?? "") },
    ...(other === undefined ? [] : [{ ...other, cells: other.dates?.readings.map(({ cell }) => cell) ?? [] }]),
  ].find(({ dates }) => dates !== undefined && dates.form !== "clear");
  if (asked?.dates === undefined) return [];
  const { dates, name } = asked;
  switch (dates.form) {
    case "ambiguous":
      return [orderQuestion(name, dates, form.dateOrder)];
    case "mixed":
      return [mixedQuestion(name, dates, form.dateOrder)];
    case "swapped":
      return [swappedQuestion(name, dates, form)];
    case "short":
      return [pivotQuestion(name, asked.cells, form.yearPivot)];
    default:
      return [partialQuestion(name, asked.cells, form.partialDates)];
  }
}

function say(change: Partial<TableChoice["form"]>): (choice: TableChoice) => TableChoice {
  return (choice) => ({ ...choice, form: { ...choice.form, ...change } });
}

function orderQuestion(name: string, { readings }: DatesPreview, order: string | undefined): Question {
  // Where both are the same, nothing can be told.
  const shown = readings.filter(({ dmy, mdy }) => dmy !== mdy).slice(0, SHOWN);
  return inOrders(`Dates of “${name}” can be read in two ways. Which is right?`, shown, order);
}

/** Both orders in one column: those of the other than the chosen one are no dates. */
function mixedQuestion(name: string, { readings }: DatesPreview, order: string | undefined): Question {
  const only = (read: "dmy" | "mdy") => readings.filter((reading) => reading[read] === "no date").slice(0, 2);
  const words = `Some dates of “${name}” can only be day first, others only month first. Which are right?`;
  return inOrders(words, [...only("mdy"), ...only("dmy")], order);
}

function inOrders(words: string, shown: DatesPreview["readings"], order: string | undefined): Question {
  const answer = (dateOrder: "dmy" | "mdy", said: string): Answer => ({
    words: said,
    readings: shown.map((reading) => dayWords(reading[dateOrder])),
    isChosen: order === dateOrder,
    take: say({ dateOrder }),
  });
  return {
    key: "order",
    words,
    cells: shown.map(({ cell }) => cell),
    answers: [answer("dmy", "Day first"), answer("mdy", "Month first")],
  };
}

/** Dates on early days beside texts on late ones, as a spreadsheet leaves them that swapped day and month where it could. */
function swappedQuestion(name: string, dates: DatesPreview, form: TableChoice["form"]): Question {
  const { order = "dmy", readings, swaps = [] } = dates;
  const texts = readings.slice(0, 1);
  const answer = (words: string, swappedDates: boolean): Answer => ({
    words,
    readings: [
      ...swaps.slice(0, SHOWN).map(({ cell, back }) => dayWords(swappedDates ? back : cell)),
      ...texts.map((reading) => dayWords(reading[order])),
    ],
    isChosen: form.swappedDates === swappedDates,
    take: say({ dateOrder: order, swappedDates }),
  });
  return {
    key: "swapped",
    words: `Did a spreadsheet swap day and month of “${name}”? It kept days above 12 as text.`,
    cells: [...swaps.slice(0, SHOWN).map(({ cell }) => cell), ...texts.map(({ cell }) => cell)],
    answers: [answer("Swap them back", true), answer("All are right", false)],
  };
}

/** "4 March 2020" of 2020-03-04. */
function dayWords(day: string): string {
  const date = new Date(`${day}T00:00:00Z`);
  if (Number.isNaN(date.getTime())) return "left out";
  return date.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
}

function pivotQuestion(name: string, cells: readonly string[], pivot: number | undefined): Question {
  const shown = [...new Set(cells.filter((cell) => /\d\D\d{1,2}(?:\D|$)/.test(cell)))].slice(0, SHOWN);
  const year = (cell: string) => Number(/(\d{2})\s*(?:\s.*)?$/.exec(cell.trim())?.[1] ?? "0");
  const answer = (yearPivot: number, words: string): Answer => ({
    words,
    readings: shown.map((cell) => String(year(cell) + (year(cell) <= yearPivot ? 2000 : 1900))),
    isChosen: pivot === yearPivot,
    take: say({ yearPivot }),
  });
  return {
    key: "pivot",
    words: `Years of “${name}” have two digits. Which are meant?`,
    cells: shown,
    answers: [answer(99, "2000 to 2099"), answer(29, "1930 to 2029")],
  };
}

function partialQuestion(name: string, cells: readonly string[], said: string | undefined): Question {
  const shown = cells.filter((cell) => /^\D*\d{4}(?:\D\d{1,2})?$|^[a-z]+\D+\d{4}$/i.test(cell.trim())).slice(0, SHOWN);
  const answer = (partialDates: "middle" | "none", words: string, reading: (cell: string) => string): Answer => ({
    words,
    readings: shown.map(reading),
    isChosen: said === partialDates,
    take: say({ partialDates }),
  });
  return {
    key: "partial",
    words: `Some dates of “${name}” lack a day. How are they read?`,
    cells: shown,
    answers: [
      answer("middle", "At the middle", (cell) => (/^\d{4}$/.test(cell.trim()) ? "1 July" : "the 15th")),
      answer("none", "Leave these rows out", () => "left out"),
    ],
  };
}

function markQuestions(choice: TableChoice, table: TablePreview): Question[] {
  const used = [choice.positions.value, choice.positions.time, ...choice.others.map(({ column }) => column)];
  const column = used.map((k) => table.columns[k]).find((about) => about?.marked !== undefined);
  if (column?.marked === undefined) return [];
  const { name, marked, thousands } = column;
  const mark = thousands ?? ",";
  const words = { ",": "comma", ".": "point", "'": "apostrophe", " ": "space" }[mark];
  const isSaid = choice.form.thousands !== undefined || choice.decimal !== "auto";
  const plain = (cell: string) => cell.replace(/^([<>≤≥=\s]*)(.*)$/s, "$2");
  const number = (cell: string, other: "," | ".") => plain(cell).split(mark).join("").replace(other, ".");
  const separates: Answer = {
    words: "Thousands",
    readings: marked.map((cell) => spaced(number(cell, mark === "." ? "," : "."))),
    isChosen: choice.form.thousands === mark,
    take: (before) => ({ ...say({ thousands: mark })(before), decimal: "auto" }),
  };
  const other: Answer =
    thousands === undefined
      ? {
          words: "Decimals",
          readings: marked.map((cell) => plain(cell).replace(",", ".")),
          isChosen: choice.decimal === "," && choice.form.thousands !== mark,
          take: (before) => ({ ...say({ thousands: "none" })(before), decimal: "," }),
        }
      : {
          words: "Neither",
          readings: marked.map(() => "left out"),
          isChosen: isSaid && choice.form.thousands !== mark,
          take: say({ thousands: "none" }),
        };
  return [
    {
      key: "thousands",
      words: `What does the ${words} in “${name}” separate?`,
      cells: marked,
      answers: [separates, other],
    },
  ];
}

/** Digits as they are, thousands apart by a thin space. */
function spaced(number: string): string {
  const [whole = "", fraction] = number.split(".");
  return whole.replace(/\B(?=(\d{3})+$)/g, "\u2009") + (fraction === undefined ? "" : `.${fraction}`);
}
