/**
 * How far apart the places of two classes are: the energy coefficient (2A − B − C)/2A, with A the mean distance between
 * classes, B and C the mean distances within them over i ≠ j. 0 for equal laws, at most 1; free of units.
 * Interval: two-sample jackknife, cut at 0 and 1.                                 (docs/math/association.md §6)
 */
import { normalQuantile } from "../numeric/special.ts";
import { type Estimate, indicesOf } from "./effect.ts";
import { kernelRowSums, type QuadraticForm } from "./quadratic-form.ts";

/** Energy coefficient of labels [n] from the energy kernel of the places; undefined with fewer than three in a class. */
export function energyCoefficient(energy: QuadraticForm, labels: Uint8Array, confidence = 0.95): Estimate | undefined {
  const cases = indicesOf(labels, 1);
  const controls = indicesOf(labels, 0);
  const n1 = cases.length;
  const n2 = controls.length;
  if (n1 < 3 || n2 < 3) return undefined;
  // The energy kernel is −|x_i − x_j|.
  const toCases = kernelRowSums(energy, cases).map((k) => -k);
  const toControls = toCases.map((distance, i) => -energy.rowSums[i] - distance);
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
  const reach = spread * normalQuantile(0.5 + confidence / 2);
  const cut = (v: number) => Math.min(1, Math.max(0, v));
  return { value: cut(value), lower: cut(value - reach), upper: cut(value + reach) };
}

/** The coefficient from sums of distances over ordered pairs within classes and over pairs between them. */
function coefficient(within1: number, within2: number, between: number, n1: number, n2: number): number {
  const A = between / (n1 * n2);
  if (!(A > 0)) return 0;
  return (2 * A - within1 / (n1 * (n1 - 1)) - within2 / (n2 * (n2 - 1))) / (2 * A);
}

function jackknifeVariance(values: Float64Array): number {
  const n = values.length;
  const mean = values.reduce((s, v) => s + v, 0) / n;
  return ((n - 1) / n) * values.reduce((s, v) => s + (v - mean) ** 2, 0);
}
