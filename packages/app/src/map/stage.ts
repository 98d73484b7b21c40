/** The elements of a map, from back to front, and the renderer of its dots. */
import { make } from "@trajectory-maps/report";
import { KEY_HELP } from "./keyboard.ts";
import { type LensCard, lensCard } from "./lens.ts";
import type { Pen } from "./pen.ts";
import { canvasDots } from "./renderers/canvas-dots.ts";
import { type DotRenderer, plannedRenderer } from "./renderers/dot-renderer.ts";
import { svgDots } from "./renderers/svg-dots.ts";
import { hasWebGl, webglDots } from "./renderers/webgl-dots.ts";
import { type Speaker, speaker } from "./speech.ts";
import type { RendererChoice } from "./types.ts";

export interface Stage {
  readonly root: HTMLElement;
  readonly caveat: HTMLElement;
  readonly sentence: HTMLElement;
  readonly axes: HTMLElement;
  readonly zoom: ZoomButtons;
  /** Takes the focus and the pointer. */
  readonly stage: HTMLElement;
  /** Terrain, in map coordinates. */
  readonly back: SVGElement;
  readonly front: SVGElement;
  readonly card: LensCard;
  readonly pinCards: readonly LensCard[];
  readonly footer: HTMLElement;
  readonly speaker: Speaker;
}

/** Zooming for those who have neither wheel nor keyboard at hand. */
export interface ZoomButtons {
  readonly element: HTMLElement;
  readonly nearer: HTMLButtonElement;
  readonly farther: HTMLButtonElement;
  readonly home: HTMLButtonElement;
}

function zoomButtons(document: Document): ZoomButtons {
  const element = document.createElement("div");
  element.className = "tm-zoom";
  element.setAttribute("role", "group");
  element.setAttribute("aria-label", "Zoom");
  const button = (text: string, name: string) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = text;
    made.setAttribute("aria-label", name);
    made.title = name;
    element.append(made);
    return made;
  };
  return {
    element,
    farther: button("−", "Zoom out (−)"),
    nearer: button("+", "Zoom in (+)"),
    home: button("Reset", "Reset the zoom: show the whole map (0)"),
  };
}

/** Makes the elements; nothing is drawn yet. */
export function makeStage(pen: Pen): Stage {
  const { document } = pen;
  const block = (name: string, className: string) => {
    const element = document.createElement(name);
    element.className = className;
    return element;
  };
  const root = block("div", "trajectory-map");
  const head = block("div", "tm-head");
  const caveat = block("p", "tm-caveat");
  const sentence = block("p", "tm-sentence");
  const axes = block("div", "tm-axes");
  axes.setAttribute("role", "group");
  axes.setAttribute("aria-label", "Axes shown");
  const stage = block("div", "tm-stage");
  stage.tabIndex = 0;
  stage.setAttribute("role", "application");
  const back = make(pen, "svg", { class: "tm-back", "aria-hidden": "true" });
  const front = make(pen, "svg", { class: "tm-front", "aria-hidden": "true" });
  const card = lensCard(pen);
  const pinCards = [lensCard(pen), lensCard(pen)];
  const footer = block("div", "tm-foot");
  const voice = speaker(document);
  const zoom = zoomButtons(document);
  head.append(caveat, sentence, axes, zoom.element);
  stage.append(back, front, ...pinCards.map(({ element }) => element), card.element);
  root.append(head, stage, footer, voice.element);
  return { root, caveat, sentence, axes, zoom, stage, back, front, card, pinCards, footer, speaker: voice };
}

/** Says above the map why it should not be used, and takes the hue out of it; null: neither. */
export function showCaveat({ root, caveat }: Stage, words: string | null): void {
  root.toggleAttribute("data-caveat", words !== null);
  caveat.hidden = words === null;
  caveat.textContent = words;
}

const AXES_PAIRS: readonly (readonly [number, number])[] = [
  [0, 1],
  [0, 2],
  [1, 2],
];

/** Buttons for the pairs of axes of a three-dimensional map; the pressed one says which pair is shown. */
export function showAxesButtons(
  home: HTMLElement,
  [a, b]: readonly [number, number],
  choose: (axes: readonly [number, number]) => void,
): void {
  const had = home.contains(home.ownerDocument.activeElement);
  const buttons = AXES_PAIRS.map((pair) => {
    const button = home.ownerDocument.createElement("button");
    button.type = "button";
    button.textContent = `Axes ${pair[0] + 1} and ${pair[1] + 1}`;
    button.setAttribute("aria-pressed", String(pair[0] === a && pair[1] === b));
    button.addEventListener("click", () => choose(pair));
    return button;
  });
  home.replaceChildren(...buttons);
  // The pressed button was made anew: it keeps the focus.
  if (had) buttons.find((button) => button.getAttribute("aria-pressed") === "true")?.focus();
}

/** The name of the stage for a screen reader. */
export function stageName(m: string): string {
  return `Map of ${m} individuals. ${KEY_HELP}`;
}

/** A renderer by choice, number of dots and what the machine can do; how many dots it draws. */
export function makeRenderer(
  pen: Pen,
  root: HTMLElement,
  choice: RendererChoice,
  m: number,
): { readonly renderer: DotRenderer; readonly most: number } {
  const { document } = pen;
  const colourOf = rgbOf(document, root);
  const mayNeedWebGl = plannedRenderer(choice, m, true).kind === "webgl";
  // A stand-in for the card is slower than laying dots on bytes here: it is taken only when asked for by name.
  const { kind, most } = plannedRenderer(choice, m, mayNeedWebGl && hasWebGl(document, choice === "auto"));
  if (kind === "svg") return { renderer: svgDots(pen), most };
  if (kind === "webgl") {
    const renderer = webglDots(document, colourOf);
    if (renderer !== null) return { renderer, most };
  }
  return { renderer: canvasDots(document, colourOf), most: plannedRenderer("canvas", m, false).most };
}

/** Colours of tokens in the theme at hand, as three numbers in 0–255. */
export function rgbOf(document: Document, root: HTMLElement): (token: string) => readonly [number, number, number] {
  return (token) => toRgb(document, getComputedStyle(root).getPropertyValue(`--tm-${token}`).trim());
}

/** Any colour of a style sheet as three numbers. */
function toRgb(document: Document, colour: string): readonly [number, number, number] {
  const context = document.createElement("canvas").getContext("2d");
  if (context === null) return [70, 80, 92];
  // The canvas writes every opaque colour back as #rrggbb.
  context.fillStyle = colour;
  const hex = Number.parseInt(String(context.fillStyle).slice(1), 16);
  return [(hex >> 16) & 255, (hex >> 8) & 255, hex & 255];
}
