/**
 * How long readers wait: the page from disk, a published cohort from dropped file to settled map, the answer to a click
 * while a fit runs. Figures are printed; limits leave room for a machine that has other things to do.
 */
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openBrowser, type TestBrowser } from "../browser.ts";
import { dropFile, mapStage, openDemo, openExplorer, PATIENCE, SINGLE_PAGE, step } from "./explorer-page.ts";
import { simulatedTables } from "./tables.ts";

/** How much slower than the goals a busy machine may be. */
const SLACK = 3;

let chromium: TestBrowser;

beforeAll(async () => {
  chromium = await openBrowser();
}, 120_000);

afterAll(async () => {
  await chromium.close();
});

const tell = (what: string) => process.stdout.write(`${what}\n`);
const median = (values: readonly number[]) => values.slice().sort((a, b) => a - b)[Math.floor(values.length / 2)];

describe("the explorer", { timeout: 240_000 }, () => {
  it("is under 1 MB compressed", () => {
    const bytes = gzipSync(readFileSync(SINGLE_PAGE), { level: 9 }).length;
    tell(`dtm.html compressed: ${(bytes / 1e6).toFixed(3)} MB`);
    expect(bytes).toBeLessThan(1e6);
  });

  it("opens from disk and shows an interactive demo map in seconds", async () => {
    const start = performance.now();
    const explorer = await openExplorer(chromium);
    const stage = await openDemo(explorer.page);
    const box = (await stage.boundingBox())!;
    await explorer.page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await stage.locator(".tm-lens:not([hidden])").first().waitFor();
    const seconds = (performance.now() - start) / 1000;
    tell(`cold file to interactive demo map: ${seconds.toFixed(2)} s`);
    // The goal is 2 s; starting a page is what suffers most where many programs share two cores.
    expect(seconds).toBeLessThan(20);
    expect(explorer.record.requests.map(({ url }) => url).filter((url) => !/^(blob|data):/.test(url))).toHaveLength(1);
    expect(explorer.problems()).toEqual([]);
    await explorer.close();
  });

  it("goes from a dropped table of 2,323 individuals to its settled map, answering clicks meanwhile", async () => {
    const { visits } = simulatedTables({ numIndividuals: 2323, seed: 21 });
    const explorer = await openExplorer(chromium);
    const { page } = explorer;
    const start = performance.now();
    await dropFile(page, "pfvc.csv", visits);
    await page.getByRole("button", { name: "Check the data", exact: true }).click({ timeout: PATIENCE });
    await page.getByRole("button", { name: "Next", exact: true }).click({ timeout: PATIENCE });
    await page.getByRole("button", { name: "Fit the map", exact: true }).click({ timeout: PATIENCE });
    await page.getByRole("button", { name: "Pause", exact: true }).waitFor({ timeout: PATIENCE });
    const answers = await clickAnswers(page);
    await page.getByRole("button", { name: "Open the map", exact: true }).waitFor({ timeout: PATIENCE });
    await page.getByRole("button", { name: "Open the map", exact: true }).click();
    await mapStage(page);
    const seconds = (performance.now() - start) / 1000;
    tell(`2,323 individuals, dropped file to settled map: ${seconds.toFixed(1)} s`);
    tell(`answer to a click during the fit: median ${median(answers).toFixed(0)} ms`);
    expect(seconds).toBeLessThan(15 * SLACK);
    expect(median(answers)).toBeLessThan(100 * SLACK);

    // A second fit, given up, leaves the map as it was; one stopped keeps a map and says what to do.
    const places = () => page.locator(".tm-dots circle").evaluateAll((dots) => dots.map((dot) => dot.outerHTML).join());
    const before = await places();
    await step(page, "Fit").click();
    await page.getByRole("button", { name: "Fit again", exact: true }).click();
    await page.getByRole("button", { name: "Cancel", exact: true }).click({ timeout: PATIENCE });
    await page.getByRole("button", { name: "Open the map", exact: true }).click({ timeout: PATIENCE });
    await mapStage(page);
    expect(await places()).toBe(before);
    await step(page, "Fit").click();
    await page.getByRole("button", { name: "Fit again", exact: true }).click();
    await page.getByRole("button", { name: "Stop and keep", exact: true }).click({ timeout: PATIENCE });
    await page.getByText(/the fit was still improving.* when it stopped after/).waitFor({ timeout: PATIENCE });
    await page.getByRole("button", { name: "Continue", exact: true }).waitFor();
    await page.getByRole("button", { name: "Open the map", exact: true }).click();
    await mapStage(page);
    expect(explorer.problems()).toEqual([]);
    await explorer.close();
  });

  it("opens an individual of 2,323 soon after the click", async () => {
    const explorer = await openExplorer(chromium);
    const { page } = explorer;
    const stage = await openDemo(page);
    await page.getByRole("heading", { name: "How to read the map" }).waitFor();
    const waits: number[] = [];
    for (let k = 0; k < 5; k++) {
      const dot = await openDot(stage, -1 - 40 * k);
      const wait = await page.evaluate(
        ([x, y]) =>
          new Promise<number>((resolve, reject) => {
            setTimeout(() => reject(new Error(`Nobody opened at ${x}, ${y}`)), 20_000);
            const begin = performance.now();
            const target = document.querySelector(".tm-stage")!;
            const panel = document.querySelector("aside")!;
            const seen = new MutationObserver(() => {
              if (panel.querySelector("#individual-title") === null) return;
              seen.disconnect();
              resolve(performance.now() - begin);
            });
            seen.observe(panel, { subtree: true, childList: true, characterData: true });
            for (const type of ["pointerdown", "pointerup"]) {
              const at = { clientX: x, clientY: y, bubbles: true, pointerId: 1, button: 0 };
              target.dispatchEvent(new PointerEvent(type, at));
            }
          }),
        [dot.x, dot.y] as const,
      );
      waits.push(wait);
      await page.getByRole("table", { name: "Facts about this individual" }).waitFor({ timeout: PATIENCE });
      await page.getByRole("complementary", { name: "Details" }).getByRole("button", { name: "Close" }).click();
    }
    tell(`click to inspector: median ${median(waits).toFixed(0)} ms`);
    expect(median(waits)).toBeLessThan(100 * SLACK);
    expect(explorer.problems()).toEqual([]);
    await explorer.close();
  });
});

