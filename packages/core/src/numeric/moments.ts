/** First and second moments of numbers x [n] and of rows x [n,d]. */

/** Mean and standard deviation (divisor n − 1; 0 for one number) of x [n]. */
export function meanAndSd(x: ArrayLike<number>): { readonly mean: number; readonly sd: number } {
  const n = x.length;
  let mean = 0;
  for (let k = 0; k < n; k++) mean += x[k] / n;
  let sum = 0;
  for (let k = 0; k < n; k++) sum += (x[k] - mean) ** 2;
  return { mean, sd: n > 1 ? Math.sqrt(sum / (n - 1)) : 0 };
}

/** Sums of the columns, [d]. */
export function columnSums(x: Float64Array, n: number, d: number): Float64Array {
  const sums = new Float64Array(d);
  for (let i = 0; i < n; i++) for (let k = 0; k < d; k++) sums[k] += x[i * d + k];
  return sums;
}

/** Means of the columns, [d]. */
export function columnMeans(x: Float64Array, n: number, d: number): Float64Array {
  return columnSums(x, n, d).map((sum) => sum / n);
}

/** Covariance of the columns, [d,d]; divided by n − 1 unless told otherwise. */
export function covarianceOf(x: Float64Array, n: number, d: number, mean: Float64Array, divisor = n - 1): Float64Array {
  const S = new Float64Array(d * d);
  for (let i = 0; i < n; i++) {
    for (let a = 0; a < d; a++) {
      const u = x[i * d + a] - mean[a];
      for (let b = 0; b <= a; b++) S[a * d + b] += u * (x[i * d + b] - mean[b]);
    }
  }
  for (let a = 0; a < d; a++) {
    for (let b = 0; b <= a; b++) {
      S[a * d + b] /= divisor;
      S[b * d + a] = S[a * d + b];
    }
  }
  return S;
}
