/** Figures of groups, comparison, survival, fit and data. */
import { coverageCurve, drawCoverage, drawDifferences, drawHorizon, drawPit } from "../figures/comparison.ts";
import type { DataTable, Figure } from "../figures/figure.ts";
import { drawTrace } from "../figures/fit.ts";
import { drawGap } from "../figures/gap.ts";
import { drawGroupCourses, followedText, followedTimes, shownLength } from "../figures/group-courses.ts";
import { drawDesign, drawValues } from "../figures/quality.ts";
import { drawSurvival, riskTimes, survivalAt } from "../figures/survival.ts";
import {
  cell,
  cellsOf,
  fixed,
  interval,
  isSmall,
  listWords,
  NONE,
  percent,
  signed,
  significant,
  wilson,
} from "../numbers.ts";
import { midSentence, modelName, outcomeName } from "../words.ts";
import type { Context } from "./context.ts";

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
      `${group.letter} ${group.name}`,
      ...times.map((t) => {
        const k = indexAt(group.times, t);
        const n = followedText(group, sizes[rank], t, smallCell);
        if (k >= shownLength(group, smallCell)) return `${NONE} (n ${n})`;
        return `${fixed(group.median[k], decimals)} (${interval(group.lower[k], group.upper[k], decimals)}; n ${n})`;
      }),
      ...(notes === undefined ? [] : [`${notes[rank].strong} ${notes[rank].range}`]),
    ]),
  };
  const figures: Figure[] = [
    {
      key: "groups",
      title: "Groups of similar courses",
      caption: `${marker.name}${unit}${logScale}. Line: median of the group; band: 10th to 90th percentile of its members. n: members followed to that time. Curves end where fewer than ${Math.max(5, smallCell)} are followed.`,
      summary: groups
        .map((g, k) => `${g.letter}: ${g.name}, ${sizes[k]} individuals`)
        .join("; ")
        .concat("."),
      table,
      width: 1112,
      draw: (canvas) =>
        drawGroupCourses({ groups, sizes, marker, smallCell, ...(notes === undefined ? {} : { notes }) }, canvas),
    },
  ];
  const number = study.groups?.number;
  if (number !== undefined && number.evidence.length > 1) {
    figures.push({
      key: "number-of-groups",
      title: "How many groups",
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

/** Share with the map's outcome in each group; bounds in place of shares that would give a small count away. */
export function outcomeNotes({ study, groups, mapOutcome, smallCell }: Context) {
  if (mapOutcome === undefined || study.groups === undefined) return undefined;
  const { labels } = study.groups;
  const name = midSentence(outcomeName(mapOutcome.name));
  return groups.map(({ group }) => {
    let cases = 0;
    let total = 0;
    for (let i = 0; i < labels.length; i++) {
      if (labels[i] !== group || (mapOutcome.labels[i] !== 0 && mapOutcome.labels[i] !== 1)) continue;
      total++;
      cases += mapOutcome.labels[i];
    }
    const share = shownShare(cases, total, smallCell);
    return { strong: share.text, range: share.range, rest: `${name}${share.range === "" ? "" : ` ${share.range}`}` };
  });
}

/** A share, or only a bound for it where cases or the others are few. */
export function shownShare(
  cases: number,
  total: number,
  limit: number,
): { readonly text: string; readonly range: string } {
  if (total === 0 || isSmall(total, limit)) return { text: NONE, range: "" };
  if (limit > 1 && cases < limit) return { text: `under ${percent(Math.min(1, limit / total))}`, range: "" };
  if (limit > 1 && total - cases < limit) return { text: `over ${percent(Math.max(0, 1 - limit / total))}`, range: "" };
  const { lower, upper } = wilson(cases, total);
  return { text: percent(cases / total), range: `(95% CI ${fixed(100 * lower, 0)} to ${fixed(100 * upper, 0)})` };
}

function indexAt(times: ArrayLike<number>, t: number): number {
  let k = 0;
  while (k + 1 < times.length && times[k + 1] <= t + 1e-9) k++;
  return k;
}

/** Differences, coverage, PIT and error by horizon. */
export function comparisonFigures({ study, timeWord, smallCell }: Context): Figure[] {
  const { comparison, cohort } = study;
  if (comparison === undefined) return [];
  const { models, differences } = comparison;
  const figures: Figure[] = [];
  if (differences.length > 0) {
    figures.push({
      key: "differences",
      title: "Difference in held-out log-likelihood",
      caption: `Per individual, paired, against ${midSentence(modelName(differences[0].reference))}, with 95% interval. Filled where it leaves out zero.`,
      summary: differences
        .map((d) => `${modelName(d.model)} ${signed(d.mean, 2)} (95% CI ${interval(d.lower, d.upper, 2)})`)
        .join("; ")
        .concat("."),
      table: {
        columns: ["Model", "difference", "standard error", "95% interval"],
        rows: differences.map((d) => [
          modelName(d.model),
          signed(d.mean, 3),
          fixed(d.se, 3),
          interval(d.lower, d.upper, 3),
        ]),
      },
      width: 540,
      draw: (canvas) => drawDifferences(comparison, canvas),
    });
  }
  const withPit = models.filter(({ pit }) => pit.length > 1 && Array.from(pit).some((n) => n > 0));
  if (withPit.length > 0) {
    const curves = withPit.map(({ pit }) => coverageCurve(pit));
    figures.push({
      key: "coverage",
      title: "Promised and measured coverage",
      caption:
        "Forecasts of later visits from the first half: share inside central intervals. On the dotted line promises are kept; below it intervals are too narrow.",
      summary: withPit
        .map(
          ({ model, coverage }) =>
            `${modelName(model)}: 50% intervals held ${percent(coverage.p50)}, 90% intervals ${percent(coverage.p90)}`,
        )
        .join("; ")
        .concat("."),
      table: {
        columns: ["Promised", ...withPit.map(({ model }) => modelName(model))],
        rows: curves[0]
          .slice(1)
          .map(({ promised }, k) => [percent(promised), ...curves.map((c) => percent(c[k + 1].measured, 1))]),
      },
      width: 340,
      draw: (canvas) => drawCoverage({ ...comparison, models: withPit }, canvas),
    });
    const main = withPit.find(({ model }) => model === "dtm") ?? withPit[withPit.length - 1];
    const bins = Array.from(main.pit);
    const total = bins.reduce((s, v) => s + v, 0);
    figures.push({
      key: "pit",
      title: `Calibration: ${midSentence(modelName(main.model))}`,
      caption:
        "Where later visits fell in their forecasts, in tenths. Flat is calibrated; a hollow middle says too narrow, a hump too wide.",
      summary: `Share of forecasts in each tenth of the predictive distribution: ${listWords(bins.map((n) => percent(n / total)))}.`,
      table: {
        columns: ["Tenth", "share of forecasts"],
        rows: bins.map((n, k) => [
          `${fixed(k / bins.length, 1)} to ${fixed((k + 1) / bins.length, 1)}`,
          isSmall(n, smallCell) ? `under ${percent(smallCell / total, 1)}` : percent(n / total, 1),
        ]),
      },
      width: 340,
      draw: (canvas) => drawPit(main.pit, canvas),
    });
  }
  const withHorizon = models.filter(({ forecast }) => forecast.byHorizon.length > 1);
  if (withHorizon.length > 0) {
    const { transform, unit } = cohort.marker;
    const errorUnit = transform === "identity" ? unit : `${transform} scale`;
    figures.push({
      key: "horizon",
      title: "Error by horizon",
      caption: "Mean absolute error of the forecast median in four quarters of the time ahead.",
      summary: withHorizon
        .map(
          ({ model, forecast: f }) =>
            `${modelName(model)}: from ${significant(f.byHorizon[0].mae)} at the shortest to ${significant(f.byHorizon[f.byHorizon.length - 1].mae)} at the longest horizons`,
        )
        .join("; ")
        .concat("."),
      table: {
        columns: [`${timeWord}s ahead`, ...withHorizon.map(({ model }) => modelName(model)), "forecasts"],
        rows: withHorizon[0].forecast.byHorizon.map(({ from, to, count }, k) => [
          interval(from, to, 1),
          ...withHorizon.map(({ forecast }) => significant(forecast.byHorizon[k]?.mae ?? Number.NaN)),
          cell(count, smallCell),
        ]),
      },
      width: 340,
      draw: (canvas) => drawHorizon({ ...comparison, models: withHorizon }, errorUnit, timeWord, canvas),
    });
  }
  return figures;
}

/** Kaplan–Meier curves. */
export function survivalFigures({ study, groups: all, smallCell, timeWord }: Context): Figure[] {
  const { survival, cohort } = study;
  const groups = survival?.groups ?? all;
  if (survival === undefined || groups.length === 0) return [];
  const shown = groups.flatMap((group) => {
    const curve = survival.curves.find((c) => c.group === group.group);
    return curve === undefined ? [] : [{ group, curve }];
  });
  const times = riskTimes(survival);
  const event = midSentence(outcomeName(survival.event));
  const at = (curve: (typeof shown)[number]["curve"], t: number) => {
    const s = survivalAt(curve, t);
    if (s.atRisk < smallCell) return `${NONE} (at risk ${cell(s.atRisk, smallCell)})`;
    return `${percent(s.survival)} (${fixed(100 * s.lower, 0)} to ${fixed(100 * s.upper, 0)}; at risk ${cell(s.atRisk, smallCell)})`;
  };
  return [
    {
      key: "survival",
      title: `Time to ${event} by group`,
      caption: `Kaplan–Meier curves with 95% bands, from the landmark at ${timeWord} ${significant(survival.landmark)} on. Curves are read at sixty times and end where fewer than ${smallCell} are at risk.`,
      summary: shown
        .map(
          ({ group, curve }) =>
            `${group.letter} ${group.name}: ${cell(curve.numEvents, smallCell)} events among ${cell(curve.numIndividuals, smallCell)}`,
        )
        .join("; ")
        .concat("."),
      table: {
        columns: ["Group", ...times.map((t) => `${timeWord} ${t}`)],
        rows: shown.map(({ group, curve }) => [`${group.letter} ${group.name}`, ...times.map((t) => at(curve, t))]),
      },
      width: 720,
      draw: (canvas) =>
        drawSurvival({ survival: { ...survival, event }, groups, timeUnit: cohort.marker.timeUnit, smallCell }, canvas),
    },
  ];
}

/** Convergence. */
export function fitFigures({ record }: Context): Figure[] {
  if (record === undefined || record.trace.length < 2) return [];
  const { trace } = record;
  const n = trace.length;
  const listed = [...new Set([0, 1, 2, 4, 9, 19, 49, 99, n - 2, n - 1])]
    .filter((k) => k >= 0 && k < n)
    .sort((a, b) => a - b);
  return [
    {
      key: "trace",
      title: "Convergence",
      caption: "Log-likelihood or its lower bound after each recorded iteration, and what each gained, on a log scale.",
      summary: `${record.verdict} The last value is ${fixed(trace[n - 1], 1)}.`,
      table: {
        columns: ["Iteration", "value", "gain"],
        rows: listed.map((k) => [
          String(k + 1),
          fixed(trace[k], 4),
          k === 0 ? NONE : significant(trace[k] - trace[k - 1], 2),
        ]),
      },
      width: 540,
      draw: (canvas) => drawTrace(trace, canvas),
    },
  ];
}

/** The cohort's figures. */
export function dataFigures({ study, smallCell, timeWord, decimals }: Context): Figure[] {
  const { cohort } = study;
  const { edges, counts } = cohort.design;
  const n = edges.length - 1;
  const spanOf = (k: number) => interval(edges[k], edges[k + 1], 1);
  const bins = cohort.histogram;
  const q = cohort.value.quantiles;
  const { name, unit } = cohort.marker;
  const shown = cellsOf(bins.counts, smallCell);
  return [
    {
      key: "design",
      title: "Times observed together",
      caption: `Individuals with visits in both of two spans of time. Where a pair is empty, change between those times rests on the model alone.${smallCell > 1 ? ` Hollow: fewer than ${smallCell}.` : ""}`,
      summary: `${cell(Array.from(counts).filter((c) => c >= smallCell).length, 1)} of ${n * n} pairs of spans between ${timeWord} ${fixed(edges[0], 1)} and ${fixed(edges[n], 1)} hold ${smallCell} or more individuals.`,
      table: {
        columns: [`${timeWord}s`, ...Array.from({ length: n }, (_, b) => spanOf(b))],
        rows: Array.from({ length: n }, (_, a) => [
          spanOf(a),
          ...Array.from({ length: n }, (_, b) => cell(counts[a * n + b], smallCell)),
        ]),
      },
      width: 420,
      draw: (canvas) => drawDesign(cohort, smallCell, canvas),
    },
    {
      key: "values",
      title: `Values of ${name}`,
      caption: `All observations${unit === "" ? "" : ` in ${unit}`}.${smallCell > 1 ? ` Outlined bars stand for fewer than ${smallCell}.` : ""}`,
      summary: `Half of the values lie between ${fixed(q[1], decimals)} and ${fixed(q[3], decimals)}, with median ${fixed(q[2], decimals)}.`,
      table: {
        columns: ["Values", "observations"],
        rows: shown.map((text, k) => [interval(bins.edges[k], bins.edges[k + 1], decimals), text]),
      },
      width: 420,
      draw: (canvas) => drawValues(cohort, smallCell, canvas),
    },
  ];
}
