/**
 * The map as a component without a framework: `mountMap(element, options)` draws it, `update` changes what is given,
 * `destroy` takes it away. The host keeps what it wants to keep (selection, open individual) and hears of every wish
 * through callbacks; without a callback the map grants the wish itself. The map never moves except by its reader.
 */
import { whole } from "@trajectory-maps/report";
import { pillAt } from "./draw-groups.ts";
import { placeOnPath, shareOnPath } from "./draw-lens.ts";
import { listenToPointer, type Shape, type StageActions } from "./gestures.ts";
import { type Direction, type KeyActions, pressKey } from "./keyboard.ts";
import { readingSentence, whoWords } from "./lens.ts";
import { ownCourses } from "./own-courses.ts";
import { type Change, makePainter, type Shown, sentencesOf } from "./painter.ts";
import { livePen } from "./pen.ts";
import type { Dots } from "./renderers/dot-renderer.ts";
import { QUARTER, readingAt, type Scene, sceneOf } from "./scene.ts";
import { combine, fadedBy } from "./selection.ts";
import { nearestInDirection } from "./spatial-index.ts";
import { makeRenderer, makeStage, showAxesButtons, showCaveat, stageName } from "./stage.ts";
import { adoptStyle } from "./style.ts";
import { mapToSvg } from "./to-svg.ts";
import type { LensReading, MapHandle, MapOptions, MapPlace, MapWindow, SelectMode } from "./types.ts";
import {
  clampWindow,
  fromPx,
  fromPy,
  homeWindow,
  LARGEST_ZOOM,
  MAP_UNIT,
  MARGIN,
  sameWindow,
  toPx,
  toPy,
  viewportOf,
  zoomAt,
} from "./viewport.ts";

/** px around a dot in which the pointer means it. */
const NEAR_DOT = 6;
const NEAR_HANDLE = 12;
const ZOOM_STEP = 1.5;
const PATH_STEP = 0.05;
/** Which work a changed option asks for. */
const WORK: Readonly<Partial<Record<keyof MapOptions, readonly Change[]>>> = {
  model: ["terrain", "dots", "size", "groups", "individual", "words"],
  placements: ["terrain", "dots", "size", "groups", "individual", "words"],
  coast: ["terrain", "groups"],
  land: ["terrain", "dots", "size", "groups"],
  axes: ["terrain", "dots", "size", "groups", "individual", "words"],
  colour: ["dots", "terrain", "groups", "words"],
  terrain: ["terrain"],
  groups: ["groups", "words"],
  selection: ["dots"],
  outline: ["overlay"],
  arrows: ["overlay"],
  individual: ["individual"],
  pins: ["lens"],
  theme: ["dots"],
  renderer: ["dots"],
  caveat: ["dots"],
  legend: ["words", "size"],
  sentence: ["words"],
  view: ["window"],
};
/** Work of a frame that shows new dots, before the rest. */
const DOTS_ALONE: ReadonlySet<Change> = new Set(["dots", "window"]);
/** Individuals above which new dots and the rest are painted in a frame each: together they would stop the page. */
const PAINTED_AT_ONCE = 5000;
let numMounted = 0;

