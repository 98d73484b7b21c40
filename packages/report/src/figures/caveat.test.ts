import type { MapVerdict } from "@trajectory-maps/core";
import { parseHTML } from "linkedom";
import { describe, expect, it } from "vitest";
import { tokensOf } from "../theme.ts";
import { caveatOf, withCaveat } from "./caveat.ts";
import { type Figure, figureToSvg } from "./figure.ts";
import { make, makeRoot, penOf } from "./svg.ts";

const { document } = parseHTML("<html><body></body></html>") as unknown as { document: Document };

const figure: Figure = {
  key: "map",
  title: "Map",
  caption: "",
  summary: "Everyone.",
  table: { columns: [], rows: [] },
  width: 300,
  draw: (canvas) => {
    const pen = penOf(canvas, 300);
    const hues = [...pen.tokens.group, ...pen.tokens.sequential, ...pen.tokens.diverging];
    return makeRoot(pen, 200, ...hues.map((fill) => make(pen, "rect", { fill })));
  },
};

describe("a map that should not be used", () => {
  const verdict = (colour: MapVerdict["colour"]): MapVerdict => ({
    ...{ colour, state: "unknown", advice: "Do not", reason: "", words: "Do not", lights: [] },
    headline: "Do not. Places say nothing.",
  });

  it("has its verdict on it, in the drawing and for those who cannot see it, and no hue", () => {
    const drawn = figureToSvg(withCaveat(figure, caveatOf(verdict("grey"))), { document });
    expect(drawn).toContain("<desc>Do not. Places say nothing. Everyone.</desc>");
    expect(drawn).toContain(">Do not. Places say nothing.</text>");
    const { group, sequential, diverging } = tokensOf("light");
    for (const hue of [...group, ...sequential, ...diverging]) expect(drawn).not.toContain(hue);
    expect(drawn).toContain('height="200"');
  });

  it("differs from one that may be used, which is drawn as it is", () => {
    for (const colour of ["green", "amber"] as const) {
      expect(withCaveat(figure, caveatOf(verdict(colour)))).toBe(figure);
    }
  });
});
