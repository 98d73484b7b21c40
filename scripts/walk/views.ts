/** From a dropped file through every view of the explorer, and the model alone for one patient. */
import type { Page } from "playwright-core";
import { loadModel } from "../../packages/core/src/models/save.ts";
import type { TestBrowser } from "../../test/browser.ts";
import {
  dropFile,
  dropFiles,
  exported,
  mapStage,
  openExplorer,
  recordsOf,
  step,
} from "../../test/explorer/explorer-page.ts";
import { answer } from "../../test/explorer/messy-files.ts";
import type { WalkedCohort } from "./cohorts.ts";
import { namesAgainstNumbers } from "./names.ts";
import type { Watch } from "./watch.ts";

/** Fits of whole cohorts, on a machine with other work. */
const PATIENCE = 1_200_000;
/** Where the pointer rests and means nothing. */
const ASIDE = [590, 6] as const;
const button = (page: Page, name: string | RegExp) =>
  page.getByRole("button", { name, exact: typeof name === "string" });

export async function walk(chromium: TestBrowser, cohort: WalkedCohort, watch: Watch): Promise<void> {
  const explorer = await openExplorer(chromium, "opened from disk", {
    viewport: { width: 1440, height: 900 },
    reducedMotion: "reduce",
  });
  const { page } = explorer;
  page.setDefaultTimeout(PATIENCE);
  try {
    await importTable(page, cohort, watch);
    await fitMap(page, cohort, watch);
    const model = await map(page, cohort, watch);
    if (!cohort.brief) await study(page, cohort, watch);
    await step(page, "Report").click();
    await page.frameLocator("iframe").getByRole("heading", { level: 1 }).waitFor();
    await watch.look(page, "70-report");
    await patient(chromium, model, cohort, watch);
  } catch (error) {
    await watch.look(page, "99-where-it-ended");
    throw error;
  } finally {
    for (const problem of explorer.problems()) watch.complain("console", problem);
    await explorer.close();
  }
}

async function importTable(page: Page, cohort: WalkedCohort, watch: Watch): Promise<void> {
  if (!cohort.brief) await watch.look(page, "00-empty");
  await dropFiles(page, cohort.files);
  await button(page, "Check the data").waitFor();
  for (const given of cohort.answers) {
    if ("select" in given && given.select === "Transform")
      await page.getByRole("combobox", { name: /^Transform/ }).selectOption(given.option);
    else await answer(page, given);
  }
  if (cohort.unit !== undefined) await page.getByLabel("Unit of the marker").fill(cohort.unit);
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  await watch.look(page, "10-data-columns", { whole: true });
  await button(page, "Check the data").click();
  await button(page, "Next").waitFor();
  const endsAtZero = page.getByRole("checkbox", { name: /cannot be below 0/ });
  if (await endsAtZero.isVisible()) {
    await endsAtZero.check();
    await page.getByText("Checking the data").waitFor({ state: "hidden" });
  }
  await watch.look(page, "11-data-quality", { whole: true });
  const agree = page.getByRole("switch");
  if (await button(page, "Next").isDisabled()) for (const one of await agree.all()) await one.check();
  await button(page, "Next").click();
  await button(page, "Fit the map").waitFor();
  if (cohort.subjects !== undefined) {
    await dropFiles(page, [cohort.subjects], "[aria-label='Table of outcomes']");
    await page.getByText("Which are outcomes?").waitFor();
  }
  await watch.look(page, "12-data-summary", { whole: true });
}

