/** Numbers as text: true minus, thousands comma, intervals in words, p-values without stars, small counts withheld. */
import { decimalsApart, withoutZeros } from "@trajectory-maps/core/study";

export { decimalsApart, wilson } from "@trajectory-maps/core/study";

const MINUS = "\u2212";
/** The mark of a number that does not exist. */
export const NONE = "\u2013";

/** A whole number with thousands commas. */
export function whole(n: number): string {
  if (!Number.isFinite(n)) return NONE;
  const digits = Math.abs(Math.round(n)).toString();
  return (Math.round(n) < 0 ? MINUS : "") + digits.replace(/\B(?=(\d{3})+$)/g, ",");
}

/** A number with fixed decimals, thousands commas and a true minus. */
export function fixed(x: number, decimals: number): string {
  if (!Number.isFinite(x)) return NONE;
  const [head, tail] = Math.abs(x).toFixed(decimals).split(".");
  const body = head.replace(/\B(?=(\d{3})+$)/g, ",") + (tail === undefined ? "" : `.${tail}`);
  return x < 0 && /[1-9]/.test(body) ? MINUS + body : body;
}

/** As `fixed`, with a plus before positive numbers: differences. */
export function signed(x: number, decimals: number): string {
  const text = fixed(x, decimals);
  return x > 0 && /[1-9]/.test(text) ? `+${text}` : text;
}

/** A number with about `digits` significant digits, never in scientific notation for usual sizes. */
export function significant(x: number, digits = 3): string {
  if (!Number.isFinite(x)) return NONE;
  if (x === 0) return "0";
  const size = Math.floor(Math.log10(Math.abs(x)));
  if (size < -4) return `${trimmed(x / 10 ** size, digits - 1)} × ${powerText(size)}`;
  return trimmed(x, Math.max(0, Math.min(8, digits - 1 - size)));
}

/** Decimals of times between two of them: a hundredth of the span is told. */
export function timeDecimals(first: number, last: number): number {
  return Math.min(3, Math.max(0, Math.round(-Math.log10((last - first) / 100))));
}

/** A number with at most these decimals, without zeros at its end. */
export function trimmed(x: number, decimals: number): string {
  return withoutZeros(fixed(x, decimals));
}

/**
 * "58 to 83": signs would make a dash ambiguous. Beside a value of no effect (1 of ratios, 0 of differences, ½ of an AUC) with as many decimals more
 * as an end needs that is not that value.
 */
export function interval(lower: number, upper: number, decimals: number, none?: number): string {
  const enough = none === undefined ? decimals : decimalsApart([lower, upper], none, decimals);
  return `${fixed(lower, enough)} to ${fixed(upper, enough)}`;
}

/** A ratio: two decimals between a tenth and a hundred, whole above, two digits below, where two decimals would say 0. */
export function ratio(x: number, decimals = 2): string {
  if (x > 0 && x < 0.1) return x < 0.0001 ? "<\u00a00.0001" : significant(x, 2);
  return x >= 100 ? whole(x) : fixed(x, decimals);
}

/** "0.0031 to 0.20": an interval of a ratio. */
export function ratioInterval(lower: number, upper: number, between = " to "): string {
  const decimals = decimalsApart([lower, upper], 1, 2);
  return `${ratio(lower, decimals)}${between}${ratio(upper, decimals)}`;
}

/** "+0.0004 to +0.0110": an interval of a difference, with its signs. */
export function signedInterval(lower: number, upper: number, decimals: number): string {
  const enough = decimalsApart([lower, upper], 0, decimals);
  return `${signed(lower, enough)} to ${signed(upper, enough)}`;
}

/** A share as a percentage, whole by default. */
export function percent(share: number, decimals = 0): string {
  return Number.isFinite(share) ? `${fixed(100 * share, decimals)}%` : NONE;
}

/** A probability in words for readers: "65%", and no certainty at either end, "> 99%", "< 1%". */
export function percentChance(p: number): string {
  if (p > 0.995) return "> 99%";
  return p < 0.005 ? "< 1%" : percent(p);
}

/** A probability after "P": "= 0.87", "> 0.99", "< 0.01". */
export function chance(p: number): string {
  if (!Number.isFinite(p)) return `= ${NONE}`;
  if (p > 0.995) return "> 0.99";
  return p < 0.005 ? "< 0.01" : `= ${p.toFixed(2)}`;
}

