/** Contracts of what is said of individuals by a model: places, forecasts, the calibration of their bands, the page for one patient. */
import * as z from "zod";
import { count, marker, maybe, number, suspects, text } from "./contract-parts.ts";

export const calculatorContract = z.looseObject({
  files: z.array(text),
  bytes: number,
  gzipped: number,
  individuals: number,
  markers: z.array(text),
  groups: z.array(z.looseObject({ letter: text, name: text })),
  /** Whether the page knows how long similar people were followed. */
  followed: z.boolean(),
});

export const embedContract = z.looseObject({
  dimension: count,
  /** Groups of the run; placements then have group and probability_A, ... */
  groups: z.optional(z.array(z.looseObject({ letter: text, name: text }))),
  suspects,
  placements: z.array(
    z.looseObject({
      ...{ id: text, x1: maybe, var11: maybe, visits: count, suspects: maybe },
      /** Size of the 90 % highest-density region of the place. */
      area90: maybe,
      /** The most probable one. */
      group: z.optional(text),
      /** Why nothing can be said of the individual, whose numbers are then null; there where some have one. */
      reason: z.optional(text),
    }),
  ),
});

export const predictContract = z.union([
  z.looseObject({
    interval: z.enum(["curve", "observation", "conformal"]),
    level: number,
    scale: z.enum(["marker", "model"]),
    marker,
    predictions: z.array(
      z.looseObject({
        id: text,
        time: number,
        mean: maybe,
        sd: maybe,
        lower: maybe,
        upper: maybe,
        median: maybe,
        extrapolated: maybe,
        model_weight: maybe,
        suspects: count,
        /** Why nothing can be said of the individual, whose numbers are then null; there where some have one. */
        reason: z.optional(text),
      }),
    ),
  }),
  z.looseObject({
    threshold: number,
    until: number,
    marker,
    crossings: z.array(
      z.looseObject({ id: text, direction: text, from: maybe, probability: maybe, already: maybe, suspects: count }),
    ),
  }),
]);

export const simulateContract = z.looseObject({
  marker,
  individuals: count,
  observations: count,
  /** All markers, the first of them above, where there are several. */
  markers: z.optional(z.array(marker)),
});

export const calibrateContract = z.looseObject({
  levels: z.array(number),
  knownFrom: z.array(count),
  horizonFrom: z.array(number),
  numIndividuals: count,
  /** By class of visits known, then of time: factors of the lower and upper half of the model's own 90% band. */
  classes: z.array(
    z.looseObject({
      numIndividuals: count,
      /** Where the class has too few individuals of its own, and others are counted in. */
      borrowed: z.optional(z.literal(true)),
      lower: z.array(maybe),
      upper: z.array(maybe),
    }),
  ),
});

export const calibrateMarkersContract = z.looseObject({
  markers: z.array(z.looseObject({ marker: text, ...calibrateContract.shape })),
});
