/** Rows that repeat another: neighbours in the cohort's order (id, time, value) tell them, in one pass. */
import type { MarkerSeries } from "../cohort/cohort.ts";

export interface Repeats {
  /** Rows equal to an earlier row in id, time and value. */
  readonly duplicates: number;
  /** Further values at a time already seen, and individuals with such. */
  readonly sameTime: number;
  readonly sameTimeIndividuals: number;
  /** First row of each kind in the order of the file; the number of rows if there is none. */
  readonly firstDuplicate: number;
  readonly firstSameTime: number;
}

/** Counts repeats; `order` [N] is the row at each place of the cohort, equal rows in the order of the file. */
export function findRepeats({ offsets, times, values }: MarkerSeries, order: Int32Array): Repeats {
  let duplicates = 0;
  let sameTime = 0;
  let sameTimeIndividuals = 0;
  let firstDuplicate = order.length;
  let firstSameTime = order.length;
  for (let i = 0; i < offsets.length - 1; i++) {
    const before = sameTime;
    const end = offsets[i + 1];
    for (let from = offsets[i], to = from; from < end; from = to) {
      // One run: all rows of this individual at one time.
      to = from + 1;
      while (to < end && times[to] === times[from]) to++;
      if (to - from === 1) continue;
      let first = from;
      for (let k = from + 1; k < to; k++) {
        if (order[k] < order[first]) first = k;
        if (values[k] === values[k - 1]) {
          duplicates++;
          // The one before it is the earlier row, so this one is the repeat.
          if (order[k] < firstDuplicate) firstDuplicate = order[k];
        } else sameTime++;
      }
      // The first row that brings another value than the first row of the run.
      for (let k = from; k < to; k++) {
        if (values[k] !== values[first] && order[k] < firstSameTime) firstSameTime = order[k];
      }
    }
    if (sameTime > before) sameTimeIndividuals++;
  }
  return { duplicates, sameTime, sameTimeIndividuals, firstDuplicate, firstSameTime };
}
