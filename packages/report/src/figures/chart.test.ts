import { parseHTML } from "linkedom";
import { describe, expect, it } from "vitest";
import { chart, trim } from "./chart.ts";
import { penOf } from "./svg.ts";

const { document } = parseHTML("<html><body></body></html>") as unknown as { document: Document };

describe("chart", () => {
  it("labels every line of a log scale, also where they are not powers of ten", () => {
    const drawing = chart(penOf({ document }, 300), {
      height: 160,
      x: { domain: [0, 10], ticks: [0, 5, 10], format: trim },
      y: { type: "log", domain: [1, 64], ticks: [1, 4, 16, 64], format: trim },
      marks: [],
    });
    const labels = Array.from(drawing.querySelectorAll("text"), (text) => text.textContent);
    expect(labels).toEqual(["0", "5", "10", "1", "4", "16", "64"]);
  });
});
