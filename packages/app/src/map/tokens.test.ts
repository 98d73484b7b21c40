import { describe, expect, it } from "vitest";
import { mapTokens } from "./tokens.ts";

/** Relative luminance of "#RRGGBB", as WCAG defines it. */
function luminance(hex: string): number {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const v = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
const contrast = (a: string, b: string) => {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high + 0.05) / (low + 0.05);
};
/** A colour laid on another. */
const laid = (over: string, under: string, opacity: number) =>
  `#${[1, 3, 5]
    .map((at) => {
      const [a, b] = [over, under].map((hex) => Number.parseInt(hex.slice(at, at + 2), 16));
      return Math.round(opacity * a + (1 - opacity) * b)
        .toString(16)
        .padStart(2, "0");
    })
    .join("")}`;

describe.each(["light", "dark"] as const)("coloured terrain, %s", (theme) => {
  const { terrain, diverging, ink } = mapTokens(theme);

  it("lets dots be seen on each of its colours, those of half certainty too", () => {
    for (const colour of terrain) {
      expect(contrast(ink, colour)).toBeGreaterThan(4.5);
      expect(contrast(laid(ink, colour, 0.5), colour)).toBeGreaterThan(2);
    }
    // Of two hues the ends are darker, so that they are told from the middle and from each other.
    for (const colour of diverging) expect(contrast(ink, colour)).toBeGreaterThan(2.9);
  });

  it("has steps in one order, each told from the next", () => {
    const steps = terrain.map(luminance);
    const sign = Math.sign(steps[4] - steps[0]);
    steps.slice(1).forEach((light, k) => {
      expect(sign * (light - steps[k])).toBeGreaterThan(0);
      expect(contrast(terrain[k + 1], terrain[k])).toBeGreaterThan(1.1);
    });
  });
});
