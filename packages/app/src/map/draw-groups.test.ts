import { describe, expect, it } from "vitest";
import { pillsBeside } from "./draw-groups.ts";

describe("pillsBeside", () => {
  it("leaves out the names that would cover what is open", () => {
    const viewport = {
      width: 400,
      height: 300,
      window: { x: 0, y: 0, zoom: 1 },
      unit: 100,
      originX: 200,
      originY: 150,
    };
    const pill = (x: number, y: number) => ({
      x,
      y,
      middle: [x, y] as const,
      rank: 0,
      letter: "A",
      words: "Stable",
      width: 80,
    });
    const [near, far] = [pill(0, 0), pill(1, 1)];
    expect(pillsBeside([near, far], viewport, [{ x: 157, y: 145, halfWidth: 8, halfHeight: 5 }])).toEqual([far]);
    expect(pillsBeside([near, far], viewport, [])).toEqual([near, far]);
  });
});
