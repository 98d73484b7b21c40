/** What the schedules have in common. */
import type { DataSums } from "./inducing-posterior.ts";
import type { RunState } from "./run-state.ts";

/** How a schedule is turned: each step changes the run's state in place. */
export interface Schedule {
  readonly maxIterations: number;
  /** One iteration; true when the map stage is over (then verdict and convergence are set). */
  step(): boolean;
  /**
   * Brings θ and parameters of the state to where the schedule stands and returns the sums that determine its q(u);
   * null if they are those of θ itself.
   */
  leave(): DataSums | null;
}

/** The gain at which "batch" and "coordinate" count an iteration as none: tolerance · |bound|. */
export function smallGain({ settings, trace }: Pick<RunState, "settings" | "trace">): number {
  return settings.tolerance * Math.abs(trace[trace.length - 1]);
}
