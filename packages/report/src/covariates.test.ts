import { embed, fitDtm, simulatePlaces } from "@trajectory-maps/core";
import { codeCovariates, markerCohort, withCovariates } from "@trajectory-maps/core/ingest";
import { covariateEffects, viewMarker, viewPlacements } from "@trajectory-maps/core/models";
import { parseHTML } from "linkedom";
import { describe, expect, it } from "vitest";
import { contextOf } from "./content/context.ts";
import { studyFigures } from "./content/study-figures.ts";
import {
  disagreement,
  effectNote,
  effectTable,
  effectTables,
  methodsOf,
  renderReport,
  type Study,
  shiftTable,
  studyCovariates,
} from "./index.ts";
import { summarizeCohort } from "./summary.ts";

const { document } = parseHTML("<html><body></body></html>") as unknown as { document: Document };

const simulated = simulatePlaces({ covariates: "places", numMarkers: 2, seed: 4 });
const coded = codeCovariates(simulated.subjects, simulated.cohort.ids, {
  covariates: [{ name: "c1", kind: "category" }, { name: "c2" }, { name: "c3", effect: "level" }],
});
const cohort = withCovariates(simulated.cohort, coded);
const model = fitDtm(cohort, { restarts: 0, maxIterations: 15 });
const covariates = studyCovariates(model, cohort, embed(model, cohort), 1)!;

describe("covariates of a study", () => {
  it("are told by a step of a standard deviation, from 0 to 1, or against the reference", () => {
    const { shifts, effects } = effectTables(model)!;
    expect(shifts.map(({ level, step }) => [level, step])).toEqual([
      ["1", 1],
      [null, Number(coded.coding.columns[1].scale.toPrecision(2))],
    ]);
    expect(effects.map(({ marker, step }) => [marker, step])).toEqual([
      ["marker 1", 1],
      ["marker 2", 1],
    ]);
    expect(shifts[0].length).toBe(covariateEffects(model).shifts[0].length);
    expect(shiftTable(shifts).rows[0][0]).toBe("c1, 1 against 0");
  });

  it("have effects with the kind of their error, and those of the mixed model beside them", () => {
    const { effects } = effectTables(model)!;
    const told = effectTable(effects);
    expect(told.columns).toEqual(["Marker and covariate", "effect", "95% CI", "error", "mixed model", "95% CI"]);
    told.rows.forEach((row, e) => {
      expect(row).toHaveLength(6);
      expect(row[3]).toBe(effects[e].errorKind);
    });
    const older = effectTable(effects.map((row) => ({ ...row, mixedModel: null })));
    expect(older.columns).toHaveLength(4);
    expect(older.rows[0]).toEqual(told.rows[0].slice(0, 4));
  });

  it("say what their intervals know, and of a rate only where there is one", () => {
    const { effects } = effectTables(model)!;
    expect(effectNote(effects)).toContain("Intervals are given this map");
    expect(effectNote(effects)).not.toContain("rate");
    expect(effectNote([{ ...effects[0], quantity: "rate" }])).toContain("rate per unit of time");
    expect(effectNote(effects.map((row) => ({ ...row, mixedModel: null })))).not.toContain("mixed model");
  });

  it("say at what time a level is, unless it is the same at all times", () => {
    const [row] = effectTables(model)!.effects;
    const changing = { ...row, time: 5.6 };
    expect(effectTable([row]).rows[0][0]).toBe("marker 1, level: c3, per 1");
    expect(effectTable([changing]).rows[0][0]).toBe("marker 1, level at 5.6: c3, per 1");
    expect(effectNote([row])).not.toContain("middle");
    expect(effectNote([changing])).toContain("level in the middle of the range of times");
  });

  it("warn where map and mixed model disagree about 0", () => {
    const [row] = effectTables(model)!.effects;
    const told = (own: readonly number[], other: readonly number[]) => {
      const [estimate, lower, upper] = own;
      const beside = { ...row.mixedModel!, estimate: other[0], lower: other[1], upper: other[2] };
      return disagreement({ ...row, estimate, lower, upper, mixedModel: beside });
    };
    expect(told([0.3, 0.05, 0.55], [0.18, -0.11, 0.48])).toEqual([
      "marker 1, level: c3, per 1: intervals of map and mixed model leave out 0 in the map alone, +0.3 (+0.05 to +0.55) against +0.18 (−0.11 to +0.48). Whether there is an effect hangs on the model: do not rest on it.",
    ]);
    expect(told([0.1, -0.1, 0.3], [-0.3, -0.5, -0.1])[0]).toContain("leave out 0 in the mixed model alone");
    expect(told([0.3, 0.1, 0.5], [-0.3, -0.5, -0.1])[0]).toContain("have opposite signs");
    for (const same of [
      [0.2, 0.1, 0.3],
      [0.1, -0.1, 0.3],
      [-0.2, -0.3, -0.1],
    ])
      expect(told(same, same)).toEqual([]);
    expect(disagreement({ ...row, lower: 1, mixedModel: null })).toEqual([]);
  });

  it("have courses at the 10th and 90th percentile and at each level, of every marker", () => {
    const words = covariates.courses.filter(({ marker }) => marker.name === "marker 1").map(({ courses }) => courses);
    expect(words.map((own) => own.map((course) => course.words.replace(/[−\d.]+ \(/, "x (")))).toEqual([
      ["c1 0", "c1 1"],
      ["c2 x (10th percentile)", "c2 x (90th percentile)"],
      ["c3 0", "c3 1"],
    ]);
    // An effect on the level moves the whole course by it.
    const [low, high] = covariates.courses.find(({ covariate }) => covariate === "c3")!.courses;
    const { estimate } = covariates.effects[0];
    for (const t of [0, 20, 40]) expect(high.median[t] - low.median[t]).toBeCloseTo(estimate, 6);
  });

  it("have a section, figures and a paragraph of methods; a study without them has none", () => {
    const placements = embed(model, cohort);
    const study: Study = {
      cohort: summarizeCohort(markerCohort(cohort, 0)),
      model: viewMarker(model, 0),
      placements: viewPlacements(placements, model.markers, 0),
      covariates,
    };
    const page = renderReport(study, { document });
    expect(page).toContain('id="figure-shifts"');
    expect(page).toContain('id="figure-covariate-courses"');
    expect(page).toContain("Effects in the mean");
    const keys = studyFigures({ ...study, covariates: undefined }).map(({ key }) => key);
    expect(keys).not.toContain("shifts");
    const words = methodsOf(contextOf(study)).paragraphs.join(" ");
    expect(words).toContain("shifted by c1 and c2");
    expect(words).toContain("effects of c3: a constant");
    expect(words).toContain("compared with c1 0");
  });
});
