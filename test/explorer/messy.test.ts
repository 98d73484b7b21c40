/** Files as people have them (examples/messy): each is imported with at most two answers, and what is read is what the command line reads. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { browserOfFile } from "../browser-of-file.ts";
import { ROOT } from "../root.ts";
import { dropFiles, type ExplorerPage, expectText, openExplorer, savedFile } from "./explorer-page.ts";

const chromium = browserOfFile();

/** An answer: a button to press, or a choice in a select. */
type Answer = { readonly press: string } | { readonly select: string; readonly option: string };

interface Messy {
  readonly files: readonly string[];
  readonly answers: readonly Answer[];
  /** What the page says before anything is answered, and what it read in the end. */
  readonly says: string;
  readonly reads: string;
}

const MESSY: readonly Messy[] = [
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

async function answer(page: Page, given: Answer): Promise<void> {
  if ("press" in given) await page.getByRole("button", { name: given.press, exact: true }).click();
  else await page.getByLabel(given.select, { exact: true }).selectOption(given.option);
}

describe("files as people have them", () => {
  let explorer: ExplorerPage;
  let page: Page;

  beforeAll(async () => {
    explorer = await openExplorer(chromium);
    page = explorer.page;
  }, 120_000);

  afterEach(() => {
    expect(explorer.problems()).toEqual([]);
  });

  afterAll(async () => {
    await explorer?.close();
  });

  it.each(MESSY)("$files with at most two answers", async ({ files, answers, says, reads }) => {
    expect(answers.length).toBeLessThanOrEqual(2);
    await dropFiles(
      page,
      files.map((name) => ({ name, bytes: readFileSync(join(ROOT, "examples", "messy", name)) })),
    );
    await expectText(page.locator("main"), says);
    const check = page.getByRole("button", { name: "Check the data", exact: true });
    for (const given of answers) await answer(page, given);
    await check.click();
    await page.getByRole("button", { name: "Next", exact: true }).waitFor();
    await page.getByRole("button", { name: "Next", exact: true }).click();
    await expectText(page.locator("main"), reads);
    // Nothing was said to be wrong.
    expect(await page.locator(".banner.bad").count()).toBe(0);
  });

  it("gives templates that it reads itself", async () => {
    const fresh = await openExplorer(chromium);
    const { name, text } = await savedFile(fresh.page, () =>
      fresh.page.getByRole("button", { name: "visits", exact: true }).click(),
    );
    expect(name).toBe("visits.csv");
    await dropFiles(fresh.page, [{ name, bytes: Buffer.from(text) }]);
    await expectText(fresh.page.locator("main"), "date as time in years since the first visit");
    await fresh.close();
  });

  it("does not go on with the table before once another was dropped", async () => {
    const table = (name: string) => `id,time,${name}\na,0,1\na,1,2\nb,0,3\nb,1,1\n`;
    await dropFiles(page, [{ name: "first.csv", bytes: Buffer.from(table("albumin")) }]);
    const check = page.getByRole("button", { name: "Check the data", exact: true });
    await expectText(page.locator("main"), "albumin");
    await expect.poll(() => check.isEnabled()).toBe(true);
    // Before the file dropped is looked at: within the task that drops it.
    const disabled = await page.evaluate(async (text) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([text], "second.csv"));
      const target = document.querySelector("main")!;
      target.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer }));
      for (let k = 0; k < 20; k++) await Promise.resolve();
      const button = [...document.querySelectorAll("button")].find((b) => b.textContent === "Check the data");
      return button?.disabled;
    }, table("bilirubin"));
    expect(disabled).toBe(true);
    await expectText(page.locator("main"), "bilirubin");
    await check.click();
    await page.getByRole("button", { name: "Next", exact: true }).click();
    await expectText(page.locator("main"), "4 observations of 2 individuals from second.csv");
  });
});
