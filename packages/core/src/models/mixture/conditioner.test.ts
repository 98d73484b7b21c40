import { describe, expect, it } from "vitest";
import { bsplineBasis } from "../../basis/knots.ts";
import { type BasisStatistics, basisStatistics, mapColumns } from "../../basis/statistics.ts";
import { makeCohort, onlyMarker } from "../../cohort/cohort.ts";
import { levelNoise } from "../../noise/noise.ts";
import { createRandom } from "../../numeric/random.ts";
import { normalCdf } from "../../numeric/special.ts";
import { createConditioner, posteriorFunctionals } from "./conditioner.ts";
import { type CoefficientMixture, makeMixture } from "./mixture.ts";
import { mixtureCdf, mixtureLogDensity, mixtureMean, mixtureVariance } from "./normal-mixture.ts";
import { conditionMixture, individualObservations } from "./posterior.ts";

/** Individuals with one to nine visits, some at equal times, and a random mixture over their coefficients. */
function example(numBasis: number, degree: number, numNodes: number, sigma2: number, seed: number, spread = 0) {
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
    noise: levelNoise(sigma2, spread),
  });
  return { statistics, mixture };
}

function expectSame(mixture: CoefficientMixture, statistics: BasisStatistics): number {
  const condition = createConditioner(mixture);
  let dropped = 0;
  for (let i = 0; i < statistics.numIndividuals; i++) {
    const observations = individualObservations(mixture, statistics, i);
    const expected = conditionMixture(mixture, observations);
    const found = condition(statistics, i);
    expect([...found.nodes]).toEqual([...expected.nodes]);
    dropped += mixture.numNodes - found.nodes.length;
    expect(Math.abs(found.logLikelihood - expected.logLikelihood)).toBeLessThan(
      1e-9 + 1e-12 * Math.abs(expected.logLikelihood),
    );
    for (const field of ["weights", "locations", "shares", "noiseVariances", "means", "covariances"] as const) {
      expect(found[field].length).toBe(expected[field].length);
      for (let k = 0; k < found[field].length; k++) expect(found[field][k]).toBeCloseTo(expected[field][k], 9);
    }
  }
  return dropped;
}

