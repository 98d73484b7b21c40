/**
 * Sentences about one individual, by rule (design §5): the best one or two straight pieces of the median course, then
 * how open the later course is. A course is open if its 90% interval at the last time is wider than 6 noise sd.
 */
import type { Prediction } from "@trajectory-maps/core";
import { applyTransform, undoTransform } from "@trajectory-maps/core/ingest";
import { type ForecastCoverage, fitsNoCourse, type noiseRatio } from "@trajectory-maps/core/models";
import { type Piece, piecesOf, type SuspectValue } from "@trajectory-maps/core/study";
import { capital, chance, midSentence, percent, significant } from "@trajectory-maps/report";
import { valueAtTime, valuesUpTo } from "../../charts/scale.ts";
import type { IndividualAnswer } from "../../worker/api.ts";
import type { MarkerWords } from "./words.ts";

const OPEN_FROM = 6;
/** A forecast is announced unless the last visit lies within this share of the span from the end. */
const NEAR_END = 0.05;
/** An end without anyone observed is worth a word from this share of the span on. */
const UNSEEN_FROM = 0.1;
/** Times of a course from which on it has a shape. */
const LEAST_POINTS = 3;
/** Share of the posterior where the map says nothing that is worth a warning. */
const OUTSIDE_FROM = 0.05;

/** What the shape of a course is called, e.g. "Falls about 1.5 points a year until about year 5, then steady.". */
export function courseSentence(times: ArrayLike<number>, median: ArrayLike<number>, words: MarkerWords): string {
  const y = Float64Array.from(median, (v) => applyTransform(words.transform, v));
  if (!y.every(Number.isFinite)) return "";
  const [a, b] = piecesOf(times, y, words.noise, { toValue: (z) => undo(z, words) });
  const first = piecePhrase(a, words);
  if (b === undefined) {
    const span =
      a.direction === "stable" || a.direction === "varies" ? "" : ` from ${words.when(a.from)} to ${words.time(a.to)}`;
    return `${first}${span}.`;
  }
  return `${first} until about ${whole(a.to, words)}, then ${laterPhrase(a, b, words)}.`;
}

function piecePhrase(piece: Piece, words: MarkerWords): string {
  if (piece.direction === "varies") return `Varies ${between(piece, words)}`;
  if (piece.direction === "stable") return `Steady near ${words.value(undo(0.5 * (piece.start + piece.end), words))}`;
  return `${piece.direction === "falls" ? "Falls" : "Rises"} ${speedOf(piece, words)}`;
}

function laterPhrase(a: Piece, b: Piece, words: MarkerWords): string {
  if (b.direction === "stable") return `steady near ${words.value(undo(0.5 * (b.start + b.end), words))}`;
  if (b.direction === "varies") return `varies ${between(b, words)}`;
  const verb = a.direction === b.direction ? "" : `${b.direction} `;
  return `${verb}${speedOf(b, words)}`;
}

function between({ low, high }: Piece, words: MarkerWords): string {
  return `between ${words.value(undo(low, words))} and ${words.value(undo(high, words))}`;
}

function speedOf({ start, end, from, to }: Piece, words: MarkerWords): string {
  return words.speed(undo(start, words), undo(end, words), to - from);
}

function undo(z: number, words: MarkerWords): number {
  return undoTransform(words.transform, z);
}

/** A turning point is not known to the month: whole units unless the span is short. */
function whole(t: number, words: MarkerWords): string {
  return words.last - words.first >= 5 ? words.when(Math.round(t)) : words.when(t);
}

/** Whether the end of a course is the model's alone: too few like this were followed there. */
export function isUnseen(observedUntil: number, words: MarkerWords): boolean {
  return observedUntil < words.last - UNSEEN_FROM * (words.last - words.first);
}

/**
 * All that is said about an individual, in the order it is said. A course is told as far as people like this were followed or the
 * individual itself was measured: what the model draws beyond is seen on the chart, with its caution.
 */
