/** What goes in and comes out, as schemas: requests are checked by them, and the OpenAPI document and the tools of MCP are made of them. */
import { z } from "@hono/zod-openapi";
import { TRANSFORMS } from "@trajectory-maps/core/ingest";

/** Most visits and times of one request. */
export const MOST_VISITS = 1_000;
const MOST_TIMES = 200;

const number = z.number();
const maybe = z.nullable(z.number());
const text = z.string();
const count = z.int().nonnegative();

export const problemSchema = z
  .object({
    error: z.object({
      code: text.describe("stable; those of the library are in docs/errors.md"),
      message: text,
      expected: text.optional(),
      received: text.optional(),
      where: text.optional(),
      remedy: text.optional(),
    }),
  })
  .openapi("Error");

const visit = z.strictObject({
  time: number.describe("in the unit of the model, since its origin"),
  value: z
    .union([number, text.max(40)])
    .describe('in the unit of the model; a value beyond a limit as text: "<0.3", ">50"'),
  marker: text.max(200).optional().describe("which marker; may be left out of a model of one"),
});

/** Fields of a request that place somebody. */
const placing = {
  visits: z.array(visit).max(MOST_VISITS).describe("in any order; none at all is the whole population"),
  covariates: z
    .record(text.max(200), z.union([number, text.max(200), z.null()]))
    .optional()
    .describe("values of the covariates of the model by name, where it has some"),
};

const threshold = z.strictObject({
  value: number,
  direction: z.enum(["above", "below"]).optional().describe("default: away from where the curve is"),
  from: number.optional().describe("start of the search; default: the last visit"),
  marker: text.max(200).optional(),
});

export const placeRequest = z
  .strictObject({
    ...placing,
    at: z.array(number).max(MOST_TIMES).optional().describe("times of the forecast"),
    interval: z
      .enum(["observation", "curve", "conformal"])
      .optional()
      .describe(
        "band of a new measurement, of the curve without noise, or as calibrated; default: as calibrated where the model is, else of a new measurement",
      ),
    level: number.gt(0).lt(1).optional().describe("probability inside the band; default 0.9"),
    marker: text.max(200).optional().describe("forecast this one of several markers alone"),
    rate: z.boolean().optional().describe("also the change of the curve per unit of time"),
    threshold: threshold.optional().describe("also when the curve first crosses a value"),
    seed: z.int().optional().describe("of the draws behind thresholds and rates; default 1"),
  })
  .openapi("PlaceRequest");
export type PlaceRequest = z.infer<typeof placeRequest>;

/** Beside a body of FHIR, in the query: which codes, whom, since when, and the fields of a request but for its visits. */
export const placeQuery = z.strictObject({
  code: z
    .array(text.max(400))
    .min(1, "expected the code of the marker, such as code=2160-0 or code=loinc|2160-0; for each marker one, in order")
    .describe(
      "code of the marker, or several with commas; given again for each further marker, in the order of the model",
    ),
  patient: text.max(200).optional().describe("id of the patient, where there are several"),
  origin: text.max(40).optional().describe("first (visit), or a date as 2010-01-31; default: as the model counts"),
  timeUnit: text.max(40).optional().describe("unit of times, where the model says none"),
  unitMeans: z
    .array(text.max(200))
    .optional()
    .describe("written=unit: a unit that is meant otherwise than it is written; with nothing before the sign no unit"),
  covariate: z.array(text.max(400)).optional().describe("name=value, for each covariate of the model"),
  ...placeRequest.omit({ visits: true, covariates: true, threshold: true }).shape,
  threshold: number.optional().describe("also when the curve first crosses this value"),
  direction: threshold.shape.direction,
  from: threshold.shape.from,
});
export type PlaceQuery = z.infer<typeof placeQuery>;

/** Resources as they come; what is wrong with them is found by reading. */
export const fhirBody = z
  .looseObject({ resourceType: text })
  .describe("a Bundle of FHIR R4 with Observations, or one Observation")
  .openapi("FhirResource");

const markerInfo = z.object({
  name: text,
  unit: text,
  timeUnit: text,
  transform: z.enum(TRANSFORMS),
  limits: z.array(maybe).length(2).optional(),
  times: z.array(number).length(2).describe("first and last time of the training data"),
  calibrated: z.boolean(),
});

