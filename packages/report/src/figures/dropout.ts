/** Median courses of the groups if those who left had gone on otherwise: a panel for each group, a line for each shift. */
import * as Plot from "@observablehq/plot";
import type { DropoutSensitivity } from "@trajectory-maps/core/study";
import { timeWord } from "../numbers.ts";
import { deltaText } from "../survival-words.ts";
import { groupStyle } from "../theme.ts";
import { badge } from "./badge.ts";
import { chart, timeAxis, valueAxis } from "./chart.ts";
import { spreadLabels } from "./survival.ts";
import { type Canvas, fitText, label, makeRoot, penOf, placed } from "./svg.ts";

export interface DropoutFigure {
  readonly dropout: DropoutSensitivity;
  /** Rank of each group's letter, which gives its colour; and whether its course may be shown. */
  readonly groups: readonly { readonly rank: number; readonly isShown: boolean }[];
}

/** Small multiples on one scale. */
export function drawDropout({ dropout, groups }: DropoutFigure, canvas: Canvas): SVGSVGElement {
  const pen = penOf(canvas, 720);
  const { courses, deltas, marker } = dropout;
  const shown = dropout.groups.flatMap((group, g) =>
    groups[g].isShown ? [{ ...group, g, rank: groups[g].rank }] : [],
  );
  const columns = Math.max(1, Math.min(shown.length, pen.width >= 900 ? 5 : pen.width >= 560 ? 3 : 2));
  const [gap, height, title] = [18, 190, 26];
  const width = (pen.width - gap * (columns - 1)) / columns;
  const values = shown.flatMap(({ g }) => courses.medians.flatMap((of) => of[g]));
  const y = valueAxis(Math.min(...values), Math.max(...values), marker.transform);
  const x = timeAxis(courses.times[0], courses.times[courses.times.length - 1], timeWord(marker.timeUnit), 3);
  const root = makeRoot(pen, Math.ceil(shown.length / columns) * (height + title + 8));
  // Heights as shares of the axis, for labels at the ends of the lowest, the unshifted and the highest line.
  const scaled = (v: number) => {
    const s = (u: number) => (y.type === "log" ? Math.log(u) : u);
    return (s(v) - s(y.domain[0])) / (s(y.domain[1]) - s(y.domain[0]));
  };
  const labelled = [0, deltas.indexOf(0), deltas.length - 1].filter((k, j, all) => k >= 0 && all.indexOf(k) === j);
  for (const [k, { g, rank, letter, name }] of shown.entries()) {
    const [left, topY] = [(k % columns) * (width + gap), Math.floor(k / columns) * (height + title + 8)];
    const { colour } = groupStyle(pen.tokens, rank);
    const lines = deltas.map((delta, d) => ({
      delta,
      points: courses.times.map((t, j) => ({ t, v: courses.medians[d][g][j] })),
    }));
    root.append(badge(pen, rank, letter, left + 9, topY + 10, 8));
    root.append(
      label(pen, fitText(name, 12, width - 26), left + 24, topY + 14, { "font-size": 12, fill: pen.tokens.ink }),
    );
    const marginRight = 38;
    root.append(
      placed(
        chart(
          { ...pen, width },
          {
            height,
            marginLeft: 38,
            marginRight,
            x,
            y,
            marks: lines.map(({ delta, points }) =>
              Plot.line(points, {
                x: "t",
                y: "v",
                stroke: delta === 0 ? colour : pen.tokens.ink3,
                strokeWidth: delta === 0 ? 2.4 : 1,
                ...(delta < 0 ? { strokeDasharray: "4 3" } : {}),
              }),
            ),
          },
        ),
        left,
        topY + title,
      ),
    );
    const plotHeight = height - 10 - 22;
    // Not below the half height of a label, where the last tick of time stands.
    const ends = labelled.map((d) => Math.max(8 / plotHeight, scaled(courses.medians[d][g][courses.times.length - 1])));
    const heights = spreadLabels(ends, 12 / plotHeight);
    labelled.forEach((d, j) => {
      const at = topY + title + 10 + plotHeight * (1 - heights[j]) + 4;
      root.append(label(pen, deltaText(deltas[d]), left + width - marginRight + 4, at, { "font-size": 10 }));
    });
  }
  return root;
}
