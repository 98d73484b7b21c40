/**
 * The choices of a fit that could have been others, changed one at a time (docs/math/sensitivity.md §1): what the model is (dimension,
 * basis, mean, residual, noise, covariates), on which scale, from which seed, and which visits it saw. A variant is plain data: what is
 * refitted otherwise, and what is done to the visits.
 */
import { type Basis, basisDomain } from "../basis/bspline.ts";
import { bsplineBasis, roundKnots } from "../basis/knots.ts";
import { type Cohort, numObservations, selectIndividuals, selectVisits } from "../cohort/cohort.ts";
import { applyTransform, markerScale, TRANSFORMS, type Transform, undoSlope, valueLimits } from "../cohort/marker.ts";
import { checkOption } from "../errors.ts";
import type { TrajectoryModel } from "../models/model.ts";
import { LINEAR_SAMPLES, MANY_INDIVIDUALS, usualRestarts } from "../models/sizes.ts";
import { measurementSd, NOISE_KINDS, noiseSpread } from "../noise/noise.ts";
import { sortedQuantile } from "../numeric/select.ts";
import type { RefitChange } from "./refit.ts";

/** What may be changed. */
export const VARIANT_FAMILIES = [
  ...(["dimension", "basis", "mean", "residual", "noise", "transform"] as const),
  ...(["covariates", "singles", "tail", "shift", "seed"] as const),
] as const;
export type VariantFamily = (typeof VARIANT_FAMILIES)[number];

/** What is done to the visits before the fit. */
export type VisitChange =
  | { readonly kind: "transform"; readonly marker: number; readonly transform: Transform }
  | { readonly kind: "without-covariates" }
  | { readonly kind: "without-singles" }
  | { readonly kind: "until"; readonly time: number }
  | { readonly kind: "without-last" }
  /** By marker, on the scale of the model. */
  | { readonly kind: "shift"; readonly after: number; readonly by: readonly number[] };

export interface Variant {
  readonly family: VariantFamily;
  /** In words: "1 dimension". */
  readonly name: string;
  /** What else had to be changed with it. */
  readonly note?: string;
  readonly refit?: RefitChange;
  readonly visits?: VisitChange;
  /** Added to the seed. */
  readonly seedStep?: number;
}

export interface VariantOptions {
  /** Default all. */
  readonly families?: readonly VariantFamily[];
  /** Visits after this quantile of all times are the tail. Default 0.9. */
  readonly tail?: number;
  /** The tail is shifted by this many noise standard deviations, up and down. Default 0.5. */
  readonly shift?: number;
}

export interface Variants {
  readonly variants: readonly Variant[];
  /** What this model or these visits do not allow, with the reason. */
  readonly leftOut: readonly { readonly name: string; readonly reason: string }[];
}

/**
 * The variants of a fitted model on its cohort.
 * @throws DtmError "option" for an unknown family, or a tail that is no share.
 */
export function variantsOf(model: TrajectoryModel, cohort: Cohort, options: VariantOptions = {}): Variants {
  const { families = VARIANT_FAMILIES, tail = 0.9, shift = 0.5 } = options;
  const odd = families.find((family) => !VARIANT_FAMILIES.includes(family));
  checkOption(odd === undefined, "variantsOf", `families among ${VARIANT_FAMILIES.join(", ")}`, odd, "");
  checkOption(tail > 0 && tail < 1, "variantsOf", "a tail between 0 and 1", tail, "Use 0.9.");
  checkOption(Number.isFinite(shift) && shift > 0, "variantsOf", "a shift above 0", shift, "Use 0.5.");
  const late = tailTime(cohort, tail);
  const found: Record<VariantFamily, () => Variants> = {
    dimension: () => dimensions(model),
    basis: () => bases(model, cohort),
    mean: () => means(model),
    residual: () => residuals(model),
    noise: () => noises(model),
    transform: () => transforms(cohort),
    covariates: () =>
      cohort.covariates === undefined
        ? NONE
        : only({ family: "covariates", name: "without covariates", visits: { kind: "without-covariates" } }),
    singles: () => singles(cohort),
    tail: () => tails(model, cohort, late),
    shift: () => shifts(model, cohort, late, shift),
    seed: () => seeds(model, cohort),
  };
  const all = VARIANT_FAMILIES.filter((family) => families.includes(family)).map((family) => found[family]());
  return { variants: all.flatMap((own) => own.variants), leftOut: all.flatMap((own) => own.leftOut) };
}

