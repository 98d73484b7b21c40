/**
 * The tree of merges as a page that may be shared draws it. Sizes of branches nest with sizes of groups, so that even rounded ones narrow what is held back:
 * a branch of about 35 in a group of 40 leaves 3 to 7 for the other. Shared pages tell none of them. A group whose size is held back is one branch,
 * since it has at least as many individuals as branches.
 */
import type { StudyTree } from "./study.ts";

/** The tree with every hidden group as one branch; undefined where that cannot be, because others are taken from within it. */
export function sharedTree(tree: StudyTree, hidden: ReadonlySet<number>): StudyTree | undefined {
  const { leaves, merges } = tree;
  // Which hidden group all leaves of a node belong to; undefined if none, or several.
  const within = leaves.map(({ group }) => (hidden.has(group) ? group : undefined));
  for (const [a, b] of merges) within.push(within[a] === within[b] ? within[a] : undefined);
  const kept: StudyTree["leaves"][number][] = [];
  const numbers = new Map<number, number>();
  const inside = new Set(merges.flatMap(([a, b], k) => (within[leaves.length + k] === undefined ? [] : [a, b])));
  /** The leaves of a node, in the order in which they are drawn, as one branch or as they are. */
  const sizeOf = (node: number) => (node < leaves.length ? leaves[node].size : merges[node - leaves.length][3]);
  const leavesOf = (node: number): number[] => {
    if (node < leaves.length) return [node];
    const [a, b] = merges[node - leaves.length];
    return [...leavesOf(a), ...leavesOf(b)];
  };
  const tops = [...within.keys()].filter((node) => {
    return !inside.has(node) && (node < leaves.length || within[node] !== undefined);
  });
  tops.sort((a, b) => Math.min(...leavesOf(a)) - Math.min(...leavesOf(b)));
  for (const node of tops) {
    numbers.set(node, kept.length);
    kept.push({ ...leaves[leavesOf(node)[0]], size: sizeOf(node) });
  }
  const often = (group: number) => kept.filter((leaf) => leaf.group === group).length;
  if ([...hidden].some((group) => often(group) > 1)) return undefined;
  const joined: StudyTree["merges"][number][] = [];
  for (const [k, [a, b, height, size]] of merges.entries()) {
    const node = leaves.length + k;
    if (within[node] !== undefined) continue;
    numbers.set(node, kept.length + joined.length);
    joined.push([numbers.get(a)!, numbers.get(b)!, height, size]);
  }
  return { ...tree, leaves: kept, merges: joined };
}
