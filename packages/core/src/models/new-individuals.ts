/** New individuals as a model reads them: a history or a cohort as statistics under the model's own bases, centres and noise. */

import { basisDomain } from "../basis/bspline.ts";
import { basisStatistics, type CohortStatistics, visitSites } from "../basis/statistics.ts";
import { type Cohort, type MarkerSeries, makeCohort, numIndividuals, onlyMarker } from "../cohort/cohort.ts";
import { applyTransform, type Marker } from "../cohort/marker.ts";
import { checkForm, checkNames, checkNumbers, DtmError, isNamed, optionNames, showForm } from "../errors.ts";
import type { Noise } from "../noise/noise.ts";
import { type ModelBase, markerIndex, markerModel } from "./fit.ts";
import { limitPriorOf } from "./limit-prior.ts";
import type { ScoredModel } from "./model.ts";
import type { VisitHistory } from "./placement.ts";

/** Visits of one individual, on the marker's original scale. */
export interface Visits {
  readonly times: ArrayLike<number>;
  readonly values: ArrayLike<number>;
  /** −1 for a value below the limit given, 1 for one above, 0 for a measured one; all measured by default. */
  readonly censored?: ArrayLike<number>;
}

/** A partial or whole history of one individual: of the only marker, or of several by their names. */
export type History = { readonly id?: string } & (Visits | { readonly markers: { readonly [name: string]: Visits } });

/** A history as a cohort of one individual with all markers of the model, empty where there are no visits. */
export function historyCohort({ markers }: Pick<ModelBase, "markers">, history: History, id: string): Cohort {
  const remedy = "Give { times: [0, 1], values: [81, 77] }, or such lists by marker under `markers`.";
  checkForm(isNamed(history), "placeIndividual", "a history", history, remedy);
  checkForm(typeof id === "string", "placeIndividual", "an id as text", id, 'Give "p1", or leave it out.');
  if ("markers" in history) {
    checkNames("placeIndividual: history", history, ["id", "markers"]);
    checkForm(isNamed(history.markers), "placeIndividual", "visits by marker", history.markers, remedy);
  }
  const given = "markers" in history ? history.markers : { [markerModel({ markers }).marker.name]: history };
  const unknown = Object.keys(given).find((name) => markers.every(({ marker }) => marker.name !== name));
  if (unknown !== undefined) {
    const names = markers.map(({ marker }) => marker.name).join(", ");
    throw new DtmError("other-marker", `placeIndividual: expected visits of ${names}, received "${unknown}".`);
  }
  const series = markers.map(({ marker }): MarkerSeries => {
    const visits = given[marker.name] ?? NO_VISITS;
    checkVisits(visits, marker.name);
    const { times, values, censored } = visits;
    if (times.length === 0 && values.length === 0) {
      return { marker, offsets: new Int32Array(2), times: new Float64Array(0), values: new Float64Array(0) };
    }
    const ids = Array.from({ length: times.length }, () => id);
    return onlyMarker(makeCohort({ ids, times, values, ...(censored && { censored }) }, marker));
  });
  return { ids: [id], markers: series };
}

const NO_VISITS: Visits = { times: [], values: [] };

const VISIT_NAMES = optionNames<Visits & { readonly id: string }>({
  ...{ id: true, times: true, values: true, censored: true },
});

/** Refuses what no compiler did: visits without times or values, with what is no list of numbers, or with something else beside them. */
function checkVisits(visits: Visits, name: string): void {
  const remedy = "Give { times: [0, 1], values: [81, 77] }, empty lists for no visits.";
  checkForm(isNamed(visits), "placeIndividual", `visits of ${name}`, visits, remedy);
  for (const what of ["times", "values"] as const) {
    if (visits[what] === undefined) {
      const received = `none among ${showForm(visits)}`;
      throw new DtmError(
        "shape",
        `placeIndividual: expected ${what} of ${name} as a list of numbers, received ${received}. ${remedy}`,
      );
    }
    checkNumbers("placeIndividual", `${what} of ${name}`, visits[what]);
  }
  if (visits.censored !== undefined) checkNumbers("placeIndividual", `sides of limits of ${name}`, visits.censored);
  checkNames("placeIndividual: history", visits, VISIT_NAMES);
}

