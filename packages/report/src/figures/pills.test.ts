import { parseHTML } from "linkedom";
import { describe, expect, it } from "vitest";
import type { MapLayout } from "./map-base.ts";
import { drawPills, type GroupedDots, placePills, shortName } from "./pills.ts";
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
function cloudMap(middles: readonly (readonly [number, number])[], names: readonly string[]): GroupedDots {
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
    labels: Int32Array.from({ length: m }, (_, i) => Math.floor(i / size)),
    groups: names.map((name, group) => ({ group, letter: String.fromCharCode(65 + group), name })),
    drawn: Int32Array.from({ length: m }, (_, i) => i),
  };
}

const drawn = (dots: GroupedDots) => drawPills(penOf({ document }, 540), layout, placePills(layout, dots));
const pillsOf = (dots: GroupedDots) =>
  Array.from(drawn(dots).querySelectorAll("rect"), (rect) => {
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

  it("takes names of very many dots no further away than of few", () => {
    const few = cloudMap(middles, names);
    const times = 200;
    const repeat = (values: ArrayLike<number>) => Array.from({ length: times }, () => Array.from(values)).flat();
    const [places, labels] = [repeat(few.places), repeat(few.labels)];
    const many = pillsOf({ ...few, places, labels, drawn: Int32Array.from(labels, (_, i) => i) });
    many.forEach((pill, k) => {
      const [px, py] = [layout.x(middles[k][0]), layout.y(middles[k][1])];
      expect(Math.hypot(pill.x + pill.w / 2 - px, pill.y + pill.h / 2 - py)).toBeLessThan(150);
    });
  });
});

describe("shortName", () => {
  it("keeps a name that fits, and else drops its last clauses before it cuts words", () => {
    expect(shortName("Stable near 100", 220)).toBe("Stable near 100");
    expect(shortName("Falls, more slowly from year 3, to 44 by year 9", 220)).toBe("Falls, more slowly from year 3");
    expect(shortName("A name that somebody gave and that has no clauses at all", 220)).toMatch(
      /^A name that .*[a-z] …$/,
    );
    expect(shortName("Falls 2.8 per unit of time to 71 by year 8", 190)).toMatch(/[a-z] …$/);
    expect(shortName("Falls 2.8 per unit of time to 71 by year 8", 190)).not.toMatch(/ (to|by|from|a|per|then) …$/);
  });

  it("never leaves a single word that says too little", () => {
    expect(shortName("Falls, by very much more than anybody would have thought", 220)).toMatch(/^Falls, by .*…$/);
  });
});
