/** Looks at a view: pictures at each width in both themes, its texts, and what a script can object to. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { impossibilities, pageTexts } from "../../test/page-texts.ts";
import { cutTexts, textClashes } from "../../test/text-boxes.ts";

export interface Watch {
  /** Looks at the page as it stands. `whole` takes all of a view that scrolls. */
  look(page: Page, view: string, options?: { readonly whole?: boolean }): Promise<void>;
  complain(view: string, what: string): void;
  texts(): string;
  found(): readonly string[];
  numPictures(): number;
}

export interface WatchOptions {
  readonly folder: string;
  readonly widths: readonly number[];
  /** Beginnings of the views that are looked at; all if empty. */
  readonly only: readonly string[];
}

const HEIGHTS: Readonly<Record<number, number>> = { 1440: 900, 1280: 800, 390: 844 };

export function watcher({ folder, widths, only }: WatchOptions): Watch {
  const found = new Set<string>();
  const said: string[] = [];
  let pictures = 0;
  const complain = (view: string, what: string) => void found.add(`${view}: ${what}`);

  async function look(page: Page, view: string, { whole = false }: { readonly whole?: boolean } = {}): Promise<void> {
    if (only.length > 0 && !only.some((beginning) => view.startsWith(beginning))) return;
    for (const width of widths) {
      const window = HEIGHTS[width] ?? 800;
      await page.setViewportSize({ width, height: window });
      await settle(page);
      // Views that scroll within the page are looked at whole, in a window as high as they are: what is scrolled away is not seen.
      const high = whole ? Math.min(6000, await heightOf(page)) : window;
      if (high > window) {
        await page.setViewportSize({ width, height: high });
        await settle(page);
      }
      const scroll = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      if (scroll > 0) complain(view, `${width} px wide: scrolls sideways by ${scroll} px`);
      for (const clash of await textClashes(page)) complain(view, `${width} px wide: ${clash} lie on each other`);
      if (await isTrustCut(page)) complain(view, `${width} px wide: the light of trust is cut off`);
      for (const cut of await cutTexts(page)) complain(view, `${width} px wide: cut off ${cut}`);
      if (width === widths[0]) {
        const texts = await pageTexts(page);
        said.push(`== ${view}`, ...texts, "");
        for (const text of texts) for (const what of impossibilities(text)) complain(view, what);
      }
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        await settle(page);
        writeFileSync(join(folder, `${view}-${width}-${colorScheme}.png`), await page.screenshot());
        pictures++;
      }
      await page.emulateMedia({ colorScheme: "light", reducedMotion: "reduce" });
    }
    await page.setViewportSize({ width: widths[0], height: HEIGHTS[widths[0]] ?? 800 });
    await settle(page);
  }

  return {
    look,
    complain,
    texts: () => `${said.join("\n")}\n`,
    found: () => [...found],
    numPictures: () => pictures,
  };
}

/** Whether the words of the light are cut: they have a title, but what a map is worth is read at a glance. */
function isTrustCut(page: Page): Promise<boolean> {
  return page.evaluate(() =>
    Array.from(document.querySelectorAll("#trust, #trust .words")).some(
      (part) => part.clientWidth > 0 && part.scrollWidth > part.clientWidth + 1,
    ),
  );
}

/** Two frames and what they set off. */
async function settle(page: Page): Promise<void> {
  await page.evaluate(
    () =>
      new Promise<void>((resolve) =>
        requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(resolve, 250))),
      ),
  );
}

/** How high the window must be to show all of the tallest part that scrolls. */
function heightOf(page: Page): Promise<number> {
  return page.evaluate(() => {
    const parts = [document.documentElement, ...Array.from(document.querySelectorAll<HTMLElement>("main, main *"))];
    const over = parts.map((part) => {
      const { overflowY } = getComputedStyle(part);
      return ["auto", "scroll"].includes(overflowY) || part === document.documentElement
        ? part.scrollHeight - part.clientHeight
        : 0;
    });
    return window.innerHeight + Math.max(0, ...over);
  });
}