/** The time after which visits are the tail: a quantile of the times of all. */
export function tailTime({ markers }: Cohort, tail: number): number {
  return sortedQuantile(Float64Array.from(markers.flatMap((series) => [...series.times])).sort(), tail);
}

const NONE: Variants = { variants: [], leftOut: [] };
const only = (...variants: Variant[]): Variants => ({ variants, leftOut: [] });
const without = (name: string, reason: string): Variants => ({ variants: [], leftOut: [{ name, reason }] });

/** The recommended map has one or two dimensions; other models as many as there are coefficients, up to three. */
function dimensions({ kind, mapDimension, markers }: TrajectoryModel): Variants {
  const most = kind === "dtm" ? 2 : Math.min(3, ...markers.map(({ basis }) => basis.numBasis));
  const others = [1, 2, 3].filter((q) => q !== mapDimension && q <= most);
  const variants = others.map(
    (q): Variant => ({
      family: "dimension",
      name: q === 1 ? "1 dimension" : `${q} dimensions`,
      refit: { mapDimension: q },
    }),
  );
  const three = kind === "dtm" ? [{ name: "3 dimensions", reason: "this kind of map has one or two" }] : [];
  return { variants, leftOut: three };
}

/** One function less, one and two more; knots at percentiles of the times, between the first and last of the model. */
function bases({ markers }: TrajectoryModel, cohort: Cohort): Variants {
  const all = [-1, 1, 2].map((step) => {
    const sizes = markers.map(({ basis }) => basis.numBasis + step);
    const name = `${sizes.join(", ")} basis functions`;
    const basis = markers.map((own, k) => basisOf(cohort, k, own.basis, sizes[k], basisDomain(own.basis)));
    if (basis.every((own) => own !== undefined)) return only({ family: "basis", name, refit: { basis } });
    return without(name, step < 0 ? "two at least" : "there are too few distinct times");
  });
  return { variants: all.flatMap((own) => own.variants), leftOut: all.flatMap((own) => own.leftOut) };
}

/** A basis of another size for the times of a marker; undefined unless it has two functions, and fewer than distinct times. */
function basisOf(
  cohort: Cohort,
  marker: number,
  { degree }: Basis,
  numBasis: number,
  domain?: readonly [number, number],
): Basis | undefined {
  const { times } = cohort.markers[marker];
  if (numBasis < 2 || numBasis >= new Set(times).size) return undefined;
  const exact = bsplineBasis(times, { numBasis, degree: Math.min(degree, numBasis - 1), ...(domain && { domain }) });
  return roundKnots(exact, domain);
}

function means({ markers }: TrajectoryModel): Variants {
  const mean = markers[0].mean.kind === "scalar" ? "spline" : "scalar";
  return only({ family: "mean", name: mean === "spline" ? "mean curve" : "constant mean", refit: { mean } });
}

const RESIDUAL_WORDS = {
  capped: "capped residual",
  none: "no residual",
  diagonal: "diagonal residual",
  full: "full residual",
} as const;

/** A free residual covariance knows no noise levels: these go with them. */
function residuals(model: TrajectoryModel): Variants {
  if (model.kind !== "dtm") return NONE;
  const own = model.markers[0].residual.kind;
  const hasLevels = model.markers.some(({ noise }) => noiseSpread(noise) > 0);
  const kinds = (["capped", "none", "diagonal", "full"] as const).filter((kind) => kind !== own);
  return only(
    ...kinds.map((residual): Variant => {
      const alone = { family: "residual", name: RESIDUAL_WORDS[residual], refit: { residual } } as const;
      if (!hasLevels || residual === "capped" || residual === "none") return alone;
      const noise = model.markers.some((part) => part.noise.correlation !== undefined) ? "serial" : "white";
      return { ...alone, refit: { residual, noise }, note: "without noise levels, which it does not know" };
    }),
  );
}

