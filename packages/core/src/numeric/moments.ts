/** First and second moments of rows x [n,d]. */

/** Means of the columns, [d]. */
export function columnMeans(x: Float64Array, n: number, d: number): Float64Array {
  const mean = new Float64Array(d);
  for (let i = 0; i < n; i++) for (let k = 0; k < d; k++) mean[k] += x[i * d + k];
  for (let k = 0; k < d; k++) mean[k] /= n;
  return mean;
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
