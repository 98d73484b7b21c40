/** The map as the Python package shows it: its module in a page, with traits as anywidget hands them over. The real JupyterLab is npm run test:jupyter. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { embed, fitDtm, saveModel, simulateCohort } from "@trajectory-maps/core";
import { beforeAll, expect, it } from "vitest";
import { browserOfFile } from "./browser-of-file.ts";
import { numSelected } from "./map-dots.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SCRIPT = join(ROOT, "python", "trajectory-maps", "src", "trajectory_maps", "static", "trajectory-map.mjs");
const chromium = browserOfFile();

beforeAll(() => {
  execFileSync(process.execPath, [join(ROOT, "scripts", "build-python.mjs")]);
});

it("draws everybody, tells traits whom the reader opened, follows them, and leaves nothing", async () => {
  const { cohort } = simulateCohort("pfvc", { numIndividuals: 40, seed: 3 });
  const model = fitDtm(cohort, { restarts: 0, seed: 1 });
  const { ids, location, covariance, numObservations, firstTime, lastTime } = embed(model, cohort);
  const places = {
    ids,
    location: [...location],
    covariance: [...covariance],
    visits: [...numObservations],
    firstTime: [...firstTime],
    lastTime: [...lastTime],
    area50: ids.map(() => null),
  };
  const { page, record } = await chromium.openPage({ viewport: { width: 760, height: 640 } });
  await page.goto("about:blank");
  // The test runner would take an import for its own.
  await page.addScriptTag({ content: "window.load = (url) => import(url)" });
  await page.evaluate(
    async ([text, data]) => {
      document.body.dataset.jpThemeLight = "false";
      const values: Record<string, unknown> = { _data: data, _height: 500, selection: [], opened: "nobody" };
      const handlers = new Map<string, () => void>();
      const traits = {
        get: (name: string) => values[name],
        set(name: string, value: unknown) {
          values[name] = value;
          handlers.get(`change:${name}`)?.();
        },
        save_changes() {},
        on: (event: string, handler: () => void) => handlers.set(event, handler),
        off: (event: string) => handlers.delete(event),
      };
      const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
      const { default: widget } = await (window as unknown as Page).load(url);
      const el = document.createElement("div");
      document.body.append(el);
      const clear = widget.render({ model: traits, el });
      Object.assign(window, { traits, values, handlers, clear });
    },
    [readFileSync(SCRIPT, "utf8"), { model: saveModel(model), places }] as const,
  );
  const dots = page.locator(".tm-dots circle");
  await expect.poll(() => dots.count()).toBe(40);
  expect(await page.locator(".trajectory-map").getAttribute("data-theme")).toBe("dark");

  const opened = () => page.evaluate("values.opened") as Promise<unknown>;
  const box = (await dots.nth(20).boundingBox())!;
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  await expect.poll(async () => ids.includes(String(await opened()))).toBe(true);

  await page.evaluate(([chosen]) => (window as unknown as Page).traits.set("selection", chosen), [ids.slice(0, 7)]);
  await expect.poll(() => numSelected(dots)).toBe(7);
  await page.locator(".tm-stage").focus();
  // First the individual is closed, then the selection cleared.
  await page.keyboard.press("Escape");
  await expect.poll(opened).toBe(null);
  await page.keyboard.press("Escape");
  await expect.poll(() => page.evaluate("values.selection.length")).toBe(0);
  await expect.poll(() => numSelected(dots)).toBe(40);

  await page.evaluate("clear()");
  expect(await page.locator(".trajectory-map").count()).toBe(0);
  expect(await page.evaluate("handlers.size")).toBe(0);
  expect(record.problems()).toEqual([]);
});

interface Page {
  load(url: string): Promise<{ default: { render(given: { model: unknown; el: HTMLElement }): () => void } }>;
  readonly traits: { set(name: string, value: unknown): void };
}
