/**
 * Letters and names of groups, by rule from their median courses. Letters run from the highest to the lowest last value.
 * A name says the shape of the course (shape.ts) in the marker's unit:
 *   stable near 96 · falls 8 a year to 45 by year 5 · stable to year 5, then falls · falls to 45 by year 2, then stable ·
 *   falls to 60 by year 3, then recovers to 85 · falls, faster from year 5, to 45 by year 10
 * and the same with "rises". A way back of at least half of what was lost is "back" ("recovers" where it is known which
 * side is better). Values are rounded to the leading digit of the noise at that value, rates to one digit more where
 * that leaves a single small digit. Two groups of one set never share a name: levels are added until names differ.
 * (docs/math/groups.md §5)
 */
import { applyTransform, type Transform, undoTransform } from "../../cohort/marker.ts";
import { checkOption, DtmError } from "../../errors.ts";
import { courseAt } from "./courses.ts";
import { roundTimeStep } from "./followed.ts";
import { type Piece, piecesOf } from "./shape.ts";

/** The median course of a group, in the marker's own unit; times increase. */
export interface GroupCourse {
  readonly times: ArrayLike<number>;
  readonly values: ArrayLike<number>;
}

export interface NameOptions {
  /** Standard deviation of one measurement, on the scale of the model. */
  readonly noise: number;
  /** Scale of the model. Default "identity". */
  readonly transform?: Transform;
  /** Unit of the values; written after the first number. Default none. */
  readonly unit?: string;
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
  /** The pieces the name was made from, on the scale of the model. */
  readonly pieces: readonly Piece[];
}

/**
 * Letter and name of each group, in the order of the letters.
 * @throws DtmError "shape", "option" or "transform-domain".
 */
