/** A first look at a column of dates: whether its order is clear, and how its cells would be read either way where it is not. */
import { createDateColumn, type DateColumn, dayOfCode, judgeColumn, readings, takeDate } from "./date-column.ts";

export interface DatesPreview {
  /** Share of filled cells that are dates, over the rows looked at. */
  readonly share: number;
  /**
   * "clear", "ambiguous" (say the order: `dateOrder`), "mixed" (both orders: say the one to keep), "swapped" (as a spreadsheet swaps day and month: say
   * `swappedDates`, or `dateOrder` if it did not), "short" (say `yearPivot`), "partial" (say `partialDates`).
   */
  readonly form: "clear" | "ambiguous" | "mixed" | "swapped" | "short" | "partial";
  /** The order that the column shows, where cells by themselves do not. */
  readonly order?: "dmy" | "mdy";
  /** First cells whose day and month can be swapped, as each order reads them. */
  readonly readings: readonly { readonly cell: string; readonly dmy: string; readonly mdy: string }[];
  /** Of a swapped column, first dates such as 2020-05-03 with day and month swapped back. */
  readonly swaps?: readonly { readonly cell: string; readonly back: string }[];
  /** Whether times of day stand behind dates; they are passed over. */
  readonly timed: boolean;
}

/** What is shown of a column of dates, and the day of each of its cells, for telling which is later. */
export interface SeenDates {
  readonly about: DatesPreview;
  readonly dayOf: (cell: string) => number | undefined;
}

/** Cells shown with both readings. */
const SHOWN = 5;

/** How filled cells are read as dates; undefined if none is one. */
export function previewDates(filled: readonly string[]): SeenDates | undefined {
  const column = createDateColumn({}, false);
  const codes = new Map<string, number>();
  for (const cell of filled) {
    const code = takeDate(column, cell, 0);
    if (typeof code === "number") codes.set(cell, code);
    else if (code !== undefined) column.dates.count++;
  }
  if (column.dates.count === 0) return undefined;
  const order = column.mdy.count > 0 ? "mdy" : column.dmy.count > 0 ? "dmy" : undefined;
  const reading = { order: order ?? "dmy", compact: false, notes: [] } as const;
  const form = formOf(column);
  // Of both orders, cells that can only be the one and only the other.
  const cells = form === "mixed" ? [...column.dmy.cells, ...column.mdy.cells] : [...codes.keys()];
  const open = cells.flatMap((cell) => readings(cell) ?? []).slice(0, form === "mixed" ? undefined : SHOWN);
  return {
    about: {
      share: column.dates.count / filled.length,
      form,
      ...(order === undefined ? {} : { order }),
      readings: open,
      ...(form === "swapped" ? { swaps: swapsOf(codes.keys()) } : {}),
      timed: column.timed > 0,
    },
    dayOf: (cell) => {
      const code = codes.get(cell);
      return code === undefined || Number.isNaN(code) ? undefined : dayOfCode(code, reading);
    },
  };
}

/** First dates such as 2020-05-03 that swapping changes. */
function swapsOf(cells: Iterable<string>): NonNullable<DatesPreview["swaps"]> {
  const swaps = [...cells].flatMap((cell) => {
    const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(cell) ?? [];
    return year === undefined || month === day ? [] : [{ cell, back: `${year}-${day}-${month}` }];
  });
  return swaps.slice(0, SHOWN);
}

function formOf(column: DateColumn): DatesPreview["form"] {
  const judged = judgeColumn(column, "", () => []);
  if (judged === undefined || !("finding" in judged)) return "clear";
  switch (judged.finding[0]) {
    case "ambiguous-date":
      return "ambiguous";
    case "mixed-dates":
      return column.dmy.count > 0 && column.mdy.count > 0 ? "mixed" : "swapped";
    case "short-year":
      return "short";
    default:
      return "partial";
  }
}
