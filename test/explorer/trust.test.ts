/** The first minute, and how far a map may be trusted: in words, in the header, with what they rest on. */
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { run, smallCohort, workplace } from "../../packages/cli/test/harness.ts";
import type { MapVerdict } from "../../packages/core/src/evaluate/map-verdict.ts";
import { createRandom } from "../../packages/core/src/numeric/random.ts";
import { accessibilityViolations } from "../browser.ts";
import { browserOfFile } from "../browser-of-file.ts";
import {
  expectText,
  exported,
  fitAndOpen,
  importTable,
  mapStage,
  openDemo,
  openExplorer,
  recordsOf,
  step,
} from "./explorer-page.ts";
import { csv } from "./tables.ts";

const chromium = browserOfFile();

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

/** Values without any structure: sixty individuals with two to six visits each. */
function noiseTable(): string {
  const random = createRandom(1);
  const rows = Array.from({ length: 60 }, (_, i) =>
    Array.from({ length: 2 + Math.floor(5 * random.uniform()) }, (__, j) => [
      `p${i}`,
      (j + random.uniform()).toFixed(2),
      (50 + 5 * random.normal()).toFixed(2),
    ]),
  );
  return csv([["id", "years", "marker"], ...rows.flat()]);
}

describe("the first minute", () => {
  it("shows what the page is for, three ways in, a map that explains itself, and marks that are put away for good", async () => {
    const explorer = await openExplorer(chromium);
    const { page } = explorer;
    await page.getByRole("heading", { name: /^See how a disease unfolds in each person/ }).waitFor();
    const words = page.getByRole("region", { name: "An example map" });
    for (const [name, says] of [
      ["1 A dot", "one individual"],
      ["2 A place", "stands for a course"],
      ["3 A group", "Regions are groups"],
    ]) {
      await button(page, name).click();
      await expectText(words, says);
    }
    await button(page, "What my table should look like").click();
    const help = page.getByRole("dialog", { name: "What my table should look like" });
    await expectText(help, "One row per visit");
    expect(await accessibilityViolations(page)).toEqual([]);
    await button(page, "Close").click();
    // A model is taken by a dialog of its own.
    const [dialog] = await Promise.all([
      page.waitForEvent("filechooser"),
      button(page, "Open a model for one patient").click(),
    ]);
    expect(dialog.isMultiple()).toBe(false);

    await openDemo(page);
    const coach = page.getByRole("region", { name: "First steps" });
    await expectText(coach, "A dot is one individual");
    await button(page, "Next").click();
    await expectText(coach, "The lens");
    await button(page, "Next").click();
    await expectText(coach, "A group is a region");
    await button(page, "Done").click();
    await coach.waitFor({ state: "detached" });
    // Its address opens the demonstration again.
    await page.reload();
    await mapStage(page);
    expect(await coach.count()).toBe(0);

    // The light: a pill with words that opens four sentences, each with its evidence.
    await expectText(page.locator("#trust"), "Reliable map");
    await page.locator("#trust").click();
    const trust = page.getByRole("dialog", { name: "Reliable map" });
    const parts = trust.getByRole("listitem");
    expect(await parts.count()).toBe(4);
    await expectText(parts.nth(2), /\+0\.08 \(95% CI \+0\.06 to \+0\.09\) in held-out log-likelihood per individual/);
    await expectText(parts.nth(3), /hold 90% of the values that came/);
    expect(await accessibilityViolations(page)).toEqual([]);
    await parts.nth(2).getByRole("button", { name: "Show the comparison" }).click();
    await page.getByRole("table", { name: /^Table 1/ }).waitFor();
    expect(explorer.problems()).toEqual([]);
    await explorer.close();
  });
});

describe("a run that was compared", () => {
  it("opens with its comparison and its groups: Models shows it and the light of trust is the run's own", async () => {
    const here = workplace();
    const folder = here.at("run");
    const visits = here.file("visits.csv", smallCohort(80).visits);
    const columns = ["--id", "patient", "--time", "years", "--value", "fvc"];
    await run("fit", visits, ...columns, "--noise", "white", "--restarts", "1", "-o", folder);
    expect((await run("compare", folder, "--models", "population,lmm,dtm", "--folds", "3")).code).toBe(0);
    // Another number and another method than the page would choose.
    await run("groups", folder, "--groups", "5", "--method", "ward", "--stability", "0");
    const { verdict } = JSON.parse(here.text("run", "compare.json")) as { readonly verdict: string };
    const { map } = JSON.parse(here.text("run", "run.json")) as { readonly map: MapVerdict };
    const explorer = await openExplorer(chromium, "served by dtm explore", { args: [folder] });
    const { page } = explorer;
    await mapStage(page);
    const groupOf = (text: string) => recordsOf(text).map(({ id, group }) => [id, group]);
    expect(groupOf((await exported(page, "Places")).text)).toEqual(groupOf(here.text("run", "groups.csv")));
    await page.locator("#trust").click();
    const trust = page.getByRole("dialog", { name: map.words });
    for (const [k, light] of map.lights.entries()) await expectText(trust.getByRole("listitem").nth(k), light.sentence);
    // Not found anew, which would take a minute.
    expect(await trust.getByRole("button", { name: "Check now" }).count()).toBe(0);
    await trust.getByRole("button", { name: "Show the comparison" }).first().click();
    // In words alone: names that the program has for models are for its command line.
    await expectText(page.locator(".verdict"), verdict.replace(/ \((?:population|lmm|dtm)\)/g, ""));
    await page.getByRole("table", { name: /^Table 1/ }).waitFor();
    await button(page, "Compare again").waitFor();
    expect(explorer.problems()).toEqual([]);
    await explorer.close();
    here.clear();
  });
});

describe("a map of noise", () => {
  it("says in grey that it should not be read, names no group and lets nobody test outcomes", async () => {
    const explorer = await openExplorer(chromium);
    const { page } = explorer;
    await importTable(page, "noise.csv", noiseTable());
    await fitAndOpen(page);
    const pill = page.locator("#trust");
    expect(await pill.getAttribute("class")).toContain("grey");
    await expectText(pill, "Do not read");
    await expectText(pill, "explains nothing beyond the average course");
    const stage = await mapStage(page);
    await expectText(page.locator("main"), "Do not read: explains nothing beyond the average course.");
    await expectText(page.getByRole("region", { name: "Groups" }), "Not named");
    await stage.waitFor();
    const outcomes = page.getByRole("navigation", { name: "Steps" }).getByRole("button", { name: /^Outcomes/ });
    expect(await outcomes.getAttribute("aria-disabled")).toBe("true");
    expect(await outcomes.getAttribute("title")).toBe("Do not read: explains nothing beyond the average course");
    // The data stay to be looked at.
    await step(page, "Data").click();
    expect(await step(page, "Data").getAttribute("aria-current")).toBe("step");
    expect(explorer.problems()).toEqual([]);
    await explorer.close();
  });
});
