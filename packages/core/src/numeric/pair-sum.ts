/**
 * Sums that hardly depend on the order of their terms: each is kept as an unevaluated pair s + e with twice the digits of one number
 * (Dekker 1971; Knuth's TwoSum), and rounded once at the end. Terms that are added in groups, at several places, give the same number as
 * one after another but for the rarest of roundings. Pairs of n sums stand as [2n]: n times s, then n times e.
 */

/** Adds numbers [n], or pairs [2n], to pairs [2n]. */
export function addToPairs(pairs: Float64Array, terms: Float64Array): void {
  const n = pairs.length / 2;
  const paired = terms.length === pairs.length;
  for (let k = 0; k < n; k++) {
    const a = pairs[k];
    const b = terms[k];
    const s = a + b;
    const part = s - a;
    const e = a - (s - part) + (b - part) + pairs[n + k] + (paired ? terms[n + k] : 0);
    pairs[k] = s + e;
    pairs[n + k] = e - (pairs[k] - s);
  }
}

/** Pairs of sums over terms [n] each. */
export function sumPairs(terms: readonly Float64Array[]): Float64Array {
  const pairs = new Float64Array(2 * (terms[0]?.length ?? 0));
  for (const own of terms) addToPairs(pairs, own);
  return pairs;
}

/** The sums [n] that pairs [2n] stand for. */
export function roundPairs(pairs: Float64Array): Float64Array {
  return pairs.slice(0, pairs.length / 2);
}
