/** Order statistics. */

/** Type-7 quantile of sorted values (R's default): at h = (n − 1)p, linear between neighbours in order. */
export function sortedQuantile(sorted: ArrayLike<number>, probability: number): number {
  const h = (sorted.length - 1) * probability;
  const low = Math.floor(h);
  const high = Math.min(low + 1, sorted.length - 1);
  return sorted[low] + (h - low) * (sorted[high] - sorted[low]);
}

/** The median of values in any order. */
export function median(values: ArrayLike<number>): number {
  return sortedQuantile(Float64Array.from(values).sort(), 0.5);
}
