/**
 * The keyboard on the stage (design §6): arrows go from individual to individual, Shift and arrows move the lens by a
 * quarter of a prior sd, everything a pointer can do has a key.
 */
import { modeOf } from "./gestures.ts";
import type { MapTool, SelectMode } from "./types.ts";

export type Direction = "left" | "right" | "up" | "down";

/** What the keyboard can ask of the map. */
export interface KeyActions {
  goTo(direction: Direction): void;
  moveLens(direction: Direction): void;
  open(): void;
  showGroup(): void;
  selectAround(mode: SelectMode): void;
  pin(): void;
  movePath(steps: number): void;
  clear(): void;
  zoom(factor: number): void;
  home(): void;
  setTool(tool: MapTool): void;
}

const ARROWS: Readonly<Record<string, Direction>> = {
  ArrowLeft: "left",
  ArrowRight: "right",
  ArrowUp: "up",
  ArrowDown: "down",
};
const TOOLS: Readonly<Record<string, MapTool>> = { v: "point", l: "lasso", b: "box" };

/** Words for the name of the stage. */
export const KEY_HELP =
  "Arrow keys go to the nearest individual in that direction, Shift and arrows move the lens, Enter opens, G shows the group, R selects around, P pins, plus and minus zoom, Escape clears.";

/** Does what a key asks for; whether the key was one of ours. */
export function pressKey(event: KeyboardEvent, actions: KeyActions): boolean {
  if (event.ctrlKey || event.metaKey) return false;
  const direction = ARROWS[event.key];
  if (direction !== undefined) {
    if (event.shiftKey) actions.moveLens(direction);
    else actions.goTo(direction);
    return true;
  }
  const key = event.key.toLowerCase();
  if (key === "r") {
    actions.selectAround(modeOf(event));
    return true;
  }
  if (event.altKey) return false;
  const tool = TOOLS[key];
  if (tool !== undefined) {
    actions.setTool(tool);
    return true;
  }
  const simple: Readonly<Record<string, () => void>> = {
    enter: actions.open,
    g: actions.showGroup,
    p: actions.pin,
    pageup: () => actions.movePath(1),
    pagedown: () => actions.movePath(-1),
    escape: actions.clear,
    "+": () => actions.zoom(1.4),
    "=": () => actions.zoom(1.4),
    "-": () => actions.zoom(1 / 1.4),
    "\u2212": () => actions.zoom(1 / 1.4),
    "0": actions.home,
  };
  const action = simple[key];
  action?.();
  return action !== undefined;
}
