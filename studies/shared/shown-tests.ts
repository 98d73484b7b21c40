/**
 * What a study shows of an outcome and of a time to an event, as simulated studies find it: p-values of 0.05 or less, 95% intervals
 * that leave out a value. The product's own `associate` and `landmarkSurvival` are asked, on the map that values were drawn from.
 */
import type { Cohort } from "../../packages/core/src/cohort/cohort.ts";
import { associate, embed, groupPlaces, makeCohort } from "../../packages/core/src/index.ts";
import { createRandom, type Random } from "../../packages/core/src/numeric/random.ts";
import { type LandmarkSurvival, landmarkSurvival } from "../../packages/core/src/study/landmark-survival.ts";
import { LEAVES_WHEN_BAD, OWN_RATE, type openLaw, RETURNS_SOON, type Seen } from "./seen.ts";
import { type Design, drawTwoGroups, usual } from "./two-groups.ts";

export type Law = ReturnType<typeof openLaw>;
/** By test: whether it found something; left out where it was not made. */
export type Findings = Record<string, boolean>;

const LEVEL = 0.05;
const DRAWS = 199;
const leavesOut = ({ lower, upper }: { readonly lower: number; readonly upper: number }, value: number) =>
  lower > value || upper < value;

/** The tests of one outcome in a study of m individuals, half of them cases. */
export async function studyOutcome(law: Law, design: Design, m: number, seed: number): Promise<Findings> {
  const cohort = drawTwoGroups(law, design, m, m / 2, seed);
  const outcomes = [{ name: "outcome", labels: Uint8Array.from(cohort.ids, (_, i) => (i < m / 2 ? 1 : 0)) }];
  const study = { model: law.model, placements: embed(law.model, cohort), cohort, outcomes };
  const { outcomes: found } = await associate(study, { draws: DRAWS, seed, controls: false });
  const [{ p, approximation, priorP, seenEqually, effect, predictors, representations }] = found;
  const { kde } = representations.dtm;
  const { added } = predictors;
  return {
    "whole posteriors": p <= LEVEL,
    "its approximation": approximation <= LEVEL,
    "under an estimated prior": priorP <= LEVEL,
    "and among people seen equally often": p <= LEVEL && (seenEqually?.p ?? 0) <= LEVEL,
    "AUC without ½": leavesOut(effect.auc, 0.5),
    ...(Number.isFinite(added.value) && {
      "place adds, above 0": added.lower > 0,
      "place adds, below 0": added.upper < 0,
    }),
    ...(kde && { "density test as published": kde.p <= LEVEL }),
  };
}

export interface EventDesign {
  readonly name: string;
  readonly seen: Seen;
  /** log hazard of a place along the first axis; after `turns` years its opposite. */
  readonly effect: number;
  readonly turns?: number;
  /** End of follow-up without event, given the last visit. */
  readonly end: (random: Random, lastVisit: number) => number;
}

const late = (random: Random) => 4 + 6 * random.uniform();
export const EVENT_DESIGNS: readonly EventDesign[] = [
  { name: "nothing, visits alike", seen: usual, effect: 0, end: late },
  {
    name: "nothing, half followed for 4 years",
    seen: usual,
    effect: 0,
    end: (random) => (random.uniform() < 0.5 ? 4 : 10),
  },
  { name: "nothing, visits at a rate of one's own", seen: OWN_RATE, effect: 0, end: late },
  { name: "nothing, sooner after a bad value", seen: RETURNS_SOON, effect: 0, end: late },
  { name: "nothing, leaves after a bad value", seen: LEAVES_WHEN_BAD, effect: 0, end: (_, last) => last + 0.5 },
  { name: "hazard ratio 1.65 along the first axis", seen: usual, effect: 0.5, end: late },
  { name: "the same, sooner after a bad value", seen: RETURNS_SOON, effect: 0.5, end: late },
  { name: "hazard ratio 2.7, turned round after 3.5 years", seen: usual, effect: 1, turns: 3.5, end: late },
];

const LANDMARK = 2;
const RATE = 0.12;

