/** Decimals of written numbers: how many are needed beside another number, and zeros at their end. */

/** Decimals beyond the usual ones up to which a difference is written out. */
const MOST_MORE = 4;

/**
 * Decimals, `least` or a few more, with which no value that differs from `mark` reads like it: an interval that ends at 0.9993 leaves out 1, and "1.00" would not
 * say so. Values that even four more decimals do not tell from it are written with `least`.
 */
export function decimalsApart(values: readonly number[], mark: number, least: number): number {
  const needed = values.map((x) => {
    if (!Number.isFinite(x) || x === mark) return least;
    for (let decimals = least; decimals <= least + MOST_MORE; decimals++) {
      if (Number(x.toFixed(decimals)) !== mark) return decimals;
    }
    return least;
  });
  return Math.max(least, ...needed);
}

/** A written number without the zeros at the end of its decimals; an exponent, as of 1e+30, stays whole. */
export function withoutZeros(text: string): string {
  return text.replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
}

/** Decimals with a true minus, and none before a zero. */
export function decimals(x: number, digits: number): string {
  const text = x.toFixed(digits);
  return Number(text) === 0 ? text.replace("-", "") : text.replace("-", "\u2212");
}
