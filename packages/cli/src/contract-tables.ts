/** Contracts of tables before a fit: examples, what inspection finds in them, the statistics taken of them, what a fit will take. */
import * as z from "zod";
import { count, marker, number, suspects, text } from "./contract-parts.ts";

const quality = {
  individuals: count,
  observations: count,
  rows: count,
  rowsLeftOut: count,
  visits: z.array(number),
  singleVisit: count,
  visitClasses: z.array(count),
  firstTime: number,
  lastTime: number,
  distinctTimes: count,
  spans: z.nullable(z.array(number)),
  gaps: z.nullable(z.array(number)),
  /** Limits that values are only known to lie below (side -1) or above (1). */
  limits: z.array(z.looseObject({ side: number, limit: number, count })),
  findings: z.looseObject({
    missing: count,
    duplicates: count,
    sameTime: count,
    suspectedCodes: count,
    outliers: count,
    negativeTimes: count,
  }),
  design: z.looseObject({ edges: z.array(number), counts: z.array(count), covered: number }),
  histogram: z.looseObject({ edges: z.array(number), counts: z.array(count) }),
};

const columns = z.looseObject({ id: text, time: text, value: text });

export const inspectContract = z.looseObject({ marker, columns, ...quality, suspects });

/** `dtm inspect` of several markers: what is said of all, and of each among those who have it. */
export const inspectMarkersContract = z.looseObject({
  individuals: count,
  observations: count,
  rows: count,
  rowsLeftOut: count,
  /** Individuals without a value of each marker, and with values of both of two, [K,K]. */
  lacking: z.array(count),
  measured: z.array(count),
  markers: z.array(z.looseObject({ marker, ...quality })),
  columns: z.array(columns),
  suspects,
});

/** `dtm inspect --fhir` without --code: what the resources can be asked for. */
export const inspectCodesContract = z.looseObject({
  codes: z.array(
    z.looseObject({
      code: text,
      name: text,
      values: count,
      individuals: count,
      units: z.array(z.looseObject({ unit: text, count })),
    }),
  ),
  conditions: z.array(z.looseObject({ code: text, name: text, individuals: count })),
  patients: count,
  deaths: count,
});

/** `dtm template`: the table, and its file where one was written. */
export const templateContract = z.looseObject({ table: text, text, file: z.optional(text) });

export const statisticsContract = z.looseObject({
  file: text,
  individuals: count,
  observations: count,
  shards: count,
  markers: z.array(z.looseObject({ marker, noise: text })),
});

export const planContract = z.looseObject({
  individuals: count,
  visits: number,
  markers: count,
  noise: z.enum(["white", "level"]),
  observations: count,
  machine: z.looseObject({ jobs: count, memoryBytes: number, heapBytes: number }),
  /** Measured: seconds on one thread of a visit read and reduced, and of an individual in the rest. */
  secondsEach: z.looseObject({
    ...{ read: number, reduce: number, linear: number, pass: number, place: number, write: number },
  }),
  /** Extrapolated. */
  ways: z.array(
    z.looseObject({
      way: z.enum(["visits", "statistics", "shards"]),
      stages: z.array(z.looseObject({ stage: text, seconds: number })),
      seconds: number,
      memoryBytes: number,
      parts: count,
      fits: z.boolean(),
    }),
  ),
  /** Absent where no way fits this machine. */
  recommended: z.optional(z.enum(["visits", "statistics", "shards"])),
  statisticsBytes: number,
  schedule: z.enum(["batch", "svi"]),
  passes: count,
});
