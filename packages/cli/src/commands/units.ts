/** Units of the values of visits: which column says them, what they mean, and to which unit all are brought. */
import type { Marker } from "@trajectory-maps/core";
import type { ReadCohortOptions } from "@trajectory-maps/core/ingest";
import { UsageError } from "../exit-codes.ts";
import { inGroup, listOption, type OptionSpec, type Options, repeatedOption, textOption } from "./command.ts";
import { realNumber } from "./numbers.ts";
import { splitList, unquote } from "./quoted.ts";

export const UNIT_OPTIONS = inGroup("Units", [
  {
    flags: "--unit-column <column>",
    description:
      "column with the unit of each value, all of which are brought to --unit; with --markers one for all or one for each, with commas",
  },
  {
    flags: "--analyte <name>",
    description:
      "what is measured, by name or LOINC code, for conversions that depend on it (default: the marker's name); with --markers as marker=analyte, with commas",
  },
  {
    flags: "--unit-means <written=unit>",
    description: "a unit that is meant otherwise than it is written, or with nothing before the sign no unit at all",
    repeatable: true,
  },
  {
    flags: "--convert-above <limit:unit>",
    description: "values above the limit are in this unit: bring them to --unit",
  },
  {
    flags: "--convert-below <limit:unit>",
    description: "values below the limit are in this unit: bring them to --unit",
  },
]);

/** For visits that a model reads. */
export const CONVERT_OPTION: OptionSpec = {
  flags: "--convert-unit",
  description: "bring the values, which are in --unit, to the unit of the model",
};

type NamedMarker = Partial<Pick<Marker, "name" | "unit">> & { readonly column?: string };
type RowUnits = NonNullable<ReadCohortOptions["units"]>;

/**
 * How the units of values are read, if that is asked for. The unit of each of the markers is what all its values are brought to;
 * `inUnit` is the unit of all values, where that is another.
 */
export async function rowUnits(
  markers: readonly NamedMarker[],
  options: Options,
  inUnit?: string,
): Promise<{ units?: RowUnits }> {
  const columns = listOption(options, "unitColumn")?.map(unquote);
  const beyond = beyondOf(options);
  if (columns === undefined && beyond === undefined && inUnit === undefined) return refuseIdle(options);
  if (columns !== undefined && (beyond !== undefined || inUnit !== undefined)) {
    throw new UsageError("--unit-column: expected without --convert-above, --convert-below and --convert-unit.");
  }
  if (columns !== undefined && columns.length !== 1 && columns.length !== markers.length) {
    throw new UsageError(`--unit-column: expected one column, or one for each marker, received ${columns.length}.`);
  }
  if (beyond !== undefined && (markers.length > 1 || (markers[0]?.unit ?? "") === "")) {
    throw new UsageError(
      "--convert-above, --convert-below: expected with one marker and --unit, to which values are brought.",
    );
  }
  const { createConverter } = await import("@trajectory-maps/core/units");
  const converters = await Promise.all(
    markers.map(async (marker) => createConverter(await converterOptions(marker, options))),
  );
  return {
    units: {
      converters,
      ...(columns === undefined ? {} : { columns }),
      ...(beyond === undefined ? {} : { beyond }),
      ...(inUnit === undefined ? {} : { unit: inUnit }),
    },
  };
}

/** Whether two units, as they are written, are the same. */
export async function isSameUnit(a: string, b: string): Promise<boolean> {
  const { unitCode } = await import("@trajectory-maps/core/units");
  const [one, other] = [unitCode(a), unitCode(b)];
  return "code" in one && "code" in other && one.code === other.code;
}

/** To which unit a marker's values are brought, and of which analyte. */
export async function converterOptions({ name, unit = "", column }: NamedMarker, options: Options) {
  const { findAnalyte } = await import("@trajectory-maps/core/units");
  const names = [name, column, textOption(options, "marker"), textOption(options, "value")];
  const analyte =
    analyteOf(options, names) ?? names.find((text) => text !== undefined && findAnalyte(text) !== undefined);
  return {
    ...(unit === "" ? {} : { to: unit }),
    ...(analyte === undefined ? {} : { analyte }),
    meant: meantOf(options),
  };
}

/** The analyte of --analyte: one for all, or that of the marker of one of these names. */
function analyteOf(options: Options, names: readonly (string | undefined)[]): string | undefined {
  const parts = (listOption(options, "analyte") ?? []).map((part) => splitList(part, "=").map(unquote));
  const [only] = parts;
  if (parts.length === 1 && only?.length === 1) return only[0];
  const wrong = parts.find((part) => part.length !== 2);
  if (wrong !== undefined) {
    throw new UsageError(`--analyte: expected one name, or marker=analyte with commas, received "${wrong.join("=")}".`);
  }
  return parts.find(([marker]) => names.includes(marker))?.[1];
}

/** What units are said to mean, by how they are written. */
function meantOf(options: Options): Record<string, string> {
  return Object.fromEntries(
    repeatedOption(options, "unitMeans").map((text) => {
      const at = text.indexOf("=");
      if (at < 0 || text.slice(at + 1).trim() === "") {
        throw new UsageError(
          `--unit-means: expected written=unit, such as "mL/min=mL/min/1.73m2", received "${text}".`,
        );
      }
      return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
    }),
  );
}

function beyondOf(options: Options): RowUnits["beyond"] {
  const given = (
    [
      ["convertAbove", 1],
      ["convertBelow", -1],
    ] as const
  ).flatMap(([name, side]) => {
    const text = textOption(options, name);
    return text === undefined ? [] : [{ flag: side > 0 ? "--convert-above" : "--convert-below", text, side }];
  });
  if (given.length > 1) throw new UsageError("--convert-above, --convert-below: expected one of them, received both.");
  const [first] = given;
  if (first === undefined) return undefined;
  const at = first.text.indexOf(":");
  const unit = first.text.slice(at + 1).trim();
  if (at < 0 || unit === "")
    throw new UsageError(`${first.flag}: expected limit:unit, such as 20:umol/L, received "${first.text}".`);
  return { side: first.side, limit: realNumber(first.flag, first.text.slice(0, at)), unit };
}

/** Refuses options that nothing would use. */
function refuseIdle(options: Options): { units?: RowUnits } {
  const isMeant = repeatedOption(options, "unitMeans").length > 0;
  if (!isMeant && textOption(options, "analyte") === undefined) return {};
  throw new UsageError(
    `--${isMeant ? "unit-means" : "analyte"}: expected with units to convert: --unit-column, --convert-above, --convert-below or --fhir.`,
  );
}
