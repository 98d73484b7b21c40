/**
 * How long readers of the explorer wait: the page from disk, a published cohort from dropped file to settled map, the answer to
 * a click while a fit runs, the course under the pointer, a window that moves, and the same with 100,000 individuals.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { filterBy } from "../../packages/app/src/views/map/cross-filter.ts";
import { saveModel } from "../../packages/core/src/models/save.ts";
import { openBrowser, type TestBrowser } from "../../test/browser.ts";
import {
  type ExplorerPage,
  importForModel,
  importTable,
  mapStage,
  openDemo,
  openExplorer,
} from "../../test/explorer/explorer-page.ts";
import { csv, largeTable, simulatedTables, smallMap } from "../../test/explorer/tables.ts";
import { alone, type BenchCase, type Row } from "../case.ts";
import {
  clickAnswers,
  dragWaits,
  hoverWaits,
  inspectorWait,
  longestTask,
  mountLarge,
  openDot,
  openWaits,
  yearFrames,
  zoomFrames,
} from "../page-waits.ts";
import { ROOT } from "../peers.ts";

const median = (values: readonly number[]) => values.slice().sort((a, b) => a - b)[Math.floor(values.length / 2)];

export const explorer: BenchCase = {
  name: "explorer",
  about: "waits of a reader of the explorer",
  run: async ({ quick }) => {
    const many = quick ? 10_000 : 100_000;
    const chromium = await openBrowser();
    try {
      const rows = [
        ...(await withPage(chromium, demoWaits)),
        ...(await withPage(chromium, fitWaits)),
        ...(await withPage(chromium, tableWaits)),
        filterWait(many),
        ...(await withPage(chromium, (opened) => openingWaits(chromium, opened, many))),
        ...(await mapWaits(chromium, 2323, { hover: 16, zoom: 100, year: 50 }, ["svg"])),
        ...(await mapWaits(chromium, many, { hover: 50, zoom: 100 }, ["canvas", "webgl"])),
      ];
      return rows;
    } finally {
      await chromium.close();
    }
  },
};

/** Dimensions of the cross-filter, of which two are brushed. */
const FILTERED_BY = 20;

/** One move of a brush: who is kept by two of them, and every histogram. What the page then draws is the map's own wait. */
function filterWait(m: number): Row {
  const bins = Array.from({ length: 16 }, (_, k) => String(k));
  const dimensions = Array.from({ length: FILTERED_BY }, (_, d) => ({
    key: `d${d}`,
    name: `d${d}`,
    bins,
    binOf: Uint8Array.from({ length: m }, (_, i) => (i * (2 * d + 3) + (i >> 3)) % 16),
  }));
  const times = Array.from({ length: 15 }, (_, k) => {
    const brushes = new Map([
      ["d0", [k % 8, 12] as const],
      ["d7", [2, 9] as const],
    ]);
    const began = performance.now();
    filterBy(dimensions, brushes, m);
    return performance.now() - began;
  });
  return alone(`a brush of the filter moved, ${m} individuals, ${FILTERED_BY} histograms`, "ms", median(times), {
    goal: 100,
  });
}

async function withPage(
  chromium: TestBrowser,
  measure: (opened: ExplorerPage, began: number) => Promise<Row[]>,
): Promise<Row[]> {
  const began = performance.now();
  const opened = await openExplorer(chromium);
  try {
    const rows = await measure(opened, began);
    if (opened.problems().length > 0) throw new Error(`The page complained: ${opened.problems().join("; ")}`);
    return rows;
  } finally {
    await opened.close();
  }
}

