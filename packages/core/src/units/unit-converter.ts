/** What a reader of rows asks of a converter of units, so that it needs none of the tables behind one. */

/** How values in one unit become values in another: intercept + slope · value. */
export interface UnitConversion {
  /** The unit as it is written, and the one that all values are brought to. */
  readonly from: string;
  readonly to: string;
  /** The code that the written unit is taken as. */
  readonly code: string;
  readonly slope: number;
  readonly intercept: number;
  /** The rule, where it is more than a change of scale: the weight of a mole, a formula of the analyte. */
  readonly by?: string;
}

export interface UnitRefusal {
  readonly reason: "missing" | "unknown" | "other";
  readonly remedy?: string;
}

export interface UnitConverter {
  /** The unit that all values are brought to; undefined before the first value where none was asked for. */
  unit(): string | undefined;
  /** What is measured, if it is known. */
  readonly analyte?: string;
  /** How values in a written unit are converted. */
  conversion(written: string): UnitConversion | UnitRefusal;
}
