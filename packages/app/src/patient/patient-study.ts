/** A model as the page for one patient needs it: words, ranges and a first threshold of each marker, all from the model alone. */
import { placeIndividual, predict } from "@trajectory-maps/core";
import {
  codingOf,
  courseTimes,
  isMapModel,
  modelMixture,
  viewMarker,
  viewPlacement,
} from "@trajectory-maps/core/models";
import type { PatientModel } from "@trajectory-maps/core/study";
import { niceStep } from "@trajectory-maps/report";
import { extentOf, valueAtTime } from "../charts/scale.ts";
import type { KnownRange } from "../views/map/visits-text.ts";
import { type MarkerWords, markerWords } from "../views/map/words.ts";

interface PatientMarker {
  readonly words: MarkerWords;
  /** Times of the course, [T]. */
  readonly times: readonly number[];
  /** Values of the chart: nearly all that the model expects of anybody. */
  readonly range: readonly [number, number];
  /** A round value in the lower half of what is expected last: the first threshold offered. */
  readonly threshold: number;
  /** What may be typed without a question. */
  readonly known: KnownRange;
}

export interface PatientStudy extends PatientModel {
  readonly markers: readonly PatientMarker[];
  readonly coding: ReturnType<typeof codingOf>;
  /** Of the first marker, whose nodes all share; null where several markers have no map. */
  readonly mixture: ReturnType<typeof modelMixture> | null;
  /** Tells fits apart. */
  readonly key: string;
}

const NUM_TIMES = 41;
/** Measurements outside of this share at their time are asked about. */
const USUAL = 0.998;

export function makePatientStudy(patient: PatientModel): PatientStudy {
  const { model } = patient;
  const coding = codingOf(model);
  // Nobody in particular: no visits, and of covariates the average.
  const average = coding && { covariates: { coding, values: new Float64Array(coding.columns.length) } };
  const nobody = placeIndividual(model, { id: "nobody", markers: {} }, average);
  return {
    ...patient,
    coding,
    mixture: isMapModel(model) || model.markers.length === 1 ? modelMixture(viewMarker(model, 0)) : null,
    key: nobody.placedBy ?? "",
    markers: model.markers.map((_, k) => {
      const own = viewMarker(model, k);
      const times = courseTimes(own, NUM_TIMES);
      const at = (level: number) => predict(own, viewPlacement(nobody, k), times, { level });
      const [most, half, lower] = [USUAL, 0.9, 0.4].map(at);
      const middle = NUM_TIMES >> 1;
      const words = markerWords(own, half.median[middle], Math.max(...half.upper.map(Math.abs)));
      const last = NUM_TIMES - 1;
      const step = niceStep(half.upper[last] - half.lower[last], 10);
      // On a log scale a step of the upper end says nothing of the lower.
      const round =
        words.transform === "log" ? lower.lower[last].toPrecision(1) : Math.round(lower.lower[last] / step) * step;
      return {
        words,
        times: Array.from(times),
        range: extentOf([half.lower, half.upper], 0.04, words.transform === "log"),
        threshold: Number((Number(round) || step).toPrecision(6)),
        known: {
          transform: words.transform,
          times: [words.first, words.last],
          values: (t) => [valueAtTime(times, most.lower, t), valueAtTime(times, most.upper, t)],
          said: (t) => `what the model expects of anybody at ${words.when(t)}`,
          when: words.when,
          value: words.value,
        },
      };
    }),
  };
}
