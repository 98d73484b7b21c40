import { parseHTML } from "linkedom";
import { describe, expect, it } from "vitest";
import type { MapLayout } from "./map-base.ts";
import type { MapData } from "./map-data.ts";
import { drawPills } from "./pills.ts";
import { penOf } from "./svg.ts";

const { document } = parseHTML("<html><body></body></html>") as unknown as { document: Document };
const layout: MapLayout = {
  left: 0,
  top: 0,
  right: 540,
  bottom: 540,
  unit: 90,
  x: (v) => 270 + 90 * v,
  y: (v) => 270 - 90 * v,
};

/** Clouds of dots around the given middles, one group each, on a spiral. */
function cloudMap(middles: readonly (readonly [number, number])[], names: readonly string[]): MapData {
  const size = 40;
  const places = middles.flatMap(([x, y]) =>
    Array.from({ length: size }, (_, k) => [
      x + 0.5 * Math.sqrt(k / size) * Math.cos(2.4 * k),
      y + 0.5 * Math.sqrt(k / size) * Math.sin(2.4 * k),
    ]).flat(),
  );
  const m = size * middles.length;
  return {
    places: Float64Array.from(places),
    sd: new Float64Array(m).fill(0.2),
    labels: Int32Array.from({ length: m }, (_, i) => Math.floor(i / size)),
    groups: names.map((name, group) => ({ group, letter: String.fromCharCode(65 + group), name })),
  } as unknown as MapData;
}

const pillsOf = (map: MapData) =>
  Array.from(drawPills(penOf({ document, width: 540 }, 540), layout, map).group.querySelectorAll("rect"), (rect) => {
    const at = (name: string) => Number(rect.getAttribute(name));
    return { x: at("x"), y: at("y"), w: at("width"), h: at("height") };
  });

describe("drawPills", () => {
  const middles = [
    [-1.6, 0.4],
    [0, 0.2],
    [1.5, 0.3],
    [0.2, -1.4],
  ] as const;
  const names = ["rises 24% a year to 40 by year 9", "stable near 96", "falls 8 a year to 45 by year 5", "falls"];
  const pills = pillsOf(cloudMap(middles, names));

  it("gives every group a pill inside the figure, none on another", () => {
    expect(pills.length).toBe(4);
    pills.forEach((a, k) => {
      expect(a.x).toBeGreaterThanOrEqual(0);
      expect(a.x + a.w).toBeLessThanOrEqual(540);
      for (const b of pills.slice(k + 1)) {
        expect(a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h).toBe(false);
      }
    });
  });

  it("stands nearer to the middle of its own group than to any other", () => {
    const distance = ({ x, y, w, h }: (typeof pills)[number], [u, v]: readonly [number, number]) => {
      const [px, py] = [layout.x(u), layout.y(v)];
      return Math.hypot(Math.max(x - px, 0, px - x - w), Math.max(y - py, 0, py - y - h));
    };
    pills.forEach((pill, k) => {
      const all = middles.map((middle) => distance(pill, middle));
      expect(all[k]).toBe(Math.min(...all));
      expect(all[k]).toBeLessThan(90);
    });
  });

  it("cuts a long name after a word that can end a phrase", () => {
    const map = cloudMap([[0, 0]], ["rises slowly for a long time, then more and more quickly to 17 by year 9"]);
    const drawn = drawPills(penOf({ document, width: 540 }, 540), layout, map).group;
    const text = Array.from(drawn.querySelectorAll("text"), (t) => t.textContent ?? "").find((t) => t.length > 1)!;
    expect(text).toMatch(/^Rises slowly .*[a-z] …$/);
    expect(text).not.toMatch(/ (to|by|from|a|then) …$/);
  });
});
