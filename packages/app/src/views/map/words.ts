/** How this marker's values, changes and times are written: decimals by the noise, units in words. */

import type { TrajectoryModel } from "@trajectory-maps/core";
import { markerModel } from "@trajectory-maps/core";
import { applyTransform, type Transform, undoTransform } from "@trajectory-maps/core/ingest";
import { basisDomain, measurementSd } from "@trajectory-maps/core/models";
import { yearsPer } from "@trajectory-maps/core/study";
import { decimalsFor, fixed, powerFor, powerText, timeDecimals, timeWord, trimmed } from "@trajectory-maps/report";

export interface MarkerWords {
  readonly name: string;
  /** "FVC, % predicted". */
  readonly title: string;
  readonly transform: Transform;
  /** Standard deviation of one measurement on the scale of the model. */
  readonly noise: number;
  readonly decimals: number;
  readonly first: number;
  readonly last: number;
  /** "year", or "time" where the unit is unknown. */
  readonly timeWord: string;
  /** Length of a year in units of time; a tenth of the span where the unit is unknown. */
  readonly year: number;
  /** "a year", "a unit of time". */
  readonly per: string;
  value(v: number): string;
  /** One digit finer than a value. */
  change(v: number): string;
  values(lower: number, upper: number): string;
  changes(lower: number, upper: number): string;
  /** A number that was typed: as many decimals as it has. */
  exact(v: number): string;
  /** "7.5", trailing zeros left out. */
  time(t: number): string;
  /** "7.0", as in tables. */
  timeFixed(t: number): string;
  /** "year 7.5". */
  when(t: number): string;
  /** "1.5 points a year", "3% a year": a rate without its sign. */
  rate(from: number, to: number, duration: number): string;
  /** "about 1.5 points a year"; in less than half of a year what changed, "by about 1.7 points": nobody goes on like that for a year. */
  speed(from: number, to: number, duration: number): string;
}

/** A change within this share of a year is told as it is and not for a whole year. */
const LEAST_OF_YEAR = 0.5;

/** The words of a fitted model; `typical` is a usual value of the marker, `largest` of the size that charts reach. */
export function markerWords(model: TrajectoryModel, typical: number, largest = typical): MarkerWords {
  const part = markerModel(model);
  const { name, unit, timeUnit, transform } = part.marker;
  const noise = measurementSd(part.noise);
  const [first, last] = basisDomain(part.basis);
  const plainNoise = noiseAt(transform, typical, noise);
  // One power of ten for all values of a marker, so that they compare at a glance; on a log scale each has its own.
  const common = powerFor(transform === "identity" ? Math.max(Math.abs(largest), plainNoise) : typical);
  const powerOf = (v: number) => (transform === "identity" ? common : powerFor(v));
  const decimals = decimalsFor(plainNoise / 10 ** common);
  const word = timeWord(timeUnit);
  const known = yearsPer(word);
  const year = known === undefined ? (last - first) / 10 : 1 / known;
  const digits = timeDecimals(first, last);
  const timeFixed = (t: number) => fixed(t, digits);
  const time = (t: number) => trimmed(t, digits);
  const per = known === undefined ? "a unit of time" : "a year";
  // A transformed marker is noisier where it is larger: 358, not 357.8.
  const decimalsAt = (v: number, power: number) =>
    transform === "identity"
      ? decimals
      : Math.min(power === common ? decimals + 1 : 2, decimalsFor(noiseAt(transform, v, noise) / 10 ** power));
  const times10 = (power: number) => (power === 0 ? "" : ` × ${powerText(power)}`);
  /** A noise of 30 and more leaves tens and hundreds open: 150,000 where it is 70,000. */
  const coarse = (v: number, least = 0) => {
    const own = transform === "identity" ? plainNoise : noiseAt(transform, Math.abs(v), noise);
    const power = Math.floor(Math.log10(own / 3)) - least;
    return power > 0 && powerOf(v) === 0 ? Math.round(v / 10 ** power) * 10 ** power : v;
  };
  const mantissa = (v: number) => fixed(coarse(v) / 10 ** powerOf(v), decimalsAt(v, powerOf(v)));
  const value = (v: number) => (Number.isFinite(v) ? mantissa(v) + times10(powerOf(v)) : fixed(v, 0));
  /** On a transformed scale what is large is not known to the digit of what is small: two digits of the larger end. */
  const step = (v: number, size = Math.abs(v)) => {
    const digits = 1 - Math.floor(Math.log10(size / 10 ** common || 1));
    if (transform === "identity") {
      return plainNoise >= 30 && common === 0 ? fixed(coarse(v, 1), 0) : fixed(v / 10 ** common, decimals + 1);
    }
    const two = 10 ** -digits;
    const told = digits < 0 ? Math.round(v / 10 ** common / two) * two : v / 10 ** common;
    return fixed(told, Math.min(decimals + 1, Math.max(0, digits)));
  };
  const change = (v: number, size?: number) => step(v, size) + (Number.isFinite(v) ? times10(common) : "");
  /** "1.1 to 1.3 × 10¹²": the power once where both share it. */
  const values = (lower: number, upper: number) =>
    Number.isFinite(lower) && Number.isFinite(upper) && powerOf(lower) === powerOf(upper)
      ? `${mantissa(lower)} to ${value(upper)}`
      : `${value(lower)} to ${value(upper)}`;
  const lengthOf = known === undefined ? 1 : year;
  const percentOf = (share: number) => `${fixed(100 * share, 100 * share < 5 ? 1 : 0)}%`;
  const amountOf = (plain: number) => {
    const amount = Math.abs(plain) / 10 ** common;
    const digits = amount < 2 * 10 ** -decimals ? decimals + 1 : decimals;
    const word = unit.includes("%") ? " points" : unit === "" ? "" : ` ${unit}`;
    return `${fixed(amount, digits)}${times10(common)}${word}`;
  };
  /** What changes in a share of the time from one to the other. */
  const changeIn = (from: number, to: number, share: number) =>
    transform === "log" ? percentOf(Math.abs(Math.expm1(Math.log(to / from) * share))) : amountOf((to - from) * share);
  const rate = (from: number, to: number, duration: number) => `${changeIn(from, to, lengthOf / duration)} ${per}`;
  return {
    name,
    title: unit === "" ? name : `${name}, ${unit}`,
    transform,
    noise,
    decimals,
    first,
    last,
    timeWord: word,
    year,
    per,
    value,
    change: (v) => change(v),
    values,
    changes: (lower, upper) => {
      const size = Math.max(Math.abs(lower), Math.abs(upper));
      return `${step(lower, size)} to ${change(upper, size)}`;
    },
    exact: (v) => {
      const power = powerOf(v);
      const short = Number((v / 10 ** power).toPrecision(6));
      return fixed(short, (String(short).split(".")[1] ?? "").length) + times10(power);
    },
    time,
    timeFixed,
    when: (t) => `${word} ${time(t)}`,
    rate,
    speed: (from, to, duration) =>
      duration < LEAST_OF_YEAR * lengthOf ? `by about ${changeIn(from, to, 1)}` : `about ${rate(from, to, duration)}`,
  };
}

/** Standard deviation of one measurement near a value, in the marker's unit. */
function noiseAt(transform: Transform, value: number, noise: number): number {
  const z = applyTransform(transform, value);
  if (!Number.isFinite(z)) return noise;
  return 0.5 * (undoTransform(transform, z + noise) - undoTransform(transform, z - noise));
}
