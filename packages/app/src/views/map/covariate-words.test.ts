import { embed, fitDtm, simulatePlaces } from "@trajectory-maps/core";
import { codeCovariates, withCovariates } from "@trajectory-maps/core/ingest";
import { covariateEffects, viewMarker } from "@trajectory-maps/core/models";
import { drawArrows, effectCautions, effectTables } from "@trajectory-maps/report";
import { parseHTML } from "linkedom";
import { describe, expect, it } from "vitest";
import { livePen } from "../../map/pen.ts";
import { layoutOf, viewportOf } from "../../map/viewport.ts";
import { arrowsOf, cautionsOf, describedSentence } from "./covariate-words.ts";

const { cohort, subjects } = simulatePlaces({ numIndividuals: 80, numMarkers: 2, covariates: "places", seed: 7 });
const fitted = (effect: "places" | "level") => {
  const chosen = { covariates: [{ name: "c1" }, { name: "c2" }], effect };
  const own = withCovariates(cohort, codeCovariates(subjects, cohort.ids, chosen));
  return fitDtm(own, { restarts: 0, maxIterations: 4, seed: 1 });
};
const model = fitted("places");

describe("arrows of the map", () => {
  it("are the shifts of the whole model, seen from every marker", () => {
    const { shifts } = effectTables(model)!;
    expect(shifts).toHaveLength(2);
    for (const k of [0, 1]) expect(arrowsOf(viewMarker(model, k))).toEqual(shifts);
    expect(covariateEffects(model).shifts[0].length).toBeGreaterThan(0);
  });

  it("are none where covariates change the mean, or where there are none", () => {
    expect(arrowsOf(viewMarker(fitted("level"), 1))).toEqual([]);
    expect(arrowsOf(fitDtm(cohort, { restarts: 0, maxIterations: 1, seed: 1 }))).toEqual([]);
  });

  it("are drawn with their names", () => {
    const { document } = parseHTML("<html><body></body></html>");
    const viewport = viewportOf(600, 600, { x0: -2, x1: 2, y0: -2, y1: 2 }, { x: 0, y: 0, zoom: 1 });
    const pen = livePen(document as unknown as Document, "t");
    const { group, names } = drawArrows(pen, layoutOf(viewport), arrowsOf(model));
    expect(names).toHaveLength(2);
    expect([...group.querySelectorAll("text")].map((text) => text.textContent)).toEqual([
      expect.stringMatching(/^c1 /),
      expect.stringMatching(/^c2 /),
    ]);
  });
});

describe("cautions of effects in the mean", () => {
  // c1 shifts places in the simulation: an effect of it in the mean leaves part of it in the map.
  const coded = codeCovariates(subjects, cohort.ids, { covariates: [{ name: "c1" }], effect: "level" });
  const own = withCovariates(cohort, coded);
  const inMean = fitDtm(own, { restarts: 0, maxIterations: 4, seed: 1 });
  const placements = embed(inMean, own);

  it("are those of the report", () => {
    const cautions = cautionsOf({ model: inMean, cohort: own, placements });
    expect(cautions).toEqual(effectCautions(inMean, own, placements));
    for (const text of cautions) expect(text).toMatch(/^Places still go with c1 .* too small/);
  });

  it("are none where the cohort is not at hand", () => {
    expect(cautionsOf({ model: inMean, placements })).toEqual([]);
  });
});

it("people are described by their covariates", () => {
  expect(describedSentence({ age: 50, sex: "f" })).toBe("Courses of individuals with age 50, sex f.");
});
