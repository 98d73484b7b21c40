import { describe, expect, it } from "vitest";
import { cutHeight, layoutDendrogram } from "./dendrogram-layout.ts";

// Four points: 0 with 1 at height 1, 2 with 3 at height 2, both pairs at height 5.
const TREE = {
  numPoints: 4,
  merges: Int32Array.of(0, 1, 2, 3, 4, 5),
  heights: Float64Array.of(1, 2, 5),
  leafOrder: Int32Array.of(0, 1, 2, 3),
};

describe("layoutDendrogram", () => {
  it("puts merges midway between their parts", () => {
    const { branches, numLeaves, heights } = layoutDendrogram(TREE);
    expect(numLeaves).toBe(4);
    expect(heights).toEqual([5, 2, 1]);
    expect(branches[2]).toEqual({ left: 0.5, right: 2.5, leftHeight: 1, rightHeight: 2, height: 5 });
  });

  it("takes what lies below the top merges as leaves", () => {
    const { branches, numLeaves } = layoutDendrogram(TREE, 2);
    expect(numLeaves).toBe(3);
    expect(branches).toEqual([
      { left: 1, right: 2, leftHeight: 0, rightHeight: 0, height: 2 },
      { left: 0, right: 1.5, leftHeight: 0, rightHeight: 2, height: 5 },
    ]);
  });

  it("cuts K groups between the merges that make K and K − 1", () => {
    const layout = layoutDendrogram(TREE);
    expect(cutHeight(layout, 2)).toBe(3.5);
    expect(cutHeight(layout, 3)).toBe(1.5);
    expect(cutHeight(layout, 1)).toBeGreaterThan(5);
  });
});
