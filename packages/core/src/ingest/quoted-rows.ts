/**
 * Rows of delimited text with quotes, in one pass: every character is looked at once, however long a line and however many its columns. A quote that
 * opens a field is closed by the next one that is not doubled; space may follow it. A quote inside an unquoted field is a letter.
 */

export interface QuotedRows {
  readonly rows: readonly (readonly string[])[];
  /** What is wrong with the last row, and in which of its fields; rows behind it cannot be told apart. */
  readonly fault?: { readonly kind: "unclosed" | "text-after"; readonly field: number };
}

/** The rows of a text whose lines end with LF, without one behind the last. */
export function quotedRows(text: string, delimiter: string): QuotedRows {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  // The next of each at or behind `at`: looked for again only once it is passed.
  let nextDelimiter = -1;
  let nextBreak = -1;
  const next = (mark: string, known: number) => {
    if (known >= at) return known;
    const found = text.indexOf(mark, at);
    return found < 0 ? text.length : found;
  };
  const failed = (kind: "unclosed" | "text-after"): QuotedRows => {
    rows.push(row);
    return { rows, fault: { kind, field: row.length } };
  };
  for (;;) {
    if (text.charCodeAt(at) === QUOTE) {
      const { value, end } = quotedField(text, at + 1);
      row.push(value);
      if (end < 0) return failed("unclosed");
      at = end;
      while (isSpace(text.charCodeAt(at), delimiter)) at++;
      if (at < text.length && text[at] !== delimiter && text[at] !== "\n") return failed("text-after");
    } else {
      nextDelimiter = next(delimiter, nextDelimiter);
      nextBreak = next("\n", nextBreak);
      const end = Math.min(nextDelimiter, nextBreak);
      row.push(text.slice(at, end));
      at = end;
    }
    if (at >= text.length || text[at] === "\n") {
      rows.push(row);
      row = [];
      if (at >= text.length) return { rows };
    }
    at++;
  }
}

const QUOTE = 0x22;

function isSpace(code: number, delimiter: string): boolean {
  return code === 0x20 || (code === 0x09 && delimiter !== "\t");
}

/** What stands between the quotes from `from` on, and the place behind the closing one; −1 if there is none. */
function quotedField(text: string, from: number): { readonly value: string; readonly end: number } {
  let value = "";
  for (let at = from; ; ) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return { value: value + text.slice(at), end: -1 };
    if (text.charCodeAt(quote + 1) !== QUOTE) return { value: value + text.slice(at, quote), end: quote + 1 };
    value += text.slice(at, quote + 1);
    at = quote + 2;
  }
}
