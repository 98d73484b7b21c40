/** How many rows and individuals enter each part of the study, and how many are left out of it, and why. */
import type { Figure } from "../figures/figure.ts";
import { drawFlow, type Flow, type FlowBox } from "../figures/flow.ts";
import { cell, counted, isSmall, listWords, whole } from "../numbers.ts";
import { rough, roundedToFives } from "../small-cells.ts";
import { midSentence, outcomeName } from "../words.ts";
import type { Context } from "./context.ts";

/** The figure of boxes. */
export function flowFigure(context: Context): Figure {
  const flow = flowOf(context);
  const boxes = [
    ...flow.steps.flatMap(({ aside, ...box }) => (aside === undefined ? [box] : [box, aside])),
    ...flow.analyses,
  ];
  return {
    key: "flow",
    title: "Flow of rows and individuals",
    caption: `From the table to the map, and into each analysis.${context.smallCell > 1 ? ` Counts under ${context.smallCell} are withheld and numbers in analyses ${roundedToFives(context.smallCell)}.` : ""}`,
    summary: boxes
      .map(({ title, lines }) => [title, ...lines].join(", "))
      .join("; ")
      .concat("."),
    table: { columns: ["Step", "details"], rows: boxes.map(({ title, lines }) => [title, lines.join("; ") || "–"]) },
    width: 760,
    draw: (canvas) => drawFlow(flow, canvas),
  };
}

function flowOf(context: Context): Flow {
  const { study, smallCell, visitCells, groups } = context;
  const { cohort, association, survival, several } = study;
  const comparison = study.comparison ?? several?.comparison;
  // All individuals are no secret.
  const rough5 = (n: number) => (n === cohort.numIndividuals ? cell(n, smallCell) : rough(n, smallCell));
  const leftOut = cohort.numRowsLeftOut ?? 0;
  const [one, two, three, four, six, nine] = visitCells;
  const individuals: FlowBox = {
    title: `${cell(cohort.numIndividuals, smallCell)} individuals, ${whole(cohort.numObservations)} observations`,
    lines: [
      `With 1, 2 and 3 visits: ${one}, ${two} and ${three}`,
      `With 4–5, 6–8 and 9 or more: ${four}, ${six} and ${nine}`,
    ],
  };
  // The rows read are known, so rows in the file would give a small number left out away.
  const rows = isSmall(leftOut, smallCell) ? "Rows of the table" : `${whole(cohort.numRows ?? 0)} rows in the table`;
  const reasons = cohort.warnings
    .filter(({ remedy, count }) => /left out/.test(remedy) && count !== undefined)
    .map(({ code, count }) => `${rough5(count ?? 0)} ${LEFT_OUT_WORDS[code] ?? code.replaceAll("-", " ")}`);
  const out: FlowBox = {
    title: leftOut === 0 ? "No row left out" : `${capitalCell(leftOut, smallCell)} left out`,
    lines: leftOut === 0 ? [] : reasons,
  };
  const { record } = context;
  const placed = study.placements?.ids.length ?? record?.numIndividuals;
  const lost = placed === undefined ? 0 : cohort.numIndividuals - placed;
  const steps: Flow["steps"] = [
    ...(cohort.numRows === undefined ? [] : [{ title: rows, lines: [], aside: out }]),
    {
      ...individuals,
      ...(lost > 0
        ? { aside: { title: `${rough5(lost)} not in the model`, lines: ["without a covariate of the model"] } }
        : {}),
    },
    ...(placed === undefined
      ? []
      : [{ title: `${lost > 0 ? rough5(placed) : cell(placed, smallCell)} placed on the map`, lines: [] }]),
  ];
  const analyses: FlowBox[] = [];
  if (groups.length > 0 && study.groups !== undefined) {
    const clustered = study.groups.numClustered;
    analyses.push({
      title: `${groups.length === 1 ? "One group" : `${groups.length} groups`}`,
      lines: [
        `${rough5(groups.reduce((sum, { size }) => sum + size, 0))} individuals`,
        // As the text of the groups has it.
        ...(clustered === undefined
          ? []
          : [`${cell(clustered, smallCell)} clustered, the others joined by their place`]),
      ],
    });
  }
  if (comparison !== undefined) {
    analyses.push({
      title: "Comparison of models",
      lines: [`${cell(cohort.numIndividuals, smallCell)} individuals in ${counted(comparison.folds, "fold")}`],
    });
  }
  if (association !== undefined && association.outcomes.length > 0) {
    const tested = association.outcomes.map(({ cases, controls }) => cases + controls);
    const [low, high] = [Math.min(...tested), Math.max(...tested)];
    analyses.push({
      title: counted(association.outcomes.length, "outcome"),
      lines: [
        `${low === high ? rough5(low) : `${rough5(low)} to ${rough5(high)}`} individuals with a known outcome`,
        ...((association.leftOut ?? 0) > 0 ? [`${rough5(association.leftOut ?? 0)} without a covariate left out`] : []),
      ],
    });
  }
  if (survival !== undefined) {
    const { leftOut: gone, curves } = survival;
    const reasons =
      gone === undefined
        ? []
        : [
            [gone.eventBefore, "event before the landmark"],
            [gone.censoredBefore, "no longer followed"],
            [gone.noVisitBefore, "no visit yet"],
            [gone.unknown, "follow-up unknown"],
            [survival.withoutCovariates ?? 0, "without a covariate"],
          ].flatMap(([n, why]) => (Number(n) > 0 ? [`${rough5(Number(n))} ${why}`] : []));
    analyses.push({
      title: `Time to ${midSentence(outcomeName(survival.event))}`,
      lines: [
        `${rough5(curves.reduce((sum, { numIndividuals }) => sum + numIndividuals, 0))} individuals from the landmark on`,
        ...(reasons.length === 0 ? [] : [`Left out: ${listWords(reasons)}`]),
      ],
    });
  }
  return { steps, analyses };
}

function capitalCell(count: number, smallCell: number): string {
  return `${cell(count, smallCell)} ${count === 1 && !isSmall(count, smallCell) ? "row" : "rows"}`;
}

const LEFT_OUT_WORDS: Readonly<Record<string, string>> = {
  "missing-value": "without a value",
  "missing-time": "without a time",
  "duplicate-rows": "exact repeats",
  "not-a-number": "not a number",
  "missing-id": "without an id",
};