async function fitMap(page: Page, cohort: WalkedCohort, watch: Watch): Promise<void> {
  if (cohort.dimension !== undefined) {
    await step(page, "Fit").click();
    await page.getByRole("radiogroup", { name: "Dimensions" }).getByRole("radio", { name: cohort.dimension }).check();
  }
  await button(page, "Fit the map").click();
  await page
    .getByText(/^\s*Pass \d+\./)
    .or(button(page, "Open the map"))
    .first()
    .waitFor();
  if (!cohort.brief && (await button(page, "Pause").isVisible())) {
    await button(page, "Pause").click();
    const paused = page.getByRole("heading", { name: /^Paused/ });
    await paused.or(button(page, "Open the map")).first().waitFor();
    if (await paused.isVisible()) await watch.look(page, "20-fit-running", { whole: true });
    if (await button(page, "Continue").isVisible()) await button(page, "Continue").click();
  }
  await button(page, "Open the map").waitFor();
  await page.locator("header").getByText("being tried").waitFor({ state: "hidden" });
  await watch.look(page, "21-fit-done", { whole: true });
}

/** The map and what opens on it; the text of the model. */
async function map(page: Page, cohort: WalkedCohort, watch: Watch): Promise<string> {
  await button(page, "Open the map").click();
  const stage = await mapStage(page);
  await page.locator("#groups-title").waitFor();
  await page.waitForTimeout(1000);
  await watch.look(page, "30-map-first");
  const dismiss = button(page, "Do not show again");
  if (await dismiss.isVisible()) await dismiss.click();
  const box = (await stage.boundingBox())!;
  await page.mouse.move(box.x + 0.6 * box.width, box.y + 0.46 * box.height);
  await watch.look(page, "31-map-lens");
  await page.mouse.move(...ASIDE);
  const text = (await exported(page, "Model")).text;
  const courses = recordsOf((await exported(page, "Group courses")).text);
  const said = await page
    .locator(".rail table tbody tr")
    .evaluateAll((rows) => rows.map((row) => Array.from(row.children, (cell) => cell.textContent?.trim() ?? "")));
  for (const what of namesAgainstNumbers(loadModel(text), courses, said)) watch.complain("30-map-first", what);

  const groups = page.locator(".rail button.group");
  if ((await groups.count()) > 0) {
    await groups.first().click();
    await watch.look(page, "32-map-group");
    await groups.first().click();
  }
  await find(page, watch);
  if (cohort.brief) return text;
  const colour = page.getByRole("combobox", { name: /^Colour/ });
  const terrain = page.getByRole("combobox", { name: /^Terrain/ });
  await colour.selectOption("none");
  for (const kind of ["slope", "sd", "crossing", "density", "share"]) {
    if ((await terrain.locator(`option[value=${kind}]`).count()) === 0) continue;
    await terrain.selectOption(kind);
    await page.getByText(/^Computing /).waitFor({ state: "hidden" });
    await watch.look(page, `35-terrain-${kind}`);
  }
  await terrain.selectOption("value");
  await watch.look(page, "36-terrain-value");
  await colour.selectOption("group");
  await page.keyboard.press("b");
  await page.mouse.move(box.x + 0.35 * box.width, box.y + 0.35 * box.height);
  await page.mouse.down();
  await page.mouse.move(box.x + 0.6 * box.width, box.y + 0.65 * box.height, { steps: 5 });
  await page.mouse.up();
  await page.mouse.move(...ASIDE);
  if (
    await page
      .getByText(/selected: inside a box/)
      .first()
      .isVisible()
  )
    await watch.look(page, "37-selection");
  await page.keyboard.press("v");
  await page.keyboard.press("Escape");
  await button(page, "Filter").click();
  await watch.look(page, "38-filter");
  await button(page, "Filter").click();
  await page.keyboard.press("t");
  await page.getByRole("region", { name: "Table of individuals" }).waitFor();
  await watch.look(page, "39-table");
  await page.keyboard.press("t");
  await button(page, "New individual").first().click();
  await watch.look(page, "40-new-individual");
  await page.keyboard.press("Escape");
  return text;
}

