/** Several markers and covariates in the explorer: chosen in the import, fitted, on the map, in the panel of an individual. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { run, workplace } from "../../packages/cli/test/harness.ts";
import { simulatePlaces } from "../../packages/core/src/simulate/places.ts";
import { accessibilityViolations } from "../browser.ts";
import { browserOfFile } from "../browser-of-file.ts";
import { ROOT } from "../root.ts";
import { dropFile, expectText, mapStage, openExplorer, step } from "./explorer-page.ts";
import { csv } from "./tables.ts";

const chromium = browserOfFile();
const here = workplace();
afterAll(here.clear);

/** Sixty individuals with two markers at times of their own, the first without the second; one covariate that shifts places. */
const { cohort, subjects } = simulatePlaces({ numIndividuals: 60, numMarkers: 2, covariates: "places", seed: 7 });
const visits = csv([
  ["id", "years", "test", "result"],
  ...cohort.markers.flatMap(({ offsets, times, values }, k) =>
    cohort.ids.flatMap((id, i) =>
      Array.from(times.subarray(offsets[i], offsets[i + 1]), (time, j) => {
        const value = values[offsets[i] + j];
        return [id, (10 * time).toFixed(3), ["bili", "albumin"][k], value.toFixed(3)];
      }).filter(() => !(k === 1 && i === 0)),
    ),
  ),
]);
const table = csv([
  ["id", "arm", "event"],
  ...cohort.ids.map((id, i) => [id, subjects.columns[0].cells[i] === "1" ? "new" : "old", String(i % 2)]),
]);

