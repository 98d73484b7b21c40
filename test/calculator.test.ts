/**
 * The page for one patient in a real browser: the file that `dtm calculator` writes, opened from disk, and the page that `dtm serve`
 * serves behind its door. By keyboard alone, from typed values to the printed page.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { patientPages } from "../packages/cli/src/io/patient-page.ts";
import { createApp } from "../packages/cli/src/serve/app.ts";
import { loadServed } from "../packages/cli/src/serve/models.ts";
import { createQueue } from "../packages/cli/src/serve/queue.ts";
import { openServer, type RunningServer } from "../packages/cli/src/serve/server.ts";
import { run } from "../packages/cli/test/harness.ts";
import type { Cohort } from "../packages/core/src/cohort/cohort.ts";
import { combineMarkers } from "../packages/core/src/cohort/several-markers.ts";
import { fitDtm } from "../packages/core/src/models/fit-models.ts";
import { placeIndividual } from "../packages/core/src/models/place.ts";
import { predict } from "../packages/core/src/models/predict.ts";
import { saveModel } from "../packages/core/src/models/save.ts";
import { simulateCohort } from "../packages/core/src/simulate/cohorts.ts";
import { accessibilityViolations, openBrowser, type TestBrowser } from "./browser.ts";
import { moveFingers } from "./touch.ts";

const folder = mkdtempSync(join(tmpdir(), "dtm-calculator-"));
const MODEL = join(folder, "lungs.json");
const PAGE = join(folder, "calculator.html");
const { cohort } = simulateCohort("pfvc", { numIndividuals: 60, seed: 3 });
const model = fitDtm(cohort, { noise: "white", restarts: 0 });
let server: RunningServer;
let chromium: TestBrowser;

beforeAll(async () => {
  writeFileSync(MODEL, saveModel(model));
  const served = await loadServed("lungs", MODEL);
  const pages = patientPages(new Map([["lungs", served.patient]]), "0");
  const start = { type: "text/html", bytes: () => Buffer.from("<!doctype html><title>Start</title>") };
  const files = new Map([...pages, ["/index.html", start]]);
  server = await openServer(
    createApp({ models: new Map([["lungs", served]]), queue: createQueue(9), files }).application,
  );
  chromium = await openBrowser();
});
afterAll(async () => {
  await chromium.close();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const lead = (page: Page) => page.locator(".lead").first().textContent();
/** Types into the field that has the focus and goes to the next. */
async function typeAll(page: Page, texts: readonly string[]): Promise<void> {
  for (const text of texts) {
    await page.keyboard.type(text);
    await page.keyboard.press("Tab");
    // Past the button that removes the row.
    if ((await page.evaluate(() => document.activeElement?.tagName)) === "BUTTON") await page.keyboard.press("Tab");
  }
}
const focusByTab = async (page: Page, name: RegExp) => {
  for (let k = 0; k < 60; k++) {
    const label = await page.evaluate(() => {
      const element = document.activeElement;
      return element?.getAttribute("aria-label") ?? element?.textContent ?? "";
    });
    if (name.test(label)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Nothing called ${name} is reached by Tab.`);
};

describe("dtm calculator", () => {
  it("writes one page that is small, holds nobody, and opens from disk without a request", async () => {
    const argv = ["--cohort", "A </script> study", "--years", "2000 to 2005", "--citation", "Somebody 2016"];
    const { code, out } = await run("calculator", MODEL, "-o", PAGE, ...argv, "--json", "-q");
    expect(code).toBe(0);
    const text = readFileSync(PAGE, "utf8");
    expect(gzipSync(text).length).toBe((JSON.parse(out) as { gzipped: number }).gzipped);
    expect(gzipSync(text).length).toBeLessThan(400_000);
    expect(cohort.ids.filter((id) => text.includes(id))).toEqual([]);
    const { page, record } = await chromium.openPage();
    await page.goto(pathToFileURL(PAGE).href);
    expect(await page.locator("article").textContent()).toMatch(
      /Made from \d+ values of 60 people \(A <\/script> study, 2000 to 2005\).*not a medical device.*Somebody 2016/s,
    );
    expect(record.problems()).toEqual([]);
    expect(record.requests).toHaveLength(1);
  });

  it("is under 400 kB compressed with three markers too, and forecasts each", async () => {
    const parts = [3, 4, 5].map((seed): Cohort => {
      const { ids, markers } = simulateCohort("pfvc", { numIndividuals: 40, seed }).cohort;
      return { ids, markers: [{ ...markers[0], marker: { ...markers[0].marker, name: `marker ${seed}` } }] };
    });
    const three = join(folder, "three.json");
    writeFileSync(three, saveModel(fitDtm(combineMarkers(parts), { noise: "white", restarts: 0, maxIterations: 3 })));
    const { out } = await run("calculator", three, "-o", join(folder, "three.html"), "--json", "-q");
    expect((JSON.parse(out) as { gzipped: number }).gzipped).toBeLessThan(400_000);
    const { page, record } = await chromium.openPage();
    await page.goto(pathToFileURL(join(folder, "three.html")).href);
    await focusByTab(page, /^Time of visit 1$/);
    await typeAll(page, ["0", "92", "80", "77"]);
    await expect.poll(() => page.locator(".lead").allTextContents()).toHaveLength(3);
    for (const seed of [3, 4, 5]) expect(await page.locator("article").textContent()).toContain(`Marker ${seed}: `);
    expect(record.problems()).toEqual([]);
  });

  it("offers no dates where the model does not say in which unit its times are, and warns of it once", async () => {
    const { ids, markers } = cohort;
    const without = { ids, markers: [{ ...markers[0], marker: { ...markers[0].marker, timeUnit: "" } }] };
    const plain = join(folder, "plain.json");
    writeFileSync(plain, saveModel(fitDtm(without, { noise: "white", restarts: 0, maxIterations: 3 })));
    const { talk } = await run("calculator", plain, "-o", join(folder, "plain.html"));
    expect(talk.match(/--time-unit years/g)).toHaveLength(1);
    const { page } = await chromium.openPage();
    await page.goto(pathToFileURL(join(folder, "plain.html")).href);
    expect(await page.locator("thead").first().textContent()).not.toContain("Date");
    await page.getByLabel("Time of visit 1").fill("2024-01-31");
    expect(await page.getByLabel(/Times are counted from/).count()).toBe(0);
    expect(await page.locator(".faults").textContent()).toContain("type times as numbers");
    await page.getByLabel("Time of visit 1").fill("0");
    await page.getByLabel("Value of visit 1").fill("80");
    await expect.poll(() => lead(page)).toMatch(/A measurement at time [\d.]+, [\d.]+ later, is expected/);
  });

  it("prints no empty date, tells values that wait, and holds values that leave the scale", async () => {
    const { page } = await chromium.openPage();
    await page.goto(pathToFileURL(PAGE).href);
    await page.getByLabel("Time of visit 1").fill("2024-01-31");
    await page.getByLabel("Value of visit 1").fill("92");
    const date = page.getByLabel(/Times are counted from/);
    expect(await date.isVisible()).toBe(true);
    await page.emulateMedia({ media: "print" });
    expect(await date.isVisible()).toBe(false);
    await page.emulateMedia({ media: "screen" });
    await page.getByLabel("Time of visit 1").fill("0");
    await page.getByLabel("Value of visit 1").fill("400");
    expect(await lead(page)).toMatch(/^No value counts yet, 1 value waits to be kept: /);
    await page.getByRole("button", { name: "Keep 400" }).click();
    const dot = page.locator("circle.visit").first();
    await expect.poll(async () => Number(await dot.getAttribute("cy"))).toBeGreaterThan(22);
  });

  it("goes from typed values to the printed page by keyboard alone", async () => {
    const { page, record } = await chromium.openPage();
    await page.goto(pathToFileURL(PAGE).href);
    await focusByTab(page, /^Time of visit 1$/);
    await typeAll(page, ["0", "92", "2", "700"]);
    // A slip is asked about before it counts.
    expect(await page.getByRole("alert").textContent()).toMatch(
      /^700 is far above what the model expects of anybody at year 2 /,
    );
    expect(await lead(page)).toMatch(/^One visit fixes the level/);
    await focusByTab(page, /^Keep 700$/);
    await page.keyboard.press("Enter");
    await expect.poll(() => lead(page)).toMatch(/do not fit any course seen/);
    expect(await page.getByLabel("Probability of groups").count()).toBe(0);
    expect(await page.locator(".side").textContent()).toContain("do not fit any course seen");
    // The focus is on the value again.
    await page.keyboard.press("ControlOrMeta+a");
    await typeAll(page, ["80"]);
    await expect.poll(() => lead(page)).toMatch(/^A measurement 2 years on, at year 4, is expected near \d+/);
    const { median } = predict(model, placeIndividual(model, { times: [0, 2], values: [92, 80] }), [4], {
      interval: "curve",
    });
    expect(await lead(page)).toContain(`near ${Math.round(median[0])},`);
    expect(await accessibilityViolations(page)).toEqual([]);
    // The chart: a visit is moved, undone, moved and kept beside the original.
    await focusByTab(page, /^Visit 2, year 2: 80/);
    const second = page.getByLabel("Value of visit 2");
    await page.keyboard.press("Shift+ArrowDown");
    const moved = Number(await second.inputValue());
    expect(moved).toBeLessThan(80);
    // A visit that moves down keeps its time as typed; one that moves on its value.
    const time = page.getByLabel("Time of visit 2");
    expect(await time.inputValue()).toBe("2");
    await page.keyboard.press("Shift+ArrowRight");
    expect(Number(await time.inputValue())).toBeGreaterThan(2);
    expect(await second.inputValue()).toBe(String(moved));
    expect(await page.locator("path.ghost").count()).toBeGreaterThan(0);
    await page.keyboard.press("Escape");
    expect(await second.inputValue()).toBe("80");
    expect(await page.locator("path.ghost").count()).toBe(0);
    await page.keyboard.press("Shift+ArrowDown");
    await page.keyboard.press("Enter");
    expect(await page.getByRole("group", { name: "Patients" }).textContent()).toContain("Patient 1, what if");
    expect(Number(await second.inputValue())).toBe(moved);
    expect(await accessibilityViolations(page)).toEqual([]);
    // The printed page: one sheet with sentence, values, intended use; no name unless one was typed.
    const sheets = (await page.pdf({ format: "A4" })).toString("latin1").match(/\/Type\s*\/Page\b/g);
    expect(sheets).toHaveLength(1);
    await page.emulateMedia({ media: "print" });
    for (const [text, isShown] of [
      [/^A measurement 2 years on/, true],
      [/^Intended use/, true],
      [/^Printed \d{4}-/, true],
      ["New patient", false],
      ["Keep this list in this browser", false],
    ] as const) {
      expect(await page.getByText(text).first().isVisible()).toBe(isShown);
    }
    expect(record.problems()).toEqual([]);
  });

  it("moves, adds and takes off visits with the mouse, and keeps the list only if asked", async () => {
    const { page } = await chromium.openPage();
    await page.goto(pathToFileURL(PAGE).href);
    await page.getByLabel("Time of visit 1").fill("2024-01-31");
    await page.getByLabel("Value of visit 1").fill("92");
    const handle = page.locator(".handle");
    const middle = async () => {
      const { x, y, width, height } = (await handle.first().boundingBox())!;
      return [x + width / 2, y + height / 2] as const;
    };
    const [x, y] = await middle();
    await page.mouse.click(x + 120, y + 40);
    expect(await handle.count()).toBe(2);
    // Times that were typed as dates stay dates.
    expect(await page.getByLabel("Time of visit 2").inputValue()).toMatch(/^202\d-\d\d-\d\d$/);
    // What appears with a change does not move the chart under the pointer.
    expect(await middle()).toEqual([x, y]);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 5, y + 30, { steps: 3 });
    await page.mouse.up();
    const value = page.getByLabel("Value of visit 1");
    expect(Number(await value.inputValue())).toBeLessThan(92);
    await page.mouse.move(...(await middle()));
    await page.mouse.down();
    await page.mouse.move(x, y + 900, { steps: 3 });
    await page.mouse.up();
    expect(await handle.count()).toBe(1);
    const kept = () => page.evaluate(() => localStorage.length);
    expect(await kept()).toBe(0);
    await page.getByLabel("Keep this list in this browser").check();
    await page.getByLabel("Name for the list").fill("First");
    await page.reload();
    await expect.poll(() => page.getByRole("group", { name: "Patients" }).textContent()).toContain("First");
    await page.getByLabel("Keep this list in this browser").uncheck();
    expect(await kept()).toBe(0);
  });
});

describe("the chart on a phone", () => {
  it("moves a visit with a finger, and adds one by a tap, without scrolling the page", async () => {
    const { page, record } = await chromium.openPage({ hasTouch: true, viewport: { width: 390, height: 844 } });
    await page.goto(pathToFileURL(PAGE).href);
    await page.getByLabel("Time of visit 1").fill("1");
    await page.getByLabel("Value of visit 1").fill("80");
    const handle = page.locator(".handle").first();
    await handle.scrollIntoViewIfNeeded();
    const { x, y, width, height } = (await handle.boundingBox())!;
    const [px, py] = [x + width / 2, y + height / 2];
    const scrolled = await page.evaluate(() => scrollY);
    await moveFingers(page, [
      [
        [px, py],
        [px + 40, py + 24],
      ],
    ]);
    const value = async () => Number(await page.getByLabel("Value of visit 1").inputValue());
    await expect.poll(value).toBeLessThan(80);
    expect(Number(await page.getByLabel("Time of visit 1").inputValue())).toBeGreaterThan(1);
    expect(await page.getByText("Changed on the chart.").isVisible()).toBe(true);
    // Fingers are thicker than pointers.
    expect(Math.min(width, height)).toBeGreaterThanOrEqual(24);
    await page.touchscreen.tap(px + 90, py);
    await expect.poll(() => page.locator(".handle").count()).toBe(2);
    expect(await page.evaluate(() => scrollY)).toBe(scrolled);
    expect(record.problems()).toEqual([]);
  });
});

describe("dtm serve", () => {
  it("serves the same page behind its door; nothing but the server is asked, and typed values are not sent", async () => {
    const { page, record } = await chromium.openPage();
    await page.goto(server.address);
    const origin = new URL(server.address).origin;
    await page.goto(`${origin}/calculator/lungs`);
    const before = record.requests.length;
    await page.getByLabel("Time of visit 1").fill("0");
    await page.getByLabel("Value of visit 1").fill("<75");
    await expect.poll(() => lead(page)).toMatch(/^One visit fixes the level/);
    expect(await page.locator("path.limit").count()).toBe(1);
    expect(record.requests).toHaveLength(before);
    const others = record.problems().filter((text) => !text.startsWith("request: ") || !text.includes(` ${origin}/`));
    expect(others).toEqual([]);
  });
});
