/** Studies of two groups, the first named the cases: how each is seen, and by how much the values of cases are moved. */
import { type Cohort, makeCohort } from "../../packages/core/src/cohort/cohort.ts";
import type { Random } from "../../packages/core/src/numeric/random.ts";
import {
  COMES_WHEN_BAD,
  LEAVES_WHEN_BAD,
  OWN_RATE,
  type openLaw,
  type Planned,
  RETURNS_SOON,
  type Seen,
} from "./seen.ts";

export interface Design {
  readonly name: string;
  readonly cases: Seen;
  readonly controls: Seen;
  /** Added to the values of cases. */
  readonly shift?: number;
}

const between =
  (from: number, to: number) =>
  (random: Random): number =>
    from + (to - from) * random.uniform();
export const usual: Planned = { visits: 4, time: between(0, 10) };
const [rarely, often] = [2, 8].map((visits): Planned => ({ ...usual, visits }));

export const DESIGNS: readonly Design[] = [
  { name: "visits alike", cases: usual, controls: usual },
  { name: "2 against 8 visits", cases: rarely, controls: often },
  { name: "8 against 2 visits", cases: often, controls: rarely },
  { name: "follow-up 4 against 10 years", cases: { ...usual, time: between(0, 4) }, controls: usual },
  { name: "follow-up 7 against 10 years", cases: { ...usual, time: between(0, 7) }, controls: usual },
  { name: "entry at year 5 against 0", cases: { ...usual, time: between(5, 10) }, controls: usual },
  {
    name: "spacing: early against late",
    cases: { ...usual, time: (random) => 10 * random.uniform() ** 2 },
    controls: { ...usual, time: (random) => 10 * (1 - random.uniform() ** 2) },
  },
  { name: "power: level -5, visits alike", cases: usual, controls: usual, shift: -5 },
  { name: "power: level -8, 8 against 2 visits", cases: often, controls: rarely, shift: -8 },
  { name: "informative: all return soon after a bad value", cases: RETURNS_SOON, controls: RETURNS_SOON },
  { name: "informative: cases return soon after a bad value", cases: RETURNS_SOON, controls: OWN_RATE },
  { name: "informative: cases leave after a bad value", cases: LEAVES_WHEN_BAD, controls: OWN_RATE },
  { name: "informative: all come when the value is bad", cases: COMES_WHEN_BAD, controls: COMES_WHEN_BAD },
  { name: "informative: cases come when the value is bad", cases: COMES_WHEN_BAD, controls: OWN_RATE },
  { name: "informative, power: level -5, all return soon", cases: RETURNS_SOON, controls: RETURNS_SOON, shift: -5 },
];

/** A study of m individuals drawn for it, the first `numCases` of them cases. */
export function drawTwoGroups(
  { draw, marker }: Pick<ReturnType<typeof openLaw>, "draw" | "marker">,
  { cases, controls, shift = 0 }: Design,
  m: number,
  numCases: number,
  studySeed: number,
): Cohort {
  const parts = [draw(cases, shift, numCases, studySeed), draw(controls, 0, m - numCases, studySeed + 0.5)];
  const ids = parts.flatMap((part, k) => part.ids.map((id) => `${k}-${id}`));
  const times = parts.flatMap((part) => part.times);
  return makeCohort({ ids, times, values: parts.flatMap((part) => [...part.values]) }, marker);
}