export function individualSentence(
  answer: IndividualAnswer,
  words: MarkerWords,
  observedUntil: number = words.last,
): string {
  const { curve, numUsed, lastUsed } = answer;
  const last = factsUntil(answer, words, observedUntil);
  const isCut = last < words.last;
  const [lower, upper] = [curve.lower, curve.upper].map((band) => valueAtTime(curve.times, band, last));
  let at = curve.times.length - 1;
  while (isCut && at > 0 && curve.times[at] > last + 1e-9) at--;
  const range = `between ${words.value(lower)} and ${words.value(upper)} at ${words.when(last)}`;
  if (numUsed === 0) return `No visit yet: anyone of this cohort, ${range}.`;
  if (fitsNoCourse(answer)) return "This does not fit any course seen.";
  const width = applyTransform(words.transform, upper) - applyTransform(words.transform, lower);
  const open = width > OPEN_FROM * words.noise || Number.isNaN(width);
  const told = isCut
    ? { times: valuesUpTo(curve.times, curve.times, last), median: valuesUpTo(curve.times, curve.median, last) }
    : curve;
  const parts = [
    numUsed === 1
      ? "One visit fixes the level, not the course."
      : at >= LEAST_POINTS
        ? courseSentence(told.times, told.median, words)
        : "",
  ];
  const isLater = last > lastUsed + 0.5 * NEAR_END * (words.last - words.first);
  if (open && (!isCut || isLater)) parts.push(`The later course is open: ${range}.`);
  else if (lastUsed < words.last - NEAR_END * (words.last - words.first)) {
    parts.push(forecastSentence(lastUsed, words));
  }
  return parts.filter((p) => p !== "").join(" ");
}

/**
 * Last time to which enough individuals like this one were followed: beyond, a course is marked as extrapolated. Between two times of
 * the course it is the end of their follow-up itself: visits at year 1 are seen to year 1, not to 0.97.
 */
export function seenTo({
  curve: { times, extrapolated },
  supportedTo = Number.NEGATIVE_INFINITY,
}: Pick<IndividualAnswer, "supportedTo"> & { readonly curve: Pick<Prediction, "times" | "extrapolated"> }): number {
  const k = extrapolated.lastIndexOf(0);
  const isBetween = k >= 0 && k + 1 < times.length && supportedTo > times[k] && supportedTo < times[k + 1];
  return isBetween ? supportedTo : times[Math.max(k, 0)];
}

export interface Cautions {
  /** Share of the cohort with a better fit per visit, among individuals with about as many visits. */
  readonly worseThan: number;
  /** Last time to which enough individuals with such a course are followed. */
  readonly observedUntil: number;
}

/** Up to when facts are told: as far as people like this were followed or the individual was measured, and no longer than the model knows. */
export function factsUntil(
  answer: Pick<IndividualAnswer, "curve" | "supportedTo" | "numUsed" | "lastUsed">,
  words: Pick<MarkerWords, "last">,
  observedUntil: number = answer.curve.support === undefined ? words.last : seenTo(answer),
): number {
  const { numUsed, lastUsed } = answer;
  const seen = Number.isNaN(observedUntil) ? words.last : observedUntil;
  return Math.min(words.last, numUsed === 0 ? seen : Math.max(seen, lastUsed));
}

/** What is said of each of several markers, with its name; that all goes on as a forecast is said once. */
export function severalSentences(
  told: readonly { readonly answer: IndividualAnswer; readonly words: MarkerWords; readonly observedUntil?: number }[],
): string {
  const parts = told.map(({ answer, words, observedUntil }) => {
    const said = individualSentence(answer, words, observedUntil);
    return { name: words.name, said, forecast: ` ${forecastSentence(answer.lastUsed, words)}` };
  });
  return parts
    .map(({ name, said, forecast }, k) => {
      const later = parts.slice(k + 1).some((part) => part.said.endsWith(forecast));
      const short = later && said.endsWith(forecast) ? said.slice(0, -forecast.length) : said;
      return `${capital(name)}: ${midSentence(short)}`;
    })
    .join(" ");
}

function forecastSentence(lastUsed: number, words: MarkerWords): string {
  return `After ${words.when(lastUsed)} this is a forecast.`;
}

