/** Every view of the explorer as axe sees it, light and dark, and as a reader of its texts does; and in windows of other sizes. */
import type { Locator, Page } from "playwright-core";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { accessibilityViolations } from "../browser.ts";
import { browserOfFile } from "../browser-of-file.ts";
import { impossibilities, pageTexts } from "../page-texts.ts";
import { cutTexts, textClashes } from "../text-boxes.ts";
import { dropFile, type ExplorerPage, mapStage, openDemo, openExplorer, step } from "./explorer-page.ts";
import { simulatedTables } from "./tables.ts";

const { visits, subjects } = simulatedTables({ numIndividuals: 80, seed: 4 });
// A row that cannot be read shows the table of findings and its switch.
const table = `${visits}P0001,3.3,not done\n`;

const chromium = browserOfFile();
/** The page on which one study goes from its table to its report; every test finds it as the one before left it. */
let explorer: ExplorerPage;
let page: Page;

beforeAll(async () => {
  explorer = await openExplorer(chromium);
  page = explorer.page;
});

afterEach(() => {
  expect(explorer.problems()).toEqual([]);
});

/** What a change of theme can break; all else is the same in both. */
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];

/** Nothing that axe objects to, of any severity, in both themes, as the page stands with its numbers shown. */
async function expectAccessible(page: Page, view: string): Promise<void> {
  await page.locator("main summary").evaluateAll((all) => {
    for (const summary of all) if (summary.checkVisibility()) summary.parentElement?.setAttribute("open", "");
  });
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await expect.poll(() => page.locator("html").getAttribute("data-theme")).toBe(colorScheme);
    const rules = colorScheme === "light" ? undefined : COLOUR_RULES;
    expect(await accessibilityViolations(page, rules), `${view}, ${colorScheme}`).toEqual([]);
  }
  // What everybody sees: no text on another, none cut off, nothing that cannot be true.
  expect(await textClashes(page), view).toEqual([]);
  expect(await cutTexts(page), view).toEqual([]);
  expect((await pageTexts(page)).flatMap(impossibilities), view).toEqual([]);
}

describe("axe finds nothing, light and dark,", () => {
  it("in the pages of the import", async () => {
    await expectAccessible(page, "empty");
    await dropFile(page, "empty.csv", "a,b\n1,2\n");
    await page.getByRole("button", { name: "Check the data", exact: true }).waitFor();
    await dropFile(page, "visits.csv", table);
    await page.getByRole("combobox", { name: "Use of column FVC" }).waitFor();
    await expectAccessible(page, "columns");
    await page.getByRole("button", { name: "Check the data", exact: true }).click();
    await page.getByRole("switch").waitFor();
    await expectAccessible(page, "quality");
    await page.getByRole("switch").check();
    await page.getByRole("button", { name: "Next", exact: true }).click();
    await dropFile(page, "subjects.csv", subjects, "[aria-label='Table of outcomes']");
    await page
      .getByRole("region", { name: "Outcomes" })
      .getByRole("checkbox", { name: /^myositis/ })
      .waitFor();
    await expectAccessible(page, "summary");
  });

  it("in a fit under way and at its end", async () => {
    await step(page, "Fit").click();
    // A rule that is hard to meet, so that there is time to pause.
    await page.getByText("More", { exact: true }).click();
    const tolerance = page.getByRole("combobox", { name: /^Tolerance/ });
    await tolerance.selectOption("0.0001");
    await page.getByRole("button", { name: "Fit with these settings", exact: true }).click();
    await page.getByRole("button", { name: "Pause", exact: true }).click();
    await page.getByRole("heading", { name: /^Paused/ }).waitFor();
    await expectAccessible(page, "fit under way");
    await page.getByRole("button", { name: "Continue", exact: true }).click();
    await page.getByRole("button", { name: "Stop and keep", exact: true }).click();
    await page.getByRole("button", { name: "Open the map", exact: true }).waitFor();
    await expectAccessible(page, "fit that was stopped");
    // A fit that settles, with the table of starts, which must not widen the narrow pages below.
    await tolerance.selectOption({ label: "default" });
    await page.getByRole("button", { name: "Try other starts", exact: true }).click();
    await page.getByRole("table", { name: "Starts compared" }).waitFor();
    await expectAccessible(page, "fit at its end, starts compared");
  });

  it("on the map, with an individual, a selection, the table, dialogs", async () => {
    await page.getByRole("button", { name: "Open the map", exact: true }).click();
    const stage = await mapStage(page);
    await expectAccessible(page, "map");
    await stage.focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await page.getByRole("table", { name: "Facts about this individual" }).waitFor();
    await expectAccessible(page, "individual");
    await page.getByRole("button", { name: "What if", exact: true }).click();
    await page.getByLabel("Value of visit 1").waitFor();
    await expectAccessible(page, "new individual");
    await page.keyboard.press("Escape");
    await stage.focus();
    await page.keyboard.press("r");
    await page.getByText(/selected: within/).waitFor();
    await expectAccessible(page, "selection");
    await page.getByRole("button", { name: "Table", exact: true }).click();
    await page.getByRole("region", { name: "Table of individuals" }).waitFor();
    await expectAccessible(page, "table");
    await page.getByRole("button", { name: "Export", exact: true }).click();
    await page.getByRole("dialog", { name: "Save a file" }).waitFor();
    await expectAccessible(page, "export");
    await page.keyboard.press("Escape");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await expectAccessible(page, "shortcuts");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Stays on this computer", exact: true }).click();
    await expectAccessible(page, "where the data are");
    await page.keyboard.press("Escape");
  });

  it("in outcomes before and after the test, models and report", async () => {
    await step(page, "Outcomes").click();
    await page.getByText("Nothing has been tested yet.").waitFor();
    await expectAccessible(page, "outcomes before");
    await page.getByLabel("Draws").fill("999");
    await page.getByRole("button", { name: "Test 7 outcomes", exact: true }).click();
    await page.getByText(/^Details: every statistic/).click();
    await page.getByRole("table", { name: /^Table 2 c/ }).waitFor();
    await page.getByLabel("Event").selectOption("interstitial lung disease");
    await page.getByLabel("Follow-up").selectOption("followed");
    await page.getByRole("button", { name: "Show survival", exact: true }).click();
    await page.getByRole("table", { name: "Cox regression on the places" }).waitFor();
    await expectAccessible(page, "outcomes after");
    await step(page, "Models").click();
    await page.getByLabel("Folds").fill("2");
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    await page.getByRole("table", { name: /^Table 1/ }).waitFor();
    await page.getByText("Point at a dot to find the same individual").waitFor();
    await expectAccessible(page, "models");
    await step(page, "Report").click();
    await page.frameLocator("iframe").getByRole("heading", { level: 1 }).waitFor();
    await expectAccessible(page, "report");
  });
});

