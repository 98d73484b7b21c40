/**
 * From the unit in which a value is written to that of its marker: a straight line, found once for each pair of units. Mass becomes amount, and
 * dimensionless units become one another, only for an analyte that is named: 6.5 % of HbA1c is 47.5 mmol/mol, not 65. What
 * cannot be converted by a rule of this folder is refused with what would help.
 */
import { DtmError, nearestName, showReceived } from "../errors.ts";
import { annotationsOf, COMMON_CODES, isUsualUnit, unitCode } from "./aliases.ts";
import { ANALYTES, type Analyte, findAnalyte } from "./analytes.ts";
import { type Line, lineBetween, type Measured, measuredBy } from "./ucum.ts";
import type { UnitConversion, UnitConverter, UnitRefusal } from "./unit-converter.ts";

export interface ConverterOptions {
  /** The unit that all values are brought to, as a person writes it. Default: that of the first value; others are then refused. */
  readonly to?: string;
  /** Name or LOINC code of what is measured. */
  readonly analyte?: string;
  /** Units that are meant otherwise than they are written, such as { "mL/min": "mL/min/1.73m2" }; the key "" stands for no unit. */
  readonly meant?: Readonly<Record<string, string>>;
}

/**
 * A converter to one unit.
 * @throws DtmError "unknown-unit" if `to` is no unit, "option" if the analyte is not in the table.
 * @example
 * createConverter({ to: "umol/L", analyte: "creatinine" }).conversion("MG/DL"); // slope 88.40
 */
export function createConverter({ to, analyte: named, meant = {} }: ConverterOptions = {}): UnitConverter {
  const analyte = named === undefined ? undefined : findAnalyte(named);
  if (named !== undefined && analyte === undefined) throw unknownAnalyte(named);
  let target = to === undefined || to.trim() === "" ? undefined : knownCode(to);
  const means = new Map(Object.entries(meant).map(([written, as]) => [written.trim(), as]));
  const known = new Map<string, UnitConversion | UnitRefusal>();
  const convert = (written: string): UnitConversion | UnitRefusal => {
    const taken = means.get(written) ?? written;
    if (taken.trim() === "") return { reason: "missing" };
    const read = readCode(taken);
    if ("reason" in read) return read;
    target ??= { written: taken, code: read.code };
    const isSame = read.code === target.code;
    // Which unit comes first says nothing: only one that was asked for has others brought to it.
    const other = to === undefined ? undefined : joining(read.code, target.code, analyte);
    const found = isSame ? { slope: 1, intercept: 0 } : other;
    if (found === undefined)
      return { reason: "other", remedy: remedyFor(read.code, target, analyte, to === undefined) };
    return { from: written, to: target.written, code: read.code, ...found };
  };
  return {
    unit: () => target?.written,
    ...(analyte === undefined ? {} : { analyte: analyte.name }),
    conversion: (written) => {
      const text = written.trim();
      let found = known.get(text);
      if (found === undefined) {
        found = convert(text);
        known.set(text, found);
      }
      return found;
    },
  };
}

/** The line from one unit to another as people write them; undefined if there is none for this analyte. */
export function unitLine(from: string, to: string, analyte?: string): Line | undefined {
  const found = createConverter({ to, ...(analyte === undefined ? {} : { analyte }) }).conversion(from);
  return "slope" in found ? { slope: found.slope, intercept: found.intercept } : undefined;
}

/**
 * Whether a code of UCUM and a text beside it surely name units of another size or kind. What the text leaves open says nothing against the code: unknown
 * words, an annotation, U for [IU], milliequivalents for millimoles.
 */
export function unitsContradict(code: string, text: string): boolean {
  if (!isUsualUnit(text)) return false;
  const [a, b] = [readCode(code), readCode(text)];
  if ("reason" in a || "reason" in b || a.code === b.code) return false;
  const [x, y] = [a.code, b.code].map((one) => one.replaceAll(/\[i?IU\]/gi, "U"));
  const [is, be] = [measuredBy(x), measuredBy(y)];
  if (is === undefined || be === undefined) return false;
  const isSameMass = is.dimensions[MASS] === be.dimensions[MASS];
  if (isEquivalent(x) !== isEquivalent(y) && isSameMass) return false;
  if (is.moles !== be.moles || is.dimensions.some((power, k) => power !== be.dimensions[k])) return true;
  const line = lineBetween(x, y, {});
  return line === undefined || Math.abs(line.slope - 1) > SAME || Math.abs(line.intercept) > SAME;
}

/** Relative difference of sizes that rounding makes. */
const SAME = 1e-9;

type Joined = Line & { readonly by?: string };