describe("the posterior through WebAssembly", () => {
  it.each([
    [3, 1, 9],
    [4, 2, 30],
    [5, 2, 61],
    [6, 3, 18],
  ])("gives nodes, weights and moments of the TypeScript one: d = %i, degree %i, %i nodes", (d, degree, numNodes) => {
    const { mixture, statistics } = example(d, degree, numNodes, 2.5, d);
    expectSame(mixture, statistics);
  });

  it.each([0.02, 0.3, 0.8, 1.4])(
    "gives the likelihood, weights and forecasts of the TypeScript one where individuals differ in their noise: ω = %d",
    (spread) => {
      const { mixture, statistics } = example(4, 2, 30, 2.5, 4, spread);
      const condition = createConditioner(mixture);
      const row = Float64Array.of(0.2, 0.5, 0.3, 0);
      for (let i = 0; i < statistics.numIndividuals; i++) {
        const found = condition(statistics, i);
        const expected = conditionMixture(mixture, individualObservations(mixture, statistics, i), 0);
        // Levels are left out where the level is not well known, to 2e-5.
        expect(Math.abs(found.logLikelihood - expected.logLikelihood)).toBeLessThan(2e-5);
        const weights = new Float64Array(mixture.numNodes);
        found.nodes.forEach((node, k) => {
          weights[node] = found.weights[k];
        });
        for (let g = 0; g < weights.length; g++) expect(Math.abs(weights[g] - expected.weights[g])).toBeLessThan(2e-5);
        const [a, b] = [found, expected].map((of) => {
          const { value } = posteriorFunctionals(of, mixture.meanCoefficients)(row, 0, true);
          return [mixtureMean(value), mixtureVariance(value), mixtureCdf(value, mixtureMean(value) - 3)];
        });
        const scale = Math.sqrt(b[1]);
        expect(Math.abs(a[0] - b[0])).toBeLessThan(2e-4 * scale);
        expect(Math.abs(a[1] / b[1] - 1)).toBeLessThan(3e-3);
        expect(Math.abs(a[2] - b[2])).toBeLessThan(2e-4);
      }
      expect(new Set(condition(statistics, 8).noiseVariances).size).toBeGreaterThan(5);
    },
  );

  it("has the levels of the noise themselves, and so their tails, where nothing was observed", () => {
    const { mixture, statistics } = example(4, 2, 30, 2.5, 4, 0.7);
    const none = mapColumns(statistics, (column) => column.map(() => 0));
    const found = createConditioner(mixture)(none, 0);
    const expected = conditionMixture(mixture, individualObservations(mixture, none, 0), 0);
    const beyond = ({ shares, noiseVariances }: typeof found) =>
      shares.reduce((sum, w, k) => sum + w * normalCdf(-4 / Math.sqrt(noiseVariances[k])), 0);
    expect(new Set(found.noiseVariances).size).toBeGreaterThan(8);
    expect(beyond(found) / beyond(expected)).toBeCloseTo(1, 3);
  });

  it("drops the same nodes where observations are precise", () => {
    const { mixture, statistics } = example(5, 2, 61, 1e-3, 8);
    expect(expectSame(mixture, statistics)).toBeGreaterThan(10);
  });

  it("returns the prior for an individual without observations, after others were conditioned", () => {
    const { mixture, statistics } = example(5, 2, 10, 2.5, 9);
    const condition = createConditioner(mixture);
    condition(statistics, 3);
    const none = mapColumns(statistics, (column) => column.map(() => 0));
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

describe("functionals of the curve through WebAssembly", () => {
  it.each([
    [3, 1, 9, 2.5],
    [5, 2, 61, 1e-2],
    [6, 3, 131, 1e-4],
    [4, 2, 30, 2.5, 0.5],
    [5, 2, 61, 1e-2, 1.2],
    [7, 3, 23, 2.5, 0.1],
  ])(
    "have components and sums of the definition: d = %i, degree %i, %i nodes, noise %d, ω = %d",
    (d, degree, numNodes, noise, spread = 0) => {
      const { mixture, statistics } = example(d, degree, numNodes, noise, d + 20, spread);
      const random = createRandom(d);
      const condition = createConditioner(mixture);
      const sums = new Float64Array(2);
      for (let i = 0; i < statistics.numIndividuals; i++) {
        const posterior = condition(statistics, i);
        const fast = posteriorFunctionals(posterior, mixture.meanCoefficients);
        const plain = posteriorFunctionals(posterior, mixture.meanCoefficients, "typescript");
        for (let t = 0; t < 3; t++) {
          // Some entries are zero, as in a row of a basis.
          const row = Float64Array.from({ length: d }, (_, a) => ((a + t) % 3 === 0 && a > 0 ? 0 : random.normal()));
          const found = fast(row, 0, t === 0);
          const expected = plain(row, 0, t === 0);
          // Each has the components in an order of its own.
          const [lanes, own] = [found.value.weights, expected.value.weights].map((weights) =>
            [...weights.keys()].filter((k) => weights[k] > 0).sort((a, b) => weights[a] - weights[b]),
          );
          const scale = Math.sqrt(mixtureVariance(expected.value));
          lanes.forEach((lane, j) => {
            const [sd, mean] = [expected.value.sds[own[j]], expected.value.means[own[j]]];
            expect(found.value.weights[lane]).toBe(expected.value.weights[own[j]]);
            expect(Math.abs(found.value.sds[lane] / sd - 1)).toBeLessThan(1e-9);
            expect(Math.abs(found.value.means[lane] - mean) / (sd + 1e-4 * scale)).toBeLessThan(1e-8);
          });
          expect(lanes.length).toBe(posterior.shares.length);
          const y = mixtureMean(expected.value) + scale * random.normal();
          found.sums(y, sums);
          expect(sums[0]).toBeCloseTo(mixtureCdf(found.value, y), 11);
          expect(sums[1] * scale).toBeCloseTo(Math.exp(mixtureLogDensity(found.value, y)) * scale, 7);
        }
      }
    },
  );

  it("serve one posterior after the other, whichever was made last", () => {
    const { mixture, statistics } = example(5, 2, 61, 2.5, 4);
    const condition = createConditioner(mixture);
    const row = Float64Array.of(0, 0.2, 0.5, 0.3, 0);
    const [first, second] = [condition(statistics, 3), condition(statistics, 8)];
    for (const posterior of [first, second, first]) {
      const { value } = posteriorFunctionals(posterior, mixture.meanCoefficients)(row, 0, true);
      const clone = posteriorFunctionals(structuredClone(posterior), mixture.meanCoefficients)(row, 0, true);
      expect(mixtureMean(value)).toBeCloseTo(mixtureMean(clone.value), 9);
      expect(mixtureVariance(value)).toBeCloseTo(mixtureVariance(clone.value), 9);
    }
  });
});
