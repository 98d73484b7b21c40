/**
 * Pictures of every view of the explorer, 1440 × 900, light and dark, into docs/screenshots/. Opens the built page from
 * disk with the network off; import and fit show the bundled PBC cohort, the map and what follows the simulated registry.
 *
 * Usage: npm run screenshots [-- NAME ...]   (all views, or those whose name begins with one of the given)
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";
import { smallPng } from "./small-png.mjs";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const at = (...parts) => join(ROOT, ...parts);
const OUT = at("docs", "screenshots");
const wanted = process.argv.slice(2);
const PATIENCE = 900_000;
/** Where the pointer rests and means nothing. */
const ASIDE = [590, 6];

mkdirSync(OUT, { recursive: true });
const browser = await chromium.launch({
  executablePath: chromiumFile(),
  args: ["--no-sandbox", "--font-render-hinting=none"],
});
const context = await browser.newContext({
  viewport: { width: 1440, height: 900 },
  locale: "en-GB",
  reducedMotion: "reduce",
});
await context.setOffline(true);
const page = await context.newPage();
page.setDefaultTimeout(PATIENCE);
try {
  await open();
  await importAndFit();
  await open();
  await mapAndStudy();
} finally {
  await browser.close();
}

async function open() {
  await page.goto("about:blank");
  await page.goto(pathToFileURL(at("packages", "app", "dist", "dtm.html")).href);
}

async function importAndFit() {
  await shoot("data-empty");
  await drop("pbc-visits.csv", readFileSync(at("examples", "pbc", "visits.csv"), "utf8"));
  await button("Check the data").waitFor();
  await page.getByRole("combobox", { name: "Use of column bili" }).selectOption("value");
  await page.getByLabel("Unit of the marker").fill("mg/dl");
  await page.getByRole("combobox", { name: /^Transform/ }).selectOption("log");
  await page.evaluate(() => document.activeElement?.blur());
  await shoot("data-columns");
  await button("Check the data").click();
  await button("Next").waitFor();
  await shoot("data-quality");
  await button("Next").click();
  await button("Fit the map").waitFor();
  await drop(
    "pbc-subjects.csv",
    readFileSync(at("examples", "pbc", "subjects.csv"), "utf8"),
    "[aria-label='Table of outcomes']",
  );
  await page.getByText("Which are outcomes?").waitFor();
  await shoot("data-summary");
  await button("Fit the map").click();
  await page.getByText(/^\s*Pass \d+\./).waitFor();
  await button("Pause").click();
  await page.getByRole("heading", { name: /^Paused/ }).waitFor();
  await shoot("fit-running");
  await button("Continue").click();
  await button("Open the map").waitFor();
  await shoot("fit-done");
}

