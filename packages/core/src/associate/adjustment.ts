/**
 * The columns that an association is adjusted for: those of the coded covariates, and the squares of numbers, because a label that
 * bends with age is not straightened by a line (MULTI.md §5.3, ASSOCIATION.md §4.4). Both label and features are regressed on them
 * (score-test.ts). Number and length of visits are never among them: label and course may both have caused the visits.
 *                                                                                  (docs/math/association.md §13)
 */
import type { Covariates } from "../covariates/covariates.ts";

export interface Adjustment {
  /** Names of the covariates, as tables call them. */
  readonly names: readonly string[];
  /** [m] each; NaN for individuals who lack a covariate. */
  readonly columns: readonly { readonly name: string; readonly values: Float64Array }[];
  /** How many individuals lack a covariate. They take no part. */
  readonly leftOut: number;
}

export const NO_ADJUSTMENT: Adjustment = { names: [], columns: [], leftOut: 0 };

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
    // Numbers in standard deviations, levels as 0 and 1 about their mean.
    const own = { name, values: spread((z) => (level === null ? z : z * scale)) };
    // The square of a number with two values is a line again; a missing one stands at the centre and adds a value.
    const known = coding.covariates[coding.columns[p].covariate].hasUnknown ? 3 : 2;
    const distinct = new Set(own.values.filter((z) => !Number.isNaN(z)));
    return level === null && distinct.size > known ? [own, { name: `${name}²`, values: spread((z) => z * z) }] : [own];
  });
  return { names: coding.covariates.map(({ name }) => name), columns, leftOut: m - individuals.length };
}

/** Whether an individual has every covariate. */
export function isAdjustable({ columns }: Adjustment, i: number): boolean {
  return columns.every(({ values }) => !Number.isNaN(values[i]));
}