/** The map as published has white noise; a free residual covariance knows no levels. */
function noises(model: TrajectoryModel): Variants {
  const own = model.markers.map(({ noise }) => noise.kind);
  const others = NOISE_KINDS.filter((kind) => own.some((had) => had !== kind));
  const isFree = model.kind === "dtm" && /^(diagonal|full)$/.test(model.markers[0].residual.kind);
  const parts = others.map((noise) => {
    const name = `${noise} noise`;
    if (model.kind === "dtm-paper") return without(name, "the map as published has white noise");
    if (isFree && noise.startsWith("level")) return without(name, "a free residual covariance knows no noise levels");
    return only({ family: "noise", name, refit: { noise } });
  });
  return { variants: parts.flatMap((part) => part.variants), leftOut: parts.flatMap((part) => part.leftOut) };
}

/**
 * Other scales that all values of a marker have, with a density on the original one: roots of 0 have none. log1p stands for log where
 * there are zeros.
 */
function transforms(cohort: Cohort): Variants {
  const parts = cohort.markers.flatMap(({ marker, values }, k) => {
    const hasZero = values.includes(0);
    return TRANSFORMS.filter((transform) => transform !== marker.transform).map((transform) => {
      const name = `${cohort.markers.length > 1 ? `${marker.name} on the ` : ""}${transform} scale`;
      const [low, high] = valueLimits({ transform });
      if (!values.every((v) => v >= low && v <= high && Number.isFinite(applyTransform(transform, v)))) {
        return transform === "logit" ? NONE : without(name, `${marker.name} has values without it`);
      }
      if (transform === "log1p" && !hasZero) return NONE;
      if (transform === "sqrt" && hasZero) return without(name, `${marker.name} is 0 at times`);
      return only({ family: "transform", name, visits: { kind: "transform", marker: k, transform } });
    });
  });
  return { variants: parts.flatMap((part) => part.variants), leftOut: parts.flatMap((part) => part.leftOut) };
}

function singles(cohort: Cohort): Variants {
  const visits: VisitChange = { kind: "without-singles" };
  const count = cohort.ids.length - changeVisits(cohort, visits).ids.length;
  const name = "fitted without individuals seen once";
  return count === 0 ? without(name, "everybody was seen more often") : only({ family: "singles", name, visits });
}

/** Without the visits after a time, and without everybody's last; knots anew, as many as before or as the times that are left allow. */
function tails({ markers }: TrajectoryModel, cohort: Cohort, time: number): Variants {
  const cut = [
    { name: `visits until ${timeWords(markers, time)}`, visits: { kind: "until", time } },
    { name: "without everybody's last visit", visits: { kind: "without-last" } },
  ] as const;
  const parts = cut.map(({ name, visits }) => {
    const rest = changeVisits(cohort, visits);
    const sizes = markers.map(({ basis: { numBasis } }, k) =>
      Math.min(numBasis, new Set(rest.markers[k].times).size - 1),
    );
    const basis = markers.map((own, k) => basisOf(rest, k, own.basis, sizes[k]));
    const isSmaller = markers.some((own, k) => sizes[k] < own.basis.numBasis);
    const note = isSmaller ? { note: `${sizes.join(", ")} basis functions, as there are fewer distinct times` } : {};
    if (numObservations(rest) === numObservations(cohort)) return without(name, "no visit is later");
    if (!basis.every((own) => own !== undefined)) return without(name, "too few distinct times are left");
    return only({ family: "tail", name, visits, refit: { basis }, ...note });
  });
  return { variants: parts.flatMap((part) => part.variants), leftOut: parts.flatMap((part) => part.leftOut) };
}

