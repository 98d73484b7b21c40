/**
 * The model file as a schema: one source for types, validation on load and the JSON Schema in `schemas/`.
 * Matrices are flat lists, row by row; the descriptions give their shapes.
 */
import * as z from "zod/mini";
import { COVARIATE_EFFECTS, MISSING_RULES } from "../../cohort/coding.ts";
import { TRANSFORMS } from "../../cohort/marker.ts";
import { EFFECT_FORMS } from "../mean.ts";

export const FILE_FORMAT = "disease-trajectory-map";
/** The newest form. A file is written in the oldest that can hold it: 4 with an origin of times, 3 with several markers or covariates, else 2. */
export const FILE_VERSION = 4;

const numbers = (description: string) => z.array(z.number()).register(z.globalRegistry, { description });
/** A list in the file, a typed array in the model; lengths are checked by check-model.ts. */
const floats = (description: string) =>
  z.pipe(
    numbers(description),
    z.transform((list) => Float64Array.from(list)),
  );
const fiveNumbers = (description: string) =>
  z.array(z.number()).check(z.length(5)).register(z.globalRegistry, { description });
const positive = z.number().check(z.positive());
const count = z.int().check(z.nonnegative());
const factor = z.nullable(z.number());
const share = z.number().check(z.nonnegative(), z.lte(1 + 1e-9));

const reason = z.optional(z.string().register(z.globalRegistry, { description: "Why this noise, where a fit chose" }));
const correlation = z
  .strictObject({ range: positive, whiteShare: positive.check(z.lte(1)) })
  .register(z.globalRegistry, { description: "(1 - whiteShare) exp(-gap/range) between visits" });

const limits = z.optional(
  z
    .strictObject({
      mean: floats("Mean of coefficients, [numBasis]"),
      factor: floats("L with covariance LL', [numBasis, numBasis]"),
      variance: positive,
      spread: z.number().check(z.nonnegative()),
      lower: z.optional(z.number()),
    })
    .register(z.globalRegistry, { description: "What values below or above a limit are read under" }),
);
const common = { variance: positive, limits, reason };

const calibration = z.optional(
  z.strictObject({
    levels: numbers("Probabilities for which there are factors"),
    knownFrom: numbers("First number of visits known of each class"),
    horizonFrom: numbers("First time since the last visit of each class"),
    numIndividuals: count,
    classes: z
      .array(
        z.strictObject({
          numIndividuals: count,
          borrowed: z.optional(z.literal(true)),
          lower: z.array(factor),
          upper: z.array(factor),
        }),
      )
      .register(z.globalRegistry, {
        description:
          "By class of visits known, then of time: factors of the lower and upper half of the 90% band; borrowed where others than its own individuals are counted in",
      }),
    coverage: z.optional(
      z.strictObject({ own: share, calibrated: share }).register(z.globalRegistry, {
        description: "Share of visits of individuals not in the fit inside the model's own and the calibrated 90% band",
      }),
    ),
  }),
);

/** What models hold of a marker, whatever their kind. */
const part = {
  basis: z.strictObject({
    degree: z.int().check(z.gte(1), z.lte(3)),
    numBasis: z.int().check(z.gte(2)),
    knots: floats("Full clamped knot vector, [numBasis + degree + 1]"),
    placement: z.enum(["percentiles", "distinct-percentiles", "equal", "given"]),
  }),
  marker: z.strictObject({
    name: z.string(),
    unit: z.string(),
    timeUnit: z.string(),
    transform: z.enum(TRANSFORMS),
    limits: z.optional(z.tuple([z.nullable(z.number()), z.nullable(z.number())])),
  }),
  columns: z.optional(
    z.strictObject({
      id: z.string(),
      time: z.string(),
      value: z.string(),
      marker: z.optional(z.string()),
      level: z.optional(z.string()),
      origin: z.optional(
        z.string().register(z.globalRegistry, {
          description: "From when times were counted: first, column:NAME or date:2010-01-31",
        }),
      ),
      dates: z.optional(
        z.literal(true).register(z.globalRegistry, { description: "Times were dates, counted in timeUnit" }),
      ),
    }),
  ),
  mean: z.strictObject({
    kind: z.enum(["scalar", "spline"]),
    coefficients: floats("Population mean on the basis, scale of the model, [numBasis]"),
  }),
  noise: z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("white"), ...common }),
    z.strictObject({ kind: z.literal("level"), ...common, spread: positive }),
    z.strictObject({ kind: z.literal("serial"), ...common, correlation }),
    z.strictObject({ kind: z.literal("level+serial"), ...common, spread: positive, correlation }),
  ]),
  center: z.number(),
  calibration,
};

