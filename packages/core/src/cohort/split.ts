/** K-fold splitting by individual: nobody is in training and test at once. */
import { checkOption, checkSeed } from "../errors.ts";
import { createRandom } from "../numeric/random.ts";
import { type Cohort, checkCohort, numIndividuals, selectIndividuals } from "./cohort.ts";

export interface Fold {
  readonly train: Cohort;
  readonly test: Cohort;
  /** Positions of the test individuals in the whole cohort, ascending. */
  readonly testIndividuals: Int32Array;
}

/**
 * Splits a cohort into `numFolds` folds of nearly equal numbers of individuals, at random by `seed`.
 * @throws DtmError "option" unless there are 2 folds or more, and no more than individuals.
 * @example
 * for (const { train, test } of splitCohort(cohort, 10)) heldOutLogLikelihood(fitLmm(train), test);
 */
export function splitCohort(cohort: Cohort, numFolds: number, seed = 1): Fold[] {
  checkCohort("splitCohort", cohort);
  checkSeed("splitCohort", seed);
  const m = numIndividuals(cohort);
  checkOption(
    Number.isInteger(numFolds) && numFolds >= 2 && numFolds <= m,
    "splitCohort",
    `numFolds from 2 to ${m} (individuals)`,
    numFolds,
    "Use fewer folds.",
  );
  const order = createRandom(seed).permutation(m);
  const folds: Fold[] = [];
  for (let f = 0; f < numFolds; f++) {
    const start = Math.floor((f * m) / numFolds);
    const end = Math.floor(((f + 1) * m) / numFolds);
    const testIndividuals = order.slice(start, end).sort();
    const inTest = new Uint8Array(m);
    for (const i of testIndividuals) inTest[i] = 1;
    const trainIndividuals: number[] = [];
    for (let i = 0; i < m; i++) if (inTest[i] === 0) trainIndividuals.push(i);
    folds.push({
      train: selectIndividuals(cohort, trainIndividuals),
      test: selectIndividuals(cohort, testIndividuals),
      testIndividuals,
    });
  }
  return folds;
}