/** The visits of marker k of one individual of a cohort as the model reads them, values on its scale. */
export function visitsOf(model: ScoredModel, cohort: Cohort, individual: number, k = 0): VisitHistory {
  const { marker, offsets, times, values, censored } = cohort.markers[k];
  const [from, to] = [offsets[individual], offsets[individual + 1]];
  const own = {
    offsets: [0, to - from],
    times: times.slice(from, to),
    values: values.slice(from, to).map((v) => applyTransform(marker.transform, v)),
    ...(censored && { censored: censored.subarray(from, to) }),
  };
  const { basis, center } = model.markers[k];
  const sites = censored && visitSites({ basis, center, noise: noiseFor(model, k, own) }, own, 0);
  if (sites === undefined) return { times: own.times, values: own.values };
  const c = basis.numBasis + 1;
  const pseudo = own.values.map((_, j) => center + sites.rows[(j + 1) * c - 1]);
  return { times: own.times, values: pseudo, weights: sites.weights };
}

/** The noise of marker k, with what values below or above a limit are read under where there are some. */
function noiseFor(model: ScoredModel, k: number, { censored }: Pick<MarkerSeries, "censored">): Noise {
  const { noise } = model.markers[k];
  return censored === undefined ? noise : { ...noise, limits: limitPriorOf(model, k) };
}

/**
 * Statistics of new individuals under a model's own bases and centres, marker by marker; a marker that the cohort does not have was
 * measured in nobody.
 * @throws DtmError "other-marker" for a marker that the model does not have, or on another scale.
 */
export function modelStatistics(model: ScoredModel, cohort: Cohort): CohortStatistics {
  const m = numIndividuals(cohort);
  const single = model.markers.length === 1;
  const found = model.markers.map(({ marker }) =>
    cohort.markers.find((series) => single || series.marker.name === marker.name),
  );
  for (const series of single ? [onlyMarker(cohort)] : cohort.markers) {
    const k = found.indexOf(series);
    const own = model.markers[k]?.marker;
    if (own === undefined || !sameScale(own, series.marker)) {
      const expected =
        own === undefined ? model.markers.map(({ marker }) => `"${marker.name}"`).join(", ") : describeMarker(own);
      throw new DtmError(
        "other-marker",
        `Expected marker ${expected}, received ${describeMarker(series.marker)}. Read the cohort with the marker of the model.`,
      );
    }
  }
  return model.markers.map((known, k) => {
    const nobody = { marker: known.marker, offsets: new Int32Array(m + 1), times: NO_NUMBERS, values: NO_NUMBERS };
    const series: MarkerSeries = found[k] ?? nobody;
    const { basis, center } = known;
    return basisStatistics({ ids: cohort.ids, markers: [series] }, basis, {
      center,
      noise: noiseFor(model, k, series),
    });
  });
}

const NO_NUMBERS = new Float64Array(0);

function sameScale(a: Marker, b: Marker): boolean {
  return a.name === b.name && a.unit === b.unit && a.timeUnit === b.timeUnit && a.transform === b.transform;
}

function describeMarker(marker: { name: string; unit: string; timeUnit: string; transform: string }): string {
  return `"${marker.name}" (unit "${marker.unit}", time in "${marker.timeUnit}", transform ${marker.transform})`;
}

/** Observations of each individual outside the times that the model was trained on, [m]. */
export function countOutsideTimes(model: Pick<ModelBase, "markers">, cohort: Cohort): Int32Array {
  const counts = new Int32Array(numIndividuals(cohort));
  for (const { offsets, times, marker } of cohort.markers) {
    const own = model.markers.length === 1 ? model.markers[0] : model.markers[markerIndex(model, marker.name)];
    const [first, last] = basisDomain(own.basis);
    for (let i = 0; i < counts.length; i++) {
      for (let j = offsets[i]; j < offsets[i + 1]; j++) {
        if (times[j] < first || times[j] > last) counts[i]++;
      }
    }
  }
  return counts;
}