/** The line between two codes, and the rule behind it. */
function joining(from: string, to: string, analyte: Analyte | undefined): Joined | undefined {
  const byScale = analyte?.scales === undefined ? undefined : alongScales(from, to, analyte.scales);
  if (byScale !== undefined) return { ...byScale, by: `formula of ${analyte!.name}` };
  if (annotationsOf(from) !== annotationsOf(to)) return undefined;
  const [a, b] = [from, to].map((code) => withoutArbitrary(code, analyte));
  const [is, be] = [measuredBy(a), measuredBy(b)];
  if (is === undefined || be === undefined || isBare(is) || isBare(be)) return undefined;
  if (is.moles === be.moles && isEquivalent(a) === isEquivalent(b)) {
    const line = lineBetween(a, b, {});
    return line !== undefined && a !== from && isEnzymeUnit(from, to)
      ? { ...line, by: "U and IU of an enzyme are one" }
      : line;
  }
  if (isEquivalent(a) !== isEquivalent(b)) {
    const { charge, weight } = analyte ?? {};
    if (charge === undefined) return undefined;
    const line = lineBetween(a, b, { charge, ...(weight === undefined ? {} : { molecularWeight: weight }) });
    return line && { ...line, by: `charge ${charge} of ${analyte!.name}` };
  }
  // UCUM takes a mole as a number: without a mass on one side moles would become counts.
  const { weight } = analyte ?? {};
  if (weight === undefined || is.dimensions[MASS] === be.dimensions[MASS]) return undefined;
  const line = lineBetween(a, b, { molecularWeight: weight });
  return line && { ...line, by: `${weight} g/mol of ${analyte!.name}` };
}

/** Place of mass among the dimensions of UCUM. */
const MASS = 2;

const isBare = ({ dimensions, moles }: Measured) => moles === 0 && dimensions.every((power) => power === 0);
const isEquivalent = (code: string) => /(^|[/.])[a-z]?eq/.test(code);
const isEnzymeUnit = (from: string, to: string) => from.includes("[IU]") !== to.includes("[IU]");

/**
 * The code with a unit that UCUM can compute with in place of [IU], which it refuses even between m[IU]/mL and [IU]/L: of an enzyme it is U, of anything
 * else the candela stands for it, which no laboratory measures.
 */
function withoutArbitrary(code: string, analyte: Analyte | undefined): string {
  return code.replaceAll(/\[i?IU\]/gi, analyte?.enzyme === true ? "U" : "cd");
}

/** By the formulas of one analyte: first · = intercept + slope · for each of its units. */
function alongScales(from: string, to: string, scales: NonNullable<Analyte["scales"]>): Line | undefined {
  const [a, b] = [from, to].map((code) => scales.find(({ unit }) => unit === code));
  if (a === undefined || b === undefined) return undefined;
  return { slope: a.slope / b.slope, intercept: (a.intercept - b.intercept) / b.slope };
}

function readCode(written: string): { readonly code: string } | UnitRefusal {
  const read = unitCode(written);
  if ("means" in read) {
    return {
      reason: "unknown",
      remedy: `It may mean ${read.means.join(" or ")}: say which (${meaningWords(written, read.means[0])}).`,
    };
  }
  // Kelvin in a quotient is a thousand that was not foreseen.
  const isKelvin = /(^|\/)K(\/|$)/.test(read.code) && read.code.includes("/");
  // UCUM reads the point of 10.9 as 10 times 9.
  const hasPoint = /\d[.,]\d/.test(read.code.replace(/\{[^}]*\}/g, ""));
  if (!isKelvin && !hasPoint && measuredBy(withoutArbitrary(read.code, undefined)) !== undefined) return read;
  const nearest = nearestName(COMMON_CODES, written);
  const hint = nearest === undefined ? "" : ` Did you mean ${nearest}?`;
  return {
    reason: "unknown",
    remedy: `Write a unit of UCUM, or say what it means (${meaningWords(written, nearest ?? "mg/dL")}).${hint}`,
  };
}

const meaningWords = (written: string, as: string) => `--unit-means "${showReceived(written)}=${as}"; meant`;

interface Target {
  readonly written: string;
  readonly code: string;
}

function knownCode(written: string): Target {
  const read = readCode(written);
  if ("code" in read) return { written: written.trim(), code: read.code };
  throw new DtmError("unknown-unit", `Expected a unit, received "${showReceived(written)}". ${read.remedy ?? ""}`);
}

/** What would help where two units are not joined. */
function remedyFor(from: string, { written, code }: Target, analyte: Analyte | undefined, isGuess: boolean): string {
  if (isGuess) return "There are values in several units: say which unit all shall have (--unit; to).";
  const meant = `if ${from} is written for another unit, say which (--unit-means "${from}=${written}"; meant).`;
  if (annotationsOf(from) !== annotationsOf(code)) return `They measure different things; ${meant}`;
  const [is, be] = [measuredBy(withoutArbitrary(from, undefined)), measuredBy(withoutArbitrary(code, undefined))];
  if (is !== undefined && be !== undefined && analyte === undefined) {
    const differ = is.dimensions.some((power, k) => power !== be.dimensions[k]);
    const isAmount = differ && is.moles !== be.moles;
    const bare = isBare(is) || isBare(be);
    if (isAmount || bare || isEquivalent(from) !== isEquivalent(code) || isEnzymeUnit(from, code)) {
      const names = ANALYTES.slice(0, 3)
        .map(({ name }) => name)
        .join(", ");
      return `Name the analyte, such as ${names} (--analyte; analyte): only its own rule joins them.`;
    }
  }
  return `There is no rule between them${analyte === undefined ? "" : ` for ${analyte.name}`}; ${meant}`;
}

function unknownAnalyte(named: string): DtmError {
  const names = ANALYTES.flatMap(({ name, aliases }) => [name, ...aliases]);
  const nearest = nearestName(names, named);
  return new DtmError(
    "option",
    `Expected an analyte of the table in docs/units.md, by name or LOINC code, received "${showReceived(named)}".${
      nearest === undefined ? "" : ` Did you mean ${nearest}?`
    }`,
  );
}
