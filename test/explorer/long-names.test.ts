/** A marker whose name has eighty letters and no space: it breaks, or is told whole by a title, wherever it stands. */
import { saveModel } from "@trajectory-maps/core";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { browserOfFile } from "../browser-of-file.ts";
import { cutTexts, textClashes } from "../text-boxes.ts";
import { dropFile, type ExplorerPage, importForModel, mapStage, openExplorer } from "./explorer-page.ts";
import { simulatedTables, smallMap } from "./tables.ts";

const NAME = "Serum_albumin_concentration_by_bromocresol_green_in_the_central_laboratory_2nd";
const small = smallMap();
const model = saveModel({
  ...small,
  markers: small.markers.map((part) => ({ ...part, marker: { ...part.marker, name: NAME } })),
});
const chromium = browserOfFile();

/** Parts that stick out of a page that scrolls sideways. */
function beyondWindow(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) return [];
    return Array.from(document.querySelectorAll("body *"))
      .filter((part) => part.checkVisibility() && part.getBoundingClientRect().right > clientWidth + 1)
      .map(
        (part) =>
          `${part.nodeName}.${part.getAttribute("class") ?? ""} "${(part.textContent ?? "").trim().slice(0, 60)}"`,
      )
      .slice(0, 8);
  });
}

/** Nothing is cut off, lies on another text or widens the page, on a desk and on a phone. */
async function expectWhole(page: Page, view: string): Promise<void> {
  for (const [width, height] of [
    [1440, 900],
    [390, 844],
  ]) {
    await page.setViewportSize({ width, height });
    await expect.poll(() => beyondWindow(page), { message: `${view} at ${width}`, timeout: 10_000 }).toEqual([]);
    await expect.poll(() => cutTexts(page), { message: `${view} at ${width}`, timeout: 10_000 }).toEqual([]);
    await expect.poll(() => textClashes(page), { message: `${view} at ${width}`, timeout: 10_000 }).toEqual([]);
  }
  await page.setViewportSize({ width: 1440, height: 900 });
}

describe("a long name of a marker", () => {
  let explorer: ExplorerPage;
  let page: Page;

  beforeAll(async () => {
    explorer = await openExplorer(chromium, "opened from disk", { viewport: { width: 1440, height: 900 } });
    page = explorer.page;
  });
  afterAll(async () => {
    expect(explorer.problems()).toEqual([]);
    await explorer.close();
  });

  it("leaves room for the values of one patient", async () => {
    await dropFile(page, "map.json", model);
    await page.getByLabel("Time of visit 1").fill("0");
    await page.getByLabel("Value of visit 1").fill("80");
    await page.locator(".handle").first().waitFor();
    await expectWhole(page, "patient");
    await page.setViewportSize({ width: 390, height: 844 });
    const { x, width } = (await page.getByLabel("Value of visit 1").boundingBox())!;
    expect(x + width).toBeLessThan(390);
    expect((await page.getByLabel("Time of visit 1").boundingBox())!.width).toBeGreaterThan(80);
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  it("leaves the land beside the patient as it is: smooth, not made of cells", async () => {
    const land = page.getByRole("img", { name: /^Place on the map/ }).locator("path[fill^='var(--land']");
    const paths = await land.evaluateAll((bands) => bands.map((band) => band.getAttribute("d") ?? ""));
    const sides = paths.flatMap((d) =>
      d.split("M").flatMap((ring) => {
        const points = ring
          .replace("Z", "")
          .split("L")
          .map((point) => point.split(" ").map(Number));
        return points.slice(1).map(([x, y], k) => [Math.abs(x - points[k][0]), Math.abs(y - points[k][1])]);
      }),
    );
    expect(sides.length).toBeGreaterThan(200);
    // Cells have sides along the axes alone, each as long as a cell.
    expect(sides.filter(([dx, dy]) => dx > 0.2 && dy > 0.2).length).toBeGreaterThan(0.4 * sides.length);
  });

  it("is told whole in the header, and menus keep what comes after it", async () => {
    const { visits } = simulatedTables({ numIndividuals: 40, seed: 4, columns: ["id", "years", NAME] });
    await (await importForModel(page, model, visits)).click();
    const stage = await mapStage(page);
    expect(await page.locator("header .cohort").getAttribute("title")).toContain(NAME);
    expect(await page.getByLabel("Terrain").locator("option").first().textContent()).toMatch(/^Value at year/);
    await expectWhole(page, "map");
    // The colours of the terrain are beside their words, not beyond the footer.
    const beyond = await page.locator(".tm-foot").evaluate((footer) => {
      const { right } = footer.getBoundingClientRect();
      return Array.from(footer.querySelectorAll("svg"), (key) => key.getBoundingClientRect().right - right);
    });
    expect(beyond.length).toBeGreaterThan(2);
    expect(Math.max(...beyond)).toBeLessThanOrEqual(0);
    await stage.focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await page.getByRole("table", { name: "Facts about this individual" }).waitFor();
    await expectWhole(page, "individual");
  });

  it("of an individual is cut where all begin alike, not where they differ", async () => {
    const { visits } = simulatedTables({
      ...{ numIndividuals: 40, seed: 4, columns: ["id", "years", NAME] as const },
      rename: (id) => `Registry-of-interstitial-lung-disease-North-2011-${id}`,
    });
    const other = await openExplorer(chromium, "opened from disk", { viewport: { width: 390, height: 844 } });
    await (await importForModel(other.page, model, visits)).click();
    const first = other.page.locator("button.who").first();
    await first.waitFor();
    const [cell, id] = await Promise.all([first.boundingBox(), first.locator("bdi").boundingBox()]);
    expect(id!.x).toBeLessThan(cell!.x);
    expect(id!.x + id!.width).toBeLessThanOrEqual(cell!.x + cell!.width);
    expect(await first.getAttribute("title")).toBe(await first.textContent());
    expect(other.problems()).toEqual([]);
    await other.close();
  });
});
