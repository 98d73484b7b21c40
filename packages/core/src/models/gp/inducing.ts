/** Inducing places z_1..z_p of the sparse Gaussian process, rows of Z [p,q]. */

/** A regular grid with `perDimension` points per axis on [−halfWidth, halfWidth]^q, first dimension slowest. */
export function gridLocations(q: number, perDimension: number, halfWidth = 2): Float64Array {
  const p = perDimension ** q;
  const Z = new Float64Array(p * q);
  const step = perDimension > 1 ? (2 * halfWidth) / (perDimension - 1) : 0;
  const first = perDimension > 1 ? -halfWidth : 0;
  for (let j = 0; j < p; j++) {
    let rest = j;
    for (let c = q - 1; c >= 0; c--) {
      const k = rest % perDimension;
      rest = (rest - k) / perDimension;
      Z[j * q + c] = first + k * step;
    }
  }
  return Z;
}