/** The tests of a time to an event; nothing is seen after it. */
export async function studyEvent(law: Law, design: EventDesign, m: number, seed: number): Promise<Findings> {
  const { cohort, followUp } = drawEvents(law, design, m, seed);
  const placements = embed(law.model, cohort);
  const study = { model: law.model, cohort, placements, groups: groupPlaces(law.model, placements, { numGroups: 3 }) };
  const found = await landmarkSurvival(study, "event", followUp, LANDMARK, { draws: DRAWS, seed });
  const { pooledCox, risk, predictors } = found;
  const calibration = risk?.calibration.at(-1);
  const hasEffect = design.turns === undefined;
  return {
    "whole posteriors": found.mapTest.p <= LEVEL,
    ...(found.logRank && { "log-rank of groups": found.logRank.pValue <= LEVEL }),
    "Cox, places": found.placeTest.pValue <= LEVEL,
    ...(hasEffect &&
      truthLeftOut(
        "Cox",
        found.cox.terms.map(({ lower, upper }) => ({ lower: Math.log(lower), upper: Math.log(upper) })),
        design,
      )),
    ...(hasEffect && pooledCox && truthLeftOut("Cox over draws given visits", pooledCox.visits.terms, design)),
    ...(hasEffect && pooledCox && truthLeftOut("Cox over draws given the event", pooledCox.event.terms, design)),
    ...proportional(found),
    ...(risk && { "C without ½": leavesOut(risk.concordance, 0.5), "C above ½": risk.concordance.lower > 0.5 }),
    ...(calibration && {
      "observed risk without the predicted": leavesOut(calibration.overall, calibration.overall.predicted),
    }),
    ...(Number.isFinite(predictors.added.value) && {
      "place adds, above 0": predictors.added.lower > 0,
      "place adds, below 0": predictors.added.upper < 0,
    }),
  };
}

/** Whether 95% intervals of the log hazard along the two axes leave out what it is. */
function truthLeftOut(
  name: string,
  terms: readonly { readonly lower: number; readonly upper: number }[],
  { effect }: EventDesign,
): Findings {
  return {
    [`${name}: first axis without the truth`]: leavesOut(terms[0], effect),
    [`${name}: second axis without the truth`]: leavesOut(terms[1], 0),
  };
}

function proportional({ proportionalHazards }: LandmarkSurvival): Findings {
  return Object.fromEntries(
    proportionalHazards.map(({ transform, global }) => [`proportional hazards (${transform})`, global.pValue <= LEVEL]),
  );
}

/** Individuals with true places, events by them, and visits until the end of their follow-up. */
function drawEvents(
  { draw, marker }: Law,
  { seen, effect, turns = Number.POSITIVE_INFINITY, end }: EventDesign,
  m: number,
  seed: number,
) {
  const { ids, times, values, locations } = draw(seen, 0, m, seed);
  const random = createRandom(seed + 0.25);
  const people = [...new Set(ids)].map((id, i) => {
    const own = ids.flatMap((other, k) => (other === id ? [k] : []));
    const [before, after] = [RATE * Math.exp(effect * locations[2 * i]), RATE * Math.exp(-effect * locations[2 * i])];
    const hazard = -Math.log(1 - random.uniform());
    const event = hazard < before * turns ? hazard / before : turns + (hazard - before * turns) / after;
    const last = end(random, times[own[own.length - 1]]);
    const until = Math.min(event, last, 10);
    return { until, event: event <= Math.min(last, 10) ? 1 : 0, kept: own.filter((k) => times[k] <= until) };
  });
  // Who was never seen before the end is in no cohort.
  const known = people.filter(({ kept }) => kept.length > 0);
  const kept = known.flatMap((own) => own.kept);
  const rows = { ids: kept.map((k) => ids[k]), times: kept.map((k) => times[k]), values: kept.map((k) => values[k]) };
  const cohort: Cohort = makeCohort(rows, marker);
  return { cohort, followUp: { times: known.map(({ until }) => until), events: known.map(({ event }) => event) } };
}
