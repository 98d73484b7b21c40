/**
 * Columns that follow from others: Gram–Schmidt with column pivoting (each step takes the column of largest remainder, made
 * orthogonal twice, which keeps full accuracy). Remainders fall in size, and the ratio of the first to one of them bounds the
 * condition number from below.
 */

/** A column whose remainder beside earlier ones is negligible. */
export interface DependentColumn {
  readonly column: number;
  /** Columns that it follows from, ascending. */
  readonly from: readonly number[];
}

/** A coefficient below this share of the largest does not count as taking part. */
const NEGLIGIBLE_SHARE = 1e-4;

/** Columns of X [n,p] whose remainders are below the first one's over `condition`; columns should be of one scale. */
export function dependentColumns(X: Float64Array, n: number, p: number, condition: number): DependentColumn[] {
  const remainder = Array.from({ length: p }, (_, c) => Float64Array.from({ length: n }, (_, i) => X[i * p + c]));
  const coefficients = remainder.map(() => new Float64Array(p));
  const free = new Set(remainder.keys());
  const taken: number[] = [];
  let first = 0;
  while (free.size > 0) {
    let pivot = -1;
    for (const c of free) if (pivot < 0 || norm(remainder[c]) > norm(remainder[pivot])) pivot = c;
    const size = norm(remainder[pivot]);
    if (taken.length === 0) first = size;
    if (!(size * condition > first)) break;
    free.delete(pivot);
    taken.push(pivot);
    const unit = remainder[pivot].map((x) => x / size);
    for (const c of free) {
      for (let twice = 0; twice < 2; twice++) {
        const share = unit.reduce((sum, u, i) => sum + u * remainder[c][i], 0);
        for (let i = 0; i < n; i++) remainder[c][i] -= share * unit[i];
        // x_c = Σ coefficient · x_taken + remainder: the pivot's own coefficients are taken off again.
        coefficients[c][pivot] += share / size;
        for (const t of taken) if (t !== pivot) coefficients[c][t] -= (share / size) * coefficients[pivot][t];
      }
    }
  }
  return [...free].map((column) => {
    const sizes = coefficients[column].map(Math.abs);
    const largest = sizes.reduce((a, b) => Math.max(a, b), 0);
    return { column, from: taken.filter((t) => sizes[t] > NEGLIGIBLE_SHARE * largest).sort((a, b) => a - b) };
  });
}

function norm(x: Float64Array): number {
  return Math.sqrt(x.reduce((sum, v) => sum + v * v, 0));
}
