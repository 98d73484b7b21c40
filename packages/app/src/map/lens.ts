/**
 * The card of the terrain lens: course with 90% band at a place, dashed beyond what was seen of similar individuals, the last value
 * that was, number of individuals near.
 * Elements are made once and only their attributes change while the pointer moves.
 */
import { markerModel } from "@trajectory-maps/core";
import { applyTransform, undoTransform } from "@trajectory-maps/core/ingest";
import { basisDomain } from "@trajectory-maps/core/models";
import {
  capital,
  counted,
  fixed,
  interval,
  make,
  powerFor,
  powerText,
  roundTicks,
  textWidth,
  timeWord,
  trimmed,
} from "@trajectory-maps/report";
import { linePath, type Pen } from "./pen.ts";
import type { Scene } from "./scene.ts";
import { shortTime, sizedValue } from "./surfaces.ts";
import type { LensReading } from "./types.ts";
import { MAP_UNIT, type Viewport } from "./viewport.ts";

const CHART = { width: 184, height: 78, left: 24, right: 4, top: 4, bottom: 16 };
/** Sizes of ticks that are written out. */
const TICK_SIZES = [1e-2, 1e5] as const;
/** Size of the card, for placing it before it is laid out. */
export const LENS = { width: 208, height: 148, empty: 74, who: 16 };

export interface LensCard {
  readonly element: HTMLElement;
  show(scene: Scene, reading: LensReading, title?: string): void;
  /** Puts a corner of the card at a point of the stage: the upper left one, or with `above` the lower left. */
  moveTo(left: number, top: number, above?: boolean): void;
  hide(): void;
}

/** Individual under the pointer in words: id, visits, group. */
export function whoWords(scene: Scene, i: number): string {
  const { placements, groups } = scene.options;
  const label = groups?.labels[i] ?? -1;
  const group = groups?.groups[label];
  const visits = counted(placements.numObservations[i], "visit");
  return `${placements.ids[i]} · ${visits}${group === undefined ? "" : ` · ${group.letter} ${group.name}`}`;
}

/** "Year 10: 37 (90% 33 to 41)" in its parts; null off land. */
function lastValueWords(scene: Scene, reading: LensReading): { when: string; value: string; band: string } | null {
  const { course } = reading;
  if (course === null) return null;
  const k = lastSeen(course.times, reading.seenTo);
  const word = timeWord(markerModel(scene.options.model).marker.timeUnit);
  const decimals = scene.decimals;
  const [lower, upper] = [course.lower[k], course.upper[k]];
  const long = [lower, course.median[k], upper].some((v) => powerFor(v) !== 0);
  return {
    when: `${capital(word)} ${shortTime(course.times[k])}`,
    value: long ? sizedValue(course.median[k], decimals) : fixed(course.median[k], decimals),
    band: long ? `${sizedValue(lower, decimals)} to ${sizedValue(upper, decimals)}` : interval(lower, upper, decimals),
  };
}

/** Position of the last time not after what was seen. */
function lastSeen(times: ArrayLike<number>, seenTo: number): number {
  let k = times.length - 1;
  while (k > 0 && times[k] > seenTo + 1e-9) k--;
  return k;
}

/** The lens in one sentence, for the live region. */
export function readingSentence(scene: Scene, reading: LensReading): string {
  const words = lastValueWords(scene, reading);
  if (words === null) return "No data here. Nobody in this cohort is placed near this point, so no course is shown.";
  return `${words.when}: ${words.value}, 90 percent ${words.band}. ${nearWords(reading.numNear, `within ¼ ${MAP_UNIT}`)}.`;
}

/** The lens draws the circle; who only hears of it is told its size. */
const nearWords = (n: number, where = "in the circle") => `${counted(n, "individual")} ${where}`;

/** A card; put its element into the stage. */
export function lensCard(pen: Pen): LensCard {
  const { document } = pen;
  const element = document.createElement("div");
  element.className = "tm-lens";
  element.hidden = true;
  element.setAttribute("aria-hidden", "true");
  const line = (className: string) => {
    const p = document.createElement("p");
    p.className = className;
    return p;
  };
  const [heading, who, value, near] = ["tm-lens-title", "tm-lens-who", "tm-lens-value", "tm-lens-near"].map(line);
  const strong = document.createElement("strong");
  const chart = make(pen, "svg", { width: CHART.width, height: CHART.height });
  const axes = make(pen, "g", { "font-size": 10, fill: pen.tokens.ink3 });
  const band = make(pen, "path", { fill: pen.tokens.ink, "fill-opacity": 0.14 });
  const course = make(pen, "path", { fill: "none", stroke: pen.tokens.ink, "stroke-width": 1.8 });
  const later = make(pen, "path", {
    fill: "none",
    stroke: pen.tokens.ink,
    "stroke-width": 1.2,
    "stroke-dasharray": "2 3",
  });
  chart.append(axes, band, course, later);
  element.append(heading, who, chart, value, near);
  let scale: Scale | null = null;
  let scaleOf: unknown = null;
  return {
    element,
    show(scene, reading, title = "Course at this place") {
      // One scale for every place of a model: axes are drawn once.
      if (scaleOf !== scene.range || scale === null) {
        scale = lensScale(scene);
        scaleOf = scene.range;
        axes.replaceChildren(...drawAxes(pen, scale));
      }
      const words = lastValueWords(scene, reading);
      heading.textContent = words === null ? "No data here" : reading.own ? "This individual's own course" : title;
      who.textContent = reading.individual === null ? "" : whoWords(scene, reading.individual);
      who.hidden = reading.individual === null;
      chart.style.display = words === null ? "none" : "block";
      near.hidden = words === null;
      if (words === null) {
        value.textContent = "Nobody in this cohort is placed near this point, so no course is shown.";
      } else {
        drawCourse(scale, reading, course, later, band);
        strong.textContent = words.value;
        value.replaceChildren(`${words.when}: `, strong, ` (90% ${words.band})`);
        near.textContent = nearWords(reading.numNear);
      }
      element.hidden = false;
    },
    moveTo(left, top, above = false) {
      // Names may take two lines: a card above its point is hung up by its lower edge.
      const lift = above ? " translateY(-100%)" : "";
      element.style.transform = `translate(${Math.round(left)}px,${Math.round(top)}px)${lift}`;
    },
    hide() {
      element.hidden = true;
    },
  };
}

