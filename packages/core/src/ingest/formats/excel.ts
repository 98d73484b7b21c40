/**
 * Workbooks of Excel (.xlsx) by read-excel-file: one sheet as rows. Cells of dates are dates in the workbook's own system, 1900 or
 * 1904; formulas give the values that Excel saved with them, an error among those an empty cell. The header is the first row with two
 * filled cells; lines of complaints are the rows of the sheet.
 */
import type { Sheet } from "read-excel-file/universal";
import { showReceived } from "../../errors.ts";
import { wholeFile } from "../bytes.ts";
import { cellText, clockText, dateText, inexactNumber } from "../cell-text.ts";
import { type Finding, howMany, refusalAt } from "../complaints.ts";
import type { FileFormat, RowSink, TableEnd, TableStart } from "../table.ts";
import { type CellTest, workbookParts } from "./workbook-parts.ts";
import { isZip, type ZipArchive } from "./zip.ts";

/** Whether an archive is a workbook. */
export function isWorkbook({ entries }: ZipArchive): boolean {
  return entries.some(({ name }) => name === "xl/workbook.xml" || name === "xl/workbook.bin");
}

export const EXCEL: FileFormat = {
  name: "a sheet of an Excel workbook (.xlsx)",
  extensions: [".xlsx", ".xlsm"],
  recognise: isZip,
  read: async (open, sink, { file, sheet }) => {
    const bytes = await wholeFile(open, file ?? "the file");
    const { default: readWorkbook } = await import("read-excel-file/universal");
    // The library takes a buffer alone, and bytes may be a part of one.
    const sheets = await readWorkbook(bytes.slice().buffer as ArrayBuffer, { trim: false }).catch(() => {
      throw refusalAt({}, file, ...DAMAGED);
    });
    const parts = await workbookParts(bytes);
    const { chosen, notes } = chooseSheet(sheets, parts.hidden, sheet, file);
    const about = { notes, sheets: { names: filledOf(sheets).map(nameOf), chosen: nameOf(chosen) } };
    const tests = {
      isPercent: parts.percentCells(nameOf(chosen)),
      isUnsaved: parts.unsavedFormulas(nameOf(chosen)),
    };
    return readSheet(withClocks(chosen.data, parts.epoch), tests, sink, about, file);
  },
};

const DAMAGED: Finding = [
  "damaged-file",
  [
    "an Excel workbook (.xlsx)",
    "one that cannot be opened: damaged, with a password, or of the binary kind",
    "Open it in Excel and save it as .xlsx or CSV.",
  ],
];

/** Workbooks before 2007, and those with a password, begin alike. */
export const OLD_EXCEL: FileFormat = {
  name: "an Excel workbook",
  extensions: [".xls"],
  recognise: (head) => head[0] === 0xd0 && head[1] === 0xcf && head[2] === 0x11 && head[3] === 0xe0,
  read: async (_, __, { file }) => {
    throw refusalAt({}, file, "unsupported-format", [
      "a workbook of Excel 2007 or later (.xlsx)",
      "an older one (.xls), or one with a password",
      "Open it in Excel and save it as .xlsx without a password, or as CSV.",
    ]);
  },
};

type Rows = Sheet["data"];

function filledOf(sheets: readonly Sheet[]): Sheet[] {
  return sheets.filter(({ data }) => data.some((row) => row.some((cell) => cell !== null)));
}

const nameOf = ({ sheet }: Sheet) => sheet;

