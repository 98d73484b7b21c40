/**
 * The top of the tree of merges, from which groups are cut: links at the height of their merge, coloured by group below
 * the cut, and under each branch that is not opened further the number of individuals as a disc, if sizes are told, and the letter of its group.
 */
import { fixed } from "../numbers.ts";
import type { StudyGroup, StudyTree } from "../study.ts";
import { groupStyle } from "../theme.ts";
import { setHeight } from "./group-map.ts";
import { type Canvas, label, make, makeRoot, penOf, shorten, textWidth } from "./svg.ts";
import { roundTicks } from "./ticks.ts";

const TOP = 26;
const HEIGHT = 210;
const LEFT = 40;
const CUT = "cut into groups";

/** The tree as SVG. */
export function drawDendrogram(
  tree: StudyTree,
  groups: readonly StudyGroup[],
  hasSizes: boolean,
  canvas: Canvas,
): SVGSVGElement {
  const pen = penOf(canvas, 540);
  const { leaves, merges } = tree;
  const n = leaves.length;
  const top = 1.06 * (merges[merges.length - 1]?.[2] ?? 1);
  const gap = (pen.width - LEFT) / n;
  const px = (k: number) => LEFT + gap * (k + 0.5);
  const py = (height: number) => TOP + HEIGHT * (1 - height / top);
  const rankOf = new Map(groups.map(({ group }, rank) => [group, rank]));
  const colourOf = (group: number) => {
    const rank = rankOf.get(group);
    return rank === undefined ? pen.tokens.ink3 : groupStyle(pen.tokens, rank).colour;
  };
  const root = makeRoot(pen, 10);
  root.append(label(pen, "height of the merge", 0, 11));
  const ticks = roundTicks(0, top, 4);
  const decimals = Math.max(0, Math.ceil(-Math.log10(ticks[1] - ticks[0] || 1) - 1e-9));
  for (const t of ticks) {
    root.append(
      make(pen, "path", { d: `M${LEFT},${shorten(py(t))}H${shorten(pen.width)}`, stroke: pen.tokens.line }),
      label(pen, fixed(t, decimals), LEFT - 7, py(t) + 4, { "text-anchor": "end", fill: pen.tokens.ink3 }),
    );
  }
  // Nodes from the leaves up: where they stand, how high, and which group all their leaves belong to, if one.
  const nodes = leaves.map(({ group }, k) => ({ x: px(k), height: 0, group }));
  for (const [a, b, height] of merges) {
    const [left, right] = [nodes[a], nodes[b]];
    const group = left.group === right.group ? left.group : Number.NaN;
    root.append(
      make(pen, "path", {
        d: `M${shorten(left.x)},${shorten(py(left.height))}V${shorten(py(height))}H${shorten(right.x)}V${shorten(py(right.height))}`,
        fill: "none",
        stroke: Number.isNaN(group) ? pen.tokens.ink2 : colourOf(group),
        "stroke-width": Number.isNaN(group) ? 1.2 : 1.8,
        "stroke-linejoin": "round",
      }),
    );
    nodes.push({ x: (left.x + right.x) / 2, height, group });
  }
  if (groups.length > 1) {
    const y = py(tree.cut);
    root.append(
      make(pen, "path", {
        d: `M${LEFT},${shorten(y)}H${shorten(pen.width)}`,
        stroke: pen.tokens.ink,
        "stroke-dasharray": "5 4",
      }),
      make(pen, "path", {
        d: `M${shorten(pen.width - textWidth(CUT, 11) - 30)},7h22`,
        stroke: pen.tokens.ink,
        "stroke-dasharray": "5 4",
      }),
      label(pen, CUT, pen.width, 11, { "text-anchor": "end" }),
    );
  }
  const most = Math.max(1, ...leaves.map(({ size }) => size));
  const largest = Math.min(9, 0.46 * gap);
  const base = TOP + HEIGHT + (hasSizes ? 12 : -6);
  for (const [k, { size, group }] of hasSizes ? leaves.entries() : []) {
    const r = largest * Math.sqrt(size / most);
    root.append(make(pen, "circle", { cx: px(k), cy: base, r, fill: colourOf(group) }));
  }
  // One letter for branches of a group that stand together, under a line in its colour.
  for (let from = 0, to = 0; from < n; from = to) {
    while (to < n && leaves[to].group === leaves[from].group) to++;
    const rank = rankOf.get(leaves[from].group);
    if (rank === undefined) continue;
    const [left, right] = [px(from) - 0.32 * gap, px(to - 1) + 0.32 * gap];
    root.append(
      make(pen, "path", {
        d: `M${shorten(left)},${shorten(base + 13)}H${shorten(right)}`,
        stroke: colourOf(leaves[from].group),
        "stroke-width": 2,
      }),
      label(pen, groups[rank].letter, (left + right) / 2, base + 28, {
        "text-anchor": "middle",
        "font-size": 12,
        "font-weight": 600,
        fill: pen.tokens.ink,
      }),
    );
  }
  const y = base + (hasSizes ? 46 : 24);
  if (hasSizes) {
    root.append(
      make(pen, "circle", { cx: LEFT + 9, cy: y, r: largest, fill: pen.tokens.ink3 }),
      label(pen, `${fixed(most, 0)} individuals`, LEFT + 23, y + 4),
    );
  }
  setHeight(pen, root, y + 12);
  return root;
}
