import { describe, expect, it } from "vitest";
import { squaredDistance } from "../numeric/matrix.ts";
import { createRandom, type Random } from "../numeric/random.ts";
import { normalCdf } from "../numeric/special.ts";
import { energyCoefficient, scoreAuc, shareAuc } from "./effect.ts";
import { energyFeatures, gaussFeatures, kernelSums } from "./kernel-features.ts";
import { standardPlaces } from "./sample.ts";

function sample(random: Random, n: number, shift: number): { x: Float64Array; labels: Uint8Array } {
  const labels = Uint8Array.from({ length: n }, () => (random.uniform() < 0.3 ? 1 : 0));
  const x = Float64Array.from(
    { length: 2 * n },
    (_, k) => random.normal() + (k % 2 === 0 ? shift * labels[k >> 1] : 0),
  );
  return { x, labels };
}

/** The AUC with a bandwidth of `width` standard deviations. */
function aucOf(x: Float64Array, labels: Uint8Array, strata = new Int32Array(labels.length), width = 1) {
  const z = standardPlaces(x, 2).map((v) => v / width);
  return shareAuc(z, gaussFeatures(z, labels.length, 2), labels, strata);
}

describe("scoreAuc", () => {
  it("is the share of pairs in which the case scores higher, ties by half", () => {
    const random = createRandom(1);
    const scores = Array.from({ length: 40 }, () => random.integer(8));
    const labels = Uint8Array.from(scores, () => (random.uniform() < 0.4 ? 1 : 0));
    let wins = 0;
    let pairs = 0;
    for (let i = 0; i < 40; i++) {
      for (let j = 0; j < 40; j++) {
        if (labels[i] !== 1 || labels[j] !== 0) continue;
        pairs++;
        wins += scores[i] > scores[j] ? 1 : scores[i] === scores[j] ? 0.5 : 0;
      }
    }
    expect(scoreAuc(scores, labels)).toBeCloseTo(wins / pairs, 14);
  });
});

describe("shareAuc", () => {
  it("is the definition: both shares without the pair", () => {
    const { x, labels } = sample(createRandom(2), 30, 1);
    const z = standardPlaces(x, 2);
    const k = (i: number, j: number) =>
      Math.exp(-0.5 * ((z[2 * i] - z[2 * j]) ** 2 + (z[2 * i + 1] - z[2 * j + 1]) ** 2));
    const cases = labels.reduce((s, v) => s + v, 0);
    const prior = (cases - 1) / 28;
    let wins = 0;
    for (let i = 0; i < 30; i++) {
      for (let j = 0; j < 30; j++) {
        if (labels[i] !== 1 || labels[j] !== 0) continue;
        const share = (at: number) => {
          let [C, N] = [prior, 1];
          for (let l = 0; l < 30; l++) {
            if (l === i || l === j) continue;
            C += labels[l] * k(at, l);
            N += k(at, l);
          }
          return C / N;
        };
        wins += share(i) > share(j) ? 1 : 0;
      }
    }
    expect(aucOf(x, labels).auc.value).toBeCloseTo(wins / (cases * (30 - cases)), 12);
  });

  it("has a mean of exactly one half over all labellings, whatever the places and the bandwidth", () => {
    const { x } = sample(createRandom(12), 9, 0);
    for (const width of [1, 0.3]) {
      let sum = 0;
      let labellings = 0;
      for (let code = 0; code < 2 ** 9; code++) {
        const labels = Uint8Array.from({ length: 9 }, (_, i) => (code >> i) & 1);
        if (labels.reduce((s, v) => s + v, 0) !== 3) continue;
        sum += aucOf(x, labels, undefined, width).auc.value;
        labellings++;
      }
      expect(labellings).toBe(84);
      expect(sum / labellings).toBeCloseTo(0.5, 12);
    }
  });

  it("comes near the best AUC there is for shifted places, which a bandwidth made for densities misses", () => {
    const random = createRandom(13);
    let [wide, narrow] = [0, 0];
    for (let k = 0; k < 12; k++) {
      const { x, labels } = sample(random, 250, 0.7);
      wide += aucOf(x, labels).auc.value / 12;
      narrow += aucOf(x, labels, undefined, 0.3).auc.value / 12;
    }
    // The likelihood ratio of normal laws one standard deviation wide has AUC Φ(shift/√2); one mean of 12 varies by 0.012.
    const best = normalCdf(0.7 / Math.SQRT2);
    expect(Math.abs(wide - best)).toBeLessThan(0.035);
    expect(wide).toBeGreaterThan(narrow + 0.015);
  });

  it("is near one half without a relation and near one with a clear one, with honest intervals", () => {
    const random = createRandom(3);
    let sum = 0;
    let excluded = 0;
    for (let k = 0; k < 40; k++) {
      const { x, labels } = sample(random, 120, 0);
      const { auc } = aucOf(x, labels);
      sum += auc.value / 40;
      if (auc.lower > 0.5 || auc.upper < 0.5) excluded++;
    }
    // The spread of one value is about 0.09, of the mean 0.015.
    expect(Math.abs(sum - 0.5)).toBeLessThan(0.05);
    expect(excluded).toBeLessThanOrEqual(5);
    const { x, labels } = sample(random, 200, 4);
    const { auc } = aucOf(x, labels);
    expect(auc.value).toBeGreaterThan(0.98);
    expect(auc.lower).toBeGreaterThan(0.9);
    expect(auc.upper).toBeLessThanOrEqual(1);
  });

  it("compares within strata where asked, and says if there is nothing to compare", () => {
    // The outcome goes with the stratum, and places go with the stratum, not with the outcome within it.
    const random = createRandom(4);
    const n = 300;
    const strata = Int32Array.from({ length: n }, (_, i) => i % 2);
    const labels = Uint8Array.from(strata, (s) => (random.uniform() < (s === 1 ? 0.7 : 0.2) ? 1 : 0));
    const x = Float64Array.from({ length: 2 * n }, (_, k) => random.normal() + 4 * strata[k >> 1]);
    const { auc, withinStrata } = aucOf(x, labels, strata);
    expect(auc.lower).toBeGreaterThan(0.6);
    expect(withinStrata!.lower).toBeLessThan(0.5);
    expect(withinStrata!.upper).toBeGreaterThan(0.5);
    expect(aucOf(x, labels, Int32Array.from(labels)).withinStrata).toBeUndefined();
  });

  it("is nearly the definition where the kernel is held by few features", () => {
    const n = 400;
    const { x, labels } = sample(createRandom(5), n, 1);
    const z = standardPlaces(x, 2);
    const few = gaussFeatures(z, n, 2);
    expect(few.rank).toBeLessThan(80);
    const rows = new Float64Array(n * n);
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) rows[i * n + j] = Math.exp(-0.5 * squaredDistance(z, i, j, 2));
    }
    const cases = Int32Array.from(labels.keys()).filter((i) => labels[i] === 1);
    const quick = kernelSums(few, cases);
    for (let i = 0; i < n; i++) {
      const direct = cases.reduce((s, j) => s + rows[i * n + j], 0);
      expect(Math.abs(quick[i] - direct)).toBeLessThan(0.01 * direct + 0.05);
    }
  });
});

