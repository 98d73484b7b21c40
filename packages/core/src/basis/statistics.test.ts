import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../test/expect-gradient.ts";
import { randomCohort } from "../../../../test/random-cohort.ts";
import { type Cohort, makeCohort, onlyMarker } from "../cohort/cohort.ts";
import { applyTransform, type Transform } from "../cohort/marker.ts";
import { levelNoise, whiteNoise } from "../noise/noise.ts";
import { createRandom } from "../numeric/random.ts";
import { transformValues } from "../wasm/statistics.ts";
import { designMatrix } from "./bspline.ts";
import { bsplineBasis } from "./knots.ts";
import {
  basisStatistics,
  countDistinctTimes,
  residualStatistics,
  selectStatistics,
  statisticsBlock,
  unpackGram,
} from "./statistics.ts";

/** 12 individuals with 1 to 7 observations around 80, as a lung function would be. */
function cohortOf(transform: Transform = "identity"): Cohort {
  const random = createRandom(3);
  const rows = { ids: [] as string[], times: [] as number[], values: [] as number[] };
  for (let i = 0; i < 12; i++) {
    for (let j = 0; j <= i % 7; j++) {
      rows.ids.push(`P${i}`);
      rows.times.push(10 * random.uniform());
      rows.values.push(80 + 5 * random.normal());
    }
  }
  return makeCohort(rows, { transform });
}

/** B_i'B_i, B_i'r, r'r by the definition, for r = y − Bβ. */
function naive(cohort: Cohort, basis: ReturnType<typeof bsplineBasis>, i: number, beta: Float64Array) {
  const d = basis.numBasis;
  const [start, end] = [onlyMarker(cohort).offsets[i], onlyMarker(cohort).offsets[i + 1]];
  const B = designMatrix(basis, onlyMarker(cohort).times.subarray(start, end));
  const G = new Float64Array(d * d);
  const g = new Float64Array(d);
  let rho = 0;
  for (let j = 0; j < end - start; j++) {
    const b = B.subarray(j * d, (j + 1) * d);
    const y = applyTransform(onlyMarker(cohort).marker.transform, onlyMarker(cohort).values[start + j]);
    const r = y - b.reduce((s, v, k) => s + v * beta[k], 0);
    for (let k = 0; k < d; k++) {
      for (let l = 0; l < d; l++) G[k * d + l] += b[k] * b[l];
      g[k] += b[k] * r;
    }
    rho += r * r;
  }
  return { G, g, rho };
}

const SIZES = [1, 2, 3].flatMap((degree) => [degree + 1, 5, 8].map((numBasis) => ({ degree, numBasis })));

describe.each(SIZES)("basisStatistics for degree $degree, size $numBasis", ({ degree, numBasis }) => {
  const cohort = cohortOf();
  const basis = bsplineBasis(onlyMarker(cohort).times, { degree, numBasis });
  const statistics = basisStatistics(cohort, basis);

  it("equals the dense products B'B, B'y and y'y of centred values", () => {
    const G = new Float64Array(numBasis * numBasis);
    const center = new Float64Array(numBasis).fill(statistics.center);
    for (let i = 0; i < 12; i++) {
      const expected = naive(cohort, basis, i, center);
      unpackGram(statistics, i, G);
      expect(relativeError(G, expected.G)).toBeLessThan(1e-12);
      const cross = statistics.cross.subarray(i * numBasis, (i + 1) * numBasis);
      expect(relativeError(cross, expected.g)).toBeLessThan(1e-12);
      expect(Math.abs(statistics.sumSquares[i] / expected.rho - 1)).toBeLessThan(1e-12);
      expect(statistics.counts[i]).toBe(onlyMarker(cohort).offsets[i + 1] - onlyMarker(cohort).offsets[i]);
    }
  });

  it("gives residual statistics about any mean without the observations", () => {
    const random = createRandom(numBasis);
    const beta = Float64Array.from({ length: numBasis }, () => 80 + 3 * random.normal());
    const g = new Float64Array(numBasis + 3);
    for (let i = 0; i < 12; i++) {
      const expected = naive(cohort, basis, i, beta);
      const rho = residualStatistics(statistics, i, beta, g, 3);
      expect(relativeError(g.subarray(3), expected.g)).toBeLessThan(1e-12);
      expect(Math.abs(rho / expected.rho - 1)).toBeLessThan(1e-11);
    }
  });

  it("stores d(k+1) − k(k+1)/2 band entries", () => {
    expect(statistics.numBand).toBe(numBasis * (degree + 1) - (degree * (degree + 1)) / 2);
  });
});

