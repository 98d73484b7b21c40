/**
 * Charts by Observable Plot in the manner of the house: title of y above the axis, horizontal gridlines only, the last
 * label of x carries the unit. Colours are literal (Plot has one colour scale per chart), and what Plot adds for a live
 * page (style sheet, labels on groups) is left out when the drawing is written.
 */
import * as Plot from "@observablehq/plot";
import type { Transform } from "@trajectory-maps/core/ingest";
import { whole } from "../numbers.ts";
import { FONT_STACK } from "../theme.ts";
import { type FigurePen, shorten } from "./svg.ts";
import { roundSpan, roundTicks } from "./ticks.ts";

export interface ChartAxis {
  readonly domain: readonly [number, number];
  readonly ticks: readonly number[];
  readonly format: (v: number) => string;
  /** Plot's name of the scale. Default "linear". */
  readonly type?: "linear" | "log" | "sqrt";
}

export interface ChartOptions {
  readonly height: number;
  readonly x: ChartAxis;
  readonly y: ChartAxis;
  /** What y shows, in words with its unit; above the axis. */
  readonly yTitle?: string;
  /** What x shows, centred below; left out where the last label says it. */
  readonly xTitle?: string;
  readonly marks: Plot.Markish[];
  readonly marginLeft?: number;
  readonly marginRight?: number;
  readonly marginBottom?: number;
}

/** The chart as SVG. */
export function chart(pen: FigurePen, options: ChartOptions): SVGSVGElement {
  const { tokens } = pen;
  const { x, y, yTitle, xTitle, marks } = options;
  const { marginLeft = 38, marginRight = 14 } = options;
  const marginTop = yTitle === undefined ? 10 : 26;
  const marginBottom = (options.marginBottom ?? 22) + (xTitle === undefined ? 0 : 16);
  const axis = { tickSize: 0, fontSize: 11, fill: tokens.ink3, label: null };
  const svg = Plot.plot({
    document: pen.document,
    width: pen.width,
    height: options.height,
    marginLeft,
    marginRight,
    marginTop,
    marginBottom,
    style: { fontFamily: FONT_STACK, fontSize: "11px", overflow: "visible" },
    x: { type: x.type ?? "linear", domain: [...x.domain] },
    y: { type: y.type ?? "linear", domain: [...y.domain] },
    marks: [
      Plot.gridY([...y.ticks], { stroke: tokens.line, strokeOpacity: 1 }),
      ...marks,
      // As text, since Plot thins out a tickFormat on a log scale: each line gets its label.
      Plot.axisX([...x.ticks], { ...axis, tickPadding: 6, text: x.format }),
      Plot.axisY([...y.ticks], { ...axis, tickPadding: 6, text: y.format }),
      yTitle === undefined
        ? null
        : Plot.text([yTitle], {
            frameAnchor: "top-left",
            dx: -marginLeft,
            dy: -marginTop + 3,
            fill: tokens.ink2,
            fontSize: 11,
            lineAnchor: "top",
            textAnchor: "start",
          }),
      xTitle === undefined
        ? null
        : Plot.text([xTitle], {
            frameAnchor: "bottom",
            dy: marginBottom - 3,
            fill: tokens.ink2,
            fontSize: 11,
            lineAnchor: "bottom",
          }),
    ],
  }) as unknown as SVGSVGElement;
  tidy(svg);
  return svg;
}

/** Round numbers at every other digit are enough for a drawing. */
function tidy(svg: SVGSVGElement): void {
  svg.removeAttribute("class");
  svg.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  svg.setAttribute("font-family", FONT_STACK);
  svg.setAttribute("font-size", "11");
  svg.setAttribute("style", "font-variant-numeric:tabular-nums");
  for (const element of Array.from(svg.querySelectorAll("*"))) {
    for (const { name, value } of Array.from(element.attributes)) {
      if (/\d\.\d{3,}/.test(value) && name !== "id") {
        element.setAttribute(
          name,
          value.replace(/-?\d+\.\d{3,}/g, (number) => shorten(Number(number))),
        );
      }
    }
  }
}

/** Labels along time: numbers, the last with its unit ("year 10"). */
export function timeAxis(first: number, last: number, word: string, count = 4): ChartAxis {
  const domain = roundSpan(first, last, count);
  const ticks = roundTicks(...domain, count);
  const end = ticks[ticks.length - 1];
  return { domain, ticks, format: (v) => (v === end ? `${word} ${trim(v)}` : trim(v)) };
}

/** An axis of values that holds the range; a log scale for a marker modelled on one. */
export function valueAxis(low: number, high: number, transform: Transform): ChartAxis {
  if (!(high > low)) [low, high] = [0, 1];
  if (transform === "log" && low > 0) {
    const ticks: number[] = [];
    const octaves = Math.log2(high / low);
    if (octaves < 1) {
      const round = roundTicks(low, high, 4);
      const domain = [Math.min(low, round[0]), Math.max(high, round[round.length - 1])] as const;
      return { type: "log", domain, ticks: round, format: trim };
    }
    const base = octaves > 9 ? 10 : octaves > 4 ? 4 : 2;
    for (let e = Math.floor(Math.log(low) / Math.log(base)); e <= Math.ceil(Math.log(high) / Math.log(base)); e++)
      ticks.push(base ** e);
    const inside = ticks.filter((t) => t >= low * 0.7 && t <= high * 1.4);
    return {
      type: "log",
      domain: [Math.min(low, ...inside), Math.max(high, ...inside)],
      ticks: inside,
      format: (v) => (v >= 1000 ? whole(v) : trim(v)),
    };
  }
  const ticks = roundTicks(low, high, 4);
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : high - low;
  return {
    domain: [Math.min(low, ticks[0]), Math.max(high, ticks[ticks.length - 1]) + 0.05 * step],
    ticks,
    format: trim,
  };
}

/** A number without trailing zeros and with a true minus. */
export function trim(v: number): string {
  return String(Number(v.toPrecision(8))).replace("-", "\u2212");
}
