/** Options that are numbers. */
import { UsageError } from "../exit-codes.ts";

/** A whole number from its text, or a UsageError that names the option. */
export function wholeNumber(option: string, text: string, least = Number.MIN_SAFE_INTEGER): number {
  const value = /^[+-]?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(value) || value < least) {
    const range = least === Number.MIN_SAFE_INTEGER ? "" : ` of at least ${least}`;
    throw new UsageError(`${option}: expected a whole number${range}, received "${text}".`);
  }
  return value;
}
