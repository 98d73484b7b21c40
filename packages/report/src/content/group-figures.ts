/** Figures of the groups: their courses, the tree they are cut from, and the evidence for their number. */
import type { DataTable, Figure } from "../figures/figure.ts";
import { drawDistinct, drawGap } from "../figures/gap.ts";
import {
  drawGroupCourses,
  fewestFollowed,
  followedText,
  followedTimes,
  shownParts,
  solidIndex,
  solidUntil,
} from "../figures/group-courses.ts";
import { cell, fixed, interval, NONE } from "../numbers.ts";
import { roundedToFives, sharesOf, WITHHELD } from "../small-cells.ts";
import { capital, midSentence, numberWord, outcomeName } from "../words.ts";
import type { Context } from "./context.ts";
import { shareCaution } from "./share-caution.ts";
import { treeFigure } from "./tree-figure.ts";

/** Courses of the groups and the evidence for their number. */
export function groupFigures(context: Context): Figure[] {
  const { study, groups, sizes, smallCell, timeWord, decimals } = context;
  if (groups.length === 0) return [];
  const { marker } = study.cohort;
  const notes = outcomeNotes(context);
  const unit = marker.unit === "" ? "" : ` in ${marker.unit}`;
  const logScale = marker.transform === "log" ? " on a log scale" : "";
  const times = followedTimes(groups[0]);
  const table: DataTable = {
    columns: [
      "Group",
      ...times.map((t) => `${timeWord} ${t}`),
      ...(notes === undefined ? [] : [outcomeName(context.mapOutcome?.name ?? "")]),
    ],
    rows: groups.map((group, rank) => [
      `${group.letter} ${group.name}${group.summary === undefined ? "" : ` (${group.summary})`}`,
      ...times.map((t) => {
        const k = solidIndex(group, t, smallCell);
        const n = followedText(group, sizes[rank], t, smallCell);
        if (k === undefined) return `${NONE} (n ${n})`;
        return `${fixed(group.median[k], decimals)} (${interval(group.lower[k], group.upper[k], decimals)}; n ${n})`;
      }),
      ...(notes === undefined ? [] : [`${notes[rank].strong} ${notes[rank].range}`.trim()]),
    ]),
  };
  const figures: Figure[] = [
    {
      key: "groups",
      title: "Groups of similar courses",
      caption: courseCaption(context, `${capital(marker.name)}${unit}${logScale}`) + shareCaution(context),
      summary: groups
        .map((g, k) => {
          const until = solidUntil(g, smallCell);
          const seen = Number.isFinite(until) ? `, course shown to ${timeWord} ${fixed(until, 1)}` : "";
          return `${g.letter}: ${g.name}, ${sizes[k]} individuals${seen}`;
        })
        .join("; ")
        .concat("."),
      table,
      width: 1112,
      draw: (canvas) =>
        drawGroupCourses({ groups, sizes, marker, smallCell, ...(notes === undefined ? {} : { notes }) }, canvas),
    },
  ];
  const tree = treeFigure(context);
  if (tree !== undefined) figures.push(tree);
  const number = study.groups?.number;
  const courses = number?.courses;
  if (number !== undefined && courses !== undefined && courses.evidence.length > 0) {
    figures.push({
      key: "distinct-courses",
      title: "Groups with courses of their own",
      caption: `How far apart the median courses of the two most similar groups are where they differ most. The number used is the largest at or above the line with ${courses.leastSize} or more members in each; crosses fail one of the two. Filled: the number used${courses.numGroups > courses.numCut ? `; ${numberWord(courses.numGroups - courses.numCut)} more, of branches with a kind of course that no other group shows` : ""}.`,
      summary: courses.evidence
        .map((e) => `${e.numGroups} groups: ${fixed(e.difference, 1)} sd of the noise`)
        .join("; ")
        .concat(`; ${courses.numCut} are used, ${number.numGroups - courses.numCut} more are branches within them.`),
      table: {
        columns: ["Groups", "difference, sd of the noise", "smallest group", "distinct", "further kinds of course"],
        rows: courses.evidence.map((e) => [
          String(e.numGroups),
          fixed(e.difference, 2),
          cell(e.smallest, smallCell),
          e.distinct ? "yes" : "no",
          String(e.ownKinds),
        ]),
      },
      width: 420,
      draw: (canvas) => drawDistinct(courses, courses.numCut, canvas),
    });
  }
  if (number !== undefined && number.evidence.length > 1) {
    figures.push({
      key: "number-of-groups",
      title: courses === undefined ? "How many groups" : "Separate clusters",
      caption:
        "Gap statistic: how much tighter the groups are than groups of as many points spread evenly. Filled: the number used.",
      summary: `The gap statistic was computed for ${number.evidence[0].numGroups} to ${number.evidence[number.evidence.length - 1].numGroups} groups; ${number.numGroups} are used.`,
      table: {
        columns: ["Groups", "gap", "standard error"],
        rows: number.evidence.map((e) => [String(e.numGroups), fixed(e.gap, 3), fixed(e.standardError, 3)]),
      },
      width: 420,
      draw: (canvas) => drawGap(number, canvas),
    });
  }
  return figures;
}

/** What the lines are, what n is, and until when members are followed. */
function courseCaption({ groups, smallCell }: Context, values: string): string {
  const fewest = fewestFollowed(smallCell);
  const parts = groups.some((group) => shownParts(group, smallCell).length > 0)
    ? ` Thin lines: medians of parts of the group, branches of its tree with ${fewest} individuals or more, whose courses differ from it.`
    : "";
  return `${values}. Line: median of the members' expected courses; band: their 10th to 90th percentile. It is solid, and named, while half of the members are still followed, dashed beyond, and ends where fewer than a tenth or fewer than ${fewest} are.${parts} n: members still followed${smallCell > 1 ? `, ${roundedToFives(smallCell)}` : ""}.`;
}

/** Share with the map's outcome in each group; bounds in place of shares that would give a small count away. */
function outcomeNotes({ study, groups, mapOutcome, smallCell }: Context) {
  if (mapOutcome === undefined || study.groups === undefined) return undefined;
  const { labels } = study.groups;
  const name = midSentence(outcomeName(mapOutcome.name));
  const cases = groups.map(() => 0);
  const known = groups.map(() => 0);
  const rankOf = new Map(groups.map(({ group }, rank) => [group, rank]));
  for (let i = 0; i < labels.length; i++) {
    const rank = rankOf.get(labels[i]);
    const label = mapOutcome.labels[i];
    if (rank === undefined || (label !== 0 && label !== 1)) continue;
    known[rank]++;
    cases[rank] += label;
  }
  return sharesOf(cases, known, smallCell).map(({ text, range }) =>
    text === WITHHELD || text === NONE
      ? { strong: "", range: `share ${WITHHELD}`, rest: `share with ${name} ${WITHHELD}` }
      : { strong: text, range, rest: `${name}${range === "" ? "" : ` ${range}`}` },
  );
}
