/** Covariates of one individual by their names, as panels show and ask for them. */
import { type CovariateCoding, decodeColumns } from "@trajectory-maps/core/ingest";
import type { CovariateRow } from "./held.svelte.ts";

/** The mean of every number and the most frequent level of every category among those fitted. */
export function typicalRow({ covariates, columns }: CovariateCoding): CovariateRow {
  return Object.fromEntries(
    covariates.map(({ name, kind, levels }, c) => {
      const own = columns.filter(({ covariate }) => covariate === c);
      if (kind === "number") return [name, rounded(own.find(({ level }) => level === null)!.center)];
      // The centre of a column is the share of its level; the reference has the rest.
      const shares = levels.map((level) => own.find((column) => column.level === level)?.center);
      const rest = 1 - own.reduce((sum, { center }) => sum + center, 0);
      const known = shares.map((share) => share ?? rest);
      return [name, levels[known.indexOf(Math.max(...known))]];
    }),
  );
}

/** The covariates behind coded columns [P]; those not known are left out. */
export function decodedRow(coding: CovariateCoding, values: Float64Array): CovariateRow {
  const cells = decodeColumns({ coding, values }).map(([value]) => value);
  const known = coding.covariates.map(({ name }, c) => [name, cells[c]] as const).filter(([, value]) => value !== "");
  return Object.fromEntries(known) as CovariateRow;
}

/** Values of a number that a slider offers: two standard deviations to either side of the mean. */
export function rangeOf({ covariates, columns }: CovariateCoding, name: string) {
  const c = covariates.findIndex((covariate) => covariate.name === name);
  const { center, scale } = columns.find(({ covariate, level }) => covariate === c && level === null)!;
  return {
    least: rounded(center - 2 * scale),
    most: rounded(center + 2 * scale),
    step: Number((scale / 20).toPrecision(1)),
  };
}

/** Means and ends are read, not computed with. */
function rounded(x: number): number {
  return Number(x.toPrecision(3));
}