describe("the explorer in windows of other sizes", () => {
  it("never scrolls sideways; groups are one press away at 1024; 200% zoom works", async () => {
    await page.emulateMedia({ colorScheme: "light" });
    await page.setViewportSize({ width: 1920, height: 1080 });
    await step(page, "Map").click();
    await page.getByRole("button", { name: "Table", exact: true }).click();
    await mapStage(page);
    const wide = () =>
      page.evaluate(() => {
        const main = document.getElementById("main")!;
        return Math.max(document.documentElement.scrollWidth - window.innerWidth, main.scrollWidth - main.clientWidth);
      });
    const chart = page.locator("section[aria-labelledby='groups-title'] svg").first();
    const large = (await chart.boundingBox())!.width;
    for (const [width, height] of [
      [1920, 1080],
      [1440, 900],
      [1280, 800],
      [1024, 768],
      // 1280 × 800 at 200 %.
      [640, 400],
      [320, 700],
    ]) {
      await page.setViewportSize({ width, height });
      // Where there is room for the map there is room for all else.
      for (const name of width > 1024 ? ["Map"] : ["Data", "Fit", "Outcomes", "Models", "Report", "Map"]) {
        await step(page, name).click();
        expect(await wide(), `${name} at ${width}`).toBeLessThanOrEqual(0);
      }
      if (width === 1280) expect((await chart.boundingBox())!.width).toBeLessThan(large);
      if (width === 1024) {
        await page.getByRole("button", { name: "Groups", exact: true }).click();
        const groups = page.getByRole("heading", { name: "Groups", exact: true });
        await groups.waitFor();
        // Escape closes the sheet, and gives the focus back to the button that opened it.
        await page.keyboard.press("Escape");
        await groups.waitFor({ state: "hidden" });
        expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Groups");
      }
      if (width <= 640) {
        await page.getByText("A map needs more room than this window has.").waitFor();
        await page.getByRole("region", { name: "Table of individuals" }).waitFor();
      }
    }
    await page.setViewportSize({ width: 1280, height: 800 });
  });
});

describe("a table that cannot be read", () => {
  it("is told of without anything that axe objects to", async () => {
    await step(page, "Outcomes").click();
    await dropFile(page, "broken.csv", '"');
    await page.getByRole("alert").waitFor();
    await dropFile(page, "broken.csv", "id,time,value\na,1,2\na,x,3\n");
    await page.getByRole("button", { name: "Check the data", exact: true }).click();
    await page.getByRole("switch").or(page.getByRole("alert")).first().waitFor();
    await expectAccessible(page, "problem");
  });
});

describe("the map of the demo", () => {
  let stage: Locator;

  // For a reader who wants dark colours and no motion.
  beforeAll(async () => {
    await explorer.close();
    explorer = await openExplorer(chromium, "opened from disk", { colorScheme: "dark", reducedMotion: "reduce" });
    page = explorer.page;
    stage = await openDemo(page);
  });

  it("prints the map with its legend, the groups and what is open, in light colours without controls", async () => {
    await stage.focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await page.getByRole("table", { name: "Facts about this individual" }).waitFor();
    await page.emulateMedia({ media: "print" });
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    const picture = page.locator(".paper > svg");
    expect((await picture.boundingBox())!.width).toBeGreaterThan(400);
    expect(await picture.textContent()).toContain("2,323 individuals");
    expect(await page.getByRole("heading", { name: "Groups", exact: true }).isVisible()).toBe(true);
    expect(await page.getByRole("table", { name: "Facts about this individual" }).isVisible()).toBe(true);
    for (const name of ["Table", "Compare", "Export"]) {
      expect(await page.getByRole("button", { name, exact: true }).isVisible(), name).toBe(false);
    }
    const ink = () => page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--ink").trim());
    expect(await ink()).toBe("#14181D");
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    await page.emulateMedia({ media: "screen", colorScheme: "dark" });
    expect(await picture.count()).toBe(0);
    expect(await ink()).toBe("#EEF1F4");
    await page.keyboard.press("Escape");
  });

  it("moves nothing for readers who want no motion", async () => {
    await page.evaluate(() => {
      const moved: string[] = [];
      Object.assign(globalThis, { moved });
      for (const type of ["transitionrun", "animationstart"]) {
        document.addEventListener(
          type,
          (event) => moved.push(`${type} of ${(event.target as Element).className}`),
          true,
        );
      }
    });
    await stage.focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await page.getByRole("table", { name: "Facts about this individual" }).waitFor();
    await page.keyboard.press("Escape");
    await page.locator("button.group").first().click();
    await page.keyboard.press("d");
    expect(await page.evaluate(() => (globalThis as unknown as { moved: string[] }).moved)).toEqual([]);
  });
});
