/** The map as the R package shows it: its bundle and its binding in a page from disk, with data as R hands them over. */
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { embed, fitDtm, saveModel, simulateCohort } from "@trajectory-maps/core";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { WidgetData } from "../packages/app/src/widget/widget.ts";
import { browserOfFile } from "./browser-of-file.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const WIDGETS = join(ROOT, "r", "trajectorymaps", "inst", "htmlwidgets");
const folder = mkdtempSync(join(tmpdir(), "dtm-widget-"));
const chromium = browserOfFile();

/** What htmlwidgets and Shiny are to the binding; wishes of the reader end in `told`. */
const STAND_IN = `
  const told = {};
  const Shiny = { setInputValue: (name, value) => { told[name] = value; } };
  const HTMLWidgets = { shinyMode: true, widget: (binding) => { HTMLWidgets.binding = binding; } };`;

beforeAll(() => {
  execFileSync(process.execPath, [join(ROOT, "scripts", "build-r.mjs")]);
  copyFileSync(join(WIDGETS, "lib", "trajectory-map", "trajectory-map.js"), join(folder, "map.js"));
  copyFileSync(join(WIDGETS, "dtm_map.js"), join(folder, "binding.js"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("draws everybody from a page on disk, and tells whom the reader opened", async () => {
  const { cohort } = simulateCohort("pfvc", { numIndividuals: 40, seed: 3 });
  const model = fitDtm(cohort, { restarts: 0, seed: 1 });
  const placed = embed(model, cohort);
  const { ids, location, covariance, numObservations, firstTime, lastTime, area50 } = placed;
  const data: WidgetData = {
    model: saveModel(model),
    places: {
      ids,
      location: [...location],
      covariance: [...covariance],
      visits: [...numObservations],
      firstTime: [...firstTime],
      lastTime: [...lastTime],
      area50: [...area50],
    },
    colour: { kind: "number", title: "Place", values: [...ids.map((_, i) => (i === 0 ? null : location[2 * i]!))] },
    theme: "light",
  };
  const script = (text: string) => `<script>${text.replaceAll("</", "<\\/")}</script>`;
  const page = join(folder, "page.html");
  writeFileSync(
    page,
    `<!doctype html><meta charset="utf-8"><title>Map</title><div id="m" style="width:700px;height:560px"></div>
     ${script(STAND_IN)}<script src="map.js"></script><script src="binding.js"></script>
     ${script(`HTMLWidgets.binding.factory(document.getElementById("m")).renderValue(${JSON.stringify(data)});`)}`,
  );
  const opened = await chromium.openPage({ viewport: { width: 760, height: 640 } });
  await opened.page.goto(pathToFileURL(page).href);
  const dots = opened.page.locator("#m .tm-dots circle");
  await expect.poll(() => dots.count()).toBe(40);
  const own = [pathToFileURL(`${folder}/`).href];
  expect(opened.record.problems(own)).toEqual([]);

  const told = () => opened.page.evaluate("told") as Promise<Record<string, unknown>>;
  const box = await dots.nth(20).boundingBox();
  await opened.page.mouse.click(box!.x + box!.width / 2, box!.y + box!.height / 2);
  await expect.poll(async () => ids.includes(String((await told()).m_open))).toBe(true);
});
