/**
 * How many values lie inside forecast bands, and how much of a place inside its regions, by visits known; as sums over individuals,
 * which add over fits and give shares with their standard errors.
 */
import { makeCohort, onlyMarker } from "../../packages/core/src/cohort/cohort.ts";
import { applyTransform } from "../../packages/core/src/cohort/marker.ts";
import { type Forecaster, nextVisits } from "../../packages/core/src/evaluate/forecast.ts";
import { classOf } from "../../packages/core/src/models/conformal.ts";
import { mixtureCdf } from "../../packages/core/src/models/mixture/normal-mixture.ts";
import { highestDensityNodes } from "../../packages/core/src/models/mixture/place.ts";
import type { PlacePosterior } from "../../packages/core/src/models/mixture/posterior.ts";
import { isMapModel, type TrajectoryModel } from "../../packages/core/src/models/model.ts";
import { modelStatistics } from "../../packages/core/src/models/new-individuals.ts";
import { fitLocation } from "../../packages/core/src/models/orient.ts";
import { embedPlaces, keptFor } from "../../packages/core/src/models/place.ts";
import { cholesky, solveLowerInPlace } from "../../packages/core/src/numeric/cholesky.ts";
import { dot } from "../../packages/core/src/numeric/matrix.ts";
import { createRandom } from "../../packages/core/src/numeric/random.ts";
import { chisquareQuantile } from "../../packages/core/src/numeric/special.ts";
import { KNOWN_FROM } from "./coverage.ts";
import type { Drawn } from "./families.ts";

export const LEVELS = [0.5, 0.9] as const;

/** Over individuals with n judged and s of them inside: how many, Σn, Σn², and for each level Σs, Σs², Σsn. */
export interface Inside {
  readonly individuals: number;
  readonly n: number;
  readonly nn: number;
  readonly levels: readonly { readonly s: number; readonly ss: number; readonly sn: number }[];
}

/** One judged thing: whose it is, visits known, and for each level how much of it is inside. */
interface Judgement {
  readonly individual: number;
  readonly known: number;
  readonly inside: readonly number[];
}

/** Sums of each class of visits known, in the order of `KNOWN_FROM`, and of all behind them. */
function sumInside(judged: readonly Judgement[]): Inside[] {
  return [...KNOWN_FROM, 0].map((from, k) => {
    const own = new Map<number, number[]>();
    for (const { individual, known, inside } of judged) {
      if (from > 0 && classOf(KNOWN_FROM, known) !== k) continue;
      const sums = own.get(individual) ?? new Array<number>(1 + LEVELS.length).fill(0);
      [1, ...inside].forEach((v, a) => {
        sums[a] += v;
      });
      own.set(individual, sums);
    }
    const all = [...own.values()];
    const total = (of: (sums: number[]) => number) => Number(all.reduce((sum, v) => sum + of(v), 0).toFixed(6));
    return {
      individuals: all.length,
      n: total(([n]) => n),
      nn: total(([n]) => n * n),
      levels: LEVELS.map((_, a) => ({
        s: total((v) => v[a + 1]),
        ss: total((v) => v[a + 1] ** 2),
        sn: total((v) => v[a + 1] * v[0]),
      })),
    };
  });
}

/** Next visits inside the central bands of their forecasts; a value at a bound of a band is inside. */
export function countForecasts({ cohort }: Drawn, forecaster: Forecaster): Inside[] {
  const { marker, offsets, values } = onlyMarker(cohort);
  const tasks = nextVisits(cohort);
  const forecast = forecaster(cohort, tasks);
  return sumInside(
    tasks.map(({ individual, known }, task) => {
      const at = offsets[individual] + known;
      const u = mixtureCdf(forecast(task)(at), applyTransform(marker.transform, values[at]));
      return { individual, known, inside: LEVELS.map((level) => (Math.abs(u - 0.5) <= 0.5 * level ? 1 : 0)) };
    }),
  );
}

/** Visits known of the regions, one for each class. */
const REGION_VISITS = [1, 2, 3, 6, 12];
const NUM_DRAWS = 20;

/**
 * Regions from some visits, picked at random, of individuals with many. Inside is, with `truth`, the true place; else the share of the
 * posterior from all visits, of which the one from some is the expectation if the model is right, whatever frame a fit has chosen.
 */
