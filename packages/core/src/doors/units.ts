/** Units of measurement: converters that a reader of tables takes, and the table of analytes behind them. */

export { type CountedConversion, conversionWords, type RowUnits } from "../ingest/row-units.ts";
export { type ReadUnit, unitCode } from "../units/aliases.ts";
export { ANALYTES, type Analyte, findAnalyte, usualRatio } from "../units/analytes.ts";
export { type ConverterOptions, createConverter, unitLine } from "../units/convert.ts";
export type { UnitConversion, UnitConverter, UnitRefusal } from "../units/unit-converter.ts";
