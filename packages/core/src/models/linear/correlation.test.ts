import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { relativeError } from "../../../../../test/expect-gradient.ts";
import { serialCohort } from "../../../../../test/serial-cohort.ts";
import { designMatrix } from "../../basis/bspline.ts";
import { bsplineBasis } from "../../basis/knots.ts";
import { basisStatistics, unpackGram } from "../../basis/statistics.ts";
import { visitRows } from "../../basis/visit-columns.ts";
import { makeCohort, onlyMarker } from "../../cohort/cohort.ts";
import { readCohort } from "../../ingest/read-cohort.ts";
import { expectedSquares, levelDensities, levelPosterior, precisionMoments, rotateEffect } from "../../noise/levels.ts";
import { firstNoise, levelNoise, noiseLevels, whiteNoise } from "../../noise/noise.ts";
import { type SerialCorrelation, serialSlopes } from "../../noise/serial.ts";
import { cholesky, invertFromCholesky, logDetFromCholesky } from "../../numeric/cholesky.ts";
import { bilinear, multiply, transpose } from "../../numeric/matrix.ts";
import { createRandom } from "../../numeric/random.ts";
import { LOG_2PI } from "../../numeric/special.ts";
import { markerModel } from "../fit.ts";
import { fitFpca, fitLmm } from "../linear-models.ts";
import { fitRoughly, learnCorrelation, visitGaps } from "./correlation.ts";
import { individualLogLikelihoods, logLikelihood } from "./likelihood.ts";
import { fitLmmStatistics, lmmParameters } from "./lmm.ts";
import { createExpectationStep } from "./passes.ts";

const TRUTH = { range: 0.5, whiteShare: 0.3 };
const cohort = serialCohort(12, 6, levelNoise(1, 0.8, TRUTH));
const series = onlyMarker(cohort);
const basis = bsplineBasis(series.times, { numBasis: 4, degree: 2 });
const d = 4;
const random = createRandom(8);
const factor = Float64Array.from({ length: d * d }, (_, e) => (e % d <= Math.floor(e / d) ? random.normal() : 0));
const meanCoefficients = Float64Array.of(19, 20, 21, 20);
const parametersOf = (noise: ReturnType<typeof levelNoise>) => ({ meanCoefficients, noises: [noise], factor, rank: d });

/** R of one individual as written. */
function correlationMatrix(times: Float64Array, { range, whiteShare }: SerialCorrelation): Float64Array {
  const n = times.length;
  return Float64Array.from({ length: n * n }, (_, e) => {
    const [j, k] = [Math.floor(e / n), e % n];
    return (1 - whiteShare) * Math.exp(-Math.abs(times[j] - times[k]) / range) + (j === k ? whiteShare : 0);
  });
}

const visitsOf = (i: number) => ({
  times: series.times.slice(series.offsets[i], series.offsets[i + 1]),
  values: series.values.slice(series.offsets[i], series.offsets[i + 1]),
});