describe("two markers and a covariate", () => {
  it("go from a table that names the marker of each row to a map, its individuals and what the covariate does", async () => {
    const explorer = await openExplorer(chromium);
    const { page } = explorer;
    await dropFile(page, "visits.csv", visits);
    await page.getByRole("combobox", { name: "Use of column test" }).selectOption("names");
    const list = page.getByRole("group", { name: "Markers on the map" });
    expect(await list.getByRole("checkbox", { checked: true }).count()).toBe(2);
    await page.getByRole("textbox", { name: "Unit of albumin" }).fill("g/dl");
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Check the data", exact: true }).click();
    await page.getByRole("button", { name: "albumin", exact: true }).click();
    await page.getByText(/values of albumin in 59 individuals; 1 have none and are kept/).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Next", exact: true }).click();
    await dropFile(page, "subjects.csv", table, "[aria-label='Table of outcomes']");
    const covariates = page.getByRole("group", { name: "Which are covariates?" });
    await covariates.getByRole("checkbox", { name: "arm" }).check();
    await page.getByRole("combobox", { name: /^They change/ }).waitFor();
    expect(await page.getByRole("combobox", { name: "Kind of arm" }).inputValue()).toBe("category");
    await page.getByRole("combobox", { name: "Reference of arm" }).selectOption("old");
    expect(await accessibilityViolations(page)).toEqual([]);

    await step(page, "Fit").click();
    await page.getByText("More", { exact: true }).click();
    await page.getByRole("spinbutton", { name: /^Other starts/ }).fill("0");
    await page.getByRole("combobox", { name: /^Tolerance/ }).selectOption({ index: 1 });
    await page.getByRole("button", { name: "Fit with these settings", exact: true }).click();
    await page.getByRole("button", { name: "Open the map", exact: true }).waitFor();
    await page.getByText(/^(One map is supported|These markers do not follow one map)/).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Open the map", exact: true }).click();
    const stage = await mapStage(page);

    // The map of the one, then of the other, over the same dots.
    const panel = page.getByRole("complementary", { name: "Details" });
    const terrain = page.getByRole("combobox", { name: "Terrain" });
    await expectText(terrain, "bili at year");
    await page.getByRole("group", { name: "Marker", exact: true }).getByRole("button", { name: "albumin" }).click();
    await expectText(terrain, "albumin at year");

    // A small map of each beneath, over the same places: the pointer is in all of them, and on the large one.
    const small = page.getByRole("group", { name: "The map of each marker" }).getByRole("button");
    expect(await small.count()).toBe(2);
    const onLand = await small
      .nth(0)
      .locator("g > path")
      .first()
      .evaluate((coast: SVGPathElement) => {
        const { x, y, width, height } = coast.getBBox();
        const steps = Array.from({ length: 19 }, (_, k) => (k + 1) / 20);
        const inside = steps
          .flatMap((a) => steps.map((b) => new DOMPoint(x + a * width, y + b * height)))
          .filter((point) => coast.isPointInFill(point));
        const { x: px, y: py } = inside[Math.floor(inside.length / 2)].matrixTransform(coast.getScreenCTM()!);
        return [px, py] as const;
      });
    await page.mouse.move(...onLand);
    for (const [k, name] of ["bili", "albumin"].entries()) {
      await expectText(small.nth(k), new RegExp(`^${name} [\\d.]+ \\([\\d.]+ to [\\d.]+\\) at year`));
    }
    expect(await small.locator("path.ring").count()).toBe(2);
    await small.nth(0).click();
    await expectText(terrain, "bili at year");
    await small.nth(1).click();
    await page.mouse.move(0, 0);

    // The covariate: an arrow, and courses of the people described.
    await expectText(stage.locator("[data-arrows] text"), /^arm new$/);
    await panel.getByRole("table", { name: "Shifts of places" }).waitFor();
    const arm = panel.getByRole("group", { name: "arm", exact: true });
    const described = panel.getByRole("img", { name: /^Average course of bili of the individuals described/ });
    await described.waitFor();
    const drawn = () => described.locator("path.course").first().getAttribute("d");
    const before = await drawn();
    await arm.getByRole("button", { pressed: false }).click();
    await expect.poll(drawn).not.toBe(before);
    expect(await accessibilityViolations(page)).toEqual([]);

    // Who lacks a marker has its course from the other.
    await page.getByRole("combobox", { name: "Find an individual" }).fill(cohort.ids[0]);
    await page.keyboard.press("Enter");
    await expectText(panel.getByRole("heading", { level: 2 }), cohort.ids[0]);
    await panel.getByText("No values; predicted from the other markers.").waitFor();
    expect(
      await panel
        .locator("figure")
        .filter({ hasText: /^(bili|albumin, g\/dl)/ })
        .count(),
    ).toBe(2);
    expect(await accessibilityViolations(page)).toEqual([]);

    // A new individual is asked for the covariate and for both markers.
    await panel.getByRole("button", { name: "What if", exact: true }).click();
    await panel.getByRole("group", { name: "arm", exact: true }).waitFor();
    await panel.getByLabel("albumin of visit 1", { exact: true }).fill("9");
    await expect.poll(() => panel.getByText("No values; predicted from the other markers.").count()).toBe(0);
    expect(explorer.problems()).toEqual([]);
    await explorer.close();
  });

  it("of a table where several have the same kind of finding are told of each by name, and come to a map", async () => {
    const explorer = await openExplorer(chromium);
    const { page } = explorer;
    await dropFile(page, "visits.csv", readFileSync(join(ROOT, "examples", "pbc", "visits.csv"), "utf8"));
    await page.getByText("Several markers on one map").click();
    for (const name of ["albumin", "protime"]) await page.getByRole("checkbox", { name, exact: true }).check();
    await page.getByRole("button", { name: "Check the data", exact: true }).click();
    const found = page.getByRole("table", { name: "What was found in the table" });
    for (const name of ["bili", "protime"]) {
      await found.getByRole("rowheader", { name: `Far from the other values: ${name}`, exact: true }).waitFor();
    }
    await page.getByRole("button", { name: "Next", exact: true }).click();
    await step(page, "Fit").click();
    await page.getByText("More", { exact: true }).click();
    await page.getByRole("spinbutton", { name: /^Other starts/ }).fill("0");
    await page.getByRole("combobox", { name: /^Tolerance/ }).selectOption({ index: 1 });
    await page.getByRole("button", { name: "Fit with these settings", exact: true }).click();
    await page.getByRole("button", { name: "Open the map", exact: true }).click();
    await mapStage(page);
    expect(explorer.problems()).toEqual([]);
    await explorer.close();
  });

  it("open as a run of the command line, and every step shows the whole", async () => {
    const [visitsFile, subjectsFile, folder] = [
      here.file("visits.csv", visits),
      here.file("subjects.csv", table),
      here.at("run"),
    ];
    const markers = [
      "--markers",
      "bili,albumin",
      "--marker-column",
      "test",
      "--value",
      "result",
      "--time-unit",
      "years",
    ];
    const described = ["--subjects", subjectsFile, "--covariates", "arm", "--effects", "level"];
    await run("fit", visitsFile, ...markers, ...described, "--restarts", "0", "-o", folder);
    const args = [folder, "--subjects", subjectsFile];
    const explorer = await openExplorer(chromium, "served by dtm explore", {
      args,
      viewport: { width: 1024, height: 768 },
    });
    const { page } = explorer;
    await mapStage(page);
    await page.getByRole("group", { name: "Marker", exact: true }).waitFor();
    const panel = page.getByRole("complementary", { name: "Details" });
    await panel.getByRole("table", { name: "Effects in the mean course" }).waitFor();
    await panel.getByRole("group", { name: "arm", exact: true }).getByRole("button", { name: "new" }).click();
    await page.getByText("Courses of individuals with arm new.").waitFor();
    await step(page, "Outcomes").click();
    await page.getByRole("button", { name: "Test 1 outcomes", exact: true }).click();
    await page.getByRole("button", { name: "Test again", exact: true }).waitFor();
    await step(page, "Report").click();
    const report = page.frameLocator("iframe");
    await report.getByText("albumin").first().waitFor();
    expect(explorer.problems()).toEqual([]);
    await explorer.close();
  });
});
