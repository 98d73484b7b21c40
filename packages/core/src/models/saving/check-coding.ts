/** What the coding of covariates must be: the columns that `codeCovariates` makes of these covariates, in this order. */
import { type Covariate, type CovariateCoding, UNKNOWN } from "../../cohort/coding.ts";
import { isComputable } from "../../cohort/marker.ts";
import { expectTrue } from "./expect-field.ts";

export function checkCoding({ covariates, columns }: CovariateCoding): void {
  const names = covariates.map(({ name }) => name);
  expectTrue(new Set(names).size === names.length, "covariates.covariates", "covariates of different names");
  const areLevels = covariates.every(({ kind, levels }) => {
    return kind === "number" ? levels.length === 0 : levels.length > 1 && new Set(levels).size === levels.length;
  });
  expectTrue(areLevels, "covariates.covariates", "two different levels of a category or more, and none of a number");
  const expected = covariates.flatMap((one, c) => levelsOf(one).map((level) => ({ covariate: c, level })));
  const agree =
    columns.length === expected.length &&
    columns.every(({ covariate, level }, p) => covariate === expected[p].covariate && level === expected[p].level);
  expectTrue(agree, "covariates.columns", "columns of the covariates listed");
  const areNumbers = columns.every(({ center, scale }) => isComputable(center) && isComputable(scale));
  expectTrue(areNumbers, "covariates.columns", "centres and scales that can be computed with");
}

/** Levels that have a column: null is the number itself. */
function levelsOf({ kind, levels, hasUnknown }: Covariate): (string | null)[] {
  if (kind === "category") return levels.slice(1);
  return hasUnknown ? [null, UNKNOWN] : [null];
}