/** The sheet asked for by name or number, or the first that is not empty and not hidden. */
function chooseSheet(
  sheets: readonly Sheet[],
  hidden: ReadonlySet<string>,
  wanted: string | undefined,
  file: string | undefined,
) {
  const isHidden = ({ sheet }: Sheet) => hidden.has(sheet);
  const filled = filledOf(sheets);
  const names = (some: readonly Sheet[]) => some.map(({ sheet }) => `"${showReceived(sheet)}"`).join(", ");
  if (wanted !== undefined) {
    const chosen = sheets.find(({ sheet }) => sheet === wanted) ?? sheets[Number(wanted) - 1];
    if (chosen !== undefined) return { chosen, notes: [] };
    throw refusalAt({}, file, "missing-sheet", [
      `a sheet "${showReceived(wanted)}"`,
      `the sheets ${names(sheets)}`,
      `Name one of them, or its number from 1 to ${sheets.length}.`,
    ]);
  }
  // A page with a title alone is no table.
  const isTable = ({ data }: Sheet) => data.filter((row) => row.filter((cell) => cell !== null).length > 1).length > 1;
  const shown = filled.filter((one) => !isHidden(one));
  if (shown.length === 0 && filled.length > 0) {
    throw refusalAt({}, file, "missing-sheet", [
      "a table on a sheet that is not hidden",
      `hidden sheets alone: ${names(filled)}`,
      "If one of them is meant, name it (--sheet; sheet).",
    ]);
  }
  const chosen = shown.find(isTable) ?? shown[0] ?? sheets[0];
  const others = filled.filter((one) => one !== chosen);
  if (others.length === 0) return { chosen, notes: [] };
  const listed = others.map((one) => names([one]) + (isHidden(one) ? " (hidden)" : "")).join(", ");
  const note = `Sheet "${showReceived(chosen.sheet)}" is read; the workbook also has ${listed}, which can be chosen (--sheet; sheet).`;
  return { chosen, notes: [note] };
}

/**
 * The rows with times of day as text: they are parts of the day 0, which is no date. Beside them in a column the first days of the calendar are hours, as
 * [h]:mm shows them: 30:00:00.
 */
function withClocks(data: Rows, epoch: number): Rows {
  const clocks = new Set<number>();
  const isBefore = (cell: unknown, days: number): cell is Date =>
    cell instanceof Date && cell.getTime() < epoch + days * DAY;
  for (const row of data) for (const [c, cell] of row.entries()) if (isBefore(cell, 1)) clocks.add(c);
  if (clocks.size === 0) return data;
  const text = (cell: Date) => {
    const since = Math.round((cell.getTime() - epoch) / 1000) * 1000;
    return `${String(Math.floor(since / HOUR)).padStart(2, "0")}${clockText(since % HOUR).slice(2)}`;
  };
  return data.map((row) => row.map((cell, c) => (clocks.has(c) && isBefore(cell, FIRST_DAYS) ? text(cell) : cell)));
}

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Days that hours and minutes may count up to. */
const FIRST_DAYS = 366;

/** Columns of a table all of whose numbers are shown as percent, by position; of others with some, none. */
function percentColumns(data: Rows, header: number, isPercent: CellTest): number[] {
  const rows = data.map((_, r) => r).slice(header + 1);
  return data[header].flatMap((_, c) => {
    const numbers = rows.filter((r) => typeof data[r][c] === "number");
    return numbers.length > 0 && numbers.every((r) => isPercent(r, c)) ? [c] : [];
  });
}

/** What is known of cells beside their values. */
interface CellTests {
  readonly isPercent: CellTest | undefined;
  readonly isUnsaved: CellTest | undefined;
}

