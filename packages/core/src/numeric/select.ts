/**
 * Order statistics without sorting everything. Hoare's selection: divide about a pivot, go on in the part that holds the
 * wanted rank; about 3n comparisons on average where sorting takes n log n.
 */

/** Rearranges x[from..to] so that x[rank] is what sorting would put there, nothing before it larger, nothing after smaller. */
export function selectInPlace(x: Float64Array, rank: number, from: number, to: number): void {
  let [left, right] = [from, to];
  while (left < right) {
    const pivot = middleOf(x[left], x[(left + right) >> 1], x[right]);
    let [i, j] = [left, right];
    while (i <= j) {
      while (x[i] < pivot) i++;
      while (x[j] > pivot) j--;
      if (i > j) break;
      const swapped = x[i];
      x[i++] = x[j];
      x[j--] = swapped;
    }
    if (rank <= j) right = j;
    else if (rank >= i) left = i;
    else return;
  }
}

/** Type-7 quantile of sorted values: linear between order statistics. */
export function sortedQuantile(sorted: ArrayLike<number>, probability: number): number {
  const h = (sorted.length - 1) * probability;
  const low = Math.floor(h);
  const high = Math.min(low + 1, sorted.length - 1);
  return sorted[low] + (h - low) * (sorted[high] - sorted[low]);
}

/**
 * Quantiles of x [n] at probabilities that do not fall, into `out`: at h = (n − 1)p between neighbours in order (R's
 * type 7). Rearranges x.
 */
export function quantilesInPlace(x: Float64Array, probabilities: ArrayLike<number>, out: Float64Array): void {
  const n = x.length;
  // From the last to the first: what lies beyond a rank already found is not looked at again.
  let to = n - 1;
  for (let k = probabilities.length - 1; k >= 0; k--) {
    const h = (n - 1) * probabilities[k];
    const low = Math.floor(h);
    selectInPlace(x, low, 0, to);
    if (low < to) leastFirst(x, low + 1, to);
    out[k] = x[low] + (h - low) * (x[Math.min(low + 1, n - 1)] - x[low]);
    to = low;
  }
}

/** Swaps the least of x[from..to] to the front of them. */
function leastFirst(x: Float64Array, from: number, to: number): void {
  let at = from;
  for (let i = from + 1; i <= to; i++) if (x[i] < x[at]) at = i;
  const least = x[at];
  x[at] = x[from];
  x[from] = least;
}

/** The second largest of three. */
function middleOf(a: number, b: number, c: number): number {
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}
