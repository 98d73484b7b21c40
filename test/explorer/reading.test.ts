/** What a reader may trust on the map: the acceptance checklist of the design, as far as a browser can show it. */
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { browserOfFile } from "../browser-of-file.ts";
import {
  dropFile,
  type ExplorerPage,
  expectText,
  exported,
  fitAndOpen,
  importTable,
  mapStage,
  openDemo,
  openExplorer,
  recordsOf,
  step,
} from "./explorer-page.ts";
import { csv, simulatedTables } from "./tables.ts";

const chromium = browserOfFile();

/** Finds an individual and waits for its facts. */
async function openById(page: Page, id: string): Promise<Locator> {
  const panel = page.getByRole("complementary", { name: "Details" });
  await page.getByRole("combobox", { name: "Find an individual" }).fill(id);
  await page.keyboard.press("Enter");
  await expectText(panel.getByRole("heading", { level: 2 }), id);
  await panel.getByRole("table", { name: "Facts about this individual" }).waitFor();
  return panel;
}

describe("the map of the demo", () => {
  let explorer: ExplorerPage;
  let page: Page;
  let stage: Locator;
  let places: Record<string, string>[];

  beforeAll(async () => {
    explorer = await openExplorer(chromium);
    page = explorer.page;
    stage = await openDemo(page);
    places = recordsOf((await exported(page, "Places")).text);
  }, 240_000);

  afterEach(() => {
    expect(explorer.problems()).toEqual([]);
  });

  afterAll(async () => {
    await explorer?.close();
  });

  const unit = async () =>
    Number(
      /matrix\(([\d.]+)/.exec(
        (await stage.locator("g[transform^='matrix']").first().getAttribute("transform")) ?? "",
      )?.[1],
    );

  it("has no ticks; its scale bar is one prior sd at every zoom", async () => {
    // No text of the drawing is a bare coordinate: numbers on lines are values of the marker, others have words.
    const texts = await stage.locator("svg.tm-front text").allTextContents();
    expect(texts.some((text) => /prior sd/.test(text))).toBe(true);
    expect(texts.filter((text) => /^[−-]?[0-3](\.\d+)?$/.test(text.trim()))).toEqual([]);
    const bar = stage.locator("[data-scale-bar]");
    const shares: Record<string, number> = { "1": 1, "½": 0.5, "¼": 0.25, "0.1": 0.1, "0.05": 0.05 };
    await stage.focus();
    for (let k = 0; k < 4; k++) {
      const length = Number(await bar.getAttribute("data-scale-bar"));
      const [words] = ((await bar.textContent()) ?? "").split(" prior sd");
      expect(length).toBeCloseTo(shares[words.trim()] * (await unit()), 6);
      const before = await unit();
      await page.keyboard.press("+");
      await expect.poll(unit).toBeGreaterThan(before);
    }
    await page.keyboard.press("0");
  });

  it("shows no course where nobody is placed", async () => {
    const box = (await stage.boundingBox())!;
    await page.mouse.move(box.x + box.width - 12, box.y + 12);
    const lens = stage.locator(".tm-lens:not([hidden])").first();
    await expectText(lens, "No data here");
    await expectText(lens, "Nobody in this cohort is placed near this point, so no course is shown.");
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await expectText(lens, "Course at this place");
  });

  it("draws a longer region for one visit than for eight, and says what one visit tells", async () => {
    const spanOf = async (id: string) => {
      const panel = await openById(page, id);
      const region = stage.locator("path[data-region='90']");
      await region.waitFor({ state: "attached" });
      // In prior sd: the path is in map coordinates.
      const size = await region.evaluate((path) => {
        const { width, height } = (path as SVGPathElement).getBBox();
        return Math.max(width, height);
      });
      const said = (await panel.textContent()) ?? "";
      await panel.getByRole("button", { name: "Close", exact: true }).click();
      await region.waitFor({ state: "detached" });
      return { size, said };
    };
    const pick = (n: number) => places.filter((v) => Number(v.visits) === n).slice(0, 2);
    const [one, eight]: Awaited<ReturnType<typeof spanOf>>[][] = [[], []];
    for (const { id } of pick(1)) one.push(await spanOf(id));
    for (const { id } of pick(8)) eight.push(await spanOf(id));
    expect(Math.min(...one.map(({ size }) => size))).toBeGreaterThan(Math.max(...eight.map(({ size }) => size)));
    for (const { said } of one) expect(said).toContain("One visit fixes the level, not the course.");
  });

  it("ends the solid line, and begins the dashed one, at the last visit that is used", async () => {
    const { id } = places.find((v) => Number(v.visits) === 6 && Number(v.last_time) < 8)!;
    const panel = await openById(page, id);
    const ends = async () => {
      const [solid, dashed] = await panel
        .locator("path.course")
        .evaluateAll((paths) => paths.map((p) => p.getAttribute("d") ?? ""));
      const visits = panel.locator("circle.visit:not(.held)");
      const used = Math.max(...(await visits.evaluateAll((all) => all.map((c) => Number(c.getAttribute("cx"))))));
      const x = (text: string | undefined) => Number(text?.split(/[ ,]/)[0]);
      return { end: x(solid.split(/[ML]/).at(-1)), begin: x(dashed.split(/[ML]/)[1]), used };
    };
    const last = await ends();
    expect(Math.abs(last.end - last.used)).toBeLessThan(0.2);
    expect(Math.abs(last.begin - last.used)).toBeLessThan(0.2);
    await panel.getByRole("slider", { name: "As known at" }).focus();
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    await expect.poll(async () => (await ends()).end).toBeLessThan(last.end);
    // Two steps of the slider are two answers of the worker: lines and visits agree once both are there.
    const apart = async () => {
      const { end, begin, used } = await ends();
      return Math.max(Math.abs(end - used), Math.abs(begin - used));
    };
    await expect.poll(apart).toBeLessThan(0.2);
    await page.keyboard.press("End");
    await panel.getByRole("button", { name: "Close", exact: true }).click();
  });

  it("fades all but the pressed group to 10%; letters and colours of rail and map agree; scales are shared", async () => {
    const rows = page.locator("button.group");
    const pills = () => stage.locator(".tm-front text").allTextContents();
    const letters = await rows.locator(".badge").allTextContents();
    expect(letters.length).toBeGreaterThan(1);
    expect(new Set(letters).size).toBe(letters.length);
    // Names keep clear of an individual that is open: all stand there once it is closed.
    for (const letter of letters) await expect.poll(pills).toContain(letter);
    // One y and one x scale in all of them: the same labels at the same places, the last with its unit.
    const labels = await rows.evaluateAll((all) =>
      all.map((row) =>
        Array.from(
          row.querySelectorAll("svg text"),
          (t) => `${t.textContent?.replace(/[^\d.−]/g, "")} ${t.getAttribute("y")}`,
        ).join(),
      ),
    );
    expect(new Set(labels).size).toBe(1);
    const faded = () =>
      stage.locator(".tm-dots circle").evaluateAll((all) => {
        const opacity = (dot: Element) =>
          Number(dot.getAttribute("fill-opacity") ?? dot.getAttribute("stroke-opacity"));
        return all.filter((dot) => opacity(dot) === 0.1).length;
      });
    expect(await faded()).toBe(0);
    await rows.nth(1).click();
    const size = Number(/(\d[\d,]*) individuals/.exec((await rows.nth(1).textContent()) ?? "")![1].replace(",", ""));
    await expect.poll(faded).toBe(2323 - size);
    await page.keyboard.press("Escape");
    await expect.poll(faded).toBe(0);
  });

  it("colours dots or terrain, never both", async () => {
    const terrain = () =>
      stage
        .locator("svg.tm-back path")
        .evaluateAll((paths) => [...new Set(paths.map((p) => p.getAttribute("fill") ?? ""))].join(" "));
    expect(await terrain()).toMatch(/land/);
    expect(await terrain()).not.toMatch(/sequential|diverging/);
    await page.getByRole("combobox", { name: /^Colour/ }).selectOption("none");
    await expect.poll(terrain).toMatch(/sequential/);
    const dots = await stage
      .locator(".tm-dots circle")
      .evaluateAll((all) => [...new Set(all.map((d) => d.getAttribute("fill")).filter((f) => f !== "none"))]);
    expect(dots).toHaveLength(1);
    await page.getByRole("combobox", { name: /^Terrain/ }).selectOption("slope");
    await expect.poll(terrain).toMatch(/diverging/);
    await page.getByRole("combobox", { name: /^Colour/ }).selectOption("group");
    await expect.poll(terrain).not.toMatch(/sequential|diverging/);
  });

  it("saves a picture with live text, legend, scale bar and source line", async () => {
    const { text, contains } = await exported(page, "Map as SVG");
    expect(contains).toContain("Contains individual-level data.");
    expect(text).toMatch(/^(<\?xml[^>]*>\s*)?<svg /);
    for (const words of ["Map of PFVC", "prior sd</text>", "certain place</text>", "2,323 individuals</text>"]) {
      expect(text).toContain(words);
    }
    expect(text).not.toMatch(/var\(--|P\d{4}/);
  });

  it("gives the same lens from a saved model placed anew", async () => {
    // At the same places of the map, wherever the window puts them.
    const readings = async () => {
      const box = (await stage.boundingBox())!;
      const matrix = (await stage.locator("g[transform^='matrix']").first().getAttribute("transform")) ?? "";
      const [scale, , , , left, top] = matrix.slice("matrix(".length, -1).split(/[ ,]+/).map(Number);
      const seen: string[] = [];
      for (const [x, y] of [
        [0.1, 0.3],
        [0.4, 0.1],
        [-0.3, -0.35],
      ]) {
        await page.mouse.move(box.x + left + scale * x, box.y + top - scale * y);
        seen.push((await stage.locator(".tm-lens:not([hidden]) .tm-lens-value").first().textContent()) ?? "");
      }
      return seen;
    };
    const before = await readings();
    const { text } = await exported(page, "Model");
    const { visits } = simulatedTables({ numIndividuals: 2323, seed: 21, columns: ["id", "time", "value"] });
    await dropFile(page, "model.json", text);
    await page.getByRole("button", { name: "Another table", exact: true }).click();
    // A column of another name is not taken for the model's marker unless somebody says so.
    await dropFile(page, "other.csv", "id,time,bilirubin\na,0,1\na,1,2\nb,0,3\nb,1,1\n");
    const same = page.getByRole("button", { name: "It is the same marker", exact: true });
    await same.waitFor();
    await expectText(page.locator("main"), /model\.json was fitted to another marker: marker “PFVC”, here “bilirubin”/);
    await same.click();
    await same.waitFor({ state: "hidden" });
    await dropFile(page, "visits.csv", visits);
    await page.getByRole("button", { name: "Check the data", exact: true }).click();
    await page.getByRole("button", { name: "Next", exact: true }).click();
    await page.getByRole("button", { name: "Place by model.json", exact: true }).click();
    stage = await mapStage(page);
    await expect.poll(readings).toEqual(before);
  });
});

describe("outcomes that only follow the number of visits", () => {
  it("are told apart from outcomes of the course; small counts stay out of shared files", async () => {
    const { visits, subjects } = simulatedTables({ numIndividuals: 160, seed: 9 });
    const numVisits = new Map<string, number>();
    for (const { id } of recordsOf(visits)) numVisits.set(id, (numVisits.get(id) ?? 0) + 1);
    // Seen more often, found more often; the course plays no part.
    const table = csv([
      ["id", "found at a visit"],
      ...recordsOf(subjects).map(({ id }, i) => [
        id,
        String(Number((i * 0.618034) % 1 < 1 - 0.65 ** numVisits.get(id)!)),
      ]),
    ]);
    const explorer = await openExplorer(chromium);
    const { page } = explorer;
    await importTable(page, "visits.csv", visits);
    await fitAndOpen(page);
    await step(page, "Outcomes").click();
    await dropFile(page, "outcomes.csv", table, "[aria-label='Table of individuals']");
    await page.getByLabel("Draws").fill("199");
    await page.getByRole("button", { name: /^Test 1 outcomes?$/ }).click();
    const results = page.getByRole("table", { name: /^Table 2 a/ });
    await results.waitFor();
    const row = results.getByRole("row").filter({ has: page.getByRole("button", { name: "found at a visit" }) });
    const cells = await row.getByRole("cell").allTextContents();
    const heads = (await results.getByRole("columnheader").allTextContents()).map((text) => text.trim());
    // The outcome is a matter of the number of visits alone, which the test leaves free to differ.
    expect(Number(cells[heads.indexOf("p") - 1])).toBeGreaterThan(0.05);

    await step(page, "Map").click();
    await mapStage(page);
    await page.getByText("Number and stability of groups").click();
    const slider = page.getByRole("slider", { name: /^Groups/ });
    await slider.focus();
    await page.keyboard.press("End");
    await expectText(page.getByText(/^Cut by hand\./), "Cut by hand.");
    const courses = recordsOf((await exported(page, "Group courses")).text);
    const sizes = new Set(courses.map(({ individuals }) => individuals));
    expect(sizes).toContain("<11");
    for (const size of sizes) if (size !== "<11") expect(Number(size)).toBeGreaterThanOrEqual(11);
    expect(explorer.problems()).toEqual([]);
    await explorer.close();
  });
});
