/** Figures of cumulative incidence, of calibration, and of courses if those who left had gone on otherwise. */
import { drawDropout } from "../figures/dropout.ts";
import type { Figure } from "../figures/figure.ts";
import {
  drawCalibration,
  drawIncidence,
  incidenceOf,
  incidenceTimes,
  isShown,
  sharedIncidences,
} from "../figures/risk.ts";
import { curveNote, heldText, type SharedCurve, toldAt } from "../figures/shared-curve.ts";
import { fixed, listWords, NONE, percent, significant, timeSpan } from "../numbers.ts";
import { isCount, rough } from "../small-cells.ts";
import { deltaText, deltaUnit, tippingSentences } from "../survival-words.ts";
import { midSentence, outcomeName } from "../words.ts";
import type { Context } from "./context.ts";

/** Groups of the curves after the landmark; a letter keeps its colour all through the report. */
export function landmarkGroups({ study: { survival }, groups: all }: Context) {
  return (survival?.groups ?? all).map(({ group, letter, name }, k) => {
    const rank = all.findIndex((known) => known.letter === letter);
    return { group, letter, name, rank: rank < 0 ? k : rank };
  });
}

/** The event and competing ones in words. */
export function eventWords({ study: { survival } }: Context): string[] {
  if (survival === undefined) return [];
  return [survival.event, ...(survival.competing?.names ?? [])].map((name) => midSentence(outcomeName(name)));
}

/** A cumulative incidence as it may be shown, with its interval. */
export function incidenceText(cause: SharedCurve, time: number): string {
  const point = incidenceOf(toldAt(cause, time));
  const held = heldText(point.told);
  if (held !== undefined) return held;
  // Rounded up: the bound must not look better than it is.
  if (point.told === "no event") return time <= 0 ? percent(0) : `no event (at most ${Math.ceil(100 * point.upper)}%)`;
  return `${percent(point.incidence)} (${fixed(100 * point.lower, 0)} to ${fixed(100 * point.upper, 0)})`;
}

/** The figure that stands in place of Kaplan–Meier curves where competing events are given. */
export function incidenceFigure(context: Context): Figure | undefined {
  const { study, smallCell, timeWord } = context;
  const { survival, cohort } = study;
  const curves = survival?.competing?.curves;
  const groups = landmarkGroups(context);
  if (survival === undefined || curves === undefined || groups.length === 0) return undefined;
  const events = eventWords(context);
  const times = incidenceTimes(curves);
  const shared = sharedIncidences(survival, smallCell);
  const shown = groups.flatMap((group) => {
    const own = shared.find((c) => c.group === group.group);
    return own === undefined ? [] : [{ group, curve: own.incidence, causes: own.causes }];
  });
  const unit = cohort.marker.timeUnit;
  return {
    key: "survival",
    title: `Cumulative incidence of ${listWords(events)} by group`,
    caption: `Aalen–Johansen curves with 95% bands by the group of the place at the landmark, ${timeWord} ${significant(survival.landmark)}: the share with each event by then, of which the first ends follow-up.${smallCell > 1 ? curveNote(smallCell) : " Curves are read at sixty times."}`,
    summary: shown
      .map(
        ({ group, curve }) =>
          `${group.letter} ${group.name}: ${listWords(events.map((event, k) => `${rough(curve.causes[k].numEvents, smallCell)} with ${event}`))} among ${rough(curve.numIndividuals, smallCell)}`,
      )
      .join("; ")
      .concat("."),
    table: {
      columns: ["Group and event", ...times.map((t) => `${timeSpan(t, unit)} since the landmark`)],
      rows: shown.flatMap(({ group, causes }) =>
        events.map((event, cause) => [
          `${group.letter} ${group.name}: ${event}`,
          ...times.map((t) => incidenceText(causes[cause], t)),
        ]),
      ),
    },
    width: 720,
    draw: (canvas) => drawIncidence({ shared, events, groups, timeUnit: unit, smallCell }, canvas),
  };
}

/** Calibration, and courses under shifts. */
export function riskFigures(context: Context): Figure[] {
  const { study, smallCell, groups: all } = context;
  const { survival, cohort } = study;
  const figures: Figure[] = [];
  const calibration = survival?.risk?.calibration ?? [];
  if (calibration.length > 0) {
    const unit = cohort.marker.timeUnit;
    figures.push({
      key: "risk-calibration",
      title: "Predicted and observed risk",
      caption: `Cross-fitted risk by the place at the landmark against what was observed (${survival?.competing ? "Aalen–Johansen" : "one less Kaplan–Meier"}), with 95% intervals, in parts that expect as many events each, from the lowest to the highest predicted risk; the ring is everyone. On the dotted line risks are right.${smallCell > 1 ? ` Parts with 1 to ${smallCell - 1} events are not drawn.` : ""}`,
      summary: calibration
        .map(
          ({ time, overall }) =>
            `By ${timeSpan(time, unit)}: ${percent(overall.predicted)} predicted, ${percent(overall.observed)} observed`,
        )
        .join("; ")
        .concat("."),
      table: {
        columns: ["Time and part", "predicted", "observed", "95% interval"],
        rows: calibration.flatMap(({ time, overall, groups }) =>
          [
            ...groups.map((group, k) => ({ name: `part ${k + 1} of ${groups.length}`, group })),
            { name: "everyone", group: overall },
          ]
            .filter(({ group }) => isShown(group, smallCell))
            .map(({ name, group }) => [
              `${timeSpan(time, unit)}, ${name}`,
              percent(group.predicted, 1),
              percent(group.observed, 1),
              Number.isFinite(group.lower) ? `${percent(group.lower, 1)} to ${percent(group.upper, 1)}` : NONE,
            ]),
        ),
      },
      width: 720,
      draw: (canvas) => drawCalibration(calibration, unit, smallCell, canvas),
    });
  }
  const dropout = survival?.dropout;
  if (dropout !== undefined) {
    const groups = dropout.groups.map(({ letter, numMembers }, k) => {
      const rank = all.findIndex((known) => known.letter === letter);
      return { rank: rank < 0 ? k : rank, isShown: isCount(rough(numMembers, smallCell)) };
    });
    figures.push({
      key: "dropout",
      title: "Courses if those who left had gone on otherwise",
      caption: `Median of the members' expected courses${dropout.marker.unit === "" ? "" : ` in ${dropout.marker.unit}`}: coloured as the model says (delta 0), thin where ${dropout.who} are shifted after their last visit by delta (${deltaUnit(dropout)}; dashed: down), which is written at the lowest and the highest.`,
      summary: tippingSentences(dropout).join(" "),
      table: {
        columns: ["delta", ...dropout.groups.flatMap(({ letter }) => [`${letter} median`, `${letter} mean forecast`])],
        rows: dropout.rows.map(({ delta, groups: rows }) => [
          deltaText(delta),
          ...rows.flatMap(({ median, forecast }, g) =>
            groups[g].isShown ? [significant(median), significant(forecast)] : [NONE, NONE],
          ),
        ]),
      },
      width: 720,
      draw: (canvas) => drawDropout({ dropout, groups }, canvas),
    });
  }
  return figures;
}