describe("energyCoefficient", () => {
  it("is (2A − B − C)/2A from mean distances", () => {
    const { x, labels } = sample(createRandom(6), 25, 1);
    const sums = [0, 0, 0];
    const pairs = [0, 0, 0];
    for (let i = 0; i < 25; i++) {
      for (let j = 0; j < i; j++) {
        const kind = labels[i] === labels[j] ? labels[i] : 2;
        sums[kind] += Math.hypot(x[2 * i] - x[2 * j], x[2 * i + 1] - x[2 * j + 1]);
        pairs[kind]++;
      }
    }
    const [C, B, A] = sums.map((s, k) => s / pairs[k]);
    const estimate = energyCoefficient(energyFeatures(x, 25, 2), labels)!;
    expect(estimate.value).toBeCloseTo((2 * A - B - C) / (2 * A), 12);
    expect(estimate.lower).toBeLessThanOrEqual(estimate.value);
    expect(estimate.upper).toBeGreaterThan(estimate.value);
  });

  it("is 0 within its interval without a relation, large for separate groups, undefined for two cases", () => {
    const random = createRandom(7);
    const none = sample(random, 300, 0);
    expect(energyCoefficient(energyFeatures(none.x, 300, 2), none.labels)!.lower).toBe(0);
    const far = sample(random, 100, 30);
    expect(energyCoefficient(energyFeatures(far.x, 100, 2), far.labels)!.value).toBeGreaterThan(0.9);
    expect(energyCoefficient(energyFeatures(none.x, 300, 2), new Uint8Array(300).fill(1, 0, 2))).toBeUndefined();
  });

  it("is nearly the same from few features", () => {
    const n = 1000;
    const { x, labels } = sample(createRandom(8), n, 0.8);
    const few = energyFeatures(x, n, 2);
    expect(few.rank).toBe(128);
    let [within, between] = [0, 0];
    const sums = [0, 0];
    const cases = labels.reduce((s, v) => s + v, 0);
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) {
        const d = Math.sqrt(squaredDistance(x, i, j, 2));
        if (labels[i] !== labels[j]) between += d / (2 * cases * (n - cases));
        else sums[labels[i]] += d;
      }
    }
    within = sums[1] / (cases * (cases - 1)) + sums[0] / ((n - cases) * (n - cases - 1));
    const direct = (2 * between - within) / (2 * between);
    expect(Math.abs(energyCoefficient(few, labels)!.value - direct)).toBeLessThan(1e-3);
  });
});
