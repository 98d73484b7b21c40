/** The page itself, the demo, a fit that is given up or stopped, and files that cost much. How long each takes: npm run bench. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { browserOfFile } from "../browser-of-file.ts";
import {
  expectText,
  fitAndOpen,
  importTable,
  mapStage,
  openDemo,
  openExplorer,
  SINGLE_PAGE,
  step,
} from "./explorer-page.ts";
import { csv, simulatedTables } from "./tables.ts";

const chromium = browserOfFile();

describe("the explorer", () => {
  it("is under 1.4 MB compressed, readers of Excel, Parquet, Arrow and tables of units among it (decision 0010)", () => {
    expect(gzipSync(readFileSync(SINGLE_PAGE), { level: 9 }).length).toBeLessThan(1.4e6);
  });

  it("opens from disk as one file and shows the demo: the course under the pointer, the individual under a click", async () => {
    const explorer = await openExplorer(chromium);
    const { page, record } = explorer;
    const stage = await openDemo(page);
    const box = (await stage.boundingBox())!;
    const course = stage.locator(".tm-lens:not([hidden]) path[fill=none][stroke-width='1.8']").first();
    const seen = new Set<string | null>();
    for (const share of [0.42, 0.5, 0.58]) {
      await page.mouse.move(box.x + share * box.width, box.y + box.height / 2);
      await course.waitFor({ state: "attached" });
      seen.add(await course.getAttribute("d"));
    }
    expect(seen.size).toBe(3);
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    await page.getByRole("table", { name: "Facts about this individual" }).waitFor();
    // A visit of the individual is moved on the chart: a copy beside the ghost of what was, and back.
    const title = page.locator("#individual-title");
    const id = await title.textContent();
    await page.getByRole("button", { name: /^Visit 1, year/ }).focus();
    await page.keyboard.press("Shift+ArrowDown");
    await expectText(title, `What if of ${id}`);
    await page.locator(".panel path.ghost").first().waitFor({ state: "attached" });
    await page.getByRole("button", { name: /^Visit 1, year/ }).focus();
    await page.keyboard.press("Escape");
    await expectText(title, id ?? "");
    // What came next for people like this one.
    await expectText(
      page.locator(".panel"),
      /People like this[\s\S]*(Of these 20 people, \d+ w(as|ere) still measured at year \S+ or later; \d+ had a value|Nobody of these 20 people was measured)/,
    );
    expect(record.requests.map(({ url }) => url).filter((url) => !/^(blob|data):/.test(url))).toHaveLength(1);
    expect(explorer.problems()).toEqual([]);
    await explorer.close();
  });

  it("leaves the map as it was when a second fit is cancelled; a stopped one keeps a map and says what to do", async () => {
    const { visits } = simulatedTables({ numIndividuals: 1000, seed: 21 });
    const explorer = await openExplorer(chromium);
    const { page } = explorer;
    const button = (name: string) => page.getByRole("button", { name, exact: true });
    await importTable(page, "pfvc.csv", visits);
    await fitAndOpen(page);
    // Colours come a little later, with the groups.
    const places = () =>
      page
        .locator(".tm-dots circle")
        .evaluateAll((dots) => dots.map((dot) => `${dot.getAttribute("cx")} ${dot.getAttribute("cy")}`).join());
    const before = await places();
    await step(page, "Fit").click();
    await button("Fit again").click();
    await button("Cancel").click();
    await button("Open the map").click();
    await mapStage(page);
    expect((await places()) === before).toBe(true);
    await step(page, "Fit").click();
    await button("Fit again").click();
    await button("Stop and keep").click();
    await page.getByText(/the fit was still improving.* when it stopped after/).waitFor();
    await button("Continue").waitFor();
    await button("Open the map").click();
    await mapStage(page);
    expect(explorer.problems()).toEqual([]);
    await explorer.close();
  });

  it("shows the map of the first start while others are tried, and then what they came to", async () => {
    const { visits } = simulatedTables({ numIndividuals: 600, seed: 3 });
    const explorer = await openExplorer(chromium);
    const { page } = explorer;
    const trying = page.locator("header").getByText("Two more starts are being tried");
    await importTable(page, "pfvc.csv", visits);
    await page.getByRole("button", { name: "Fit the map", exact: true }).click();
    await page.getByRole("button", { name: "Open the map", exact: true }).click();
    const stage = await mapStage(page);
    await trying.waitFor();
    await stage.focus();
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("r");
    const title = page.getByRole("complementary", { name: "Details" }).getByRole("heading", { level: 2 });
    await expectText(title, /^\d+ individuals?$/);
    const selected = await title.textContent();
    await trying.waitFor({ state: "hidden" });
    expect(await title.textContent()).toBe(selected);
    await step(page, "Fit").click();
    await page.getByRole("table", { name: "Starts compared" }).waitFor();
    expect(explorer.problems()).toEqual([]);
    await explorer.close();
  });

  it("imports the table named on the command line as it was described there, and keeps repeats if told to", async () => {
    const folder = mkdtempSync(join(tmpdir(), "dtm-explore-"));
    const table = join(folder, "visits.csv");
    writeFileSync(table, "id,year,a,b\nx,0,3,1\nx,1,4,1\nx,1,4,1\ny,0,5,2\ny,1,6,3\n");
    const args = [table, "--value", "a", "--marker", "score", "--transform", "log"];
    const explorer = await openExplorer(chromium, "served by dtm explore", { args });
    const { page } = explorer;
    await expectText(page.locator(".sentence"), "a as the marker");
    expect(await page.getByLabel("Marker", { exact: false }).first().inputValue()).toBe("score");
    expect(await page.getByRole("combobox", { name: /^Transform/ }).inputValue()).toBe("log");
    await page.getByRole("button", { name: "Check the data", exact: true }).click();
    await page.getByRole("heading", { name: "4 observations of 2 individuals" }).waitFor();
    await page.getByRole("switch", { name: "leave out" }).click();
    await page.getByRole("heading", { name: "5 observations of 2 individuals" }).waitFor();
    expect(explorer.problems()).toEqual([]);
    await explorer.close();
    rmSync(folder, { recursive: true });
  });

  it("refuses a small file that unpacks to 256 MB, and opens a table of a thousand columns", async () => {
    const explorer = await openExplorer(chromium);
    const { page } = explorer;
    const choose = async (name: string, bytes: Buffer) => {
      const press = page.getByRole("button", { name: "Choose a file", exact: true }).click();
      const [dialog] = await Promise.all([page.waitForEvent("filechooser"), press]);
      await dialog.setFiles({ name, mimeType: "application/octet-stream", buffer: bytes });
    };
    await choose("bomb.csv.gz", gzipSync(`id,time,value\n${"\n".repeat(2 ** 28)}`));
    await page
      .getByText(/bomb\.csv\.gz: expected at most \d+ MB once unpacked, received more/)
      .first()
      .waitFor();
    const extra = Array.from({ length: 1000 }, (_, k) => `gene ${k}`);
    const rows = Array.from({ length: 300 }, (_, r) => [
      `P${Math.floor(r / 5)}`,
      String(r % 5),
      ...extra.map((_, k) => String((7 * r + 3 * k) % 89)),
    ]);
    await choose("wide.csv", Buffer.from(csv([["id", "years", ...extra], ...rows])));
    await page.getByLabel("Find a column").fill("gene 777");
    await page.getByLabel("Use of column gene 777").selectOption("marker");
    await page.getByText("gene 777 as the marker").waitFor();
    expect(explorer.problems()).toEqual([]);
    await explorer.close();
  });
});
