import { parseHTML } from "linkedom";
import { beforeAll, describe, expect, it } from "vitest";
import { groupPlaces } from "../../core/src/map/groups.ts";
import { fitFpca } from "../../core/src/models/fit-models.ts";
import { embed } from "../../core/src/models/place.ts";
import { createRandom } from "../../core/src/numeric/random.ts";
import { simulateCohort } from "../../core/src/simulate/cohorts.ts";
import { dropoutSensitivity } from "../../core/src/study/dropout-sensitivity.ts";
import { landmarkSurvival } from "../../core/src/study/landmark-survival.ts";
import { contextOf } from "./content/context.ts";
import { incidenceOf, sharedIncidences } from "./figures/risk.ts";
import { drawnAt, toldAt } from "./figures/shared-curve.ts";
import { methodsOf, renderReport, type Study, studyFigures, studyGroups, summarizeCohort } from "./index.ts";
import { fixed, percent } from "./numbers.ts";
import { tippingSentences } from "./survival-words.ts";

const { document } = parseHTML("<html><body></body></html>") as unknown as { document: Document };

let study: Study;
let alone: Study;

beforeAll(async () => {
  const { cohort } = simulateCohort("pfvc", { numIndividuals: 200, seed: 4 });
  const model = fitFpca(cohort, { rank: 2 });
  const placements = embed(model, cohort);
  const groups = groupPlaces(model, placements, { numGroups: 3 });
  const random = createRandom(9);
  const times = Float64Array.from(placements.ids, (_, i) => placements.lastTime[i] + 10 * random.uniform());
  const causes = Float64Array.from(times, () => random.integer(3));
  const followUp = (cause: number) => ({ times, events: causes.map((c) => (c === cause ? 1 : 0)) });
  const competing = [{ name: "lung_transplant", followUp: followUp(2) }];
  const given = { model, cohort, placements, groups };
  const options = { draws: 99, riskTimes: [2, 5] };
  const survival = await landmarkSurvival(given, "death", followUp(1), 3, { ...options, competing });
  const plain = await landmarkSurvival(given, "death", followUp(1), 3, options);
  const dropout = dropoutSensitivity(given, followUp(1).events, "those with death");
  const whole = { cohort: summarizeCohort(cohort), model, placements, groups: studyGroups(groups, {}) };
  study = { ...whole, survival: { ...survival, logRank: survival.logRank ?? undefined, dropout } };
  alone = { ...whole, survival: { ...plain, logRank: plain.logRank ?? undefined } };
});

const sectionOf = (own: Study, id: string) => {
  const page = parseHTML(renderReport(own, { document })).document;
  return page.querySelector(`#${id}`)?.textContent?.replace(/\s+/g, " ") ?? "";
};

