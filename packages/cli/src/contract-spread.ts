/** Contracts of fits in several places: the plan or agreement, a place that takes part, and the one who adds. */
import * as z from "zod";
import { runContract } from "./contract-fit.ts";
import { count, text } from "./contract-parts.ts";

/** A place that has its run, or waits for a total. */
const place = [
  z.looseObject({
    done: z.literal(true),
    run: runContract,
    folder: text,
    exchanged: z.array(z.looseObject({ what: text, rounds: count, bytes: count })),
  }),
  z.looseObject({ done: z.literal(false), round: count, sums: text }),
] as const;

/** The one who adds, when all is done or sums are missing. */
const adding = [
  z.looseObject({ done: z.literal(true), rounds: count, model: text }),
  z.looseObject({ done: z.literal(false), rounds: count, waitsFor: z.array(text) }),
] as const;

/** `dtm shards`: plan, run, reduce. */
export const shardsContract = z.union([z.looseObject({ plan: text, shards: count, rows: count }), ...place, ...adding]);

/** `dtm federate`: init, round --preview, round, merge. */
export const federateContract = z.union([
  z.looseObject({ agreement: text, sites: z.array(text), leastIndividuals: count }),
  z.looseObject({
    ...{ place: text, round: count, what: text, bytes: count, individuals: count },
    exposure: z.nullable(z.looseObject({ nodes: count, carried: count, exposed: count })),
  }),
  ...place,
  ...adding,
]);
