/** Figures of comparison, survival, fit and data. */
import { isApproximate } from "@trajectory-maps/core/models";
import { coverageCurve, drawCoverage, drawDifferences, drawHorizon, drawPit } from "../figures/comparison.ts";
import type { Figure } from "../figures/figure.ts";
import { drawTrace } from "../figures/fit.ts";
import { drawDesign, drawValues } from "../figures/quality.ts";
import { curveNote, heldText, type SharedCurve, toldAt } from "../figures/shared-curve.ts";
import { drawSurvival, riskTimes, sharedSurvival } from "../figures/survival.ts";
import { cell, fixed, interval, isSmall, listWords, NONE, percent, signed, significant, timeSpan } from "../numbers.ts";
import { cellsOf, isCount, rough } from "../small-cells.ts";
import { midSentence, modelName, outcomeName } from "../words.ts";
import type { Context } from "./context.ts";
import { incidenceFigure, landmarkGroups } from "./risk-figures.ts";

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
        .map((d) => `${modelName(d.model)} ${signed(d.mean, 2)} (95% CI ${interval(d.lower, d.upper, 2, 0)})`)
        .join("; ")
        .concat("."),
      table: {
        columns: ["Model", "difference", "standard error", "95% interval"],
        rows: differences.map((d) => [
          modelName(d.model),
          signed(d.mean, 3),
          fixed(d.se, 3),
          interval(d.lower, d.upper, 3, 0),
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
      title: "Nominal and observed coverage",
      caption:
        "Forecasts of later visits from the first half: share inside central intervals. On the dotted line nominal and observed coverage agree; below it intervals are too narrow.",
      summary: withPit
        .map(
          ({ model, coverage }) =>
            `${modelName(model)}: 50% intervals held ${percent(coverage.p50)}, 90% intervals ${percent(coverage.p90)}`,
        )
        .join("; ")
        .concat("."),
      table: {
        columns: ["Nominal", ...withPit.map(({ model }) => modelName(model))],
        rows: curves[0]
          .slice(1)
          .map(({ nominal }, k) => [percent(nominal), ...curves.map((c) => percent(c[k + 1].observed, 1))]),
      },
      width: 340,
      draw: (canvas) => drawCoverage({ ...comparison, models: withPit }, canvas),
    });
    const main = withPit.find(({ model }) => model === "dtm") ?? withPit[withPit.length - 1];
    const bins = Array.from(main.pit);
    const total = bins.reduce((s, v) => s + v, 0);
    const binCells = cellsOf(bins, smallCell);
    const binShares = bins.map((n, k) =>
      isCount(binCells[k])
        ? percent(n / total, 1)
        : isSmall(n, smallCell)
          ? `under ${percent(smallCell / total, 1)}`
          : "withheld",
    );
    figures.push({
      key: "pit",
      title: `Calibration: ${midSentence(modelName(main.model))}`,
      caption:
        "Where later visits fell in their forecasts, in tenths. Flat, along the dotted line, is calibrated; high ends say too narrow, a hump in the middle too wide.",
      summary: `Share of forecasts in each tenth of the predictive distribution: ${listWords(binShares)}.`,
      table: {
        columns: ["Tenth", "share of forecasts"],
        rows: bins.map((_, k) => [`${fixed(k / bins.length, 1)} to ${fixed((k + 1) / bins.length, 1)}`, binShares[k]]),
      },
      width: 340,
      draw: (canvas) => drawPit(drawnCounts(bins, binCells, smallCell), canvas),
    });
  }
  const withHorizon = models.filter(({ forecast }) => forecast.byHorizon.length > 1);
  if (withHorizon.length > 0) {
    const { transform, unit } = cohort.marker;
    const errorUnit = transform === "identity" ? unit : `${transform} scale`;
    const horizonCells = cellsOf(
      withHorizon[0].forecast.byHorizon.map(({ count }) => count),
      smallCell,
    );
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
        rows: withHorizon[0].forecast.byHorizon.map(({ from, to }, k) => [
          interval(from, to, 1),
          ...withHorizon.map(({ forecast }) => significant(forecast.byHorizon[k]?.mae ?? Number.NaN)),
          horizonCells[k],
        ]),
      },
      width: 340,
      draw: (canvas) => drawHorizon({ ...comparison, models: withHorizon }, errorUnit, timeWord, canvas),
    });
  }
  return figures;
}

/** Heights to draw: counts held back stand at half of the limit, or at the limit. */
function drawnCounts(counts: readonly number[], cells: readonly string[], smallCell: number): number[] {
  return counts.map((n, k) => (isCount(cells[k]) ? n : isSmall(n, smallCell) ? smallCell / 2 : smallCell));
}