describe("whitened statistics", () => {
  const plain = basisStatistics(cohort, basis);
  const whitened = basisStatistics(cohort, basis, { noise: levelNoise(1, 0, TRUTH) });

  it("are B'R⁻¹B, B'R⁻¹y, y'R⁻¹y and log|R| of the dense matrix", () => {
    const G = new Float64Array(d * d);
    for (let i = 0; i < 12; i++) {
      const { times, values } = visitsOf(i);
      const n = times.length;
      const L = cholesky(correlationMatrix(times, TRUTH), n);
      const inverse = invertFromCholesky(L, n);
      const B = designMatrix(basis, times);
      const y = values.map((v) => v - plain.center);
      const RB = multiply(inverse, B, n, n, d);
      unpackGram(whitened, i, G);
      expect(relativeError(G, multiply(transpose(B, n, d), RB, d, n, d))).toBeLessThan(1e-12);
      const cross = multiply(transpose(RB, n, d), y, d, n, 1);
      expect(relativeError(whitened.cross.subarray(i * d, (i + 1) * d), cross)).toBeLessThan(1e-10);
      expect(whitened.sumSquares[i] / bilinear(y, inverse, y)).toBeCloseTo(1, 12);
      expect(whitened.logDets[i]).toBeCloseTo(logDetFromCholesky(L, n), 12);
      expect(whitened.counts[i]).toBe(n);
    }
  });

  it("are 0 for somebody without visits", () => {
    const { marker, times, values } = series;
    const offsets = Int32Array.of(0, 6, 6, 12);
    const lacking = {
      ids: ["a", "b", "c"],
      markers: [{ marker, offsets, times: times.slice(0, 12), values: values.slice(0, 12) }],
    };
    const found = basisStatistics(lacking, basis, { noise: levelNoise(1, 0, TRUTH) });
    const { numBand } = found;
    const own = [
      ...found.gram.subarray(numBand, 2 * numBand),
      ...found.cross.subarray(d, 2 * d),
      found.sumSquares[1],
      found.logDets[1],
    ];
    expect(own.every((v) => v === 0)).toBe(true);
    expect(found.gram.every(Number.isFinite)).toBe(true);
    expect(visitGaps(lacking).medianVisits).toBe(6);
  });

  it("keep the plain weight of the observed times", () => {
    expect(whitened.averageGram).toEqual(plain.averageGram);
    const total = plain.averageGram.reduce((sum, v) => sum + v, 0);
    expect(total).toBeCloseTo(1, 12);
  });

  it("are the plain ones for a white share of 1", () => {
    const white = basisStatistics(cohort, basis, { noise: levelNoise(1, 0, { range: 2, whiteShare: 1 }) });
    const [a, b] = [new Float64Array(d * d), new Float64Array(d * d)];
    for (let i = 0; i < 12; i++) {
      unpackGram(white, i, a);
      unpackGram(plain, i, b);
      expect(relativeError(a, b)).toBeLessThan(1e-13);
    }
    expect(relativeError(white.cross, plain.cross)).toBeLessThan(1e-12);
    expect(white.logDets.every((v) => v === 0)).toBe(true);
  });
});

describe("linear models with serial correlation", () => {
  it("have the density of the dense Gaussian, summed over levels", () => {
    for (const noise of [levelNoise(1.3, 0, TRUTH), levelNoise(1.3, 0.7, TRUTH)]) {
      const found = individualLogLikelihoods([basisStatistics(cohort, basis, { noise })], parametersOf(noise));
      const { variances, logWeights } = noiseLevels(noise);
      for (let i = 0; i < 12; i++) {
        const { times, values } = visitsOf(i);
        const n = times.length;
        const B = designMatrix(basis, times);
        const R = correlationMatrix(times, TRUTH);
        const BL = multiply(B, factor, n, d, d);
        const signal = multiply(BL, transpose(BL, n, d), n, d, n);
        const r = multiply(B, meanCoefficients, n, d, 1).map((f, j) => values[j] - f);
        const density = variances.reduce((sum, s, k) => {
          const V = R.map((v, e) => s * v + signal[e]);
          const root = cholesky(V, n);
          const inner = bilinear(r, invertFromCholesky(root, n), r);
          return sum + Math.exp(logWeights[k] - 0.5 * (n * LOG_2PI + logDetFromCholesky(root, n) + inner));
        }, 0);
        expect(found[i]).toBeCloseTo(Math.log(density), 9);
      }
    }
  });

  it.each([0, 0.7])("have the same sums through WebAssembly: ω = %s", (spread) => {
    const noise = levelNoise(1.3, spread, TRUTH);
    const statistics = [basisStatistics(cohort, basis, { noise })];
    const [fast, plain] = (["wasm", "typescript"] as const).map((kernels) =>
      createExpectationStep(statistics, { kernels })(parametersOf(noise)),
    );
    expect(fast.logLikelihood).toBeCloseTo(plain.logLikelihood, 8);
    expect(fast.logLikelihood).toBeCloseTo(logLikelihood(statistics, parametersOf(noise)), 8);
    for (const key of ["effects", "secondMoment", "cross", "gram"] as const) {
      expect(relativeError(fast[key], plain[key])).toBeLessThan(1e-9);
    }
  });

  it("have the slopes by log ρ and logit κ of the EM identity", () => {
    const noise = levelNoise(1.3, 0.7, TRUTH);
    const levels = noiseLevels(noise);
    const statistics = basisStatistics(cohort, basis, { noise });
    const p = parametersOf(noise);
    const slopes = [0, 0];
    const G = new Float64Array(d * d);
    for (let i = 0; i < 12; i++) {
      const { times, values } = visitsOf(i);
      unpackGram(statistics, i, G);
      const rows = visitRows(basis, times, values, 0);
      const y = values.map(
        (v, j) => v - designMatrix(basis, times.slice(j, j + 1)).reduce((s, b, k) => s + b * meanCoefficients[k], 0),
      );
      const inverse = invertFromCholesky(cholesky(correlationMatrix(times, TRUTH), times.length), times.length);
      const Ry = multiply(inverse, y, times.length, times.length, 1);
      const g = multiply(transpose(designMatrix(basis, times), times.length, d), Ry, d, times.length, 1);
      const own = { G, g, rho: bilinear(y, inverse, y) };
      const rotated = rotateEffect(G, factor, d);
      const evidence = {
        n: times.length,
        logDet: statistics.logDets[i],
        delta: rotated.delta,
        ...expectedSquares(own, rotated),
      };
      const { weights } = levelPosterior(levelDensities(evidence, levels, 1), levels);
      const zero = { mean: new Float64Array(d), moment: new Float64Array(d * d) };
      const moments = precisionMoments(own, rotated, levels, 1, weights, zero);
      serialSlopes({ times, rows }, TRUTH, meanCoefficients, moments).forEach((v, k) => {
        slopes[k] += v;
      });
    }
    const h = 1e-4;
    const logit = Math.log(TRUTH.whiteShare / (1 - TRUTH.whiteShare));
    const at = (byRange: number, byShare: number) => {
      const moved = levelNoise(1.3, 0.7, {
        range: TRUTH.range * Math.exp(byRange),
        whiteShare: 1 / (1 + Math.exp(-logit - byShare)),
      });
      return logLikelihood([basisStatistics(cohort, basis, { noise: moved })], { ...p, noises: [moved] });
    };
    expect((at(h, 0) - at(-h, 0)) / (2 * h)).toBeCloseTo(slopes[0], 5);
    expect((at(0, h) - at(0, -h)) / (2 * h)).toBeCloseTo(slopes[1], 5);
  });

  it("equal the white ones for a white share of 1", () => {
    const own = serialCohort(40, 6, whiteNoise(1));
    const white = fitLmm(own);
    const same = fitLmm(own, { noise: levelNoise(1, 0, { range: 3, whiteShare: 1 }) });
    expect(same.record.trace.at(-1)).toBeCloseTo(white.record.trace.at(-1)!, 6);
    expect(markerModel(same).noise.variance / markerModel(white).noise.variance).toBeCloseTo(1, 4);
  });
});

