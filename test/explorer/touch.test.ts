/** The map under fingers: one moves it, two zoom it about their middle, a tap opens somebody; the page itself stays where it is. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { browserOfFile } from "../browser-of-file.ts";
import { moveFingers } from "../touch.ts";
import { type ExplorerPage, expectText, mapStage, openExplorer } from "./explorer-page.ts";

const chromium = browserOfFile();

describe("the map on a touch screen", () => {
  let explorer: ExplorerPage;
  let page: Page;
  let box: { x: number; y: number; width: number; height: number };
  const unit = async () => {
    const bar = page.locator("[data-scale-bar]").first();
    const [length, words] = [await bar.getAttribute("data-scale-bar"), await bar.textContent()];
    const parts: Record<string, number> = { "1": 1, "½": 0.5, "¼": 0.25, "0.1": 0.1 };
    return Number(length) / parts[(words ?? "").split(" ")[0]];
  };
  /** Where the first dot is drawn, px of the page. */
  const dot = (k = 0) =>
    page
      .locator(".tm-dots circle")
      .nth(k)
      .evaluate((circle) => {
        const { left, top, width, height } = circle.getBoundingClientRect();
        return [left + width / 2, top + height / 2] as const;
      });

  beforeAll(async () => {
    explorer = await openExplorer(chromium, "opened from disk", {
      hasTouch: true,
      viewport: { width: 1180, height: 820 },
      fragment: "#demo=lung",
    });
    page = explorer.page;
    box = (await (await mapStage(page)).boundingBox())!;
  }, 120_000);
  afterAll(async () => {
    expect(explorer.problems()).toEqual([]);
    await explorer.close();
  });

  it("moves with one finger, by as much as the finger", async () => {
    const [x, y] = [box.x + 0.5 * box.width, box.y + 0.5 * box.height];
    const [before, size] = [await dot(), await unit()];
    await moveFingers(page, [
      [
        [x, y],
        [x + 60, y - 40],
      ],
    ]);
    await expect.poll(async () => (await dot())[0] - before[0]).toBeCloseTo(60, 0);
    expect((await dot())[1] - before[1]).toBeCloseTo(-40, 0);
    expect(await unit()).toBe(size);
    expect(await page.evaluate(() => [scrollX, scrollY])).toEqual([0, 0]);
  });

  it("grows as two fingers part, and shrinks as they meet", async () => {
    const [x, y] = [box.x + 0.5 * box.width, box.y + 0.5 * box.height];
    const before = await unit();
    const apart = (from: number, to: number) =>
      moveFingers(page, [
        [
          [x - from, y],
          [x - to, y],
        ],
        [
          [x + from, y],
          [x + to, y],
        ],
      ]);
    await apart(40, 80);
    await expect.poll(async () => (await unit()) / before).toBeCloseTo(2, 1);
    await apart(80, 40);
    await expect.poll(async () => (await unit()) / before).toBeCloseTo(1, 1);
    // The page did not take the gesture for its own.
    expect(await page.evaluate(() => visualViewport?.scale)).toBe(1);
  });

  it("opens the individual that is tapped", async () => {
    const [x, y] = await dot(2000);
    await page.touchscreen.tap(x, y);
    await expectText(page.getByRole("complementary", { name: "Details" }), /Expected at year/);
  });
});
