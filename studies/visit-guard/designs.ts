/**
 * Two ways to count false alarms of an association between outcome and place:
 *   random labels: one set of places, many labellings by coin;
 *   unequal visits: many studies of two groups with the same law of courses, one seen rarely, one often.
 * How individuals are placed is handed in, so that any model can stand behind the study.
 */
import { type KdeTest, kdeTest } from "../../packages/core/src/associate/kde-test.ts";
import { type TestFeatures, wideFeatures } from "../../packages/core/src/associate/kernel-features.ts";
import { planPermutations, runPermutations, shareInterval } from "../../packages/core/src/associate/permutation.ts";
import { visitStrata } from "../../packages/core/src/associate/visit-guard.ts";
import { type Cohort, makeCohort, numIndividuals, onlyMarker } from "../../packages/core/src/cohort/cohort.ts";
import type { Marker } from "../../packages/core/src/cohort/marker.ts";
import { createRandom, type Random } from "../../packages/core/src/numeric/random.ts";

/** Individuals with their places [m,q] and what the guard needs. */
export interface PlacedIndividuals {
  readonly locations: Float64Array;
  readonly mapDimension: number;
  readonly visitCounts: ArrayLike<number>;
  readonly lastTimes: ArrayLike<number>;
}

/** Places of the individuals of a cohort in its order, [m,q]. */
export type Placer = (cohort: Cohort) => { readonly location: Float64Array; readonly mapDimension: number };

/** Draws values for the visit times of a design: every individual from one law of courses. */
export type CourseLaw = (design: Cohort, seed: number) => Cohort;

/** Studies that called a difference at the 5% level. */
export interface AlarmCount {
  readonly alarms: number;
  readonly studies: number;
  readonly share: number;
  /** 95% interval of the share. */
  readonly interval: readonly [number, number];
}

export interface StudyResult {
  readonly guarded: AlarmCount;
  readonly naive: AlarmCount;
  readonly published: AlarmCount;
}

const LEVEL = 0.05;

/** Alarms over many labellings by coin of one set of places. */
export async function randomLabelStudy(
  placed: PlacedIndividuals,
  options: {
    readonly labellings: number;
    readonly permutations: number;
    readonly share: number;
    readonly seed: number;
  },
  onStudy: (done: number) => void = () => {},
): Promise<StudyResult> {
  const random = createRandom(options.seed);
  const m = placed.visitCounts.length;
  const features = wideFeatures(placed.locations, placed.mapDimension);
  const tally = createTally();
  for (let k = 0; k < options.labellings; k++) {
    const labels = Uint8Array.from({ length: m }, () => (random.uniform() < options.share ? 1 : 0));
    await testOnce(placed, features, labels, options.permutations, options.seed + k, tally);
    onStudy(k + 1);
  }
  return summarize(tally);
}

/** Alarms over studies of two equally large groups whose courses have one law, with few and with many visits. */
export async function unequalVisitsStudy(
  law: CourseLaw,
  place: Placer,
  options: {
    readonly studies: number;
    readonly permutations: number;
    /** Individuals in each group. */
    readonly groupSize: number;
    /** Mean numbers of visits, 1 + Poisson, of the two groups. */
    readonly meanVisits: readonly [number, number];
    readonly lastYear: number;
    readonly marker: Marker;
    readonly seed: number;
  },
  onStudy: (done: number) => void = () => {},
): Promise<StudyResult> {
  const tally = createTally();
  for (let k = 0; k < options.studies; k++) {
    const random = createRandom(options.seed + k);
    const { design, labels } = drawDesign(random, options);
    const cohort = law(design, options.seed + k);
    const { location, mapDimension } = place(cohort);
    const placed = { locations: location, mapDimension, ...visitsOf(cohort) };
    const features = wideFeatures(location, mapDimension);
    await testOnce(placed, features, labels, options.permutations, options.seed + k, tally);
    onStudy(k + 1);
  }
  return summarize(tally);
}

/** Number of visits and time of the last one of each individual. */
export function visitsOf(cohort: Cohort): { readonly visitCounts: Int32Array; readonly lastTimes: Float64Array } {
  const { offsets, times } = onlyMarker(cohort);
  const m = numIndividuals(cohort);
  return {
    visitCounts: Int32Array.from({ length: m }, (_, i) => offsets[i + 1] - offsets[i]),
    lastTimes: Float64Array.from({ length: m }, (_, i) => times[offsets[i + 1] - 1]),
  };
}

/** Visit times uniform over the years, whatever the group; values are zero until a law draws them. */
function drawDesign(
  random: Random,
  options: {
    readonly groupSize: number;
    readonly meanVisits: readonly [number, number];
    readonly lastYear: number;
    readonly marker: Marker;
  },
): { readonly design: Cohort; readonly labels: Uint8Array } {
  const m = 2 * options.groupSize;
  const labels = Uint8Array.from({ length: m }, (_, i) => (i < options.groupSize ? 0 : 1));
  const ids: string[] = [];
  const times: number[] = [];
  for (let i = 0; i < m; i++) {
    const visits = 1 + random.poisson(options.meanVisits[labels[i]] - 1);
    for (let j = 0; j < visits; j++) {
      // Padded, so that the cohort keeps this order.
      ids.push(String(i).padStart(6, "0"));
      times.push(options.lastYear * random.uniform());
    }
  }
  return { design: makeCohort({ ids, times, values: new Float64Array(ids.length) }, options.marker), labels };
}

interface Tally {
  guarded: number;
  naive: number;
  published: number;
  studies: number;
}

function createTally(): Tally {
  return { guarded: 0, naive: 0, published: 0, studies: 0 };
}

async function testOnce(
  placed: PlacedIndividuals,
  features: TestFeatures,
  labels: Uint8Array,
  permutations: number,
  seed: number,
  tally: Tally,
): Promise<void> {
  const strata = visitStrata(placed.visitCounts, placed.lastTimes);
  const [guarded] = await runPermutations(planPermutations({ features: [features], labels, strata, seed }), {
    permutations,
  });
  const [naive] = await runPermutations(planPermutations({ features: [features], labels, seed }), { permutations });
  if (guarded.pValue <= LEVEL) tally.guarded++;
  if (naive.pValue <= LEVEL) tally.naive++;
  if (publishedTest(placed, labels).pValue <= LEVEL) tally.published++;
  tally.studies++;
}

function publishedTest({ locations, mapDimension: q }: PlacedIndividuals, labels: Uint8Array): KdeTest {
  const rows = (label: number) => locations.filter((_, k) => labels[Math.floor(k / q)] === label);
  return kdeTest(rows(1), rows(0), q);
}

function summarize(tally: Tally): StudyResult {
  const count = (alarms: number): AlarmCount => ({
    alarms,
    studies: tally.studies,
    share: alarms / tally.studies,
    interval: shareInterval(alarms, tally.studies, 0.95),
  });
  return { guarded: count(tally.guarded), naive: count(tally.naive), published: count(tally.published) };
}