/** Milliseconds from a click on the theme's button to the frame that shows it, several times. */
async function clickAnswers(page: Page): Promise<number[]> {
  return page.evaluate(async () => {
    const button = document.querySelector<HTMLButtonElement>("button[aria-label^='Theme']")!;
    const waits: number[] = [];
    for (let k = 0; k < 9; k++) {
      await new Promise((resolve) => setTimeout(resolve, 60));
      const begin = performance.now();
      button.click();
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
      waits.push(performance.now() - begin);
    }
    return waits;
  });
}

/** The middle of a dot that no name of a group covers, in px: the first from `index` (counted from the end) backwards. */
async function openDot(stage: Locator, index: number): Promise<{ x: number; y: number }> {
  return stage.evaluate((element, start) => {
    const middle = (rect: DOMRect) => ({ x: rect.x + rect.width / 2, y: rect.y + rect.height / 2 });
    const names = [...element.querySelectorAll(".tm-pill")].map((pill) => pill.getBoundingClientRect());
    const isCovered = ({ x, y }: { x: number; y: number }) =>
      names.some(({ left, right, top, bottom }) => x > left - 2 && x < right + 2 && y > top - 2 && y < bottom + 2);
    const dots = [...element.querySelectorAll(".tm-dots circle")].slice(0, start);
    const open = dots.map((dot) => middle(dot.getBoundingClientRect())).filter((at) => !isCovered(at));
    return open[open.length - 1];
  }, index);
}
