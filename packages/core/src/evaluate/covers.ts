/**
 * Whether bands of forecasts hold what they say, for the light of trust on a map (docs/math/evaluation.md §4): the model's own 90%
 * bands, which are those given unless calibrated ones are asked for. A comparison and a calibration both measure them; the worse counts.
 */
import type { ForecastCalibration } from "../models/conformal.ts";
import type { TrajectoryModel } from "../models/model.ts";
import { type HeldOutEvidence, type Judged, type KnownClass, percent, worseOf } from "./light.ts";

/** Percentages that 90% bands cover, rounded as they are told: as they should, roughly, and up to which they give false certainty. */
const GOOD = [88, 92] as const;
const ROUGH = [85, 95] as const;
const FALSE_CERTAINTY = 80;

export const COVERS_TITLE = `90% bands cover ${GOOD[0]} to ${GOOD[1]}%`;

/** Whether so narrow that a light says no. */
export function isTooNarrow(share: number): boolean {
  return Math.round(100 * share) < ROUGH[0];
}

/** The worse of what a comparison and a calibration found of the model's own bands, and what calibrated ones held. */
export function covers(model: TrajectoryModel, comparison: HeldOutEvidence | null): Judged {
  const calibrated = calibratedCoverage(model);
  const found = [inComparison(model, comparison), calibrated && inCalibration(calibrated)].filter(
    (own) => own !== null,
  );
  if (found.length === 0) {
    const sentence = "Coverage of forecasts on held-out individuals not checked yet.";
    return { state: "unknown", brief: "forecasts not checked yet", sentence };
  }
  // Too few forecasts to tell say nothing against what others tell.
  const telling = found.filter(({ state }) => state !== "unknown");
  const judged = (telling.length > 0 ? telling : found).reduce((a, b) =>
    worseOf(a.state, b.state) === a.state ? a : b,
  );
  return calibrated === null ? judged : { ...judged, sentence: `${judged.sentence} ${whereAsked(calibrated)}` };
}

function inComparison({ kind }: TrajectoryModel, comparison: HeldOutEvidence | null): Judged | null {
  const found = comparison?.models.find(({ model }) => model === kind);
  if (found === undefined) return null;
  const { p90 } = found.coverage;
  const hold = `90% bands of held-out forecasts hold ${percent(p90)} of the values that came`;
  const onAverage = coverage(p90, found.forecast?.count ?? Number.POSITIVE_INFINITY, hold, "values");
  const narrow = narrowest(found.nextVisit?.byKnown ?? []);
  return narrow === null ? onAverage : butNarrow(onAverage, narrow);
}

/** The class with the lowest share among those where bands are too narrow, by more than chance in a few classes. */
function narrowest(classes: readonly KnownClass[]): KnownClass | null {
  const isNarrow = ({ p90, count }: KnownClass) => isTooNarrow(p90) && 0.9 - p90 > 3 * Math.sqrt((0.9 * 0.1) / count);
  return classes.filter(isNarrow).reduce<KnownClass | null>((a, b) => (a !== null && a.p90 <= b.p90 ? a : b), null);
}

/** What is said of bands on average, where they are too narrow for those of whom so many visits are known. */
function butNarrow(onAverage: Judged, { from, to, count, p90 }: KnownClass): Judged {
  const visits = from === to ? `${from} ${from === 1 ? "visit is" : "visits are"}` : `${from} to ${to} visits are`;
  const where = `where ${visits} known`;
  const sentence = `${onAverage.sentence} ${`W${where.slice(1)}`} they hold ${percent(p90)} of ${count} next visits.`;
  if (onAverage.state !== "good") return { ...onAverage, state: worseOf(onAverage.state, "caution"), sentence };
  return { state: "caution", answer: `not ${where}`, brief: `90% bands cover ${percent(p90)} ${where}`, sentence };
}

function inCalibration({ own, count }: CalibratedCoverage): Judged {
  const hold = `The model's own 90% bands held ${percent(own)} of later values of individuals who were not in the fit`;
  return coverage(own, count, hold, "individuals");
}

function whereAsked({ calibrated }: CalibratedCoverage): string {
  return `Calibrated 90% bands held ${percent(calibrated)}; dtm predict gives them where they are asked for (--interval conformal).`;
}

function coverage(share: number, count: number, hold: string, unit: string): Judged {
  const rounded = Math.round(100 * share);
  const isWithin = ([low, high]: readonly [number, number]) => rounded >= low && rounded <= high;
  const brief = `90% bands cover ${percent(share)}`;
  if (isWithin(GOOD)) return { state: "good", brief, sentence: `${hold}.` };
  // Of few forecasts even bands of the right width may hold all, or much fewer than 90%.
  const mayBeChance = Math.abs(share - 0.9) <= 2 * Math.sqrt((0.9 * 0.1) / count);
  if (isWithin(ROUGH)) {
    const chance = mayBeChance ? `, which may be chance with ${count} ${unit}` : "";
    return { state: "caution", answer: "roughly", brief, sentence: `${hold}${chance}.` };
  }
  if (mayBeChance) {
    const sentence = `${hold}: of ${count} ${unit}, too few to say more.`;
    return { state: "unknown", answer: "too few to tell", brief: "too few forecasts to check bands", sentence };
  }
  const answer = `no, too ${share < 0.9 ? "narrow" : "wide"}`;
  return { state: rounded <= FALSE_CERTAINTY ? "poor" : "caution", answer, brief, sentence: `${hold}.` };
}

interface CalibratedCoverage {
  readonly own: number;
  readonly calibrated: number;
  /** Individuals behind the share of the model's own bands. */
  readonly count: number;
}

/** What the model's own bands and calibrated ones held, of several markers the shares farthest from 90%; null unless all are calibrated. */
function calibratedCoverage({ markers, calibration }: TrajectoryModel): CalibratedCoverage | null {
  const all: (ForecastCalibration | undefined)[] =
    markers.length === 1 ? [calibration] : markers.map((part) => part.calibration);
  const told = all.flatMap((part) => (part?.coverage ? [{ ...part.coverage, count: part.numIndividuals }] : []));
  if (told.length < all.length) return null;
  const farthest = (share: "own" | "calibrated") =>
    told.reduce((a, b) => (Math.abs(b[share] - 0.9) > Math.abs(a[share] - 0.9) ? b : a));
  const { own, count } = farthest("own");
  return { own, count, calibrated: farthest("calibrated").calibrated };
}