/** Warnings beneath the sentence. */
export function cautionSentences(answer: IndividualAnswer, cautions: Cautions, words: MarkerWords): string[] {
  const said: string[] = [];
  if (fitsNoCourse(answer)) {
    said.push("Check the values first: group and forecast mean nothing.");
  } else if (answer.numUsed > 0 && cautions.worseThan >= 0.99) {
    said.push(
      "This individual fits none of the courses seen here (worse than 99% of the cohort). Read the forecast with caution.",
    );
  } else if (answer.outsideMass > OUTSIDE_FROM) {
    said.push("Part of this individual's place lies where the map has no courses. Read the forecast with caution.");
  }
  if (answer.farCovariates.length > 0) {
    said.push(
      `Covariates far outside those fitted (${answer.farCovariates.join(", ")}): all that is said here is extrapolated.`,
    );
  } else if (isUnseen(cautions.observedUntil, words)) {
    said.push(
      `Beyond ${words.when(cautions.observedUntil)} too few like this were observed. The curve there follows the model, not data.`,
    );
  }
  return said;
}

/** From when on a whole forecast lies beyond a limit of the marker, where its band has no width; empty if it never does. */
export function heldSentence(
  curve: Pick<Prediction, "times" | "beyondLimits" | "median"> | undefined,
  words: Pick<MarkerWords, "when" | "value">,
): string {
  const at = curve?.beyondLimits.indexOf(1) ?? -1;
  if (curve === undefined || at < 0) return "";
  return `From ${words.when(curve.times[at])} the whole forecast lies beyond the limit ${words.value(curve.median[at])}: no band.`;
}

/** Noise sd over that of the middle that is worth a word, where most individuals are nearer to it. */
const UNUSUAL_NOISE = 1.5;

/**
 * How unusually an individual was measured, from its noise sd over that of the middle with a 90% interval; empty if it was not.
 * `spread` is ω: the noise sd of two thirds lies within a factor e^{ω/2} of the middle.
 */
export function noiseSentence({ ratio, lower, upper }: ReturnType<typeof noiseRatio>, spread: number): string {
  const least = Math.max(UNUSUAL_NOISE, Math.exp(0.5 * spread));
  const irregular = lower > 1 && ratio >= least;
  if (!irregular && !(upper < 1 && ratio <= 1 / least)) return "";
  const how = irregular ? "irregularly" : "steadily";
  return `Measured unusually ${how}: noise sd ${significant(ratio, 2)} times the middle (90%: ${significant(lower, 2)} to ${significant(upper, 2)}).`;
}

/** "suspect value: expected about 78, P > 0.99". */
export function suspectSentence({ expected, probability }: SuspectValue, words: MarkerWords): string {
  return `suspect value: expected about ${words.value(expected)}, P ${chance(probability)}`;
}

/** What forecast bands hold, as measured on individuals who were not in the fit; empty where that was not measured. */
export function coverageSentence(coverage: ForecastCoverage | undefined): string {
  if (coverage === undefined) return "";
  const { own, calibrated } = coverage;
  return `The outer band of the forecast holds ${percent(calibrated)} of visits of people who were not in the fit; the model's own holds ${percent(own)}.`;
}

/** The sentence of a screen reader: "P-2269, 6 visits, late decline 98 percent, expected at year 10: 69, from 58 to 83."; the time as of facts. */
export function spokenSentence(
  id: string,
  answer: IndividualAnswer,
  groupNames: readonly string[],
  words: MarkerWords,
): string {
  const { curve, membership, numUsed } = answer;
  const until = factsUntil(answer, words);
  const at = (values: ArrayLike<number>) => words.value(valueAtTime(curve.times, values, until));
  let best = 0;
  for (let k = 1; k < membership.length; k++) if (membership[k] > membership[best]) best = k;
  const group =
    membership.length === 0 ? "" : `${groupNames[best] ?? ""} ${Math.round(100 * membership[best])} percent, `;
  return (
    `${id}, ${numUsed} ${numUsed === 1 ? "visit" : "visits"}, ${group}expected at ${words.when(until)}: ` +
    `${at(curve.median)}, from ${at(curve.lower)} to ${at(curve.upper)}.`
  );
}
