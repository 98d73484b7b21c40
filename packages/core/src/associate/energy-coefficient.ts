/**
 * How far apart the places of two classes are: the energy coefficient (2A − B − C)/2A, with A the mean distance between
 * classes, B and C the mean distances within them over i ≠ j. 0 for equal laws, at most 1; free of units.
 * 95 % interval: two-sample jackknife, cut at 0 and 1.                                 (docs/math/association.md §6)
 */
import { normalQuantile } from "../numeric/special.ts";
import { type Estimate, indicesOf, jackknifeVariance } from "./effect.ts";
import { type KernelFeatures, kernelSums } from "./kernel-features.ts";

/** Energy coefficient of labels [n] from the energy kernel of the places; undefined with fewer than three in a class. */
export function energyCoefficient(energy: KernelFeatures, labels: Uint8Array): Estimate | undefined {
  const cases = indicesOf(labels, 1);
  const controls = indicesOf(labels, 0);
  const n1 = cases.length;
  const n2 = controls.length;
  if (n1 < 3 || n2 < 3) return undefined;
  const toCases = distanceSums(energy, cases);
  const toControls = distanceSums(energy, controls);
  let within1 = 0;
  let within2 = 0;
  let between = 0;
  for (const i of cases) {
    within1 += toCases[i];
    between += toControls[i];
  }
  for (const j of controls) within2 += toControls[j];
  const value = coefficient(within1, within2, between, n1, n2);
  const withoutCase = Float64Array.from(cases, (i) =>
    coefficient(within1 - 2 * toCases[i], within2, between - toControls[i], n1 - 1, n2),
  );
  const withoutControl = Float64Array.from(controls, (j) =>
    coefficient(within1, within2 - 2 * toControls[j], between - toCases[j], n1, n2 - 1),
  );
  const spread = Math.sqrt(jackknifeVariance(withoutCase) + jackknifeVariance(withoutControl));
  const reach = spread * normalQuantile(0.975);
  const cut = (v: number) => Math.min(1, Math.max(0, v));
  return { value: cut(value), lower: cut(value - reach), upper: cut(value + reach) };
}

/** The coefficient from sums of distances over ordered pairs within classes and over pairs between them. */
function coefficient(within1: number, within2: number, between: number, n1: number, n2: number): number {
  const A = between / (n1 * n2);
  if (!(A > 0)) return 0;
  return (2 * A - within1 / (n1 * (n1 - 1)) - within2 / (n2 * (n2 - 1))) / (2 * A);
}

/** Σ_j |x_i − x_j| over members, for everyone: |x_i − x_j| = ½K_ii + ½K_jj − K_ij for the energy kernel K. */
function distanceSums(energy: KernelFeatures, members: Int32Array): Float64Array {
  const { n, rank, rows, rest } = energy;
  const half = rest.map((v) => 0.5 * v);
  for (let i = 0; i < n; i++) for (let r = 0; r < rank; r++) half[i] += 0.5 * rows[i * rank + r] ** 2;
  const sum = members.reduce((s, j) => s + half[j], 0);
  return kernelSums(energy, members).map((k, i) => members.length * half[i] + sum - k);
}
