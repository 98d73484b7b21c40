/**
 * The top of a tree laid out for drawing: the last L merges, with what lies below them as leaves. Leaves stand side
 * by side in the order of the tree, a merge stands midway between its two parts at its height.
 */
import type { Groups } from "@trajectory-maps/core";

export interface Branch {
  /** Positions of the two parts and heights of their tops, in units of leaves. */
  readonly left: number;
  readonly right: number;
  readonly leftHeight: number;
  readonly rightHeight: number;
  readonly height: number;
}

export interface DendrogramLayout {
  readonly numLeaves: number;
  readonly branches: readonly Branch[];
  /** Heights of the merges, highest first: cutting between entries K−2 and K−1 gives K groups. */
  readonly heights: readonly number[];
}

/** The top `most` merges. */
export function layoutDendrogram(tree: Groups["tree"], most = 30): DendrogramLayout {
  const { merges, heights, numPoints: n, leafOrder } = tree;
  const M = heights.length;
  const shown = Math.min(most, M);
  const from = M - shown;
  const rank = new Int32Array(n);
  leafOrder.forEach((point, k) => {
    rank[point] = k;
  });
  // Nodes below the shown merges are leaves; they stand in the order of any point they hold.
  const firstPoint = (node: number): number => {
    let at = node;
    while (at >= n) at = merges[2 * (at - n)];
    return rank[at];
  };
  const isLeaf = (node: number) => node < n + from;
  const leaves: number[] = [];
  for (let t = from; t < M; t++) {
    for (const node of [merges[2 * t], merges[2 * t + 1]]) if (isLeaf(node)) leaves.push(node);
  }
  leaves.sort((a, b) => firstPoint(a) - firstPoint(b));
  const position = new Map<number, number>(leaves.map((node, k) => [node, k]));
  const heightOf = (node: number) => (isLeaf(node) ? 0 : heights[node - n]);
  const branches: Branch[] = [];
  for (let t = from; t < M; t++) {
    const [a, b] = [merges[2 * t], merges[2 * t + 1]];
    const [x, y] = [position.get(a)!, position.get(b)!];
    const [l, r] = x <= y ? [a, b] : [b, a];
    branches.push({
      left: Math.min(x, y),
      right: Math.max(x, y),
      leftHeight: heightOf(l),
      rightHeight: heightOf(r),
      height: heights[t],
    });
    position.set(n + t, 0.5 * (x + y));
  }
  return { numLeaves: leaves.length, branches, heights: Array.from(heights.subarray(from)).reverse() };
}

/** Height of the cut that leaves K groups: midway between the merges it lies between. */
export function cutHeight({ heights }: DendrogramLayout, numGroups: number): number {
  const above = heights[numGroups - 2] ?? heights[0] * 1.05;
  const below = heights[numGroups - 1] ?? 0;
  return numGroups <= 1 ? heights[0] * 1.05 : 0.5 * (above + below);
}