/** A setting of a fit: a number or a word, or one for each marker or dimension. */
const setting = z.union([z.number(), z.boolean(), z.null(), z.string().check(z.maxLength(100))]);
const settings = z.union([setting, z.array(setting).check(z.maxLength(1000))]);
const logPrior = z.strictObject({ mean: z.number(), precision: z.number() });
const OPTION_NAMES = [
  ...["algorithm", "degree", "effects", "emTolerance", "mapDimension", "maxEmIterations", "maxEvaluations"],
  ...["maxIterations", "mean", "model", "noise", "numBasis", "restarts", "tolerance", "kernels", "learn"],
  ...["cap", "inducingHalfWidth", "inducingPerDimension", "lengthscale", "nodeRadius", "nodeStep", "residual"],
  ...["schedule", "batchSize", "sampleSize", "diagonalLocations", "epochs", "jitter", "kernel", "lengthscales"],
  ...["numInducing", "sharedLengthscale", "signalVariance", "startPlaces", "startSd", "stepSize", "rank", "seed"],
] as const;
/** What a fit was asked for, by names that are known: a file can carry nothing else. */
const recordedOptions = z.strictObject({
  ...(Object.fromEntries(OPTION_NAMES.map((name) => [name, z.optional(settings)])) as Record<
    (typeof OPTION_NAMES)[number],
    z.ZodMiniOptional<typeof settings>
  >),
  inducing: z.optional(
    z.strictObject({
      placement: z.optional(z.string().check(z.maxLength(100))),
      locations: z.optional(z.array(z.array(z.number()).check(z.maxLength(20))).check(z.maxLength(10_000))),
      perDimension: z.optional(z.number()),
      halfWidth: z.optional(z.number()),
      count: z.optional(z.number()),
    }),
  ),
  priors: z.optional(
    z.union([
      setting,
      z.strictObject({
        logNoiseVariance: z.optional(logPrior),
        logSignalVariance: z.optional(logPrior),
        logLengthscale: z.optional(logPrior),
      }),
    ]),
  ),
});

const parts = <Part extends z.core.$ZodType>(schema: Part) => z.array(schema).check(z.minLength(1));

const base = {
  mapDimension: z.int().check(z.gte(1), z.lte(20)),
  orientation: floats("Orthogonal matrix, [mapDimension, mapDimension]: a place x of the fit is shown as Q'x"),
  record: z.strictObject({
    version: z.string(),
    options: recordedOptions,
    seed: z.number(),
    numIndividuals: count,
    numObservations: count,
    trace: numbers("Log-likelihood or bound after each iteration"),
    iterations: count,
    converged: z.boolean(),
    verdict: z.string(),
    warnings: z.array(z.string()),
    starts: z.optional(
      z.array(
        z.strictObject({
          name: z.string(),
          bound: z.number(),
          agreement: z.number(),
          sameMap: z.boolean(),
          similarBound: z.boolean(),
        }),
      ),
    ),
    kernels: z.optional(z.enum(["wasm-simd", "typescript"])),
  }),
  calibration,
};

const kernel = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("rbf"),
    signalVariance: positive,
    lengthscales: floats("One per map dimension, [mapDimension]"),
    jitter: z.number().check(z.nonnegative()),
  }),
  z.strictObject({
    kind: z.literal("linear"),
    signalVariance: positive,
    jitter: z.number().check(z.nonnegative()),
  }),
]);

const map = z.strictObject({
  kernel,
  mapDimension: z.int().check(z.positive()),
  numInducing: z.int().check(z.positive()),
  numBasis: z.int().check(z.positive()),
  inducingLocations: floats("Z, [numInducing, mapDimension]"),
  inducingMean: floats("Whitened mean, index k*numInducing + j for coefficient k and inducing point j"),
  inducingCovariance: floats("Whitened covariance, [numBasis*numInducing, numBasis*numInducing]"),
});

const coding = z
  .strictObject({
    covariates: z.array(
      z.strictObject({
        name: z.string(),
        kind: z.enum(["number", "category"]),
        effect: z.enum(COVARIATE_EFFECTS),
        levels: z.array(z.string()),
        hasUnknown: z.boolean(),
      }),
    ),
    columns: z.array(
      z.strictObject({
        name: z.string(),
        covariate: count,
        level: z.nullable(z.string()),
        center: z.number(),
        scale: positive,
      }),
    ),
    missing: z.enum(MISSING_RULES),
  })
  .register(z.globalRegistry, { description: "How covariates of individuals are coded: (x - center)/scale" });

/** How well effects in the mean are known. */
const covariances = {
  covariance: floats("Covariance of the effects of all markers, one after another"),
  robustCovariance: z.optional(floats("The same, not counting on the model being right")),
  degreesOfFreedom: z.number().check(z.gte(1)),
};

