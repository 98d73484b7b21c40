/**
 * What a page for one patient is made of: a model, and where the run behind it is at hand the regions of its groups and how long people
 * were followed where. Nothing of single individuals: groups of few are left out, and shares are of the others; times of follow-up stand
 * on a lattice of places, each that of eleven similar people, rounded. As a file it is JSON with the model file inside; Ξ of each map, which is symmetric and
 * most of the file, is kept as its lower triangle, and the model's own checksum holds for what is put together again. The triangles of three
 * markers and more would make a page too large to be sent with a paper: theirs are whole hundred-millionths. Ξ is whitened, its
 * eigenvalues are at most 1, and rounding moves the variance of a course by less than n 10⁻⁸ of the map's own, n rows each.
 */
import { basisDomain } from "../basis/bspline.ts";
import { DtmError } from "../errors.ts";
import {
  type GaussianMixture,
  readMixture,
  takeGaussians,
  type WrittenMixture,
  writeMixture,
} from "../map/clusters/gaussian-mixture.ts";
import { LEAST_FOLLOWED, similarFollowedTo } from "../models/follow-up.ts";
import type { TrajectoryModel } from "../models/model.ts";
import type { Places } from "../models/placement.ts";
import { loadModel, saveModel } from "../models/save.ts";

export interface PatientGroup {
  readonly letter: string;
  readonly name: string;
}

export interface PatientModel {
  readonly model: TrajectoryModel;
  /** Groups whose regions are known; empty without any. */
  readonly groups: readonly PatientGroup[];
  readonly regions: GaussianMixture | null;
  /** Last time to which eleven similar people were followed, at places of a lattice; null where that is not known. */
  readonly followed: FollowedTimes | null;
}

/** What a page says of its model, as whoever makes it says it; all may be left out. */
export interface PageAbout {
  readonly title?: string;
  /** Who the people were: "Scleroderma Lung Study". */
  readonly cohort?: string;
  /** When they were seen: "2000 to 2005". */
  readonly years?: string;
  readonly citation?: string;
  /** Intended use, in the place of the usual words. */
  readonly use?: string;
  /** Version of the program that made the page. */
  readonly version?: string;
  /** Pages of other models beside this one. */
  readonly others?: readonly { readonly name: string; readonly href: string }[];
}

export interface FollowedTimes {
  /** Places along each axis, in standard deviations. */
  readonly axis: readonly number[];
  /** Times are first + step · steps, by place, the last axis fastest, [n^q]. */
  readonly first: number;
  readonly step: number;
  readonly steps: readonly number[];
}

/** What a page for patients takes of the run behind a model. */
export interface PatientRun {
  readonly places?: Pick<Places, "location" | "lastTime" | "mapDimension">;
  readonly groups?: PatientGroups;
}

/** The groups of a run. */
export interface PatientGroups {
  readonly groups: readonly (PatientGroup & { readonly size: number })[];
  /** The Gaussians of the grouping (`Groups.regions`), and how many individuals they were made from. */
  readonly regions: GaussianMixture;
  readonly clustered: number;
}

const FORMAT = "disease-trajectory-patient";
const AXIS = Array.from({ length: 21 }, (_, k) => (k - 10) / 4);
/** Times are told to this share of the span. */
const ROUNDED_TO = 1 / 20;

/** What a page for patients may hold of a model and the run behind it. */
export function patientModel(model: TrajectoryModel, { places, groups }: PatientRun = {}): PatientModel {
  const told = groups === undefined ? [] : toldGroups(groups);
  return {
    model,
    groups: told.map((g) => ({ letter: groups!.groups[g].letter, name: groups!.groups[g].name })),
    regions: told.length === 0 ? null : takeGaussians(groups!.regions, told),
    followed: places === undefined ? null : followedTimes(model, places),
  };
}

/** Groups of eleven or more whose Gaussian was made from as many: members who joined by their posterior do not hide those. */
function toldGroups({ groups, regions, clustered }: PatientGroups): number[] {
  const from = (g: number) => Math.round(regions.weights[g] * clustered);
  return groups.flatMap(({ size }, g) => (Math.min(size, from(g)) >= LEAST_FOLLOWED ? [g] : []));
}

