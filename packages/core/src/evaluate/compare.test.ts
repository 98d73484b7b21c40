import { describe, expect, it } from "vitest";
import { createRandom } from "../numeric/random.ts";
import { type ComparedModel, type FoldResult, summarizeFolds } from "./compare.ts";

const random = createRandom(3);
const SCORES = Array.from({ length: 40 }, () => random.normal());

/** Scores of 40 individuals in five folds of one repeat, `gain` above the standard normal ones. */
function folds(model: ComparedModel, repeat: number, gain: number, seed: number): FoldResult[] {
  const noise = createRandom(seed);
  const none = new Float64Array(0);
  return Array.from({ length: 5 }, (_, f) => {
    const members = SCORES.map((_, i) => i).filter((i) => (i + repeat) % 5 === f);
    return {
      model,
      fold: 5 * repeat + f,
      ids: members.map((i) => `p${i}`),
      logLikelihood: Float64Array.from(members, (i) => SCORES[i] + gain + 0.1 * noise.normal()),
      numObservations: 3 * members.length,
      horizon: none,
      logDensity: none,
      crps: none,
      pit: none,
      absoluteError: none,
    };
  });
}

function compareWith(gain: number, repeats: number) {
  const results = Array.from({ length: repeats }, (_, r) => [
    ...folds("lmm", r, 0, 1),
    ...folds("dtm", r, gain, 2),
  ]).flat();
  return summarizeFolds(results, { models: ["lmm", "dtm"], folds: 5, repeats });
}

describe("summarizeFolds", () => {
  it("does not take an individual scored again for another one: intervals do not shrink with repeats", () => {
    const [one, four] = [compareWith(0.2, 1).differences[0], compareWith(0.2, 4).differences[0]];
    expect(four.se / one.se).toBeGreaterThan(0.45);
    const [first, pooled] = [compareWith(0.2, 1).models[0], compareWith(0.2, 4).models[0]];
    expect(pooled.subjectLogLik.se / pooled.subjectLogLik.sd).toBeCloseTo(1 / Math.sqrt(5), 10);
    expect(first.subjectLogLik.se / first.subjectLogLik.sd).toBeCloseTo(1 / Math.sqrt(5), 10);
  });

  it("says who predicts better with an interval of that sign", () => {
    expect(compareWith(0.5, 1).verdict).toMatch(
      /^The map \(dtm\) predicts new individuals better .* CI 0\.\d+ to 0\.\d+\)/,
    );
    expect(compareWith(-0.5, 1).verdict).toMatch(
      /^The linear mixed model predicts .* by 0\.\d+ .* CI 0\.\d+ to 0\.\d+\)/,
    );
  });

  const verdictWith = (gains: Partial<Record<ComparedModel, number>>) => {
    const models = Object.keys(gains) as ComparedModel[];
    const results = models.flatMap((model, k) => folds(model, 0, gains[model] ?? 0, 10 + k));
    return summarizeFolds(results, { models, folds: 5 }).verdict;
  };

  it("judges every model asked for against the one to be used, in one sentence", () => {
    expect(verdictWith({ line: -0.4, lmm: 0, fpca: 0.1, dtm: 0.5, classes: 0.5 })).toMatch(
      /^The map \(dtm\) predicts .* higher by 0\.5.*\); latent classes \(classes\), difference −?0\.0\d \(.*\), do as well as the map \(dtm\); straight lines \(line\) and principal components \(fpca\) do worse than the map \(dtm\)\.$/,
    );
    expect(verdictWith({ lmm: 0, dtm: 0.5, classes: 0.9 })).toMatch(
      /; but latent classes \(classes\), by 0\.[34].* per individual \(95% CI 0\..*\), do better still\.$/,
    );
    expect(verdictWith({ constant: -1, line: 0, lmm: 0, dtm: 0 })).toMatch(
      /^The linear mixed model suffices: the map \(dtm\) differs by .*, which could be chance; straight lines \(line\), .* do as well as the linear mixed model; a constant level \(constant\) does worse than the linear mixed model\.$/,
    );
    expect(verdictWith({ line: 0, classes: 0.5 })).toMatch(
      /^Latent classes \(classes\) predict .* than straight lines/,
    );
    expect(verdictWith({ dtm: 0 })).toBe("Only dtm was scored: nothing to compare.");
  });
});