async function mapAndStudy() {
  await button("Lung function").click();
  const stage = page.getByRole("application", { name: /^Map of / });
  await stage.locator(".tm-dots circle").first().waitFor({ state: "attached" });
  await page.getByRole("heading", { name: "How to read the map" }).waitFor();
  const box = await stage.boundingBox();
  await page.mouse.move(box.x + 0.62 * box.width, box.y + 0.46 * box.height);
  await shoot("map");
  await page.mouse.move(...ASIDE);
  await find("P0524");
  await shoot("map-individual");
  await page.getByRole("slider", { name: "As known at" }).focus();
  await page.keyboard.press("Home");
  await page.getByText("One visit fixes the level, not the course.").waitFor();
  await shoot("map-as-known");
  await page.getByRole("complementary").getByRole("button", { name: "Close" }).click();
  await page.getByRole("combobox", { name: /^Colour/ }).selectOption("none");
  await page.getByRole("combobox", { name: /^Terrain/ }).selectOption("slope");
  await shoot("map-terrain");
  await page.getByRole("combobox", { name: /^Colour/ }).selectOption("group");
  await page.getByRole("combobox", { name: /^Terrain/ }).selectOption("value");
  await page.keyboard.press("l");
  const corners = [
    [0.36, 0.62],
    [0.43, 0.52],
    [0.52, 0.55],
    [0.55, 0.66],
    [0.5, 0.76],
    [0.4, 0.74],
    [0.36, 0.62],
  ];
  const [first, ...rest] = corners.map(([x, y]) => [box.x + x * box.width, box.y + y * box.height]);
  await page.mouse.move(...first);
  await page.mouse.down();
  for (const corner of rest) await page.mouse.move(...corner, { steps: 6 });
  await page.mouse.up();
  await page.getByText(/selected: inside a lasso/).waitFor();
  await page.mouse.move(...ASIDE);
  await shoot("map-selection");
  await page.keyboard.press("v");
  await page.keyboard.press("t");
  await page.getByRole("region", { name: "Table of individuals" }).waitFor();
  await shoot("map-table");
  await page.keyboard.press("t");
  await button("Export").click();
  await page.getByRole("dialog", { name: "Save a file" }).waitFor();
  await shoot("export");
  await page.keyboard.press("Escape");
  await step("Outcomes");
  await page.getByLabel("Draws").fill("1999");
  await page.getByRole("button", { name: /^Test \d outcomes$/ }).click();
  await page.getByText(/^Details: every statistic/).waitFor();
  await shoot("outcomes");
  await page.getByText(/^Details: every statistic/).click();
  await page.getByRole("table", { name: /^Table 2 c/ }).waitFor();
  await page.getByText(/^Details: every statistic/).evaluate((title) => title.scrollIntoView({ block: "start" }));
  await shoot("outcomes-details");
  await step("Models");
  // The demonstration comes with its comparison.
  await page.getByRole("table", { name: /^Table 1/ }).waitFor();
  await page.getByText("Point at a dot to find the same individual").waitFor();
  await page.mouse.move(...ASIDE);
  await page.locator("#main").evaluate((main) => main.scrollTo(0, 0));
  await shoot("models");
  await page
    .getByRole("heading", { name: /^Maps of the three models/ })
    .evaluate((title) => title.scrollIntoView({ block: "start" }));
  await shoot("models-maps");
  await step("Report");
  await page.frameLocator("iframe").getByRole("heading", { level: 1 }).waitFor();
  await shoot("report");
}

/** One picture in each theme, once fonts and frames have settled. */
async function shoot(name) {
  if (wanted.length > 0 && !wanted.some((beginning) => name.startsWith(beginning))) return;
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await page.waitForFunction((theme) => document.documentElement.dataset.theme === theme, colorScheme);
    await page.waitForTimeout(500);
    writeFileSync(join(OUT, `${name}-${colorScheme}.png`), smallPng(await page.screenshot()));
  }
  await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
  process.stdout.write(`${name}\n`);
}

function button(name) {
  return page.getByRole("button", { name, exact: true });
}

async function step(name) {
  await page.getByRole("navigation", { name: "Steps" }).getByRole("button", { name, exact: true }).click();
}

async function find(id) {
  await page.getByRole("combobox", { name: "Find an individual" }).fill(id);
  await page.keyboard.press("Enter");
  await page.getByRole("table", { name: "Facts about this individual" }).waitFor();
  await page.evaluate(() => document.activeElement?.blur());
  await page.waitForTimeout(800);
}

/** Drops a file on an element. */
async function drop(name, text, target = "main") {
  const dataTransfer = await page.evaluateHandle(
    ([fileName, content]) => {
      const data = new DataTransfer();
      data.items.add(new File([content], fileName));
      return data;
    },
    [name, text],
  );
  await page.dispatchEvent(target, "drop", { dataTransfer });
}

/** The Chromium named by DTM_CHROMIUM, or one on the PATH. */
function chromiumFile() {
  const named = process.env.DTM_CHROMIUM;
  if (named) return named;
  const names = ["chromium", "chromium-browser", "google-chrome"];
  const found = (process.env.PATH ?? "")
    .split(delimiter)
    .flatMap((folder) => names.map((name) => join(folder, name)))
    .find((file) => existsSync(file));
  if (found !== undefined) return found;
  process.stderr.write(
    "screenshots: expected a Chromium on the PATH or in DTM_CHROMIUM, received none. Install one and name it there.\n",
  );
  process.exit(1);
}
