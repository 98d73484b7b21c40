/**
 * Planted errors and what they do. One value in a hundred, at random, is multiplied by ten. Each half of the individuals is fitted; of the
 * other, which has errors too, places and forecasts are compared between visits as they were, with errors, and with suspect values removed.
 */
import { type Cohort, makeCohort, onlyMarker, selectIndividuals } from "../../packages/core/src/cohort/cohort.ts";
import { splitCohort } from "../../packages/core/src/cohort/split.ts";
import { type ForecastTask, modelForecaster, scoreForecasts } from "../../packages/core/src/evaluate/forecast.ts";
import { type SuspectValue, suspectValues } from "../../packages/core/src/evaluate/suspect-values.ts";
import { fitDtm } from "../../packages/core/src/models/fit-models.ts";
import { embed } from "../../packages/core/src/models/place.ts";
import { createRandom } from "../../packages/core/src/numeric/random.ts";

const SHARE = 0.01;
export const FACTOR = 10;

/** An observation by what it is known by. */
export const keyOf = ({ id, time }: Pick<SuspectValue, "id" | "time">) => JSON.stringify([id, time]);

interface Row {
  readonly id: string;
  readonly time: number;
  readonly value: number;
}

function rowsOf(cohort: Cohort): Row[] {
  const { offsets, times, values } = onlyMarker(cohort);
  return cohort.ids.flatMap((id, i) =>
    Array.from({ length: offsets[i + 1] - offsets[i] }, (_, k) => ({
      id,
      time: times[offsets[i] + k],
      value: values[offsets[i] + k],
    })),
  );
}

function cohortOf(rows: readonly Row[], like: Cohort): Cohort {
  const { name, transform } = onlyMarker(like).marker;
  const columns = {
    ids: rows.map(({ id }) => id),
    times: rows.map(({ time }) => time),
    values: rows.map(({ value }) => value),
  };
  // Limits of a score would tell the errors by themselves.
  return makeCohort(columns, { name, transform });
}

/** The cohort with some values multiplied, and which, with whether they stand between two other visits. */
export function plant(
  cohort: Cohort,
  seed: number,
): { readonly planted: Cohort; readonly wrong: ReadonlyMap<string, boolean> } {
  const rows = rowsOf(cohort);
  const order = createRandom(seed).permutation(rows.length);
  const chosen = new Set(order.slice(0, Math.round(SHARE * rows.length)));
  const isBetween = (j: number) => rows[j - 1]?.id === rows[j].id && rows[j + 1]?.id === rows[j].id;
  const changed = rows.map((row, j) => (chosen.has(j) ? { ...row, value: FACTOR * row.value } : row));
  return {
    planted: cohortOf(changed, cohort),
    wrong: new Map([...chosen].map((j) => [keyOf(rows[j]), isBetween(j)])),
  };
}

/** What is done with errors. */
export const TREATMENTS = ["never planted", "left in", "suspect removed"] as const;
export type Treatment = (typeof TREATMENTS)[number];

/** What errors do to held-out individuals: a number for each of them. */
export interface Harm {
  /** Of those with an error: distance of the place from that without, in standard deviations of the region without. */
  readonly shift: readonly number[];
  /** Of those with an error in the first half of the visits: mean absolute error of forecasts of the second half, as it was. */
  readonly error: readonly number[];
  /** The same of all others: what errors of the fitted individuals do. */
  readonly errorOfOthers: readonly number[];
}

