/**
 * What statistical programs write for "missing" where a number is expected. Stata and SAS have . and .a to .z (SAS ._ too), which exports may
 * leave as they are or write as the number behind them: Stata's doubles from 2¹⁰²³ on and floats from 2¹²⁷ on, each of the 27 a 4096th
 * above the last; SPSS's largest negative double. No measurement has these values, so they are taken as missing, and that is told.
 * Conventions such as -99 may be measurements: they are only asked about (suspicions.ts).
 */

/** The largest of Stata's 27, over its first. */
const SPAN = 1 + 27 / 4096;
const STATA_DOUBLE = 2 ** 1023;
const STATA_FLOAT = 2 ** 127;
/** Digits that exports round to: 8.98846567431e+307 and 8.99e+307 are both meant. */
const ROUNDED = 1e-3;
/** Characters of the longest number that is looked at. */
const LONGEST = 400;

/** Whether a number stands for "missing" in Stata or SPSS, exactly or as exports round it. */
export function isMissingNumber(x: number): boolean {
  const isOf = (first: number) => x >= first * (1 - ROUNDED) && x <= first * SPAN * (1 + ROUNDED);
  return x > 1e38 && (isOf(STATA_FLOAT) || isOf(STATA_DOUBLE)) ? true : x <= -Number.MAX_VALUE * (1 - ROUNDED);
}

/** The program whose "missing" a trimmed cell is; undefined for any other. */
export function missingCode(cell: string): string | undefined {
  if (/^\.[a-z_]$/i.test(cell)) return "Stata or SAS";
  // Only numbers with an exponent or very many digits are so large; most cells end here.
  if (cell.length > LONGEST || !(cell.length > 38 || /e\+?\d{2,3}$/i.test(cell))) return undefined;
  if (!/^[+-]?\d+[.,]?\d*(?:e\+?\d+)?$/i.test(cell)) return undefined;
  const x = Number(cell.replace(",", "."));
  if (!isMissingNumber(x)) return undefined;
  return x < 0 ? "SPSS" : "Stata";
}
