import { describe, expect, it } from "vitest";
import { pillsBeside, shortName } from "./draw-groups.ts";

describe("shortName", () => {
  it("keeps a name that fits, and else drops its last clauses before it cuts words", () => {
    expect(shortName("Stable near 100", 220)).toBe("Stable near 100");
    expect(shortName("Falls, more slowly from year 3, to 44 by year 9", 220)).toBe("Falls, more slowly from year 3");
    expect(shortName("A name that somebody gave and that has no clauses at all", 220)).toMatch(/^A name that .*…$/);
  });

  it("never leaves a single word that says too little", () => {
    expect(shortName("Falls, by very much more than anybody would have thought", 220)).toMatch(/^Falls, by .*…$/);
  });
});

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
    const pill = (x: number, y: number) => ({ x, y, group: 0, letter: "A", words: "Stable", width: 80 });
    const [near, far] = [pill(0, 0), pill(1, 1)];
    expect(pillsBeside([near, far], viewport, [[150, 140, 165, 150]])).toEqual([far]);
    expect(pillsBeside([near, far], viewport, [])).toEqual([near, far]);
  });
});
