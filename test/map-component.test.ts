/** The map as a component in a real browser: the example page, its keyboard, few and very many dots. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { MapHandle, MapOptions } from "../packages/app/src/map/types.ts";
import { accessibilityViolations, type OpenPage } from "./browser.ts";
import { browserOfFile } from "./browser-of-file.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const TYPES: Readonly<Record<string, string>> = { ".html": "text/html; charset=utf-8", ".mjs": "text/javascript" };
const EXAMPLE = "/packages/app/examples/map.html";

let server: Server;
let origin: string;
const chromium = browserOfFile();

beforeAll(async () => {
  for (const built of ["packages/app/dist/map/map.mjs", "packages/core/dist/browser.mjs"]) {
    if (!existsSync(join(ROOT, built))) throw new Error(`Expected ${built}; run node scripts/setup.mjs.`);
  }
  server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://localhost");
    if (pathname === "/favicon.ico") {
      response.writeHead(204).end();
      return;
    }
    try {
      const body = await readFile(join(ROOT, normalize(pathname)));
      response.writeHead(200, { "content-type": TYPES[extname(pathname)] ?? "application/octet-stream" }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  server?.close();
});

/** The example page with a small cohort, its map drawn. */
async function openExample(theme: "light" | "dark"): Promise<OpenPage> {
  const opened = await chromium.openPage({ viewport: { width: 900, height: 760 } });
  await opened.page.goto(`${origin}${EXAMPLE}?individuals=60&theme=${theme}`);
  await opened.page.locator("trajectory-map .tm-dots circle").first().waitFor({ state: "attached" });
  await opened.page.addScriptTag({
    type: "module",
    content: `import { placementAt, predict } from "${origin}/packages/core/dist/browser.mjs";
      import { mountMap } from "${origin}/packages/app/dist/map/map.mjs";
      window.tools = { placementAt, predict, mountMap };`,
  });
  // waitForFunction would evaluate text in the page, which its policy forbids unless the answer comes at once.
  await expect.poll(() => opened.page.evaluate(() => "tools" in window)).toBe(true);
  return opened;
}

/** What the page may use of the built modules; a test cannot import in the page itself. */
interface Tools {
  readonly placementAt: typeof import("@trajectory-maps/core/models").placementAt;
  readonly predict: typeof import("@trajectory-maps/core").predict;
  readonly mountMap: typeof import("../packages/app/src/map/map.ts").mountMap;
}

/** Points at a dot on land that no name of a group covers: a click on a name is for the group. */
async function pointAtDot(page: Page): Promise<{ x: number; y: number }> {
  await page.locator("trajectory-map .tm-pill").first().waitFor({ state: "attached" });
  const dots = await page.locator("trajectory-map .tm-dots circle").evaluateAll((all) => {
    const middle = (box: DOMRect) => ({ x: box.x + box.width / 2, y: box.y + box.height / 2 });
    const names = [...(all[0].getRootNode() as Document | ShadowRoot).querySelectorAll(".tm-pill")];
    const covered = names.map((name) => name.getBoundingClientRect());
    return all
      .map((dot) => middle(dot.getBoundingClientRect()))
      .filter(({ x, y }) => covered.every((box) => x < box.left || x > box.right || y < box.top || y > box.bottom));
  });
  const value = page.locator("trajectory-map .tm-lens:not([hidden]) .tm-lens-value").filter({ hasText: /^Year/ });
  for (const { x, y } of dots.reverse()) {
    await page.mouse.move(x, y);
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    if ((await value.count()) > 0) return { x, y };
  }
  throw new Error(`Expected a dot on land, received none of ${dots.length} that no name covers.`);
}

