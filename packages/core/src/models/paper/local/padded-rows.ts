/**
 * Products between tables of features and an individual's statistics (docs/math/local-step.md §2). A table has one row
 * per feature, [n,width], and the statistics (band entries of G_i, or g_i) are a vector [width], both padded with zeros
 * to a multiple of four: four columns are handled in one pass over the features, and a pass whose statistics are all 0
 * (an individual without observations there) is left out.
 */

/** Smallest multiple of 4 that holds `count` columns. */
export function paddedWidth(count: number): number {
  return (count + 3) & ~3;
}

/** out_f = Σ_e table[f,e] x_e. */
export function contractRows(table: Float64Array, x: Float64Array, n: number, width: number, out: Float64Array): void {
  for (let f = 0; f < n; f++) out[f] = 0;
  for (let e = 0; e < width; e += 4) {
    const x0 = x[e];
    const x1 = x[e + 1];
    const x2 = x[e + 2];
    const x3 = x[e + 3];
    if (x0 === 0 && x1 === 0 && x2 === 0 && x3 === 0) continue;
    for (let f = 0, at = e; f < n; f++, at += width) {
      out[f] += x0 * table[at] + x1 * table[at + 1] + (x2 * table[at + 2] + x3 * table[at + 3]);
    }
  }
}

/** table[f,e] += weight · values_f x_e. */
export function addOuter(
  table: Float64Array,
  x: Float64Array,
  n: number,
  width: number,
  weight: number,
  values: Float64Array,
): void {
  for (let e = 0; e < width; e += 4) {
    const x0 = weight * x[e];
    const x1 = weight * x[e + 1];
    const x2 = weight * x[e + 2];
    const x3 = weight * x[e + 3];
    if (x0 === 0 && x1 === 0 && x2 === 0 && x3 === 0) continue;
    for (let f = 0, at = e; f < n; f++, at += width) {
      const v = values[f];
      table[at] += x0 * v;
      table[at + 1] += x1 * v;
      table[at + 2] += x2 * v;
      table[at + 3] += x3 * v;
    }
  }
}
