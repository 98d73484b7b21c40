import { describe, expect, it } from "vitest";
import { bsplineBasis } from "../../basis/knots.ts";
import { type BasisStatistics, basisStatistics } from "../../basis/statistics.ts";
import { makeCohort, onlyMarker } from "../../cohort/cohort.ts";
import { createRandom } from "../../numeric/random.ts";
import { type CoefficientMixture, loadIndividual, makeMixture, mixtureWorkspace } from "./mixture.ts";
import { conditionMixture } from "./posterior.ts";
import { createConditioner } from "./wasm-posterior.ts";

/** Individuals with one to nine visits, some at equal times, and a random mixture over their coefficients. */
function example(numBasis: number, degree: number, numNodes: number, noiseVariance: number, seed: number) {
  const random = createRandom(seed);
  const d = numBasis;
  const ids: string[] = [];
  const times: number[] = [];
  const values: number[] = [];
  for (let i = 0; i < 9; i++) {
    for (let j = 0; j <= i; j++) {
      ids.push(`p${i}`);
      times.push(i === 4 ? 2 + (j % 2) : 10 * random.uniform());
      values.push(80 + 5 * random.normal());
    }
  }
  const cohort = makeCohort({ ids, times, values });
  const statistics = basisStatistics(cohort, bsplineBasis(onlyMarker(cohort).times, { numBasis, degree }));
  const covariances = new Float64Array(numNodes * d * d);
  for (let g = 0; g < numNodes; g++) {
    const R = Float64Array.from({ length: d * d }, () => random.normal());
    for (let a = 0; a < d; a++) {
      for (let b = 0; b < d; b++) {
        for (let c = 0; c < d; c++) covariances[(g * d + a) * d + b] += R[a * d + c] * R[b * d + c];
      }
    }
  }
  const mixture = makeMixture({
    numBasis: d,
    mapDimension: 2,
    locations: Float64Array.from({ length: numNodes * 2 }, () => random.normal()),
    logWeights: new Float64Array(numNodes).fill(-Math.log(numNodes)),
    means: Float64Array.from({ length: numNodes * d }, () => 8 * random.normal()),
    covariances,
    meanCoefficients: new Float64Array(d).fill(79),
    noiseVariance,
  });
  return { statistics, mixture };
}

function expectSame(mixture: CoefficientMixture, statistics: BasisStatistics): number {
  const condition = createConditioner(mixture);
  const work = mixtureWorkspace(mixture);
  let dropped = 0;
  for (let i = 0; i < statistics.numIndividuals; i++) {
    loadIndividual(mixture, statistics, i, work);
    const expected = conditionMixture(mixture, work);
    const found = condition(statistics, i);
    expect([...found.nodes]).toEqual([...expected.nodes]);
    dropped += mixture.numNodes - found.nodes.length;
    expect(found.logLikelihood).toBeCloseTo(expected.logLikelihood, 9);
    for (const field of ["weights", "locations", "means", "covariances"] as const) {
      expect(found[field].length).toBe(expected[field].length);
      for (let k = 0; k < found[field].length; k++) expect(found[field][k]).toBeCloseTo(expected[field][k], 9);
    }
  }
  return dropped;
}

describe("the WebAssembly posterior", () => {
  it.each([
    [3, 1, 9],
    [4, 2, 30],
    [5, 2, 61],
    [6, 3, 18],
  ])("gives nodes, weights and moments of the TypeScript one: d = %i, degree %i, %i nodes", (d, degree, numNodes) => {
    const { mixture, statistics } = example(d, degree, numNodes, 2.5, d);
    expectSame(mixture, statistics);
  });

  it("drops the same nodes where observations are precise", () => {
    const { mixture, statistics } = example(5, 2, 61, 1e-3, 8);
    expect(expectSame(mixture, statistics)).toBeGreaterThan(10);
  });

  it("returns the prior for an individual without observations, after others were conditioned", () => {
    const { mixture, statistics } = example(5, 2, 10, 2.5, 9);
    const condition = createConditioner(mixture);
    condition(statistics, 3);
    const none = {
      ...statistics,
      gram: new Float64Array(statistics.gram.length),
      cross: new Float64Array(statistics.cross.length),
      sumSquares: new Float64Array(statistics.sumSquares.length),
      counts: new Int32Array(statistics.counts.length),
    };
    const posterior = condition(none, 0);
    expect(posterior.logLikelihood).toBeCloseTo(0, 12);
    for (let k = 0; k < 10; k++) expect(posterior.weights[k]).toBeCloseTo(0.1, 12);
    for (let k = 0; k < 50; k++) expect(posterior.means[k]).toBeCloseTo(mixture.means[k], 12);
    for (let g = 0, at = 0; g < 10; g++) {
      for (let a = 0; a < 5; a++) {
        for (let b = 0; b <= a; b++) {
          expect(posterior.covariances[(g * 5 + a) * 5 + b]).toBeCloseTo(mixture.packedCovariances[at++], 10);
        }
      }
    }
  });
});
