/** Numbers of model files that would give single values away, rounded (docs/privacy.md). */

/** A number to a multiple of a step, without the digits that the division leaves behind. */
export function roundTo(x: number, step: number, round: (x: number) => number): number {
  const rounded = step < 1 ? round(x * Math.round(1 / step)) / Math.round(1 / step) : round(x / step) * step;
  return Number.isFinite(rounded) ? rounded + 0 : x;
}

/** The largest 1, 2 or 5 times a power of ten that is at most x > 0. */
export function roundStep(x: number): number {
  const power = 10 ** Math.floor(Math.log10(x));
  const [most = 1] = [5, 2].filter((digit) => digit * power <= x * (1 + 1e-12));
  return most * power;
}

/**
 * A mean for a model file: rounded to 1, 2 or 5 times a power of ten, at most a tenth of the standard deviation and more than a twenty-fifth. An exact mean,
 * times their number, gives a value away to whoever has two files that differ by it; 100 values and 101 so rounded leave it open to four standard deviations
 * or more.
 */
export function roundedMean(mean: number, sd: number): number {
  return sd > 0 ? roundTo(mean, roundStep(sd / 10), Math.round) : mean;
}

/**
 * A mean of n symmetric matrices with entries between 0 and 1, [d,d], rounded to a power of two between 1/n and 2/n, so that n times it does not tell the share
 * of one of them; no entry larger than its diagonal allows.
 */
export function roundedGram(gram: Float64Array, n: number): Float64Array {
  const d = Math.round(Math.sqrt(gram.length));
  const step = 2 ** -Math.floor(Math.log2(n));
  const near = gram.map((v) => Math.round(v / step) * step);
  return near.map((v, e) => {
    const bound = Math.sqrt(near[Math.floor(e / d) * (d + 1)] * near[(e % d) * (d + 1)]);
    return Math.min(v, Math.floor(bound / step + 1e-9) * step);
  });
}
