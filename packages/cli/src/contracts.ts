/**
 * The JSON that commands print, as schemas: a contract with the programs that read it. Names are fixed; new fields may be
 * added. `packages/cli/schemas/*.json` are made from these and held equal by a test.
 */
import { TRANSFORMS } from "@trajectory-maps/core/ingest";
import { COMPARED_MODELS, SEVERAL_MODELS } from "@trajectory-maps/core/study";
import * as z from "zod";

const number = z.number();
/** A number that may not exist: null stands for it. */
const maybe = z.nullable(z.number());
const count = z.int().check(z.nonnegative());
const text = z.string();

const marker = z.looseObject({
  name: text,
  unit: text,
  timeUnit: text,
  transform: z.enum(TRANSFORMS),
  limits: z.optional(z.tuple([maybe, maybe])),
});
const overFolds = z.looseObject({ mean: number, se: number, sd: number });
const estimate = z.looseObject({ value: maybe, lower: maybe, upper: maybe });
const adjusted = z.looseObject({ holm: maybe, bh: maybe });
const comparedModel = z.enum(COMPARED_MODELS);
const coverage = z.looseObject({ p50: maybe, p90: maybe });
const forecastClasses = z.array(
  z.looseObject({ from: number, to: number, count, crps: number, mae: number, p50: number, p90: number }),
);
const paired = z.looseObject({ mean: number, se: number, lower: number, upper: number });

export const compareContract = z.looseObject({
  models: z.array(
    z.looseObject({
      model: comparedModel,
      mean: z.enum(["scalar", "spline"]),
      subjectLogLik: overFolds,
      observationLogLik: overFolds,
      forecast: z.looseObject({
        count,
        logDensity: maybe,
        crps: maybe,
        mae: maybe,
        byHorizon: forecastClasses,
      }),
      coverage,
      nextVisit: z.looseObject({
        count,
        crps: maybe,
        mae: maybe,
        coverage,
        byKnown: forecastClasses,
        last: z.looseObject({ count, below: maybe, above: maybe }),
      }),
      pit: z.array(count),
    }),
  ),
  differences: z.array(
    z.looseObject({
      model: comparedModel,
      reference: comparedModel,
      mean: number,
      se: number,
      lower: number,
      upper: number,
      nextCrps: z.nullable(paired),
    }),
  ),
  folds: count,
  repeats: count,
  verdict: text,
  warnings: z.array(z.looseObject({ code: text, message: text })),
});

const severalModel = z.enum(SEVERAL_MODELS);

/** `dtm compare` of several markers. */
export const compareMarkersContract = z.looseObject({
  folds: count,
  numIndividuals: count,
  models: z.array(z.looseObject({ model: severalModel, perIndividual: number, coverage })),
  differences: z.array(
    z.looseObject({
      ...{ model: severalModel, reference: severalModel },
      ...{ mean: number, se: number, lower: number, upper: number, trimmed: number, above: number },
    }),
  ),
  markers: z.array(
    z.looseObject({
      marker: text,
      numFuture: count,
      forecast: z.looseObject({ dtm: paired, dtmOwnPast: paired, lmm: paired, othersAdd: paired }),
      fromOthers: z.looseObject({ dtm: paired, lmm: paired }),
      coverage,
      areaAlone: number,
    }),
  ),
  area: number,
  verdict: text,
});

/** p by draws and by moments; null where a class is too small to be tested. */
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
  verdict: text,
});

