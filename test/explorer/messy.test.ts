/** Files as people have them (examples/messy): each is imported with at most two answers, and what is read is what the command line reads. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { browserOfFile } from "../browser-of-file.ts";
import { ROOT } from "../root.ts";
import { dropFiles, type ExplorerPage, expectText, openExplorer, savedFile } from "./explorer-page.ts";
import { answer, MESSY } from "./messy-files.ts";

const chromium = browserOfFile();

describe("files as people have them", () => {
  let explorer: ExplorerPage;
  let page: Page;

  beforeAll(async () => {
    explorer = await openExplorer(chromium);
    page = explorer.page;
  });

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

  it("takes a table with numbered columns for outcomes, dropped on their card or beside the visits", async () => {
    const ids = Array.from({ length: 12 }, (_, i) => i);
    const visits = ids.flatMap((i) => [0, 1, 2].map((t) => `${i},${t},${50 + i - t}`));
    const subjects = ids.map((i) => `${i},${1 + (i % 3)},${i % 2},${i % 3 === 0 ? 1 : 0}`);
    const tables = [
      { name: "visits.csv", bytes: Buffer.from(`id,years,pfvc\n${visits.join("\n")}\n`) },
      { name: "people.csv", bytes: Buffer.from(`id,event_years,event_type1,event_type2\n${subjects.join("\n")}\n`) },
    ];
    const toSummary = async () => {
      await page.getByRole("button", { name: "Check the data", exact: true }).click();
      await page.getByRole("button", { name: "Next", exact: true }).click();
      await page.getByRole("button", { name: "Fit the map", exact: true }).waitFor();
    };
    const offered = page.getByRole("group", { name: "Which are outcomes?" });
    await dropFiles(page, [tables[0]]);
    await toSummary();
    await dropFiles(page, [tables[1]], "[aria-label='Table of outcomes']");
    await expectText(offered, /event_type1.*event_type2/);
    await dropFiles(page, tables);
    await toSummary();
    await expectText(offered, /event_type1.*event_type2/);
  });

  it("gives templates that it reads itself", async () => {
    const fresh = await openExplorer(chromium);
    await fresh.page.getByRole("button", { name: "What my table should look like" }).click();
    const { name, text } = await savedFile(fresh.page, () =>
      fresh.page.getByRole("button", { name: "visits", exact: true }).click(),
    );
    await fresh.page.getByRole("button", { name: "Close", exact: true }).click();
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
