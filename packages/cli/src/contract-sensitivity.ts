/** The contract of dtm sensitivity. */
import { VARIANT_FAMILIES } from "@trajectory-maps/core/study";
import * as z from "zod";
import { count, maybe, number, paired, text } from "./contract-parts.ts";

const outcomes = z.array(z.looseObject({ outcome: text, p: maybe }));

export const sensitivityContract = z.looseObject({
  variants: z.array(
    z.looseObject({
      family: z.enum(VARIANT_FAMILIES),
      name: text,
      note: z.nullable(text),
      /** Why it could not be fitted; all else is null then. */
      failed: z.nullable(text),
      converged: z.nullable(z.boolean()),
      /** Against the run's, once aligned: distances in standard deviations of the prior of places. */
      places: z.nullable(
        z.looseObject({ compared: count, correlation: number, scale: number, median: number, p90: number }),
      ),
      /** Null where the run has one group. */
      adjustedRand: maybe,
      outcomes,
      /** Held-out log-likelihood per individual less that of the run's model; null where they do not compare. */
      score: z.nullable(paired),
      scoreNote: z.nullable(text),
    }),
  ),
  leftOut: z.array(z.looseObject({ name: text, reason: text })),
  run: z.looseObject({
    numIndividuals: count,
    numGroups: count,
    method: z.enum(["bisect", "ward", "mixture"]),
    outcomes,
    perIndividual: maybe,
    placeSd: number,
  }),
  folds: count,
  seed: number,
  tail: number,
  tailTime: number,
  shift: number,
  verdict: text,
});
