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
  return Math.min(6, Math.max(0, Math.ceil(-Math.log10(noise / 2))));
}

/** Sizes that are written out; others leave a power of ten to a factor. */
const WRITTEN_OUT = [1e-3, 1e6] as const;

/** The power of ten, a multiple of three, that numbers of this size leave to a factor; 0 for sizes that are written out. */
export function powerFor(size: number, [least, most]: readonly [number, number] = WRITTEN_OUT): number {
  const a = Math.abs(size);
  if (!(a > 0) || !Number.isFinite(a) || (a >= least && a < most)) return 0;
  // A millionth more, so that 10⁹ is not taken for 999,999,999.
  return 3 * Math.floor(Math.log10(a * (1 + 1e-6)) / 3);
}

/** "10¹²"; empty for the power 0. */
export function powerText(power: number): string {
  if (power === 0) return "";
  const digits = [...String(Math.abs(power))].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(c)]).join("");
  return `10${power < 0 ? "⁻" : ""}${digits}`;
}

/** "1.23 × 10¹²": a number with its power of ten and so many decimals; `fixed` for the power 0. */
export function withPower(value: number, decimals: number, power: number): string {
  const text = fixed(value / 10 ** power, decimals);
  return power === 0 || !Number.isFinite(value) ? text : `${text} × ${powerText(power)}`;
}

/** A number of any size: in full with these decimals, or with three digits and a power of ten. */
export function sized(value: number, decimals: number): string {
  const power = powerFor(value);
  if (power === 0) return fixed(value, decimals);
  const whole = Math.floor(Math.log10(Math.abs(value) / 10 ** power)) + 1;
  return withPower(value, Math.max(0, 3 - whole), power);
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

/** A text with its very long numbers in short: "Falls 39,000,000,000 a year" becomes "Falls 39.0 × 10⁹ a year". */
export function shortNumbers(text: string): string {
  return text.replace(/\d{1,3}(?:,\d{3}){2,}|\d{7,}|0\.000\d+/g, (found) => {
    const value = Number(found.replaceAll(",", ""));
    const power = powerFor(value);
    const digits = Number((value / 10 ** power).toPrecision(3));
    return power === 0 ? found : `${digits} × ${powerText(power)}`;
  });
}
