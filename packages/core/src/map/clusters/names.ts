/**
 * Letters, names and summaries of groups, by rule from their median courses (docs/math/groups.md §5). Letters run from
 * the highest to the lowest last value. A name says the shape of the course (shape.ts), a summary the numbers:
 *   stable near 96 · 97 at year 0 to 95 at year 8          falls to 45 · 85 at year 0 to 45 at year 5, −8 a year
 *   stable, then falls · 95 at year 0, 94 at year 5, 72 at year 9          falls, then recovers · falls, faster later
 * and the same with "rises". "Recovers" (or "rises back" where it is not known which side is better) is a way back of at
 * least half of what was lost. Every number is one of the course at the time named with it, rounded to the leading digit
 * of the noise there, or to two digits; a rate is the change from end to end over the time between. Two groups of one set never share a
 * name: levels are added until names differ.
 */
import { applyTransform, type Transform, undoTransform } from "../../cohort/marker.ts";
import { checkOption, DtmError } from "../../errors.ts";
import { courseAt } from "./courses.ts";
import { roundTimeStep } from "./followed.ts";
import { type Piece, piecesOf, slopeOf } from "./shape.ts";

/**
 * The median course of a group, in the marker's own unit, from one round time to another while half of the group is
 * followed; times increase. A single time stands for a group that is hardly followed at all.
 */
export interface GroupCourse {
  readonly times: ArrayLike<number>;
  readonly values: ArrayLike<number>;
}

export interface NameOptions {
  /** Standard deviation of one measurement, on the scale of the model. */
  readonly noise: number;
  /** Scale of the model. Default "identity". */
  readonly transform?: Transform;
  /** Unit of the times, e.g. "year" or "years". Default unknown. */
  readonly timeUnit?: string;
  /** Which side is better, if that is known; only then does a name say "recovers". */
  readonly better?: "high" | "low";
}

export interface GroupName {
  /** Number of the group, as in the list of courses. */
  readonly group: number;
  readonly letter: string;
  readonly name: string;
  /** The course in numbers: values at the ends and at the turn, and the rate of a course without one. */
  readonly summary: string;
  /** The pieces the name was made from, on the scale of the model. */
  readonly pieces: readonly Piece[];
}

/**
 * Letter, name and summary of each group, in the order of the letters.
 * @throws DtmError "shape", "option" or "transform-domain".
 */
export function nameGroups(courses: readonly GroupCourse[], options: NameOptions): GroupName[] {
  const { noise } = options;
  checkOption(noise > 0, "nameGroups: noise", "a standard deviation above 0", noise, "Use the model's noise.");
  for (const [g, course] of courses.entries()) checkCourse(course, g);
  const drafts = letterOrder(courses).map((group, rank) => {
    const course = courses[group];
    const pieces = shapeOf(course, options);
    const letter = letterOf(rank);
    const summary = summarize(course, pieces, options);
    return { group, letter, pieces, summary, choices: phrasings(course, pieces, letter, options), detail: 0 };
  });
  for (let clash = true; clash; ) {
    const count = new Map<string, number>();
    for (const { choices, detail } of drafts) count.set(choices[detail], (count.get(choices[detail]) ?? 0) + 1);
    const equal = drafts.filter(({ choices, detail }) => count.get(choices[detail])! > 1);
    for (const draft of equal) draft.detail = Math.min(draft.detail + 1, draft.choices.length - 1);
    clash = equal.length > 0;
  }
  return drafts.map(({ choices, detail, ...draft }) => ({ ...draft, name: choices[detail] }));
}

/** A, B, … Z, AA, AB, … */
export function letterOf(rank: number): string {
  const tail = String.fromCharCode(65 + (rank % 26));
  return rank < 26 ? tail : letterOf(Math.floor(rank / 26) - 1) + tail;
}

/** Groups from highest to lowest last value; of equals, the one that was higher before comes first. */
function letterOrder(courses: readonly GroupCourse[]): number[] {
  const fromEnd = ({ values }: GroupCourse, j: number) => values[values.length - 1 - j];
  return [...courses.keys()].sort((a, b) => {
    const length = Math.min(courses[a].values.length, courses[b].values.length);
    for (let j = 0; j < length; j++) {
      const difference = fromEnd(courses[b], j) - fromEnd(courses[a], j);
      if (difference !== 0) return difference;
    }
    return a - b;
  });
}

/** The pieces of a course; none of a single time. */
function shapeOf({ times, values }: GroupCourse, { noise, transform = "identity" }: NameOptions): Piece[] {
  const y = Float64Array.from(values, (v) => applyTransform(transform, v));
  const bad = y.findIndex((v) => !Number.isFinite(v));
  if (bad >= 0) {
    throw new DtmError(
      "transform-domain",
      `nameGroups: expected values that ${transform} can take, received ${values[bad]}. Give values in the marker's unit.`,
    );
  }
  return times.length === 1 ? [] : piecesOf(times, y, noise, roundTimeStep(times[times.length - 1] - times[0]));
}

/** Ways to say a course, each with more detail than the one before; the last holds the letter and is unique. */
function phrasings(course: GroupCourse, pieces: readonly Piece[], letter: string, options: NameOptions): string[] {
  const plain = phrase(course, pieces, options, 0, false);
  const ends = (digits: number) => {
    const { value } = speaker(course, options, digits);
    return `${plain} (${value(course.values[0])} to ${value(course.values[course.values.length - 1])})`;
  };
  const levelled = [0, 1].map((digits) => phrase(course, pieces, options, digits, true));
  return [plain, ...levelled, ends(0), ends(1), ends(2), `${plain} (${letter})`];
}

