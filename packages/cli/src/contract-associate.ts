/** Contracts of what is said of outcomes and covariates: `associate` and `covariates`. */
import * as z from "zod";
import { adjusted, count, estimate, maybe, number, text } from "./contract-parts.ts";

const test = { p: maybe, approximation: maybe, draws: count };

const representation = z.looseObject({
  ...test,
  adjusted,
  kde: z.nullable(z.looseObject({ statistic: number, z: number, p: number, adjusted })),
  auc: estimate,
});

/** Null where there are too few cases. */
const predictors = z.looseObject({
  measure: z.enum(["AUC", "C"]),
  rows: z.array(
    z.looseObject({
      predictors: z.enum([
        "covariates",
        "last value",
        "visits only",
        "place",
        "last value and visits",
        "last value, visits and place",
        "covariates, last value and visits",
        "covariates, last value, visits and place",
      ]),
      numPredictors: count,
      value: maybe,
      lower: maybe,
      upper: maybe,
    }),
  ),
  added: estimate,
  /** Whether the place has weight beside the others; false where it was shrunk out of every fold. Files of before have none. */
  placeUsed: z.optional(z.boolean()),
  verdict: text,
});

const chiSquare = z.looseObject({ statistic: maybe, degrees: count, pValue: maybe });

const calibrated = z.looseObject({
  numIndividuals: count,
  numEvents: count,
  predicted: number,
  observed: number,
  lower: maybe,
  upper: maybe,
});

/** Shares with each cause, cause 1 the event; null in intervals where there is none. */
const incidence = z.looseObject({
  group: count,
  times: z.array(number),
  atRisk: z.array(number),
  survival: z.array(number),
  causes: z.array(
    z.looseObject({
      numEvents: count,
      incidence: z.array(number),
      standardErrors: z.array(number),
      lower: z.array(maybe),
      upper: z.array(maybe),
    }),
  ),
});

/** Shifts of the marker after the last visit of those with an event; deltas on the scale of the model per unit of time. */
const dropout = z.looseObject({
  who: text,
  numIndividuals: count,
  numLeft: count,
  at: number,
  deltaStep: number,
  deltas: z.array(number),
  groups: z.array(
    z.looseObject({
      group: count,
      letter: text,
      name: text,
      numMembers: count,
      numLeft: count,
      exposure: number,
      stillFollowed: count,
    }),
  ),
  rows: z.array(z.looseObject({ delta: number, groups: z.array(z.looseObject({ median: number, forecast: number })) })),
  courses: z.looseObject({ times: z.array(number), medians: z.array(z.array(z.array(number))) }),
  tipping: z.array(
    z.looseObject({
      first: count,
      second: count,
      difference: number,
      both: maybe,
      firstAlone: maybe,
      secondAlone: maybe,
    }),
  ),
  reach: number,
});

/** Null where a number is beyond what a number can hold. */
const pooled = z.looseObject({
  draws: count,
  given: z.enum(["visits", "event"]),
  terms: z.array(
    z.looseObject({
      estimate: maybe,
      standardError: maybe,
      withinVariance: maybe,
      betweenVariance: maybe,
      degrees: maybe,
      missingInformation: maybe,
      hazardRatio: maybe,
      hazardLower: maybe,
      hazardUpper: maybe,
      pValue: maybe,
    }),
  ),
});

