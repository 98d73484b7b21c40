/** The report as a reader meets it: a file opened in Chromium, light, dark, printed, and with scripts off. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseHTML } from "linkedom";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { renderReport } from "../packages/report/src/index.ts";
import { accessibilityViolations, type OpenPage, type TestBrowser } from "./browser.ts";
import { browserOfFile } from "./browser-of-file.ts";
import { sampleStudy } from "./sample-study.ts";
import { filledSheets, textClashes } from "./text-boxes.ts";

const { document } = parseHTML("<html><body></body></html>") as unknown as { document: Document };
const folder = mkdtempSync(join(tmpdir(), "dtm-report-"));
// Counts for sharing, places of individuals, the cohort alone, and every part there is: pages that differ in what they draw.
const PAGES = ["shared", "places", "cohort", "whole"] as const;
const addressOf = (name: (typeof PAGES)[number]) => pathToFileURL(join(folder, `${name}.html`)).href;

const chromium = browserOfFile();

beforeAll(async () => {
  const sample = { numIndividuals: 160, folds: 2, draws: 99, mapInComparison: false };
  const { study } = await sampleStudy(sample);
  const studies = {
    shared: study,
    places: { ...study, options: { individualLevel: "places" as const } },
    cohort: { cohort: study.cohort },
    whole: (await sampleStudy({ ...sample, whole: true })).study,
  };
  for (const name of PAGES) writeFileSync(join(folder, `${name}.html`), renderReport(studies[name], { document }));
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
});

const opened = new Map<string, OpenPage>();

/** A page as it is usually opened; tests share it, and leave it light, 1280 px wide and its numbers hidden. */
async function visit(name: (typeof PAGES)[number]): Promise<OpenPage> {
  const open = opened.get(name) ?? (await openAt(name, {}));
  opened.set(name, open);
  return open;
}

/** A page of its own. */
async function openAt(
  name: (typeof PAGES)[number],
  options: Parameters<TestBrowser["openPage"]>[0],
): Promise<OpenPage> {
  const open = await chromium.openPage(options);
  await open.page.goto(addressOf(name));
  return open;
}

// axe looks at some thousand cells, twice; a busy machine may need its time.
describe.each(PAGES)("the report (%s) in a browser", (name) => {
  it("says nothing, asks for nothing but itself and passes axe, light and dark, with all numbers shown", async () => {
    const { page, record } = await visit(name);
    const showNumbers = (open: boolean) =>
      page.locator("details").evaluateAll((all, isOpen) => {
        for (const details of all) (details as HTMLDetailsElement).open = isOpen;
      }, open);
    await showNumbers(true);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await accessibilityViolations(page), colorScheme).toEqual([]);
    }
    await page.emulateMedia({ colorScheme: "light" });
    await showNumbers(false);
    expect(record.problems()).toEqual([]);
    expect(record.requests.map(({ url }) => url)).toEqual([addressOf(name)]);
    expect(record.messages).toEqual([]);
  });

  it("does not scroll sideways on a desk, a tablet or a phone, all numbers shown", async () => {
    const { page } = await visit(name);
    await page.evaluate(() => {
      for (const numbers of document.querySelectorAll("details")) numbers.open = true;
    });
    for (const width of [390, 1024, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(wide).toBeLessThanOrEqual(width);
    }
  });
});

describe("the report in a browser", () => {
  it("follows the colours of the reader's system", async () => {
    const { page } = await visit("shared");
    const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await background();
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await background()).not.toBe(light);
    await page.emulateMedia({ colorScheme: "light" });
  });

  it("is whole with scripts off", async () => {
    const { page, record } = await openAt("shared", { javaScriptEnabled: false });
    const sections = page.locator("main > section");
    expect(await sections.count()).toBe(11);
    for (const section of await sections.all()) expect(await section.isVisible()).toBe(true);
    for (const drawing of await page.locator("figure svg").all()) {
      const box = await drawing.boundingBox();
      expect(Math.min(box?.width ?? 0, box?.height ?? 0)).toBeGreaterThan(40);
    }
    // Numbers behind a figure open without a script.
    const details = page.locator("#figure-map details");
    await details.locator("summary").click();
    expect(await details.locator("table").isVisible()).toBe(true);
    expect(record.problems()).toEqual([]);
  });

  it("prints on A4, light, without a figure wider or higher than the sheet", async () => {
    const { page, record } = await openAt("shared", { colorScheme: "dark", viewport: { width: 688, height: 1018 } });
    await page.emulateMedia({ media: "print" });
    expect(await page.evaluate(() => getComputedStyle(document.documentElement).colorScheme)).toBe("light");
    // 210 mm − 2 × 14 mm and 297 mm − 2 × 14 mm at 96 px an inch; figures are not broken over sheets.
    const sizes = await page.evaluate(() =>
      Array.from(document.querySelectorAll("figure, .scroll table"), (part) => {
        const { width, height } = part.getBoundingClientRect();
        return {
          part: part.id || (part.textContent ?? "").slice(0, 40),
          tall: part.tagName === "FIGURE",
          width,
          height,
        };
      }),
    );
    expect(sizes.filter(({ width }) => width > 689)).toEqual([]);
    expect(sizes.filter(({ tall, height }) => tall && height > 1017)).toEqual([]);
    const pdf = await page.pdf({ preferCSSPageSize: true, printBackground: true });
    const text = pdf.toString("latin1");
    expect(text.startsWith("%PDF")).toBe(true);
    // A4 in points.
    const media =
      text
        .match(/\/MediaBox\s*\[([^\]]+)\]/)?.[1]
        .trim()
        .split(/\s+/)
        .map(Number) ?? [];
    expect(media[2]).toBeCloseTo(595.28, -0.5);
    expect(media[3]).toBeCloseTo(841.89, -0.5);
    expect(record.problems()).toEqual([]);
  });

  it.each(PAGES)(
    "has no text under text (%s), on a screen and printed, also in a font wider than Inter",
    async (name) => {
      const { page } = await openAt(name, {});
      const clashes: Record<string, string[]> = {};
      for (const spacing of ["normal", "0.03em"]) {
        await page.evaluate((value) => {
          for (const drawing of document.querySelectorAll<SVGElement>("figure svg"))
            drawing.style.letterSpacing = value;
        }, spacing);
        for (const [media, width] of [
          ["screen", 1280],
          ["screen", 1024],
          ["print", 703],
        ] as const) {
          await page.setViewportSize({ width, height: 900 });
          await page.emulateMedia({ media });
          clashes[`${media} ${width} ${spacing}`] = await textClashes(page);
        }
      }
      expect(Object.fromEntries(Object.entries(clashes).filter(([, found]) => found.length > 0))).toEqual({});
    },
  );

  it.each(["shared", "whole"] as const)("fills every printed sheet but the last by half or more (%s)", async (name) => {
    // As it is opened: numbers behind figures are not printed.
    const { page } = await openAt(name, {});
    const pdf = await page.pdf({ preferCSSPageSize: true, printBackground: true });
    const filled = filledSheets(pdf);
    expect(filled.length).toBeGreaterThan(5);
    expect(filled.slice(0, -1).filter((share) => share < 0.5)).toEqual([]);
  });
});
