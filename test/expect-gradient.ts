/** Central differences against an analytic gradient; the slow and obvious check used across tests. */
import { expect } from "vitest";

/** Worst error of `gradient` against central differences of `f` at x, relative to the largest gradient entry (at least 1). */
export function gradientError(
  f: (x: Float64Array) => number,
  x: Float64Array,
  gradient: Float64Array,
  step = 1e-5,
): number {
  let scale = 1;
  for (const g of gradient) scale = Math.max(scale, Math.abs(g));
  let worst = 0;
  for (let k = 0; k < x.length; k++) {
    const h = step * Math.max(1, Math.abs(x[k]));
    const up = x.slice();
    const down = x.slice();
    up[k] += h;
    down[k] -= h;
    const difference = (f(up) - f(down)) / (up[k] - down[k]);
    worst = Math.max(worst, Math.abs(difference - gradient[k]) / scale);
  }
  return worst;
}

export function expectGradient(
  f: (x: Float64Array) => number,
  x: Float64Array,
  gradient: Float64Array,
  tolerance = 1e-6,
): void {
  expect(gradientError(f, x, gradient)).toBeLessThan(tolerance);
}

/** Largest |a − b| relative to the largest magnitude in b (the oracle's rule). */
export function relativeError(a: ArrayLike<number>, b: ArrayLike<number>): number {
  expect(a.length).toBe(b.length);
  let scale = 0;
  let worst = 0;
  for (let k = 0; k < b.length; k++) {
    scale = Math.max(scale, Math.abs(b[k]));
    const difference = Math.abs(a[k] - b[k]);
    worst = Math.max(worst, Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference);
  }
  return scale > 0 ? worst / scale : worst;
}
