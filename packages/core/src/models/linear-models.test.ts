import { describe, expect, it } from "vitest";
import { designMatrix } from "../basis/bspline.ts";
import { selectIndividuals } from "../cohort/cohort.ts";
import { codeCovariates } from "../covariates/code.ts";
import { withCovariates } from "../covariates/covariates.ts";
import { forecastScores } from "../evaluate/forecast.ts";
import { heldOutLogLikelihood } from "../evaluate/held-out.ts";
import { multiplyVector } from "../numeric/matrix.ts";
import { simulatePlaces } from "../simulate/places.ts";
import { covariateEffects } from "./covariate-effects.ts";
import { modelAt } from "./covariate-model.ts";
import { fitLinear, fitLmm } from "./linear-models.ts";
import { effectOffsets } from "./mean.ts";
import { placeIndividual } from "./place.ts";
import { predict } from "./predict.ts";
import { loadModel, saveModel } from "./save.ts";

const { cohort: bare, subjects } = simulatePlaces({ covariates: "mean", numIndividuals: 240, seed: 3 });
const coded = codeCovariates(subjects, bare.ids, { covariates: [{ name: "c1" }, { name: "c2" }] });
const cohort = withCovariates(bare, coded);
const everySixth = (rest: boolean) => Int32Array.from(cohort.ids.keys()).filter((i) => (i % 6 === 0) !== rest);
const [train, test] = [true, false].map((rest) => selectIndividuals(cohort, everySixth(rest)));
const { lmm, fpca } = fitLinear(train, { mean: "spline", effects: "level-and-rate" });

describe("linear models with covariates", () => {
  it("score values as the model without them scores values less effects", () => {
    const { covariates: _, effects: __, ...plain } = lmm;
    const [{ basis, effects, ...part }] = lmm.markers;
    const offsets = effectOffsets("level-and-rate", basis, effects!, test.covariates!.values);
    const [{ offsets: from, times, values, marker }] = test.markers;
    const moved = values.slice();
    test.ids.forEach((___, i) => {
      const own = offsets.subarray(i * basis.numBasis, (i + 1) * basis.numBasis);
      for (let j = from[i]; j < from[i + 1]; j++) {
        moved[j] -= multiplyVector(designMatrix(basis, [times[j]]), own, 1, basis.numBasis)[0];
      }
    });
    const without = { ...plain, markers: [{ ...part, basis }] };
    const less = { ids: test.ids, markers: [{ marker, offsets: from, times, values: moved }] };
    const expected = heldOutLogLikelihood(without, less).logLikelihood;
    heldOutLogLikelihood(lmm, test).logLikelihood.forEach((v, i) => {
      expect(v).toBeCloseTo(expected[i], 8);
    });
    const pit = forecastScores(without, less).pit;
    forecastScores(lmm, test).pit.forEach((v, j) => {
      expect(v).toBeCloseTo(pit[j], 8);
    });
  });

  it("predict those who have effects better than models that do not know covariates", () => {
    const bareScore = heldOutLogLikelihood(fitLmm(train, { mean: "spline" }), test).perIndividual;
    expect(heldOutLogLikelihood(lmm, test).perIndividual).toBeGreaterThan(bareScore + 0.05);
    expect(heldOutLogLikelihood(fpca!, test).perIndividual).toBeGreaterThan(bareScore - 0.5);
  });

  it("tell their effects, are saved, and are those of one individual given covariates", () => {
    const { effects, shifts } = covariateEffects(lmm);
    expect(shifts).toEqual([]);
    expect(effects.map(({ covariate, quantity }) => `${covariate} ${quantity}`)).toEqual([
      "c1 level",
      "c1 rate",
      "c2 level",
      "c2 rate",
    ]);
    expect(effects[0].lower).toBeGreaterThan(0);
    const { record: _, ...saved } = loadModel(saveModel(lmm));
    const { record: __, ...own } = lmm;
    expect(saved).toEqual(own);
    const hers = modelAt(lmm, Float64Array.of(1, 0));
    const his = modelAt(lmm, Float64Array.of(-1, 0));
    const [a, b] = [hers, his].map((model) => {
      return predict(model, placeIndividual(model, { times: [], values: [] }), [0.5]).median[0];
    });
    expect(a - b).toBeCloseTo(2 * lmm.markers[0].effects![0], 2);
  });
});
