/** The elements of a map, from back to front, and the renderer of its dots. */
import { KEY_HELP } from "./keyboard.ts";
import { type LensCard, lensCard } from "./lens.ts";
import { make, type Pen } from "./pen.ts";
import { canvasDots } from "./renderers/canvas-dots.ts";
import { type DotRenderer, plannedRenderer } from "./renderers/dot-renderer.ts";
import { svgDots } from "./renderers/svg-dots.ts";
import { hasWebGl, webglDots } from "./renderers/webgl-dots.ts";
import { type Speaker, speaker } from "./speech.ts";
import type { RendererChoice } from "./types.ts";

export interface Stage {
  readonly root: HTMLElement;
  readonly sentence: HTMLElement;
  readonly axes: HTMLElement;
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
  head.append(sentence, axes);
  stage.append(back, front, ...pinCards.map(({ element }) => element), card.element);
  root.append(head, stage, footer, voice.element);
  return { root, sentence, axes, stage, back, front, card, pinCards, footer, speaker: voice };
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
  const colourOf = (token: string) => getComputedStyle(root).getPropertyValue(`--tm-${token}`).trim();
  const mayNeedWebGl = plannedRenderer(choice, m, true).kind === "webgl";
  const { kind, most } = plannedRenderer(choice, m, mayNeedWebGl && hasWebGl(document));
  if (kind === "svg") return { renderer: svgDots(pen), most };
  if (kind === "webgl") {
    const renderer = webglDots(document, (token) => toRgb(document, colourOf(token)));
    if (renderer !== null) return { renderer, most };
  }
  return { renderer: canvasDots(document, colourOf), most: plannedRenderer("canvas", m, false).most };
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