/** Hands over a sheet from its header on. Where some numbers of a column are shown as percent and others are not, those are text: 77%. */
function readSheet(
  data: Rows,
  { isPercent, isUnsaved }: CellTests,
  sink: RowSink,
  about: Pick<TableStart, "notes" | "sheets">,
  file: string | undefined,
): TableEnd {
  const filled = data.map((row) => row.filter((cell) => cell !== null).length);
  const header = headerRow(filled);
  if (header < 0) {
    sink.start({ decimal: "either", ...about });
    return { blankLines: 0 };
  }
  const width = filledWidth(data[header]);
  const titles = data.slice(0, header).flatMap((row) => row.filter((cell) => cell !== null));
  const said = titles.map((title) => `"${showReceived(textOf(title))}"`).join(", ");
  const above = titles.length === 0 ? [] : [`Rows above the table (${said}) are passed over.`];
  const start = header === 0 ? [] : [`The table begins in row ${header + 1} of the sheet.`];
  const percent = isPercent === undefined ? [] : percentColumns(data, header, isPercent);
  const shown = percent.map((c) => `"${showReceived(textOf(data[header][c]))}"`);
  const shares =
    shown.length === 0
      ? []
      : [`Excel shows ${shown.join(", ")} as percent; the numbers are shares: 77% is read as 0.77.`];
  sink.start({ ...about, decimal: "either", notes: [...about.notes, ...above, ...start, ...shares] });
  let [blank, blankLines] = [0, 0];
  let wanted: ReadonlySet<number> | undefined;
  const looksAt = (c: number) => wanted === undefined || wanted.has(c);
  const unsaved: [row: number, column: number][] = [];
  for (let k = header; k < data.length; k++) {
    if (isUnsaved !== undefined)
      for (let c = 0; c < width; c++) if (isUnsaved(k, c) && looksAt(c)) unsaved.push([k, c]);
    if (filled[k] === 0) {
      blank++;
      continue;
    }
    blankLines += blank;
    blank = 0;
    // Cells beyond the header are handed over too, so that they are complained of.
    const last = Math.max(width, filledWidth(data[k]));
    if (
      !sink.row(
        Array.from({ length: last }, (_, c) => {
          const cell = data[k][c] ?? null;
          if (looksAt(c) && isLong(cell)) throw inexactNumber(cell, textOf(data[header][c] ?? null), c, k + 1, file);
          const isMixed = typeof cell === "number" && isPercent?.(k, c) === true && !percent.includes(c);
          return isMixed ? `${Number((100 * cell).toPrecision(15))}%` : textOf(cell);
        }),
        k + 1,
      )
    )
      break;
    if (k === header) wanted = toSet(sink.wanted?.());
  }
  if (unsaved.length === 0) return { blankLines };
  // Of a column that nobody asked for it is said alone.
  if (wanted === undefined)
    return { blankLines, notes: [`${howMany(unsaved.length, "formula")} without a saved value. ${SAVE}`] };
  const [[row, at]] = unsaved;
  throw refusalAt(
    { line: row + 1, column: textOf(data[header][at] ?? null), columnNumber: at + 1 },
    file,
    "unsaved-formula",
    ["formulas with the values that a spreadsheet saves", `${howMany(unsaved.length, "formula")} without one`, SAVE],
  );
}

const SAVE = "Open the workbook in Excel or LibreOffice and save it, or save it as CSV: that computes them.";

/**
 * The row of the header, by the filled cells of each row: the first with two; behind rows of at most two and a blank one, such as "Export: 1 May",
 * the next with three. −1 if all are empty.
 */
function headerRow(filled: readonly number[]): number {
  const first = filled.findIndex((count) => count > 1);
  if (first < 0) return filled.findIndex((count) => count > 0);
  const blank = filled.indexOf(0, first);
  if (blank < 0 || filled.slice(first, blank).some((count) => count > 2)) return first;
  const next = filled.findIndex((count, k) => k > blank && count > 0);
  return filled[next] > 2 ? next : first;
}

const toSet = (positions: Iterable<number> | undefined) => (positions === undefined ? undefined : new Set(positions));

/** Whether a cell is a whole number of more than 15 digits: Excel keeps no more, and two ids would be one. */
const isLong = (cell: Rows[number][number]): cell is number =>
  typeof cell === "number" && Number.isInteger(cell) && Math.abs(cell) >= 1e15;

/** Cells of a row up to the last that is filled. */
function filledWidth(row: Rows[number]): number {
  let width = row.length;
  while (width > 0 && row[width - 1] === null) width--;
  return width;
}

/** A cell as text. Times of day are fractions of a day in a workbook: they are meant to the second. */
function textOf(cell: Rows[number][number]): string {
  if (cell instanceof Date) return dateText(Math.round(cell.getTime() / 1000) * 1000);
  return cellText(cell) ?? "";
}
