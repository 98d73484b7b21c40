/**
 * Individuals of a fitted map, seen in one way or another. Planned: a number of visits at times that nothing about the course decides.
 * Followed: values on a calendar of quarter years exist whether seen or not, and a rule picks the visits from them one after the other;
 * what it reads before a visit is made says whether visits can be ignored (values seen) or not (values that nobody saw).
 */
import { makeCohort, onlyMarker } from "../../packages/core/src/cohort/cohort.ts";
import { fitDtm, simulateCohort, simulateFromModel } from "../../packages/core/src/index.ts";
import { createRandom, type Random } from "../../packages/core/src/numeric/random.ts";
import { sortedQuantile } from "../../packages/core/src/numeric/select.ts";

/** Mean number of visits (1 + Poisson), and the time of a visit. */
export interface Planned {
  readonly visits: number;
  readonly time: (random: Random) => number;
}

/** Positions of the visits on the calendar, ascending, from the values there [41]; `bad` is the value below which three tenths lie. */
export interface Followed {
  readonly pick: (values: Float64Array, bad: number, random: Random) => number[];
}

export type Seen = Planned | Followed;

const QUARTERS = 41;

/** Next visit after one or two quarters where the value seen is bad, else after four to ten: visits follow what was seen. */
export const RETURNS_SOON: Followed = {
  pick: (values, bad, random) => {
    const picked: number[] = [];
    let at = random.integer(4);
    while (at < QUARTERS) {
      picked.push(at);
      at += values[at] < bad ? 1 + random.integer(2) : 4 + random.integer(7);
    }
    return picked;
  },
};

/** Comes in a quarter with probability 0.35 where the value is bad, whether or not anybody knows, else 0.05. */
export const COMES_WHEN_BAD: Followed = {
  pick: (values, bad, random) => atLeastOne(values, random, (v) => (v < bad ? 0.35 : 0.05)),
};

/** Comes in a quarter with a probability of one's own, between 0.03 and 0.3. */
export const OWN_RATE: Followed = {
  pick: (values, _, random) => {
    const own = 0.03 * 10 ** random.uniform();
    return atLeastOne(values, random, () => own);
  },
};

/** A visit each year until one with a bad value, which is the last. */
export const LEAVES_WHEN_BAD: Followed = {
  pick: (values, bad) => {
    const years = Array.from({ length: 11 }, (_, k) => 4 * k);
    const last = years.findIndex((at) => values[at] < bad);
    return last < 0 ? years : years.slice(0, last + 1);
  },
};

function atLeastOne(values: Float64Array, random: Random, chance: (value: number) => number): number[] {
  const picked = Array.from(values.keys()).filter((at) => random.uniform() < chance(values[at]));
  return picked.length > 0 ? picked : [random.integer(QUARTERS)];
}

/** The map that individuals are drawn from: fitted to 600 of the simulated PFVC cohort. */
export function openLaw(seed: number) {
  const { cohort: source } = simulateCohort("pfvc", { seed, numIndividuals: 600 });
  const model = fitDtm(source, { seed });
  const { marker, values: seen } = onlyMarker(source);
  const bad = sortedQuantile(Float64Array.from(seen).sort(), 0.3);

  /** n individuals seen in one way: values from the law, moved by `shift`; `locations` are their true places. */
  const draw = (seen: Seen, shift: number, n: number, drawSeed: number) => {
    const random = createRandom(drawSeed);
    const plan = Array.from({ length: n }, () =>
      "pick" in seen
        ? Array.from({ length: QUARTERS }, (_, k) => k / 4)
        : Array.from({ length: 1 + random.poisson(seen.visits - 1) }, () => seen.time(random)).sort((a, b) => a - b),
    );
    // Padded, so that the cohort keeps this order.
    const name = (i: number) => String(i).padStart(6, "0");
    const design = makeCohort(
      {
        ids: plan.flatMap((own, i) => own.map(() => name(i))),
        times: plan.flat(),
        values: new Float64Array(plan.flat().length),
      },
      marker,
    );
    const { cohort, locations } = simulateFromModel(model, design, { seed: drawSeed });
    const { values, offsets, times } = onlyMarker(cohort);
    const ids: string[] = [];
    const kept: number[] = [];
    for (let i = 0; i < n; i++) {
      const own = values.subarray(offsets[i], offsets[i + 1]).map((v) => v + shift);
      const picked = "pick" in seen ? seen.pick(own, bad, random) : [...own.keys()];
      for (const k of picked) {
        ids.push(name(i));
        kept.push(offsets[i] + k);
      }
    }
    return {
      ids,
      times: kept.map((k) => times[k]),
      values: Float64Array.from(kept, (k) => values[k] + shift),
      locations,
    };
  };
  return { model, marker, draw };
}
