/** The module before @lhncbc/ucum-lhc: what a code measures, and the straight line from one unit to another. */
import ucum from "@lhncbc/ucum-lhc";

/** What a unit measures. */
export interface Measured {
  /** Powers of length, time, mass, angle, temperature, charge and luminous intensity. */
  readonly dimensions: readonly number[];
  /** Power of moles, which UCUM takes as a number. */
  readonly moles: number;
}

/** The value in the other unit is intercept + slope · value. */
export interface Line {
  readonly slope: number;
  readonly intercept: number;
}

const utils = ucum.UcumLhcUtils.getInstance();

/** What a code measures; undefined if UCUM has no such code. */
export function measuredBy(code: string): Measured | undefined {
  const { unit } = utils.getSpecifiedUnit(code, "validate");
  if (unit === null) return undefined;
  return { dimensions: unit.dim_?.dimVec_ ?? [0, 0, 0, 0, 0, 0, 0], moles: unit.moleExp_ };
}

/** The line from one unit to another, by three points; undefined if there is none, or no straight one. */
export function lineBetween(
  from: string,
  to: string,
  analyte: { readonly molecularWeight?: number; readonly charge?: number },
): Line | undefined {
  const at = (value: number) => {
    const { status, toVal } = utils.convertUnitTo(from, value, to, analyte);
    return status === "succeeded" && toVal !== null ? toVal : Number.NaN;
  };
  const [zero, one, many] = [at(0), at(1), at(100)];
  // The tables of UCUM are rounded in the last digits: 10*3/uL would be 0.9999999999999999 10*9/L.
  const slope = Number(((many - zero) / 100).toPrecision(14));
  const intercept = Math.abs(zero) < 1e-12 * Math.abs(slope) ? 0 : Number(zero.toPrecision(14));
  const isStraight = Math.abs(one - zero - slope) <= 1e-9 * Math.max(Math.abs(slope), Math.abs(zero));
  return isStraight && slope > 0 && Number.isFinite(intercept) ? { slope, intercept } : undefined;
}