/** Where the card of a point goes: above right, or where there is room. */
export function lensPosition(
  viewport: Viewport,
  px: number,
  py: number,
  reading: LensReading,
): { readonly left: number; readonly top: number; readonly above: boolean } {
  const height =
    (reading.course === null ? LENS.empty : LENS.height) + (reading.individual === null ? 0 : 2 * LENS.who);
  const right = px + 18 + LENS.width <= viewport.width - 6;
  const left = Math.max(4, right ? px + 18 : px - LENS.width - 18);
  if (py - height - 14 >= 4) return { left, top: py - 14, above: true };
  return { left, top: Math.max(4, Math.min(py + 16, viewport.height - height - 6)), above: false };
}

/** px of time and value; transformed markers are drawn on the scale of the model, labelled in their unit. */
interface Scale {
  /** px at which the plot begins: labels have the room they need. */
  readonly left: number;
  /** The power of ten that labels leave out; empty if none. */
  readonly factor: string;
  readonly x: (t: number) => number;
  readonly y: (v: number) => number;
  readonly timeTicks: readonly { readonly at: number; readonly words: string }[];
  readonly valueTicks: readonly { readonly at: number; readonly words: string }[];
}

function lensScale(scene: Scene): Scale {
  const { marker, basis } = markerModel(scene.options.model);
  const [t0, t1] = basisDomain(basis);
  const toScale = (v: number) => applyTransform(marker.transform, v);
  const [low, high] = [toScale(scene.range[0]), toScale(scene.range[1])];
  const pad = 0.12 * Math.max(high - low, 1e-9);
  const [bottom, top] = [low - pad, high + pad];
  const height = CHART.height - CHART.top - CHART.bottom;
  const y = (v: number) => {
    const z = toScale(v);
    // A value at the end of its transform's domain has no place on the scale: it is drawn at the edge.
    const share = Number.isFinite(z) ? (top - z) / (top - bottom) : 1;
    return CHART.top + height * Math.min(1.05, Math.max(-0.05, share));
  };
  const linear = marker.transform === "identity";
  const ticks = linear
    ? roundTicks(scene.range[0], scene.range[1], 3)
    : [0.2, 0.8].map((share) => oneDigit(undoTransform(marker.transform, low + share * (high - low))));
  const times = [t0, (t0 + t1) / 2, t1];
  const unit = marker.timeUnit.slice(0, 1);
  const power = powerFor(Math.max(...ticks.map(Math.abs)), TICK_SIZES);
  const valueTicks = [...new Set(ticks)].map((at) => ({ at, words: trimmed(at / 10 ** power, 3) }));
  const left = Math.max(CHART.left, ...valueTicks.map(({ words }) => Math.ceil(textWidth(words, 10)) + 5));
  return {
    left,
    factor: power === 0 ? "" : `× ${powerText(power)}`,
    x: (t) => left + ((CHART.width - left - CHART.right) * (t - t0)) / (t1 - t0),
    y,
    timeTicks: times.map((at, k) => ({ at, words: `${shortTime(at)}${k === 2 && unit !== "" ? ` ${unit}` : ""}` })),
    valueTicks,
  };
}

function drawAxes(pen: Pen, scale: Scale): SVGElement[] {
  const right = CHART.width - CHART.right;
  const values = scale.valueTicks.flatMap(({ at, words }) => {
    const y = scale.y(at);
    return [
      make(pen, "path", { d: `M${scale.left} ${y}H${right}`, stroke: pen.tokens.line, fill: "none" }),
      make(pen, "text", { x: scale.left - 4, y: y + 3.4, "text-anchor": "end" }, words),
    ];
  });
  const times = scale.timeTicks.map(({ at, words }, k) =>
    make(pen, "text", { x: scale.x(at), y: CHART.height - 2, "text-anchor": ["start", "middle", "end"][k] }, words),
  );
  const factor = scale.factor === "" ? [] : [make(pen, "text", { x: scale.left + 3, y: 9 }, scale.factor)];
  return [...values, ...times, ...factor];
}

function drawCourse(
  scale: Scale,
  { course, seenTo }: LensReading,
  line: SVGElement,
  later: SVGElement,
  band: SVGElement,
): void {
  if (course === null) return;
  const { times, median, lower, upper } = course;
  const x = (k: number) => scale.x(times[k]);
  const y = (k: number) => scale.y(median[k]);
  const seen = lastSeen(times, seenTo);
  line.setAttribute("d", linePath(seen + 1, x, y));
  later.setAttribute(
    "d",
    linePath(
      times.length - seen,
      (k) => x(seen + k),
      (k) => y(seen + k),
    ),
  );
  const n = seen + 1;
  const back = linePath(
    n,
    (k) => x(n - 1 - k),
    (k) => scale.y(lower[n - 1 - k]),
  );
  band.setAttribute("d", `${linePath(n, x, (k) => scale.y(upper[k]))}${back.replace("M", "L")}Z`);
}

function oneDigit(value: number): number {
  if (!(Math.abs(value) > 0)) return 0;
  const power = 10 ** Math.floor(Math.log10(Math.abs(value)));
  return Math.round(value / power) * power;
}
