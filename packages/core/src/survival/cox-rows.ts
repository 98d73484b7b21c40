/** Covariates as the partial likelihood reads them: rows in falling order of time, columns standardised. */
import { DtmError } from "../errors.ts";
import { takeRows } from "../numeric/matrix.ts";
import type { FollowUp } from "./follow-up.ts";
import type { CoxRows } from "./partial-likelihood.ts";

/** Rows in falling order of time; ties are ordered by event and covariates, so that sums do not depend on the input. */
export function sortRows({ times, events }: FollowUp, X: Float64Array, n: number, p: number): CoxRows {
  const order = Int32Array.from({ length: n }, (_, i) => i).sort((a, b) => {
    let difference = times[b] - times[a] || events[b] - events[a];
    for (let c = 0; c < p && difference === 0; c++) difference = X[a * p + c] - X[b * p + c];
    return difference;
  });
  const pick = (x: ArrayLike<number>) => Float64Array.from(order, (row) => x[row]);
  return { n, p, times: pick(times), events: pick(events), X: takeRows(X, p, order) };
}

/** Replaces the columns by (x − mean)/sd and returns the sds. */
export function standardizeInPlace({ n, p, X }: CoxRows): Float64Array {
  return Float64Array.from({ length: p }, (_, c) => {
    let mean = 0;
    for (let i = 0; i < n; i++) mean += X[i * p + c] / n;
    let variance = 0;
    for (let i = 0; i < n; i++) variance += (X[i * p + c] - mean) ** 2 / n;
    const sd = Math.sqrt(variance);
    if (!(sd > 1e-12 * Math.abs(mean))) {
      throw new DtmError(
        "collinear",
        `fitCox: expected covariate ${c} to vary, received one value only. Leave it out.`,
      );
    }
    for (let i = 0; i < n; i++) X[i * p + c] = (X[i * p + c] - mean) / sd;
    return sd;
  });
}
