/**
 * Units as people write them → UCUM codes. UCUM tells letters apart by case and refuses or misreads what tables of laboratories hold: `mmHg`,
 * `MG/DL`, `x10^9/L`; `K/uL` would be kelvin per microlitre and `1.73m2` one point 73 square metres. What is written here goes
 * before it. A unit that is not understood is never guessed at.
 */

/** Whole units, written without spaces and in lower case. */
const WHOLE: Readonly<Record<string, string>> = {
  "k/ul": "10*3/uL",
  "k/mm3": "10*3/uL",
  "k/cumm": "10*3/uL",
  "thou/ul": "10*3/uL",
  "thou/mm3": "10*3/uL",
  "thousand/ul": "10*3/uL",
  "thousands/ul": "10*3/uL",
  "mill/ul": "10*6/uL",
  "million/ul": "10*6/uL",
  "millions/ul": "10*6/uL",
  "cells/ul": "/uL",
  "cells/mm3": "/uL",
  "/cumm": "/uL",
  "t/l": "10*12/L",
  "gpt/l": "10*9/L",
  "tpt/l": "10*12/L",
  bpm: "/min",
  "beats/min": "/min",
  "breaths/min": "/min",
  "1/min": "/min",
  percent: "%",
  pct: "%",
  fraction: "1",
  ratio: "1",
  permille: "[ppth]",
  "‰": "[ppth]",
  degf: "[degF]",
  "deg.f": "[degF]",
  "°f": "[degF]",
  fahrenheit: "[degF]",
  degc: "Cel",
  "deg.c": "Cel",
  "°c": "Cel",
  celsius: "Cel",
  lb: "[lb_av]",
  lbs: "[lb_av]",
  inch: "[in_i]",
  inches: "[in_i]",
  cmh2o: "cm[H2O]",
};

/** Whole units that depend on their letters. */
const EXACT: Readonly<Record<string, string>> = { "M/uL": "10*6/uL", F: "[degF]", C: "Cel" };

/** What is valid but means two things: it is refused, and these are offered. */
const TWO_MEANINGS: Readonly<Record<string, readonly string[]>> = {
  "G/L": ["10*9/L", "g/L"],
  "G/l": ["10*9/L", "g/L"],
};

/** Parts of a unit between its strokes, in lower case. */
const PARTS: Readonly<Record<string, string>> = {
  ...sameLetters(
    "kg g mg ug ng pg mmol umol nmol pmol fmol mol dm cm mm um nm m m2 m3 cm2 mm2 min h s ms meq ueq eq % 1",
  ),
  ...sameLetters("mosm osm kcal cal"),
  ...sameLetters("fl dl ml ul nl l", (part) => part.replace(/l$/, "L")),
  litre: "L",
  liter: "L",
  mcg: "ug",
  mcmol: "umol",
  mcl: "uL",
  gram: "g",
  grams: "g",
  gm: "g",
  hr: "h",
  hour: "h",
  sec: "s",
  secs: "s",
  seconds: "s",
  msec: "ms",
  day: "d",
  d: "d",
  "24h": "d",
  "24hr": "d",
  mm3: "uL",
  cumm: "uL",
  mmhg: "mm[Hg]",
  "mm[hg]": "mm[Hg]",
  kpa: "kPa",
  pa: "Pa",
  u: "U",
  mu: "mU",
  ku: "kU",
  units: "U",
  iu: "[IU]",
  "[iu]": "[IU]",
  miu: "m[IU]",
  "m[iu]": "m[IU]",
  uiu: "u[IU]",
  "u[iu]": "u[IU]",
  kiu: "k[IU]",
  "k[iu]": "k[IU]",
  kat: "kat",
  ukat: "ukat",
  nkat: "nkat",
  "10*3": "10*3",
  "10*6": "10*6",
  "10*9": "10*9",
  "10*12": "10*12",
};

function sameLetters(parts: string, write = (part: string) => part): Record<string, string> {
  return Object.fromEntries(parts.split(" ").map((part) => [part, write(part)]));
}

