/** What changes with one choice of the fit changed: groups, places and scores of every variant, a dot each. */
import { GROUPS_HOLD, groupsHold, type Sensitivity } from "@trajectory-maps/core/study";
import { fixed, NONE, signed } from "../numbers.ts";
import { setHeight } from "./group-map.ts";
import { type Canvas, type FigurePen, label, make, makeRoot, penOf, shorten, textWidth, wrapText } from "./svg.ts";
import { roundTicks } from "./ticks.ts";

/** One column of dots: a value with its reach for every row, and a line to hold them against. */
interface Panel {
  readonly title: string;
  readonly domain: readonly [number, number];
  readonly reference: number;
  readonly format: (value: number) => string;
  /** Filled where it speaks against the run. */
  readonly rows: readonly ({
    readonly value: number;
    readonly from: number;
    readonly to: number;
    readonly filled: boolean;
  } | null)[];
}

const ROW = 22;
const TOP = 34;
const GAP = 34;

export function drawSensitivity(sensitivity: Sensitivity, canvas: Canvas): SVGSVGElement {
  const pen = penOf(canvas, 900);
  const { variants } = sensitivity;
  const root = makeRoot(pen, 10);
  const widest = Math.max(60, ...variants.map(({ name }) => textWidth(name, 12)));
  const nameWidth = Math.min(0.32 * pen.width, widest) + 14;
  const panels = panelsOf(sensitivity);
  const width = (pen.width - nameWidth - GAP * (panels.length - 1) - 10) / panels.length;
  const bottom = TOP + ROW * variants.length;
  variants.forEach(({ name }, k) => {
    const lines = wrapText(name, 12, nameWidth - 14);
    lines.forEach((line, l) => {
      const y = rowAt(k) + 4 + 12 * (l - (lines.length - 1) / 2);
      root.append(label(pen, line, 0, y, { "font-size": lines.length > 1 ? 11 : 12, fill: pen.tokens.ink }));
    });
  });
  panels.forEach((panel, p) => {
    drawPanel(pen, root, panel, nameWidth + p * (width + GAP), width, bottom);
  });
  setHeight(pen, root, bottom + 26);
  return root;
}

const rowAt = (k: number) => TOP + ROW * (k + 0.5);

function panelsOf({ variants, run, folds }: Sensitivity): Panel[] {
  const most = (values: readonly number[]) => Math.max(...values);
  const groups = variants.map(({ adjustedRand: v }) =>
    v === null ? null : { value: v, from: v, to: v, filled: !groupsHold(v) },
  );
  const places = variants.map(({ places: own }) =>
    own === null ? null : { value: own.median, from: own.median, to: own.p90, filled: own.median > run.placeSd },
  );
  const scores = variants.map(({ score: own }) =>
    own === null ? null : { value: own.mean, from: own.lower, to: own.upper, filled: own.lower > 0 || own.upper < 0 },
  );
  const ends = (rows: Panel["rows"]) => rows.flatMap((row) => (row === null ? [] : [row.from, row.to]));
  const least = Math.min(0, ...ends(groups));
  const [low, high] = [Math.min(0, ...ends(scores)), Math.max(0, ...ends(scores))];
  return [
    {
      title: "groups: adjusted Rand index",
      domain: [least, 1] as const,
      reference: GROUPS_HOLD,
      format: (v: number) => fixed(v, 1),
      rows: groups,
    },
    {
      title: "places: apart, median to 90%, sd",
      domain: [0, most([run.placeSd, ...ends(places)]) * 1.05] as const,
      reference: run.placeSd,
      format: (v: number) => fixed(v, 1),
      rows: places,
    },
    ...(folds === 0
      ? []
      : [
          {
            title: "held-out score, 95% interval",
            domain: [Math.min(low, -0.3 * high), Math.max(high, -0.3 * low) || 1] as const,
            reference: 0,
            format: (v: number) => signed(v, Math.abs(v % 1) > 1e-9 ? 1 : 0),
            rows: scores,
          },
        ]),
  ].filter(({ rows }) => rows.some((row) => row !== null));
}

function drawPanel(pen: FigurePen, root: SVGSVGElement, panel: Panel, x0: number, width: number, bottom: number): void {
  const [low, high] = panel.domain;
  const x = (v: number) => x0 + 6 + ((width - 12) * (v - low)) / (high - low);
  const rule = (v: number, stroke: string, dashes?: string) =>
    make(pen, "path", {
      ...{ d: `M${shorten(x(v))},${TOP}V${shorten(bottom)}`, stroke, fill: "none", "stroke-dasharray": dashes },
    });
  wrapText(panel.title, 11.5, width + GAP - 8).forEach((line, l) => {
    root.append(label(pen, line, x0, 11 + 13 * l, { "font-size": 11.5, fill: pen.tokens.ink2 }));
  });
  for (const t of roundTicks(low, high, 3)) {
    root.append(rule(t, pen.tokens.line));
    root.append(label(pen, panel.format(t), x(t), bottom + 16, { "text-anchor": "middle", fill: pen.tokens.ink3 }));
  }
  root.append(rule(panel.reference, pen.tokens.ink3, panel.reference === 0 ? undefined : "3 3"));
  panel.rows.forEach((row, k) => {
    const y = rowAt(k);
    if (row === null) {
      root.append(label(pen, NONE, x0 + width / 2, y + 4, { "text-anchor": "middle", fill: pen.tokens.ink3 }));
      return;
    }
    const d = `M${shorten(x(row.from))},${shorten(y)}H${shorten(x(row.to))}`;
    root.append(make(pen, "path", { d, stroke: pen.tokens.ink2, "stroke-width": 1.5, fill: "none" }));
    const fill = row.filled ? pen.tokens.ink : pen.tokens.surface;
    root.append(
      make(pen, "circle", { cx: x(row.value), cy: y, r: 3.8, fill, stroke: pen.tokens.ink, "stroke-width": 1.5 }),
    );
  });
}
