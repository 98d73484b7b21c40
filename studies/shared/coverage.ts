/** How many later visits bands hold, told by individuals: the tables of docs/studies/conformal.md. */
import type { ForecastBand } from "../../packages/core/src/evaluate/forecast.ts";
import { calibrationFactors, classOf, type ForecastCalibration } from "../../packages/core/src/models/conformal.ts";

/** First visits known of the columns. */
export const KNOWN_FROM = [1, 2, 3, 5, 9];
export const KNOWN_WORDS = ["1", "2", "3 to 4", "5 to 8", "9 or more"];
export const TIME_WORDS = ["soon", "later", "late"];
/** Fewer individuals than these are not told; fewer than those with their number. */
const [FEWEST, FEW] = [5, 40];

/** One forecast of a visit. */
export interface Judged {
  readonly individual: string;
  /** Classes of visits known and of time since the last of them. */
  readonly known: number;
  readonly horizon: number;
  readonly own: boolean;
  readonly calibrated: boolean;
  /** Width of the calibrated band by that of the model's own. */
  readonly width: number;
}

/** The bands of a fold held against what came. */
export function judge(calibration: ForecastCalibration, bands: readonly ForecastBand[], fold: number): Judged[] {
  return bands.map(({ individual, known, horizon, value, median, lower, upper }) => {
    const factors = calibrationFactors(calibration, known, horizon, 0.9);
    const [down, up] = [Math.max(factors.lower, 0) * (median - lower), Math.max(factors.upper, 0) * (upper - median)];
    return {
      individual: `${fold} ${individual}`,
      known: classOf(KNOWN_FROM, known),
      horizon: classOf(calibration.horizonFrom, horizon),
      own: value >= lower && value <= upper,
      calibrated: value >= median - down && value <= median + up,
      width: (down + up) / (upper - lower),
    };
  });
}

/** The mean over individuals of their shares of visits inside, in percent, with its standard error. */
export interface Coverage {
  readonly numIndividuals: number;
  readonly own: number;
  readonly calibrated: number;
  readonly calibratedError: number;
}

export function coverageOf(judged: readonly Judged[]): Coverage {
  const visits = new Map<string, Judged[]>();
  for (const one of judged) {
    const list = visits.get(one.individual);
    if (list === undefined) visits.set(one.individual, [one]);
    else list.push(one);
  }
  const n = visits.size;
  const told = (inside: (j: Judged) => boolean) => {
    const shares = [...visits.values()].map((list) => (100 * list.filter(inside).length) / list.length);
    const mean = shares.reduce((sum, s) => sum + s, 0) / n;
    const error = Math.sqrt(shares.reduce((sum, s) => sum + (s - mean) ** 2, 0) / (n - 1) / n);
    // Where nothing is outside: that of a share of 90%, of one visit each.
    return [mean, error > 0 ? error : 30 / Math.sqrt(n)] as const;
  };
  const [own] = told((j) => j.own);
  const [calibrated, calibratedError] = told((j) => j.calibrated);
  return { numIndividuals: n, own, calibrated, calibratedError };
}

/** The cells of a cohort's row: all, by visits known, by time. */
export function marginsOf(judged: readonly Judged[]): Coverage[] {
  return [
    coverageOf(judged),
    ...KNOWN_FROM.map((_, k) => coverageOf(judged.filter(({ known }) => known === k))),
    ...TIME_WORDS.map((_, h) => coverageOf(judged.filter(({ horizon }) => horizon === h))),
  ];
}

export const isTold = ({ numIndividuals }: Coverage) => numIndividuals >= FEWEST;

/** "own, calibrated (its standard error)", and of how many where they are few. */
export function coverageCell(coverage: Coverage): string {
  if (!isTold(coverage)) return "";
  const { own, calibrated, calibratedError, numIndividuals } = coverage;
  const of = numIndividuals < FEW ? ` of ${numIndividuals}` : "";
  return `${own.toFixed(0)}, ${calibrated.toFixed(0)} (${calibratedError.toFixed(1)})${of}`;
}

/** How many of the cells are as near to 90% as asked, and how many as chance lets expect. */
export function countCells(cells: readonly Coverage[]): string {
  const told = cells.filter(isTold);
  const near = told.filter(({ calibrated }) => Math.round(calibrated) >= 88 && Math.round(calibrated) <= 92);
  const off = told.filter(({ calibrated, calibratedError }) => Math.abs(calibrated - 90) > 2 * calibratedError);
  const below = off.filter(({ calibrated }) => calibrated < 90);
  return `${near.length} of ${told.length} are 88 to 92%, rounded; further from 90% than two of their standard errors: ${off.length}, of these below it: ${below.length}`;
}
