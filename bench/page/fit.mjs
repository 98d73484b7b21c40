/** The fit that is timed, the same in a page's worker and in Node: the library is the file that pages load. */
import { fitDtm, simulateCohort } from "../../packages/core/dist/browser.mjs";

const cohorts = new Map();

export function timedFit(numIndividuals) {
  if (!cohorts.has(numIndividuals)) cohorts.set(numIndividuals, simulateCohort("pfvc", { numIndividuals }).cohort);
  const began = performance.now();
  const model = fitDtm(cohorts.get(numIndividuals));
  return { milliseconds: performance.now() - began, bound: model.bound, kernels: model.record.kernels };
}
