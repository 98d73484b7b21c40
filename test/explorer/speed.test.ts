/**
 * How long readers wait: the page from disk, a published cohort from dropped file to settled map, the answer to a click
 * while a fit runs, the course under the pointer, a window that moves. Figures are printed; limits leave room for a machine
 * that has other things to do.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { createRandom, fitDtm, saveModel, simulateCohort } from "@trajectory-maps/core";
import { describe, expect, it } from "vitest";
import { browserOfFile } from "../browser-of-file.ts";
import {
  dropFile,
  type ExplorerPage,
  mapStage,
  openDemo,
  openExplorer,
  PATIENCE,
  SINGLE_PAGE,
  step,
} from "./explorer-page.ts";
import { csv, simulatedTables } from "./tables.ts";
import { clickAnswers, hoverWaits, longestTask, mountLarge, openDot, openWaits, zoomFrames } from "./waits.ts";

/** How much slower than the goals a busy machine may be. */
const SLACK = 3;

const chromium = browserOfFile();

const tell = (what: string) => process.stdout.write(`${what}\n`);
const median = (values: readonly number[]) => values.slice().sort((a, b) => a - b)[Math.floor(values.length / 2)];

describe("the explorer", { timeout: 240_000 }, () => {
  /** The page with the demo, once it was opened. */
  let demo: ExplorerPage | undefined;

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
    expect(seconds).toBeLessThan(2 * 2 * SLACK);
    expect(explorer.record.requests.map(({ url }) => url).filter((url) => !/^(blob|data):/.test(url))).toHaveLength(1);
    expect(explorer.problems()).toEqual([]);
    demo = explorer;
  });

  it("shows the course under the pointer, and an individual of 2,323 soon after the click", async () => {
    const explorer = demo ?? (await openExplorer(chromium));
    const { page } = explorer;
    const stage = demo === undefined ? await openDemo(page) : await mapStage(page);
    await page.getByRole("heading", { name: "How to read the map" }).waitFor();
    const hovers = await hoverWaits(page);
    tell(`hover to course, 2,323 individuals: median ${median(hovers).toFixed(1)} ms`);
    expect(median(hovers)).toBeLessThan(16 * SLACK);

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
    // Colours come a little later, with the groups.
    const places = () =>
      page
        .locator(".tm-dots circle")
        .evaluateAll((dots) => dots.map((dot) => `${dot.getAttribute("cx")} ${dot.getAttribute("cy")}`).join());
    const before = await places();
    await step(page, "Fit").click();
    await page.getByRole("button", { name: "Fit again", exact: true }).click();
    await page.getByRole("button", { name: "Cancel", exact: true }).click({ timeout: PATIENCE });
    await page.getByRole("button", { name: "Open the map", exact: true }).click({ timeout: PATIENCE });
    await mapStage(page);
    expect((await places()) === before).toBe(true);
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

  it("opens a table of a thousand columns and refuses a bomb without making anybody wait", async () => {
    const explorer = await openExplorer(chromium);
    const { page } = explorer;
    const choose = async (name: string, bytes: Buffer) => {
      const press = page.getByRole("button", { name: "Choose a file", exact: true }).click();
      const [dialog] = await Promise.all([page.waitForEvent("filechooser"), press]);
      await dialog.setFiles({ name, mimeType: "application/octet-stream", buffer: bytes });
      return performance.now();
    };
    const bombed = await choose("bomb.csv.gz", gzipSync(Buffer.alloc(2 ** 28)));
    await page
      .getByText(/bomb\.csv\.gz: expected at most \d+ MB once unpacked, received more/)
      .first()
      .waitFor();
    const refused = (performance.now() - bombed) / 1000;
    const extra = Array.from({ length: 1000 }, (_, k) => `gene ${k}`);
    const rows = Array.from({ length: 300 }, (_, r) => [
      `P${Math.floor(r / 5)}`,
      String(r % 5),
      ...extra.map((_, k) => String((7 * r + 3 * k) % 89)),
    ]);
    const wide = Buffer.from(csv([["id", "years", ...extra], ...rows]));
    const dropped = await choose("wide.csv", wide);
    await page.getByLabel("Find a column").fill("gene 777");
    await page.getByLabel("Use of column gene 777").selectOption("marker");
    await page.getByText("gene 777 as the marker").waitFor();
    const opened = (performance.now() - dropped) / 1000;
    tell(`bomb refused: ${refused.toFixed(1)} s; 1,002 columns opened, one found and taken: ${opened.toFixed(1)} s`);
    expect(refused).toBeLessThan(3 * SLACK);
    expect(opened).toBeLessThan(3 * SLACK);
    expect(explorer.problems()).toEqual([]);
    await explorer.close();
  });

  it("never stops while a map of 100,000 individuals opens, and answers clicks while their groups are made", async () => {
    const { cohort } = simulateCohort("pfvc", { numIndividuals: 60, seed: 3 });
    const model = saveModel(fitDtm(cohort, { mean: "scalar", restarts: 0, seed: 1, maxIterations: 5 }));
    const explorer = await openExplorer(chromium);
    const { page } = explorer;
    await dropFile(page, "map.json", model);
    await page.getByText("Now choose the table").waitFor({ timeout: PATIENCE });
    await dropFile(page, "visits.csv", largeTable(100_000));
    await page.getByRole("button", { name: "Check the data", exact: true }).waitFor({ timeout: PATIENCE });
    const same = page.getByRole("button", { name: "It is the same marker" });
    if (await same.isVisible()) await same.click();
    await page.getByRole("button", { name: "Check the data", exact: true }).click({ timeout: PATIENCE });
    await page.getByRole("button", { name: "Next", exact: true }).click({ timeout: PATIENCE });
    const place = page.getByRole("button", { name: /^Place/ });
    await place.waitFor({ timeout: PATIENCE });
    await chromium.browser.startTracing(page, { categories: ["toplevel"] });
    await place.click();
    await mapStage(page);
    const waits = (await openWaits(page)).filter(({ grouping }) => grouping).map(({ wait }) => wait);
    await page.locator(".rail li").first().waitFor({ timeout: PATIENCE });
    await page.locator(".tm-pill").first().waitFor({ state: "attached", timeout: PATIENCE });
    const longest = longestTask(await chromium.browser.stopTracing());
    const slowest = Math.max(...waits);
    tell(`100,000 individuals opened and grouped: longest task ${longest.toFixed(0)} ms of processor time`);
    tell(`${waits.length} clicks answered while groups were made: ${slowest.toFixed(0)} ms at most`);
    expect(waits.length).toBeGreaterThan(0);
    expect(longest).toBeLessThan(200 * SLACK);
    // Two workers and the page share what a busy machine leaves them.
    expect(slowest).toBeLessThan(200 * 2 * SLACK);
    expect(explorer.problems()).toEqual([]);
    await explorer.close();
  });

  it("keeps up with the pointer among 100,000 individuals, with a graphics card and without", async () => {
    const { cohort } = simulateCohort("pfvc", { numIndividuals: 60, seed: 3 });
    const model = fitDtm(cohort, { mean: "scalar", restarts: 0, seed: 1, maxIterations: 5 });
    const { page, context } = await chromium.openPage();
    await page.setContent('<div id="map" style="width: 900px; height: 700px"></div>');
    const script = readFileSync(fileURLToPath(new URL("../../packages/app/dist/map/map.mjs", import.meta.url)));
    const address = `data:text/javascript;base64,${script.toString("base64")}`;
    const content = `import { mountMap } from "${address}"; window.mountMap = mountMap;`;
    await page.addScriptTag({ type: "module", content });
    await page.waitForFunction(() => "mountMap" in window);
    for (const renderer of ["canvas", "webgl"] as const) {
      const shown = await mountLarge(page, model, 100_000, renderer);
      const hovers = await hoverWaits(page);
      const frames = await zoomFrames(page);
      const words = [
        `100,000 individuals (${renderer}): map after ${shown.toFixed(0)} ms`,
        `hover to course median ${median(hovers).toFixed(1)} ms`,
        `frame while zooming median ${median(frames).toFixed(0)} ms`,
      ];
      tell(words.join(", "));
      expect(shown).toBeLessThan(3000 * SLACK);
      expect(median(hovers)).toBeLessThan(50 * SLACK);
      expect(median(frames)).toBeLessThan(100 * SLACK);
    }
    await context.close();
  });
});

/** A table of m individuals with 1 to 5 visits each, on slopes and levels of their own. */
function largeTable(m: number): string {
  const random = createRandom(11);
  const lines = ["id,years,pFVC"];
  for (let i = 0; i < m; i++) {
    const [level, slope] = [75 + 14 * random.normal(), -1 + 2 * random.normal()];
    for (let k = 0; k <= i % 5; k++) {
      const t = Math.min(10, 2 * k + 2 * random.uniform());
      lines.push(`P${i},${t.toFixed(3)},${(level + slope * t + 3 * random.normal()).toFixed(1)}`);
    }
  }
  return lines.join("\n");
}
