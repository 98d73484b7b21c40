/** A workbook of Excel made by hand: sheets of cells, as the tests of readers need them. */
import { strToU8, zipSync } from "fflate";

/** A cell: text, a number, truth, an error, a date by its serial number, or the value that was saved with a formula, if it was. */
export type MadeCell =
  | string
  | number
  | boolean
  | null
  | { readonly serial: number; readonly withTime?: boolean }
  | { readonly percent: number; readonly custom?: boolean }
  | { readonly formula: string; readonly value: number | undefined | "" }
  | { readonly error: string };

export interface MadeSheet {
  readonly name: string;
  readonly state?: "hidden" | "veryHidden";
  readonly rows: readonly (readonly MadeCell[])[];
}

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

export function madeWorkbook(sheets: readonly MadeSheet[], options: { readonly date1904?: boolean } = {}): Uint8Array {
  const list = sheets
    .map(
      ({ name, state = "visible" }, k) =>
        `<sheet name="${name}" state="${state}" sheetId="${k + 1}" r:id="rId${k + 1}"/>`,
    )
    .join("");
  const system = options.date1904 === true ? '<workbookPr date1904="1"/>' : "<workbookPr/>";
  const files: Record<string, string> = {
    "[Content_Types].xml": `${XML}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
    "xl/workbook.xml": `${XML}<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}">${system}<sheets>${list}</sheets></workbook>`,
    "xl/_rels/workbook.xml.rels": `${XML}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${sheets
      .map(
        (_, k) => `<Relationship Id="rId${k + 1}" Type="${OFFICE}/worksheet" Target="worksheets/sheet${k + 1}.xml"/>`,
      )
      .join("")}</Relationships>`,
    // Number formats 14 and 22 are those of a date and of a date with its time, 9 that of a percent.
    "xl/styles.xml": `${XML}<styleSheet xmlns="${MAIN}"><numFmts><numFmt numFmtId="164" formatCode="0.0%;&quot;no %&quot;"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="22"/><xf numFmtId="9"/><xf numFmtId="164"/></cellXfs></styleSheet>`,
  };
  for (const [k, { rows }] of sheets.entries()) {
    const data = rows.map((row, r) => `<row r="${r + 1}">${row.map((cell, c) => cellXml(cell, r, c)).join("")}</row>`);
    files[`xl/worksheets/sheet${k + 1}.xml`] =
      `${XML}<worksheet xmlns="${MAIN}"><sheetData>${data.join("")}</sheetData></worksheet>`;
  }
  return zipSync(Object.fromEntries(Object.entries(files).map(([name, text]) => [name, strToU8(text)])));
}

function cellXml(cell: MadeCell, row: number, column: number): string {
  if (cell === null) return "";
  const at = `r="${String.fromCharCode(65 + column)}${row + 1}"`;
  if (typeof cell === "string") return `<c ${at} t="inlineStr"><is><t>${cell}</t></is></c>`;
  if (typeof cell === "number") return `<c ${at}><v>${cell}</v></c>`;
  if (typeof cell === "boolean") return `<c ${at} t="b"><v>${Number(cell)}</v></c>`;
  if ("serial" in cell) return `<c ${at} s="${cell.withTime === true ? 2 : 1}"><v>${cell.serial}</v></c>`;
  if ("percent" in cell) return `<c ${at} s="${cell.custom === true ? 4 : 3}"><v>${cell.percent}</v></c>`;
  // Without a value, as programs write that do not compute; Excel saves an empty text as one.
  if ("formula" in cell && cell.value === undefined) return `<c ${at}><f>${cell.formula}</f><v></v></c>`;
  if ("formula" in cell && cell.value === "") return `<c ${at} t="str"><f>${cell.formula}</f><v></v></c>`;
  if ("formula" in cell) return `<c ${at}><f>${cell.formula}</f><v>${cell.value}</v></c>`;
  return `<c ${at} t="e"><v>${cell.error}</v></c>`;
}
