/**
 * Table of characteristics by group: what the visits say of everyone, then columns of a table of individuals. In a report for
 * sharing a number is left out where a group has too few values; a category with a small count anywhere, or with sizes of groups
 * held back, is rounded to fives as a whole, since its rows and columns both add up; the difference between groups is then left
 * out too, as counts could be worked out from it.
 */
import { type Cohort, numIndividuals } from "@trajectory-maps/core";
import { type SubjectsTable, visitTimes } from "@trajectory-maps/core/ingest";
import {
  type Characteristic,
  characteristicsOf,
  MOST_NUMBER_LEVELS,
  numberCharacteristic,
  SKEWED_ABOVE,
} from "@trajectory-maps/core/study";
import type { Context } from "./content/context.ts";
import { decimalsFor, fixed, isSmall, NONE, percent, whole } from "./numbers.ts";
import {
  coverRounded,
  isCount,
  markCells,
  type RoundedMark,
  rough,
  roughRange,
  roundedToFives,
} from "./small-cells.ts";
import type { Numbers, StudyCharacteristics } from "./study.ts";
import { outcomeName } from "./words.ts";

/** What is known of individuals by group; `table` and the names of its columns may be left out. */
export function studyCharacteristics(
  cohort: Cohort,
  groups: { readonly labels: Numbers; readonly numGroups: number },
  subjects?: { readonly table: SubjectsTable; readonly columns: readonly string[] },
): StudyCharacteristics {
  const { labels, numGroups } = groups;
  const { times, offsets } = visitTimes(cohort);
  const each = (name: string, pick: (individual: number) => number) =>
    numberCharacteristic(
      name,
      Float64Array.from({ length: numIndividuals(cohort) }, (_, i) => pick(i)),
      labels,
      numGroups,
    );
  const unit = (name: string, text: string) => (text.trim() === "" ? name : `${name}, ${text.trim()}`);
  const listed = new Set(subjects?.table.ids);
  return {
    rows: [
      each("Visits", (i) => offsets[i + 1] - offsets[i]),
      each(
        unit("First to last visit", cohort.markers[0].marker.timeUnit),
        (i) => times[offsets[i + 1] - 1] - times[offsets[i]],
      ),
      ...cohort.markers.map(({ marker, values, offsets: own }) =>
        each(unit(`First ${marker.name}`, marker.unit), (i) => (own[i + 1] > own[i] ? values[own[i]] : Number.NaN)),
      ),
      ...(subjects === undefined
        ? []
        : characteristicsOf(subjects.table, subjects.columns, cohort.ids, labels, numGroups)),
    ],
    ...(subjects === undefined ? {} : { notListed: cohort.ids.filter((id) => !listed.has(id)).length }),
  };
}

/** A row of the table as text; `level` rows stand under the name of their category. */
export interface CharacteristicRow {
  readonly head: string;
  /** What the cells hold: "mean (sd)". */
  readonly note: string;
  readonly level: boolean;
  /** One for each group, in the order of the letters, and one over all; none under the name of a category. */
  readonly cells: readonly string[];
  /** Standardised mean difference; empty where another row has it. */
  readonly difference: string;
}

/** Rows of the table, as they may be shown. */
export function characteristicRows(context: Context): CharacteristicRow[] {
  const { characteristics } = context.study;
  // Columns in the order of the letters, then all.
  const order = context.groups.map(({ group }) => group);
  return (characteristics?.rows ?? []).flatMap((row) => {
    const columns = [...order, (row.kind === "number" ? row.summaries : row.counts).length - 1];
    return row.kind === "number" ? numberRows(row, columns, context) : categoryRows(row, columns, context);
  });
}

function numberRows(
  row: Extract<Characteristic, { kind: "number" }>,
  columns: readonly number[],
  { smallCell }: Context,
): CharacteristicRow[] {
  const shown = columns.map((k) => row.summaries[k]);
  const groups = shown.slice(0, -1);
  // From the mean of all and of the others that of a group could be worked out.
  const marks = markCells(
    groups.map(({ known }) => ({
      value: known,
      sensitive: isSmall(known, smallCell) ? [1, smallCell - 1] : null,
      cover: [smallCell, Number.POSITIVE_INFINITY],
    })),
  );
  const decimals = decimalsFor(shown[shown.length - 1].sd / 20);
  const cells = shown.map(({ known, mean, sd, quartiles: [q1, q2, q3] }, k) => {
    if (known === 0 || isSmall(known, smallCell) || (k < marks.length && marks[k] !== "shown")) return NONE;
    return row.skewed
      ? `${fixed(q2, decimals)} (${fixed(q1, decimals)}–${fixed(q3, decimals)})`
      : `${fixed(mean, decimals)} (${fixed(sd, decimals)})`;
  });
  const hidden = marks.some((mark) => mark !== "shown");
  const missing = shown.map((summary) => summary.missing);
  return [
    {
      head: outcomeName(row.name),
      note: row.skewed ? "median (IQR)" : "mean (sd)",
      level: false,
      cells,
      difference: hidden ? NONE : differenceText(row.difference),
    },
    ...missingRow(missing, smallCell, false),
  ];
}

