/** Small cohorts with known structure for tests: curves B(w_i) plus noise at irregular times, seeded. */
import { type Basis, designMatrix } from "../packages/core/src/basis/bspline.ts";
import { bsplineBasis } from "../packages/core/src/basis/knots.ts";
import { type BasisStatistics, basisStatistics } from "../packages/core/src/basis/statistics.ts";
import { type Cohort, type CohortColumns, makeCohort, onlyMarker } from "../packages/core/src/cohort/cohort.ts";
import { createRandom } from "../packages/core/src/numeric/random.ts";

export interface RandomCohortOptions {
  readonly numIndividuals?: number;
  /** Observations per individual run from 1 to this. */
  readonly maxObservations?: number;
  /** Number of directions in which individuals vary. */
  readonly rank?: number;
  readonly noiseSd?: number;
  readonly numBasis?: number;
  readonly degree?: number;
  readonly seed?: number;
}

export interface RandomCohort {
  readonly columns: CohortColumns;
  readonly cohort: Cohort;
  readonly basis: Basis;
  readonly statistics: BasisStatistics;
}

export function randomCohort(options: RandomCohortOptions = {}): RandomCohort {
  const {
    numIndividuals = 40,
    maxObservations = 8,
    rank = 2,
    noiseSd = 1,
    numBasis = 5,
    degree = 2,
    seed = 1,
  } = options;
  const random = createRandom(seed);
  const truth = bsplineBasis([0, 10], { numBasis, degree });
  const F = Float64Array.from({ length: numBasis * rank }, () => 3 * random.normal());
  const ids: string[] = [];
  const times: number[] = [];
  const values: number[] = [];
  for (let i = 0; i < numIndividuals; i++) {
    const n = 1 + random.integer(maxObservations);
    const x = Float64Array.from({ length: rank }, () => random.normal());
    const t = Float64Array.from({ length: n }, () => 10 * random.uniform());
    const B = designMatrix(truth, t);
    for (let j = 0; j < n; j++) {
      let y = 20 + noiseSd * random.normal();
      for (let k = 0; k < numBasis; k++) {
        for (let c = 0; c < rank; c++) y += B[j * numBasis + k] * F[k * rank + c] * x[c];
      }
      ids.push(`P${String(i).padStart(4, "0")}`);
      times.push(t[j]);
      values.push(y);
    }
  }
  const columns = { ids, times, values };
  const cohort = makeCohort(columns);
  const basis = bsplineBasis(onlyMarker(cohort).times, { numBasis, degree });
  return { columns, cohort, basis, statistics: basisStatistics(cohort, basis) };
}
