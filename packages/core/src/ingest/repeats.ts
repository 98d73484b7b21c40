/** Rows that repeat another: neighbours in the cohort's order (id, time, value) tell them, in one pass. */
import { censoredSides, type MarkerSeries } from "../cohort/cohort.ts";

/** Places in the cohort's order of rows equal to an earlier row in id, time and value, ascending. */
export function exactRepeats({ offsets, times, values, censored }: MarkerSeries): number[] {
  const repeats: number[] = [];
  for (let i = 0; i < offsets.length - 1; i++) {
    for (let k = offsets[i] + 1; k < offsets[i + 1]; k++) {
      if (times[k] !== times[k - 1] || values[k] !== values[k - 1]) continue;
      if (censored === undefined || censored[k] === censored[k - 1]) repeats.push(k);
    }
  }
  return repeats;
}

/** The observations, and the row of each, without those at the given places (ascending); everybody keeps one at least. */
export function withoutPlaces(
  series: MarkerSeries,
  order: Int32Array,
  places: readonly number[],
): { readonly series: MarkerSeries; readonly order: Int32Array } {
  if (places.length === 0) return { series, order };
  const dropped = new Set(places);
  const stays = (_: number, k: number) => !dropped.has(k);
  let before = 0;
  const offsets = series.offsets.map((end) => {
    while (before < places.length && places[before] < end) before++;
    return end - before;
  });
  const { times, values, censored, marker } = series;
  const sides = censoredSides(censored?.filter(stays));
  return {
    series: { marker, offsets, times: times.filter(stays), values: values.filter(stays), ...sides },
    order: order.filter(stays),
  };
}

/** Further values at a time already seen: how many, of how many individuals, and the first such row in the order of the file. */
export function furtherValues(
  { offsets, times, values }: MarkerSeries,
  order: Int32Array,
): { readonly count: number; readonly individuals: number; readonly row: number } {
  let count = 0;
  let individuals = 0;
  let row = order.length;
  for (let i = 0; i < offsets.length - 1; i++) {
    const before = count;
    const end = offsets[i + 1];
    for (let from = offsets[i], to = from; from < end; from = to) {
      // One run: all rows of this individual at one time.
      to = from + 1;
      while (to < end && times[to] === times[from]) to++;
      let first = from;
      for (let k = from + 1; k < to; k++) {
        if (order[k] < order[first]) first = k;
        if (values[k] !== values[k - 1]) count++;
      }
      // The first row that brings another value than the first row of the run.
      for (let k = from; k < to; k++) if (values[k] !== values[first] && order[k] < row) row = order[k];
    }
    if (count > before) individuals++;
  }
  return { count, individuals, row };
}
