import { describe, expect, it } from "vitest";
import { columnsOf } from "../../../../../test/dtm-problem.ts";
import { relativeError } from "../../../../../test/expect-gradient.ts";
import { statisticsBlock } from "../../basis/statistics.ts";
import { type Cohort, makeCohort, numIndividuals } from "../../cohort/cohort.ts";
import { createRandom } from "../../numeric/random.ts";
import { type FitDtmOptions, fitDtm, fitFpca, fitLmm } from "../fit-models.ts";
import { type MixtureOptions, modelMixture } from "../model.ts";
import { modelStatistics } from "../new-individuals.ts";
import { embed, embedPlaces } from "../place.ts";
import { noiseRatio } from "../placement.ts";
import { createPlacer, type PlacedBlock } from "./placer.ts";

/** A bent course per individual; some are seen once, some at the same time twice, some often. */
function cohortOf(m: number, seed: number) {
  const random = createRandom(seed);
  const rows = { ids: [] as string[], times: [] as number[], values: [] as number[] };
  for (let i = 0; i < m; i++) {
    const [level, slope, bend] = [random.normal(), random.normal(), random.normal()];
    for (let j = 0; j < 1 + (i % 9); j++) {
      const t = j === 1 && i % 3 === 0 ? rows.times[rows.times.length - 1] : 10 * random.uniform();
      rows.ids.push(`p${100 + i}`);
      rows.times.push(t);
      rows.values.push(5 * level + slope * t + 4 * bend * Math.sin(t / 2) + random.normal());
    }
  }
  return makeCohort(rows);
}

/** Where the fit has no nodes of its own to place on, few are as good as many. */
const COARSE: MixtureOptions = { step: 0.25 };

const CASES: readonly (readonly [string, FitDtmOptions, MixtureOptions])[] = [
  ["a map", { restarts: 0, maxIterations: 6 }, {}],
  [
    "a map of one dimension, cubic basis",
    { restarts: 0, mapDimension: 1, maxIterations: 6, numBasis: 7, degree: 3 },
    {},
  ],
  [
    "a map without residual, linear basis",
    { restarts: 0, residual: "none", maxIterations: 4, numBasis: 3, degree: 1 },
    COARSE,
  ],
  ["the published map", { kind: "dtm-paper", maxIterations: 5, numBasis: 4 }, COARSE],
  [
    "the published map of three dimensions",
    { kind: "dtm-paper", mapDimension: 3, maxIterations: 3, numBasis: 4 },
    { numDraws: 1000 },
  ],
];

type Column = Exclude<keyof PlacedBlock, "noiseLevel" | "noiseLevels">;

describe("createPlacer", () => {
  it("places alike in WebAssembly and in TypeScript, and finds who was measured unsteadily", () => {
    const { ids, times, values } = columnsOf(60, 3, 1.2);
    const unsteady = Array.from({ length: 10 }, (_, j) => ({ t: j, y: j % 2 === 0 ? 60 : 100 }));
    const cohort = makeCohort({
      ids: [...ids, ...unsteady.map(() => "Z")],
      times: [...Array.from(times), ...unsteady.map(({ t }) => t)],
      values: [...Array.from(values), ...unsteady.map(({ y }) => y)],
    });
    const model = fitDtm(cohort, { noise: "level", restarts: 0, maxIterations: 15, nodes: { step: 0.5 } });
    const mixture = modelMixture(model);
    const statistics = modelStatistics(model, cohort);
    const slow = createPlacer(model, [mixture], "typescript")(statistics);
    const fast = createPlacer(model, [mixture], "wasm")(statistics);
    // The definition leaves out components below 1e-5 of the heaviest, the kernels levels that can be spared.
    for (const name of ["location", "covariance", "logLikelihood", "coefficients", "outsideMass"] as const) {
      expect(relativeError(fast[name], slow[name]), name).toBeLessThan(1e-4);
    }
    for (const name of ["mean", "sd"] as const) {
      expect(relativeError(fast.noiseLevel![name], slow.noiseLevel![name])).toBeLessThan(5e-3);
    }
    const { ratio, lower } = noiseRatio(fast.noiseLevel!, 60);
    expect(ratio).toBeGreaterThan(2);
    expect(lower).toBeGreaterThan(1.2);
  });

  const cohort = cohortOf(45, 3);
  it.each(CASES)("places alike in WebAssembly and in TypeScript: %s", (_, options, nodes) => {
    const model = fitDtm(cohort, options);
    const mixture = modelMixture(model, nodes);
    const statistics = modelStatistics(model, cohort);
    const slow = createPlacer(model, [mixture], "typescript")(statistics);
    const fast = createPlacer(model, [mixture], "wasm")(statistics);
    for (const name of Object.keys(slow) as Column[]) {
      const scale = slow[name].reduce((s, v) => Math.max(s, Math.abs(v)), 1);
      let worst = 0;
      for (let e = 0; e < slow[name].length; e++) worst = Math.max(worst, Math.abs(slow[name][e] - fast[name][e]));
      expect(worst / scale, name).toBeLessThan(1e-9);
    }
  });

  it.each([
    ["the linear mixed model", (c: Cohort) => fitLmm(c, { numBasis: 4 })],
    ["principal components", (c: Cohort) => fitFpca(c, { rank: 2 })],
  ])("places alike in WebAssembly and in TypeScript: %s", (_, fit) => {
    const model = fit(cohort);
    const mixture = modelMixture(model);
    const statistics = modelStatistics(model, cohort);
    const slow = createPlacer(model, [mixture], "typescript")(statistics);
    const fast = createPlacer(model, [mixture], "wasm")(statistics);
    for (const name of Object.keys(slow) as Column[]) {
      for (let e = 0; e < slow[name].length; e++) {
        expect(Math.abs(slow[name][e] - fast[name][e]), name).toBeLessThan(1e-9 * Math.max(1, Math.abs(slow[name][e])));
      }
    }
  });

  it.each(["wasm", "typescript"] as const)("gives the same places without the details (%s)", (kernels) => {
    for (const model of [fitDtm(cohort, { restarts: 0, maxIterations: 4 }), fitLmm(cohort), fitFpca(cohort)]) {
      const whole = embed(model, cohort, { kernels });
      const places = embedPlaces(model, cohort, { kernels });
      expect(whole).toMatchObject(places);
      expect(Object.keys(places)).not.toContain("coefficients");
    }
  });

  it("places everyone alone: a block gives the rows of the whole, bit for bit", () => {
    const model = fitDtm(cohort, { restarts: 0, maxIterations: 4, nodes: { step: 0.5 } });
    const mixture = modelMixture(model);
    const statistics = modelStatistics(model, cohort);
    const place = createPlacer(model, [mixture]);
    const all = place(statistics);
    const [from, to] = [7, 19];
    const part = place([statisticsBlock(statistics[0], { from, to })]);
    for (const name of Object.keys(all) as Column[]) {
      const width = all[name].length / numIndividuals(cohort);
      expect(part[name]).toEqual(all[name].slice(from * width, to * width));
    }
  });
});