describe("basisStatistics", () => {
  it("takes 18 doubles per individual for the default basis", () => {
    const cohort = cohortOf();
    const { numBand } = basisStatistics(cohort, bsplineBasis(onlyMarker(cohort).times));
    expect(numBand + 5 + 1).toBe(18);
  });

  it("centres transformed values near their pooled mean, at a number that gives no value away, or at a given centre", () => {
    const cohort = cohortOf("log");
    const basis = bsplineBasis(onlyMarker(cohort).times);
    const statistics = basisStatistics(cohort, basis);
    const logs = onlyMarker(cohort).values.map(Math.log);
    const mean = logs.reduce((s, v) => s + v, 0) / logs.length;
    const sd = Math.sqrt(logs.reduce((s, v) => s + (v - mean) ** 2, 0) / logs.length);
    expect(Math.abs(statistics.center - mean)).toBeLessThan(sd);
    // A few digits: one more visit leaves it as it is, or moves it by a whole step.
    expect(String(statistics.center).length).toBeLessThan(8);
    // The basis sums to one, so the sum of B'(y − center) is the sum of y − center.
    const summed = statistics.cross.reduce((s, v) => s + v, 0);
    expect(summed).toBeCloseTo(logs.length * (mean - statistics.center), 10);
    expect(basisStatistics(cohort, basis, { center: 4.5 }).center).toBe(4.5);
  });

  it("does not depend on the order of rows, bit for bit", () => {
    const cohort = cohortOf();
    const N = onlyMarker(cohort).times.length;
    const ids = Array.from(
      { length: N },
      (_, j) => cohort.ids[onlyMarker(cohort).offsets.findIndex((end) => end > j) - 1],
    );
    const expected = basisStatistics(cohort, bsplineBasis(onlyMarker(cohort).times));
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const order = Array.from(createRandom(seed).permutation(N));
        const shuffled = makeCohort({
          ids: order.map((j) => ids[j]),
          times: order.map((j) => onlyMarker(cohort).times[j]),
          values: order.map((j) => onlyMarker(cohort).values[j]),
        });
        expect(basisStatistics(shuffled, bsplineBasis(onlyMarker(shuffled).times))).toEqual(expected);
      }),
      { numRuns: 50 },
    );
  });

  it("keeps digits when values lie far from zero", () => {
    const cohort = cohortOf();
    const basis = bsplineBasis(onlyMarker(cohort).times);
    const near = basisStatistics(cohort, basis);
    const series = onlyMarker(cohort);
    const lifted = { ...series, values: series.values.map((v) => v + 2 ** 20) };
    const far = basisStatistics({ ...cohort, markers: [lifted] }, basis);
    expect(relativeError(far.sumSquares, near.sumSquares)).toBeLessThan(1e-8);
  });
});

describe("selectStatistics", () => {
  it("picks individuals in the order asked for", () => {
    const cohort = cohortOf();
    const statistics = basisStatistics(cohort, bsplineBasis(onlyMarker(cohort).times));
    const chosen = selectStatistics(statistics, [5, 0, 5]);
    expect(chosen.numIndividuals).toBe(3);
    expect(chosen.numObservations).toBe(2 * statistics.counts[5] + statistics.counts[0]);
    expect(chosen.cross.slice(0, 5)).toEqual(statistics.cross.slice(25, 30));
    expect(chosen.cross.slice(5, 10)).toEqual(statistics.cross.slice(0, 5));
    expect(chosen.gram.slice(24)).toEqual(statistics.gram.slice(60, 72));
    expect(chosen.sumSquares[2]).toBe(statistics.sumSquares[5]);
  });
});

