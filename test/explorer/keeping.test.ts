/** What stays after a reload: nothing unless the user agreed, then everything, also a fit that was under way. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { browserOfFile } from "../browser-of-file.ts";
import {
  BUILDS,
  type ExplorerPage,
  expectText,
  fitAndOpen,
  importTable,
  mapStage,
  openExplorer,
  step,
} from "./explorer-page.ts";
import { simulatedTables } from "./tables.ts";

const { visits } = simulatedTables({ numIndividuals: 60, seed: 3 });
const { visits: more } = simulatedTables({ numIndividuals: 600, seed: 3 });

const chromium = browserOfFile();

/** Opens the dialog about where the data are. */
async function locality(page: Page) {
  await page.getByRole("button", { name: /^(Stays on this computer|Kept in this browser)$/ }).click();
  return page.getByRole("dialog", { name: "Where the data are" });
}

/** What the browser holds of the study. */
async function kept(page: Page): Promise<{ running: { trace: readonly number[] } | null } | undefined> {
  return page.evaluate(
    () =>
      new Promise((resolve, reject) => {
        const request = indexedDB.open("trajectory-maps");
        request.onerror = () => reject(request.error);
        request.onsuccess = () => {
          const db = request.result;
          const found = db.transaction("study").objectStore("study").get("last");
          found.onsuccess = () => {
            db.close();
            resolve(found.result && { running: found.result.running && { trace: found.result.running.trace } });
          };
          found.onerror = () => reject(found.error);
        };
      }),
  );
}

/** Loads the page again at the address it stands at; a served page is let in by its cookie. */
async function reload({ page }: ExplorerPage): Promise<void> {
  await page.reload();
  await page.getByRole("heading", { name: "Disease Trajectory Maps" }).waitFor({ state: "attached" });
}

