import { describe, expect, it } from "vitest";
import { codeCovariates } from "../covariates/code.ts";
import { withCovariates } from "../covariates/covariates.ts";
import { simulatePlaces } from "../simulate/places.ts";
import { summarizeSeveral } from "./several-compare.ts";
import { evaluateSeveralFold } from "./several-folds.ts";

describe("evaluateSeveralFold", () => {
  const { cohort } = simulatePlaces({ numIndividuals: 60, seed: 6 });
  const fold = evaluateSeveralFold(cohort, 0, { folds: 3 });
  const of = (name: string) => fold.models.find(({ model }) => model === name)!;
  const near = (a: Float64Array, b: Float64Array) => {
    for (const [i, v] of a.entries()) expect(v).toBeCloseTo(b[i], 8);
  };

  it("adds up separate models, to which other markers say nothing", () => {
    for (const name of ["dtm-separate", "lmm-separate"]) {
      const { logLikelihood, markers } = of(name);
      near(
        logLikelihood,
        markers[0].alone.map((v, i) => v + markers[1].alone[i]),
      );
      for (const { alone, givenOthers, givenOwn, givenAll } of markers) {
        near(givenOthers, alone);
        near(givenAll, givenOwn);
      }
    }
  });

  it("warns where likelihoods are approximate, and only there", () => {
    expect(summarizeSeveral([fold]).warnings).toEqual([]);
    const [warning] = summarizeSeveral([{ ...fold, approximate: "levels" }]).warnings;
    expect(warning.code).toBe("approximate-likelihood");
    expect(warning.message).toContain("(dtm, dtm-separate, lmm, lmm-separate)");
    const [limits] = summarizeSeveral([{ ...fold, approximate: "limits" }]).warnings;
    expect(limits.message).toMatch(/are approximate/);
    expect(limits.message).not.toContain("noise levels");
  });

  it("splits a joint model by the rules of probability: p(A, B) = p(A) p(B | A) = p(B) p(A | B)", () => {
    for (const name of ["dtm", "lmm"]) {
      const { logLikelihood, markers } = of(name);
      for (const k of [0, 1]) {
        near(
          logLikelihood,
          markers[k].alone.map((v, i) => v + markers[1 - k].givenOthers[i]),
        );
      }
    }
  });

  it("scores no future value of who has none, and one PIT for each that came", () => {
    fold.numFuture.forEach((n, k) => {
      expect(fold.pit[k]).toHaveLength(n.reduce((sum, v) => sum + v, 0));
      for (const { markers } of fold.models) {
        n.forEach((count, i) => {
          if (count === 0) expect(markers[k].givenAll[i]).toBeCloseTo(0, 8);
        });
      }
    });
  });

  it("is summed up with differences paired by individual", () => {
    const { differences, models } = summarizeSeveral([fold]);
    const value = (name: string) => models.find(({ model }) => model === name)!.perIndividual;
    for (const { model, reference, mean } of differences) expect(mean).toBeCloseTo(value(model) - value(reference), 8);
  });
});

describe("covariates and repeats in a comparison of several markers", () => {
  const { cohort: bare, subjects } = simulatePlaces({
    numIndividuals: 90,
    numMarkers: 2,
    covariates: "mean",
    seed: 2,
  });
  const covariates = codeCovariates(subjects, bare.ids, {
    covariates: [{ name: "c1" }, { name: "c2", effect: "level" }],
  });
  const cohort = withCovariates(bare, covariates);
  const fold = evaluateSeveralFold(cohort, 1, { folds: 3 });

  it("hold maps with covariates against the mixed model that knows them, too", () => {
    expect(fold.models.map(({ model }) => model)).toContain("lmm-covariates");
    const { differences, verdict } = summarizeSeveral([fold]);
    expect(differences[1]).toMatchObject({ model: "dtm", reference: "lmm-covariates" });
    expect(verdict).toContain("with the same covariates");
    for (const name of ["dtm", "lmm-covariates"]) {
      const { logLikelihood, markers } = fold.models.find(({ model }) => model === name)!;
      logLikelihood.forEach((v, i) => {
        expect(v).toBeCloseTo(markers[0].alone[i] + markers[1].givenOthers[i], 8);
      });
    }
  });

  it("count an individual once, by its mean over repeats", () => {
    const again = {
      ...fold,
      models: fold.models.map((own) => ({ ...own, logLikelihood: own.logLikelihood.map((v) => v + 1) })),
    };
    const [once, twice] = [summarizeSeveral([fold]), summarizeSeveral([fold, again], 2)];
    expect([twice.folds, twice.repeats, twice.numIndividuals]).toEqual([1, 2, once.numIndividuals]);
    expect(twice.models[0].perIndividual).toBeCloseTo(once.models[0].perIndividual + 0.5, 8);
    expect(twice.differences[0].se).toBeCloseTo(once.differences[0].se, 8);
  });
});
