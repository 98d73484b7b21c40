import { parseHTML } from "linkedom";
import { describe, expect, it } from "vitest";
import { timeAxis } from "./chart.ts";
import { coverageCurve, drawDifferences } from "./comparison.ts";
import { eventTotals, shareCurves, survivalAt } from "./shared-curve.ts";
import { drawnPoints, spreadLabels } from "./survival.ts";
import { fitText, label, makeRoot, penOf, serialize, textWidth, wrapText } from "./svg.ts";
import { roundTicks } from "./ticks.ts";

const { document } = parseHTML("<html><body></body></html>") as unknown as { document: Document };

describe("writing SVG", () => {
  it("makes hostile text harmless and keeps it readable", () => {
    const pen = penOf({ document }, 100);
    const text = '</text><script>alert("1")</script>&\u0000';
    const written = serialize(makeRoot(pen, 10, label(pen, text, 0, 0, { "data-x": '"><b' })));
    expect(written).not.toContain("<script");
    expect(written).not.toContain("<b");
    expect(written).toContain("&lt;/text&gt;&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;</text>");
  });

  it("fits and wraps text by its width", () => {
    expect(fitText("short", 12, 100)).toBe("short");
    const cut = fitText("falls 1.1 a year to 68 by year 10", 12, 80);
    expect(cut.endsWith("…")).toBe(true);
    expect(textWidth(cut, 12)).toBeLessThanOrEqual(80);
    for (const line of wrapText("a line of several words that is too long", 12, 90)) {
      expect(textWidth(line, 12)).toBeLessThanOrEqual(90);
    }
  });
});

describe("axes", () => {
  it("have round ticks inside the range, the last label with the unit", () => {
    expect(roundTicks(0, 10, 4)).toEqual([0, 2, 4, 6, 8, 10]);
    expect(roundTicks(-0.12, 0.31, 4)).toEqual([-0.1, 0, 0.1, 0.2, 0.3]);
    const axis = timeAxis(0, 9.4, "year");
    expect(axis.ticks.map(axis.format)).toEqual(["0", "2", "4", "6", "year 8"]);
    // An end close to a round number is moved there.
    expect(timeAxis(0.01, 9.8, "year")).toMatchObject({ domain: [0, 10], ticks: [0, 2, 4, 6, 8, 10] });
  });
});

describe("differences of models", () => {
  const difference = (model: string, mean: number) => ({ model, mean, lower: mean - 0.2, upper: mean + 0.2 });
  const comparison = {
    differences: [difference("population", -1.65), difference("locf", -0.35), difference("dtm", 0.26)],
  } as unknown as Parameters<typeof drawDifferences>[0];

  it("have labels that do not meet, on a phone and on a desk", () => {
    for (const width of [280, 310, 360, 540, 900]) {
      const root = drawDifferences(comparison, { document, width });
      const labels = Array.from(root.querySelectorAll("text"), (text) => {
        const [x, y] = ["x", "y"].map((name) => Number(text.getAttribute(name)));
        const long = textWidth(text.textContent ?? "", Number(text.getAttribute("font-size") ?? 11));
        const anchor = text.getAttribute("text-anchor");
        const left = anchor === "middle" ? x - long / 2 : anchor === "end" ? x - long : x;
        return { y, left, right: left + long, words: text.textContent };
      });
      expect(labels.filter(({ words }) => words === "0")).toHaveLength(1);
      for (const [k, a] of labels.entries()) {
        for (const b of labels.slice(k + 1)) {
          if (Math.abs(a.y - b.y) < 8)
            expect([width, a.words, b.words, a.right < b.left || b.right < a.left]).toEqual([
              width,
              a.words,
              b.words,
              true,
            ]);
        }
      }
    }
  });
});

describe("coverage from PIT counts", () => {
  it("is the diagonal for equal counts and complete at the end", () => {
    const curve = coverageCurve(new Array(10).fill(7));
    for (const { nominal, observed } of curve) expect(observed).toBeCloseTo(nominal, 12);
  });

  it("lies below the diagonal when visits fall into the tails", () => {
    const curve = coverageCurve([30, 10, 5, 5, 5, 5, 5, 5, 10, 30]);
    for (const { nominal, observed } of curve.slice(1, -1)) expect(observed).toBeLessThan(nominal);
  });
});

describe("survival curves", () => {
  const curve = {
    group: 0,
    numIndividuals: 4,
    numEvents: 2,
    times: [1, 2, 3],
    survival: [0.75, 0.75, 0.375],
    lower: [0.1, 0.1, 0.1],
    upper: [0.9, 0.9, 0.9],
    atRisk: [4, 3, 2],
  };

  it("are read as step functions with the number at risk just before", () => {
    expect(survivalAt(curve, 0)).toMatchObject({ survival: 1, atRisk: 4, noEvent: true });
    // Four at risk and no event: Clopper and Pearson's bound.
    expect(survivalAt(curve, 0.5).lower).toBeCloseTo(0.025 ** 0.25, 12);
    expect(survivalAt(curve, 1)).toMatchObject({ survival: 0.75, atRisk: 4 });
    expect(survivalAt(curve, 2.5)).toMatchObject({ survival: 0.75, atRisk: 2 });
    expect(survivalAt(curve, 4)).toMatchObject({ survival: 0.375, atRisk: 0 });
    const shared = (limit: number) => shareCurves([curve], [eventTotals(curve)], { times: [] }, limit)[0]!;
    // Whole for the owner of the data: every step to the last time; withheld where it is shared.
    const steps = drawnPoints(shared(1), 4).map(({ t, s }) => [t, s]);
    expect(steps).toEqual([[0, 1], ...curve.times.map((t, j) => [t, curve.survival[j]])]);
    expect(drawnPoints(shared(11), 4)).toEqual([]);
  });

  it("have labels that keep their order and distance and stay inside", () => {
    expect(spreadLabels([0, 0.5, 0.01], 0.1)).toEqual([0.05, 0.5, 0.15000000000000002]);
    const at = spreadLabels([0.95, 0.96, 0.5, 0.97], 0.05);
    const sorted = [...at].sort((a, b) => a - b);
    for (let k = 1; k < 4; k++) expect(sorted[k] - sorted[k - 1]).toBeGreaterThanOrEqual(0.05 - 1e-12);
    expect(Math.max(...at)).toBeLessThanOrEqual(1 + 1e-12);
    expect(at[2]).toBe(0.5);
  });
});
