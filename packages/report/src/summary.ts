/** From results of the core to the parts of a study: a cohort in numbers, groups with letters, courses and follow-up. */
import { type Cohort, type Complaint, type Groups, numIndividuals } from "@trajectory-maps/core";
import {
  countVisitClasses,
  coveredPairs,
  meanAndSd,
  onlyMarker,
  sortedQuantile,
  valueHistogram,
} from "@trajectory-maps/core/ingest";
import { GROUP_METHODS } from "@trajectory-maps/core/study";
import { whole } from "./numbers.ts";
import type { CohortSummary, Numbers, StudyGroup, StudyGroups, StudyStability } from "./study.ts";
import { capital } from "./words.ts";

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
    time: { ...meanAndSd(times), distinct: new Set(times).size },
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

/** Choices in the groups of a study. */
export interface GroupFacts {
  /** How the number of groups was chosen; default as the groups themselves say. */
  readonly number?: StudyGroups["number"] | null;
  readonly stability?:
    | (StudyStability & { readonly groups?: readonly { readonly group: number; readonly pairsKept: number }[] })
    | null;
  /** Names in place of the groups' own. */
  readonly names?: readonly string[];
}

/** Groups of a study from the core's. */
export function studyGroups(made: Groups, facts: GroupFacts = {}): StudyGroups {
  const { labels, membership, groups, clustered, method } = made;
  const { number = made.choice, stability = null, names } = facts;
  return {
    labels,
    groups: groups.map(
      ({ letter, name, summary, course, from, until, parts, followed, markers }, group): StudyGroup => {
        const pairsKept = stability?.groups?.find((g) => g.group === group)?.pairsKept;
        const { numMembers: size, times, median, lower, upper } = course;
        const probability = meanProbability(membership, labels, group, groups.length);
        const all = { size, times, median, lower, upper, followed, from, until, parts, probability };
        return {
          group,
          letter,
          name: names?.[group] ?? name,
          summary,
          ...all,
          ...(pairsKept === undefined ? {} : { pairsKept }),
          ...(markers && {
            markers: markers.map((own) => {
              const { times, median, lower, upper } = own.course;
              return { name: own.name, summary: own.summary, times, median, lower, upper };
            }),
          }),
        };
      },
    ),
    numClustered: clustered.length,
    method:
      `${capital(GROUP_METHODS[method])} the places of ` +
      `${whole(clustered.length)} individuals; ` +
      "the others joined the group that holds most of the posterior of their place.",
    ...(number === null ? {} : { number }),
    ...(stability === null ? {} : { stability }),
    entropy: made.certainty,
    mergeHeights: made.tree.heights,
    tree: made.treeTop,
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