const survival = z.looseObject({
  event: text,
  /** What was typed, and the SHA-256 of what was read of it. Files of before have none. */
  data: z.optional(z.looseObject({ event: text, competing: z.array(text), sha256: text })),
  landmark: number,
  numIndividuals: count,
  numEvents: count,
  leftOut: z.looseObject({ unknown: count, eventBefore: count, censoredBefore: count, noVisitBefore: count }),
  /** Covariates that this is adjusted for, and individuals who lack one of them. */
  adjustedFor: z.array(text),
  withoutCovariates: count,
  groups: z.array(z.looseObject({ group: count, letter: text, name: text })),
  emptyGroups: z.array(z.looseObject({ group: count, letter: text, name: text })),
  crossTable: z.array(z.array(count)),
  curves: z.array(
    z.looseObject({ group: count, times: z.array(number), survival: z.array(number), atRisk: z.array(number) }),
  ),
  logRank: z.nullable(z.looseObject({ statistic: number, degrees: count, pValue: number })),
  /** Terms: the axes of the place, then the covariates. */
  cox: z.looseObject({ terms: z.array(z.looseObject({ hazardRatio: number, pValue: maybe })) }),
  coxCovariates: z.array(text),
  placeTest: z.looseObject({ statistic: number, degrees: count, pValue: number }),
  proportionalHazards: z.array(
    z.looseObject({ transform: z.enum(["km", "identity"]), terms: z.array(chiSquare), global: chiSquare }),
  ),
  /** Over draws of the places, by Rubin's rules; null with too few events, a hazard ratio without finite estimate, or too many individuals. */
  pooledCox: z.nullable(z.looseObject({ visits: pooled, event: pooled })),
  /** Times since the landmark at which risks are told. */
  riskTimes: z.array(number),
  /** Cross-fitted: nobody took part in the regression that gave its risk. The map was fitted to everyone. */
  risk: z.nullable(
    z.looseObject({
      folds: count,
      concordance: z.looseObject({ value: maybe, lower: maybe, upper: maybe, standardError: maybe }),
      calibration: z.array(z.looseObject({ time: number, overall: calibrated, groups: z.array(calibrated) })),
    }),
  ),
  /** Null without competing events. */
  competing: z.nullable(z.looseObject({ names: z.array(text), numEvents: z.array(count), curves: z.array(incidence) })),
  dropout,
  predictors,
  mapTest: z.looseObject({ ...test, numIndividuals: count, numEvents: count }),
});

/** [size] or [size,size], first axis slowest; null where nothing is said. */
const lattice = z.array(maybe);
const differenceMap = z.looseObject({
  axes: z.array(z.array(number)),
  difference: lattice,
  halfWidth: lattice,
  share: lattice,
  individuals: lattice,
  outside: z.array(z.int()),
  critical: number,
  draws: count,
});

const rate = z.looseObject({ cases: count, known: count, share: maybe, lower: number, upper: number });
const areaShares = { here: rate, elsewhere: rate };

export const associateContract = z.looseObject({
  method: z.enum(["whole-posteriors"]),
  kernel: z.looseObject({ width: number, degree: count }),
  /** Covariates that all of this is adjusted for, and individuals who lack one of them and take no part. */
  adjustedFor: z.array(text),
  leftOut: count,
  outcomes: z.array(
    z.looseObject({
      outcome: text,
      /** SHA-256 of who has it. Files of before have none. */
      data: z.optional(text),
      cases: count,
      controls: count,
      missing: count,
      leftOut: count,
      ...test,
      adjusted,
      priorP: maybe,
      effect: z.looseObject({ auc: estimate, distance: maybe }),
      predictors,
      warnings: z.array(z.looseObject({ code: text, message: text })),
      differenceMap: z.nullable(differenceMap),
      /** Shares in the outlined area and elsewhere, held out, and in the people who drew it; null where no place stands out. */
      contrast: z.nullable(
        z.looseObject({
          side: z.int(),
          centre: z.nullable(z.array(number)),
          ...areaShares,
          drawn: z.looseObject(areaShares),
        }),
      ),
      /** Beside number, first and last time of visits, asked where p is below 0.05; null where visits do not differ. */
      seenEqually: z.nullable(z.looseObject(test)),
      /** What this comes to. */
      sentence: text,
      landmark: z.nullable(
        z.looseObject({
          ...test,
          landmark: number,
          curve: z.array(z.looseObject({ landmark: number, approximation: maybe })),
        }),
      ),
      representations: z.looseObject({
        lmm: z.optional(representation),
        fpca: z.optional(representation),
        dtm: z.optional(representation),
      }),
    }),
  ),
  controls: z.array(z.looseObject({ control: text, ...test })),
  visitsFollow: z.nullable(text),
  madeUp: z.nullable(z.looseObject({ labellings: count, below: number })),
  primary: text,
  seed: number,
  draws: count,
  survival: z.optional(survival),
});

/** Score tests of covariates; null where one was not tested. */
export const covariatesContract = z.looseObject({
  draws: count,
  seed: number,
  covariates: z.array(
    z.looseObject({
      covariate: text,
      kind: z.enum(["number", "category"]),
      numIndividuals: count,
      leftOut: count,
      statistic: maybe,
      degrees: count,
      p: maybe,
      chiSquareP: maybe,
      adjusted,
      columns: z.array(
        z.looseObject({
          column: text,
          compared: text,
          step: number,
          shift: z.array(number),
          length: number,
          angle: z.nullable(number),
        }),
      ),
      untested: z.nullable(text),
    }),
  ),
});