export function nameGroups(courses: readonly GroupCourse[], options: NameOptions): GroupName[] {
  const { noise } = options;
  checkOption(noise > 0, "nameGroups: noise", "a standard deviation above 0", noise, "Use the model's noise.");
  for (const [g, course] of courses.entries()) checkCourse(course, g);
  const order = letterOrder(courses);
  const drafts = order.map((group, rank) => {
    const pieces = shapeOf(courses[group], options);
    const letter = letterOf(rank);
    return { group, letter, pieces, choices: phrasings(courses[group], pieces, letter, options), detail: 0 };
  });
  for (let clash = true; clash; ) {
    const count = new Map<string, number>();
    for (const { choices, detail } of drafts) count.set(choices[detail], (count.get(choices[detail]) ?? 0) + 1);
    const equal = drafts.filter(({ choices, detail }) => count.get(choices[detail])! > 1);
    for (const draft of equal) draft.detail = Math.min(draft.detail + 1, draft.choices.length - 1);
    clash = equal.length > 0;
  }
  return drafts.map(({ group, letter, pieces, choices, detail }) => ({ group, letter, name: choices[detail], pieces }));
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

function shapeOf({ times, values }: GroupCourse, { noise, transform = "identity", timeUnit = "" }: NameOptions) {
  const y = Float64Array.from(values, (v) => applyTransform(transform, v));
  const bad = y.findIndex((v) => !Number.isFinite(v));
  if (bad >= 0) {
    throw new DtmError(
      "transform-domain",
      `nameGroups: expected values that ${transform} can take, received ${values[bad]}. Give values in the marker's unit.`,
    );
  }
  return piecesOf(times, y, noise, singular(timeUnit));
}

/** Ways to say a course, each with more detail than the one before; the last holds the letter and is unique. */
function phrasings(course: GroupCourse, pieces: readonly Piece[], letter: string, options: NameOptions): string[] {
  const plain = phrase(course, pieces, options, 0, false);
  const levelled = phrase(course, pieces, options, 0, true);
  const ends = (digits: number) => {
    const { value } = speaker(course, { ...options, unit: "" }, digits);
    return `${plain} (from ${value(course.values[0])} to ${value(course.values[course.values.length - 1])})`;
  };
  const exact = phrase(course, pieces, options, 1, true);
  return [plain, levelled, exact, ends(0), ends(1), ends(2), `${plain} (${letter})`];
}

/** The sentence of the shape; `levelled` adds the last level where the short form leaves it out. */
function phrase(
  course: GroupCourse,
  pieces: readonly Piece[],
  options: NameOptions,
  digits: number,
  levelled: boolean,
): string {
  const { value, rate, when } = speaker(course, options, digits);
  const { times, values } = course;
  const end = times.length - 1;
  const [a, b] = pieces;
  if (b === undefined) {
    if (a.direction === "stable") return `stable near ${value(original(0.5 * (a.start + a.end), options))}`;
    return `${a.direction} ${rate(a)} to ${value(values[end])} by ${when(times[end])}`;
  }
  if (a.direction === "stable") {
    return `stable to ${when(a.to)}, then ${b.direction}${levelled ? ` to ${value(values[end])}` : ""}`;
  }
  if (a.direction === b.direction) {
    const pace = Math.abs(b.slope) > Math.abs(a.slope) ? "faster" : "more slowly";
    return `${a.direction}, ${pace} from ${when(a.to)}, to ${value(values[end])} by ${when(times[end])}`;
  }
  const turn = `${a.direction} to ${value(courseAt(times, values, a.to))} by ${when(a.to)}`;
  if (b.direction === "stable") return `${turn}, then stable`;
  const back = Math.abs(b.end - b.start) >= 0.5 * Math.abs(a.end - a.start);
  const improves = options.better === (b.direction === "rises" ? "high" : "low");
  const verb = back && improves ? "recovers" : back ? `${b.direction} back` : b.direction;
  return `${turn}, then ${verb} to ${value(values[end])}`;
}

/** How this marker's values, rates and times are written; the unit follows the first number only. */
function speaker(course: GroupCourse, options: NameOptions, digits: number) {
  const { unit = "", transform = "identity" } = options;
  const timeUnit = singular(options.timeUnit ?? "");
  const { times } = course;
  let said = unit === "";
  const withUnit = (text: string) => {
    if (said) return text;
    said = true;
    return unit === "%" ? `${text}%` : `${text} ${unit}`;
  };
  const per = timeUnit === "" ? "per unit of time" : `${/^[aeio]|^hour/.test(timeUnit) ? "an" : "a"} ${timeUnit}`;
  const span = times[times.length - 1] - times[0];
  const timeStep = roundTimeStep(span);
  return {
    value: (v: number) => withUnit(showNumber(v, stepAt(v, options) / 10 ** digits)),
    rate: ({ from, to, start, end, slope }: Piece) => {
      if (transform === "log") {
        const percent = 100 * Math.abs(Math.expm1(slope));
        return `${showNumber(percent, percent < 5 ? 0.1 : 1)}% ${per}`;
      }
      const change = Math.abs(original(end, options) - original(start, options)) / (to - from);
      const step = stepAt(original(end, options), options);
      const shown = showNumber(change, change < 5 * step ? step / 10 : step);
      // A change of a percentage is in points; "8% a year" would be a share of the value.
      return `${unit === "%" ? `${shown} points` : withUnit(shown)} ${per}`;
    },
    when: (t: number) => `${timeUnit === "" ? "time" : timeUnit} ${showNumber(t, timeStep)}`,
  };
}

/** The power of ten just below the noise at a value in the marker's unit. */
function stepAt(value: number, { noise, transform = "identity" }: NameOptions): number {
  const y = applyTransform(transform, value);
  const spread = 0.5 * (undoTransform(transform, y + noise) - undoTransform(transform, y - noise));
  return leadingStep(spread > 0 ? spread : noise);
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
  let ok = times.length >= 2 && times.length === values.length;
  for (let j = 0; ok && j < times.length; j++) {
    ok = Number.isFinite(times[j]) && Number.isFinite(values[j]) && (j === 0 || times[j] > times[j - 1]);
  }
  if (!ok) {
    throw new DtmError(
      "shape",
      `nameGroups: expected at least two increasing times and as many finite values for group ${g}, ` +
        `received ${times.length} and ${values.length}. Sort the course by time and leave gaps out.`,
    );
  }
}