describe("death and dropout in the report", () => {
  it("has cumulative incidence in place of Kaplan–Meier where events compete", () => {
    const figure = studyFigures(study).find(({ key }) => key === "survival");
    expect(figure?.title).toBe("Cumulative incidence of death and lung transplant by group");
    expect(sectionOf(study, "survival")).toContain("Aalen–Johansen curves");
    const before = studyFigures(alone).find(({ key }) => key === "survival");
    expect(before?.caption).toContain("Kaplan–Meier");
    expect(sectionOf(alone, "risks")).not.toContain("Aalen");
  });

  it("tells absolute risks at the times asked for: Aalen–Johansen's where another event may come first", () => {
    // Kaplan–Meier with the competing event censored is above the share that has the event.
    const told = (own: Study) => /Absolute risks(.*)/.exec(sectionOf(own, "survival"))?.[1] ?? "";
    expect(told(study)).toContain("by 2 years (95% CI)by 5 years (95% CI)");
    expect(told(study)).not.toContain("one less the Kaplan–Meier curve");
    expect(told(alone)).toContain("by 2 and 5 years after the landmark, one less the Kaplan–Meier curve");
    // In the shared page as in the own one, and as the curve has it.
    const times = [2, 5];
    let numTold = 0;
    for (const { causes, incidence } of sharedIncidences(study.survival!, 11)) {
      for (const [k, cause] of causes.entries()) {
        for (const time of times.filter((t) => toldAt(cause, t).told === "value")) {
          const j = Array.from(incidence.times).filter((t) => t <= time).length - 1;
          const { incidence: F, lower, upper } = incidence.causes[k]!;
          const [low, high] = [lower, upper].map((bound) => fixed(100 * (bound[j] as number), 0));
          expect(told(study)).toContain(`${percent(F[j]!)} (${low} to ${high})`);
          numTold++;
        }
      }
    }
    expect(numTold).toBeGreaterThan(0);
  });

  it("tells times without a unit by their number alone", () => {
    const plain = (own: Study): Study => ({
      ...own,
      cohort: { ...own.cohort, marker: { ...own.cohort.marker, timeUnit: "" } },
      survival: { ...own.survival!, riskTimes: [0.5, 1] },
    });
    const page = renderReport(plain(alone), { document });
    expect(page).toContain(">by 0.5</th>");
    expect(page).toContain(">by 1</th>");
    expect(page).toContain(" by 0.5 and 1 after the landmark");
    expect(renderReport(plain(study), { document })).toContain(">by 0.5 (95% CI)</th>");
    const told = (own: Study) => studyFigures(own).find(({ key }) => key === "survival")?.table.columns ?? [];
    for (const own of [alone, study]) expect(told(plain(own))[1]).toBe("0 since the landmark");
    expect(sectionOf({ ...alone, survival: { ...alone.survival!, riskTimes: [1] } }, "survival")).toContain(
      "by 1 year after the landmark",
    );
  });

  it("says what was checked, what was cross-fitted, and what a course is after death", () => {
    const text = sectionOf(study, "risks");
    expect(text).toContain("draws given the event too");
    expect(text).toContain("The map was fitted to all; Cox coefficients are cross-fitted");
    expect(text).toContain("the course if measurement had gone on, under missing at random given the measured values");
    expect(text).toContain("At which delta does a difference vanish?");
    expect(sectionOf(alone, "risks")).not.toContain("delta");
    const methods = methodsOf(contextOf(study)).paragraphs.join(" ");
    expect(methods).toContain("Lung transplant was a competing event");
    expect(methods).toContain("pattern mixture");
  });

  it("draws every figure", () => {
    for (const key of ["survival", "risk-calibration", "dropout"]) {
      const figure = studyFigures(study).find((own) => own.key === key);
      expect(figure?.draw({ document }).querySelectorAll("path, circle").length, key).toBeGreaterThan(2);
      expect(figure?.table.rows.length, key).toBeGreaterThan(key === "risk-calibration" ? 0 : 2);
    }
  });

  it("shows no observed risk beside a number of events that is held back, and no interval of certainty", () => {
    const calibration = study.survival!.risk!.calibration;
    const part = (numEvents: number, observed: number, bound: number) => ({
      ...{ numIndividuals: 40, numEvents, predicted: 0.3, observed, lower: bound, upper: bound },
    });
    const groups = [part(7, 0.1234, 0.1), part(33, 1, Number.NaN)];
    const risk = { ...study.survival!.risk!, calibration: [{ ...calibration[0], groups }] };
    const text = sectionOf({ ...study, survival: { ...study.survival!, risk } }, "risks");
    expect(text).toContain("part 1 of 2");
    expect(text).not.toContain("12%");
    expect(text).toContain("100% (no interval)");
  });

  it("survives the way through JSON", () => {
    const read = JSON.parse(
      JSON.stringify(study.survival, (_, value) =>
        ArrayBuffer.isView(value) ? Array.from(value as Float64Array, (v) => (Number.isFinite(v) ? v : null)) : value,
      ),
    ) as Study["survival"];
    expect(sectionOf({ ...study, survival: read! }, "risks")).toBe(sectionOf(study, "risks"));
  });

  it("shares curves of competing events in steps of five events, near the true ones", () => {
    const own = sharedIncidences(study.survival!, 1);
    for (const [g, { incidence: curve, causes }] of sharedIncidences(study.survival!, 11).entries()) {
      for (const [cause, { incidence, numEvents }] of curve.causes.entries()) {
        Array.from(curve.times).forEach((t, j) => {
          const shown = incidenceOf(drawnAt(causes[cause]!, t));
          if (numEvents < 5 || curve.atRisk[j] < 11 || shown.fewEvents) return;
          // A straight line through steps of five events and a few more, of those at risk at the start.
          expect(Math.abs(shown.incidence - incidence[j])).toBeLessThan(10 / curve.atRisk[j]);
          expect(incidenceOf(toldAt(own[g]!.causes[cause]!, t)).incidence).toBeCloseTo(incidence[j], 12);
        });
      }
    }
  });

  it("tells of groups that meet one by one, and of the others together", () => {
    const dropout = study.survival!.dropout!;
    const none = dropout.tipping.map((pair) => ({ ...pair, both: null, firstAlone: null, secondAlone: null }));
    expect(tippingSentences({ ...dropout, tipping: none })).toEqual([
      expect.stringMatching(/^All groups stay apart at year .* either way\.$/),
    ]);
    const [first, ...others] = none;
    const told = tippingSentences({ ...dropout, tipping: [{ ...first, both: -0.25 }, ...others] });
    expect(told[0]).toMatch(/^The difference of A and B at year .* vanishes at delta −0\.25 in both groups/);
    expect(told[1]).toMatch(/^A and C; B and C stay apart/);
  });
});