const covariateInfo = z.object({ name: text, levels: z.array(text).describe("empty for a number") });

export const modelInfo = z
  .object({
    name: text,
    kind: text,
    dimension: count,
    individuals: count.describe("whom it was fitted to"),
    markers: z.array(markerInfo),
    covariates: z.array(covariateInfo),
    groups: z.array(z.object({ letter: text, name: text })),
    guarded: z.boolean().describe("whether forecasts fall back where few similar individuals were followed that long"),
  })
  .openapi("Model");
export type ModelInfo = z.infer<typeof modelInfo>;

export const modelsResponse = z.object({ models: z.array(modelInfo) }).openapi("Models");

const series = z.object({ mean: maybe, sd: maybe, lower: maybe, upper: maybe, median: maybe });
const forecastRow = z.object({
  time: number,
  ...series.shape,
  extrapolated: count.describe("1 where nothing similar was seen for so long"),
  model_weight: number.describe("below 1 where the forecast falls back on a mixed model"),
  limit: maybe.optional(),
  below_limit: maybe.optional().describe("probability of a measurement below the limit of detection"),
  rate: series.optional(),
});

const forecast = z.object({
  marker: text,
  unit: text,
  interval: z.enum(["observation", "curve", "conformal"]),
  level: number,
  guarded: z.boolean(),
  rows: z.array(forecastRow),
});

const crossing = z.object({
  marker: text,
  threshold: number,
  until: number.describe("the last time of the training data"),
  direction: text,
  from: maybe,
  probability: maybe.describe("of a crossing until then"),
  already: maybe.describe("probability that it is crossed at the start"),
  time05: maybe,
  time25: maybe,
  time50: maybe,
  time75: maybe,
  time95: maybe,
});

export const placeResponse = z
  .object({
    model: text,
    place: z.object({
      location: z.array(number),
      covariance: z.array(z.array(number)),
      area50: maybe,
      area90: maybe,
      outside: number.describe("probability of being where the map says nothing"),
    }),
    region: z
      .object({
        level: number,
        cell: number.describe("side of a cell"),
        cells: z.array(z.array(number)).describe("middles of the cells that hold the level together, heaviest first"),
      })
      .nullable()
      .describe("where the place could be; null for models without a lattice"),
    groups: z.array(z.object({ letter: text, name: text, probability: number })),
    forecasts: z.array(forecast),
    crossing: crossing.nullable(),
    suspects: z
      .array(z.object({ marker: text, time: number, value: number, expected: number, probability: number }))
      .describe("values that are probably wrong; they moved the place all the same"),
    warnings: z.array(text),
  })
  .openapi("PlaceResponse");
export type PlaceResponse = z.infer<typeof placeResponse>;

/** What is told of resources beside the answer. */
export const placedResources = placeResponse
  .extend({
    resources: z
      .object({
        visits: count.describe("values that were taken"),
        told: z
          .array(z.object({ code: text, count, what: text, done: text }))
          .describe("what was left out or decided, and how often"),
        notes: z.array(text).describe("units and times as they were read"),
      })
      .optional()
      .describe("of a body of FHIR"),
  })
  .openapi("PlaceAnswer");
export type PlacedResources = z.infer<typeof placedResources>;

const lattice = z.object({
  axes: z.array(z.array(number)).describe("coordinates along each axis"),
  inside: z.array(z.int()).describe("1 where the map says something; the last axis runs fastest"),
  values: z
    .array(z.object({ marker: text, times: z.array(number), median: z.array(z.array(number)) }))
    .describe("median course at each place, for each marker"),
});

export const mapResponse = z
  .object({
    model: modelInfo,
    lattice: lattice.nullable().describe("null for more than two dimensions"),
    groups: z.array(
      z.object({
        letter: text,
        name: text,
        summary: text,
        center: z.array(number).nullable().describe("null for groups of fewer than ten"),
        covariance: z.array(z.array(number)).nullable(),
        times: z.array(number),
        median: z.array(maybe),
        lower: z.array(maybe),
        upper: z.array(maybe),
      }),
    ),
  })
  .openapi("Map");
export type MapResponse = z.infer<typeof mapResponse>;

export const healthResponse = z.object({ status: z.literal("ok") }).openapi("Health");
export const versionResponse = z.object({ name: z.literal("dtm"), version: text }).openapi("Version");
