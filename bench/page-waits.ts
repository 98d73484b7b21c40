/** How long readers wait, measured in the page: tasks, clicks, courses under the pointer, frames of a window that moves. */
import type { Locator, Page } from "playwright-core";

/** Milliseconds of processor time of the longest task of the page's main thread, from a trace of the browser. */
export function longestTask(trace: Buffer): number {
  interface TraceEvent {
    readonly name: string;
    readonly pid: number;
    readonly tid: number;
    readonly ph: string;
    readonly tdur?: number;
    readonly args: { readonly name?: string };
  }
  const { traceEvents } = JSON.parse(trace.toString()) as { readonly traceEvents: readonly TraceEvent[] };
  const named = (words: RegExp) =>
    traceEvents.filter(({ name, args }) => name === "thread_name" && words.test(args.name ?? ""));
  const explorers = new Set(named(/DedicatedWorker/).map(({ pid }) => pid));
  const main = new Map(named(/^CrRendererMain$/).map(({ pid, tid }) => [pid, tid]));
  const tasks = traceEvents.filter(
    ({ name, ph, pid, tid }) => ph === "X" && /RunTask$/.test(name) && explorers.has(pid) && main.get(pid) === tid,
  );
  if (tasks.length < 100) throw new Error(`Expected the tasks of a page in the trace, received ${tasks.length}.`);
  return tasks.reduce((most, { tdur = 0 }) => Math.max(most, tdur / 1000), 0);
}

/** Clicks on the map one after the other: milliseconds to the facts of the individual, and whether groups were awaited. */
export async function openWaits(page: Page): Promise<{ readonly wait: number; readonly grouping: boolean }[]> {
  return page.evaluate(async () => {
    const stage = document.querySelector(".tm-stage")!;
    const panel = document.querySelector("aside")!;
    const { x, y, width, height } = stage.getBoundingClientRect();
    const isGrouping = () => document.querySelector(".rail li") === null;
    const waits: { wait: number; grouping: boolean }[] = [];
    for (let k = 0; k < 4; k++) {
      const begin = performance.now();
      await new Promise<void>((resolve, reject) => {
        setTimeout(() => reject(new Error("Nobody opened.")), 120_000);
        const seen = new MutationObserver(() => {
          if (panel.querySelector("#individual-title") === null || panel.querySelector("table") === null) return;
          seen.disconnect();
          resolve();
        });
        seen.observe(panel, { subtree: true, childList: true });
        const at = { clientX: x + width * (0.42 + 0.03 * k), clientY: y + height * (0.42 + 0.02 * k) };
        for (const type of ["pointerdown", "pointerup"]) {
          stage.dispatchEvent(new PointerEvent(type, { ...at, bubbles: true, pointerId: 1, button: 0 }));
        }
      });
      waits.push({ wait: performance.now() - begin, grouping: isGrouping() });
      panel.querySelector<HTMLButtonElement>("button[aria-label=Close]")?.click();
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return waits;
  });
}

/** Draws a map of simulated places as large as told; milliseconds until it is painted. */
export async function mountLarge(page: Page, model: unknown, m: number, renderer: string): Promise<number> {
  // Typed arrays as lists: what is handed to a page travels as text.
  const plain = JSON.stringify(model, (_, value) =>
    ArrayBuffer.isView(value) ? { floats: [...(value as Float64Array)] } : value,
  );
  return page.evaluate(
    async ([text, count, kind]) => {
      const page = window as unknown as { mountMap: (home: HTMLElement, options: object) => unknown; map: unknown };
      const revived = JSON.parse(text, (_, value) => (value?.floats ? Float64Array.from(value.floats) : value));
      let state = 7;
      const uniform = () => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return state / 2 ** 32;
      };
      const normal = () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
      const placements = {
        ids: Array.from({ length: count }, (_, i) => `P${i}`),
        mapDimension: 2,
        location: Float64Array.from({ length: 2 * count }, normal),
        covariance: new Float64Array(4 * count).fill(0.05),
        area50: Float64Array.from({ length: count }, () => 0.05 + 0.5 * uniform()),
        numObservations: Int32Array.from({ length: count }, () => 1 + Math.floor(9 * uniform())),
        lastTime: Float64Array.from({ length: count }, () => 10 * uniform()),
        logLikelihood: new Float64Array(count),
        outsideMass: new Float64Array(count),
      };
      const home = document.getElementById("map")!;
      home.replaceChildren();
      const begin = performance.now();
      page.map = page.mountMap(home, { model: revived, placements, renderer: kind });
      for (let k = 0; k < 2; k++) await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
      return performance.now() - begin;
    },
    [plain, m, renderer] as const,
  );
}

/** Milliseconds from a move of the pointer to the course of its place laid out, several times. */
export async function hoverWaits(page: Page): Promise<number[]> {
  return page.evaluate(async () => {
    const stage = document.querySelector(".tm-stage")!;
    const { x, y, width, height } = stage.getBoundingClientRect();
    const waits: number[] = [];
    const course = () => stage.querySelector(".tm-lens:not([hidden]) path[fill=none][stroke-width='1.8']");
    for (let k = 0; k < 41; k++) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
      const at = {
        clientX: x + width * (0.4 + (0.2 * k) / 41),
        clientY: y + height * (0.4 + (0.15 * ((7 * k) % 41)) / 41),
      };
      const before = course()?.getAttribute("d");
      const begin = performance.now();
      stage.dispatchEvent(new PointerEvent("pointermove", { ...at, bubbles: true, pointerId: 1 }));
      const line = course();
      line?.getBoundingClientRect();
      waits.push(performance.now() - begin);
      if (line === null || line.getAttribute("d") === before) throw new Error("Expected the course of another place.");
    }
    return waits;
  });
}