/** Kaplan–Meier curves, or cumulative incidence where competing events are given. */
export function survivalFigures(context: Context): Figure[] {
  const { study, smallCell, timeWord } = context;
  const incidence = incidenceFigure(context);
  if (incidence !== undefined) return [incidence];
  const { survival, cohort } = study;
  const groups = landmarkGroups(context);
  if (survival === undefined || groups.length === 0) return [];
  const curves = sharedSurvival(survival, smallCell);
  const shown = groups.flatMap((group) => {
    const shared = curves.find(({ curve }) => curve.group === group.group);
    return shared === undefined ? [] : [{ group, shared, curve: shared.curve }];
  });
  const times = riskTimes(survival);
  const event = midSentence(outcomeName(survival.event));
  const at = (shared: SharedCurve, t: number) => {
    const s = toldAt(shared, t);
    const atRisk = rough(s.atRisk, smallCell);
    const held = heldText(s.told);
    if (held !== undefined) return `${held} (at risk ${atRisk})`;
    if (t <= 0) return `${percent(1)} (at risk ${atRisk})`;
    // Rounded down: the bound must not look better than it is.
    if (s.told === "no event") {
      return `no event among ${atRisk} at risk (at least ${Math.floor(100 * s.lower)}%)`;
    }
    return `${percent(s.survival)} (${fixed(100 * s.lower, 0)} to ${fixed(100 * s.upper, 0)}; at risk ${atRisk})`;
  };
  const unit = cohort.marker.timeUnit;
  const empty = survival.emptyGroups ?? [];
  const nobody =
    empty.length === 0
      ? ""
      : ` Nobody is in ${empty.length === 1 ? "group" : "groups"} ${listWords(empty.map(({ letter, name }) => `${letter} (${name})`))} at the landmark.`;
  return [
    {
      key: "survival",
      title: `Time to ${event} by group`,
      caption: `Kaplan–Meier curves with 95% bands by the group of the place at the landmark, ${timeWord} ${significant(survival.landmark)}; before a group's first event the band is the exact bound for no event.${nobody}${curveNote(smallCell)}`,
      summary: shown
        .map(
          ({ group, curve }) =>
            `${group.letter} ${group.name}: ${rough(curve.numEvents, smallCell)} events among ${rough(curve.numIndividuals, smallCell)}`,
        )
        .join("; ")
        .concat(`.${nobody}`),
      table: {
        columns: ["Group", ...times.map((t) => `${timeSpan(t, unit)} since the landmark`)],
        rows: shown.map(({ group, shared }) => [`${group.letter} ${group.name}`, ...times.map((t) => at(shared, t))]),
      },
      width: 720,
      draw: (canvas) =>
        drawSurvival({ survival: { ...survival, event }, groups, timeUnit: cohort.marker.timeUnit, smallCell }, canvas),
    },
  ];
}

/** Convergence. */
export function fitFigures({ record, study }: Context): Figure[] {
  if (record === undefined || record.trace.length < 2) return [];
  const { trace } = record;
  const n = trace.length;
  // The map is fitted on a coarse lattice first; the record keeps the bounds on the final one, from the change on.
  const staged = study.model?.kind === "dtm" && record.options.schedule === "batch";
  const before = staged && record.iterations > n ? record.iterations - n + 1 : 0;
  const first = Math.max(1, before);
  const coarse =
    before > 0
      ? ` The first ${before} iterations ran on a coarser lattice: bounds there do not compare with these and are not drawn.`
      : "";
  const approximate = study.model?.markers.some(({ noise }) => isApproximate(noise));
  const listed = [...new Set([0, 1, 2, 4, 9, 19, 49, 99, n - 2, n - 1])]
    .filter((k) => k >= 0 && k < n)
    .sort((a, b) => a - b);
  return [
    {
      key: "trace",
      title: "Convergence",
      caption: `Log-likelihood or its lower bound after each iteration, and what each gained, on a log scale.${coarse}`,
      summary: `${record.verdict} The last value is ${fixed(trace[n - 1], 1)}${approximate ? ", approximate since values lie below or above a limit" : ""}.`,
      table: {
        columns: ["Iteration", "value", "gain"],
        rows: listed.map((k) => [
          String(k + first),
          fixed(trace[k], 4),
          k === 0 ? NONE : significant(trace[k] - trace[k - 1], 2),
        ]),
      },
      width: 540,
      draw: (canvas) => drawTrace(trace, canvas, first),
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
  const { name, unit, transform } = cohort.marker;
  // On a transformed scale bins are narrow where values are small: digits, not decimals.
  const edgesText = (a: number, b: number) =>
    transform === "identity" ? interval(a, b, decimals) : `${significant(a)} to ${significant(b)}`;
  const shown = cellsOf(bins.counts, smallCell);
  const drawn = drawnCounts(Array.from(bins.counts), shown, smallCell);
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
      caption: `All observations${unit === "" ? "" : ` in ${unit}`}${transform === "identity" ? "" : `, in bins of equal width on the ${transform} scale of the model`}.${smallCell > 1 ? " Outlined bars stand for counts held back." : ""}`,
      summary: `Half of the values lie between ${fixed(q[1], decimals)} and ${fixed(q[3], decimals)}, with median ${fixed(q[2], decimals)}.`,
      table: {
        columns: ["Values", "observations"],
        rows: shown.map((text, k) => [edgesText(bins.edges[k], bins.edges[k + 1]), text]),
      },
      width: 420,
      draw: (canvas) => drawValues(cohort, drawn, canvas),
    },
  ];
}
