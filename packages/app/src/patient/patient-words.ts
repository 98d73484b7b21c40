/** What is said about one patient: the sentence that comes first, chances, warnings. Pure. */
import { type Crossing, fitsNoCourse } from "@trajectory-maps/core/models";
import { chance, percent, trimmed } from "@trajectory-maps/report";
import { valueAtTime } from "../charts/scale.ts";
import type { MarkerWords } from "../views/map/words.ts";
import type { IndividualAnswer } from "../worker/api.ts";

/** Years that the first sentence looks ahead. */
const YEARS_AHEAD = 2;
/** A forecast shorter than this share of the span is none. */
const LEAST_AHEAD = 0.02;
/** Share of the posterior where the map says nothing that is worth a warning. */
const OUTSIDE_FROM = 0.05;

/** Up to when something is told: as long as enough similar people were followed, and no longer than the model knows. */
export function toldUntil(followed: number, words: Pick<MarkerWords, "last">): number {
  return Number.isNaN(followed) ? words.last : Math.min(followed, words.last);
}

/** The time the first sentence speaks of: two years on, or the last that is told. */
export function horizonOf(lastUsed: number, words: MarkerWords, followed = Number.NaN): number {
  const from = Number.isFinite(lastUsed) ? Math.max(lastUsed, words.first) : words.first;
  const until = Math.max(toldUntil(followed, words), Math.min(from, words.last));
  return Math.min(until, from + YEARS_AHEAD * words.year);
}

/** Whether there is a time to forecast between the last visit and the horizon. */
export function isAhead(lastUsed: number, horizon: number, words: MarkerWords): boolean {
  return !(horizon - lastUsed < LEAST_AHEAD * (words.last - words.first));
}

/** Probability that the threshold is crossed by a time, from the quantiles of the time. */
export function crossedBy({ quantiles }: Crossing, time: number): number {
  const crossed = quantiles.filter((quantile) => quantile.time !== null && quantile.time <= time);
  return crossed.at(-1)?.probability ?? 0;
}

/** From this probability to be beyond a threshold already, nothing is said of when it is crossed: on which side it is is not known. */
const NEAR_FROM = 0.1;

export function isNear({ probabilityAlready }: Crossing): boolean {
  return probabilityAlready > NEAR_FROM;
}

/** "About 65 in 100": the number of the table beneath it. */
export function inHundred(p: number): string {
  const many = Math.round(100 * p);
  if (many < 1) return "Fewer than 1 in 100";
  return many > 99 ? "More than 99 in 100" : `About ${many} in 100`;
}

interface Circumstances {
  /** Last time to which eleven similar people were followed; NaN if unknown. */
  readonly followed?: number;
  /** Values that were typed and do not count yet. */
  readonly waiting?: number;
  /** Values of this marker that count; unknown where there is one marker. */
  readonly own?: number;
}

/** What comes next, in one or two sentences. */
export function patientSentence(
  answer: IndividualAnswer,
  words: MarkerWords,
  { followed = Number.NaN, waiting = 0, own }: Circumstances = {},
): string {
  const { numUsed, lastUsed, curve, crossing } = answer;
  if (fitsNoCourse(answer)) {
    return "These values do not fit any course seen. Check them first: a forecast from them would mean nothing.";
  }
  const horizon = horizonOf(lastUsed, words, followed);
  const band = answer.calibrated ?? answer.observation;
  const at = (values: ArrayLike<number>) => valueAtTime(curve.times, values, horizon);
  const range = `between ${words.value(at(band.lower))} and ${words.value(at(band.upper))}`;
  if (numUsed === 0) {
    const values = waiting === 1 ? "1 value waits" : `${waiting} values wait`;
    const none = waiting === 0 ? "No value yet" : `No value counts yet, ${values} to be kept`;
    return `${none}: of anybody the model expects a value ${range} at ${words.when(horizon)}.`;
  }
  if (!isAhead(lastUsed, horizon, words)) {
    const end = toldUntil(followed, words);
    const why =
      end < words.last
        ? `; fewer than 11 similar people were followed beyond ${words.when(end)}`
        : ", where this model ends";
    return `Seen up to ${words.when(lastUsed)}${why}: nothing is forecast.`;
  }
  const level =
    own === 0
      ? "No value of it counts, it is expected from the other markers. "
      : numUsed === 1
        ? "One visit fixes the level, not the course. "
        : "";
  const next = `A measurement ${whenAhead(lastUsed, horizon, words)}, is expected near ${words.value(at(curve.median))}, ${range} with 90% probability.`;
  return `${level}${next}${crossing === null ? "" : ` ${crossingSentence(crossing, horizon, words)}`}`.trim();
}

function crossingSentence(crossing: Crossing, horizon: number, words: MarkerWords): string {
  const { threshold, direction } = crossing;
  const side = direction === "up" ? "above" : "below";
  if (isNear(crossing)) return `The course may be ${side} ${words.exact(threshold)} already.`;
  const verb = direction === "up" ? "rise" : "fall";
  return `${inHundred(crossedBy(crossing, horizon))} such courses ${verb} ${side} ${words.exact(threshold)} by then.`;
}

/** "2 years on, at year 4"; "at time 4.3, 2.8 later" where times have no unit. */
function whenAhead(from: number, to: number, words: MarkerWords): string {
  const n = trimmed(to - from, 1);
  if (words.timeWord === "time") return `at ${words.when(to)}, ${n} later`;
  return `${n} ${words.timeWord}${n === "1" ? "" : "s"} on, at ${words.when(to)}`;
}

/** Warnings beneath the sentence. */
export function patientCautions(
  answer: IndividualAnswer,
  { followed = Number.NaN }: Circumstances,
  words: MarkerWords,
): string[] {
  const said = answer.suspects.map(
    ({ value, time, expected, probability }) =>
      `${words.exact(value)} at ${words.when(time)} is probably wrong (P ${chance(probability)}): about ${words.value(expected)} would be expected.`,
  );
  if (fitsNoCourse(answer)) return said;
  if (answer.outsideMass > OUTSIDE_FROM) {
    said.push(
      `${percent(answer.outsideMass)} of where this patient could be lies where the map has no courses. Read the forecast with caution.`,
    );
  }
  if (answer.farCovariates.length > 0) {
    said.push(
      `Far outside the people this model was made from (${answer.farCovariates.join(", ")}): all that is said here is extrapolated.`,
    );
  }
  if (followed < words.last) {
    said.push(
      `Beyond ${words.when(followed)} fewer than 11 similar people were followed (hatched): the curve there follows the model, not data.`,
    );
  }
  return said;
}
