/** Numbers with marks between groups of three digits, as in 1,234.5. They are read only where that is asked for: 1,234 may be a decimal comma. */

export const THOUSANDS = [",", ".", "'", " "] as const;
export type Thousands = (typeof THOUSANDS)[number];

/** How each mark is written: apostrophes and spaces have several forms. */
const FORMS: Readonly<Record<Thousands, string>> = {
  ",": ",",
  ".": "\\.",
  "'": "['\u2019]",
  " ": "[ \u00a0\u202f\u2009]",
};
const GROUPED = Object.fromEntries(
  THOUSANDS.map((mark) => [mark, new RegExp(`^[+-]?\\d{1,3}(?:${FORMS[mark]}\\d{3})+(?=$|[.,eE])`)]),
) as Readonly<Record<Thousands, RegExp>>;
const MARKS = Object.fromEntries(THOUSANDS.map((mark) => [mark, new RegExp(FORMS[mark], "g")])) as typeof GROUPED;

/** A trimmed cell without the marks between its thousands; as it is if they do not stand between groups of three digits. */
export function withoutThousands(cell: string, mark: Thousands): string {
  const grouped = GROUPED[mark].exec(cell)?.[0];
  if (grouped === undefined) return cell;
  return grouped.replace(MARKS[mark], "") + cell.slice(grouped.length);
}

/** The mark that surely separates thousands in a cell that is a number otherwise: 1,234.5 or 1 234, but not 1,234. */
export function thousandsMark(cell: string): Thousands | undefined {
  return THOUSANDS.find((mark) => {
    const grouped = GROUPED[mark].exec(cell)?.[0];
    if (grouped === undefined) return false;
    const rest = cell.slice(grouped.length);
    const fraction = mark === "," ? /^(?:\.\d*)?$/ : mark === "." ? /^(?:,\d*)?$/ : /^(?:[.,]\d*)?$/;
    if (!fraction.test(rest)) return false;
    const count = grouped.match(MARKS[mark])?.length ?? 0;
    return mark === "'" || mark === " " || count > 1 || rest !== "";
  });
}