/** Harm under each treatment, each half held out once. Maps that forecast are fitted under the same treatment; places are on the map without errors. */
export function harmOf(cohort: Cohort, seed: number): readonly (readonly [Treatment, Harm])[] {
  const clean = cohortOf(rowsOf(cohort), cohort);
  const { planted, wrong } = plant(cohort, seed);
  const suspect = new Set(suspectValues(planted).map(keyOf));
  const kept = rowsOf(planted).filter((row) => !suspect.has(keyOf(row)));
  const treated = { "never planted": clean, "left in": planted, "suspect removed": cohortOf(kept, cohort) };
  const isWrong = (row: Row) => wrong.has(keyOf(row));
  const halves = splitCohort(clean, 2, seed).map(({ train, test }) => {
    const affected = rowsOf(test)
      .filter(isWrong)
      .map(({ id }) => id);
    const fitted = (treatment: Treatment) =>
      fitDtm(among(treated[treatment], train.ids), { restarts: 0, noise: "white" });
    const map = fitted("never planted");
    const places = embed(map, among(clean, affected));
    return TREATMENTS.map((treatment): Harm => {
      const own = embed(map, among(treated[treatment], affected));
      const model = treatment === "never planted" ? map : fitted(treatment);
      const { cohort: given, tasks } = halvesOf(test, among(treated[treatment], test.ids));
      const scores = scoreForecasts(given, tasks, modelForecaster(model));
      const errors = tasks.map(({ individual }) => ({
        inFirst: firstHalf(test, given.ids[individual]).some(isWrong),
        error: mean(Array.from(scores.absoluteError).filter((_, e) => scores.individual[e] === individual)),
      }));
      return {
        shift: own.ids.map((id, i) => distance(places, places.ids.indexOf(id), own, i)),
        error: errors.filter(({ inFirst }) => inFirst).map(({ error }) => error),
        errorOfOthers: errors.filter(({ inFirst }) => !inFirst).map(({ error }) => error),
      };
    });
  });
  return TREATMENTS.map((treatment, k) => {
    const all = (of: keyof Harm) => halves.flatMap((half) => half[k][of]);
    return [treatment, { shift: all("shift"), error: all("error"), errorOfOthers: all("errorOfOthers") }] as const;
  });
}

export function mean(x: readonly number[]): number {
  return x.reduce((sum, v) => sum + v, 0) / x.length;
}

function among(cohort: Cohort, ids: readonly string[]): Cohort {
  const wanted = new Set(ids);
  return selectIndividuals(
    cohort,
    cohort.ids.flatMap((id, i) => (wanted.has(id) ? [i] : [])),
  );
}

function firstHalf(test: Cohort, id: string): Row[] {
  const own = rowsOf(test).filter((row) => row.id === id);
  return own.slice(0, Math.ceil(own.length / 2));
}

/** The first half of the visits as they are treated, the second as it was; those with none left are not forecast. */
function halvesOf(test: Cohort, treated: Cohort): { readonly cohort: Cohort; readonly tasks: ForecastTask[] } {
  const all = rowsOf(treated);
  const parts = test.ids.flatMap((id) => {
    const whole = rowsOf(test).filter((row) => row.id === id);
    const first = new Set(whole.slice(0, Math.ceil(whole.length / 2)).map(keyOf));
    const known = all.filter((row) => row.id === id && first.has(keyOf(row)));
    const later = whole.filter((row) => !first.has(keyOf(row)));
    return known.length === 0 || later.length === 0 ? [] : [{ known, later }];
  });
  const cohort = cohortOf(
    parts.flatMap(({ known, later }) => [...known, ...later]),
    test,
  );
  const tasks = parts.map(({ known, later }, individual) => ({
    individual,
    known: known.length,
    from: known.length,
    to: known.length + later.length,
  }));
  return { cohort, tasks };
}

type Placed = ReturnType<typeof embed>;

/** |x − x'| in root mean square standard deviations of the place x. */
function distance(from: Placed, i: number, to: Placed, j: number): number {
  const q = from.mapDimension;
  const axes = Array.from({ length: q }, (_, a) => a);
  const gap = Math.hypot(...axes.map((a) => to.location[j * q + a] - from.location[i * q + a]));
  return gap / Math.sqrt(mean(axes.map((a) => from.covariance[i * q * q + a * q + a])));
}
