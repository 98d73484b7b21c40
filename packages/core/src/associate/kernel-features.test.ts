import { describe, expect, it } from "vitest";
import { squaredDistance } from "../numeric/matrix.ts";
import { createRandom } from "../numeric/random.ts";
import { rowSumsKernel } from "../wasm/row-sums.ts";
import {
  energyFeatures,
  gaussFeatures,
  type KernelFeatures,
  kernelSums,
  statisticOf,
  sumRows,
  testFeatures,
} from "./kernel-features.ts";
import { standardPlaces } from "./sample.ts";

const random = createRandom(4);

/** Laws of places, one coordinate each. */
const LAWS: Readonly<Record<string, () => number>> = {
  normal: () => random.normal(),
  skewed: () => Math.exp(random.normal()),
  clustered: () => 0.2 * random.normal() + 3 * random.integer(3),
  "heavy-tailed": () => random.normal() / Math.sqrt(random.gamma(1.5)),
  shrunk: () => random.normal() * (random.uniform() < 0.5 ? 1 : 0.2),
};

const KERNELS = {
  gauss: (x: Float64Array, q: number) => (i: number, j: number) => Math.exp(-0.5 * squaredDistance(x, i, j, q)),
  energy: (x: Float64Array, q: number) => (i: number, j: number) => -Math.sqrt(squaredDistance(x, i, j, q)),
};

/** a'Ka by its definition. */
function definition(kernel: (i: number, j: number) => number, n: number, members: Int32Array): number {
  const a = new Float64Array(n).fill(-1 / (n - members.length));
  for (const i of members) a[i] = 1 / members.length;
  let T = 0;
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) T += a[i] * a[j] * kernel(i, j);
  return T;
}

const quickly = (features: KernelFeatures, members: Int32Array) => statisticOf(testFeatures(features))(members);

/** Root mean square error of T over random labellings in units of its standard deviation. */
function errorShare(kernel: (i: number, j: number) => number, features: KernelFeatures): number {
  const { n } = features;
  const K = Float64Array.from({ length: n * n }, (_, k) => kernel(Math.floor(k / n), k % n));
  const labellings = Array.from({ length: 30 }, () => random.permutation(n).slice(0, n / 5));
  const direct = labellings.map((members) => definition((i, j) => K[i * n + j], n, members));
  const quick = labellings.map(statisticOf(testFeatures(features)));
  const mean = direct.reduce((s, v) => s + v, 0) / direct.length;
  const squares = direct.reduce((s, v) => s + (v - mean) ** 2, 0);
  return Math.sqrt(direct.reduce((s, v, b) => s + (v - quick[b]) ** 2, 0) / squares);
}

describe("statisticOf", () => {
  it.each([1, 2, 4])("is a'Ka for both kernels, for 60 individuals in %i dimensions to rounding", (q) => {
    const n = 60;
    const x = Float64Array.from({ length: n * q }, LAWS.skewed);
    const members = random.permutation(n).slice(0, 17);
    const gauss = definition(KERNELS.gauss(x, q), n, members);
    expect(Math.abs(quickly(gaussFeatures(x, n, q), members) / gauss - 1)).toBeLessThan(1e-10);
    const energy = definition(KERNELS.energy(x, q), n, members);
    expect(Math.abs(quickly(energyFeatures(x, n, q), members) / energy - 1)).toBeLessThan(1e-10);
  });

  it("is the same whichever class is marked", () => {
    const x = Float64Array.from({ length: 100 }, LAWS.normal);
    const order = random.permutation(50);
    const features = gaussFeatures(x, 50, 2);
    expect(quickly(features, order.slice(0, 20))).toBeCloseTo(quickly(features, order.slice(20)), 12);
  });

  // With few features T is that of a kernel nearly as good; p-values stay exact, since every labelling is judged by it.
  it.each(Object.keys(LAWS))("is, by few features, near the definition for %s places in the plane", (law) => {
    const n = 600;
    const x = Float64Array.from({ length: 2 * n }, LAWS[law]);
    const z = standardPlaces(x, 2);
    expect(errorShare(KERNELS.gauss(z, 2), gaussFeatures(z, n, 2))).toBeLessThan(0.01);
    expect(errorShare(KERNELS.energy(x, 2), energyFeatures(x, n, 2))).toBeLessThan(0.05);
  });
});

describe("sumRows", () => {
  it("has the same bits in WebAssembly", () => {
    const features = testFeatures(gaussFeatures(Float64Array.from({ length: 1400 }, LAWS.normal), 700, 2));
    const [plain, quick] = [new Float64Array(features.rank), new Float64Array(features.rank)];
    for (const count of [0, 1, 350, 699]) {
      const members = random.permutation(700).slice(0, count);
      sumRows(features, members, plain);
      rowSumsKernel(features.rows, features.n, features.rank)!(members, quick);
      expect(quick).toEqual(plain);
    }
  });
});

describe("kernelSums", () => {
  it("are sums of the kernel over members", () => {
    const n = 40;
    const x = Float64Array.from({ length: 2 * n }, LAWS.normal);
    const members = Int32Array.of(3, 8, 21);
    const kernel = KERNELS.gauss(x, 2);
    const sums = kernelSums(gaussFeatures(x, n, 2), members);
    for (let i = 0; i < n; i++) expect(sums[i]).toBeCloseTo(kernel(i, 3) + kernel(i, 8) + kernel(i, 21), 10);
  });
});
