/**
 * A table of several markers that is read as one: a column says of each row what was measured (test: hdl, chol), and nobody said to look at it.
 * Such values are no course of anything. Where the value column was guessed this is asked about; where it was named, warned of.
 */
import { showReceived } from "../errors.ts";
import { usualMarkerColumn } from "./column-names.ts";
import { type FoundColumns, listWord, shellWord } from "./columns.ts";
import type { Finding } from "./complaints.ts";
import { readNumber } from "./numbers.ts";
import type { Reading } from "./reading.ts";

/** Markers held, and those written out. */
const LEVELS_KEPT = 100;
const LEVELS_SHOWN = 5;

/** Looks for such a column among those that nothing else is read from. */
export function findUnreadMarkers({ options, unread, origin, units }: Reading, found: FoundColumns): void {
  if (options.markers !== undefined) return;
  const taken = [...Object.values(found.positions), found.dates, origin.at, ...(units?.positions ?? [])];
  unread.at = usualMarkerColumn(found.header, taken);
}

/** Notes what a row that was taken says. */
export function noteUnreadMarker({ unread: { at, levels } }: Reading, fields: readonly string[]): void {
  if (at < 0 || levels.size >= LEVELS_KEPT) return;
  const level = fields[at].trim();
  if (level !== "") levels.add(level);
}

/** Whether the value column was guessed: then rows of several markers are refused, else warned of. */
export function areUnreadRefused({ options }: Reading): boolean {
  return options.columns?.value === undefined;
}

/** What is wrong where rows are of several markers. Numbers count tests or visits; they name nothing. */
export function unreadFinding(reading: Reading, { header, positions }: FoundColumns): Finding | undefined {
  const { at, levels } = reading.unread;
  if (levels.size < 2 || [...levels].some((level) => !Number.isNaN(readNumber(level, ".")))) return undefined;
  const names = [...levels].map((level) => showReceived(level));
  const shown = names.slice(0, LEVELS_SHOWN).map((name) => `"${name}"`);
  const received = `a column that seems to name several: ${shown.join(", ")}${names.length > shown.length ? " and more" : ""}`;
  const wanted = `--marker-column ${shellWord(header[at])} --markers ${shellWord(names.slice(0, 2).map(listWord).join(","))}`;
  const remedy = areUnreadRefused(reading)
    ? `If all rows are of one marker, name its column: --value ${shellWord(header[positions.value])} (columns).`
    : "All are read as one marker.";
  return [
    "unread-markers",
    ["rows of one marker", received, `Name those wanted, as ${wanted} (markerColumn, markers). ${remedy}`],
  ];
}
