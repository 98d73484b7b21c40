/**
 * What the library for workbooks does not tell: which sheets are hidden, from when days are counted, and which cells are shown as percent, and
 * which formulas have no saved value. The parts of the archive are read as text.
 */
import { textsOf } from "./zip.ts";

/** A workbook's own list of its sheets, and what its parts say. */
export interface WorkbookParts {
  readonly hidden: ReadonlySet<string>;
  /** Milliseconds since 1970 of the day 0. */
  readonly epoch: number;
  /** Whether a cell of a sheet is shown as percent, by row and column from 0; undefined if none is. */
  percentCells(sheet: string): CellTest | undefined;
  /** Whether a cell of a sheet is a formula that was saved without its value, as programs other than Excel write; undefined if none is. */
  unsavedFormulas(sheet: string): CellTest | undefined;
}

/** Says something of a cell by its row and column from 0. */
export type CellTest = (row: number, column: number) => boolean;

/** Number formats of Excel itself that are a percent. */
const PERCENT_FORMATS = [9, 10];

export async function workbookParts(bytes: Uint8Array): Promise<WorkbookParts> {
  const part = await textsOf(bytes);
  const workbook = part("xl/workbook.xml");
  const sheets = tags(workbook, "sheet").map((tag) => ({
    name: attribute(tag, "name"),
    isHidden: /hidden/i.test(attribute(tag, "state")),
    relation: attribute(tag, "id"),
  }));
  const is1904 = tags(workbook, "workbookPr").some((tag) => /^(?:1|true)$/i.test(attribute(tag, "date1904")));
  const percent = percentStyles(part("xl/styles.xml"));
  const sheetOf = (sheet: string): string => {
    const relation = sheets.find(({ name }) => name === sheet)?.relation;
    const relations = tags(part("xl/_rels/workbook.xml.rels"), "Relationship");
    const target = relations.find((tag) => relation !== undefined && attribute(tag, "Id") === relation);
    const path = target === undefined ? "" : attribute(target, "Target");
    return path === "" ? "" : part(path.startsWith("/") ? path.slice(1) : `xl/${path}`);
  };
  return {
    hidden: new Set(sheets.filter(({ isHidden }) => isHidden).map(({ name }) => name)),
    epoch: is1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, 30),
    percentCells: (sheet) => (percent.size === 0 ? undefined : testOf(percentIn(sheetOf(sheet), percent))),
    unsavedFormulas: (sheet) => testOf(unsavedIn(sheetOf(sheet))),
  };
}

/** The opening tags of a name, whatever their prefix. */
function tags(xml: string, name: string): string[] {
  return xml.match(new RegExp(`<(?:\\w+:)?${name}(?=[\\s/>])[^>]*>`, "g")) ?? [];
}

/** An attribute of a tag, whatever its prefix; "" if it has none. */
function attribute(tag: string, name: string): string {
  const found = new RegExp(`[\\s:]${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`).exec(tag);
  return unescaped(found?.[1] ?? found?.[2] ?? "");
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

function unescaped(text: string): string {
  return text.replace(/&(?:#x([\da-f]+)|#(\d+)|(lt|gt|amp|quot|apos));/gi, (_, hex, decimal, name) => {
    if (name !== undefined) return ENTITIES[name.toLowerCase()];
    return String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16));
  });
}

/** Numbers of the styles of cells that show a percent. */
function percentStyles(styles: string): Set<string> {
  const formats = new Set(PERCENT_FORMATS.map(String));
  for (const tag of tags(styles, "numFmt")) {
    // What stands in quotes or behind a backslash is shown as it is.
    const code = attribute(tag, "formatCode").replace(/"[^"]*"|\\./g, "");
    if (code.includes("%")) formats.add(attribute(tag, "numFmtId"));
  }
  const cellStyles = /<(?:\w+:)?cellXfs[\s>].*?<\/(?:\w+:)?cellXfs>/s.exec(styles)?.[0] ?? "";
  return new Set(
    tags(cellStyles, "xf").flatMap((tag, k) => (formats.has(attribute(tag, "numFmtId")) ? [String(k)] : [])),
  );
}

/** Places of cells of some styles: row and column from 0. */
function percentIn(sheet: string, styles: ReadonlySet<string>): Set<string> {
  const opening = Array.from(sheet.matchAll(/<(?:\w+:)?c\s[^>]*>/g), ([tag]) => tag);
  return new Set(opening.filter((tag) => styles.has(attribute(tag, "s"))).map(placeOf));
}

/** A cell with a formula, from its opening tag to its end. */
const FORMULA_CELL = /(<(?:\w+:)?c\s[^>]*[^/]>)(<(?:\w+:)?f[\s/>](?:(?!<\/(?:\w+:)?c>).)*)<\/(?:\w+:)?c>/gs;

/** Places of formulas without a value. An empty text that was saved is one. */
function unsavedIn(sheet: string): Set<string> {
  const places = new Set<string>();
  for (const [, tag, content] of sheet.matchAll(FORMULA_CELL)) {
    const isSaved = attribute(tag, "t") === "str" || /<(?:\w+:)?v(?:\s[^>]*)?>[^<]/.test(content);
    if (!isSaved) places.add(placeOf(tag));
  }
  return places;
}

/** Row and column of a cell from 0, by its opening tag. */
function placeOf(tag: string): string {
  const [, letters = "", row = "0"] = /^([A-Z]+)(\d+)$/.exec(attribute(tag, "r")) ?? [];
  const column = [...letters].reduce((sum, letter) => 26 * sum + letter.charCodeAt(0) - 64, 0);
  return `${Number(row) - 1} ${column - 1}`;
}

function testOf(places: ReadonlySet<string>): CellTest | undefined {
  return places.size === 0 ? undefined : (row, column) => places.has(`${row} ${column}`);
}
