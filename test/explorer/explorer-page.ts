/**
 * The explorer as its readers meet it, for tests: dtm.html opened from disk, or the page that `dtm explore` serves. Both
 * are opened with the network refused: whatever the page asks for beyond itself fails, and is a problem of its record.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { BrowserContextOptions, Locator, Page } from "playwright-core";
import { PATIENCE, type PageRecord, type TestBrowser } from "../browser.ts";
import { ROOT } from "../root.ts";

/** The page in one file. */
export const SINGLE_PAGE = join(ROOT, "packages", "app", "dist", "dtm.html");
export const BUILDS = ["opened from disk", "served by dtm explore"] as const;
export type Build = (typeof BUILDS)[number];

/** A page with the explorer in it. */
export interface ExplorerPage {
  readonly page: Page;
  readonly record: PageRecord;
  /** Where it was opened. */
  readonly address: string;
  /** What the page did that it should not have: console, exceptions, requests beyond its own files. */
  problems(): string[];
  /** Leaves the page, and ends its server. */
  close(): Promise<void>;
}

/** Opens a build of the explorer. `args` are those of `dtm explore`. */
export async function openExplorer(
  chromium: TestBrowser,
  build: Build = "opened from disk",
  options: BrowserContextOptions & { readonly args?: readonly string[]; readonly fragment?: string } = {},
): Promise<ExplorerPage> {
  const { args = [], fragment = "", ...contextOptions } = options;
  const served = build === "opened from disk" ? null : await serve(args);
  if (served === null && !existsSync(SINGLE_PAGE)) throw new Error("Expected dtm.html; run node scripts/setup.mjs.");
  const address = served === null ? pathToFileURL(SINGLE_PAGE).href : served.address;
  const own = served === null ? [] : [`${new URL(address).origin}/`];
  const { page, context, record } = await chromium.openPage({ acceptDownloads: true, ...contextOptions });
  await context.route(/^(https?|wss?):/, (route) =>
    own.some((beginning) => route.request().url().startsWith(beginning)) ? route.continue() : route.abort(),
  );
  // Somebody listening makes the browser hand dialogs for files over from the start, not only once one is waited for.
  page.on("filechooser", () => {});
  if (served === null) await context.setOffline(true);
  await page.goto(`${address}${fragment}`);
  return {
    page,
    record,
    address,
    problems: () => record.problems(own),
    close: async () => {
      await context.close();
      await served?.stop();
    },
  };
}