/** Effects of covariates in the mean of a model, and of each marker. */
const inMean = {
  covariates: z.optional(coding),
  effects: z.optional(
    z.strictObject({
      form: z.enum(EFFECT_FORMS),
      ...covariances,
      mixedModel: z.optional(
        z.strictObject({
          coefficients: floats("Effects of the mixed model with the same covariates and a mean curve"),
          ...covariances,
        }),
      ),
    }),
  ),
};
const effects = z.optional(
  floats("Effects of covariates in the mean, [columns with effects in the mean, columns of the form]"),
);

const modelSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("lmm"),
    ...base,
    ...inMean,
    markers: parts(z.strictObject({ ...part, effects })),
    covarianceFactor: floats(
      "L with Sigma = LL', [numBasis, numBasis]; numBasis counts all markers, one after the other",
    ),
    scoreCenter: floats("Mean of the posterior means, [numBasis]"),
    scoreLoadings: floats("Scores are loadings'(w - center), [numBasis, mapDimension]"),
  }),
  z.strictObject({
    kind: z.literal("fpca"),
    ...base,
    ...inMean,
    markers: parts(z.strictObject({ ...part, effects })),
    loadings: floats("F, [numBasis, mapDimension]"),
  }),
  z.strictObject({
    kind: z.literal("dtm"),
    ...base,
    markers: parts(
      z.strictObject({
        ...part,
        effects,
        map,
        residual: z.strictObject({
          kind: z.enum(["capped", "none", "diagonal", "full"]),
          covariance: floats("Covariance of the residual individual effect, [numBasis, numBasis]"),
          tau: z.nullable(z.number().check(z.nonnegative())),
          cap: z.nullable(z.number().check(z.nonnegative())),
          atCap: z.boolean(),
        }),
        varianceShare: z.number().check(z.gte(0), z.lte(1)),
        averageGram: floats("Average weight of the observed times, [numBasis, numBasis]"),
      }),
    ),
    nodes: z.strictObject({
      locations: floats("Places of the lattice, [nodes, mapDimension]"),
      logWeights: floats("Log prior mass, [nodes]"),
      step: positive,
      radius: positive,
    }),
    ...inMean,
    shift: z.optional(
      z.strictObject({
        loadings: floats("Phi, [mapDimension, columns that shift places]: the place is N(Phi z, I) before any value"),
        covariance: floats("Covariance of Phi, by axis, then column"),
      }),
    ),
    bound: z.number(),
  }),
  z.strictObject({
    kind: z.literal("dtm-paper"),
    ...base,
    markers: parts(z.strictObject({ ...part, map })),
    diagonalLocations: z.boolean(),
    learned: z.boolean(),
    schedule: z.enum(["batch", "coordinate", "svi", "paper"]),
    elbo: z.strictObject({
      expectedLogLikelihood: z.number(),
      inducingUncertainty: z.number(),
      conditionalVariance: z.number(),
      locationKl: z.number(),
      inducingKl: z.number(),
      logPrior: z.number(),
      total: z.number(),
    }),
  }),
]);

const probeCourse = {
  times: fiveNumbers("Times"),
  median: fiveNumbers("Median of a new measurement at that place, original scale"),
  upper: fiveNumbers("Upper end of the 90% interval of a new measurement"),
};

export const fileSchema = z.strictObject({
  format: z.literal(FILE_FORMAT),
  formatVersion: z.int().check(z.positive()),
  checksum: z.string().register(z.globalRegistry, { description: "CRC-32 of the canonical text of model and probe" }),
  model: modelSchema,
  probe: z.strictObject({
    location: numbers("A shown place, [mapDimension]"),
    ...probeCourse,
    others: z.optional(
      z
        .array(z.strictObject(probeCourse))
        .register(z.globalRegistry, { description: "The same of the second marker and on" }),
    ),
  }),
});

export type ModelFile = z.infer<typeof fileSchema>;

/** The JSON Schema of a model file, as published in `schemas/model.schema.json`. */
export function modelFileJsonSchema(): object {
  return {
    title: "Disease trajectory map: fitted model",
    ...z.toJSONSchema(fileSchema, { target: "draft-2020-12", io: "input" }),
  };
}

/** The plan of a file of statistics (packed-statistics.ts). */
export const STATISTICS_FORMAT = "dtm-statistics";
export const planSchema = z.strictObject({
  format: z.literal(STATISTICS_FORMAT),
  formatVersion: z.literal(1),
  markers: z
    .array(
      z.strictObject({
        marker: part.marker,
        columns: part.columns,
        basis: part.basis,
        noise: part.noise,
        center: part.center,
      }),
    )
    .check(z.minLength(1)),
  warnings: z.array(z.string()),
});
