/**
 * Who would be seen when: the times of everybody of a table, or a schedule. By a schedule with times t_1 < … < t_n everybody comes at t_1; a later visit is
 * missed with probability `missing`, whatever the course, and takes place at t_k + N(0, jitter²); the individual leaves the study
 * after an exponential time of rate `dropout`, counted from t_1, and visits scheduled after that are not made.
 */
import { type Cohort, makeCohort } from "../cohort/cohort.ts";
import type { Marker } from "../cohort/marker.ts";
import { checkOption } from "../errors.ts";
import { createRandom, type Random } from "../numeric/random.ts";

export interface VisitSchedule {
  /** Scheduled times, in any order. */
  readonly times: readonly number[];
  /** Standard deviation of the time of a later visit round its schedule. Default 0. */
  readonly jitter?: number;
  /** Probability that a later visit is missed. Default 0. */
  readonly missing?: number;
  /** Rate at which individuals leave, per unit of time. Default 0. */
  readonly dropout?: number;
}

/** How many are seen, and when. */
export interface StudyDesign {
  readonly numIndividuals: number;
  /** A schedule, or the visit times of the individuals of a table; as many are taken as they are, another number is drawn from them with replacement. */
  readonly visits: VisitSchedule | readonly Float64Array[];
}

/** A design within the times of a model, and what of it lies outside: visits of a table, or scheduled ones, and individuals left with none. */
export interface FittingDesign {
  readonly design: StudyDesign;
  readonly outside: { readonly visits: number; readonly of: number; readonly individuals: number };
}

const WHERE = "study design";
/** Share of the model's times by which a visit may lie outside: it is moved to the first or last of them. */
const EDGE = 0.01;

/**
 * The design without the visits outside first..last, but for those at the very edge.
 * @throws DtmError "option" for numbers out of range, or if most of the visits are outside.
 */
export function fitDesign(
  { numIndividuals: m, visits }: StudyDesign,
  [first, last]: readonly [number, number],
): FittingDesign {
  checkOption(Number.isInteger(m) && m >= 10, WHERE, "a whole number of individuals from 10", m, "Plan for more.");
  const histories = isSchedule(visits) ? [Float64Array.from(visits.times).sort()] : visits;
  if (isSchedule(visits)) checkSchedule(visits);
  const edge = EDGE * (last - first);
  const inside = histories.map((times) => times.filter((t) => t >= first - edge && t <= last + edge));
  const count = (lists: readonly Float64Array[]) => lists.reduce((sum, { length }) => sum + length, 0);
  const [of, kept] = [count(histories), count(inside)];
  const range = `most visits between ${short(first)} and ${short(last)}, the times the model knows`;
  const remedy = "Give times in the unit of the model, or a model of a longer follow-up.";
  checkOption(2 * kept > of, WHERE, range, `${kept} of ${of} there`, remedy);
  const seen = inside.filter(({ length }) => length > 0);
  const individuals = inside.length - seen.length;
  return {
    design: isSchedule(visits)
      ? { numIndividuals: m, visits: { ...visits, times: [...inside[0]] } }
      : { numIndividuals: m === histories.length ? seen.length : m, visits: seen },
    outside: { visits: of - kept, of, individuals },
  };
}

/** The visits of a cohort of the design, within first..last; values are for somebody else to draw. The same seed gives the same visits. */
export function drawVisits(
  { numIndividuals: m, visits }: StudyDesign,
  marker: Marker,
  [first, last]: readonly [number, number],
  seed: number,
): Cohort {
  const random = createRandom(seed);
  const ids: string[] = [];
  const times: number[] = [];
  for (let i = 0; i < m; i++) {
    // Padded, so that the order of ids as text is the order of drawing.
    const id = `S${String(i + 1).padStart(6, "0")}`;
    const own = isSchedule(visits)
      ? drawScheduled(visits, random)
      : visits[m === visits.length ? i : random.integer(visits.length)];
    for (const t of own) {
      ids.push(id);
      times.push(Math.min(Math.max(t, first), last));
    }
  }
  // One half is in the domain of every transform.
  return makeCohort({ ids, times, values: new Float64Array(ids.length).fill(0.5) }, marker);
}

function isSchedule(visits: StudyDesign["visits"]): visits is VisitSchedule {
  return !Array.isArray(visits);
}

function drawScheduled({ times, jitter = 0, missing = 0, dropout = 0 }: VisitSchedule, random: Random): number[] {
  const leaves = times[0] - Math.log(1 - random.uniform()) / dropout;
  return times.flatMap((t, k) => {
    const [isMissed, late] = [random.uniform() < missing, jitter * random.normal()];
    if (k === 0) return [t];
    return isMissed || t > leaves ? [] : [t + late];
  });
}

function checkSchedule({ times, jitter = 0, missing = 0, dropout = 0 }: VisitSchedule): void {
  const are = (ok: boolean, expected: string, received: unknown) => checkOption(ok, WHERE, expected, received, "");
  are(times.length > 0 && times.every(Number.isFinite), "times of visits", times.join(", ") || "none");
  are(new Set(times).size === times.length, "times that differ", times.join(", "));
  are(jitter >= 0 && Number.isFinite(jitter), "jitter from 0", jitter);
  are(missing >= 0 && missing < 1, "a share of missed visits from 0 to below 1", missing);
  are(dropout >= 0 && Number.isFinite(dropout), "a rate of dropout from 0", dropout);
}

const short = (x: number) => String(Number(x.toPrecision(3)));
