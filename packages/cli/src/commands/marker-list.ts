/** The list of markers of --markers: columns with commas, each with its transform and unit, as in bili:log[mg/dl],albumin. */
import { type MarkerChoice, TRANSFORMS, type Transform } from "@trajectory-maps/core/ingest";
import { UsageError } from "../exit-codes.ts";
import { type Options, textOption } from "./command.ts";
import { QUOTING, splitList, unquote } from "./quoted.ts";

/** The markers asked for; undefined without the option. */
export function markersOf(options: Options): MarkerChoice[] | undefined {
  const text = textOption(options, "markers");
  const column = textOption(options, "markerColumn");
  if (text === undefined) {
    if (column !== undefined) {
      throw new UsageError("--marker-column: expected with --markers, which says which of its markers to take.");
    }
    return undefined;
  }
  if (column === undefined && options.value !== undefined) {
    throw new UsageError("--value: expected for one marker, or with --marker-column. Name the columns in --markers.");
  }
  const markers = splitList(text, ",")
    .filter((part) => part !== "")
    .map((part) => markerOf(part));
  if (markers.length === 0)
    throw new UsageError('--markers: expected columns such as "bili:log,albumin", received none.');
  return markers;
}

/** "name", "name:transform", "name[unit]" or "name:transform[unit]". */
export function markerOf(text: string, option = "--markers"): MarkerChoice {
  const unit = /\[([^[\]]*)\]$/.exec(text);
  const before = unit === null ? text : text.slice(0, unit.index);
  const parts = splitList(before, ":");
  const transform = parts.length > 1 ? parts.pop()! : "identity";
  const column = unquote(parts.join(":"));
  if (!TRANSFORMS.includes(transform as Transform)) {
    throw new UsageError(
      `${option}: expected a transform among ${TRANSFORMS.join(", ")} after the colon, received "${transform}" in "${text}". ${QUOTING}`,
    );
  }
  if (column === "") throw new UsageError(`${option}: expected the name of a column, received "${text}".`);
  return { column, transform: transform as Transform, ...(unit === null ? {} : { unit: unit[1]!.trim() }) };
}