export function countRegions(
  model: TrajectoryModel,
  { cohort, locations }: Drawn,
  truth: boolean,
  seed: number,
  change = (posterior: PlacePosterior) => posterior,
): Inside[] {
  const { marker, offsets, times, values } = onlyMarker(cohort);
  const random = createRandom(seed);
  const q = model.mapDimension;
  const numNormals = (known: number, all: number) => (known < all ? LEVELS.length * NUM_DRAWS * q : 0);
  // Each set of visits as an individual of its own; that of all visits is the last of its individual.
  const sets = cohort.ids.flatMap((_, individual) => {
    const start = offsets[individual];
    const order = random.permutation(offsets[individual + 1] - start);
    const counts = REGION_VISITS.filter((known) => known < order.length);
    return (truth ? counts : [...counts, order.length]).map((known) => ({
      individual,
      known,
      isLast: known === order.length,
      visits: Array.from(order.slice(0, known), (j) => start + j),
      // For draws from the posterior of all visits, [levels,draws,q].
      normals: Float64Array.from({ length: isMapModel(model) ? 0 : numNormals(known, order.length) }, random.normal),
    }));
  });
  const placed = sets.flatMap(({ visits }, at) => visits.map((j) => ({ id: String(at).padStart(6, "0"), j })));
  const some = makeCohort(
    {
      ids: placed.map(({ id }) => id),
      times: placed.map(({ j }) => times[j]),
      values: placed.map(({ j }) => values[j]),
    },
    marker,
  );
  const inside = isMapModel(model) ? mapRegions() : ellipses();
  const judged = sets.flatMap(({ individual, known, isLast }, at) => {
    const all = sets.findIndex((own) => own.individual === individual && own.isLast);
    return isLast ? [] : [{ individual, known, inside: LEVELS.map((level) => inside(at, level, all, individual)) }];
  });
  return sumInside(judged);

  /** Cells of the lattice that hold a level: whether that of the true place is among them, or the weight of all visits there. */
  function mapRegions() {
    const statistics = modelStatistics(model, some);
    const { condition } = keptFor(model);
    const posteriors = sets.map((_, at) => change(condition(statistics, at)[0]));
    return (at: number, level: (typeof LEVELS)[number], all: number, individual: number) => {
      const { nodes, weights, locations: nodePlaces } = posteriors[at];
      const region = new Set(Array.from(highestDensityNodes(weights, level), (k) => nodes[k]));
      if (truth) {
        const x = fitLocation(model.orientation, locations.slice(individual * q, (individual + 1) * q), q);
        const distance = (k: number) => x.reduce((sum, v, a) => sum + (v - nodePlaces[k * q + a]) ** 2, 0);
        let nearest = 0;
        for (let k = 1; k < weights.length; k++) if (distance(k) < distance(nearest)) nearest = k;
        return region.has(nodes[nearest]) ? 1 : 0;
      }
      const later = posteriors[all];
      return later.weights.reduce((sum, w, k) => sum + (region.has(later.nodes[k]) ? w : 0), 0);
    };
  }

  /** Ellipses of Gaussian scores: the share of draws from all visits inside. */
  function ellipses() {
    const { location, covariance } = embedPlaces(model, some);
    const root = (at: number) =>
      cholesky(covariance.slice(at * q * q, (at + 1) * q * q), q, "covariance of the scores");
    return (at: number, level: (typeof LEVELS)[number], all: number) => {
      const radius = chisquareQuantile(level, q);
      const [L, M] = [root(at), root(all)];
      let count = 0;
      for (let draw = 0; draw < NUM_DRAWS; draw++) {
        const z = sets[at].normals.subarray((LEVELS.indexOf(level) * NUM_DRAWS + draw) * q).subarray(0, q);
        const off = Float64Array.from(z, (_, a) => {
          const spread = z.reduce((sum, e, b) => sum + (b <= a ? M[a * q + b] * e : 0), 0);
          return location[all * q + a] + spread - location[at * q + a];
        });
        solveLowerInPlace(L, q, off);
        if (dot(off, off) <= radius) count++;
      }
      return count / NUM_DRAWS;
    };
  }
}

/** A share with its standard error in percent: the larger of those over individuals and, from three fits on, over fits. */
export function shareInside(fits: readonly Inside[], level: number) {
  const add = (of: (inside: Inside) => number) => fits.reduce((sum, own) => sum + of(own), 0);
  const n = add((own) => own.n);
  const p = add((own) => own.levels[level].s) / n;
  const { sqrt, max } = Math;
  const rest = add(({ nn, levels }) => levels[level].ss - 2 * p * levels[level].sn + p * p * nn);
  const between = add((own) => (own.levels[level].s - p * own.n) ** 2) * (fits.length / max(1, fits.length - 1));
  const error = sqrt(max(rest, fits.length >= 3 ? between : 0, 0)) / n;
  return { percent: 100 * p, error: 100 * error, individuals: add((own) => own.individuals), count: n };
}