const dense = serialCohort(100, 20, levelNoise(1, 0.8, TRUTH));

describe("learning the correlation", () => {
  it("finds range, white share and spread on a dense cohort, at the maximum of the likelihood", () => {
    const model = fitLmm(dense, { noise: "level+serial", restarts: 0 });
    const { correlation, spread } = markerModel(model).noise;
    expect(Math.abs(Math.log(correlation!.range / TRUTH.range))).toBeLessThan(0.5);
    expect(Math.abs(correlation!.whiteShare - TRUTH.whiteShare)).toBeLessThan(0.12);
    expect(Math.abs(spread! - 0.8)).toBeLessThan(0.2);
    const best = model.record.trace.at(-1)!;
    for (const factors of [
      [0.8, 1],
      [1.25, 1],
      [1, 0.85],
      [1, 1.15],
    ]) {
      const moved = { range: correlation!.range * factors[0], whiteShare: correlation!.whiteShare * factors[1] };
      const other = fitLmm(dense, { noise: levelNoise(1, 1, moved), restarts: 0 });
      expect(other.record.trace.at(-1)!).toBeLessThan(best + 0.15);
    }
  });

  it("scales with the unit of time alone", () => {
    const { ids, markers } = dense;
    const { times, values, offsets } = markers[0];
    const months = makeCohort({
      ids: ids.flatMap((id, i) => new Array<string>(offsets[i + 1] - offsets[i]).fill(id)),
      times: times.map((t) => 12 * t),
      values,
    });
    const [a, b] = [dense, months].map((one) => {
      const own = bsplineBasis(onlyMarker(one).times);
      return learnCorrelation(one, own, fitRoughly(one, own, "white"), visitGaps(one)).correlation;
    });
    expect(b.range / a.range / 12).toBeCloseTo(1, 3);
    expect(b.whiteShare).toBeCloseTo(a.whiteShare, 3);
  });

  it("tells the gain in log-likelihood of the models that are fitted, of which priors are no part", () => {
    const text = readFileSync(new URL("../../../../../examples/pbc/visits.csv", import.meta.url), "utf8");
    const { cohort: visits } = readCohort(text, {
      columns: { id: "id", time: "time", value: "bili" },
      marker: { name: "bili", transform: "log" },
    });
    const own = bsplineBasis(onlyMarker(visits).times);
    const options = { priors: "weak" } as const;
    for (const [kind, gain] of [
      ["white", -0.15],
      ["level", 6.8],
    ] as const) {
      const without = fitRoughly(visits, own, kind, options);
      const found = learnCorrelation(visits, own, without, visitGaps(visits), options);
      const [alone, correlated] = [undefined, found.correlation].map((correlation) => {
        const statistics = [basisStatistics(visits, own, { noise: firstNoise(kind, correlation) })];
        const model = fitLmmStatistics(statistics, { ...options, restarts: 0 });
        return logLikelihood(statistics, lmmParameters(model));
      });
      expect(Math.abs(without.logLikelihood - alone)).toBeLessThan(0.1);
      expect(Math.abs(found.gain - (correlated - alone))).toBeLessThan(0.1);
      expect(found.gain).toBeCloseTo(gain, 1);
    }
  });

  it("goes by the gaps of visits", () => {
    const gaps = visitGaps(dense);
    expect(gaps.longest).toBeCloseTo(2, 1);
    expect(gaps.shortest).toBeGreaterThan(0);
    expect(gaps.shortest).toBeLessThan(gaps.medianGap);
    expect(gaps.medianVisits).toBe(20);
    expect(gaps.numDistinct).toBeGreaterThan(100);
  });
});