describe.each(BUILDS)("a reload of the explorer %s", (build) => {
  it("forgets without leave; with it restores step, colour, terrain and selection; forgets when told", async () => {
    const explorer = await openExplorer(chromium, build);
    const { page } = explorer;
    await importTable(page, "visits.csv", visits);
    await fitAndOpen(page);
    await page.getByRole("combobox", { name: /^Terrain/ }).selectOption("sd");
    await page.getByRole("combobox", { name: "Find an individual" }).fill("P");
    await page.keyboard.press("Enter");
    const opened = page.getByRole("complementary", { name: "Details" }).getByRole("heading", { level: 2 });
    await expectText(opened, /^P\d+/);
    const who = await opened.textContent();
    await reload(explorer);
    await page.getByRole("heading", { name: "Drop a table here" }).waitFor();

    // What the address showed is shown again once the same table is there.
    await importTable(page, "visits.csv", visits);
    await fitAndOpen(page);
    await expectText(opened, who ?? "");
    expect(await page.getByRole("combobox", { name: /^Terrain/ }).inputValue()).toBe("sd");
    await page.getByRole("button", { name: "Close", exact: true }).first().click();
    await page.getByRole("combobox", { name: /^Terrain/ }).selectOption("value");
    await reload(explorer);
    await page.getByRole("heading", { name: "Drop a table here" }).waitFor();

    await importTable(page, "visits.csv", visits);
    const dialog = await locality(page);
    await dialog.getByRole("checkbox", { name: /Keep the study/ }).check();
    await dialog.getByRole("button", { name: "Close", exact: true }).click();
    const stage = await fitAndOpen(page);
    await page.getByRole("combobox", { name: /^Colour/ }).selectOption("visits");
    await page.getByRole("combobox", { name: /^Terrain/ }).selectOption("slope");
    await stage.focus();
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("r");
    const title = page.getByRole("complementary", { name: "Details" }).getByRole("heading", { level: 2 });
    await expectText(title, /^\d+ individuals?$/);
    const selected = await title.textContent();
    // The address holds what is shown, and neither ids nor measurements.
    expect(decodeURIComponent(new URL(page.url()).hash)).not.toMatch(/P\d{2}/);

    await reload(explorer);
    await mapStage(page);
    expect(await title.textContent()).toBe(selected);
    expect(await page.getByRole("combobox", { name: /^Colour/ }).inputValue()).toBe("visits");
    expect(await page.getByRole("combobox", { name: /^Terrain/ }).inputValue()).toBe("slope");
    await page.getByRole("button", { name: "Kept in this browser", exact: true }).waitFor();

    // A second tab takes the whole study up and forgets it: the first must not bring it back, and says that it keeps nothing.
    const other = await page.context().newPage();
    await other.goto(page.url());
    await mapStage(other);
    await (await locality(other)).getByRole("button", { name: "Forget everything", exact: true }).click();
    await other.getByRole("heading", { name: "Drop a table here" }).waitFor();
    await other.close();
    await page.getByRole("button", { name: "Rename group A", exact: true }).press("Enter");
    await page.keyboard.type("first");
    await page.keyboard.press("Enter");
    await expectText(page.getByRole("alert"), "[kept-elsewhere]");
    expect(await kept(page)).toBeUndefined();

    await (await locality(page)).getByRole("button", { name: "Forget everything", exact: true }).click();
    await page.getByRole("heading", { name: "Drop a table here" }).waitFor();
    await page.getByRole("button", { name: "Stays on this computer", exact: true }).waitFor();
    await reload(explorer);
    await page.getByRole("heading", { name: "Drop a table here" }).waitFor();
    expect(await kept(page)).toBeUndefined();

    // A browser without room: the study goes on, and nobody is told that it is kept.
    await importTable(page, "visits.csv", visits);
    await page.evaluate(() => {
      const put = IDBObjectStore.prototype.put;
      IDBObjectStore.prototype.put = function (value, key) {
        if (key === "last") throw new DOMException("The quota has been exceeded.", "QuotaExceededError");
        return put.call(this, value, key);
      };
    });
    const full = await locality(page);
    await full.getByRole("checkbox", { name: /Keep the study/ }).click();
    await full.getByRole("button", { name: "Close", exact: true }).click();
    await expectText(page.getByRole("alert"), "[cannot-keep]");
    await page.getByRole("button", { name: "Stays on this computer", exact: true }).waitFor();
    expect(explorer.problems()).toEqual([]);
    await explorer.close();
  });

  it("goes on with a fit that was under way", async () => {
    const explorer = await openExplorer(chromium, build);
    const { page } = explorer;
    await importTable(page, "visits.csv", more);
    const dialog = await locality(page);
    await dialog.getByRole("checkbox", { name: /Keep the study/ }).check();
    await dialog.getByRole("button", { name: "Close", exact: true }).click();
    await step(page, "Fit").click();
    // A rule that is hard to meet, so that there is time to pause.
    await page.getByText("More", { exact: true }).click();
    await page.getByRole("combobox", { name: /^Tolerance/ }).selectOption("0.0001");
    // Paused by the page itself as soon as it may be: a click from here can come after the first start has ended.
    await page.evaluate(() => {
      const pause = () =>
        [...document.querySelectorAll("button")].find(
          (button) => button.textContent?.trim() === "Pause" && !button.disabled,
        );
      const observer = new MutationObserver(() => {
        const button = pause();
        if (button === undefined) return;
        observer.disconnect();
        button.click();
      });
      observer.observe(document, { subtree: true, childList: true, attributes: true });
    });
    await page.getByRole("button", { name: "Fit with these settings", exact: true }).click();
    await page.getByRole("heading", { name: /^Paused/ }).waitFor();
    const keptPasses = async () => (await kept(page))?.running?.trace.length ?? 0;
    await expect.poll(keptPasses).toBeGreaterThan(0);
    const before = await keptPasses();
    await page.addInitScript(() => {
      const passes: number[] = [];
      Object.assign(globalThis, { passes });
      new MutationObserver(() => {
        const found = /Pass (\d+)\./.exec(document.querySelector("main")?.textContent ?? "");
        if (found !== null) passes.push(Number(found[1]));
      }).observe(document, { subtree: true, childList: true, characterData: true });
    });
    await reload(explorer);
    await page.getByRole("heading", { name: /^Fitting the map/ }).waitFor();
    const seen = () => page.evaluate(() => (globalThis as unknown as { passes: number[] }).passes);
    await expect.poll(async () => (await seen()).length).toBeGreaterThan(0);
    // The first pass told after the reload follows those that were kept.
    expect((await seen())[0]).toBeGreaterThan(before);
    await page.getByRole("button", { name: "Stop and keep", exact: true }).click();
    await page.getByRole("button", { name: "Open the map", exact: true }).waitFor();
    await expectText(page.locator("main"), "Not settled:");
    await page.getByRole("button", { name: "Continue", exact: true }).waitFor();
    expect(explorer.problems()).toEqual([]);
    await explorer.close();
  });
});