/** The level that p-values are read against. */
const LEVEL = 0.05;

/**
 * A p-value: two decimals above 0.1, three below, more where it would read like 0.05 and is not, "< 0.001"; at the floor of a permutation
 * test, 1/(B+1), "≤ 0.0001", rounded up.
 */
export function pValue(p: number, permutations?: number): string {
  if (!Number.isFinite(p)) return NONE;
  if (isFloor(p, permutations)) return pBound(p);
  if (p < 0.001) return "<\u00a00.001";
  return p.toFixed(p < 0.1 ? decimalsApart([p], LEVEL, 3) : 2);
}

/** p adjusted over several tests: only a bound where the p of the test itself is at the floor of its permutations. */
export function adjustedPValue(adjusted: number, p: number, permutations?: number): string {
  return Number.isFinite(adjusted) && isFloor(p, permutations) ? pBound(adjusted) : pValue(adjusted);
}

function isFloor(p: number, permutations?: number): boolean {
  return permutations !== undefined && p <= (1 + 1e-9) / (permutations + 1);
}

/** "≤ 0.0012": two digits, rounded up, because a bound that is rounded down is none. */
function pBound(p: number): string {
  const step = 10 ** (Math.floor(Math.log10(p)) - 1);
  return `\u2264\u00a0${significant(Math.ceil((p / step) * (1 - 1e-9)) * step, 2)}`;
}

/** Counts in a text that may be shared: 1 up to `limit`, exclusive, becomes "<11"; 0 and the rest are shown. */
export function cell(count: number, limit: number): string {
  return isSmall(count, limit) ? `<${limit}` : whole(count);
}

/** Whether a count is withheld. */
export function isSmall(count: number, limit: number): boolean {
  return count > 0 && count < limit;
}

/** Decimals that fit values with this noise: none for noise of a unit or more. */
export function decimalsFor(noise: number): number {
  return Number.isFinite(noise) && noise > 0 ? Math.max(0, Math.min(6, Math.ceil(-Math.log10(noise)))) : 1;
}

/** "A, B and C". */
export function listWords(words: readonly string[]): string {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words[words.length - 1]}`;
}

/** The unit of time in the singular: "years" → "year"; "time" if unknown. */
export function timeWord(timeUnit: string): string {
  const word = timeUnit.trim();
  return word === "" ? "time" : word.replace(/s$/, "");
}

/** "1 year", "2.5 years"; the number alone where the unit is unknown. */
export function timeSpan(time: number, timeUnit: string): string {
  const word = time === 1 ? timeUnit.trim().replace(/s$/, "") : timeUnit.trim();
  return word === "" ? significant(time) : `${significant(time)} ${word}`;
}

/** "1 individual", "2 individuals"; withheld counts are plural. */
export function counted(count: number, word: string, limit = 1): string {
  return `${cell(count, limit)} ${word}${count === 1 && !isSmall(count, limit) ? "" : "s"}`;
}

/** Before and after a whole number that counts neither individuals nor rows: times, shares, sizes of the model. */
const OTHER_BEFORE = String.raw`(?<!\b(?:time|limit of|limited to|distinct times) \(?)`;
const OTHER_AFTER = String.raw`(?! ?%|e[-+]?\d| distinct times| (?:of \d+ )?mean coefficients)`;
const WHOLE_COUNT = new RegExp(String.raw`(?<![\d.,\u2212-])${OTHER_BEFORE}\d+(?![\d.,]*\d)${OTHER_AFTER}`, "g");

/** Counts from 1 up to `limit`, exclusive, inside a sentence made elsewhere, withheld: "Only <11 cases". */
export function maskSmall(text: string, limit: number): string {
  return text.replace(WHOLE_COUNT, (digits) => (isSmall(Number(digits), limit) ? `<${limit}` : digits));
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

/** A text with its very long numbers in short: "Falls 39,000,000,000 a year" becomes "Falls 39.0 × 10⁹ a year". */
export function shortNumbers(text: string): string {
  return text.replace(/\d{1,3}(?:,\d{3}){2,}|\d{7,}|0\.000\d+/g, (found) => {
    const value = Number(found.replaceAll(",", ""));
    const power = powerFor(value);
    const digits = Number((value / 10 ** power).toPrecision(3));
    return power === 0 ? found : `${digits} × ${powerText(power)}`;
  });
}
