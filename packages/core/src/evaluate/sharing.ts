/**
 * Do the markers of a map share it? (docs/math/evaluation.md §5)
 *   Δ = bound of the shared map − Σ_k bound of the map of marker k alone,
 * all with the same nodes, bases, noise, priors and starts. Δ > 0 supports one map. It is a difference of bounds in-sample, no test:
 * comparing on held-out individuals decides (several-compare.ts). A single map is fitted to those who have its marker; the others would
 * add nothing to its bound.
 */
import { type Cohort, numIndividuals, selectIndividuals } from "../cohort/cohort.ts";
import { markerCohort } from "../cohort/several-markers.ts";
import { checkOption } from "../errors.ts";
import type { DtmModel } from "../models/dtm/model.ts";
import { usualPerDimension } from "../models/dtm/settings.ts";
import { type FitControl, viewMarker } from "../models/fit.ts";
import { type FitLatticeOptions, fitDtm } from "../models/fit-models.ts";
import { embed } from "../models/place.ts";
import { measurementVariance } from "../noise/noise.ts";
import { median } from "../numeric/select.ts";

/** What is kept of the map of one marker alone. */
export interface SingleMap {
  readonly bound: number;
  readonly varianceShare: number;
  /** Mean variance of a measurement, scale of the model. */
  readonly noiseVariance: number;
  readonly converged: boolean;
}

/** One marker on a shared map. */
export interface SharedMarker {
  readonly name: string;
  readonly numIndividuals: number;
  readonly numObservations: number;
  /** Share of the variance between individuals that the shared map carries, and that of the marker's own map. */
  readonly varianceShare: number;
  readonly singleShare: number;
  readonly tau: number | null;
  readonly atCap: boolean;
  readonly singleBound: number;
  /** Mean noise variance on the shared map over that on the marker's own. */
  readonly noiseRatio: number;
  /** Whether the ratio is above `PAYS_ABOVE`: what the shared map cannot follow is taken for noise. */
  readonly pays: boolean;
  /** Median size of the 90% region of those who have the marker, placed by it alone. */
  readonly areaAlone: number;
}

export type SharingState = "supported" | "weak" | "separate";

export interface SharingVerdict {
  /** "separate": Δ is not above 0. "weak": it is, but less than `WEAK_GAIN` per individual. */
  readonly state: SharingState;
  readonly difference: number;
  readonly perIndividual: number;
  readonly sharedBound: number;
  /** Median size of the 90% region of everybody, placed by all markers. */
  readonly area: number;
  readonly markers: readonly SharedMarker[];
  /** The verdict in words, first, and what else is to be known. */
  readonly sentences: readonly string[];
}

/** Noise ratio above which a marker pays for sharing; Δ per individual below which no held-out gain is expected. */
const PAYS_ABOVE = 1.2;
const WEAK_GAIN = 0.2;

/**
 * Fits a map for each marker alone and says whether the shared one is supported.
 * @throws DtmError "option" for a map of one marker, and what the fits throw.
 * @example
 * const { state, difference, sentences } = sharingVerdict(cohort, fitDtm(cohort));
 */
export function sharingVerdict(cohort: Cohort, model: DtmModel, control: FitControl = {}): SharingVerdict {
  return judgeSharing(
    cohort,
    model,
    model.markers.map((_, k) => fitSingleMap(cohort, model, k, control)),
  );
}

/** The map of marker k alone, fitted as the shared one was. */
export function fitSingleMap(cohort: Cohort, model: DtmModel, k: number, control: FitControl = {}): SingleMap {
  const single: DtmModel = fitDtm(measured(cohort, k), { ...singleOptions(model, k), ...control });
  const [{ varianceShare, noise }] = single.markers;
  return {
    bound: single.bound,
    varianceShare,
    noiseVariance: measurementVariance(noise),
    converged: single.record.converged,
  };
}

/** Marker k of those who have it. */
export function measured(cohort: Cohort, k: number): Cohort {
  const { offsets } = cohort.markers[k];
  const having = cohort.ids.flatMap((_, i) => (offsets[i + 1] > offsets[i] ? [i] : []));
  return selectIndividuals(markerCohort(cohort, k), having);
}

