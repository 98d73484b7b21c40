/** Shortcuts of the whole page. Keys typed into fields, or with a dialog open, are left alone; the map has its own. */
import { explorer } from "../state/explorer.svelte.ts";
import { STEPS } from "../state/view.ts";

/** What `?` lists. */
export const SHORTCUTS: readonly (readonly [string, string])[] = [
  ["1 – 6", "Data, Fit, Map, Outcomes, Models, Report"],
  ["V  L  B", "point, lasso, box"],
  ["T", "table in the place of the map"],
  ["/", "find an individual"],
  ["[  ]", "previous and next individual of the selection"],
  [",  .", "terrain half a year earlier, later"],
  ["Arrows", "on the map: nearest individual in that direction"],
  ["Shift + arrows", "on the map: move the lens"],
  ["Enter", "on the map: open the individual"],
  ["G  R", "on the map: its group; everyone near it"],
  ["+  −  0", "on the map: zoom in, out, reset"],
  ["Esc", "clear, one thing at a time"],
  ["Ctrl Z, Ctrl Shift Z", "undo, redo"],
  ["D", "light, dark, as the system"],
  ["?", "this list"],
];

const THEMES = { system: "light", light: "dark", dark: "system" } as const;

/** Answers a key pressed anywhere. */
export function handleKey(event: KeyboardEvent, openList: () => void): void {
  if (event.defaultPrevented || typing(event.target) || document.querySelector("dialog[open]") !== null) return;
  const command = event.ctrlKey || event.metaKey;
  if (command && event.key.toLowerCase() === "z") {
    event.preventDefault();
    if (event.shiftKey) explorer.redo();
    else explorer.undo();
    return;
  }
  if (!explorer.shortcuts || command || event.altKey) return;
  const act = action(event.key, openList);
  if (act === undefined) return;
  event.preventDefault();
  act();
}

function action(key: string, openList: () => void): (() => void) | undefined {
  const step = STEPS[Number(key) - 1];
  if (step !== undefined) return () => explorer.go(step);
  switch (key) {
    case "?":
      return openList;
    case "d":
    case "D":
      return () => {
        explorer.theme = THEMES[explorer.theme];
      };
  }
  if (explorer.view.step !== "map") return undefined;
  switch (key.toLowerCase()) {
    case "v":
      return () => explorer.show({ tool: "point" });
    case "l":
      return () => explorer.show({ tool: "lasso" });
    case "b":
      return () => explorer.show({ tool: "box" });
    case "t":
      return () => explorer.show({ table: !explorer.view.table });
    case "/":
      return () => document.getElementById("find-individual")?.focus();
    case "[":
      return () => explorer.stepIndividual(-1);
    case "]":
      return () => explorer.stepIndividual(1);
    case ",":
      return () => explorer.stepTerrain(-0.5);
    case ".":
      return () => explorer.stepTerrain(0.5);
    case "escape":
      return () => explorer.clearOne();
  }
  return undefined;
}

function typing(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    target.closest("input:not([type=checkbox],[type=radio],[type=range]), textarea, select") !== null
  );
}
