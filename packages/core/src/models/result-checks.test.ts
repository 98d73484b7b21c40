import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { makeCohort } from "../cohort/cohort.ts";
import { DtmError } from "../errors.ts";
import { createRandom } from "../numeric/random.ts";
import { fitDtm, fitFpca, fitLmm } from "./fit-models.ts";
import { embed, placeIndividual } from "./place.ts";
import { predict } from "./predict.ts";

const random = createRandom(5);
const rows = { ids: [] as string[], times: [] as number[], values: [] as number[] };
for (let i = 0; i < 30; i++) {
  const [level, slope] = [80 + 8 * random.normal(), -1 + random.normal()];
  for (let t = 0; t < 5; t++) {
    rows.ids.push(`p${i}`);
    rows.times.push(t);
    rows.values.push(level + slope * t + random.normal());
  }
}
const cohort = makeCohort(rows);
const models = [
  fitLmm(cohort, { numBasis: 4 }),
  fitFpca(cohort, { numBasis: 4 }),
  fitDtm(cohort, { numBasis: 4, maxIterations: 5 }),
];

describe.each(models.map((model) => [model.kind, model] as const))("results of %s", (_, model) => {
  it("are finite with positive variance, or a reason, for values of any size that is read", () => {
    const size = fc.tuple(fc.constantFrom(1, -1), fc.integer({ min: -44, max: 44 })).map(([s, e]) => s * 10 ** e);
    fc.assert(
      fc.property(fc.array(size, { minLength: 1, maxLength: 4 }), (values) => {
        const someone = placeIndividual(model, { times: values.map((_, t) => t), values });
        const [{ faults = [], covariance, location }] = [
          embed(model, makeCohort({ ids: values.map(() => "a"), times: values.map((_, t) => t), values })),
        ];
        expect(faults.length > 0).toBe(someone.fault !== undefined);
        if (someone.fault !== undefined) {
          expect(() => predict(model, someone, [2])).toThrow(DtmError);
          return;
        }
        const q = model.mapDimension;
        for (let a = 0; a < q; a++) expect(covariance[a * q + a]).toBeGreaterThan(0);
        expect([...location, ...someone.location, ...someone.covariance].every(Number.isFinite)).toBe(true);
        const { mean, sd, lower, upper } = predict(model, someone, [0, 2, 9]);
        for (let t = 0; t < 3; t++) {
          expect(sd[t]).toBeGreaterThan(0);
          expect(lower[t] < mean[t] && mean[t] < upper[t]).toBe(true);
        }
      }),
      { numRuns: 60, seed: 3 },
    );
  });

  it("of an individual with very many visits stay results", () => {
    const times = Array.from({ length: 5000 }, (_, k) => (4 * k) / 5000);
    const someone = placeIndividual(model, { times, values: times.map((t, k) => 75 - t + (k % 2)) });
    expect(someone.fault).toBeUndefined();
    expect(someone.covariance[0]).toBeGreaterThan(0);
    expect(predict(model, someone, [5]).sd[0]).toBeGreaterThan(0);
  });
});
