/** Numbers as the page writes them: true minus signs, thousands commas, decimals by the marker's noise. */

/** "1 individual", "2,323 individuals". */
export function count(n: number, noun: string): string {
  return `${thousands(n)} ${noun}${n === 1 ? "" : "s"}`;
}

export function thousands(n: number): string {
  return Math.round(n)
    .toString()
    .replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

/** Fixed decimals with a true minus sign; −0 is 0. */
export function fixed(value: number, decimals: number): string {
  if (!Number.isFinite(value)) return "–";
  const text = Math.abs(value).toFixed(decimals);
  return value < 0 && Number(text) !== 0 ? `−${text}` : text;
}

/** Decimals that suit a noise standard deviation: one digit finer than the noise's first. */
export function decimalsFor(noise: number): number {
  if (!(noise > 0)) return 1;
  return Math.min(4, Math.max(0, Math.ceil(-Math.log10(noise / 2))));
}

/** "58 to 83": signs make dashes ambiguous. */
export function interval(lower: number, upper: number, decimals: number): string {
  return `${fixed(lower, decimals)} to ${fixed(upper, decimals)}`;
}

/** "25%". */
export function percent(share: number): string {
  return Number.isFinite(share) ? `${Math.round(100 * share)}%` : "–";
}

/** p-values: two decimals above 0.1, three below, "< 0.001", and the floor of `permutations` as "≤ 0.0005". */
export function pValue(p: number, permutations?: number): string {
  if (!Number.isFinite(p)) return "–";
  const floor = permutations === undefined ? 0 : 1 / (permutations + 1);
  if (permutations !== undefined && p <= floor * 1.000001) return `≤ ${Number(floor.toPrecision(1))}`;
  if (p < 0.001) return "< 0.001";
  return p.toFixed(p > 0.1 ? 2 : 3);
}

/** Wilson interval of a share of k among n, at 95 %. */
export function wilson(k: number, n: number, z = 1.959964): readonly [number, number] {
  if (n === 0) return [0, 1];
  const p = k / n;
  const middle = (p + (z * z) / (2 * n)) / (1 + (z * z) / n);
  const half = (z / (1 + (z * z) / n)) * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n));
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}