describe("the example page", () => {
  it("shows the course under the pointer, as predict gives it, opens, pins, selects and speaks", async () => {
    const { page, record } = await openExample("light");
    const { x, y } = await pointAtDot(page);
    const lens = page.locator("trajectory-map .tm-lens").last();
    await expect
      .poll(() => lens.locator(".tm-lens-value").textContent())
      .toMatch(/^Year [\d.]+: \d+ \(90% \d+ to \d+\)$/);
    expect(await lens.locator(".tm-lens-who").textContent()).toMatch(/^P\d+ · \d+ visits? · [A-E] /);

    // The lens equals the library at ten places of the map.
    const worst = await page.evaluate(() => {
      const { placementAt, predict } = (window as unknown as { tools: Tools }).tools;
      const { handle, model } = document.querySelector("trajectory-map") as unknown as {
        handle: MapHandle;
      } & MapOptions;
      let worst = 0;
      let seen = 0;
      for (let k = 0; k < 10; k++) {
        const [a, b] = [0.35 * Math.cos(k), 0.35 * Math.sin(k)];
        const { course } = handle.courseAt(a, b);
        if (course === null) continue;
        seen++;
        const there = predict(model, placementAt(model, [a, b]), course.times, { interval: "curve" });
        for (const key of ["median", "lower", "upper"] as const) {
          course[key].forEach((v, t) => {
            worst = Math.max(worst, Math.abs(v - there[key][t]));
          });
        }
      }
      return seen > 3 ? worst : Number.POSITIVE_INFINITY;
    });
    expect(worst).toBeLessThan(1e-9);

    await page.mouse.click(x, y);
    await expect.poll(() => page.locator("#summary").textContent()).toMatch(/^Opened P\d+\.$/);

    // Keyboard alone: individual, lens, radius, clear.
    const stage = page.locator("trajectory-map .tm-stage");
    const live = page.locator("trajectory-map .tm-live");
    await page.mouse.move(5, 5);
    await stage.focus();
    await page.keyboard.press("ArrowLeft");
    await expect.poll(() => live.textContent()).toMatch(/^P\d+ · .*90 percent/);
    await page.keyboard.press("Shift+ArrowRight");
    await expect.poll(() => live.textContent()).toMatch(/within ¼ map unit|No data here/);
    await page.keyboard.press("r");
    await expect.poll(() => page.locator("#summary").textContent()).toMatch(/within ¼ map unit of/);
    await page.keyboard.press("p");
    await page.keyboard.press("+");
    const zoom = () =>
      page.evaluate(() => {
        const map = document.querySelector("trajectory-map") as unknown as { handle: MapHandle };
        return map.handle.toSvg({ title: "A <map>", source: "simulated" });
      });
    const svg = await zoom();
    expect(svg).toContain("A &lt;map&gt;");
    expect(svg).toContain("map unit</text>");
    expect(svg).not.toContain("var(--");
    await page.keyboard.press("0");
    for (let k = 0; k < 5; k++) await page.keyboard.press("Escape");
    expect(record.problems([`${origin}/packages/`])).toEqual([]);
    await page.context().close();
  });

  it("has nothing that axe objects to, light and dark", async () => {
    for (const theme of ["light", "dark"] as const) {
      const { page, record } = await openExample(theme);
      await pointAtDot(page);
      expect(await accessibilityViolations(page), theme).toEqual([]);
      expect(record.problems([`${origin}/packages/`])).toEqual([]);
      await page.context().close();
    }
  });
});

/** Mounts a map of m individuals, whose places are spread around those of the example; what it shows, and what it leaves. */
async function mountMany(page: Page, m: number) {
  return page.evaluate(async (m) => {
    const { mountMap } = (window as unknown as { tools: Tools }).tools;
    const source = document.querySelector("trajectory-map") as unknown as MapOptions & Element;
    const { model, placements: few } = source;
    const n = few.ids.length;
    let seed = 1;
    const uniform = () => {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      return seed / 4294967296;
    };
    const location = Float64Array.from(
      { length: 2 * m },
      (_, k) => few.location[2 * (Math.floor(k / 2) % n) + (k % 2)] + 0.6 * (uniform() + uniform() - 1),
    );
    const per = (from: ArrayLike<number>) => Float64Array.from({ length: m }, (_, i) => from[i % n]);
    const placements = {
      ...few,
      ids: Array.from({ length: m }, (_, i) => `Q${i}`),
      location,
      area50: per(few.area50),
      numObservations: Int32Array.from(per(few.numObservations)),
    };
    source.remove();
    const home = document.createElement("div");
    home.style.height = "640px";
    document.body.append(home);
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const map = mountMap(home, { model, placements });
    for (let k = 0; k < 2; k++) await frame();
    const stage = home.querySelector(".tm-stage")!;
    const box = stage.getBoundingClientRect();
    const at = { clientX: box.left + 400, clientY: box.top + 300, bubbles: true };
    stage.dispatchEvent(new PointerEvent("pointermove", at));
    const lens = home.querySelector(".tm-lens:not([hidden])") !== null;
    map.zoomTo({ x: 0.1, zoom: 1.2 });
    map.update({ terrain: { kind: "value", time: 2 } });
    await frame();
    const words = home.querySelector(".tm-sentence")!.textContent;
    const { tagName } = home.querySelector(".tm-dots")!;
    map.destroy();
    return { lens, words, tagName: tagName.toLowerCase(), left: home.childElementCount };
  }, m);
}

describe("the map", () => {
  it("draws 2,323 dots as SVG, follows the pointer, and leaves nothing when it is destroyed", async () => {
    const { page, record } = await openExample("light");
    expect(await mountMany(page, 2323)).toMatchObject({ tagName: "svg", lens: true, left: 0 });
    expect(record.problems([`${origin}/packages/`])).toEqual([]);
    await page.context().close();
  });

  it("draws 100,000 on a canvas, follows the pointer, and says what it shows", async () => {
    const { page, record } = await openExample("light");
    const { words, ...shown } = await mountMany(page, 100_000);
    expect(shown).toEqual({ tagName: "canvas", lens: true, left: 0 });
    expect(words).toContain("Showing 20,000 of 100,000 dots. All numbers use everyone.");
    expect(record.problems([`${origin}/packages/`])).toEqual([]);
    await page.context().close();
  });
});