/** The words of the shape; `levelled` adds the last level where the short form leaves it out. */
function phrase(
  { times, values }: GroupCourse,
  pieces: readonly Piece[],
  options: NameOptions,
  digits: number,
  levelled: boolean,
): string {
  const { value } = speaker({ times, values }, options, digits);
  const last = value(values[values.length - 1]);
  const level = ({ low, high }: Piece) => value(original(0.5 * (low + high), options));
  const [a, b] = pieces;
  if (a === undefined) return `near ${last}`;
  if (b === undefined) {
    if (a.direction === "stable") return `stable near ${level(a)}`;
    if (a.direction !== "varies") return `${a.direction} to ${last}`;
    return `varies between ${value(original(a.low, options))} and ${value(original(a.high, options))}`;
  }
  if (a.direction === b.direction) {
    const pace = Math.abs(slopeOf(b)) > Math.abs(slopeOf(a)) ? "faster" : "slower";
    return `${a.direction}, ${pace} later${levelled ? `, to ${last}` : ""}`;
  }
  if (b.direction === "stable") return `${a.direction}, then stable${levelled ? ` near ${level(b)}` : ""}`;
  const turns = a.direction !== "stable" && a.direction !== "varies" && b.direction !== "varies";
  const back = turns && Math.abs(b.end - b.start) >= 0.5 * Math.abs(a.end - a.start);
  const improves = options.better === (b.direction === "rises" ? "high" : "low");
  const verb = back && improves ? "recovers" : back ? `${b.direction} back` : b.direction;
  return `${a.direction}, then ${verb}${levelled ? ` to ${last}` : ""}`;
}

/** Values at the ends and at the turn; of a course that falls or rises without one its rate from end to end. */
function summarize(course: GroupCourse, pieces: readonly Piece[], options: NameOptions): string {
  const { value, rate, when } = speaker(course, options, 0);
  const at = (t: number) => `${value(courseAt(course.times, course.values, t))} at ${when(t)}`;
  const [a, b] = pieces;
  if (a === undefined) {
    const [time] = Array.from(course.times);
    return `${value(course.values[0])} at ${when(time)}; fewer than half are followed longer`;
  }
  if (b !== undefined) return [a.from, a.to, b.to].map(at).join(", ");
  const moves = a.direction === "falls" || a.direction === "rises";
  return `${at(a.from)} to ${at(a.to)}${moves ? `, ${rate(a)}` : ""}`;
}

/** How this marker's values, rates and times are written. */
function speaker({ times }: GroupCourse, options: NameOptions, digits: number) {
  const { transform = "identity" } = options;
  const timeUnit = singular(options.timeUnit ?? "");
  const per = timeUnit === "" ? "per unit of time" : `${/^[aeio]|^hour/.test(timeUnit) ? "an" : "a"} ${timeUnit}`;
  const span = times[times.length - 1] - times[0];
  return {
    value: (v: number) => showNumber(v, stepAt(v, options) / 10 ** digits),
    rate: (piece: Piece) => {
      const sign = piece.end < piece.start ? "−" : "+";
      if (transform === "log") {
        const percent = 100 * Math.abs(Math.expm1(slopeOf(piece)));
        return `${sign}${showNumber(percent, percent < 5 ? 0.1 : 1)}% ${per}`;
      }
      const [start, end] = [original(piece.start, options), original(piece.end, options)];
      const change = Math.abs(end - start) / (piece.to - piece.from);
      const step = stepAt(end, options);
      return `${sign}${showNumber(change, change < 5 * step ? step / 10 : step)} ${per}`;
    },
    // A single time is not round.
    when: (t: number) =>
      `${timeUnit === "" ? "time" : timeUnit} ${showNumber(t, span > 0 ? roundTimeStep(span) : 0.01)}`,
  };
}

/** The power of ten just below the noise at a value in the marker's unit, or two digits where that leaves fewer. */
function stepAt(value: number, { noise, transform = "identity" }: NameOptions): number {
  const y = applyTransform(transform, value);
  const spread = 0.5 * (undoTransform(transform, y + noise) - undoTransform(transform, y - noise));
  const step = leadingStep(spread > 0 ? spread : noise);
  return value === 0 ? step : Math.min(step, leadingStep(Math.abs(value)) / 10);
}

function leadingStep(x: number): number {
  return 10 ** Math.floor(Math.log10(x) + 1e-9);
}

function original(y: number, { transform = "identity" }: NameOptions): number {
  return undoTransform(transform, y);
}

/** A number rounded to a multiple of `step` (1 or 5 times a power of ten), with thousands commas and a true minus sign. */
function showNumber(x: number, step: number): string {
  const decimals = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  const rounded = (Math.round(x / step) * step).toFixed(decimals);
  // "8.0 a year" says no more than "8 a year".
  const short = rounded.includes(".") ? rounded.replace(/\.?0+$/, "") : rounded;
  const [whole, fraction] = short.replace("-", "").split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  const sign = short.startsWith("-") && /[1-9]/.test(short) ? "−" : "";
  return sign + grouped + (fraction === undefined ? "" : `.${fraction}`);
}

/** "years" and "Year" are "year". */
function singular(unit: string): string {
  return unit.trim().toLowerCase().replace(/s$/, "");
}

function checkCourse({ times, values }: GroupCourse, g: number): void {
  let ok = times.length >= 1 && times.length === values.length;
  for (let j = 0; ok && j < times.length; j++) {
    ok = Number.isFinite(times[j]) && Number.isFinite(values[j]) && (j === 0 || times[j] > times[j - 1]);
  }
  if (!ok) {
    throw new DtmError(
      "shape",
      `nameGroups: expected increasing times and as many finite values for group ${g}, ` +
        `received ${times.length} and ${values.length}. Sort the course by time and leave gaps out.`,
    );
  }
}
