/**
 * Units of the rows of a table: in a column beside the values, in another unit beyond a limit, or in one other unit throughout. Values are
 * brought to the unit of their marker by converters that are handed over; every conversion is counted.
 */
import type { Marker } from "../cohort/marker.ts";
import { showReceived } from "../errors.ts";
import type { UnitConversion, UnitConverter, UnitRefusal } from "../units/unit-converter.ts";
import { howMany } from "./complaints.ts";

export interface RowUnits {
  /** One for each marker, in their order. */
  readonly converters: readonly UnitConverter[];
  /** Columns with the unit of each value: one for all markers, or one for each, "" for one whose values are taken as they are. */
  readonly columns?: readonly string[];
  /** The unit of all values. Instead of `columns`. */
  readonly unit?: string;
  /** Values above (1) or below (−1) a limit are in this unit, others in that of the marker. Instead of `columns`. */
  readonly beyond?: { readonly side: 1 | -1; readonly limit: number; readonly unit: string };
}

/** A conversion, of which marker, and how many values. */
export interface CountedConversion extends UnitConversion {
  readonly marker: string;
  readonly count: number;
}

export interface UnitReading extends RowUnits {
  /** Position of the column of units of each marker, −1 without one, [K]. */
  readonly positions: Int32Array;
  /** Conversions that were made, by what is written, of each marker, [K]. */
  readonly counts: readonly Map<string, { readonly conversion: UnitConversion; count: number }>[];
  /** Units that were refused, by marker and what is written: one complaint is made of all their values. */
  readonly refused: Map<string, RefusedUnit>;
}

/** A unit that cannot be converted: how many values have it, and the first. */
export interface RefusedUnit {
  readonly refusal: UnitRefusal;
  readonly written: string;
  readonly marker: number;
  readonly at: number;
  readonly line: number;
  count: number;
}

export function createUnitReading(units: RowUnits | undefined, numMarkers: number): UnitReading | undefined {
  if (units === undefined) return undefined;
  const counts = Array.from({ length: numMarkers }, () => new Map());
  return { ...units, positions: new Int32Array(numMarkers).fill(-1), counts, refused: new Map() };
}

/** The unit of a marker's values after reading. */
export function markerUnit({ converters }: UnitReading, k: number, { unit }: Marker): string {
  return unit === "" ? (converters[k].unit() ?? "") : unit;
}

/** Conversions and readings of units that change a number or a word, with their counts. */
export function conversionsOf(units: UnitReading | undefined, names: readonly string[]): CountedConversion[] {
  return (units?.counts ?? []).flatMap((counts, k) =>
    [...counts.values()]
      .filter(({ conversion: { from, to } }) => from !== to)
      .map(({ conversion, count }) => ({ ...conversion, marker: names[k], count }))
      .sort((a, b) => b.count - a.count || (a.from < b.from ? -1 : 1)),
  );
}

/** "12 values of creatinine in "umol/L" were brought to mg/dL: times 0.01131 (113.12 g/mol of creatinine)." */
export function conversionWords({ marker, from, to, slope, intercept, by, count }: CountedConversion): string {
  const values = `${howMany(count, "value")} of ${showReceived(marker)}`;
  const written = from === "" ? "without a unit" : `in "${showReceived(from)}"`;
  if (slope === 1 && intercept === 0) {
    return `${values} ${written} ${count === 1 ? "is" : "are"} taken as ${showReceived(to)} unchanged${by === undefined ? "" : ` (${by})`}.`;
  }
  const shift =
    intercept === 0 ? "" : `, ${intercept < 0 ? "minus" : "plus"} ${Number(Math.abs(intercept).toPrecision(6))}`;
  return `${values} ${written} ${count === 1 ? "was" : "were"} brought to ${showReceived(to)}: times ${Number(slope.toPrecision(6))}${shift}${by === undefined ? "" : ` (${by})`}.`;
}
