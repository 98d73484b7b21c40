/**
 * The report in other forms than a page to be read on a screen. Both are made from the page itself, so that they say the same:
 * a page laid out for paper, for programs that make PDF and know neither screens nor folded parts, and its tables for Word.
 */
import type * as Docx from "docx";
import { parseHTML } from "linkedom";

export const REPORT_FORMATS = ["html", "pdf-ready", "docx-tables"] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

/** The page in a form. */
export async function reportAs(format: ReportFormat, page: string): Promise<string | Uint8Array> {
  if (format === "html") return page;
  return format === "pdf-ready" ? onPaper(page) : tablesForWord(page);
}

/** The page with the rules of printing in force everywhere, light, and without what opens, links or scrolls. */
function onPaper(page: string): string {
  const { document } = parseHTML(page);
  for (const part of document.querySelectorAll("nav, details, .skip, meta[name=color-scheme]")) part.remove();
  const style = document.querySelector("style");
  if (style === null) throw new Error("onPaper: expected a page with a style.");
  style.textContent = style.textContent
    // The whole condition: "not" before "all and (…)" would turn it round.
    .replaceAll(/@media screen[^{]*/g, "@media not all")
    .replace("@media print", "@media all");
  return `${document.toString()}\n`;
}

/** Half points of text, and twips of a landscape sheet of A4 within its margins. */
const SIZE = { text: 17, caption: 18 };
const WIDTH = 14_400;
const LINE = { style: "single", size: 6, color: "000000" } as const;
const NO_LINE = { style: "none", size: 0, color: "auto" } as const;

/** Every table of the page that is not the numbers behind a figure, under the heading of its section. */
async function tablesForWord(page: string): Promise<Uint8Array> {
  // Loaded where it is needed: it is large.
  const docx = await import("docx");
  const { document } = parseHTML(page);
  const title = document.querySelector("h1")?.textContent ?? "Tables";
  const children: (Docx.Paragraph | Docx.Table)[] = [
    new docx.Paragraph({ text: title, heading: docx.HeadingLevel.TITLE }),
  ];
  for (const section of document.querySelectorAll("main > section")) {
    const tables = Array.from(section.querySelectorAll("table")).filter((table) => table.closest("details") === null);
    if (tables.length === 0) continue;
    const heading = section.querySelector("h2")?.textContent ?? "";
    children.push(new docx.Paragraph({ text: heading, heading: docx.HeadingLevel.HEADING_1, keepNext: true }));
    for (const table of tables) children.push(...wordTable(docx, table), new docx.Paragraph(""));
  }
  const landscape = { orientation: docx.PageOrientation.LANDSCAPE, width: 11_906, height: 16_838 };
  const margin = { top: 1134, bottom: 1134, left: 1219, right: 1219 };
  const file = new docx.Document({
    title,
    creator: "trajectory-maps",
    styles: { default: { document: { run: { font: "Arial", size: SIZE.text } } } },
    sections: [{ properties: { page: { size: landscape, margin } }, children }],
  });
  return docx.Packer.toBuffer(file);
}

/** A caption and a table with three lines: above, below its head, and below. */
function wordTable(docx: typeof Docx, table: Element): (Docx.Paragraph | Docx.Table)[] {
  const rows = Array.from(table.querySelectorAll("tr"));
  const caption = table.querySelector("caption");
  const above = caption === null ? [] : runs(docx, caption, SIZE.caption);
  const widths = columnWidths(rows);
  return [
    new docx.Paragraph({ children: above, keepNext: true, spacing: { before: 160, after: 80 } }),
    new docx.Table({
      width: { size: widths.reduce((sum, width) => sum + width, 0), type: docx.WidthType.DXA },
      columnWidths: widths,
      borders: {
        top: LINE,
        bottom: LINE,
        left: NO_LINE,
        right: NO_LINE,
        insideHorizontal: NO_LINE,
        insideVertical: NO_LINE,
      },
      rows: rows.map((row) => wordRow(docx, row, table.classList.contains("plain"))),
    }),
  ];
}

/** Letters that a column has room for at least and at most; sentences are broken. */
const LETTERS = { least: 6, most: 60 };

/** Widths in proportion to the longest text of each column; of heads, which are broken, to the longest word. */
function columnWidths(rows: readonly Element[]): number[] {
  const letters = new Array<number>(Math.max(...rows.map(columnsOf))).fill(LETTERS.least);
  for (const row of rows.filter((own) => columnsOf(own) === own.children.length)) {
    for (const [k, cell] of Array.from(row.children).entries()) {
      const text = (cell.textContent ?? "").trim();
      const parts = row.closest("thead") === null ? [text] : text.split(/\s+/);
      const longest = Math.max(...parts.map((part) => part.length));
      letters[k] = Math.max(letters[k] ?? 0, Math.min(longest, LETTERS.most));
    }
  }
  const all = letters.reduce((sum, n) => sum + n, 0);
  return letters.map((n) => Math.floor((WIDTH * n) / all));
}

function columnsOf(row: Element): number {
  return Array.from(row.children).reduce((sum, cell) => sum + Number(cell.getAttribute("colspan") ?? 1), 0);
}

function wordRow(docx: typeof Docx, row: Element, isText: boolean): Docx.TableRow {
  const isHead = row.closest("thead") !== null;
  const children = Array.from(row.children, (cell, k) => {
    const left = k === 0 || isText || cell.classList.contains("tx");
    return new docx.TableCell({
      columnSpan: Number(cell.getAttribute("colspan") ?? 1),
      margins: { top: 40, bottom: 40, left: 60, right: 60 },
      ...(isHead ? { borders: { bottom: LINE }, verticalAlign: docx.VerticalAlignTable.BOTTOM } : {}),
      children: [
        new docx.Paragraph({
          alignment: left ? docx.AlignmentType.LEFT : docx.AlignmentType.RIGHT,
          children: runs(docx, cell, SIZE.text),
        }),
      ],
    });
  });
  return new docx.TableRow({ children, tableHeader: isHead, cantSplit: true });
}

/** The words of an element as they are seen, with what is bold or raised in it; drawings have none. */
function runs(docx: typeof Docx, element: Element, size: number): Docx.TextRun[] {
  const found: { text: string; bold: boolean; superScript: boolean }[] = [];
  const say = (text: string, bold: boolean, superScript: boolean) => {
    const last = found.at(-1);
    if (last?.bold === bold && last.superScript === superScript) last.text += text;
    else if (text !== "") found.push({ text, bold, superScript });
  };
  const walk = (node: Node, bold: boolean, superScript: boolean): void => {
    for (const child of Array.from(node.childNodes)) {
      if (child.nodeType === 3) say((child.nodeValue ?? "").replace(/\s+/g, " "), bold, superScript);
      const inner = child as Element;
      const name = inner.nodeName.toLowerCase();
      if (child.nodeType !== 1 || name === "svg" || inner.classList.contains("hide")) continue;
      const isBlock = name === "br" || name === "div" || name === "small";
      if (isBlock && found.length > 0) say(" ", false, false);
      walk(child, bold || name === "b" || name === "strong", superScript || name === "sup");
    }
  };
  walk(element, false, false);
  return found.map((run) => new docx.TextRun({ ...run, size }));
}
