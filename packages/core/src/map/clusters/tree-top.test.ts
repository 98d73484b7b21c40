import { describe, expect, it } from "vitest";
import { createRandom } from "../../numeric/random.ts";
import { treeTop } from "./tree-top.ts";
import { cutTree, wardTree } from "./ward.ts";

const random = createRandom(8);
const n = 200;
const tree = wardTree(
  Float64Array.from({ length: 2 * n }, () => random.normal()),
  n,
  2,
);

describe("treeTop", () => {
  const labels = cutTree(tree, 5);
  const { leaves, merges, cut } = treeTop(tree, labels, 5);

  it("keeps 30 branches that hold everybody once", () => {
    expect(leaves).toHaveLength(30);
    expect(merges).toHaveLength(29);
    expect(leaves.reduce((s, { size }) => s + size, 0)).toBe(n);
    expect(merges[28][3]).toBe(n);
  });

  it("merges two open branches each time, at the heights of the tree, sizes adding up", () => {
    const size = leaves.map((leaf) => leaf.size);
    const open = new Set(size.keys());
    merges.forEach(([a, b, height, total], t) => {
      expect(open.delete(a) && open.delete(b)).toBe(true);
      expect(total).toBe(size[a] + size[b]);
      expect(height).toBe(tree.heights[n - 30 + t]);
      open.add(30 + t);
      size.push(total);
    });
    expect([...open]).toEqual([58]);
  });

  it("stands its branches so that no two lines cross: every merge spans neighbours", () => {
    const span = leaves.map((_, k) => [k, k]);
    for (const [a, b] of merges) {
      expect(span[a][1] + 1).toBe(span[b][0]);
      span.push([span[a][0], span[b][1]]);
    }
  });

  it("gives every branch its group and cuts between groups", () => {
    const sizes = [0, 1, 2, 3, 4].map((g) => labels.filter((label) => label === g).length);
    const found = [0, 1, 2, 3, 4].map((g) => leaves.reduce((s, leaf) => s + (leaf.group === g ? leaf.size : 0), 0));
    expect(found).toEqual(sizes);
    expect(merges.filter(([, , height]) => height > cut)).toHaveLength(4);
  });

  it("says −1 for a branch of several groups, and keeps all points of a small tree", () => {
    expect(treeTop(tree, cutTree(tree, 60), 5).leaves.some(({ group }) => group === -1)).toBe(true);
    const small = wardTree(Float64Array.of(0, 1, 5), 3, 1);
    expect(treeTop(small, [0, 0, 1], 2).leaves).toEqual([
      { size: 1, group: 1 },
      { size: 1, group: 0 },
      { size: 1, group: 0 },
    ]);
    const one = wardTree(Float64Array.of(4), 1, 1);
    expect(treeTop(one, [0], 1)).toEqual({ leaves: [{ size: 1, group: 0 }], merges: [], cut: 0 });
  });
});