/** Milliseconds from a move of a held visit on the chart of the open individual to its next course, several times. */
export async function dragWaits(page: Page): Promise<number[]> {
  return page.evaluate(async () => {
    const handle = document.querySelector<HTMLElement>(".handle")!;
    const { x, y } = handle.getBoundingClientRect();
    const courses = () =>
      Array.from(document.querySelectorAll("path.course:not(.ghost)"), (path) => path.getAttribute("d")).join();
    handle.setPointerCapture = () => {};
    const send = (type: string, k: number) =>
      handle.dispatchEvent(
        new PointerEvent(type, { clientX: x + 13, clientY: y + 13 + k, bubbles: true, pointerId: 1, button: 0 }),
      );
    send("pointerdown", 0);
    const waits: number[] = [];
    for (let k = 1; k <= 30; k++) {
      await new Promise((resolve) => setTimeout(resolve, 60));
      const before = courses();
      const begin = performance.now();
      send("pointermove", k);
      while (courses() === before) {
        if (performance.now() - begin > 10_000) throw new Error("Expected another course.");
        await new Promise((resolve) => setTimeout(resolve, 0));
      }
      waits.push(performance.now() - begin);
    }
    send("pointerup", 30);
    // The first move makes the copy.
    return waits.slice(1);
  });
}

/** Milliseconds from a turn of the wheel to the frame after it, zooming in and out again. */
export async function zoomFrames(page: Page): Promise<number[]> {
  return page.evaluate(async () => {
    const stage = document.querySelector(".tm-stage")!;
    const { x, y, width, height } = stage.getBoundingClientRect();
    const waits: number[] = [];
    for (let k = 0; k < 12; k++) {
      const at = { clientX: x + width / 2, clientY: y + height / 2, deltaY: k < 6 ? -60 : 60 };
      const begin = performance.now();
      stage.dispatchEvent(new WheelEvent("wheel", { ...at, bubbles: true, cancelable: true }));
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
      waits.push(performance.now() - begin);
    }
    return waits;
  });
}

/** Milliseconds from asking for the terrain of another year to the frame that shows it, on a map of `mountLarge`. */
export async function yearFrames(page: Page): Promise<number[]> {
  return page.evaluate(async () => {
    const { map } = window as unknown as { map: { update: (options: object) => void } };
    const waits: number[] = [];
    for (let k = 0; k < 9; k++) {
      const begin = performance.now();
      map.update({ terrain: { kind: "value", time: k / 2 } });
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
      waits.push(performance.now() - begin);
    }
    return waits;
  });
}

/** Milliseconds from a click on the theme's button to the frame that shows it, several times. */
export async function clickAnswers(page: Page): Promise<number[]> {
  return page.evaluate(async () => {
    const button = document.querySelector<HTMLButtonElement>("button[aria-label^='Theme']")!;
    const waits: number[] = [];
    for (let k = 0; k < 9; k++) {
      await new Promise((resolve) => setTimeout(resolve, 60));
      const begin = performance.now();
      button.click();
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
      waits.push(performance.now() - begin);
    }
    return waits;
  });
}

/** Milliseconds from a click at a place of the page to the individual there, opened in the panel. */
export async function inspectorWait(page: Page, at: { readonly x: number; readonly y: number }): Promise<number> {
  return page.evaluate(
    ({ x, y }) =>
      new Promise<number>((resolve, reject) => {
        setTimeout(() => reject(new Error(`Nobody opened at ${x}, ${y}`)), 120_000);
        const begin = performance.now();
        const target = document.querySelector(".tm-stage")!;
        const panel = document.querySelector("aside")!;
        const seen = new MutationObserver(() => {
          if (panel.querySelector("#individual-title") === null) return;
          seen.disconnect();
          resolve(performance.now() - begin);
        });
        seen.observe(panel, { subtree: true, childList: true, characterData: true });
        for (const type of ["pointerdown", "pointerup"]) {
          const there = { clientX: x, clientY: y, bubbles: true, pointerId: 1, button: 0 };
          target.dispatchEvent(new PointerEvent(type, there));
        }
      }),
    at,
  );
}

/** The middle of a dot that no name of a group covers, in px: the first from `index` (counted from the end) backwards. */
export async function openDot(stage: Locator, index: number): Promise<{ x: number; y: number }> {
  return stage.evaluate((element, start) => {
    const middle = (rect: DOMRect) => ({ x: rect.x + rect.width / 2, y: rect.y + rect.height / 2 });
    const names = [...element.querySelectorAll(".tm-pill")].map((pill) => pill.getBoundingClientRect());
    const isCovered = ({ x, y }: { x: number; y: number }) =>
      names.some(({ left, right, top, bottom }) => x > left - 2 && x < right + 2 && y > top - 2 && y < bottom + 2);
    const dots = [...element.querySelectorAll(".tm-dots circle")].slice(0, start);
    const open = dots.map((dot) => middle(dot.getBoundingClientRect())).filter((at) => !isCovered(at));
    return open[open.length - 1];
  }, index);
}
