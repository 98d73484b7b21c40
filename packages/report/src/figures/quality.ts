/** Figures of the data page: which times are observed together, and the values. */
import * as Plot from "@observablehq/plot";
import { applyTransform, type Transform, undoTransform } from "@trajectory-maps/core/ingest";
import { timeWord, whole } from "../numbers.ts";
import type { CohortSummary } from "../study.ts";
import { chart, trim } from "./chart.ts";
import { setHeight } from "./group-map.ts";
import { drawKey, hollowKey } from "./key.ts";
import { type Canvas, label, make, makeRoot, penOf, textWidth } from "./svg.ts";
import { roundTicks } from "./ticks.ts";

/** Individuals seen in both of two spans of time; a gap says that a change between them rests on the model alone. */
export function drawDesign(cohort: CohortSummary, smallCell: number, canvas: Canvas): SVGSVGElement {
  const pen = penOf(canvas, 420);
  const { edges, counts } = cohort.design;
  const n = edges.length - 1;
  const [left, top] = [40, 8];
  const size = (pen.width - left - 8) / n;
  const root = makeRoot(pen, 10);
  const most = Math.max(1, ...Array.from(counts));
  const { sequential } = pen.tokens;
  for (let a = 0; a < n; a++) {
    for (let b = 0; b < n; b++) {
      const count = counts[a * n + b];
      const [x, y] = [left + b * size, top + (n - 1 - a) * size];
      if (count >= smallCell) {
        const shade = Math.round(Math.sqrt(count / most) * (sequential.length - 1));
        root.append(
          make(pen, "rect", {
            x: x + 0.5,
            y: y + 0.5,
            width: size - 1,
            height: size - 1,
            rx: 2,
            fill: sequential[Math.max(1, shade)],
          }),
        );
      } else if (count > 0) {
        root.append(
          make(pen, "circle", { cx: x + size / 2, cy: y + size / 2, r: 2.2, fill: "none", stroke: pen.tokens.ink3 }),
        );
      }
    }
  }
  const bottom = top + n * size;
  const [first, last] = [edges[0], edges[n]];
  const ticks = roundTicks(first, last, 5);
  const word = timeWord(cohort.marker.timeUnit);
  const end = textWidth(`${word} ${trim(ticks[ticks.length - 1])}`, 11) + 12;
  ticks.forEach((t, k) => {
    const share = (t - first) / (last - first || 1);
    const text = k === ticks.length - 1 ? `${word} ${trim(t)}` : trim(t);
    const anchor = k === ticks.length - 1 && share > 0.9 ? "end" : "middle";
    // The last label carries the unit and may take the room of the one before.
    const free = k === ticks.length - 1 || share * n * size < n * size - end;
    if (free)
      root.append(
        label(pen, text, left + share * n * size + (anchor === "end" ? 6 : 0), bottom + 16, {
          "text-anchor": anchor,
          fill: pen.tokens.ink3,
        }),
      );
    root.append(
      label(pen, trim(t), left - 7, bottom - share * n * size + 4, { "text-anchor": "end", fill: pen.tokens.ink3 }),
    );
  });
  let x = left;
  const y = bottom + 36;
  root.append(label(pen, `${whole(smallCell)}`, x, y + 4));
  x += 20;
  sequential.slice(1).forEach((fill, k) => {
    root.append(make(pen, "rect", { x: x + 15 * k, y: y - 5, width: 15, height: 10, fill }));
  });
  x += 15 * (sequential.length - 1) + 7;
  root.append(label(pen, `${whole(most)} individuals`, x, y + 4));
  const foot = smallCell > 1 ? drawKey(pen, root, y, [hollowKey(pen, "fewer")], { left: x + 106 }) : y;
  setHeight(pen, root, foot + 10);
  return root;
}

/** Round values of a marker that stand apart on the scale of its model. */
export function valueTicks(low: number, high: number, transform: Transform): number[] {
  const steps = roundTicks(low, high, 5);
  if (transform === "identity") return steps;
  const at = (v: number) => applyTransform(transform, v);
  const room = (at(high) - at(low)) / 8;
  const families = [...decades(Math.max(low, high / 1e12), high).map((family) => [0, ...family]), ODDS, steps];
  const inside = families
    .filter((_, k) => transform === "log" || transform === "log1p" || k >= families.length - 2)
    .map((family) => family.filter((v) => v >= low && v <= high && Number.isFinite(at(v))));
  const apart = (ticks: readonly number[]) => ticks.every((v, k) => k === 0 || at(v) - at(ticks[k - 1]) >= room);
  const found = inside.find((ticks) => ticks.length > 2 && apart(ticks));
  return found ?? steps.filter((v, k) => k === 0 || at(v) - at(steps[k - 1]) >= room);
}

const ODDS = [0.001, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 0.999];

/** Round numbers of every decade between two values, from many to few. */
function decades(low: number, high: number): number[][] {
  const [first, last] = [Math.floor(Math.log10(low)), Math.floor(Math.log10(high))];
  const exponents = Array.from({ length: last - first + 1 }, (_, k) => first + k);
  const of = (digits: readonly number[], every: number) =>
    exponents.filter((e) => e % every === 0).flatMap((e) => digits.map((digit) => Number(`${digit}e${e}`)));
  return [of([1, 2, 5], 1), of([1, 3], 1), of([1], 1), of([1], 2), of([1], 3)];
}

/** All values in bins; those whose height is not the count itself are outlined. */
export function drawValues(cohort: CohortSummary, heights: readonly number[], canvas: Canvas): SVGSVGElement {
  const pen = penOf(canvas, 420);
  const { edges, counts } = cohort.histogram;
  const { name, unit, transform } = cohort.marker;
  // Drawn on the scale of the model, on which the bins are equal; labels are of the marker's own.
  const at = (v: number) => applyTransform(transform, v);
  const scale: Transform = Array.from(edges).every((edge) => Number.isFinite(at(edge))) ? transform : "identity";
  const rows = Array.from(counts, (count, k) => ({
    a: applyTransform(scale, edges[k]),
    b: applyTransform(scale, edges[k + 1]),
    small: heights[k] !== count,
    count: heights[k],
  }));
  const top = 1.06 * Math.max(1, ...rows.map((r) => r.count));
  const low = rows[0].a;
  const high = rows[rows.length - 1].b > low ? rows[rows.length - 1].b : low + 1;
  const ticks = valueTicks(undoTransform(scale, low), undoTransform(scale, high), scale);
  return chart(pen, {
    height: 300,
    marginLeft: 46,
    x: {
      domain: [low, high],
      ticks: ticks.map((v) => applyTransform(scale, v)),
      format: (v) => trim(Number(undoTransform(scale, v).toPrecision(6))),
    },
    y: { domain: [0, top], ticks: roundTicks(0, top, 4), format: whole },
    yTitle: "observations",
    xTitle: unit === "" ? name : `${name}, ${unit}`,
    marks: [
      Plot.rectY(
        rows.filter((r) => !r.small),
        { x1: "a", x2: "b", y: "count", fill: pen.tokens.ink3, fillOpacity: 0.6, insetLeft: 0.5, insetRight: 0.5 },
      ),
      Plot.rectY(
        rows.filter((r) => r.small),
        {
          x1: "a",
          x2: "b",
          y: "count",
          fill: "none",
          stroke: pen.tokens.ink3,
          strokeWidth: 1,
          insetLeft: 1,
          insetRight: 1,
        },
      ),
    ],
  });
}