/** `dtm explore` as a process of its own; it prints its address first. */
async function serve(args: readonly string[]): Promise<{ address: string; stop: () => Promise<void> }> {
  const child: ChildProcess = spawn(
    process.execPath,
    [join(ROOT, "packages", "cli", "bin", "dtm.mjs"), "explore", ...args],
    {
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  let said = "";
  child.stderr?.on("data", (bytes) => {
    said += String(bytes);
  });
  const address = await new Promise<string>((resolve, reject) => {
    let text = "";
    child.stdout?.on("data", (bytes) => {
      text += String(bytes);
      const found = /^http:\/\/\S+$/m.exec(text);
      if (found !== null) resolve(found[0]);
    });
    void ended.then(() => reject(new Error(`Expected dtm explore to print its address, it ended: ${said}`)));
  });
  return {
    address,
    stop: async () => {
      child.kill("SIGINT");
      await ended;
    },
  };
}

/** Drops a file on an element, as from the desktop. */
export function dropFile(page: Page, name: string, text: string, target = "main"): Promise<void> {
  return dropFiles(page, [{ name, bytes: Buffer.from(text) }], target);
}

/** Drops files together. */
export async function dropFiles(
  page: Page,
  files: readonly { readonly name: string; readonly bytes: Buffer }[],
  target = "main",
): Promise<void> {
  const dataTransfer = await page.evaluateHandle(
    (given) => {
      const data = new DataTransfer();
      for (const { name, base64 } of given) {
        const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
        data.items.add(new File([bytes], name));
      }
      return data;
    },
    files.map(({ name, bytes }) => ({ name, base64: bytes.toString("base64") })),
  );
  for (const type of ["dragenter", "dragover", "drop"]) await page.dispatchEvent(target, type, { dataTransfer });
}

/** A file chosen in the dialog that `press` opens. */
export async function chooseFile(page: Page, name: string, text: string, press: () => Promise<void>): Promise<void> {
  const [dialog] = await Promise.all([page.waitForEvent("filechooser"), press()]);
  await dialog.setFiles({ name, mimeType: "text/csv", buffer: Buffer.from(text) });
}

/** The button of a step in the top bar. */
export function step(page: Page, name: string): Locator {
  return page.getByRole("navigation", { name: "Steps" }).getByRole("button", { name, exact: true });
}

/** The stage of the map, once it is drawn. */
export async function mapStage(page: Page): Promise<Locator> {
  const stage = page.getByRole("application", { name: /^Map of / });
  await stage.waitFor();
  await stage.locator(".tm-dots circle, canvas.tm-dots").first().waitFor({ state: "attached" });
  // Dots come first; terrain and names of groups a frame later.
  await stage.locator(".tm-back path").first().waitFor({ state: "attached" });
  return stage;
}

/** From a table of visits to the summary page, guesses and findings accepted. */
export async function importTable(page: Page, name: string, text: string): Promise<void> {
  await dropFile(page, name, text);
  await page.getByRole("button", { name: "Check the data", exact: true }).click();
  await page.getByRole("button", { name: "Next", exact: true }).click();
  await page.getByRole("button", { name: "Fit the map", exact: true }).waitFor();
}

/** A model file, then a table for it; the button that places its individuals. */
export async function importForModel(page: Page, model: string, table: string): Promise<Locator> {
  await dropFile(page, "map.json", model);
  // A model alone is opened for one patient.
  await page.getByRole("button", { name: "Place a table by this model", exact: true }).click();
  await page.getByText("Now choose the table").waitFor();
  await dropFile(page, "visits.csv", table);
  const check = page.getByRole("button", { name: "Check the data", exact: true });
  await check.waitFor();
  const same = page.getByRole("button", { name: "It is the same marker" });
  if (await same.isVisible()) await same.click();
  await check.click();
  await page.getByRole("button", { name: "Next", exact: true }).click();
  const place = page.getByRole("button", { name: /^Place/ });
  await place.waitFor();
  return place;
}

/** Fits what is loaded and waits for the verdict, once every start has been tried. */
export async function fitMap(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Fit the map", exact: true }).click();
  await page.getByRole("button", { name: "Open the map", exact: true }).waitFor();
  await page.locator("header").getByText("being tried").waitFor({ state: "hidden" });
}

/** Fits what is loaded and opens its map. */
export async function fitAndOpen(page: Page): Promise<Locator> {
  await fitMap(page);
  await page.getByRole("button", { name: "Open the map", exact: true }).click();
  return mapStage(page);
}

/** Opens the lung function example, whose map comes with the page. */
export async function openDemo(page: Page): Promise<Locator> {
  await page.getByRole("button", { name: "Lung function", exact: true }).click();
  return mapStage(page);
}

/** The text of a file that `press` saves. */
export async function savedFile(page: Page, press: () => Promise<void>): Promise<{ name: string; text: string }> {
  const [download] = await Promise.all([page.waitForEvent("download"), press()]);
  return { name: download.suggestedFilename(), text: readFileSync(await download.path(), "utf8") };
}

/** A file of the export dialog, by its label. */
export async function exported(page: Page, label: string): Promise<{ name: string; text: string; contains: string }> {
  await page.getByRole("button", { name: "Export", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Save a file" });
  await dialog.getByRole("radio", { name: label, exact: false }).first().check();
  const contains = (await dialog.locator(".what").textContent()) ?? "";
  const file = await savedFile(page, () => dialog.getByRole("button", { name: "Save", exact: true }).click());
  await dialog.getByRole("button", { name: "Close", exact: true }).click();
  return { ...file, contains };
}

/** Records of a CSV file by the names of its columns; cells in quotes may hold commas, not line breaks. */
export function recordsOf(csv: string): Record<string, string>[] {
  const [header, ...rows] = csv
    .trimEnd()
    .split("\n")
    .map((line) =>
      [...line.matchAll(/("(?:[^"]|"")*"|[^,]*)(,|$)/g)]
        .slice(0, -1)
        .map(([, cell]) => (cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell)),
    );
  return rows.map((cells) => Object.fromEntries(header.map((name, k) => [name, cells[k]])));
}

/** Waits until a locator's text fits. */
export async function expectText(locator: Locator, pattern: RegExp | string): Promise<void> {
  const late = Date.now() + PATIENCE;
  for (;;) {
    const text = ((await locator.textContent()) ?? "").replace(/\s+/g, " ").trim();
    if (typeof pattern === "string" ? text.includes(pattern) : pattern.test(text)) return;
    if (Date.now() > late) throw new Error(`Expected text with ${pattern}, received "${text}".`);
    await locator.page().waitForTimeout(50);
  }
}
