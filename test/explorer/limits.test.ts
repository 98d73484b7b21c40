/** Values below a limit of detection in the explorer: counted, drawn as open arrows, and forecast with their probability. */
import { describe, expect, it } from "vitest";
import { accessibilityViolations } from "../browser.ts";
import { browserOfFile } from "../browser-of-file.ts";
import { dropFile, expectText, mapStage, openExplorer, recordsOf, step } from "./explorer-page.ts";
import { csv, simulatedTables } from "./tables.ts";

const chromium = browserOfFile();
const LIMIT = 65;

describe("values below a limit", () => {
  it("are counted after the check, and stand in the chart and the numbers of an individual", async () => {
    const rows = recordsOf(simulatedTables({ numIndividuals: 50, seed: 5 }).visits);
    const hidden = rows.filter(({ FVC }) => Number(FVC) < LIMIT);
    const someone = hidden.find(({ id }) => rows.filter((row) => row.id === id).length >= 6)?.id ?? "";
    const text = csv([
      ["id", "years", "FVC"],
      ...rows.map((row) => [row.id, row.years, hidden.includes(row) ? `<${LIMIT}` : row.FVC]),
    ]);
    const explorer = await openExplorer(chromium);
    const { page } = explorer;
    await dropFile(page, "visits.csv", text);
    await page.getByRole("button", { name: "Check the data", exact: true }).click();
    await expectText(page.locator("dl.facts"), new RegExp(`Below or above a limit\\s*${hidden.length} < ${LIMIT}`));
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Next", exact: true }).click();
    await step(page, "Fit").click();
    await page.getByText("More", { exact: true }).click();
    await page.getByRole("spinbutton", { name: /^Other starts/ }).fill("0");
    await page.getByRole("combobox", { name: /^Tolerance/ }).selectOption({ index: 1 });
    await page.getByRole("button", { name: "Fit with these settings", exact: true }).click();
    await page.getByRole("button", { name: "Open the map", exact: true }).click();
    await mapStage(page);
    const panel = page.getByRole("complementary", { name: "Details" });
    await page.getByRole("combobox", { name: "Find an individual" }).fill(someone);
    await page.keyboard.press("Enter");
    await expectText(panel.getByRole("heading", { level: 2 }), someone);
    const chart = panel.locator("figure").first();
    await expectText(chart, "Open arrows: below or above a limit.");
    await expectText(chart.locator("svg"), "below limit");
    expect(await chart.locator("path.limit").count()).toBe(hidden.filter(({ id }) => id === someone).length);
    await chart.getByText("Show numbers").click();
    await expectText(chart.getByRole("columnheader").last(), `below limit (< ${LIMIT})`);
    await expectText(chart.getByRole("row").last().getByRole("cell").last(), /%$/);
    expect(await accessibilityViolations(page)).toEqual([]);
    expect(explorer.problems()).toEqual([]);
    await explorer.close();
  });
});