/** Draws a map into an element, which gives it its size. */
export function mountMap(element: HTMLElement, initial: MapOptions): MapHandle {
  const { ownerDocument: document } = element;
  const pen = livePen(document, `tm${++numMounted}`);
  const stage = makeStage(pen);
  const page = document.defaultView ?? window;
  let options = initial;
  adoptStyle(element);
  stage.root.dataset.theme = options.theme ?? "system";
  element.append(stage.root);

  const numberOf = (o: MapOptions) => o.placements.ids.length;
  let made = makeRenderer(pen, stage.root, options.renderer ?? "auto", numberOf(options));
  stage.front.before(made.renderer.element);
  let scene: Scene = sceneOf(options, made.most);
  showCaveat(stage, scene.caveat);
  let view: MapWindow = clampWindow(options.view ?? homeWindow(scene.box), scene.box);
  let size = { width: 0, height: 0 };
  const viewport = () => viewportOf(size.width, size.height, scene.box, view);
  const painter = makePainter(pen, stage, () => made.renderer);

  let reading: LensReading | null = null;
  let byKeys = false;
  let current = -1;
  let share = 0.5;
  let shape: Shape | null = null;
  const pins = () => (options.pins ?? []).slice(0, 2);
  const shown = (): Shown => ({ reading, pins: pins(), share, current, shape });
  const dotsOf = (): Dots => ({
    places: scene.places,
    style: scene.style,
    colours: scene.colours,
    faded: fadedBy(options.selection, numberOf(options)),
  });
  let dots = dotsOf();

  // Work is gathered here and done at the next frame.
  let waiting = new Set<Change>();
  let request = 0;
  let begun = false;
  const flush = () => {
    request = 0;
    if (size.width === 0 || size.height === 0) return;
    const many = numberOf(options) > PAINTED_AT_ONCE;
    if (!begun || (many && waiting.has("dots"))) {
      // Dots come first: the surface beneath them takes its time, and is there a frame later.
      begun = true;
      painter.paint(DOTS_ALONE, scene, viewport(), dots, shown());
      // Few are drawn again with the rest: the legend may have changed the size of the stage by then.
      if (many) waiting.delete("dots");
      if (waiting.size > 0) request = page.requestAnimationFrame(flush);
      return;
    }
    const changes = waiting;
    waiting = new Set();
    painter.paint(changes, scene, viewport(), dots, shown());
  };
  const ask = (...changes: readonly Change[]) => {
    for (const change of changes) waiting.add(change);
    if (request === 0) request = page.requestAnimationFrame(flush);
  };

  const setWindow = (next: MapWindow) => {
    const clamped = clampWindow(next, scene.box);
    if (sameWindow(clamped, view)) return;
    view = clamped;
    showZoom();
    ask("window");
    options.onView?.(view);
  };
  const own = ownCourses(
    () => options.courseOf,
    (i) => {
      if (reading?.individual === i) showReading(reading, byKeys);
    },
  );
  const showReading = (given: LensReading | null, keys: boolean) => {
    const next = own.read(given);
    reading = next;
    byKeys = keys;
    if (size.width > 0) painter.paintLens(scene, viewport(), shown());
    options.onHover?.(next);
  };
  const placeAt = (px: number, py: number): MapPlace => ({ x: fromPx(viewport(), px), y: fromPy(viewport(), py) });
  const dotAt = (px: number, py: number): number => {
    const { x, y } = placeAt(px, py);
    return scene.index.nearest(x, y, NEAR_DOT / viewport().unit);
  };
  const read = ({ x, y }: MapPlace, individual: number | null = null) =>
    readingAt(scene, x, scene.plane.mapDimension === 1 ? 0 : y, individual);

  const setPins = (next: readonly MapPlace[]) => {
    options = { ...options, pins: next };
    ask("lens");
    options.onPin?.(next);
  };
  const pinAt = (place: MapPlace) => {
    if (!read(place).onLand) return;
    // A third pin takes the place of the second.
    setPins([...pins().slice(0, 1), place]);
    stage.speaker.say(`Pinned. ${readingSentence(scene, read(place))}`);
  };
  const followPath = (next: number) => {
    if (pins().length < 2) return;
    share = Math.min(1, Math.max(0, next));
    const there = read(placeOnPath(pins(), share));
    showReading(there, true);
    stage.speaker.say(readingSentence(scene, there));
    options.onPath?.(share, there);
  };
  const open = (i: number) => {
    current = i;
    ask("overlay");
    if (options.onOpen !== undefined) options.onOpen(i);
    else {
      const q = options.model.mapDimension;
      const location = options.placements.location.slice(i * q, (i + 1) * q);
      handle.update({ individual: { index: i, location, label: options.placements.ids[i] } });
    }
  };
  const choose = (found: Int32Array, mode: SelectMode, how: string) => {
    stage.speaker.say(`${whole(found.length)} individuals: ${how}.`);
    if (options.onSelect !== undefined) options.onSelect(found, mode, how);
    else handle.update({ selection: combine(options.selection, found, mode) });
  };
  const clear = () => {
    const what =
      pins().length > 0 ? "pins" : options.individual ? "individual" : options.selection ? "selection" : "nothing";
    if (what === "pins") setPins([]);
    if (options.onClear === undefined && what === "individual") handle.update({ individual: null });
    if (options.onClear === undefined && what === "selection") handle.update({ selection: null });
    options.onClear?.(what);
  };

  const pointerActions: StageActions = {
    viewport,
    tool: () => options.tool ?? "point",
    hover(px, py) {
      const i = dotAt(px, py);
      showReading(read(placeAt(px, py), i < 0 ? null : i), false);
    },
    leave() {
      if (!byKeys) showReading(null, false);
    },
    isEmpty: (px, py) => dotAt(px, py) < 0 && pillAt(painter.pills, viewport(), px, py) === null,
    click(px, py) {
      const pill = pillAt(painter.pills, viewport(), px, py);
      const i = dotAt(px, py);
      if (pill !== null) options.onGroup?.(pill.rank);
      else if (i >= 0) open(i);
      else clear();
    },
    doubleClick: (px, py) => pinAt(placeAt(px, py)),
    moveWindow: setWindow,
    isHandle(px, py) {
      if (pins().length < 2) return false;
      const at = placeOnPath(pins(), share);
      return Math.hypot(toPx(viewport(), at.x) - px, toPy(viewport(), at.y) - py) <= NEAR_HANDLE;
    },
    dragHandle: (px, py) => followPath(shareOnPath(pins(), placeAt(px, py))),
    showShape(next) {
      shape = next;
      if (next !== null && reading !== null) showReading(null, false);
      ask("overlay");
    },
    choose({ kind, corners }, mode) {
      const ring = [...corners, corners[0]].map(([px, py]) => {
        const { x, y } = placeAt(px, py);
        return [x, y] as const;
      });
      const [[x0, y0], , [x1, y1]] = ring;
      const found =
        kind === "lasso"
          ? scene.index.inRing(ring)
          : scene.index.inBox(Math.min(x0, x1), Math.max(x0, x1), Math.min(y0, y1), Math.max(y0, y1));
      choose(found, mode, kind === "lasso" ? "inside a lasso on the map" : "inside a box on the map");
    },
  };

  /** Where the keyboard is: the lens, else the individual it was at, else the open one, else the middle. */
  const here = (): MapPlace => {
    if (reading !== null && byKeys) return reading;
    const i = current >= 0 ? current : (options.individual?.index ?? -1);
    if (i >= 0) return { x: scene.places[2 * i], y: scene.places[2 * i + 1] };
    return { x: view.x, y: view.y };
  };
  /** Moves the window just enough to show a place. */
  const reveal = ({ x, y }: MapPlace) => {
    const v = viewport();
    const [px, py] = [toPx(v, x), toPy(v, y)];
    const dx = Math.min(0, px - MARGIN.left - 20) + Math.max(0, px - v.width + MARGIN.right + 20);
    const dy = Math.min(0, py - 20) + Math.max(0, py - v.height + MARGIN.bottom);
    if (dx !== 0 || dy !== 0) setWindow({ ...view, x: view.x + dx / v.unit, y: view.y - dy / v.unit });
  };
  const describe = (i: number) =>
    options.describe?.(i) ?? `${whoWords(scene, i)}. ${readingSentence(scene, read(here()))}`;
  const steps: Readonly<Record<Direction, readonly [number, number]>> = {
    left: [-QUARTER, 0],
    right: [QUARTER, 0],
    up: [0, QUARTER],
    down: [0, -QUARTER],
  };
  const keyActions: KeyActions = {
    goTo(direction) {
      const from = here();
      const next = nearestInDirection(scene.places, from.x, from.y, direction, current);
      if (next < 0) {
        stage.speaker.say("Nobody further in this direction.");
        return;
      }
      current = next;
      const place = { x: scene.places[2 * next], y: scene.places[2 * next + 1] };
      reveal(place);
      showReading({ ...read(place, next), x: place.x, y: place.y }, true);
      ask("overlay");
      stage.speaker.say(describe(next));
    },
    moveLens(direction) {
      const from = here();
      const [dx, dy] = steps[direction];
      const { x0, x1, y0, y1 } = scene.box;
      const place = { x: Math.min(x1, Math.max(x0, from.x + dx)), y: Math.min(y1, Math.max(y0, from.y + dy)) };
      reveal(place);
      const next = read(place);
      showReading(next, true);
      stage.speaker.say(readingSentence(scene, next));
    },
    open() {
      if (current >= 0) open(current);
    },
    showGroup() {
      const label = options.groups?.labels[current] ?? -1;
      if (label >= 0) options.onGroup?.(label);
    },
    selectAround(mode) {
      const { x, y } = here();
      const near = reading?.individual ?? null;
      const who = near === null ? "a place" : options.placements.ids[near];
      choose(scene.index.within(x, y, QUARTER), mode, `within ¼ ${MAP_UNIT} of ${who}`);
    },
    pin: () => pinAt(here()),
    movePath: (n) => followPath(share + n * PATH_STEP),
    clear() {
      if (reading !== null && byKeys) {
        current = -1;
        ask("overlay");
        showReading(null, false);
      } else clear();
    },
    zoom(factor) {
      const v = viewport();
      const middle = reading ?? { x: view.x, y: view.y };
      setWindow(zoomAt(v, factor, toPx(v, middle.x), toPy(v, middle.y)));
    },
    home: () => setWindow(homeWindow(scene.box)),
    setTool(tool) {
      handle.update({ tool });
      options.onTool?.(tool);
    },
  };
  const onKey = (event: KeyboardEvent) => {
    if (!pressKey(event, keyActions)) return;
    event.preventDefault();
    event.stopPropagation();
  };

  const showZoom = () => {
    const { nearer, farther, home } = stage.zoom;
    const isHome = view.zoom <= 1;
    farther.disabled = isHome;
    home.disabled = isHome && sameWindow(view, homeWindow(scene.box));
    nearer.disabled = view.zoom >= LARGEST_ZOOM;
  };
  stage.zoom.nearer.addEventListener("click", () => keyActions.zoom(ZOOM_STEP));
  stage.zoom.farther.addEventListener("click", () => keyActions.zoom(1 / ZOOM_STEP));
  stage.zoom.home.addEventListener("click", () => keyActions.home());
  const showAxes = () => {
    stage.axes.hidden = options.model.mapDimension !== 3;
    if (stage.axes.hidden) return;
    showAxesButtons(stage.axes, scene.plane.axes, (axes) => {
      handle.update({ axes });
      options.onAxes?.(axes);
    });
  };
  const name = () => {
    stage.stage.setAttribute("aria-label", options.label ?? stageName(whole(numberOf(options))));
    stage.stage.dataset.tool = options.tool ?? "point";
    const still = options.reducedMotion ?? page.matchMedia("(prefers-reduced-motion: reduce)").matches;
    stage.root.dataset.motion = still ? "reduced" : "full";
  };

  const handle: MapHandle = {
    element: stage.root,
    update(partial) {
      const changed = (Object.keys(partial) as (keyof MapOptions)[]).filter((key) => partial[key] !== options[key]);
      if (changed.length === 0) return;
      const before = scene;
      options = { ...options, ...partial };
      stage.root.dataset.theme = options.theme ?? "system";
      const newDots = changed.includes("renderer") || numberOf(before.options) !== numberOf(options);
      if (newDots) {
        made.renderer.destroy();
        made = makeRenderer(pen, stage.root, options.renderer ?? "auto", numberOf(options));
        stage.front.before(made.renderer.element);
      }
      scene = sceneOf(options, made.most, before);
      if (changed.includes("placements")) current = -1;
      if (changed.includes("placements") || changed.includes("model")) own.forget();
      if (scene.box !== before.box) view = clampWindow(options.view ?? homeWindow(scene.box), scene.box);
      if (changed.includes("view") && options.view !== undefined) view = clampWindow(options.view, scene.box);
      showCaveat(stage, scene.caveat);
      dots = dotsOf();
      showZoom();
      name();
      if (scene.plane !== before.plane) showAxes();
      if (newDots) ask("dots", "words");
      // Terrain turns grey when dots take hue.
      ask(...changed.flatMap((key) => WORK[key] ?? []));
    },
    destroy() {
      page.cancelAnimationFrame(request);
      own.forget();
      observer.disconnect();
      stopPointer();
      painter.destroy();
      stage.stage.removeEventListener("keydown", onKey);
      dark.removeEventListener("change", onScheme);
      stage.speaker.destroy();
      made.renderer.destroy();
      stage.root.remove();
    },
    toSvg: (svg = {}) => mapToSvg(document, scene, dots, view, svg, sentencesOf(scene)),
    courseAt: (x, y) => read({ x, y }),
    zoomTo: (next) => setWindow({ ...view, ...next }),
    focus: () => stage.stage.focus(),
    within: (x, y, r) => scene.index.within(x, y, r),
  };

  const stopPointer = listenToPointer(stage.stage, pointerActions);
  stage.stage.addEventListener("keydown", onKey);
  const dark = page.matchMedia("(prefers-color-scheme: dark)");
  const onScheme = () => ask("dots");
  dark.addEventListener("change", onScheme);
  const measure = () => {
    const { clientWidth: width, clientHeight: height } = stage.stage;
    if (width === size.width && height === size.height) return;
    size = { width, height };
    ask("size");
  };
  const observer = new ResizeObserver(measure);
  observer.observe(stage.stage);
  name();
  showAxes();
  showZoom();
  ask("terrain", "dots", "size", "groups", "individual", "words");
  measure();
  return handle;
}
