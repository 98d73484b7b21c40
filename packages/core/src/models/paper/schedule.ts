/** What the schedules have in common. */
import type { DataSums } from "./inducing-posterior.ts";

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
