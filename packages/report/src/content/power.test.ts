import type { StudyPower } from "@trajectory-maps/core/study";
import { parseHTML } from "linkedom";
import { describe, expect, it } from "vitest";
import { figureToSvg } from "../figures/figure.ts";
import { renderPower } from "../page/power-page.ts";
import { forecastTable, linksTable, placesTable, powerFigure, powerParagraph } from "./power.ts";

const { document } = parseHTML("<html><body></body></html>") as unknown as { document: Document };

const point = (effect: number, power: number) => ({ effect, power, standardError: 0.02 });
const certainty = (from: number, to: number | null) => ({
  visits: { from, to },
  share: 0.5,
  radius: { median: 1.2, lower: 1.1, upper: 1.4 },
  resolved: 0.55,
  resolvedError: 0.004,
});
const study: StudyPower = {
  numIndividuals: 300,
  visits: { mean: 4.2, median: 4, lower: 3, upper: 5 },
  outside: { visits: 0, of: 5, individuals: 0 },
  risk: 0.3,
  level: 0.05,
  power: 0.8,
  replicates: 50,
  numOutcomes: 10,
  map: "fitted",
  places: {
    priorRadius: 2.146,
    all: { ...certainty(1, 2), visits: null, share: 1 },
    classes: [certainty(3, 3), certainty(4, 5)],
    directions: [],
  },
  links: [
    {
      kind: "most-resolved",
      resolved: 0.75,
      groupShare: null,
      curve: [point(0, 0.05), point(0.5, 0.7), point(1, 1)],
      knownCurve: [point(0, 0.05), point(0.5, 0.72), point(1, 1)],
      smallest: {
        effect: Math.log(2),
        lower: Math.log(1.9),
        upper: Math.log(2.15),
        risks: { lower: 0.18, upper: 0.44, placeDifference: 0.6 },
      },
      knownSmallest: { effect: Math.log(1.9), lower: Math.log(1.8), upper: Math.log(2) },
    },
    {
      kind: "least-resolved",
      resolved: 0.1,
      groupShare: null,
      curve: [point(0, 0.05), point(Math.log(50), 0.4)],
      knownCurve: [point(0, 0.05), point(Math.log(50), 0.5)],
      smallest: null,
      knownSmallest: null,
    },
  ],
  forecasts: {
    until: 1.5,
    numIndividuals: 200,
    widths: [{ time: 3, width: 32, widthWithoutVisits: 62, inSds: 1.71, inSdsError: 0.02 }],
  },
  seed: 1,
};
const source = { marker: "FVC", unit: "%", timeUnit: "years", numIndividuals: 312, standsIn: false };

describe("the words of a planned study", () => {
  it("tell model, sizes, errors and assumptions in one paragraph", () => {
    const text = powerParagraph(study, source);
    for (const said of [
      "50 studies of 300 individuals with a median of 4 visits each (IQR 3-5)",
      "a map fitted to FVC of 312 individuals. In each, a map was fitted to the simulated values",
      "An odds ratio of 2 (95% Monte Carlo interval 1.9 to 2.15) per prior standard deviation",
      "risks of 18% and 44% one standard deviation to either side",
      "No odds ratio up to 50 would be found with 80% power along the direction that they resolve least (10%).",
      "median radius of 1.20 prior standard deviations (2.15 without visits)",
      "at year 3 would be 1.71 (Monte Carlo error 0.02) standard deviations of the marker wide, against 3.29 without visits",
      "This assumes",
    ]) {
      expect(text).toContain(said);
    }
    expect(powerParagraph(study, { ...source, standsIn: true })).toContain("which stands in for one of the disease");
    expect(powerParagraph({ ...study, map: "known" }, source)).toContain("a study that fits its own would find less");
  });

  it("have a row for nobody, each class and all; each link; each horizon", () => {
    expect(placesTable(study).rows.map(([head]) => head)).toEqual(["none", "3", "4 to 5", "all"]);
    expect(linksTable(study).rows).toEqual([
      ["direction best resolved (75%)", "2", "1.9 to 2.15", "18% and 44%", "1.9"],
      ["direction least resolved (10%)", "above 50", "–", "–", "–"],
    ]);
    expect(forecastTable(study, source).rows).toEqual([["3", "32", "62", "1.71 (0.02)"]]);
  });

  it("stand on a page with a figure whose every number is one", () => {
    const svg = figureToSvg(powerFigure(study, source), { document });
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
    expect(svg).toContain("direction least resolved");
    const page = renderPower(study, { ...source, marker: "<b>FVC" }, document);
    expect(page).not.toContain("<b>FVC");
    expect(page).toContain("How well places would be known");
  });
});
