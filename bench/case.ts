/** A benchmark: what it measures against what, and the goal it is held to. */

export interface Row {
  readonly what: string;
  /** Our figure and the peer's, in `unit`. */
  readonly ours: number;
  readonly peer?: number;
  readonly peerName?: string;
  readonly unit: "ns" | "us" | "ms" | "s" | "B" | "evaluations" | "x";
  /** What is held to the goal: ours over peer where there is one, else ours. */
  readonly ratio?: number;
  /** Largest allowed ratio (or figure); `atLeast` turns it round. */
  readonly goal?: number;
  readonly atLeast?: boolean;
  /** What is to be known beside the figure. */
  readonly note?: string;
}

export interface BenchContext {
  /** Smaller work, for the regression guard. */
  readonly quick: boolean;
  readonly say: (text: string) => void;
}

export interface BenchCase {
  readonly name: string;
  readonly about: string;
  /** Part of `npm run bench:check`. */
  readonly guard?: boolean;
  readonly run: (context: BenchContext) => Promise<readonly Row[]>;
}

/** Whether a row meets its goal; undefined without one. `slack` widens it (1.15: 15 %). */
export function meets(row: Row, slack = 1): boolean | undefined {
  if (row.goal === undefined) return undefined;
  const figure = row.ratio ?? row.ours;
  return row.atLeast === true ? figure >= row.goal / slack : figure <= row.goal * slack;
}
