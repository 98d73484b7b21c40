/** The JSON of dtm power. Effects are log odds ratios, per prior standard deviation of places or between two groups; errors are Monte Carlo errors. */
import * as z from "zod";
import { count, maybe, number, text } from "./contract-parts.ts";

const certainty = z.looseObject({
  /** Null for everybody. */
  visits: z.nullable(z.looseObject({ from: count, to: z.nullable(count) })),
  share: number,
  radius: z.looseObject({ median: number, lower: number, upper: number }),
  resolved: number,
  resolvedError: maybe,
});

const curve = z.array(z.looseObject({ effect: number, power: number, standardError: number }));

/** `upper` is null where some resamples of the simulated studies do not reach the power. */
const smallest = { effect: number, lower: number, upper: maybe };

export const powerContract = z.looseObject({
  numIndividuals: count,
  visits: z.looseObject({ mean: number, median: number, lower: number, upper: number }),
  /** Visits outside the times of the model, which were left out. */
  outside: z.looseObject({ visits: count, of: count, individuals: count }),
  risk: number,
  level: number,
  power: number,
  replicates: count,
  numOutcomes: count,
  map: z.enum(["fitted", "known"]),
  places: z.looseObject({
    priorRadius: number,
    all: certainty,
    classes: z.array(certainty),
    directions: z.array(z.looseObject({ direction: z.array(number), resolved: number })),
  }),
  links: z.array(
    z.looseObject({
      kind: z.enum(["most-resolved", "least-resolved", "groups"]),
      resolved: maybe,
      groupShare: maybe,
      curve,
      knownCurve: curve,
      /** Null where no effect that was tried has the power asked for. */
      smallest: z.nullable(
        z.looseObject({
          ...smallest,
          risks: z.looseObject({ lower: number, upper: number, placeDifference: number }),
        }),
      ),
      knownSmallest: z.nullable(z.looseObject(smallest)),
    }),
  ),
  forecasts: z.looseObject({
    until: number,
    numIndividuals: count,
    widths: z.array(
      z.looseObject({ time: number, width: number, widthWithoutVisits: number, inSds: number, inSdsError: maybe }),
    ),
  }),
  model: z.looseObject({
    what: text,
    marker: text,
    numIndividuals: count,
    standsIn: z.boolean(),
    firstTime: number,
    lastTime: number,
    mapDimension: count,
  }),
  paragraph: text,
  files: z.array(text),
});
