/**
 * Placing shared among threads: the cohort is cut into blocks of individuals, blocks are placed anywhere, and their
 * placements are put together again. Everyone is placed alone, so the result is that of `embed`, bit for bit.
 */
import { type Cohort, numIndividuals, selectIndividuals } from "../cohort/cohort.ts";
import { checkOption } from "../errors.ts";
import { joinFloats } from "../numeric/matrix.ts";
import type { Placements } from "./placement.ts";

/** Cuts a cohort into at most `numBlocks` blocks of neighbouring individuals, of sizes that differ by one at most. */
export function cohortBlocks(cohort: Cohort, numBlocks: number): Cohort[] {
  checkOption(Number.isInteger(numBlocks) && numBlocks >= 1, "cohortBlocks", "a whole number from 1", numBlocks, "");
  const m = numIndividuals(cohort);
  const count = Math.max(1, Math.min(numBlocks, m));
  return Array.from({ length: count }, (_, b) => {
    const from = Math.floor((b * m) / count);
    const to = Math.floor(((b + 1) * m) / count);
    return selectIndividuals(
      cohort,
      Int32Array.from({ length: to - from }, (_, k) => from + k),
    );
  });
}

/** The placements of several blocks as one, in their order. */
export function joinPlacements(blocks: readonly Placements[]): Placements {
  const column = (of: (block: Placements) => Float64Array): Float64Array => joinFloats(blocks.map(of));
  const counts = (of: (block: Placements) => Int32Array): Int32Array =>
    Int32Array.from(blocks.flatMap((block) => [...of(block)]));
  const variational = blocks.flatMap((block) => block.variational ?? []);
  return {
    ids: blocks.flatMap(({ ids }) => ids),
    mapDimension: blocks[0].mapDimension,
    numObservations: counts((block) => block.numObservations),
    location: column((block) => block.location),
    covariance: column((block) => block.covariance),
    logLikelihood: column((block) => block.logLikelihood),
    coefficients: column((block) => block.coefficients),
    firstTime: column((block) => block.firstTime),
    lastTime: column((block) => block.lastTime),
    area50: column((block) => block.area50),
    area90: column((block) => block.area90),
    outsideMass: column((block) => block.outsideMass),
    numOutsideTimes: counts((block) => block.numOutsideTimes),
    ...(variational.length === 0
      ? {}
      : {
          variational: {
            location: joinFloats(variational.map(({ location }) => location)),
            covariance: joinFloats(variational.map(({ covariance }) => covariance)),
            bound: joinFloats(variational.map(({ bound }) => bound)),
          },
        }),
  };
}