/** Annotations that say what is counted and change no number. */
const IDLE = /\{(?:#|cells?|rbc|wbc|count|counts|beats?|breaths?|copies|score|ratio|hb|hgb|hb'?a1c|total)\}/gi;

const SUPERSCRIPT = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** What a written unit is taken as: a code of UCUM, perhaps not yet known to be valid, or what it may mean. */
export type ReadUnit = { readonly code: string } | { readonly means: readonly string[] };

/** The code of a unit as it is written. */
export function unitCode(written: string): ReadUnit {
  const text = unitText(written);
  const bare = text.replace(IDLE, "").replace(/^\.|\.$/g, "");
  if (bare === "") return { code: text === "" ? "" : "1" };
  if (TWO_MEANINGS[bare] !== undefined) return { means: TWO_MEANINGS[bare] };
  // A power that lost its raised digits: 103/uL would be 103 of them.
  const lost = /^[x×*]?10(3|6|9|12)(?=\/)/.exec(bare);
  if (lost !== null) return { means: [`10*${lost[1]}${bare.slice(lost[0].length)}`] };
  const whole = EXACT[bare] ?? WHOLE[bare.toLowerCase()];
  if (whole !== undefined) return { code: whole };
  const surface = /^(.*?)(?:\/|per)\{?1[.,]73(?:_?(?:sq)?m(?:\^|\*)?2?)?\}?$/i.exec(bare);
  if (surface !== null) return { code: `${byParts(surface[1]) ?? surface[1]}/{1.73_m2}` };
  return { code: byParts(bare) ?? bare };
}

/** Whether a unit is written as laboratories write it, with known parts alone: pH is not picohenry. */
export function isUsualUnit(written: string): boolean {
  const text = unitText(written).replace(IDLE, "");
  return EXACT[text] !== undefined || WHOLE[text.toLowerCase()] !== undefined || byParts(text) !== undefined;
}

/** The text of a unit with one letter for each micro sign, powers of ten as UCUM writes them, and without spaces. */
function unitText(written: string): string {
  return written
    .trim()
    .replace(/10([⁰¹²³⁴⁵⁶⁷⁸⁹]+)/g, (_, power: string) => `10*${digits(power)}`)
    .replace(/[⁰¹²³⁴⁵⁶⁷⁸⁹]/g, digits)
    .replace(/[\u00b5\u03bc]/g, "u")
    .replace(/\s+/g, "")
    .replace(/^[x×*]?10(?:\^|\*\*?|e)?\(?\+?0?(\d{1,2})\)?(?=\/|$)/i, (all, power: string) =>
      /^[x×*]?10\d+$/i.test(all) ? all : `10*${power}`,
    );
}

const digits = (text: string) => [...text].map((sign) => String(SUPERSCRIPT.indexOf(sign))).join("");

/** The code of a unit all of whose parts are known, in any case of letters. */
function byParts(text: string): string | undefined {
  const parts = text.split("/");
  const read = parts.map((part, k) => (part === "" && k === 0 ? "" : PARTS[part.toLowerCase()]));
  return read.some((part) => part === undefined) ? undefined : read.join("/");
}

/** The annotations of a code that change what it measures, such as {1.73_m2} or {FEU}. */
export function annotationsOf(code: string): string {
  return (code.replace(IDLE, "").match(/\{[^}]*\}/g) ?? []).sort().join("");
}

/** Codes that are offered for one that is not known. */
export const COMMON_CODES: readonly string[] = [
  ..."mg/dL g/dL g/L mg/L ug/L ug/dL ng/mL pg/mL mmol/L umol/L nmol/L pmol/L meq/L U/L [IU]/L m[IU]/L".split(" "),
  ..."10*9/L 10*3/uL 10*12/L % mm[Hg] kPa mL/min mL/min/{1.73_m2} /min Cel [degF] s mm/h mmol/mol mg/g kg cm mL L".split(
    " ",
  ),
];