function categoryRows(
  row: Extract<Characteristic, { kind: "category" }>,
  columns: readonly number[],
  { smallCell, sizes }: Context,
): CharacteristicRow[] {
  const counts = columns.map((k) => row.counts[k]);
  const missing = columns.map((k) => row.missing[k]);
  const rounded =
    smallCell > 1 && (!sizes.every(isCount) || [...counts.flat(), ...missing].some((n) => isSmall(n, smallCell)));
  // What is missing is a part of each group too.
  const parts = counts.map((own, k) => [...own, missing[k]]);
  const sum = (own: readonly number[]) => own.reduce((all, n) => all + n, 0);
  const marks = rounded ? coverRounded(parts, parts.map(sum), smallCell) : [];
  const missingMarks = marks.map((own) => own[own.length - 1]);
  const text = (count: number, k: number, mark: RoundedMark | undefined) => {
    const known = sum(counts[k]);
    if (known === 0 || mark === "withheld") return NONE;
    if (mark === "bounded") return `≥${smallCell}`;
    if (!rounded) return `${whole(count)} (${percent(count / known)})`;
    const shown = rough(count, smallCell);
    // The whole is told by the size of the group and the number of missing values, where both are.
    const isTold = (k >= sizes.length || isCount(sizes[k])) && missingMarks[k] === "rounded";
    if (isSmall(count, smallCell) || !isTold) return shown;
    return `${shown} (${openShare(count, sum(parts[k]), missing[k], smallCell)})`;
  };
  const cellsOf = (level: number) => counts.map((own, k) => text(own[level], k, marks[k]?.[level]));
  const difference = rounded ? NONE : differenceText(row.difference);
  const name = outcomeName(row.name);
  const yes = yesLevel(row.levels);
  if (yes >= 0) {
    return [
      { head: name, note: "n (%)", level: false, cells: cellsOf(yes), difference },
      ...missingRow(missing, smallCell, rounded, missingMarks),
    ];
  }
  return [
    { head: name, note: "n (%)", level: false, cells: [], difference },
    ...row.levels.map((level, k) => ({ head: level, note: "", level: true, cells: cellsOf(k), difference: "" })),
    ...missingRow(missing, smallCell, rounded, missingMarks),
  ];
}

/** "59–69%": the share of those known that rounded numbers leave open, so that it tells no more than they do. */
function openShare(count: number, size: number, missing: number, smallCell: number): string {
  const [[least, most], [fewest, all]] = [roughRange(count, smallCell), roughRange(missing, smallCell)];
  const low = fixed((100 * least) / (size - fewest), 0);
  const high = fixed(100 * Math.min(1, most / Math.max(1, size - all)), 0);
  return low === high ? `${low}%` : `${low}–${high}%`;
}

/** Of no and yes, only yes has a row. */
function yesLevel(levels: readonly string[]): number {
  const words = levels.map((level) => level.toLowerCase());
  const [no, yes] = [
    ["0", "no", "false"],
    ["1", "yes", "true"],
  ];
  if (words.length !== 2) return -1;
  return no.some((word, k) => words.includes(word) && words.includes(yes[k]))
    ? words.findIndex((word) => yes.includes(word))
    : -1;
}

function missingRow(
  missing: readonly number[],
  smallCell: number,
  rounded: boolean,
  marks: readonly RoundedMark[] = [],
): CharacteristicRow[] {
  if (missing.every((n) => n === 0)) return [];
  const some = rounded || missing.some((n) => isSmall(n, smallCell));
  const cells = missing.map((n, k) => {
    if (marks[k] === "withheld") return NONE;
    if (marks[k] === "bounded") return `≥${smallCell}`;
    return some ? rough(n, smallCell) : whole(n);
  });
  return [{ head: "missing", note: "n", level: true, cells, difference: "" }];
}

function differenceText(difference: number): string {
  return difference === Number.POSITIVE_INFINITY ? "∞" : fixed(difference, 2);
}

/** What the numbers of the table are. */
export function characteristicsNote({ smallCell }: Context): string {
  const rounding =
    smallCell > 1
      ? ` Characteristics with counts under ${smallCell} are ${roundedToFives(smallCell)}, with the percentages that this leaves open, without those of small counts and without SMD; ≥${smallCell} where rounding would give a small count away, – where nothing else would keep it.`
      : "";
  return `Numbers are given as mean (sd), as median (IQR) where their skewness is above ${SKEWED_ABOVE} in size; columns with at most ${MOST_NUMBER_LEVELS} values are categories, with percentages of those known. SMD: standardised mean difference, the largest over pairs of groups; above 0.1 it is usually called imbalance. Groups were made from the marker, so that differences in it are by construction.${rounding}`;
}