/** The options of the shared fit, as its record has them, with basis and noise of marker k. */
function singleOptions(model: DtmModel, k: number): FitLatticeOptions {
  const { record, markers, mapDimension } = model;
  const { basis, noise } = markers[k];
  const { nodeStep, nodeRadius, inducingPerDimension, inducingHalfWidth, cap, ...others } = record.options as Record<
    string,
    number
  >;
  const { mean, residual, learn, priors, lengthscale, schedule, maxIterations, tolerance, restarts } =
    others as unknown as FitLatticeOptions;
  return {
    ...{ mean, residual, learn, priors, lengthscale, schedule, maxIterations, tolerance, restarts },
    seed: record.seed,
    mapDimension: mapDimension as 1 | 2,
    basis,
    noise: noise.correlation === undefined ? noise.kind : noise,
    nodes: { step: nodeStep, radius: nodeRadius },
    // A number that was not asked for is not judged by those who have the marker.
    inducing: {
      ...(inducingPerDimension === usualPerDimension(mapDimension) ? {} : { perDimension: inducingPerDimension }),
      halfWidth: inducingHalfWidth,
    },
    cap: cap ?? Number.POSITIVE_INFINITY,
  };
}

/** The verdict from the shared map and those of the markers alone. */
export function judgeSharing(cohort: Cohort, model: DtmModel, singles: readonly SingleMap[]): SharingVerdict {
  const K = model.markers.length;
  checkOption(K > 1, "sharingVerdict", "a map of several markers", `${K} marker`, "One marker shares nothing.");
  const difference = singles.reduce((rest, { bound }) => rest - bound, model.bound);
  const perIndividual = difference / numIndividuals(cohort);
  const state: SharingState = difference > 0 ? (perIndividual < WEAK_GAIN ? "weak" : "supported") : "separate";
  const markers = model.markers.map(({ marker, noise, residual, varianceShare }, k): SharedMarker => {
    const own = measured(cohort, k);
    const noiseRatio = measurementVariance(noise) / singles[k].noiseVariance;
    return {
      name: marker.name,
      numIndividuals: numIndividuals(own),
      numObservations: own.markers[0].times.length,
      varianceShare,
      singleShare: singles[k].varianceShare,
      tau: residual.tau,
      atCap: residual.atCap,
      singleBound: singles[k].bound,
      noiseRatio,
      pays: noiseRatio > PAYS_ABOVE,
      areaAlone: median(embed(viewMarker(model, k), own).area90),
    };
  });
  const unsettled = markers.filter((_, k) => !singles[k].converged).map(({ name }) => name);
  return {
    state,
    difference,
    perIndividual,
    sharedBound: model.bound,
    area: median(embed(model, cohort).area90),
    markers,
    sentences: sentences(state, difference, perIndividual, markers, unsettled),
  };
}

const VERDICTS: { readonly [state in SharingState]: string } = {
  supported: "One map is supported",
  weak: "One map is supported",
  separate: "These markers do not follow one map; use separate maps",
};

function sentences(
  state: SharingState,
  difference: number,
  perIndividual: number,
  markers: readonly SharedMarker[],
  unsettled: readonly string[],
): string[] {
  const sides = `${Math.abs(difference).toFixed(1)} ${difference < 0 ? "below" : "above"}`;
  const each = `${signed(perIndividual)} per individual`;
  const paying = markers.filter(({ pays }) => pays);
  return [
    `${VERDICTS[state]}: the bound of the shared map is ${sides} the sum of those of the markers' own maps (${each}).`,
    ...(state === "weak" ? ["A gain in held-out individuals is not to be expected of so small a difference."] : []),
    ...paying.map(
      ({ name, noiseRatio }) =>
        `${name} pays for sharing: its noise variance is ${noiseRatio.toFixed(2)} times that on its own map.`,
    ),
    ...(unsettled.length === 0 ? [] : [`The own map of ${unsettled.join(", ")} has not settled.`]),
    "This is a difference of bounds in-sample, a guide; a comparison on held-out individuals decides.",
  ];
}

function signed(x: number): string {
  return `${x < 0 ? "−" : "+"}${Math.abs(x).toFixed(2)}`;
}