describe("noise chosen by the data", () => {
  it("takes the correlation where there is one, and says why", () => {
    const { noise } = markerModel(fitLmm(dense, { noise: "auto" }));
    expect(noise.kind).toBe("level+serial");
    expect(noise.reason).toMatch(
      /gains \d+ in log-likelihood.*more than log N.*below its upper bound.*correlates by 0\.\d+/,
    );
  });

  it("leaves it where there is none", () => {
    const { noise } = markerModel(fitLmm(serialCohort(80, 8, levelNoise(1, 0.8)), { noise: "auto" }));
    expect(noise.kind).toBe("level");
    expect(noise.reason).toMatch(
      /^Levels of noise: levels gain \d+ in log-likelihood \(more than ½ log N = 3.2\); .*(less than log N|gains nothing)/,
    );
  });

  it("takes one variance for all where levels gain nothing, and the correlation without them", () => {
    const white = markerModel(fitLmm(serialCohort(80, 8, levelNoise(1, 0)), { noise: "auto" })).noise;
    expect(white.kind).toBe("white");
    expect(white.reason).toMatch(/^The same noise for all: levels gain .* \(less than ½ log N/);
    const serial = markerModel(fitLmm(serialCohort(100, 20, levelNoise(1, 0, TRUTH)), { noise: "auto" })).noise;
    expect(serial.kind).toBe("serial");
  });

  it("does not try it with few visits, or few distinct gaps", () => {
    const few = fitLmm(serialCohort(60, 2, levelNoise(1, 0.5)), { noise: "auto" });
    expect(markerModel(few).noise.reason).toMatch(/fewer than 3 visits/);
    const ids = Array.from({ length: 40 * 6 }, (_, e) => `p${Math.floor(e / 6)}`);
    const times = ids.map((_, e) => e % 6);
    const values = ids.map((_, e) => Math.sin(e) + Math.cos(7 * e) + Math.floor(e / 6) / 10);
    const regular = fitLmm(makeCohort({ ids, times, values }), { noise: "auto" });
    expect(markerModel(regular).noise.reason).toMatch(/distinct gaps? only|never closer/);
  });

  it("keeps the correlation of a noise that is given, and refuses an unknown kind", () => {
    const given = levelNoise(9, 0.2, { range: 0.7, whiteShare: 0.4 });
    const { noise } = markerModel(fitFpca(dense, { rank: 1, noise: given }));
    expect(noise.correlation).toEqual(given.correlation);
    expect(noise.variance).not.toBe(9);
    expect(() => fitLmm(dense, { noise: "pink" as "white" })).toThrow(/"white" or "level" or "serial"/);
  });
});
