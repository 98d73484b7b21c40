/** What the explorer says of noise: suspect values, unusual noise of individuals, forecast bands as calibrated. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { calibrateForecasts } from "../../packages/core/src/evaluate/calibrate.ts";
import { saveModel } from "../../packages/core/src/models/save.ts";
import { simulateCohort } from "../../packages/core/src/simulate/cohorts.ts";
import { accessibilityViolations } from "../browser.ts";
import { browserOfFile } from "../browser-of-file.ts";
import { dropFile, expectText, importForModel, mapStage, openExplorer, recordsOf, step } from "./explorer-page.ts";
import { csv, simulatedTables, smallMap } from "./tables.ts";

const chromium = browserOfFile();

/** A registry with a visit that its neighbours contradict, and with six individuals who were measured unsteadily. */
function faultyTable() {
  const { visits } = simulatedTables({ numIndividuals: 90, seed: 5 });
  const rows = recordsOf(visits);
  const ids = [...new Set(rows.map(({ id }) => id))];
  const [wrong, ...others] = ids.filter((id) => rows.filter((row) => row.id === id).length >= 8);
  const unsteady = others.slice(0, 6);
  const visitsOf = (id: string) => rows.filter((row) => row.id === id);
  const faulty = visitsOf(wrong)[4];
  const value = (0.4 * Number(faulty.FVC)).toFixed(1);
  const shaken = new Map(
    unsteady.flatMap(visitsOf).map((row, k) => [row, (Number(row.FVC) + (k % 2 === 0 ? 14 : -14)).toFixed(1)]),
  );
  const changed = rows.map((row) => [row.id, row.years, row === faulty ? value : (shaken.get(row) ?? row.FVC)]);
  return { text: csv([["id", "years", "FVC"], ...changed]), wrong, unsteady: unsteady[0], value };
}

async function openById(page: Page, id: string) {
  const panel = page.getByRole("complementary", { name: "Details" });
  await page.getByRole("combobox", { name: "Find an individual" }).fill(id);
  await page.keyboard.press("Enter");
  await expectText(panel.getByRole("heading", { level: 2 }), id);
  await panel.getByRole("table", { name: "Facts about this individual" }).waitFor();
  return panel;
}

describe("noise in the explorer", () => {
  it("tells suspect values after the check, and marks them in the chart of the individual", async () => {
    const { text, wrong, unsteady, value } = faultyTable();
    const explorer = await openExplorer(chromium);
    const { page } = explorer;
    await dropFile(page, "visits.csv", text);
    await page.getByRole("button", { name: "Check the data", exact: true }).click();
    const table = page.getByRole("table", { name: "Suspect values" });
    await table.waitFor();
    const first = table.getByRole("row").nth(1);
    await expectText(first, wrong);
    await expectText(first, Number(value).toFixed(0));
    await expectText(first, "> 0.99");
    // Without a map there is nobody to open.
    expect(await first.getByRole("button").count()).toBe(0);
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Next", exact: true }).click();
    await page.getByText(/looks? wrong, judged by the individual's other values; listed on the page before/).waitFor();

    await step(page, "Fit").click();
    await page.getByText("More", { exact: true }).click();
    await page.getByRole("combobox", { name: /^Noise/ }).selectOption("level");
    await page.getByRole("button", { name: "Fit with these settings", exact: true }).click();
    await page.getByRole("button", { name: "Open the map", exact: true }).waitFor();
    await page.getByText("Details", { exact: true }).click();
    await page.getByText(/Noise variance .* in the middle, individuals' noise sd varying by a factor/).waitFor();
    await step(page, "Data").click();
    await page.getByRole("button", { name: "Back", exact: true }).click();
    await first.getByRole("button", { name: wrong }).click();
    await mapStage(page);

    const panel = page.getByRole("complementary", { name: "Details" });
    await expectText(panel.getByRole("heading", { level: 2 }), wrong);
    const listed = panel.getByRole("list", { name: "Suspect values" });
    await expectText(listed, /suspect value: expected about \d+, P > 0\.99\./);
    await expectText(panel.locator("svg circle.suspect title"), "suspect value: expected about");
    expect(await accessibilityViolations(page)).toEqual([]);

    const shaky = await openById(page, unsteady);
    await shaky.getByText(/^Measured unusually irregularly: noise sd [\d.]+ times the middle \(90%: /).waitFor();
    expect(await shaky.locator("svg circle.suspect").count()).toBe(0);
    const colour = page.getByRole("combobox", { name: "Colour" });
    await colour.selectOption("noise");
    await page.getByText("Noise sd, times the middle").first().waitFor();
    expect(explorer.problems()).toEqual([]);
    await explorer.close();
  });

  it("draws forecasts as calibrated, and says what their bands hold", async () => {
    const model = smallMap();
    const { cohort } = simulateCohort("pfvc", { numIndividuals: 150, seed: 8 });
    const calibration = calibrateForecasts([{ model, cohort }]);
    const { visits, ids } = simulatedTables({ numIndividuals: 40, seed: 9 });
    const explorer = await openExplorer(chromium);
    const { page } = explorer;
    await (await importForModel(page, saveModel({ ...model, calibration }), visits)).click();
    await mapStage(page);
    const panel = await openById(page, ids[0]);
    const { own, calibrated } = calibration.coverage!;
    const percent = (share: number) => `${(100 * share).toFixed(0)}%`;
    await panel
      .getByText(
        `The outer band of the forecast holds ${percent(calibrated)} of visits of people who were not in the fit; the model's own holds ${percent(own)}.`,
      )
      .waitFor();
    expect(explorer.problems()).toEqual([]);
    await explorer.close();
  });

  it("finds nothing wrong where nothing is", async () => {
    const explorer = await openExplorer(chromium);
    const { page } = explorer;
    await dropFile(page, "visits.csv", simulatedTables({ numIndividuals: 60, seed: 5 }).visits);
    await page.getByRole("button", { name: "Check the data", exact: true }).click();
    await page.getByText("None: no value is contradicted by the individual's others.").waitFor();
    expect(explorer.problems()).toEqual([]);
    await explorer.close();
  });
});