/** The demo: until its map answers, then the pointer and clicks. */
async function demoWaits({ page }: ExplorerPage, began: number): Promise<Row[]> {
  const stage = await openDemo(page);
  const box = (await stage.boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await stage.locator(".tm-lens:not([hidden])").first().waitFor();
  const opened = (performance.now() - began) / 1000;
  await page.getByRole("heading", { name: "How to read the map" }).waitFor();
  const hovers = await hoverWaits(page);
  const clicks: number[] = [];
  for (let k = 0; k < 5; k++) {
    clicks.push(await inspectorWait(page, await openDot(stage, -1 - 40 * k)));
    await page.getByRole("table", { name: "Facts about this individual" }).waitFor();
    await page.getByRole("complementary", { name: "Details" }).getByRole("button", { name: "Close" }).click();
  }
  return [
    alone("explorer: cold file to interactive demo map", "s", opened, { goal: 2 }),
    alone("explorer: pointer to course, 2,323 individuals", "ms", median(hovers), { goal: 16 }),
    alone("explorer: click to inspector", "ms", median(clicks), { goal: 100 }),
  ];
}

async function fitWaits({ page }: ExplorerPage): Promise<Row[]> {
  const { visits } = simulatedTables({ numIndividuals: 2323, seed: 21 });
  const began = performance.now();
  await importTable(page, "pfvc.csv", visits);
  await page.getByRole("button", { name: "Fit the map", exact: true }).click();
  await page.getByRole("button", { name: "Pause", exact: true }).waitFor();
  const answers = await clickAnswers(page);
  await page.getByRole("button", { name: "Open the map", exact: true }).click();
  await mapStage(page);
  return [
    alone("explorer: dropped file of 2,323 to settled map", "s", (performance.now() - began) / 1000, { goal: 15 }),
    alone("explorer: answer to a click during a fit", "ms", median(answers), { goal: 100 }),
  ];
}

/** Files that cost much: one that unpacks to 256 MB, refused; one of a thousand columns, opened. */
async function tableWaits({ page }: ExplorerPage): Promise<Row[]> {
  const choose = async (name: string, buffer: Buffer) => {
    const press = page.getByRole("button", { name: "Choose a file", exact: true }).click();
    const [dialog] = await Promise.all([page.waitForEvent("filechooser"), press]);
    await dialog.setFiles({ name, mimeType: "application/octet-stream", buffer });
    return performance.now();
  };
  const bombed = await choose("bomb.csv.gz", gzipSync(`id,time,value\n${"\n".repeat(2 ** 28)}`));
  await page
    .getByText(/expected at most \d+ MB once unpacked/)
    .first()
    .waitFor();
  const refused = (performance.now() - bombed) / 1000;
  const genes = Array.from({ length: 1000 }, (_, k) => `gene ${k}`);
  const rows = Array.from({ length: 300 }, (_, r) => [
    `P${Math.floor(r / 5)}`,
    String(r % 5),
    ...genes.map((_, k) => String((7 * r + 3 * k) % 89)),
  ]);
  const dropped = await choose("wide.csv", Buffer.from(csv([["id", "years", ...genes], ...rows])));
  await page.getByLabel("Find a column").fill("gene 777");
  await page.getByLabel("Use of column gene 777").selectOption("marker");
  await page.getByText("gene 777 as the marker").waitFor();
  return [
    alone("explorer: 256 MB in a small gzip file refused", "s", refused, { goal: 3 }),
    alone("explorer: a column of 1,002 found and taken", "s", (performance.now() - dropped) / 1000, { goal: 3 }),
  ];
}

/** A fitted map with a table of very many: longest task of the page, and clicks while groups are made. */
async function openingWaits(chromium: TestBrowser, { page }: ExplorerPage, many: number): Promise<Row[]> {
  const place = await importForModel(page, saveModel(smallMap()), largeTable(many));
  await chromium.browser.startTracing(page, { categories: ["toplevel"] });
  await place.click();
  await mapStage(page);
  const waits = (await openWaits(page)).filter(({ grouping }) => grouping).map(({ wait }) => wait);
  await page.locator(".rail li").first().waitFor();
  await page.locator(".tm-pill").first().waitFor({ state: "attached" });
  const longest = longestTask(await chromium.browser.stopTracing());
  const who = `${many.toLocaleString("en")} individuals`;
  const { x, y, width, height } = (await page.locator(".tm-stage").boundingBox())!;
  await page.mouse.click(x + width / 2, y + height / 2);
  await page.locator(".handle").first().waitFor({ state: "attached" });
  const drags = await dragWaits(page);
  return [
    alone(`explorer: ${who} opened and grouped, longest task`, "ms", longest, { goal: 200 }),
    alone(`explorer: ${who}, click while groups are made, longest`, "ms", Math.max(...waits), { goal: 200 }),
    alone(`explorer: ${who}, a visit dragged to its next course`, "ms", median(drags), { goal: 16 }),
  ];
}

/** The map as a component: drawn, followed by the pointer, zoomed, another year. */
async function mapWaits(
  chromium: TestBrowser,
  m: number,
  goals: { readonly hover: number; readonly zoom: number; readonly year?: number },
  renderers: readonly string[],
): Promise<Row[]> {
  const { page, context } = await chromium.openPage();
  await mountScript(page);
  const rows: Row[] = [];
  for (const renderer of renderers) {
    const who = `map of ${m.toLocaleString("en")} (${renderer})`;
    rows.push(alone(`${who}: drawn`, "s", (await mountLarge(page, smallMap(), m, renderer)) / 1000, { goal: 3 }));
    rows.push(alone(`${who}: pointer to course`, "ms", median(await hoverWaits(page)), { goal: goals.hover }));
    rows.push(alone(`${who}: frame while zooming`, "ms", median(await zoomFrames(page)), { goal: goals.zoom }));
    rows.push(alone(`${who}: terrain of another year`, "ms", median(await yearFrames(page)), { goal: goals.year }));
  }
  await context.close();
  return rows;
}

async function mountScript(page: Page): Promise<void> {
  await page.setContent('<div id="map" style="width: 900px; height: 700px"></div>');
  const script = readFileSync(join(ROOT, "packages", "app", "dist", "map", "map.mjs")).toString("base64");
  const content = `import { mountMap } from "data:text/javascript;base64,${script}"; window.mountMap = mountMap;`;
  await page.addScriptTag({ type: "module", content });
  await page.waitForFunction(() => "mountMap" in window);
}
