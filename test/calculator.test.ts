/** The page for one patient in a real browser, behind the door: nothing but the server is asked. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { calculatorFiles } from "../packages/cli/src/io/served-files.ts";
import { createApp } from "../packages/cli/src/serve/app.ts";
import { loadServed } from "../packages/cli/src/serve/models.ts";
import { createQueue } from "../packages/cli/src/serve/queue.ts";
import { openServer, type RunningServer } from "../packages/cli/src/serve/server.ts";
import { fitDtm } from "../packages/core/src/models/fit-models.ts";
import { saveModel } from "../packages/core/src/models/save.ts";
import { simulateCohort } from "../packages/core/src/simulate/cohorts.ts";
import { accessibilityViolations, openBrowser, type TestBrowser } from "./browser.ts";

const folder = mkdtempSync(join(tmpdir(), "dtm-calculator-"));
let server: RunningServer;
let chromium: TestBrowser;

beforeAll(async () => {
  const { cohort } = simulateCohort("pfvc", { numIndividuals: 60, seed: 3 });
  writeFileSync(join(folder, "lungs.json"), saveModel(fitDtm(cohort, { noise: "white", restarts: 0 })));
  const models = new Map([["lungs", await loadServed("lungs", join(folder, "lungs.json"))]]);
  const start = { type: "text/html", bytes: () => Buffer.from("<!doctype html><title>Start</title>") };
  const files = new Map([...calculatorFiles(), ["/index.html", start]]);
  server = await openServer(createApp({ models, queue: createQueue(9), files }).application);
  chromium = await openBrowser();
});
afterAll(async () => {
  await chromium.close();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("the calculator", () => {
  it("places and forecasts what is typed, says what is wrong with it, and asks nobody else", async () => {
    const { page, record } = await chromium.openPage();
    await page.goto(server.address);
    await page.goto(new URL("/calculator", server.address).href);
    const cells = page.locator("#visits input");
    for (const [k, text] of ["0", "81", "1", "78", "2.2", "<75"].entries()) await cells.nth(k).fill(text);
    await page.fill("#threshold", "60");
    await page.click("button[type=submit]");
    await page.waitForSelector("#answer figure");
    expect(await page.locator("#answer svg").count()).toBe(2);
    expect(await page.locator("circle.visit").count()).toBe(2);
    expect(await page.locator("circle.limit").count()).toBe(1);
    expect(await page.locator("#answer").textContent()).toMatch(/goes below 60 with probability (\d+|< 1)%/);
    expect(await accessibilityViolations(page)).toEqual([]);
    await cells.nth(1).fill("eighty");
    await page.click("button[type=submit]");
    await page.waitForSelector("#problem:not([hidden])");
    expect(await page.locator("#problem").textContent()).toContain("visits[0].value: expected a number");
    const origin = new URL(server.address).origin;
    const others = record.problems().filter((text) => !text.startsWith("request: ") || !text.includes(` ${origin}/`));
    // The refusal is an answer with a status, which the browser notes.
    expect(others.filter((text) => !text.includes("422"))).toEqual([]);
  });
});
