/** The files of examples/messy, what the explorer asks about each and what it is answered. */
import type { Page } from "playwright-core";

/** An answer: a button to press, or a choice in a select. */
export type Answer = { readonly press: string } | { readonly select: string; readonly option: string };

export interface Messy {
  readonly files: readonly string[];
  readonly answers: readonly Answer[];
  /** What the page says before anything is answered, and what it read in the end. */
  readonly says: string;
  readonly reads: string;
}

export const MESSY: readonly Messy[] = [
  {
    files: ["01-german.csv"],
    answers: [],
    says: "Letters are read as Windows-1252",
    reads: "200 observations of 40 individuals from 01-german.csv, years 0 to",
  },
  {
    files: ["02-us-dates.csv"],
    answers: [{ press: "Month first" }],
    says: "can be read in two ways",
    reads: "200 observations of 40 individuals from 02-us-dates.csv, years 0 to 4.67",
  },
  {
    files: ["03-wide-months.csv"],
    answers: [{ press: "Read it as visits" }],
    says: "A row for each individual, and a column for each time?",
    reads: "from 03-wide-months.csv, months 0 to 24",
  },
  {
    files: ["04-wide-years.csv"],
    answers: [{ press: "Read it as visits" }, { select: "Counted from", option: "first" }],
    says: "A row for each individual, and a column for each time?",
    reads: "from 04-wide-years.csv, years 0 to 4",
  },
  {
    files: ["05-thousands.csv"],
    answers: [{ press: "Thousands" }],
    says: "What does the comma in “NT-proBNP (pg/ml)” separate?",
    reads: "200 observations of 40 individuals from 05-thousands.csv",
  },
  {
    files: ["06-two-units.csv"],
    answers: [{ press: "All to MG/DL" }],
    says: "Values come in units named by “unit”. To which are they brought?",
    reads: "200 observations of 40 individuals from 06-two-units.csv",
  },
  {
    files: ["07-limits.csv"],
    answers: [],
    says: "We read id as the individual, years as time in years, crp as the marker",
    reads: "of 40 individuals from 07-limits.csv",
  },
  {
    files: ["08-subjects.csv", "08-visits.csv"],
    answers: [{ select: "Counted from", option: "column:onset" }],
    says: "date as time in years since the first visit",
    reads: "200 observations of 40 individuals from 08-visits.csv",
  },
  {
    files: ["09-workbook.xlsx"],
    answers: [],
    says: "Sheet of the workbook",
    reads: "200 observations of 40 individuals from 09-workbook.xlsx",
  },
  {
    files: ["10-long.parquet"],
    answers: [{ select: "Use of column test", option: "names" }],
    says: "visit_date as time in years since the first visit",
    reads: "400 observations of 40 individuals from 10-long.parquet",
  },
];

/** Gives it. */
export async function answer(page: Page, given: Answer): Promise<void> {
  if ("press" in given) await page.getByRole("button", { name: given.press, exact: true }).click();
  else await page.getByLabel(given.select, { exact: true }).selectOption(given.option);
}
