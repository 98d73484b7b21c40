/** A map of 100,000 individuals in the explorer: it opens, answers clicks while groups are made, and shows them. */
import { saveModel } from "@trajectory-maps/core";
import { expect, it } from "vitest";
import { browserOfFile } from "../browser-of-file.ts";
import { importForModel, mapStage, openExplorer } from "./explorer-page.ts";
import { largeTable, smallMap } from "./tables.ts";

const chromium = browserOfFile();

it("opens a table of 100,000 for a model, shows an individual, and groups them", async () => {
  const explorer = await openExplorer(chromium);
  const { page } = explorer;
  await (await importForModel(page, saveModel(smallMap()), largeTable(100_000))).click();
  const stage = await mapStage(page);
  const box = (await stage.boundingBox())!;
  await page.mouse.click(box.x + 0.45 * box.width, box.y + 0.45 * box.height);
  await page.getByRole("table", { name: "Facts about this individual" }).waitFor();
  await page.locator(".rail li").first().waitFor();
  await page.locator(".tm-pill").first().waitFor({ state: "attached" });
  expect(explorer.problems()).toEqual([]);
  await explorer.close();
});
