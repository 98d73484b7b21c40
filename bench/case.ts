/** A benchmark: what it measures against what, and the goal it is held to. */

/** One line of the table. */
export interface Row {
  readonly what: string;
  /** Our figure, in `unit`. */
  readonly ours: number;
  readonly unit: Unit;
  /** The program it is held against; `figure` is undefined where that program is not here. */
  readonly peer?: { readonly name: string; readonly figure?: number };
  /** Ours over the peer's (or, with `atLeast`, the peer's over ours). */
  readonly ratio?: number;
  /** Largest allowed ratio (or figure, without a peer); smallest with `atLeast`. */
  readonly goal?: number;
  readonly atLeast?: boolean;
  /** Held by `npm run bench:check`: ratios only. */
  readonly guard?: boolean;
  /** What is to be known beside the figure. */
  readonly note?: string;
  /** Why the figure does not count in this run. */
  readonly void?: string;
}

export type Unit = "ns" | "us" | "ms" | "s" | "s cpu" | "B" | "MB" | "evaluations" | "x" | "nats";

export interface BenchContext {
  /** Smaller work, fewer rounds: for the regression guard and for trying things out. */
  readonly quick: boolean;
  /** Also what takes minutes and gigabytes. */
  readonly large: boolean;
  readonly say: (text: string) => void;
}

export interface BenchCase {
  readonly name: string;
  readonly about: string;
  /** Part of `npm run bench:check`. */
  readonly guard?: boolean;
  readonly run: (context: BenchContext) => Promise<readonly Row[]>;
}

type Extra = Pick<Row, "goal" | "guard" | "note" | "void">;

/** Our figure over the peer's, which may be absent here. */
export function against(
  what: string,
  unit: Unit,
  ours: number,
  name: string,
  figure: number | undefined,
  extra: Extra = {},
): Row {
  return { what, ours, unit, peer: { name, figure }, ...(figure ? { ratio: ours / figure } : {}), ...extra };
}

/** How many times longer the peer takes. */
export function timesFaster(...args: Parameters<typeof against>): Row {
  const row = against(...args);
  return { ...row, atLeast: true, ...(row.ratio ? { ratio: 1 / row.ratio } : {}) };
}

/** A figure of its own. */
export function alone(what: string, unit: Unit, ours: number, extra: Extra & { readonly atLeast?: boolean } = {}): Row {
  return { what, ours, unit, ...extra };
}

/** Whether a row meets its goal; undefined without one, or where it cannot be told. `slack` widens it (1.5: by half). */
export function meets(row: Row, slack = 1): boolean | undefined {
  const absent = row.peer !== undefined && row.ratio === undefined;
  if (row.goal === undefined || row.void !== undefined || absent) return undefined;
  const figure = row.ratio ?? row.ours;
  return row.atLeast === true ? figure >= row.goal / slack : figure <= row.goal * slack;
}

/** Throws unless two numbers agree: values are checked before anything is timed. */
export function requireClose(what: string, ours: number, theirs: number, tolerance: number): void {
  const error = Math.abs(ours - theirs) / Math.max(1, Math.abs(theirs));
  if (error <= tolerance) return;
  throw new Error(
    `${what}: expected ${theirs} to ${tolerance}, received ${ours}. A fast wrong answer is not worth timing: mend it first.`,
  );
}
