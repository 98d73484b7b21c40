/** Names made to do harm: they are shown as text, saved as text, and run nowhere. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { browserOfFile } from "../browser-of-file.ts";
import {
  BUILDS,
  dropFile,
  expectText,
  exported,
  fitAndOpen,
  importTable,
  mapStage,
  openExplorer,
  recordsOf,
  savedFile,
  step,
} from "./explorer-page.ts";
import { simulatedTables } from "./tables.ts";

const IMAGE = "<img src=x onerror=alert(1)>";
const FORMULA = '=cmd|"/c calc"!A1';
const BACKWARDS = "a\u202Eb\u2066c";
const LONG = "L".repeat(1000);
const HOSTILE = [
  IMAGE,
  FORMULA,
  "__proto__",
  BACKWARDS,
  LONG,
  "</script><script>alert(2)</script>",
  "{@html 1}",
  "constructor",
  "@SUM(1)",
  "-2+3",
];
const { visits, subjects } = simulatedTables({
  numIndividuals: 70,
  seed: 8,
  columns: ['id <b onmouseover="alert(3)">', "__proto__", '"><svg onload=alert(4)>'],
  rename: (id, i) => HOSTILE[i] ?? id,
});
const outcomes = subjects
  .replace("congestive heart failure", "<i onclick=alert(5)>")
  .replace("myositis", "toString")
  .replace("gastrointestinal", FORMULA.replaceAll('"', ""));

const chromium = browserOfFile();

/** Finds an individual by the beginning of its id and opens it. */
async function openById(page: Page, beginning: string, id: string): Promise<void> {
  await page.getByRole("combobox", { name: "Find an individual" }).fill(beginning);
  await page.keyboard.press("Enter");
  await expect
    .poll(() => page.getByRole("complementary", { name: "Details" }).getByRole("heading", { level: 2 }).textContent())
    .toBe(id);
}

describe.each(BUILDS)("hostile names in the explorer %s", (build) => {
  it("are text everywhere, and no formula in what is saved", async () => {
    const explorer = await openExplorer(chromium, build);
    const { page } = explorer;
    let dialogs = 0;
    page.on("dialog", (dialog) => {
      dialogs++;
      void dialog.dismiss();
    });
    await importTable(page, "<img src=y onerror=alert(6)>.csv", visits);
    await fitAndOpen(page);
    await step(page, "Outcomes").click();
    await dropFile(page, "subjects.csv", outcomes, "[aria-label='Table of individuals']");
    await page.getByLabel("Draws").fill("99");
    await page.getByRole("button", { name: /^Test \d outcomes$/ }).click();
    await page.getByText(/^Details: every statistic/).click();
    const results = page.getByRole("table", { name: /^Table 2 a/ });
    await results.getByRole("button", { name: "<i onclick=alert(5)>", exact: true }).waitFor();
    await results.getByRole("button", { name: "toString", exact: true }).click();
    const stage = await mapStage(page);
    await openById(page, "<img", IMAGE);
    await openById(page, "__", "__proto__");
    await openById(page, "a\u202E", BACKWARDS);
    await openById(page, "LLLL", LONG);
    // A name of a thousand letters does not push the page sideways.
    expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0);
    await page.keyboard.press("Escape");
    await stage.focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("r");
    await page.getByText(/selected: within/).waitFor();
    await page.getByRole("button", { name: "Table", exact: true }).click();
    await page.getByLabel("Only the selection").uncheck();
    await page.getByRole("table").getByRole("button", { name: IMAGE, exact: true }).first().waitFor();
    await page.getByRole("button", { name: "Table", exact: true }).click();

    const places = recordsOf((await exported(page, "Places")).text);
    const ids = places.map(({ id }) => id);
    for (const id of [FORMULA, "@SUM(1)", "-2+3"]) {
      expect(ids).toContain(`'${id}`);
      expect(ids).not.toContain(id);
    }
    for (const id of [IMAGE, "__proto__", BACKWARDS, LONG, "constructor"]) expect(ids).toContain(id);
    const members = await savedFile(page, () => page.getByRole("button", { name: "Export CSV", exact: true }).click());
    expect(members.text).not.toMatch(/(^|,|\n)"?[=@+-][^\d,]/);

    await step(page, "Report").click();
    const preview = page.frameLocator("iframe[title='Preview of the report']");
    await preview.getByRole("heading", { level: 1 }).waitFor();
    await expectText(preview.locator("body"), "<i onclick=alert(5)>");
    const report = await savedFile(page, () => page.getByRole("button", { name: "Save report", exact: true }).click());
    expect(report.text).not.toMatch(/<(i onclick|svg onload|img src=|b onmouseover)/);
    // Nothing that was a name has become an element.
    const made = "img[src=x], img[src=y], [onerror], [onclick], [onload], [onmouseover]";
    expect(await page.locator(made).count()).toBe(0);
    expect(await preview.locator(made).count()).toBe(0);
    expect(dialogs).toBe(0);
    expect(explorer.problems()).toEqual([]);
    await explorer.close();
  });
});
