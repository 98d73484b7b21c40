/** What whoever has two model files, of cohorts that differ by one visit, can work out of that visit. */
import { expect } from "vitest";

/** A visit later than all others, with many digits. */
export const LAST = { time: 10.3791, value: 43.219 } as const;

/** What the attack reads of a model file. */
interface File {
  readonly model: {
    readonly record: { readonly numObservations: number };
    readonly markers: readonly {
      readonly basis: { readonly knots: readonly number[] };
      readonly center: number;
      readonly averageGram?: readonly number[];
    }[];
  };
}

/** Fails if knots of a model are visits, or the two together give the one that was added away. */
export function expectNothingTold(before: string, after: string, times: ArrayLike<number>): void {
  const visits = new Set([...Array.from(times), LAST.time].filter((t) => Math.round(100 * t) !== 100 * t));
  const numbers: number[] = [];
  let open = 0;
  for (const text of [before, after]) {
    const { model } = JSON.parse(text) as File;
    const N = model.record.numObservations;
    numbers.push(N);
    for (const { basis, center, averageGram = [] } of model.markers) {
      for (const t of basis.knots) expect(visits.has(t)).toBe(false);
      open += N * stepOf(center);
      // N times the weights are whole numbers or nearly: the share of one visit, from 0 to 1, is not among their digits.
      const step = 2 ** -Math.floor(Math.log2(N));
      expect(N * step).toBeGreaterThanOrEqual(1);
      expect(averageGram.every((v) => Number.isInteger(v / step))).toBe(true);
    }
  }
  expect(numbers.reduce((one, two) => two - one)).toBe(1);
  // Sums of values, taken from the centres, are off by more than values differ between individuals.
  expect(open).toBeGreaterThan(50);
}

/** The place of the last digit of a number. */
function stepOf(x: number): number {
  const [, digits = ""] = String(x).split(".");
  return 10 ** -digits.length;
}
