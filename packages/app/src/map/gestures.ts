/**
 * The pointer on the stage (design §3.4): hover reads, click opens, double click pins, drag moves, wheel and pinch zoom,
 * and with a lasso or box in hand a drag selects. What each means is decided by `StageActions`.
 */
import type { MapTool, MapWindow, SelectMode } from "./types.ts";
import { panBy, type Viewport, zoomAt } from "./viewport.ts";

/** A shape drawn by hand, corners in px. */
export interface Shape {
  readonly kind: "lasso" | "box";
  readonly corners: readonly (readonly [number, number])[];
}

/** What the pointer can ask of the map; points are in px of the stage. */
export interface StageActions {
  viewport(): Viewport;
  tool(): MapTool;
  hover(px: number, py: number): void;
  leave(): void;
  /** Whether a click here would mean nothing but the map itself. */
  isEmpty(px: number, py: number): boolean;
  click(px: number, py: number): void;
  doubleClick(px: number, py: number): void;
  moveWindow(window: MapWindow): void;
  /** Whether the handle of the path between two pins is here. */
  isHandle(px: number, py: number): boolean;
  dragHandle(px: number, py: number): void;
  showShape(shape: Shape | null): void;
  choose(shape: Shape, mode: SelectMode): void;
}

/** px a pointer may tremble and still click. */
const TREMBLE = 4;
/** ms in which a second click makes a double click. */
const DOUBLE = 300;
/** Least px between corners of a lasso. */
const LASSO_STEP = 3;

type Drag =
  | { readonly kind: "press" | "move" | "handle"; readonly x: number; readonly y: number; lastX: number; lastY: number }
  | { readonly kind: "lasso" | "box"; readonly corners: [number, number][] };

/** Add and remove by the keys held. */
export function modeOf(event: { readonly shiftKey: boolean; readonly altKey: boolean }): SelectMode {
  return event.altKey ? "remove" : event.shiftKey ? "add" : "replace";
}

