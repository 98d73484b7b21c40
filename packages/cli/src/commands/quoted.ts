/**
 * Names in lists of options. A name that holds a comma, a colon or another sign of the list stands in double quotes, as in
 * "age, years":number,sex; a double quote inside is doubled, as in a CSV cell.
 */

/** What is said where a list cannot be read. */
export const QUOTING = "Put a name that holds a comma or a colon in double quotes: '\"a:b\"'.";

/** The parts between the separators that stand outside quotes and brackets, trimmed, with their quotes. */
export function splitList(text: string, separator: string): string[] {
  const parts = [""];
  let [isQuoted, depth] = [false, 0];
  for (const char of text) {
    if (char === '"') isQuoted = !isQuoted;
    else if (!isQuoted && char === "[") depth++;
    else if (!isQuoted && char === "]") depth = Math.max(0, depth - 1);
    if (char === separator && !isQuoted && depth === 0) parts.push("");
    else parts[parts.length - 1] += char;
  }
  return parts.map((part) => part.trim());
}

/** The text with the name it begins with out of its quotes, if that stands in some. */
export function unquote(text: string): string {
  return text.replace(/^"((?:[^"]|"")*)"/, (_, name: string) => name.replaceAll('""', '"'));
}
