/**
 * The JSON that commands print, as schemas: a contract with the programs that read it. Names are fixed; new fields may be
 * added. `packages/cli/schemas/*.json` are made from these and held equal by a test.
 */
import * as z from "zod";
import { associateContract, covariatesContract } from "./contract-associate.ts";
import { compareContract, compareMarkersContract } from "./contract-compare.ts";
import { count, marker, maybe, number, text } from "./contract-parts.ts";
import { powerContract } from "./contract-power.ts";
import { sensitivityContract } from "./contract-sensitivity.ts";

/** p by draws and by moments; null where a class is too small to be tested. */
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
        name: z.enum(["groups", "compare", "associate", "calibrate", "sensitivity"]),
        command: text,
        version: text,
        date: text,
      }),
    ),
  ),
});

/** What covariates do: shifts of places and effects in the mean, as `fit` prints them. */
const covariateStep = {
  covariate: text,
  level: z.nullable(text),
  reference: z.nullable(text),
  step: number,
  unit: text,
};
const effectEstimate = {
  ...{ estimate: number, lower: number, upper: number, standardError: number },
  /** The larger of two standard errors. */
  errorKind: z.enum(["model-based", "robust"]),
};
const covariateEffects = z.looseObject({
  shifts: z.array(
    z.looseObject({
      ...covariateStep,
      shift: z.array(number),
      covariance: z.array(number),
      length: number,
      test: z.looseObject({ statistic: number, degrees: count, pValue: number }),
    }),
  ),
  effects: z.array(
    z.looseObject({
      ...covariateStep,
      ...{ marker: text, quantity: z.enum(["level", "rate"]) },
      ...effectEstimate,
      /** The same in the mixed model with these covariates. */
      mixedModel: z.nullable(z.looseObject(effectEstimate)),
    }),
  ),
  /** What to be careful with in effects in the mean. */
  cautions: z.array(text),
});

export const fitContract = z.looseObject({
  run: runContract,
  folder: text,
  /** How long the stages of the fit took. */
  milliseconds: z.optional(z.record(z.string(), number)),
  covariates: z.optional(covariateEffects),
});

/** `dtm summary`: what the fit said, and in short what later commands wrote into the run. */
export const summaryContract = z.looseObject({
  run: z.nullable(runContract),
  folder: text,
  covariates: z.optional(covariateEffects),
  groups: z.optional(
    z.looseObject({
      method: text,
      groups: z.array(z.looseObject({ letter: text, name: text, size: count })),
      stability: z.nullable(z.looseObject({ verdict: text, meanAdjustedRand: maybe })),
    }),
  ),
  comparison: z.optional(z.looseObject({ verdict: text })),
  association: z.optional(z.looseObject({ outcomes: z.array(z.looseObject({ outcome: text, p: maybe })) })),
  sensitivity: z.optional(z.looseObject({ verdict: text })),
});

export const coefContract = z.looseObject({
  model: z.enum(["dtm", "dtm-paper", "lmm", "fpca"]),
  /** Lower and upper end of a 95 % interval, null where there is none. */
  coefficients: z.array(
    z.looseObject({ marker: text, term: text, estimate: number, lower: maybe, upper: maybe, unit: text }),
  ),
});

/** Values that are wrong with a probability of a half or more; null where the cohort is too large to look. */
const suspects = z.nullable(
  z.array(
    z.looseObject({ id: text, marker: text, time: number, value: number, expected: number, probability: number }),
  ),
);

export const embedContract = z.looseObject({
  dimension: count,
  /** Groups of the run; placements then have group and probability_A, ... */
  groups: z.optional(z.array(z.looseObject({ letter: text, name: text }))),
  suspects,
  placements: z.array(
    z.looseObject({
      ...{ id: text, x1: number, var11: number, visits: count, suspects: maybe },
      /** Size of the 90 % highest-density region of the place. */
      area90: maybe,
      /** The most probable one. */
      group: z.optional(text),
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
        mean: number,
        sd: number,
        lower: number,
        upper: number,
        median: number,
        extrapolated: count,
        model_weight: number,
        suspects: count,
      }),
    ),
  }),
  z.looseObject({
    threshold: number,
    until: number,
    marker,
    crossings: z.array(
      z.looseObject({ id: text, direction: text, from: number, probability: maybe, already: maybe, suspects: count }),
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

export const doctorContract = z.looseObject({
  checks: z.array(z.looseObject({ part: text, ok: z.boolean(), found: text })),
  ok: z.boolean(),
});

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

/** Every contract by the name of its file in packages/cli/schemas. */
/** A study: its protocol and the results of its steps; or, with --plan, what they will take. */
const studyContract = z.looseObject({
  folder: text,
  protocol: z.looseObject({
    format: z.literal("dtm-protocol"),
    version: text,
    date: text,
    inputs: z.array(z.looseObject({ name: text, sha256: z.nullable(text) })),
    settings: z.record(z.string(), z.unknown()),
    steps: z.array(z.looseObject({ name: text, command: text })),
  }),
  plan: z.optional(z.literal(true)),
  times: z.optional(z.array(z.looseObject({ step: text, fits: count, seconds: number }))),
  inspect: z.optional(z.unknown()),
  run: z.optional(runContract),
  groups: z.optional(groupsContract),
  compare: z.optional(z.unknown()),
  associate: z.optional(associateContract),
  sensitivity: z.optional(sensitivityContract),
});

export const CONTRACTS = {
  associate: associateContract,
  calibrate: calibrateContract,
  "calibrate-markers": calibrateMarkersContract,
  coef: coefContract,
  compare: compareContract,
  covariates: covariatesContract,
  "compare-markers": compareMarkersContract,
  doctor: doctorContract,
  embed: embedContract,
  fit: fitContract,
  groups: groupsContract,
  inspect: inspectContract,
  "inspect-codes": inspectCodesContract,
  "inspect-markers": inspectMarkersContract,
  plan: planContract,
  power: powerContract,
  predict: predictContract,
  report: reportContract,
  run: runContract,
  sensitivity: sensitivityContract,
  simulate: simulateContract,
  statistics: statisticsContract,
  study: studyContract,
  summary: summaryContract,
} as const;

/** The JSON Schema of a contract, as text. */
export function contractSchema(name: keyof typeof CONTRACTS): string {
  return `${JSON.stringify({ title: `dtm ${name}`, ...z.toJSONSchema(CONTRACTS[name]) }, null, 2)}\n`;
}