/** Visits after a time, moved up and down by a number of noise standard deviations. */
function shifts({ markers }: TrajectoryModel, cohort: Cohort, after: number, sds: number): Variants {
  if (!cohort.markers.some(({ times }) => times.some((t) => t > after))) {
    return without(`visits after ${timeWords(markers, after)} shifted`, "no visit is later");
  }
  return only(
    ...[sds, -sds].map((step): Variant => {
      const by = markers.map(({ noise }) => step * measurementSd(noise));
      const name = `visits after ${timeWords(markers, after)} ${step > 0 ? "up" : "down"} by ${short(sds)} noise sd`;
      return { family: "shift", name, visits: { kind: "shift", after, by } };
    }),
  );
}

/** Such as "8.3 years". */
function timeWords(markers: TrajectoryModel["markers"], time: number): string {
  const unit = markers[0].marker.timeUnit;
  return `${short(time)} ${short(time) === "1" ? unit.replace(/s$/, "") : unit}`.trim();
}

const short = (x: number) => String(Number(x.toPrecision(2)));

/** Another seed, where a refit draws anything: random starts, minibatches, or the sample that linear models are fitted to. */
function seeds(model: TrajectoryModel, { ids, markers }: Cohort): Variants {
  const { many } = markers.length === 1 ? LINEAR_SAMPLES.one : LINEAR_SAMPLES.several;
  const isDrawn =
    ids.length > many ||
    (model.kind === "dtm" && (usualRestarts(ids.length) > 0 || ids.length > MANY_INDIVIDUALS)) ||
    (model.kind === "dtm-paper" && (model.schedule === "svi" || model.schedule === "paper"));
  if (!isDrawn) return without("another seed", "this fit draws nothing at random");
  return only({ family: "seed", name: "another seed", seedStep: 1 });
}

/** The cohort as a variant sees it. */
export function changeVisits(cohort: Cohort, change: VisitChange | undefined): Cohort {
  switch (change?.kind) {
    case undefined:
      return cohort;
    case "transform": {
      const { marker: which, transform } = change;
      const markers = cohort.markers.map((series, k) =>
        k === which ? { ...series, marker: { ...series.marker, transform } } : series,
      );
      return { ...cohort, markers };
    }
    case "without-covariates": {
      const { covariates: _, ...others } = cohort;
      return others;
    }
    case "without-singles": {
      const visits = (i: number) => cohort.markers.reduce((n, { offsets }) => n + offsets[i + 1] - offsets[i], 0);
      const kept = cohort.ids.flatMap((_, i) => (visits(i) > 1 ? [i] : []));
      return selectIndividuals(cohort, kept);
    }
    case "until":
      return selectVisits(cohort, (_, times) => times.filter((t) => t <= change.time).length);
    case "without-last":
      return selectVisits(cohort, (n) => n - 1);
    case "shift": {
      const markers = cohort.markers.map((series, k) => {
        const { marker, times, values, censored } = series;
        const back = markerScale(marker);
        const isMoved = (j: number) => times[j] > change.after && (censored?.[j] ?? 0) === 0;
        const moved = values.map((v, j) => (isMoved(j) ? back(applyTransform(marker.transform, v) + change.by[k]) : v));
        return { ...series, values: moved };
      });
      return { ...cohort, markers };
    }
  }
}

/** The cohort that is placed by a variant and scored: individuals seen once are left out of the fit alone. */
export function placedVisits(cohort: Cohort, change: VisitChange | undefined): Cohort {
  return change?.kind === "without-singles" ? cohort : changeVisits(cohort, change);
}

/**
 * log |dz/dy| of each individual's measured values, summed: what log p(z) of the scale of the model lacks to log p(y) of the values as
 * measured, [m]. A value beyond a limit is a probability, the same on both scales.
 */
export function logJacobians({ ids, markers }: Cohort): Float64Array {
  const sums = new Float64Array(ids.length);
  for (const { marker, offsets, values, censored } of markers) {
    for (let i = 0; i < ids.length; i++) {
      for (let j = offsets[i]; j < offsets[i + 1]; j++) {
        if ((censored?.[j] ?? 0) !== 0) continue;
        sums[i] -= Math.log(undoSlope(marker.transform, applyTransform(marker.transform, values[j])));
      }
    }
  }
  return sums;
}
