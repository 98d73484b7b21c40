import { describe, expect, it } from "vitest";
import { createRandom } from "../numeric/random.ts";
import { pairAuc } from "./pair-auc.ts";

/** By the definition: every mean taken anew without the pair. */
function slowAuc(features: Float64Array, labels: readonly number[]): number {
  const n = labels.length;
  const F = features.length / n;
  const everyone = labels.map((_, i) => i);
  const mean = (label: number, without: number, f: number) => {
    const members = everyone.filter((i) => labels[i] === label && i !== without);
    return members.reduce((s, i) => s + features[i * F + f], 0) / members.length;
  };
  let [wins, pairs] = [0, 0];
  for (const i of everyone.filter((k) => labels[k] === 1)) {
    for (const j of everyone.filter((k) => labels[k] === 0)) {
      let d = 0;
      for (let f = 0; f < F; f++) d += (features[i * F + f] - features[j * F + f]) * (mean(1, i, f) - mean(0, j, f));
      pairs++;
      wins += d > 0 ? 1 : 0;
    }
  }
  return wins / pairs;
}

describe("pairAuc", () => {
  const random = createRandom(2);

  it("is the share of pairs on the right side of means without them", () => {
    const features = Float64Array.from({ length: 90 }, () => random.normal());
    const labels = Array.from({ length: 30 }, (_, i) => (i < 11 ? 1 : 0));
    expect(pairAuc(features, labels).value).toBe(slowAuc(features, labels));
  });

  it("is about one half where there is nothing, and its interval then holds one half", () => {
    let [sum, held] = [0, 0];
    for (let s = 0; s < 60; s++) {
      const features = Float64Array.from({ length: 300 }, () => random.normal());
      const { value, lower, upper } = pairAuc(
        features,
        Array.from({ length: 100 }, (_, i) => (i < 30 ? 1 : 0)),
        s,
      );
      sum += value / 60;
      if (lower <= 0.5 && upper >= 0.5) held++;
    }
    expect(Math.abs(sum - 0.5)).toBeLessThan(0.04);
    expect(held).toBeGreaterThan(50);
  });

  it("is near one for groups that are apart", () => {
    const labels = Array.from({ length: 80 }, (_, i) => i % 2);
    const features = Float64Array.from({ length: 160 }, (_, k) => random.normal() + 4 * labels[k >> 1]);
    const { value, lower } = pairAuc(features, labels);
    expect(value).toBeGreaterThan(0.98);
    expect(lower).toBeGreaterThan(0.9);
  });
});
