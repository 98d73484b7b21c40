/** From results of the core to the parts of a study: a cohort in numbers, groups with letters, courses and follow-up. */
import { type Cohort, type Complaint, numIndividuals } from "@trajectory-maps/core";
import {
  countVisitClasses,
  coveredPairs,
  meanAndSd,
  onlyMarker,
  sortedQuantile,
  valueHistogram,
} from "@trajectory-maps/core/ingest";
import type { CohortSummary, Numbers, StudyGroup, StudyGroups } from "./study.ts";

/** What reading a file adds to a summary. */
export interface ReadingFacts {
  readonly numRows?: number;
  readonly numRowsLeftOut?: number;
  readonly warnings?: readonly Complaint[];
  readonly notes?: readonly string[];
}

/** A cohort in numbers, without rows. */
export function summarizeCohort(cohort: Cohort, reading: ReadingFacts = {}): CohortSummary {
  const { times, values, offsets, marker } = onlyMarker(cohort);
  const m = numIndividuals(cohort);
  const counts = Float64Array.from({ length: m }, (_, i) => offsets[i + 1] - offsets[i]);
  const last = Float64Array.from({ length: m }, (_, i) => times[offsets[i + 1] - 1]).sort();
  const sortedCounts = counts.slice().sort();
  const sortedValues = values.slice().sort();
  const [firstTime, lastTime] = extent(times);
  const { edges, counts: pairs } = coveredPairs(cohort, firstTime, lastTime);
  const visitClasses = countVisitClasses(counts);
  return {
    marker,
    numIndividuals: m,
    numObservations: times.length,
    ...(reading.numRows === undefined ? {} : { numRows: reading.numRows }),
    ...(reading.numRowsLeftOut === undefined ? {} : { numRowsLeftOut: reading.numRowsLeftOut }),
    visitQuantiles: [0, 0.25, 0.5, 0.75, 1].map((p) => sortedQuantile(sortedCounts, p)),
    singleVisit: visitClasses[0],
    visitClasses,
    firstTime,
    lastTime,
    lastTimeQuartiles: [0.25, 0.5, 0.75].map((p) => sortedQuantile(last, p)),
    time: meanAndSd(times),
    value: {
      ...meanAndSd(values),
      quantiles: [0.05, 0.25, 0.5, 0.75, 0.95].map((p) => sortedQuantile(sortedValues, p)),
    },
    design: { edges, counts: pairs },
    histogram: valueHistogram(cohort),
    warnings: reading.warnings ?? [],
    notes: reading.notes ?? [],
  };
}

/** Groups of a study from the core's parts: courses by group, names in the order of the letters. */
export function joinGroups(parts: {
  readonly labels: Numbers;
  readonly courses: readonly {
    readonly group: number;
    readonly numMembers: number;
    readonly times: Numbers;
    readonly median: Numbers;
    readonly lower: Numbers;
    readonly upper: Numbers;
    readonly from?: number;
    readonly until?: number;
    readonly parts?: StudyGroup["parts"];
  }[];
  readonly names: readonly { readonly group: number; readonly letter: string; readonly name: string }[];
  /** Time of the last visit of each individual, [m]. */
  readonly lastTimes: Numbers;
  /** Probability of each group for each individual, [m,K], groups in the order of their numbers. */
  readonly membership?: Numbers;
  readonly method?: string;
  readonly number?: StudyGroups["number"];
  readonly stability?: StudyGroups["stability"] & {
    readonly groups?: readonly { readonly group: number; readonly pairsKept: number }[];
  };
  readonly entropy?: number;
  readonly mergeHeights?: Numbers;
  readonly tree?: StudyGroups["tree"];
}): StudyGroups {
  const { labels, courses, names, lastTimes, membership, method, number, stability, entropy, mergeHeights, tree } =
    parts;
  const groups: StudyGroup[] = names.map(({ group, letter, name }) => {
    const course = courses.find((c) => c.group === group)!;
    const members = Array.from(labels).flatMap((g, i) => (g === group ? [lastTimes[i]] : []));
    const pairsKept = stability?.groups?.find((g) => g.group === group)?.pairsKept;
    return {
      group,
      letter,
      name,
      size: course.numMembers,
      times: course.times,
      median: course.median,
      lower: course.lower,
      upper: course.upper,
      followed: Array.from(course.times, (t) => members.filter((last) => last >= t).length),
      ...(course.from === undefined ? {} : { from: course.from }),
      ...(course.until === undefined ? {} : { until: course.until }),
      ...(course.parts === undefined ? {} : { parts: course.parts }),
      ...(membership === undefined ? {} : { probability: meanProbability(membership, labels, group, names.length) }),
      ...(pairsKept === undefined ? {} : { pairsKept }),
    };
  });
  return {
    labels,
    groups,
    ...(method === undefined ? {} : { method }),
    ...(number === undefined ? {} : { number }),
    ...(stability === undefined ? {} : { stability }),
    ...(entropy === undefined ? {} : { entropy }),
    ...(mergeHeights === undefined ? {} : { mergeHeights }),
    ...(tree === undefined ? {} : { tree }),
  };
}

/** Mean probability of a group among those who are in it. */
function meanProbability(membership: Numbers, labels: Numbers, group: number, numGroups: number): number {
  let [sum, count] = [0, 0];
  for (let i = 0; i < labels.length; i++) {
    if (labels[i] !== group) continue;
    sum += membership[i * numGroups + group];
    count++;
  }
  return sum / count;
}

function extent(x: Numbers): readonly [number, number] {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (let k = 0; k < x.length; k++) {
    low = Math.min(low, x[k]);
    high = Math.max(high, x[k]);
  }
  return [low, high];
}
