/** What a reader may trust on the map: the acceptance checklist of the design, as far as a browser can show it. */
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { browserOfFile } from "../browser-of-file.ts";
import {
  dropFile,
  type ExplorerPage,
  expectText,
  exported,
  fitAndOpen,
  importTable,
  mapStage,
  openExplorer,
  recordsOf,
  step,
} from "./explorer-page.ts";
import { csv, simulatedTables } from "./tables.ts";

const chromium = browserOfFile();

/** Finds an individual and waits for its facts. */
async function openById(page: Page, id: string): Promise<Locator> {
  const panel = page.getByRole("complementary", { name: "Details" });
  await page.getByRole("combobox", { name: "Find an individual" }).fill(id);
  await page.keyboard.press("Enter");
  await expectText(panel.getByRole("heading", { level: 2 }), id);
  await panel.getByRole("table", { name: "Facts about this individual" }).waitFor();
  return panel;
}

describe("the map of the demo", () => {
  let explorer: ExplorerPage;
  let page: Page;
  let stage: Locator;
  let places: Record<string, string>[];

  beforeAll(async () => {
    // The address alone opens the demonstration.
    explorer = await openExplorer(chromium, "opened from disk", { fragment: "#demo=lung" });
    page = explorer.page;
    stage = await mapStage(page);
    places = recordsOf((await exported(page, "Places")).text);
  });

  afterEach(() => {
    expect(explorer.problems()).toEqual([]);
  });

  afterAll(async () => {
    await explorer?.close();
  });

  const unit = async () =>
    Number(
      /matrix\(([\d.]+)/.exec(
        (await stage.locator("g[transform^='matrix']").first().getAttribute("transform")) ?? "",
      )?.[1],
    );

  it("has no ticks; its scale bar is one map unit at every zoom", async () => {
    // No text of the drawing is a bare coordinate: numbers on lines are values of the marker, others have words.
    const texts = await stage.locator("svg.tm-front text").allTextContents();
    expect(texts.some((text) => /map unit/.test(text))).toBe(true);
    expect(texts.filter((text) => /^[−-]?[0-3](\.\d+)?$/.test(text.trim()))).toEqual([]);
    const bar = stage.locator("[data-scale-bar]");
    const shares: Record<string, number> = { "1": 1, "½": 0.5, "¼": 0.25, "0.1": 0.1, "0.05": 0.05 };
    await stage.focus();
    for (let k = 0; k < 4; k++) {
      const length = Number(await bar.getAttribute("data-scale-bar"));
      const [words] = ((await bar.textContent()) ?? "").split(" map unit");
      expect(length).toBeCloseTo(shares[words.trim()] * (await unit()), 6);
      const before = await unit();
      await page.keyboard.press("+");
      await expect.poll(unit).toBeGreaterThan(before);
    }
    await page.keyboard.press("0");
  });

  it("shows no course where nobody is placed", async () => {
    const box = (await stage.boundingBox())!;
    await page.mouse.move(box.x + box.width - 12, box.y + 12);
    const lens = stage.locator(".tm-lens:not([hidden])").first();
    await expectText(lens, "No data here");
    await expectText(lens, "Nobody in this cohort is placed near this point, so no course is shown.");
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await expectText(lens, "Course at this place");
  });

  it("draws a longer region for one visit than for eight, and says what one visit tells", async () => {
    const spanOf = async (id: string) => {
      const panel = await openById(page, id);
      const region = stage.locator("path[data-region='90']");
      await region.waitFor({ state: "attached" });
      // In prior sd: the path is in map coordinates. Asked of the stage, since a path may be drawn anew while it is asked.
      const size = await stage.evaluate((root) => {
        const { width, height } = root.querySelector<SVGPathElement>("path[data-region='90']")!.getBBox();
        return Math.max(width, height);
      });
      const said = (await panel.textContent()) ?? "";
      await panel.getByRole("button", { name: "Close", exact: true }).click();
      await region.waitFor({ state: "detached" });
      return { size, said };
    };
    const pick = (n: number) => places.filter((v) => Number(v.visits) === n).slice(0, 4);
    const [one, eight]: Awaited<ReturnType<typeof spanOf>>[][] = [[], []];
    for (const { id } of pick(1)) one.push(await spanOf(id));
    for (const { id } of pick(8)) eight.push(await spanOf(id));
    // Eight visits close to each other may leave a course as open as one does: on average.
    const meanOf = (sizes: typeof one) => sizes.reduce((sum, { size }) => sum + size, 0) / sizes.length;
    expect(meanOf(one)).toBeGreaterThan(1.15 * meanOf(eight));
    for (const { said } of one) expect(said).toContain("One visit fixes the level, not the course.");
  });

  it("ends the solid line, and begins the dashed one, at the last visit that is used", async () => {
    const { id } = places.find((v) => Number(v.visits) === 6 && Number(v.last_time) < 8)!;
    const panel = await openById(page, id);
    const ends = async () => {
      const [solid, dashed] = await panel
        .locator("path.course")
        .evaluateAll((paths) => paths.map((p) => p.getAttribute("d") ?? ""));
      const visits = panel.locator("circle.visit:not(.held)");
      const used = Math.max(...(await visits.evaluateAll((all) => all.map((c) => Number(c.getAttribute("cx"))))));
      const x = (text: string | undefined) => Number(text?.split(/[ ,]/)[0]);
      return { end: x(solid.split(/[ML]/).at(-1)), begin: x(dashed.split(/[ML]/)[1]), used };
    };
    const last = await ends();
    expect(Math.abs(last.end - last.used)).toBeLessThan(0.2);
    expect(Math.abs(last.begin - last.used)).toBeLessThan(0.2);
    await panel.getByRole("slider", { name: "As known at" }).focus();
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    await expect.poll(async () => (await ends()).end).toBeLessThan(last.end);
    // Two steps of the slider are two answers of the worker: lines and visits agree once both are there.
    const apart = async () => {
      const { end, begin, used } = await ends();
      return Math.max(Math.abs(end - used), Math.abs(begin - used));
    };
    await expect.poll(apart).toBeLessThan(0.2);
    await page.keyboard.press("End");
    await panel.getByRole("button", { name: "Close", exact: true }).click();
  });

  it("fades all but the pressed group to 10%; letters and colours of rail and map agree; scales are shared", async () => {
    const rows = page.locator("button.group");
    const pills = () => stage.locator(".tm-front text").allTextContents();
    const letters = await rows.locator(".badge").allTextContents();
    expect(letters.length).toBeGreaterThan(1);
    expect(new Set(letters).size).toBe(letters.length);
    // Names keep clear of an individual that is open: all stand there once it is closed.
    for (const letter of letters) await expect.poll(pills).toContain(letter);
    // One y and one x scale in all of them: the same labels at the same places, the last with its unit.
    const labels = await rows.evaluateAll((all) =>
      all.map((row) =>
        Array.from(
          row.querySelectorAll("svg text"),
          (t) => `${t.textContent?.replace(/[^\d.−]/g, "")} ${t.getAttribute("y")}`,
        ).join(),
      ),
    );
    expect(new Set(labels).size).toBe(1);
    const faded = () =>
      stage.locator(".tm-dots circle").evaluateAll((all) => {
        const opacity = (dot: Element) =>
          Number(dot.getAttribute("fill-opacity") ?? dot.getAttribute("stroke-opacity"));
        return all.filter((dot) => opacity(dot) === 0.1).length;
      });
    expect(await faded()).toBe(0);
    await rows.nth(1).click();
    const size = Number(/(\d[\d,]*) individuals/.exec((await rows.nth(1).textContent()) ?? "")![1].replace(",", ""));
    await expect.poll(faded).toBe(2323 - size);
    await page.keyboard.press("Escape");
    await expect.poll(faded).toBe(0);
  });

  it("colours dots or terrain, never both", async () => {
    const terrain = () =>
      stage
        .locator("svg.tm-back path")
        .evaluateAll((paths) => [...new Set(paths.map((p) => p.getAttribute("fill") ?? ""))].join(" "));
    expect(await terrain()).toMatch(/land/);
    expect(await terrain()).not.toMatch(/-terrain-|diverging/);
    await page.getByRole("combobox", { name: /^Colour/ }).selectOption("none");
    await expect.poll(terrain).toMatch(/-terrain-/);
    const dots = await stage
      .locator(".tm-dots circle")
      .evaluateAll((all) => [...new Set(all.map((d) => d.getAttribute("fill")).filter((f) => f !== "none"))]);
    expect(dots).toHaveLength(1);
    await page.getByRole("combobox", { name: /^Terrain/ }).selectOption("slope");
    await expect.poll(terrain).toMatch(/diverging/);
    await page.getByRole("combobox", { name: /^Colour/ }).selectOption("group");
    await expect.poll(terrain).not.toMatch(/-terrain-|diverging/);
  });

  it("does not move when dots or terrain are coloured otherwise; buttons zoom, and a small map shows where", async () => {
    const transform = () => stage.locator(".tm-back g[transform]").first().getAttribute("transform");
    const before = await transform();
    const colour = page.getByRole("combobox", { name: /^Colour/ });
    const terrain = page.getByRole("combobox", { name: /^Terrain/ });
    for (const key of ["visits", "certainty", "outcome:ulcers and gangrene", "none", "group"]) {
      await colour.selectOption(key);
      await expect.poll(transform).toBe(before);
    }
    await terrain.selectOption("crossing");
    await expect.poll(() => stage.locator(".tm-back [data-class=never]").count()).toBe(1);
    expect(await transform()).toBe(before);
    const never = page.locator(".tm-foot");
    await expectText(never, "not below");
    await page.getByRole("combobox", { name: "Side of the threshold" }).selectOption("above");
    await expectText(never, "from the start");
    await terrain.selectOption("value");
    const reset = page.getByRole("button", { name: /^Reset the zoom/ });
    expect(await reset.isDisabled()).toBe(true);
    await page.getByRole("button", { name: /^Zoom in/ }).click();
    await stage.locator("[data-minimap]").waitFor({ state: "attached" });
    await reset.click();
    await expect.poll(() => stage.locator("[data-minimap]").count()).toBe(0);
    await expect.poll(transform).toBe(before);
    // The address follows a little later.
    await expect.poll(() => decodeURIComponent(page.url())).toContain('"zoom":1}');
  });

  it("wears the group that was known at the time shown, in dot and course; Back closes the individual first", async () => {
    const shares = (place: Record<string, string>) =>
      Object.entries(place)
        .filter(([name]) => /^probability_|^p_?[A-F]$/.test(name))
        .map(([name, share]) => [name.slice(-1), Number(share)] as const);
    for (const place of places) {
      const [likeliest] = shares(place).sort(([, a], [, b]) => b - a);
      expect(likeliest[0]).toBe(place.group);
    }
    const { id } = places.find(({ visits }) => Number(visits) >= 6)!;
    const url = page.url();
    const panel = await openById(page, id);
    const dot = stage.locator("svg.tm-front circle[r='6.5']");
    const first = panel.getByRole("list", { name: "Probability of groups" }).locator("li").first();
    const agrees = async () => {
      const letter = ((await first.locator("span").textContent()) ?? "").trim().slice(0, 1);
      return [await dot.getAttribute("fill"), `var(--tm-group-${"ABCDEF".indexOf(letter)})`];
    };
    const same = async () => {
      const [worn, likeliest] = await agrees();
      return worn === likeliest;
    };
    await expect.poll(same).toBe(true);
    await panel.getByRole("slider", { name: "As known at" }).focus();
    await page.keyboard.press("Home");
    await expectText(panel, "One visit fixes the level, not the course.");
    await expect.poll(same).toBe(true);
    // The address counts visits and tells no time.
    expect(new URL(page.url()).hash).toMatch(/&visits=1&/);
    expect(decodeURIComponent(new URL(page.url()).hash)).not.toContain("knownAt");
    await page.goBack();
    await expectText(page.getByRole("complementary", { name: "Details" }), "How to read the map");
    expect(page.url()).toBe(url);
  });

  it("writes names on pills as wide as they are, above the region of whoever is open", async () => {
    const panel = await openById(page, places.find(({ visits }) => Number(visits) === 1)!.id);
    await stage.locator("path[data-region='90']").waitFor({ state: "attached" });
    const pills = await stage.evaluate((root) => {
      const region = root.querySelector("path[data-region='90']")!;
      return Array.from(root.querySelectorAll("rect.tm-pill"), (pill) => {
        let words = pill.nextElementSibling;
        while (words !== null && words.nodeName !== "text") words = words.nextElementSibling;
        return {
          isAbove: (region.compareDocumentPosition(pill) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0,
          room: pill.getBoundingClientRect().right - (words?.getBoundingClientRect().right ?? 0),
        };
      });
    });
    expect(pills.length).toBeGreaterThan(1);
    for (const { isAbove, room } of pills) {
      expect(isAbove).toBe(true);
      expect(room).toBeGreaterThan(5);
      expect(room).toBeLessThan(13);
    }
    await panel.getByRole("button", { name: "Close", exact: true }).click();
  });

  it("says so where everyone is one group, and how to divide them", async () => {
    const rail = page.getByRole("region", { name: "Groups", exact: true });
    const numGroups = await rail.locator("button.group").count();
    // Somebody may be open, whose probabilities are of the groups of before.
    const panel = await openById(page, places.find(({ visits }) => Number(visits) === 1)!.id);
    const probable = panel.getByRole("list", { name: "Probability of groups" }).getByRole("listitem");
    expect(await probable.count()).toBeGreaterThan(1);
    const said = rail.getByText("Everyone is shown as one group, as asked for.");
    expect(await said.count()).toBe(0);
    await rail.getByText("Number and stability of groups", { exact: true }).click();
    await rail.getByRole("slider", { name: "Groups" }).focus();
    await page.keyboard.press("Home");
    await said.waitFor();
    expect(await rail.locator("button.group").count()).toBe(1);
    await expect.poll(() => probable.count()).toBeLessThan(2);
    await rail.getByRole("button", { name: "Choose by rule", exact: true }).click();
    await said.waitFor({ state: "detached" });
    expect(await rail.locator("button.group").count()).toBe(numGroups);
    await expect.poll(() => probable.count()).toBeGreaterThan(1);
    await panel.getByRole("button", { name: "Close", exact: true }).click();
    await rail.getByText("Number and stability of groups", { exact: true }).click();
  });

  it("has on a phone a header of two rows, what came out of the fit before its settings, and captions that stay in sight", async () => {
    const wide = page.viewportSize()!;
    const topOf = async (name: string | RegExp) =>
      (await page.getByRole("heading", { level: 2, name }).first().boundingBox())!.y;
    await step(page, "Fit").click();
    expect(await topOf(/^Settled/)).toBeLessThan((await topOf("Settings")) + 40);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await topOf(/^Settled/)).toBeLessThan((await topOf("Settings")) - 200);
    expect((await page.locator("header").first().boundingBox())!.height).toBeLessThan(96);
    await step(page, "Models").click();
    const table = page.getByRole("table", { name: /^Table 1/ });
    await table.waitFor();
    const seen = await table.evaluate((element) => {
      const frame = element.parentElement!;
      frame.scrollLeft = 1e4;
      const [caption, around] = [element.querySelector("caption")!, frame].map((part) => part.getBoundingClientRect());
      return { moved: frame.scrollLeft, before: around.left - caption.left, after: caption.right - around.right };
    });
    expect(seen.moved).toBeGreaterThan(50);
    expect(seen.before).toBeLessThan(2);
    expect(seen.after).toBeLessThan(2);
    await page.setViewportSize(wide);
    await step(page, "Map").click();
    stage = await mapStage(page);
  });

  it("filters by histograms both ways, and compares two brushes", async () => {
    await page.getByRole("button", { name: "Filter", exact: true }).click();
    const strip = page.getByRole("region", { name: "Filter" });
    const from = strip.getByRole("slider", { name: "Visits, from" });
    await from.focus();
    for (let k = 0; k < 3; k++) await page.keyboard.press("ArrowRight");
    const many = places.filter(({ visits }) => Number(visits) >= 4).length;
    await expectText(strip, `(${many.toLocaleString("en")} individuals)`);
    await expect
      .poll(() => stage.locator(".tm-dots circle[fill-opacity='0.1'], .tm-dots circle[stroke-opacity='0.1']").count())
      .toBe(places.length - many);
    await strip.getByRole("button", { name: "B", exact: true }).click();
    await strip.getByRole("slider", { name: "Visits, to" }).focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowRight");
    await expectText(strip, "A minus B");
    await strip.getByRole("table", { name: "Outcomes of A and B" }).waitFor();
    await strip.getByRole("button", { name: "Clear", exact: true }).click();
    await page.getByRole("button", { name: "Filter", exact: true }).click();
  });

  it("says where a link can be copied from if the browser does not allow it", async () => {
    await page.evaluate(() => {
      Object.defineProperty(navigator, "clipboard", {
        configurable: true,
        value: { writeText: () => Promise.reject(new DOMException("denied", "NotAllowedError")) },
      });
    });
    await page.getByRole("button", { name: "Export", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Save a file" });
    await dialog.getByRole("button", { name: "Copy link to this view" }).click();
    await expectText(dialog, "The browser did not allow copying.");
    const link = await dialog.getByRole("textbox", { name: "Link to this view" }).inputValue();
    expect(link).toContain("#map&demo=lung");
    await dialog.getByRole("button", { name: "Close", exact: true }).click();
  });

  it("saves a picture with live text, legend, scale bar and source line", async () => {
    const { text, contains } = await exported(page, "Map as SVG");
    expect(contains).toContain("Contains individual-level data.");
    expect(text).toMatch(/^(<\?xml[^>]*>\s*)?<svg /);
    for (const words of ["Map of PFVC", "map unit</text>", "certain place</text>", "2,323 individuals</text>"]) {
      expect(text).toContain(words);
    }
    expect(text).not.toMatch(/var\(--|P\d{4}/);
  });

  it("gives the same lens from a saved model placed anew", async () => {
    // At the same places of the map, wherever the window puts them.
    const readings = async () => {
      const box = (await stage.boundingBox())!;
      const matrix = (await stage.locator("g[transform^='matrix']").first().getAttribute("transform")) ?? "";
      const [scale, , , , left, top] = matrix.slice("matrix(".length, -1).split(/[ ,]+/).map(Number);
      const seen: string[] = [];
      for (const [x, y] of [
        [0.1, 0.3],
        [0.4, 0.1],
        [-0.3, -0.35],
      ]) {
        await page.mouse.move(box.x + left + scale * x, box.y + top - scale * y);
        // On a dot the individual's own course takes the place of the place's once it is there.
        await page.waitForTimeout(300);
        seen.push((await stage.locator(".tm-lens:not([hidden]) .tm-lens-value").first().textContent()) ?? "");
      }
      return seen;
    };
    let before = await readings();
    const isSettled = async () => {
      const last = before;
      before = await readings();
      return last.join() === before.join();
    };
    await expect.poll(isSettled).toBe(true);
    const { text } = await exported(page, "Model");
    const { visits } = simulatedTables({ numIndividuals: 2323, seed: 2, columns: ["id", "time", "value"] });
    await dropFile(page, "model.json", text);
    await page.getByRole("button", { name: "Another table", exact: true }).click();
    // A column of another name is not taken for the model's marker unless somebody says so.
    await dropFile(page, "other.csv", "id,time,bilirubin\na,0,1\na,1,2\nb,0,3\nb,1,1\n");
    const same = page.getByRole("button", { name: "It is the same marker", exact: true });
    await same.waitFor();
    await expectText(page.locator("main"), /model\.json was fitted to another marker: marker “PFVC”, here “bilirubin”/);
    await same.click();
    await same.waitFor({ state: "hidden" });
    await dropFile(page, "visits.csv", visits);
    await page.getByRole("button", { name: "Check the data", exact: true }).click();
    await page.getByRole("button", { name: "Next", exact: true }).click();
    await page.getByRole("button", { name: "Place by model.json", exact: true }).click();
    stage = await mapStage(page);
    await expect.poll(readings).toEqual(before);
  });
});

describe("outcomes that only follow the number of visits", () => {
  it("are told apart from outcomes of the course; small counts stay out of shared files", async () => {
    const { visits, subjects } = simulatedTables({ numIndividuals: 160, seed: 9 });
    const numVisits = new Map<string, number>();
    for (const { id } of recordsOf(visits)) numVisits.set(id, (numVisits.get(id) ?? 0) + 1);
    const last = new Map(recordsOf(visits).map(({ id, FVC }) => [id, Number(FVC)]));
    // Seen more often, found more often; the course plays no part. And one that is a matter of the course.
    const table = csv([
      ["id", "found at a visit", "ends low"],
      ...recordsOf(subjects).map(({ id }, i) => [
        id,
        String(Number((i * 0.618034) % 1 < 1 - 0.65 ** numVisits.get(id)!)),
        String(Number(last.get(id)! < 80)),
      ]),
    ]);
    const explorer = await openExplorer(chromium);
    const { page } = explorer;
    await importTable(page, "visits.csv", visits);
    await fitAndOpen(page);
    await step(page, "Outcomes").click();
    await dropFile(page, "outcomes.csv", table, "[aria-label='Table of individuals']");
    await page.getByLabel("Draws").fill("199");
    await page.getByRole("button", { name: "Test 2 outcomes" }).click();
    await expectText(page.locator("main"), /No relation found: found at a visit\./);
    const related = page.getByRole("list", { name: "Outcomes related to the map" }).getByRole("listitem");
    expect(await related.count()).toBe(1);
    // One sentence, one p, and the place outlined on a small map.
    await expectText(related, /^Ends low.*More common .*: \d+% there, \d+% elsewhere \(held out\);.*p ≤ 0\.01$/);
    expect(await related.locator("svg path").count()).toBeGreaterThan(3);
    await page.getByText(/^Details: every statistic/).click();
    const results = page.getByRole("table", { name: /^Table 2 a/ });
    const row = results.getByRole("row").filter({ has: page.getByRole("button", { name: "found at a visit" }) });
    const cells = await row.getByRole("cell").allTextContents();
    const heads = (await results.getByRole("columnheader").allTextContents()).map((text) => text.trim());
    // The outcome is a matter of the number of visits alone, which the test leaves free to differ.
    expect(Number(cells[heads.indexOf("p") - 1])).toBeGreaterThan(0.05);

    await related.getByRole("button", { name: /^Ends low/ }).click();
    await mapStage(page);
    expect(await page.getByLabel("Colour").inputValue()).toBe("outcome:ends low");
    await page.getByText("Number and stability of groups").click();
    const slider = page.getByRole("slider", { name: /^Groups/ });
    await slider.focus();
    await page.keyboard.press("End");
    await expectText(page.getByText(/^Cut by hand\./), "Cut by hand.");
    const courses = recordsOf((await exported(page, "Group courses")).text);
    const sizes = new Set(courses.map(({ individuals }) => individuals));
    expect(sizes).toContain("<11");
    for (const size of sizes) if (size !== "<11") expect(Number(size)).toBeGreaterThanOrEqual(11);
    expect(explorer.problems()).toEqual([]);
    await explorer.close();
  });
});
