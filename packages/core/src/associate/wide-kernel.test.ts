import { describe, expect, it } from "vitest";
import { createRandom } from "../numeric/random.ts";
import { rowSumsKernel } from "../wasm/row-sums.ts";
import { gaussLowRank, sumFeatures } from "./low-rank.ts";
import { kdeForm, permutationStatistics, planPermutations } from "./permutation.ts";
import { wideForm, wideKernel } from "./wide-kernel.ts";

const random = createRandom(4);
const n = 2000;
const labels = Uint8Array.from({ length: n }, () => (random.uniform() < 0.3 ? 1 : 0));

/** Laws of places of one coordinate each. */
const LAWS: Readonly<Record<string, () => number>> = {
  normal: () => random.normal(),
  skewed: () => Math.exp(random.normal()),
  clustered: () => 0.2 * random.normal() + 3 * random.integer(3),
  "heavy-tailed": () => random.normal() / Math.sqrt(random.gamma(1.5)),
  shrunk: () => random.normal() * (random.uniform() < 0.5 ? 1 : 0.2),
};

describe("wideKernel", () => {
  it("has the covariance of the places as its bandwidth, whatever their units", () => {
    const x = Float64Array.from({ length: 600 }, () => random.normal());
    const { z } = wideKernel(x, 2);
    const scaled = wideKernel(
      x.map((v, k) => (k % 2 === 0 ? 100 * v : v - 7)),
      2,
    );
    const apart = (of: Float64Array) => Math.hypot(of[0] - of[2], of[1] - of[3]);
    expect(apart(scaled.z)).toBeCloseTo(apart(z), 8);
  });
});

describe("wideForm", () => {
  it.each(Object.keys(LAWS))("is, for %s places, the direct form to a hundredth of its null sd at n = 2,000", (law) => {
    const x = Float64Array.from({ length: 2 * n }, LAWS[law]);
    const statistics = (form: ReturnType<typeof wideForm>) =>
      permutationStatistics(planPermutations({ forms: [form], labels }), 0, 60);
    const direct = statistics(kdeForm(wideKernel(x, 2), n, "matrix"));
    const quick = statistics(wideForm(x, 2));
    const mean = direct.reduce((s, v) => s + v, 0) / direct.length;
    const sd = Math.sqrt(direct.reduce((s, v) => s + (v - mean) ** 2, 0) / direct.length);
    const error = Math.sqrt(direct.reduce((s, v, b) => s + (v - quick[b]) ** 2, 0) / direct.length);
    expect(error / sd).toBeLessThan(0.01);
  });

  it("is the matrix itself for few, and works in one and three dimensions", () => {
    const few = Float64Array.from({ length: 200 }, () => random.normal());
    expect(wideForm(few, 2).kind).toBe("matrix");
    for (const q of [1, 3]) expect(wideForm(Float64Array.from({ length: n * q }, LAWS.normal), q).n).toBe(n);
  });
});

describe("sums of features", () => {
  it("have the same bits in WebAssembly and in TypeScript", () => {
    const features = gaussLowRank(
      Float64Array.from({ length: 1400 }, () => random.normal()),
      700,
      2,
    )!;
    const members = Int32Array.from({ length: 701 }, () => random.integer(700));
    const [plain, quick] = [new Float64Array(features.rank), new Float64Array(features.rank)];
    for (const count of [0, 1, 350, 699]) {
      sumFeatures(features, members, count, plain);
      rowSumsKernel(features.rows, features.n, features.rank)!(members, count, quick);
      expect(quick).toEqual(plain);
    }
  });
});
