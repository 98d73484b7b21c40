/**
 * The regression guard: ratios of the fast cases with much slack, never absolute times. A row fails only if it misses in
 * two runs in a row, since one miss is what a busy machine does.
 */
import { type BenchCase, type BenchContext, meets, type Row } from "./case.ts";

/** Goals are widened by half. */
export const SLACK = 1.5;

export interface GuardReport {
  readonly rows: readonly Row[];
  /** What missed twice. */
  readonly misses: readonly Row[];
}

/** Runs the guarded cases; those with a miss run once more. */
export async function runGuard(cases: readonly BenchCase[], context: BenchContext): Promise<GuardReport> {
  const rows: Row[] = [];
  const misses: Row[] = [];
  for (const bench of cases.filter(({ guard }) => guard === true)) {
    context.say(bench.name);
    const firstRun = guarded(await bench.run(context));
    const missed = firstRun.filter(isMiss);
    if (missed.length === 0) {
      rows.push(...firstRun);
      continue;
    }
    context.say(`${bench.name} once more: ${missed.map(({ what }) => what).join("; ")}`);
    const secondRun = guarded(await bench.run(context));
    rows.push(...secondRun);
    misses.push(...secondRun.filter((row) => isMiss(row) && missed.some(({ what }) => what === row.what)));
  }
  return { rows, misses };
}

function guarded(rows: readonly Row[]): Row[] {
  return rows.filter(({ guard }) => guard === true);
}

function isMiss(row: Row): boolean {
  return meets(row, SLACK) === false;
}
