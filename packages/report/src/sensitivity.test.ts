import type { Sensitivity, VariantResult } from "@trajectory-maps/core/study";
import { parseHTML } from "linkedom";
import { describe, expect, it } from "vitest";
import type { Context } from "./content/context.ts";
import { sensitivityTable, sensitivityText, variantNotes } from "./content/sensitivity-figure.ts";
import { drawSensitivity } from "./figures/sensitivity.ts";
import type { PageContext } from "./page/parts.ts";
import { sensitivitySection } from "./page/sensitivity-section.ts";

const { document } = parseHTML("<html><body></body></html>") as unknown as { document: Document };

const variant = (name: string, own: Partial<VariantResult> = {}): VariantResult => ({
  ...{ family: "noise", name, note: null, failed: null, converged: true, adjustedRand: 0.9, scoreNote: null },
  places: { compared: 60, correlation: 0.97, scale: 1, median: 0.1, p90: 0.3 },
  outcomes: [{ outcome: "death", p: 0.0004 }],
  score: { mean: 0.21, se: 0.1, lower: 0.01, upper: 0.41 },
  ...own,
});
const nothing = { converged: null, places: null, adjustedRand: null, outcomes: [], score: null } as const;
const sensitivity: Sensitivity = {
  variants: [
    variant("white noise"),
    variant("without everybody's last visit", { score: null, scoreNote: "Not comparable." }),
    variant("visits until 7", { score: null, scoreNote: "Not comparable.", converged: false }),
    variant("serial <noise>", { ...nothing, failed: "too few gaps." }),
  ],
  leftOut: [],
  run: {
    ...{ numIndividuals: 60, numGroups: 3, method: "bisect", perIndividual: -4.2, placeSd: 0.4 },
    outcomes: [{ outcome: "death", p: 0.03 }],
  },
  ...{ folds: 5, seed: 1, tail: 0.9, tailTime: 7, shift: 0.5, verdict: "Groups hold." },
};

describe("variants of a fit in the report", () => {
  it("are rows behind that of the model as fitted, with a dash for what does not compare", () => {
    const { columns, rows } = sensitivityTable(sensitivity);
    expect(columns.slice(-2)).toEqual(["held-out score (s.e.)", "Death: p"]);
    expect(rows.map((row) => row.length)).toEqual(rows.map(() => columns.length));
    expect(rows[0]?.slice(-2)).toEqual(["−4.20", "0.030"]);
    expect(rows[1]).toEqual(["white noise", "yes", "0.97", "0.10", "0.30", "0.90", "+0.21 (0.10)", "<\u00a00.001"]);
    expect(rows[3]?.[1]).toBe("no");
    expect(rows[4]).toEqual(["serial <noise>", "not fitted", ...Array.from({ length: 6 }, () => "–")]);
    expect(sensitivityTable({ ...sensitivity, folds: 0 }).columns).not.toContain("held-out score (s.e.)");
  });

  it("say once what holds for several", () => {
    expect(variantNotes(sensitivity.variants)).toEqual([
      { names: ["without everybody's last visit", "visits until 7"], text: "Not comparable." },
      { names: ["serial <noise>"], text: "not fitted: too few gaps." },
    ]);
  });

  it("are drawn as a dot in each panel that has a number, within the figure, and a dash elsewhere", () => {
    const drawing = drawSensitivity(sensitivity, { document });
    const dots = Array.from(drawing.querySelectorAll("circle"), (dot) => Number(dot.getAttribute("cx")));
    expect(dots).toHaveLength(3 + 3 + 1);
    for (const x of dots) expect(x > 0 && x < 900).toBe(true);
    const dashes = Array.from(drawing.querySelectorAll("text")).filter((text) => text.textContent === "–");
    expect(dashes).toHaveLength(1 + 1 + 3);
    const filled = Array.from(drawing.querySelectorAll("circle")).filter(
      (dot) => dot.getAttribute("fill") === dot.getAttribute("stroke"),
    );
    // The only score, whose interval leaves out 0.
    expect(filled).toHaveLength(1);
  });

  it("tell of outcomes by their names in words, not by those of columns", () => {
    const named = (p: number) => [{ outcome: "edema_ever", p }];
    const run = { ...sensitivity.run, outcomes: named(0.03) };
    const variants = [variant("white noise", { outcomes: named(0.2) })];
    const context = { study: { sensitivity: { ...sensitivity, variants, run } }, figures: new Map() };
    const body = sensitivitySection(context as unknown as PageContext)!.body.markup;
    expect(body).toContain("Edema ever: p below 0.05 in the run, but not with white noise.");
    expect(body).not.toContain("edema_ever");
  });

  it("are told of in the methods, with what was changed and how it was held against the run", () => {
    const context = { study: { sensitivity } } as unknown as Context;
    const text = sensitivityText(context);
    expect(text).toContain("fitted again 4 times with one choice changed: the noise.");
    for (const words of ["Procrustes", "adjusted Rand index", "the same test", "over the same 5 folds"]) {
      expect(text).toContain(words);
    }
    expect(sensitivityText({ study: {} } as unknown as Context)).toBe("");
  });
});