const survival = z.looseObject({
  event: text,
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

export const associateContract = z.looseObject({
  method: z.enum(["whole-posteriors"]),
  kernel: z.looseObject({ width: number, degree: count }),
  /** Covariates that all of this is adjusted for, and individuals who lack one of them and take no part. */
  adjustedFor: z.array(text),
  leftOut: count,
  outcomes: z.array(
    z.looseObject({
      outcome: text,
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

export const groupsContract = z.looseObject({
  method: z.enum(["bisect", "ward", "mixture"]),
  numGroups: count,
  groups: z.array(
    z.looseObject({
      letter: text,
      name: text,
      summary: text,
      size: count,
      pairsKept: maybe,
      times: z.array(number),
      median: z.array(number),
      lower: z.array(number),
      upper: z.array(number),
      from: number,
      until: number,
      parts: z.array(z.looseObject({ numMembers: count, median: z.array(number), from: number, until: number })),
    }),
  ),
  choice: z.nullable(
    z.looseObject({
      numGroups: count,
      gapChoice: count,
      separated: z.boolean(),
      sentence: text,
      evidence: z.array(z.looseObject({ numGroups: count, gap: number, standardError: number, explained: number })),
      courses: z.optional(
        z.looseObject({
          leastDifference: number,
          leastSize: count,
          numCut: count,
          leastBranch: count,
          evidence: z.array(
            z.looseObject({
              numGroups: count,
              difference: number,
              smallest: count,
              distinct: z.boolean(),
              ownKinds: count,
            }),
          ),
        }),
      ),
      bic: z.optional(z.array(z.looseObject({ numGroups: count, logLikelihood: number, bic: number }))),
    }),
  ),
  stability: z.nullable(
    z.looseObject({
      verdict: z.enum(["stable", "unstable"]),
      meanAdjustedRand: maybe,
      adjustedRand: z.array(maybe),
      mapAgreement: z.array(maybe),
    }),
  ),
  clustered: count,
  certainty: number,
  tree: z.looseObject({
    leaves: z.array(z.looseObject({ size: count, group: z.int() })),
    merges: z.array(z.tuple([count, count, number, count])),
    cut: number,
  }),
  components: z.nullable(
    z.looseObject({
      model: z.enum(["lmm", "fpca"]),
      components: z.array(
        z.looseObject({ share: number, peak: number, times: z.array(number), curve: z.array(number) }),
      ),
    }),
  ),
  seed: number,
});

/** run.json, and the `run` of `dtm fit --json`. */
export const runContract = z.looseObject({
  format: z.literal("dtm-run"),
  formatVersion: z.literal(1),
  version: text,
  command: text,
  date: text,
  seed: number,
  model: z.enum(["dtm", "dtm-paper", "lmm", "fpca"]),
  source: text,
  columns: z.looseObject({ id: text, time: text, value: text }),
  marker,
  /** All markers, the first of them above, where there are several. */
  markers: z.optional(z.array(marker)),
  /** Whether several markers share the map: Δ = shared bound less those of maps of each alone. */
  sharing: z.optional(
    z.looseObject({
      state: z.enum(["supported", "weak", "separate"]),
      difference: number,
      perIndividual: number,
      area: number,
      markers: z.array(
        z.looseObject({
          name: text,
          numIndividuals: count,
          numObservations: count,
          varianceShare: number,
          tau: maybe,
          atCap: z.boolean(),
          noiseRatio: number,
          areaAlone: number,
        }),
      ),
      sentences: z.array(text),
    }),
  ),
  individuals: count,
  observations: count,
  rows: count,
  rowsLeftOut: count,
  converged: z.boolean(),
  iterations: count,
  verdict: text,
  /** The verdict on the map by four lights. */
  map: z.optional(
    z.looseObject({
      state: z.enum(["good", "unknown", "caution", "poor"]),
      headline: text,
      lights: z.array(z.looseObject({ name: text, state: text, sentence: text })),
    }),
  ),
  warnings: z.array(text),
  findings: z.array(z.looseObject({ code: text, count, remedy: text })),
  files: z.array(z.looseObject({ name: text, private: z.boolean(), holds: text })),
  /** Commands whose results were put into the run later, in order; the last of each kind. */
  later: z.optional(
    z.array(
      z.looseObject({
        name: z.enum(["groups", "compare", "associate", "calibrate"]),
        command: text,
        version: text,
        date: text,
      }),
    ),
  ),
});

export const fitContract = z.looseObject({ run: runContract, folder: text });

export const embedContract = z.looseObject({
  dimension: count,
  placements: z.array(z.looseObject({ id: text, x1: number, var11: number, visits: count })),
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
        mean: number,
        sd: number,
        lower: number,
        upper: number,
        median: number,
        extrapolated: count,
      }),
    ),
  }),
  z.looseObject({
    threshold: number,
    until: number,
    marker,
    crossings: z.array(z.looseObject({ id: text, direction: text, from: number, probability: maybe, already: maybe })),
  }),
]);

export const simulateContract = z.looseObject({
  marker,
  individuals: count,
  observations: count,
  /** All markers, the first of them above, where there are several. */
  markers: z.optional(z.array(marker)),
});

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

/** Values that are wrong with a probability of a half or more; null where the cohort is too large to look. */
const suspects = z.nullable(
  z.array(
    z.looseObject({ id: text, marker: text, time: number, value: number, expected: number, probability: number }),
  ),
);

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

export const reportContract = z.looseObject({
  report: text,
  figures: z.array(text),
  computed: z.array(text),
  reused: z.array(text),
});

export const calibrateContract = z.looseObject({
  levels: z.array(number),
  knownFrom: z.array(count),
  horizonFrom: z.array(number),
  numIndividuals: count,
  /** By class of visits known, then of time: factors of the lower and upper half of the model's own 90% band. */
  classes: z.array(z.looseObject({ numIndividuals: count, lower: z.array(maybe), upper: z.array(maybe) })),
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

export const doctorContract = z.looseObject({
  checks: z.array(z.looseObject({ part: text, ok: z.boolean(), found: text })),
  ok: z.boolean(),
});

/** Every contract by the name of its file in packages/cli/schemas. */
export const CONTRACTS = {
  associate: associateContract,
  calibrate: calibrateContract,
  compare: compareContract,
  covariates: covariatesContract,
  "compare-markers": compareMarkersContract,
  doctor: doctorContract,
  embed: embedContract,
  fit: fitContract,
  groups: groupsContract,
  inspect: inspectContract,
  "inspect-markers": inspectMarkersContract,
  predict: predictContract,
  report: reportContract,
  run: runContract,
  simulate: simulateContract,
} as const;

/** The JSON Schema of a contract, as text. */
export function contractSchema(name: keyof typeof CONTRACTS): string {
  return `${JSON.stringify({ title: `dtm ${name}`, ...z.toJSONSchema(CONTRACTS[name]) }, null, 2)}\n`;
}
