/** Visits pasted from a spreadsheet or typed: one row each, a time and a value. */

export interface ReadVisits {
  readonly times: readonly number[];
  readonly values: readonly number[];
  /** Lines that were not two numbers, from 1. */
  readonly refused: readonly number[];
}

/** Reads lines of two numbers, parted by tab, semicolon, comma or spaces. A heading without digits is passed over. */
export function readVisits(text: string): ReadVisits {
  const times: number[] = [];
  const values: number[] = [];
  const refused: number[] = [];
  text.split(/\r\n|\r|\n/).forEach((line, k) => {
    if (line.trim() === "" || (k === 0 && !/\d/.test(line))) return;
    const [time, value, ...rest] = fields(line).map(toNumber);
    if (rest.length > 0 || !Number.isFinite(time) || !Number.isFinite(value)) refused.push(k + 1);
    else {
      times.push(time);
      values.push(value);
    }
  });
  return { times, values, refused };
}

/** A comma parts fields unless tabs or semicolons do, and then it is a decimal mark. */
function fields(line: string): string[] {
  const text = line.trim();
  if (/[\t;]/.test(text)) return text.split(/[\t;]/).map((f) => f.trim().replace(",", "."));
  return text.split(/\s*,\s*|\s+/);
}

function toNumber(text: string): number {
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text.replace("−", "-"))
    ? Number(text.replace("−", "-"))
    : Number.NaN;
}