function followedTimes(model: TrajectoryModel, places: NonNullable<PatientRun["places"]>): FollowedTimes | null {
  const q = model.mapDimension;
  if (q > 2) return null;
  const until = similarFollowedTo(places, LEAST_FOLLOWED);
  const [first, last] = basisDomain(model.markers[0].basis);
  const step = ROUNDED_TO * (last - first);
  const at = q === 1 ? AXIS.map((x) => [x]) : AXIS.flatMap((x) => AXIS.map((y) => [x, y]));
  return { axis: AXIS, first, step, steps: at.map((place) => Math.floor((until(place) - first) / step)) };
}

/** The last time to which eleven people like one at a place [q] were followed, by the nearest place of the lattice; NaN if unknown. */
export function followedAt({ followed }: Pick<PatientModel, "followed">, location: ArrayLike<number>): number {
  if (followed === null) return Number.NaN;
  const { axis, first, step, steps } = followed;
  const nearest = (x: number) =>
    Math.min(axis.length - 1, Math.max(0, Math.round((x - axis[0]) / (axis[1] - axis[0]))));
  return first + step * steps[Array.from(location).reduce((at, x) => at * axis.length + nearest(x), 0)];
}

type Packed = { readonly markers?: { map?: { inducingCovariance?: unknown } }[] };

/** Numbers of triangles that are kept to their last bit, and the steps of those of larger models. */
const KEPT_EXACT = 20_000;
const ROUNDED = 1e8;

/** The model as the page will hold it: itself, or with Ξ rounded where it is large. */
function forPage(model: TrajectoryModel): { readonly held: TrajectoryModel; readonly scale: number } {
  if (model.kind !== "dtm") return { held: model, scale: 1 };
  const numbers = model.markers.reduce((sum, { map }) => sum + map.inducingCovariance.length / 2, 0);
  if (numbers <= KEPT_EXACT) return { held: model, scale: 1 };
  // No −0, which a file does not tell from 0.
  const round = (Xi: Float64Array) => Xi.map((v) => Math.round(v * ROUNDED) / ROUNDED + 0);
  const markers = model.markers.map((part) => ({
    ...part,
    map: { ...part.map, inducingCovariance: round(part.map.inducingCovariance) },
  }));
  return { held: { ...model, markers }, scale: ROUNDED };
}

/** The file of a patient model. */
export function writePatientModel({ model, groups, regions, followed }: PatientModel): string {
  const { held, scale } = forPage(model);
  const file = JSON.parse(saveModel(held)) as { readonly model: Packed };
  eachCovariance(file.model, (numbers) => {
    const n = Math.sqrt(numbers.length);
    const triangle = numbers.filter((_, e) => e % n <= Math.floor(e / n));
    return scale === 1 ? triangle : triangle.map((v) => Math.round(v * scale));
  });
  return JSON.stringify({
    format: FORMAT,
    ...(scale !== 1 && { scale }),
    model: file,
    groups,
    regions: regions && writeMixture(regions),
    followed,
  });
}

/**
 * The patient model of its file, or of a model file alone.
 * @throws DtmError as `loadModel` does.
 */
export function readPatientModel(text: string): PatientModel {
  if (!text.slice(0, 200).includes(`"${FORMAT}"`)) return patientModel(loadModel(text));
  let file: { model: { readonly model: Packed }; readonly scale?: number } & Omit<PatientModel, "model" | "regions"> & {
      readonly regions: WrittenMixture | null;
    };
  try {
    file = JSON.parse(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new DtmError("bad-json", `Expected the data of a page for patients, received text that is not: ${reason}.`);
  }
  const { groups, regions, followed, scale = 1 } = file;
  eachCovariance(file.model.model, (triangle) => {
    const n = Math.round(Math.sqrt(2 * triangle.length + 0.25) - 0.5);
    const at = (a: number, b: number) => triangle[(a * (a + 1)) / 2 + b] / scale;
    return Array.from({ length: n * n }, (_, e) => {
      const [a, b] = [Math.floor(e / n), e % n];
      return at(Math.max(a, b), Math.min(a, b));
    });
  });
  return {
    model: loadModel(JSON.stringify(file.model)),
    groups,
    regions: regions && readMixture(regions),
    followed,
  };
}

/** Puts other numbers in the place of each map's covariance. */
function eachCovariance({ markers = [] }: Packed, change: (numbers: readonly number[]) => number[]): void {
  for (const { map } of markers) {
    if (Array.isArray(map?.inducingCovariance)) map.inducingCovariance = change(map.inducingCovariance as number[]);
  }
}
