/** Figures of covariates: an arrow on the map per shift of places, and courses at chosen values. */
import type { CovariateCourses } from "../covariates.ts";
import { shiftTable } from "../covariates.ts";
import { drawCovariateCourses } from "../figures/covariate-courses.ts";
import type { DataTable, Figure } from "../figures/figure.ts";
import { prepareMap } from "../figures/map-data.ts";
import { drawShiftMap } from "../figures/shift-map.ts";
import { fixed, significant } from "../numbers.ts";
import type { Context } from "./context.ts";

/** Figures of a study with covariates; none of others. */
export function covariateFigures(context: Context): Figure[] {
  const { covariates } = context.study;
  if (covariates === undefined) return [];
  return [shiftFigure(context), courseFigure(context)].filter((figure) => figure !== undefined);
}

function shiftFigure({ study }: Context): Figure | undefined {
  const { shifts } = study.covariates!;
  const map = shifts.length === 0 ? undefined : prepareMap(study);
  if (map === undefined) return undefined;
  const table = shiftTable(shifts);
  return {
    key: "shifts",
    title: "Where covariates shift places",
    caption:
      "Arrows: from the centre of the map to where people stand on average before anything is measured, one step of a number (about a standard deviation) or a level against its reference; dashed: the 95% region of the tip.",
    summary: table.rows
      .map((row) => `${row[0]}: length ${row[row.length - 2]}`)
      .join("; ")
      .concat("."),
    table,
    width: 540,
    draw: (canvas) => drawShiftMap(map, shifts, canvas),
  };
}

function courseFigure({ study, timeWord }: Context): Figure | undefined {
  const { courses } = study.covariates!;
  if (courses.length === 0) return undefined;
  return {
    key: "covariate-courses",
    title: "Average courses by covariate",
    caption:
      "Median of the expected courses of people with the value before anything is measured, the other covariates at their means. Numbers at their 10th and 90th percentile, levels each.",
    summary: courses.map(summaryOf).join(" "),
    table: courseTable(courses, timeWord),
    width: 1112,
    draw: (canvas) => drawCovariateCourses(courses, canvas),
  };
}

function summaryOf({ marker, courses }: CovariateCourses): string {
  const ends = courses.map(
    ({ words, median }) => `${words} from ${significant(median[0])} to ${significant(median[median.length - 1])}`,
  );
  return `${marker.name}: ${ends.join("; ")}.`;
}

function courseTable(courses: readonly CovariateCourses[], timeWord: string): DataTable {
  const shown = [0, 10, 20, 30, 40];
  return {
    columns: ["Marker and value", ...shown.map((j) => `${timeWord} ${fixed(courses[0].times[j], 1)}`)],
    rows: courses.flatMap(({ marker, courses: own }) =>
      own.map(({ words, median }) => [`${marker.name}, ${words}`, ...shown.map((j) => significant(median[j]))]),
    ),
  };
}
