/** From a table to its report without a pointer: every control is reached by Tab and worked by keys, the focus in sight. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { browserOfFile } from "../browser-of-file.ts";
import { chooseFile, expectText, mapStage, openExplorer, savedFile } from "./explorer-page.ts";
import { simulatedTables } from "./tables.ts";

const { visits, subjects } = simulatedTables({ numIndividuals: 60, seed: 6 });

const chromium = browserOfFile();

/** Name of what has the focus, and whether the focus can be seen. */
async function focused(page: Page): Promise<{ name: string; seen: boolean }> {
  return page.evaluate(() => {
    const element = document.activeElement;
    if (!(element instanceof HTMLElement) || element === document.body) return { name: "", seen: true };
    const label = (element as HTMLInputElement).labels?.[0]?.cloneNode(true) as HTMLElement | undefined;
    for (const other of label?.querySelectorAll("input, select, .note") ?? []) other.remove();
    const said = element.getAttribute("aria-label") ?? label?.textContent ?? element.textContent ?? "";
    const style = getComputedStyle(element);
    const seen = style.outlineStyle !== "none" && Number.parseFloat(style.outlineWidth) >= 2;
    return { name: said.replace(/\s+/g, " ").trim(), seen };
  });
}

/** Presses Tab until something of that name has the focus; everything on the way must show that it has it. */
async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  const passed: string[] = [];
  for (let k = 0; k < 120; k++) {
    await page.keyboard.press("Tab");
    const now = await focused(page);
    const fits = typeof name === "string" ? now.name === name : name.test(now.name);
    expect(now, `focus on "${now.name}"`).toHaveProperty("seen", true);
    if (fits) return;
    passed.push(now.name);
  }
  throw new Error(`Expected Tab to reach ${String(name)}, it went through: ${passed.join(" | ")}`);
}

/** Waits until something of that name has been given the focus, e.g. the heading of a new page. */
async function focusComesTo(page: Page, name: RegExp): Promise<void> {
  await expect.poll(async () => (await focused(page)).name).toMatch(name);
}

describe("the keyboard alone", () => {
  it("imports, fits, reads the map, tests outcomes, compares models and saves the report", async () => {
    const explorer = await openExplorer(chromium);
    const { page } = explorer;
    // Import.
    await tabTo(page, "Skip to the content");
    await tabTo(page, "Choose a file");
    await chooseFile(page, "visits.csv", visits, () => page.keyboard.press("Enter"));
    await focusComesTo(page, /^Which column is which\?$/);
    await tabTo(page, "Unit of the marker");
    await page.keyboard.type("% predicted");
    await tabTo(page, "Check the data");
    await page.keyboard.press("Enter");
    await focusComesTo(page, /observations of 60 individuals$/);
    await tabTo(page, "Next");
    await page.keyboard.press("Enter");
    await focusComesTo(page, /^FVC, % predicted$/);
    await tabTo(page, "Choose the outcomes table");
    await chooseFile(page, "subjects.csv", subjects, () => page.keyboard.press("Enter"));
    await page
      .getByRole("region", { name: "Outcomes" })
      .getByRole("checkbox", { name: /^myositis/ })
      .waitFor();
    await tabTo(page, "Fit the map");
    await page.keyboard.press("Enter");

    // The end of the fit offers the map.
    await focusComesTo(page, /^Open the map$/);
    await page.keyboard.press("Enter");
    await mapStage(page);

    // Groups come before the map: arrows move among them, Space filters, Escape clears.
    await tabTo(page, /^A .*individual/);
    await page.keyboard.press("ArrowDown");
    expect((await focused(page)).name).toMatch(/^B .*individual/);
    await page.keyboard.press("Space");
    await page.getByRole("button", { name: /^B/, pressed: true }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "How to read the map" }).waitFor();

    // The map is one stop; it says where the keyboard is.
    await tabTo(page, /^Map of 60 individuals\./);
    await page.keyboard.press("ArrowRight");
    const said = page.getByRole("status").filter({ hasText: /^P\d+, \d+ visits?, .* percent, expected at year/ });
    await said.waitFor({ state: "attached" });
    await expectText(said, /expected at year [\d.]+: \d+, from \d+ to \d+\.$/);
    await page.keyboard.press("Shift+ArrowUp");
    await page.keyboard.press("Enter");
    await page.getByRole("table", { name: "Facts about this individual" }).waitFor();
    await page.keyboard.press("Escape");
    await page.keyboard.press("r");
    await page.getByText(/selected: within/).waitFor();
    await page.keyboard.press("t");
    await page.getByRole("region", { name: "Table of individuals" }).waitFor();
    await page.keyboard.press("t");
    await mapStage(page);

    // Outcomes.
    await page.keyboard.press("4");
    await page.getByRole("heading", { name: "Is the map related to outcomes?" }).waitFor();
    await tabTo(page, "Draws");
    await page.keyboard.press("Control+a");
    await page.keyboard.type("99");
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Enter");
    await page.getByText(/^Details: every statistic/).waitFor();
    await tabTo(page, /^Details: every statistic/);
    await page.keyboard.press("Enter");
    await page.getByRole("table", { name: /^Table 2 a/ }).waitFor();
    await tabTo(page, "Myositis");
    await page.keyboard.press("Enter");
    await mapStage(page);

    // Models.
    await page.keyboard.press("5");
    await page.getByRole("heading", { name: "Which model predicts individuals it has not seen?" }).waitFor();
    await tabTo(page, "Folds");
    await page.keyboard.press("Control+a");
    await page.keyboard.type("2");
    await tabTo(page, "Compare");
    await page.keyboard.press("Enter");
    await page.getByRole("table", { name: /^Table 1/ }).waitFor();

    // Report, and a file from the export dialog.
    await page.keyboard.press("6");
    await page.frameLocator("iframe").getByRole("heading", { level: 1 }).waitFor();
    await tabTo(page, "Save report");
    const report = await savedFile(page, () => page.keyboard.press("Enter"));
    expect(report.text).toContain("</html>");
    await page.keyboard.press("3");
    await mapStage(page);
    await tabTo(page, "Export");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Save a file" }).waitFor();
    await tabTo(page, "Save");
    expect((await savedFile(page, () => page.keyboard.press("Enter"))).name).toBe("visits-report.html");
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await tabTo(page, "Single-key shortcuts");
    await page.keyboard.press("Space");
    await page.keyboard.press("Escape");
    // Switched off, keys do nothing.
    await page.keyboard.press("6");
    expect(await page.getByRole("heading", { name: "Report", exact: true }).count()).toBe(0);
    expect(explorer.problems()).toEqual([]);
    await explorer.close();
  });
});