describe("countDistinctTimes", () => {
  it("counts equal times once", () => {
    expect(countDistinctTimes(makeCohort({ ids: ["a", "a", "b"], times: [1, 2, 1], values: [0, 0, 0] }))).toBe(2);
  });
});

describe("statisticsBlock", () => {
  it("shows the rows of the block and copies nothing", () => {
    const { statistics } = randomCohort({ numIndividuals: 12, seed: 4 });
    const block = statisticsBlock(statistics, { from: 3, to: 9 });
    expect(block.counts).toEqual(statistics.counts.slice(3, 9));
    expect(block.gram.buffer).toBe(statistics.gram.buffer);
    expect(block.cross[0]).toBe(statistics.cross[3 * statistics.basis.numBasis]);
  });
});

describe("the kernel of basisStatistics", () => {
  const TRANSFORMS = ["identity", "log", "log1p", "sqrt", "logit"] as const;
  const noises = [whiteNoise(1), levelNoise(1, 0, { range: 0.7, whiteShare: 0.3 })];
  const cases = SIZES.flatMap((size) => noises.map((noise) => ({ ...size, noise })));

  it.each(cases)("gives the bits of the definition: $numBasis, $degree, $noise.kind", ({ numBasis, degree, noise }) => {
    const { cohort } = randomCohort({ numIndividuals: 1100, maxObservations: 9, seed: numBasis + degree });
    const basis = bsplineBasis(onlyMarker(cohort).times, { degree, numBasis });
    const [kernel, definition] = (["wasm", "typescript"] as const).map((kernels) =>
      basisStatistics(cohort, basis, { noise, kernels }),
    );
    expect(kernel).toEqual(definition);
  });

  it.each(TRANSFORMS)("gives the bits of the definition on the scale of %s, from tiny to huge values", (transform) => {
    const random = createRandom(8);
    const values = Float64Array.from({ length: 20_000 }, (_, j) => {
      const share = random.uniform();
      if (transform === "logit") return j % 3 === 0 ? share ** 9 : share;
      const size = 10 ** (j % 2 === 0 ? 0.5 * random.normal() : 300 * (random.uniform() * 2 - 1));
      return transform === "log1p" && j % 4 === 0 ? -share : size;
    });
    expect(transformValues(values, transform)).toEqual(values.map((v) => applyTransform(transform, v)));
  });

  it("gives NaN outside the domain of a transform", () => {
    const values = Float64Array.of(-1, 0, -0, Number.NaN, 1, 2);
    for (const transform of TRANSFORMS) {
      expect(transformValues(values, transform)).toEqual(values.map((v) => applyTransform(transform, v)));
    }
  });

  it("takes an individual with thousands of visits, people without any, and times outside the knots", () => {
    const random = createRandom(4);
    const ids = Array.from({ length: 6000 }, (_, j) => (j < 5000 ? "000" : String(j % 100).padStart(3, "0")));
    const cohort = makeCohort({ ids, times: ids.map(() => 20 * random.uniform() - 5), values: ids.map(random.normal) });
    const [{ offsets, ...series }] = cohort.markers;
    const empty = Int32Array.from([...offsets.subarray(0, 3), ...offsets.subarray(2)]);
    const withNobody = { ids: [...cohort.ids, "999"], markers: [{ ...series, offsets: empty }] };
    const basis = bsplineBasis([0, 3, 10], { numBasis: 5, degree: 2 });
    for (const noise of noises) {
      const [kernel, definition] = (["wasm", "typescript"] as const).map((kernels) =>
        basisStatistics(withNobody, basis, { noise, kernels }),
      );
      expect(kernel).toEqual(definition);
    }
  });
});
