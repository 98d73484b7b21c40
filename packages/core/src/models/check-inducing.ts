/** Inducing points asked for must not outnumber the individuals: they could not be told apart by the data. */
import { checkOption } from "../errors.ts";

/** The parts of inducing options that say how many places there are. */
interface AskedInducing {
  readonly perDimension?: number;
  readonly count?: number;
  readonly locations?: readonly unknown[];
}

/**
 * Refuses more inducing points than the cohort has individuals. Only a number that was asked for is judged: the default
 * grid belongs to the prior, and small cohorts are fitted with it.
 */
export function checkInducing(asked: AskedInducing | undefined, mapDimension: number, numIndividuals: number): void {
  const { perDimension, count, locations } = asked ?? {};
  const p = locations?.length ?? count ?? (perDimension === undefined ? undefined : perDimension ** mapDimension);
  if (p === undefined) return;
  checkOption(
    !(p > numIndividuals),
    "fitDtm",
    `at most ${numIndividuals} inducing points, one for each individual`,
    p,
    "Ask for fewer, or leave the option out.",
  );
}
