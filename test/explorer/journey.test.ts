/**
 * One study from a dropped table to its report, on both builds, with the network refused. The tests of a build share one
 * page and follow each other as a reader would go.
 */
import { loadModel, predict, type TrajectoryModel } from "@trajectory-maps/core";
import { courseTimes, placementAt } from "@trajectory-maps/core/models";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { browserOfFile } from "../browser-of-file.ts";
import {
  BUILDS,
  dropFile,
  type ExplorerPage,
  expectText,
  exported,
  mapStage,
  openExplorer,
  recordsOf,
  savedFile,
  step,
} from "./explorer-page.ts";
import { csv, simulatedTables } from "./tables.ts";

const NUM_INDIVIDUALS = 90;
const { visits, subjects, numRows } = simulatedTables({ numIndividuals: NUM_INDIVIDUALS, seed: 12 });
// Odd names, semicolons, decimal commas, a second marker to the left of the one that is meant, and rows to refuse.
const HEADER = ["Reg.-Nr", "Jahre seit Beginn", "Puls", "FVC (% predicted)"];
const german = (number: string) => number.replace(".", ",");
const rows = visits
  .trimEnd()
  .split("\n")
  .slice(1)
  .map((line) => line.split(","));
const table = csv(
  [
    HEADER,
    ...rows.map(([id, time, value], k) => [id, german(time), String(60 + ((7 * k) % 31)), german(value)]),
    ["P0001", "3,25", "70", "not done"],
    ["P0001", "3,5", "70", "<LOD"],
    ["P0001", "3,75", "70", ""],
  ],
  ";",
);

const chromium = browserOfFile();

interface MapFrame {
  /** px of the page from the place of the map, and back. */
  readonly toPage: (x: number, y: number) => readonly [number, number];
  readonly unit: number;
}

/** Where the map stands on the page: two dots and the places they have in the exported file tell. */
async function frameOf(stage: Locator, places: readonly { x: number; y: number }[]): Promise<MapFrame> {
  const dots = await stage.locator(".tm-dots circle").evaluateAll((all) =>
    all.map((dot) => {
      const { left, right, top, bottom } = dot.getBoundingClientRect();
      return [(left + right) / 2, (top + bottom) / 2] as const;
    }),
  );
  // Dots are drawn vague to certain, not in the order of the file: their extremes belong together.
  const span = (values: readonly number[]) => [Math.min(...values), Math.max(...values)] as const;
  const [px0, px1] = span(dots.map(([px]) => px));
  const [py0, py1] = span(dots.map(([, py]) => py));
  const [x0, x1] = span(places.map(({ x }) => x));
  const [y0, y1] = span(places.map(({ y }) => y));
  const unit = (px1 - px0) / (x1 - x0);
  expect(Math.abs((py1 - py0) / (y1 - y0) / unit - 1)).toBeLessThan(0.01);
  return { unit, toPage: (x, y) => [px0 + unit * (x - x0), py1 - unit * (y - y0)] };
}

/** Moves the pointer along corners with the button held. */
async function drag(page: Page, corners: readonly (readonly [number, number])[]): Promise<void> {
  await page.mouse.move(...corners[0]);
  await page.mouse.down();
  for (const corner of corners.slice(1)) await page.mouse.move(...corner);
  await page.mouse.up();
}

