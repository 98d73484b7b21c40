/**
 * Letters, names and summaries of groups, by rule from their median courses (docs/math/groups.md §5). Letters run from
 * the highest to the lowest last value. A name says the shape of the course (shape.ts) in two to four words, a summary the numbers:
 *   stable high · 97 to 95 by year 8          steady decline · 85 to 45 by year 5
 *   late decline · 95, 94 at year 5, 72 by year 9          dip and recovery · early decline
 * and the same with "rise" and "peak"; "slow" in the place of "steady" where the change is below the noise. "Recovery" ("return" where it is not known which side is better) is a way back of at
 * least half of what was lost. High and low are among the groups of the set. Every number is one of the course at the time named
 * with it, rounded to the leading digit of the noise there, or to two digits; a rate is the change from end to end over the
 * time between. Two groups of one set never share a name: levels are added until names differ.
 */
import { applyTransform, type Transform, undoTransform } from "../../cohort/marker.ts";
import { checkOption, DtmError } from "../../errors.ts";
import { withoutZeros } from "../../numeric/decimals.ts";
import { courseAt } from "./courses.ts";
import { roundTimeStep } from "./followed.ts";
import { isSlow, type Piece, piecesOf, slopeOf } from "./shape.ts";

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
  /** The course in numbers: values at the ends and at the turn. */
  readonly summary: string;
  /** The rate from end to end of a course that moves without a turn, else "". */
  readonly rate: string;
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
    const [summary, rate] = summarize(course, pieces, options);
    const choices = phrasings(course, pieces, letter, levelWord(rank, courses.length), options);
    return { group, letter, pieces, summary, rate, choices, detail: 0 };
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
function shapeOf({ times, values }: GroupCourse, options: NameOptions): Piece[] {
  const { noise, transform = "identity" } = options;
  const y = Float64Array.from(values, (v) => applyTransform(transform, v));
  const bad = y.findIndex((v) => !Number.isFinite(v));
  if (bad >= 0) {
    throw new DtmError(
      "transform-domain",
      `nameGroups: expected values that ${transform} can take, received ${values[bad]}. Give values in the marker's unit.`,
    );
  }
  if (times.length === 1) return [];
  const step = roundTimeStep(times[times.length - 1] - times[0]);
  return piecesOf(times, y, noise, { step, toValue: (at) => original(at, options) });
}

/** Where a last value stands among those of all groups, from the highest (0) on. */
function levelWord(rank: number, numGroups: number): string {
  if (numGroups === 1) return "course";
  const share = rank / (numGroups - 1);
  return share <= 1 / 3 ? "high" : share >= 2 / 3 ? "low" : "middle";
}

/** Ways to say a course, each with more detail than the one before; the last holds the letter and is unique. */
function phrasings(
  course: GroupCourse,
  pieces: readonly Piece[],
  letter: string,
  level: string,
  options: NameOptions,
): string[] {
  const { values } = course;
  const { plain, levelled } = phrase(pieces, level, options);
  const [a, b] = pieces;
  const only = b === undefined && (a === undefined || a.direction === "stable");
  // What is stable has one level; of what moves the last value is told.
  const number = (digits: number) => {
    const { value } = speaker(course, options, digits);
    const at = only && a !== undefined ? original(0.5 * (a.low + a.high), options) : values[values.length - 1];
    return `${levelled} ${only ? "near" : "to"} ${value(at)}`;
  };
  return [plain, number(0), number(1), number(2), `${plain} (${letter})`];
}

/** The words of the shape, and those before a level: "late decline", "late decline" (to 72). */
function phrase(
  [a, b]: readonly Piece[],
  level: string,
  { better, noise }: NameOptions,
): { readonly plain: string; readonly levelled: string } {
  const same = (plain: string) => ({ plain, levelled: plain });
  if (a === undefined) return { plain: "short follow-up", levelled: "short follow-up" };
  const noun = ({ direction }: Piece) => (direction === "falls" ? "decline" : "rise");
  const moves = ({ direction }: Piece) => direction === "falls" || direction === "rises";
  if (b === undefined) {
    if (a.direction === "stable") return { plain: `stable ${level}`, levelled: "stable" };
    if (a.direction === "varies") return { plain: "up and down", levelled: "unsteady" };
    return same(`${isSlow(a, noise) ? "slow" : "steady"} ${noun(a)}`);
  }
  if (moves(a) && b.direction === a.direction) {
    return same(`${Math.abs(slopeOf(b)) > Math.abs(slopeOf(a)) ? "late" : "early"} ${noun(a)}`);
  }
  // Early and late are the first and the second half.
  const middle = 0.5 * (a.from + b.to);
  if (moves(a) && b.direction === "stable" && a.to <= middle) return same(`early ${noun(a)}`);
  if (a.direction === "stable" && moves(b) && a.to >= middle) return same(`late ${noun(b)}`);
  if (!moves(a) || !moves(b)) {
    const word = (piece: Piece) => (moves(piece) ? noun(piece) : piece.direction === "stable" ? "stable" : "unsteady");
    return { plain: `${word(a)}, then ${word(b)}`, levelled: `${word(a)}, ${word(b)}` };
  }
  // There and back: by how much of the way, and whether that is known to be good.
  const share = Math.abs(b.end - b.start) / Math.abs(a.end - a.start);
  const turn = a.direction === "falls" ? "dip" : "peak";
  if (share >= 2) return { plain: `${turn}, then ${noun(b)}`, levelled: `${turn}, ${noun(b)}` };
  if (share < 0.5) return { plain: `${noun(a)}, partly back`, levelled: `${noun(a)}, back` };
  const improves = better === (b.direction === "rises" ? "high" : "low");
  return { plain: `${turn} and ${improves ? "recovery" : "return"}`, levelled: `${turn}, back` };
}

/** Values at the ends and at the turn, and of a course that moves without one its rate from end to end. */
function summarize(course: GroupCourse, pieces: readonly Piece[], options: NameOptions): [string, string] {
  const { value, rate, when } = speaker(course, options, 0);
  const said = (t: number) => value(courseAt(course.times, course.values, t));
  const [a, b] = pieces;
  if (a === undefined) {
    const [time] = Array.from(course.times);
    return [`${value(course.values[0])} at ${when(time)}; fewer than half are followed longer`, ""];
  }
  const first = a.from === 0 ? said(a.from) : `${said(a.from)} at ${when(a.from)}`;
  if (b !== undefined) return [`${first}, ${said(a.to)} at ${when(a.to)}, ${said(b.to)} by ${when(b.to)}`, ""];
  const moves = a.direction === "falls" || a.direction === "rises";
  return [`${first} to ${said(a.to)} by ${when(a.to)}`, moves ? rate(a) : ""];
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
  const short = withoutZeros(rounded);
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