/** Somebody in the middle of the list, now and as known at the first visit. */
async function find(page: Page, watch: Watch): Promise<void> {
  const search = page.getByRole("combobox", { name: "Find an individual" });
  await search.fill("2");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByRole("table", { name: "Facts about this individual" }).waitFor();
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
  await page.waitForTimeout(600);
  await watch.look(page, "33-individual", { whole: true });
  const known = page.getByRole("slider", { name: "As known at" });
  if (await known.isVisible()) {
    await known.focus();
    await page.keyboard.press("Home");
    await page.waitForTimeout(600);
    await watch.look(page, "34-as-known");
  }
  await page.getByRole("complementary").getByRole("button", { name: "Close" }).first().click();
}

async function study(page: Page, cohort: WalkedCohort, watch: Watch): Promise<void> {
  await step(page, "Outcomes").click();
  const draws = page.getByLabel("Draws");
  if (await draws.isVisible()) {
    await draws.fill("499");
    await button(page, /^Test \d+ outcomes$/).click();
    await page.getByText(/^Details: every statistic/).waitFor();
    await watch.look(page, "50-outcomes", { whole: true });
    await page.getByText(/^Details: every statistic/).click();
    await page.getByRole("table", { name: /^Table 2 c/ }).waitFor();
    const event = page.getByLabel(/^Event/);
    if (await event.isVisible()) {
      const options = async (label: string) =>
        (await page.getByLabel(label).locator("option").allTextContents()).filter((text) => text !== "choose");
      const events = await options("Event");
      const times = await options("Follow-up");
      await event.selectOption(events.find((name) => /death|event|disease/.test(name)) ?? events[0]);
      await page
        .getByLabel("Follow-up")
        .selectOption([/year/, /follow/].flatMap((word) => times.filter((name) => word.test(name)))[0] ?? times[0]);
      await button(page, "Show survival").click();
      await page
        .getByText(/^Landmark at \D*\d/)
        .or(page.locator(".banner.bad"))
        .first()
        .waitFor();
    }
    await watch.look(page, "51-outcomes-details", { whole: true });
  } else await watch.look(page, "50-outcomes", { whole: true });
  await step(page, "Models").click();
  await page.getByLabel("Folds").fill("3");
  await button(page, /^Compare/).click();
  await page.getByRole("table", { name: /^Table 1/ }).waitFor();
  // Maps of two dimensions are set beside each other.
  if ((cohort.dimension ?? "2") === "2") await page.getByText("Point at a dot to find the same individual").waitFor();
  await page.mouse.move(...ASIDE);
  await watch.look(page, "60-models", { whole: true });
}

/** The model alone, and values as far from each other as the cohort has them. */
async function patient(chromium: TestBrowser, text: string, cohort: WalkedCohort, watch: Watch): Promise<void> {
  const model = loadModel(text);
  const explorer = await openExplorer(chromium, "opened from disk", {
    viewport: { width: 1440, height: 900 },
    reducedMotion: "reduce",
  });
  const { page } = explorer;
  try {
    await dropFile(page, `${cohort.name}.json`, text);
    await page.getByLabel("Time of visit 1").waitFor();
    await watch.look(page, "80-patient-empty", { whole: true });
    const [first, last] = model.markers[0].basis.knots.filter((_, k, all) => k === 0 || k === all.length - 1);
    const middle = await page.locator("svg text").allTextContents();
    const values = middle.map((label) => Number(label.replace("−", "-"))).filter(Number.isFinite);
    const value = values[Math.floor(values.length / 2)] ?? 1;
    for (const [k, share] of [0, 0.15, 0.3].entries()) {
      await page.getByLabel(`Time of visit ${k + 1}`).fill(String(Number((first + share * (last - first)).toFixed(2))));
      await page.keyboard.press("Tab");
      await page.keyboard.type(String(value * (1 - 0.05 * k)));
      await page.keyboard.press("Tab");
    }
    await page.waitForTimeout(800);
    await watch.look(page, "81-patient", { whole: true });
  } finally {
    for (const problem of explorer.problems()) watch.complain("patient console", problem);
    await explorer.close();
  }
}