/** Listens on the stage; returns how to stop. */
export function listenToPointer(stage: HTMLElement, actions: StageActions): () => void {
  const pointers = new Map<number, readonly [number, number]>();
  let drag: Drag | null = null;
  let lastClick = { time: -Infinity, x: 0, y: 0 };
  let clickTimer: ReturnType<typeof setTimeout> | null = null;
  const at = (event: MouseEvent): readonly [number, number] => {
    const box = stage.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const shapeOf = (d: Extract<Drag, { corners: [number, number][] }>): Shape => {
    if (d.kind === "lasso") return { kind: "lasso", corners: d.corners };
    const [[x0, y0], [x1, y1]] = [d.corners[0], d.corners[d.corners.length - 1]];
    return {
      kind: "box",
      corners: [
        [x0, y0],
        [x1, y0],
        [x1, y1],
        [x0, y1],
      ],
    };
  };
  const forgetClick = () => {
    if (clickTimer !== null) clearTimeout(clickTimer);
    clickTimer = null;
  };

  const down = (event: PointerEvent) => {
    if (event.button !== 0) return;
    const [x, y] = at(event);
    pointers.set(event.pointerId, [x, y]);
    stage.setPointerCapture(event.pointerId);
    if (pointers.size === 2) {
      drag = null;
      actions.showShape(null);
      return;
    }
    const tool = actions.tool();
    if (actions.isHandle(x, y)) drag = { kind: "handle", x, y, lastX: x, lastY: y };
    else if (tool === "point") drag = { kind: "press", x, y, lastX: x, lastY: y };
    else drag = { kind: tool, corners: [[x, y]] };
  };

  const move = (event: PointerEvent) => {
    const [x, y] = at(event);
    if (pointers.size === 2 && pointers.has(event.pointerId)) {
      pinch(event.pointerId, x, y);
      return;
    }
    if (drag === null) {
      actions.hover(x, y);
      return;
    }
    if (drag.kind === "lasso" || drag.kind === "box") {
      const [lx, ly] = drag.corners[drag.corners.length - 1];
      if (drag.kind === "box" && drag.corners.length > 1) drag.corners.pop();
      if (drag.kind === "box" || Math.hypot(x - lx, y - ly) >= LASSO_STEP) drag.corners.push([x, y]);
      actions.showShape(shapeOf(drag));
      return;
    }
    if (drag.kind === "handle") {
      actions.dragHandle(x, y);
      return;
    }
    if (drag.kind === "press" && Math.hypot(x - drag.x, y - drag.y) > TREMBLE) {
      drag = { ...drag, kind: "move" };
      stage.setAttribute("data-moving", "");
      actions.leave();
    }
    if (drag.kind === "move") {
      actions.moveWindow(panBy(actions.viewport(), x - drag.lastX, y - drag.lastY));
      drag.lastX = x;
      drag.lastY = y;
    }
  };

  const pinch = (id: number, x: number, y: number) => {
    const other = [...pointers].find(([key]) => key !== id)?.[1];
    const before = pointers.get(id);
    if (other === undefined || before === undefined) return;
    const factor =
      Math.hypot(x - other[0], y - other[1]) / Math.max(1, Math.hypot(before[0] - other[0], before[1] - other[1]));
    actions.moveWindow(zoomAt(actions.viewport(), factor, (x + other[0]) / 2, (y + other[1]) / 2));
    pointers.set(id, [x, y]);
  };

  const up = (event: PointerEvent) => {
    const wasPinch = pointers.size === 2;
    pointers.delete(event.pointerId);
    const [x, y] = at(event);
    const ended = drag;
    drag = null;
    stage.removeAttribute("data-moving");
    if (wasPinch || ended === null || event.type === "pointercancel") {
      actions.showShape(null);
      return;
    }
    if (ended.kind === "press") {
      const now = event.timeStamp;
      const again = now - lastClick.time < DOUBLE && Math.hypot(x - lastClick.x, y - lastClick.y) <= TREMBLE;
      lastClick = { time: again ? -Infinity : now, x, y };
      forgetClick();
      if (again) actions.doubleClick(x, y);
      else if (!actions.isEmpty(x, y)) actions.click(x, y);
      else {
        // A first click on nothing waits: it may be half of a double click, which must not clear what it adds to.
        clickTimer = setTimeout(() => {
          clickTimer = null;
          actions.click(x, y);
        }, DOUBLE);
      }
    } else if (ended.kind === "lasso" || ended.kind === "box") {
      actions.showShape(null);
      const shape = shapeOf(ended);
      const [[x0, y0]] = ended.corners;
      const far = ended.corners.some(([cx, cy]) => Math.hypot(cx - x0, cy - y0) > TREMBLE);
      if (far && shape.corners.length > 2) actions.choose(shape, modeOf(event));
      else actions.click(x, y);
    }
  };

  const wheel = (event: WheelEvent) => {
    event.preventDefault();
    const [x, y] = at(event);
    const lines = event.deltaMode === 1 ? 16 : 1;
    actions.moveWindow(zoomAt(actions.viewport(), Math.exp(-0.0018 * lines * event.deltaY), x, y));
    actions.hover(x, y);
  };
  const leave = () => {
    if (drag === null) actions.leave();
  };
  const listeners: readonly (readonly [string, (event: never) => void, AddEventListenerOptions?])[] = [
    ["pointerdown", down],
    ["pointermove", move],
    ["pointerup", up],
    ["pointercancel", up],
    ["pointerleave", leave],
    ["wheel", wheel, { passive: false }],
  ];
  for (const [name, listener, options] of listeners) stage.addEventListener(name, listener as EventListener, options);
  return () => {
    forgetClick();
    for (const [name, listener] of listeners) stage.removeEventListener(name, listener as EventListener);
  };
}
