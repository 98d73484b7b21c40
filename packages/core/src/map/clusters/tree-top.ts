/**
 * The top of a tree, small enough to be written and drawn: the last merges, below which every branch is closed to a
 * leaf that stands for its points.   (docs/math/groups.md §1)
 */
import type { WardTree } from "./ward.ts";

export interface TreeTop {
  /** Closed branches from left to right in a drawing without crossings: points, and their group (−1: of several). */
  readonly leaves: readonly { readonly size: number; readonly group: number }[];
  /** Two nodes, height and size of each merge, lowest first; node k is leaf k, node leaves.length + t is merge t. */
  readonly merges: readonly (readonly [number, number, number, number])[];
  /** Height between the merges that were made and those that were not, where the tree is cut into its groups. */
  readonly cut: number;
}

/** Branches that are shown: more cannot be told apart in a drawing. */
export const NUM_LEAVES = 30;

/**
 * The last merges of a tree, down to thirty branches, or one for each of the `numCut` groups that it is cut into; `labels`
 * [n] are the groups of the points.
 */
export function treeTop(tree: WardTree, labels: ArrayLike<number>, numCut: number): TreeTop {
  const n = tree.numPoints;
  const numLeaves = Math.min(n, Math.max(NUM_LEAVES, numCut));
  const first = n - numLeaves; // The first merge that is shown.
  const { size, group } = describeNodes(tree, labels);
  // Left to right: the children of a shown merge are opened, all other nodes are leaves.
  const number = new Map<number, number>();
  const leaves: { size: number; group: number }[] = [];
  const open = [2 * n - 2];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (node >= n + first) open.push(tree.merges[2 * (node - n) + 1], tree.merges[2 * (node - n)]);
    else {
      number.set(node, leaves.length);
      leaves.push({ size: size[node], group: group[node] });
    }
  }
  const merges: [number, number, number, number][] = [];
  for (let t = first; t < n - 1; t++) {
    const [a, b] = [tree.merges[2 * t], tree.merges[2 * t + 1]].map((node) => number.get(node)!);
    number.set(n + t, numLeaves + merges.length);
    merges.push([a, b, tree.heights[t], size[n + t]]);
  }
  return { leaves, merges, cut: cutHeight(tree, numCut) };
}

/** Points below every node, and their group; −1 where there are several. */
function describeNodes({ numPoints: n, merges }: WardTree, labels: ArrayLike<number>) {
  const size = new Int32Array(2 * n - 1).fill(1);
  const group = new Int32Array(2 * n - 1);
  for (let i = 0; i < n; i++) group[i] = labels[i];
  for (let t = 0; t < n - 1; t++) {
    const [a, b] = [merges[2 * t], merges[2 * t + 1]];
    size[n + t] = size[a] + size[b];
    group[n + t] = group[a] === group[b] ? group[a] : -1;
  }
  return { size, group };
}

/** Half way between the last merge within groups and the first between them. */
function cutHeight({ numPoints: n, heights }: WardTree, numGroups: number): number {
  const below = n - numGroups > 0 ? heights[n - numGroups - 1] : 0;
  const above = numGroups > 1 ? heights[n - numGroups] : 1.05 * below;
  return (below + above) / 2;
}
