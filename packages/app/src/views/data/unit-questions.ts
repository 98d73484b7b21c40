/** Values in several units, named in a column beside them: to which is each marker brought? Pure, so that it can be tested. */
import type { TablePreview } from "@trajectory-maps/core/ingest";
import { type UnitsOfMarker, unitsOfMarker } from "./marker-units.ts";
import { describeMarker } from "./several-choice.ts";
import { isSeveral, type MarkerRow, markerRows, sourceOf, type TableChoice } from "./table-choice.ts";
import type { Answer, Question } from "./table-questions.ts";

/** Units to choose among at most. */
const MOST_UNITS = 4;

/** A question for each marker whose values come in several units. */
export function unitQuestions(choice: TableChoice, table: TablePreview): Question[] {
  return markerRows(choice).flatMap((row, k) => {
    const found = unitsOfMarker(choice, row, table);
    if (found === undefined || found.units.length < 2 || found.units.length > MOST_UNITS) return [];
    return [unitQuestion(choice, row, k, sourceOf(row, table), found)];
  });
}

function unitQuestion(
  choice: TableChoice,
  row: MarkerRow,
  k: number,
  source: string,
  { column, units }: UnitsOfMarker,
): Question {
  const said = choice.form.unitColumns?.[source];
  const take =
    (unitColumn: string, unit: string): Answer["take"] =>
    (before) => {
      const changed = describeMarker(before, k, { unit });
      return {
        ...changed,
        form: { ...changed.form, unitColumns: { ...changed.form.unitColumns, [source]: unitColumn } },
      };
    };
  // The unit of the marker may be another than those written, such as that of a model.
  const offered = [...new Set([...units, row.unit.trim()])].filter((unit) => unit !== "");
  const answers = offered.map(
    (unit): Answer => ({
      words: `All to ${unit}`,
      readings: units.map((written) => (written === unit ? "as it is" : `converted to ${unit}`)),
      isChosen: said === column && row.unit.trim() === unit,
      take: take(column, unit),
    }),
  );
  const none: Answer = {
    words: "Leave values as written",
    readings: units.map(() => "as it is"),
    isChosen: said === "",
    take: take("", ""),
  };
  const values = isSeveral(choice) ? `Values of “${source}”` : "Values";
  return {
    key: `units ${source}`,
    words: `${values} come in units named by “${column}”. To which are they brought?`,
    cells: units,
    answers: [...answers, none],
  };
}
