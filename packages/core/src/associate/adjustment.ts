/**
 * The columns that an association is adjusted for: those of the coded covariates, and powers of numbers, because a label that
 * bends with age is not straightened by a line: squares, and cubes in a large study, which sees what squares leave of a strong
 * confounder. Both label and features are regressed on them
 * (score-test.ts). Number and length of visits are never among those of the test itself: label and course may both have caused the
 * visits. A relation found without them is asked a second time with them, `seenEqually`, since visits alone may have made it: label
 * and place can both go with the visits and with nothing else. Said to hold is only what is found both times.
 *                                                                                  (docs/math/association.md §13)
 */
import type { Covariates } from "../covariates/covariates.ts";
import type { Placements } from "../models/placement.ts";
import { meanAndSd } from "../numeric/moments.ts";

export interface Adjustment {
  /** Names of the covariates, as tables call them. */
  readonly names: readonly string[];
  /** [m] each; NaN for individuals who lack a covariate. */
  readonly columns: readonly { readonly name: string; readonly values: Float64Array }[];
  /** How many individuals lack a covariate. They take no part. */
  readonly leftOut: number;
}

export const NO_ADJUSTMENT: Adjustment = { names: [], columns: [], leftOut: 0 };

const POWERS = ["", "²", "³"];

/** The highest power of a number in a study of so many; docs/studies/adjusted.md has the level with and without cubes. */
export function highestPower(numIndividuals: number): number {
  return numIndividuals < 500 ? 2 : 3;
}

/** The adjustment of a cohort of m individuals for covariates coded from its ids. */
export function adjustmentOf({ coding, individuals, values }: Covariates, m: number): Adjustment {
  const P = coding.columns.length;
  const columns = coding.columns.flatMap(({ name, level, scale }, p) => {
    const spread = (of: (z: number) => number) => {
      const out = new Float64Array(m).fill(Number.NaN);
      individuals.forEach((i, row) => {
        out[i] = of(values[row * P + p]);
      });
      return out;
    };
    // Levels as 0 and 1 about their mean, numbers in standard deviations.
    if (level !== null) return [{ name, values: spread((z) => z * scale) }];
    // k + 1 values allow k powers, the square of two values being a line again; a missing one stands at the centre and adds a value.
    const distinct = new Set(Array.from(individuals, (_, row) => values[row * P + p])).size;
    const bends = distinct - 1 - (coding.covariates[coding.columns[p].covariate].hasUnknown ? 1 : 0);
    const highest = Math.min(Math.max(bends, 1), highestPower(individuals.length));
    return POWERS.slice(0, highest).map((power, k) => ({ name: name + power, values: spread((z) => z ** (k + 1)) }));
  });
  return { names: coding.covariates.map(({ name }) => name), columns, leftOut: m - individuals.length };
}

/** An adjustment and beside it the visits: log of their number, first and last time, with powers, as far as they differ. */
export function seenEqually(
  adjustment: Adjustment,
  { numObservations, firstTime, lastTime }: Pick<Placements, "numObservations" | "firstTime" | "lastTime">,
): Adjustment {
  const visits = [
    { name: "number of visits", values: Float64Array.from(numObservations, Math.log) },
    { name: "first visit", values: Float64Array.from(firstTime) },
    { name: "last visit", values: Float64Array.from(lastTime) },
  ].flatMap(({ name, values }) => {
    const distinct = new Set(values).size;
    if (distinct < 2) return [];
    // In one order, whatever that of the individuals.
    const { mean, sd } = meanAndSd(values.slice().sort());
    const highest = Math.min(distinct - 1, highestPower(values.length));
    return POWERS.slice(0, highest).map((power, k) => ({
      name: name + power,
      values: values.map((v) => ((v - mean) / sd) ** (k + 1)),
    }));
  });
  return { ...adjustment, columns: [...adjustment.columns, ...visits] };
}

/** Whether an individual has every covariate. */
export function isAdjustable({ columns }: Adjustment, i: number): boolean {
  return columns.every(({ values }) => !Number.isNaN(values[i]));
}
