/** Contracts of comparisons: of models of one marker, and of several. */
import { SEVERAL_MODELS } from "@trajectory-maps/core/study";
import * as z from "zod";
import {
  comparedModel,
  count,
  coverage,
  forecastClasses,
  maybe,
  number,
  overFolds,
  paired,
  text,
} from "./contract-parts.ts";

const warnings = z.array(z.looseObject({ code: text, message: text }));

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
  warnings,
});

const severalModel = z.enum(SEVERAL_MODELS);

/** `dtm compare` of several markers. */
export const compareMarkersContract = z.looseObject({
  folds: count,
  repeats: count,
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
  warnings,
});
