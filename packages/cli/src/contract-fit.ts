/** Contracts of a fit and of what is written into its run: the run itself, groups, summary, coefficients. */
import * as z from "zod";
import { count, marker, maybe, number, text } from "./contract-parts.ts";

export const groupsContract = z.looseObject({
  method: z.enum(["bisect", "ward", "mixture"]),
  numGroups: count,
  groups: z.array(
    z.looseObject({
      letter: text,
      name: text,
      summary: text,
      /** "−8 a year" of a course without a turn, else empty. */
      rate: text,
      size: count,
      /** Members followed to the last time that the summary names. */
      numSeen: count,
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
      verdict: z.enum(["stable", "fairly stable", "unstable"]),
      meanAdjustedRand: maybe,
      adjustedRand: z.array(maybe),
      mapAgreement: z.array(maybe),
    }),
  ),
  clustered: count,
  /** The Gaussians of the groups over the map, by which new places belong to them; earlier versions wrote none. */
  regions: z.optional(
    z.looseObject({
      numGroups: count,
      dimension: count,
      /** [K], [K,q] and [K,q,q]. */
      weights: z.array(number),
      means: z.array(number),
      covariances: z.array(number),
    }),
  ),
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
  /** Which side of the marker was said to be better. */
  better: z.optional(z.nullable(z.enum(["high", "low"]))),
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
  /** The light of trust on the map and its four parts; runs of earlier versions have no colour and words. */
  map: z.optional(
    z.looseObject({
      colour: z.optional(z.enum(["green", "amber", "grey"])),
      words: z.optional(text),
      state: z.enum(["good", "unknown", "caution", "poor"]),
      headline: text,
      lights: z.array(z.looseObject({ name: text, state: text, sentence: text })),
    }),
  ),
  warnings: z.array(text),
  findings: z.array(z.looseObject({ code: text, count, remedy: text })),
  /** SHA-256 of files that may be shared; those of private files are in digests.json. */
  files: z.array(z.looseObject({ name: text, private: z.boolean(), holds: text, sha256: z.optional(text) })),
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
      /** When the level is that: the middle of the times; null of a rate, and of an effect that is the same at all times. */
      ...{ marker: text, quantity: z.enum(["level", "rate"]), time: z.nullable(number) },
      ...effectEstimate,
      /** The same in the mixed model with these covariates and a mean curve. */
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
