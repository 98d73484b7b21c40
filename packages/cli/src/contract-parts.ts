/** What the contracts of several commands are made of. */
import { TRANSFORMS } from "@trajectory-maps/core/ingest";
import { COMPARED_MODELS } from "@trajectory-maps/core/study";
import * as z from "zod";

export const number = z.number();
/** A number that may not exist: null stands for it. */
export const maybe = z.nullable(z.number());
export const count = z.int().check(z.nonnegative());
export const text = z.string();

export const marker = z.looseObject({
  name: text,
  unit: text,
  timeUnit: text,
  transform: z.enum(TRANSFORMS),
  limits: z.optional(z.tuple([maybe, maybe])),
});
export const overFolds = z.looseObject({ mean: number, se: number, sd: number });
export const estimate = z.looseObject({ value: maybe, lower: maybe, upper: maybe });
export const adjusted = z.looseObject({ holm: maybe, bh: maybe });
export const comparedModel = z.enum(COMPARED_MODELS);
export const coverage = z.looseObject({ p50: maybe, p90: maybe });
export const forecastClasses = z.array(
  z.looseObject({ from: number, to: number, count, crps: number, mae: number, p50: number, p90: number }),
);
export const paired = z.looseObject({ mean: number, se: number, lower: number, upper: number });

/** Values that are wrong with a probability of a half or more; null where the cohort is too large to look. */
export const suspects = z.nullable(
  z.array(
    z.looseObject({ id: text, marker: text, time: number, value: number, expected: number, probability: number }),
  ),
);