describe.each(BUILDS)("a study in the explorer %s", (build) => {
  let explorer: ExplorerPage;
  let page: Page;
  let model: TrajectoryModel;
  let places: { id: string; x: number; y: number; visits: number }[];
  let frame: MapFrame;

  beforeAll(async () => {
    explorer = await openExplorer(chromium, build);
    page = explorer.page;
  });

  afterEach(() => {
    expect(explorer.problems()).toEqual([]);
  });

  afterAll(async () => {
    await explorer?.close();
  });

  it("guesses the columns of a dropped table with odd names; a wrong guess is put right by keyboard", async () => {
    await dropFile(page, "visits.csv", table);
    const use = (name: string) => page.getByLabel(`Use of column ${name}`);
    await use("Reg.-Nr").waitFor();
    const guessed = await Promise.all(HEADER.map((name) => use(name).inputValue()));
    expect(guessed).toEqual(["id", "time", "value", "none"]);
    await expectText(page.locator("main"), "We read Reg.-Nr as the individual");
    await use("FVC (% predicted)").focus();
    await page.keyboard.press("m");
    expect(await use("FVC (% predicted)").inputValue()).toBe("value");
    expect(await use("Puls").inputValue()).toBe("none");
    expect(await page.getByLabel("Unit of the marker").inputValue()).toBe("% predicted");
  });

  it("counts the rows it cannot read, lists them with lines and codes, and asks before it leaves them out", async () => {
    await page.getByRole("button", { name: "Check the data", exact: true }).click();
    const all = numRows + 3;
    await expectText(page.locator("main"), `${numRows} rows read + 3 left out = ${all} rows in the file.`);
    const codes = await page
      .getByRole("table", { name: "What was found in the table" })
      .locator("code")
      .allTextContents();
    expect(codes).toEqual(expect.arrayContaining(["censored-value", "missing-value", "not-a-number"]));
    await page.getByText("Show them").click();
    const listed = page.getByRole("table", { name: "Rows left out" }).getByRole("rowheader");
    expect(await listed.allTextContents()).toEqual([all - 1, all, all + 1].map((line) => line.toLocaleString("en")));
    expect(await page.getByRole("button", { name: "Next", exact: true }).isDisabled()).toBe(true);
    await page.getByRole("switch").check();
    await page.getByRole("button", { name: "Next", exact: true }).click();
    await expectText(page.locator("main"), `3 of ${all} rows are left out, as the report will state.`);
  });

  it("fits with live progress and says in words that it settled", async () => {
    await page.evaluate(() => {
      const seen: string[] = [];
      Object.assign(globalThis, { seen });
      new MutationObserver(() => {
        const text = document.querySelector("#running-title")?.closest("section")?.querySelector(".sentence");
        if (text?.textContent) seen.push(text.textContent.trim());
      }).observe(document.body, { subtree: true, childList: true, characterData: true });
    });
    await page.getByRole("button", { name: "Fit the map", exact: true }).click();
    await page.getByRole("button", { name: "Open the map", exact: true }).waitFor();
    await expectText(page.locator("main"), /Settled after \d+ passes\./);
    const seen = await page.evaluate(() => (globalThis as unknown as { seen: string[] }).seen);
    expect(seen.filter((text) => /^Pass \d+\./.test(text)).length).toBeGreaterThan(1);
    expect(await page.getByRole("img", { name: `Places of ${NUM_INDIVIDUALS} individuals.` }).isVisible()).toBe(true);
    await page.getByRole("button", { name: "Open the map", exact: true }).click();
    await mapStage(page);
  });

  it("shows under the pointer the course that the library predicts there", async () => {
    const file = await exported(page, "Model");
    expect(file.contains).toMatch(/Contains: \d+ inducing points, \d+ values, settings/);
    expect(file.contains).toContain("Contains no identifiers and no measurements.");
    model = loadModel(file.text);
    places = recordsOf((await exported(page, "Places")).text).map(({ id, x1, x2, visits: n }) => ({
      id,
      x: Number(x1),
      y: Number(x2),
      visits: Number(n),
    }));
    expect(places).toHaveLength(NUM_INDIVIDUALS);
    const stage = await mapStage(page);
    frame = await frameOf(stage, places);
    let seen = 0;
    // Beside dots: on one the course is the individual's own.
    const beside = places
      .map((place) => ({ x: place.x + 9 / frame.unit, y: place.y }))
      .filter(({ x, y }) => places.every((place) => frame.unit * Math.hypot(place.x - x, place.y - y) > 8));
    for (const { x, y } of beside.slice(0, 12)) {
      const [px, py] = frame.toPage(x, y);
      await page.mouse.move(px, py);
      const text = (await stage.locator(".tm-lens:not([hidden]) .tm-lens-value").first().textContent()) ?? "";
      if (text.startsWith("Nobody")) continue;
      const [year, ...numbers] = /(\S+): (\S+) \(90% (\S+) to (\S+)\)$/.exec(text)!.slice(1).map(Number);
      // The last time of the drawn course at which similar people were followed; its year is written in short.
      const when = [...courseTimes(model, 41)].sort((a, b) => Math.abs(a - year) - Math.abs(b - year))[0];
      // The pointer stands on a whole px: what the library says within one px around, and half a unit of the last digit.
      const around = [-1, 0, 1].flatMap((dx) => [-1, 0, 1].map((dy) => [x + dx / frame.unit, y + dy / frame.unit]));
      const there = around.map((place) => predict(model, placementAt(model, place), [when], { interval: "curve" }));
      for (const [k, key] of (["median", "lower", "upper"] as const).entries()) {
        const exact = there.map((prediction) => prediction[key][0]);
        expect(numbers[k]).toBeGreaterThan(Math.min(...exact) - 0.51);
        expect(numbers[k]).toBeLessThan(Math.max(...exact) + 0.51);
      }
      seen++;
    }
    expect(seen).toBeGreaterThan(3);
  });

  it("selects the same individuals by box, lasso and keyboard, and says how", async () => {
    const stage = await mapStage(page);
    const title = page.getByRole("complementary", { name: "Details" }).getByRole("heading", { level: 2 });
    // The keyboard first: everyone within a quarter of a prior sd of the individual it goes to.
    await stage.focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("r");
    await expectText(title, /^\d+ individuals?$/);
    const how = page.getByText(/selected: within ¼ map unit of/);
    await how.waitFor();
    const chosen = recordsOf(
      (await savedFile(page, () => page.getByRole("button", { name: "Export CSV", exact: true }).click())).text,
    );
    const members = new Set(chosen.map(({ id }) => id));
    const inside = places.filter(({ id }) => members.has(id));
    expect(inside).toHaveLength(chosen.length);
    // A circle with room for exactly them, drawn as a lasso.
    const centre = places.find((p) => {
      const near = places.filter(({ x, y }) => Math.hypot(x - p.x, y - p.y) <= 0.25);
      return near.length === inside.length && near.every(({ id }) => members.has(id));
    })!;
    expect(centre).toBeDefined();
    await page.keyboard.press("l");
    const ring = Array.from({ length: 41 }, (_, k) => {
      const angle = (2 * Math.PI * k) / 40;
      return frame.toPage(centre.x + 0.25 * Math.cos(angle), centre.y + 0.25 * Math.sin(angle));
    });
    await drag(page, ring);
    await page.getByText(/selected: inside a lasso on the map/).waitFor();
    const byLasso = recordsOf(
      (await savedFile(page, () => page.getByRole("button", { name: "Export CSV", exact: true }).click())).text,
    );
    // Places within half a px of the circle may fall on either side.
    const sure = places.filter(({ x, y }) => Math.abs(Math.hypot(x - centre.x, y - centre.y) - 0.25) > 2 / frame.unit);
    const only = (list: readonly { id?: string }[]) =>
      sure.filter(({ id }) => list.some((r) => r.id === id)).map(({ id }) => id);
    expect(only(byLasso)).toEqual(only(chosen));
    // A box and a lasso along its edges.
    const edges = [
      [-0.9, -0.8],
      [0.4, -0.8],
      [0.4, 0.6],
      [-0.9, 0.6],
      [-0.9, -0.8],
    ].map(([x, y]) => frame.toPage(x, y));
    await drag(page, edges);
    const lassoCount = await title.textContent();
    await page.keyboard.press("b");
    await drag(page, [edges[0], edges[2]]);
    await page.getByText(/selected: inside a box on the map/).waitFor();
    expect(await title.textContent()).toBe(lassoCount);
    // What was done can be undone, and done again.
    await page.keyboard.press("Control+z");
    await page.getByText(/selected: inside a lasso on the map/).waitFor();
    await page.keyboard.press("Control+Shift+z");
    await page.getByText(/selected: inside a box on the map/).waitFor();
    await page.getByRole("button", { name: "Save as group", exact: true }).click();
    await page.getByLabel("Name of the selection").fill("middle");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: /^middle/ }).waitFor();
    await page.keyboard.press("v");
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "How to read the map" }).waitFor();
  });

  it("opens an individual; what was known at the first visit, and back, gives the same numbers", async () => {
    const stage = await mapStage(page);
    const { id, x, y } = places.find(({ visits: n }) => n >= 6)!;
    const transform = () => stage.locator(".tm-back g[transform]").first().getAttribute("transform");
    const before = await transform();
    await page.mouse.click(...frame.toPage(x, y));
    const panel = page.getByRole("complementary", { name: "Details" });
    const opened = await panel.getByRole("heading", { level: 2 }).textContent();
    expect(places.map((p) => p.id)).toContain(opened);
    // Another dot may lie on top; the search finds the one that is meant.
    await page.keyboard.press("/");
    await page.keyboard.type(id);
    await page.keyboard.press("Enter");
    await expectText(panel.getByRole("heading", { level: 2 }), id);
    expect(await transform()).toBe(before);
    const facts = panel.getByRole("table", { name: "Facts about this individual" });
    await facts.waitFor();
    const held = panel.locator("circle.visit.held");
    expect(await held.count()).toBe(0);
    const allKnown = await facts.textContent();
    const slider = panel.getByRole("slider", { name: "As known at" });
    await slider.focus();
    await page.keyboard.press("Home");
    await expectText(panel, "One visit fixes the level, not the course.");
    await expect.poll(() => facts.textContent()).not.toBe(allKnown);
    expect(await held.count()).toBe((await panel.locator("circle.visit").count()) - 1);
    await page.keyboard.press("End");
    await expect.poll(() => facts.textContent()).toBe(allKnown);
    expect(await held.count()).toBe(0);
    await panel.getByRole("button", { name: "Close", exact: true }).click();
  });

  it("relates the map to outcomes of a second table, with its checks", async () => {
    await step(page, "Outcomes").click();
    await page.getByText("No outcomes are loaded.").waitFor();
    await dropFile(page, "twice.csv", "id,death\na,1\na,0\n", "[aria-label='Table of individuals']");
    await expectText(page.getByRole("alert"), "The table was read, but its outcomes cannot be used.");
    await dropFile(page, "subjects.csv", subjects, "[aria-label='Table of individuals']");
    await page.getByLabel("Draws").fill("99");
    await page.getByRole("button", { name: "Test 7 outcomes", exact: true }).click();
    // Of 99 draws the smallest p, 0.01, is 0.07 after adjustment over seven outcomes.
    await expectText(
      page.locator("main"),
      /(No relation found|None after adjustment): .*myositis.*adjusted over 7 outcomes/,
    );
    await page.getByText(/^Details: every statistic/).click();
    const results = page.getByRole("table", { name: /^Table 2 a/ });
    const heads = await results.getByRole("columnheader").allTextContents();
    for (const head of ["with", "AUC (95% CI)", "p", "Holm", "BH"]) {
      expect(heads).toContain(head);
    }
    const predictors = page.getByRole("table", { name: /^Table 2 b/ });
    expect(await predictors.getByRole("columnheader").allTextContents()).toContain("last value and visits");
    expect(await predictors.getByRole("rowheader").count()).toBe(7);
    await page.getByRole("table", { name: /^Table 2 c/ }).waitFor();
    const checks = page.getByRole("table", { name: /^Table 2 d/ });
    await checks.getByRole("rowheader", { name: "Number of visits" }).waitFor();
    // Few individuals: some outcome has fewer than 20 cases, and it is said.
    await expectText(page.locator("main"), /Only \d+ cases\. Only large differences would be seen\./);
    await results.getByRole("button", { name: "Myositis", exact: true }).click();
    await mapStage(page);
    expect(await page.getByLabel("Colour").inputValue()).toBe("outcome:myositis");
    await step(page, "Outcomes").click();
    // Ids are no times.
    expect(await page.getByLabel("Follow-up").locator("option").allTextContents()).not.toContain("id");
    await page.getByLabel("Event").selectOption("interstitial lung disease");
    await page.getByLabel("Follow-up").selectOption("followed");
    await page.getByRole("button", { name: "Show survival", exact: true }).click();
    await expectText(page.locator("main"), /Landmark at year [\d.]+: \d+ individuals, \d+ events\./);
  });

  it("compares models on the same folds, with paired differences and a verdict", async () => {
    await step(page, "Models").click();
    await page.getByLabel("Folds").fill("2");
    await page.getByRole("button", { name: "Compare", exact: true }).click();
    const results = page.getByRole("table", { name: /^Table 1/ });
    await results.waitFor();
    expect(await results.getByRole("rowheader").count()).toBe(6);
    const differences = page.getByRole("table", { name: /^Paired differences/ }).locator("tbody tr");
    const cells = await differences.locator("td").allTextContents();
    expect(cells.filter((text) => /^−?\d\.\d+ to −?\d\.\d+$/.test(text)).length).toBe(await differences.count());
    // Ninety individuals are too few to tell the models apart: the interval holds 0, and the verdict says so.
    await expectText(
      page.locator(".verdict"),
      /The linear mixed model suffices: the map has a log-likelihood (?:higher|lower) by .*95% CI −/,
    );
    await page.getByRole("heading", { name: "Maps of the three models, turned to agree" }).waitFor();
  });

  it("writes a report without identifiers that needs neither script nor network", async () => {
    await step(page, "Report").click();
    const preview = page.frameLocator("iframe[title='Preview of the report']");
    await preview.getByRole("heading", { level: 1 }).waitFor();
    await expectText(preview.locator("body"), "FVC");
    // Nothing more is to be computed for who was studied.
    expect(await page.getByRole("checkbox", { name: "Characteristics" }).isChecked()).toBe(true);
    const { name, text } = await savedFile(page, () =>
      page.getByRole("button", { name: "Save report", exact: true }).click(),
    );
    expect(name).toBe("report.html");
    expect(text).not.toMatch(/<script|https?:\/\/(?!www\.w3\.org)|onerror=/);
    // No id, and no measurement with the digits it has in the table.
    for (const { id } of places) expect(text).not.toContain(id);
    await page.getByLabel("places only").check();
    await expectText(page.locator("main"), "Contains the place of every individual, without ids.");
    await page.getByRole("button", { name: "Print", exact: true }).click();
  });

  it("goes back through the steps as the browser's Back does", async () => {
    await page.goBack();
    await page.getByRole("heading", { name: "Which model predicts individuals it has not seen?" }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "Is the map related to outcomes?" }).waitFor();
    expect(new URL(page.url()).hash).not.toMatch(/P0|Reg/);
  });
});
