/** The state of a fit between steps: plain data, so that it can be stored and resumed bit for bit. */
import type { Marker } from "../../cohort/marker.ts";
import type { LbfgsState } from "../../numeric/optimize/lbfgs.ts";
import type { ColumnNames, MeanFunction } from "../fit.ts";
import type { NaturalParameters } from "../gp/solve.ts";
import type { FitState } from "../run.ts";
import type { DataSums } from "./inducing.ts";
import type { DtmPaperSettings } from "./options.ts";
import type { GlobalParameters } from "./state.ts";

/** What a fit is made from beside the statistics and the first places. */
export interface PaperInputs {
  readonly settings: DtmPaperSettings;
  readonly marker: Marker;
  readonly columns: ColumnNames | null;
  readonly meanKind: MeanFunction["kind"];
  /** Where the hyperparameters start. */
  readonly start: GlobalParameters;
}

/** State of the "batch" schedule. */
export interface BatchState {
  readonly lbfgs: LbfgsState;
  /** Gains below the tolerance in a row. */
  smallGains: number;
}

/** q(u) as stochastic inference carries it along. */
export type TrackedInducing =
  | { readonly form: "sums"; readonly sums: DataSums }
  | { readonly form: "whitened"; natural: NaturalParameters };

/** State of the "svi" and "paper" schedules. */
export interface StochasticState {
  readonly inducing: TrackedInducing;
  /** Learned hyperparameters in the scale of hyperparameters.ts; empty if none. */
  readonly hyper: Float64Array;
  /** State of the random generator at the start of the next epoch. */
  random: readonly number[];
  /** Order of individuals in this epoch, [m]. */
  order: Int32Array;
  /** Individuals of this epoch already visited. */
  position: number;
  /** 1, 2, ... */
  epoch: number;
}

/** What changes from step to step. */
export interface RunState extends FitState {
  /** "map": the schedule's own steps; "places": the last local pass; "done". */
  stage: "map" | "places" | "done";
  parameters: GlobalParameters;
  /** θ, [m,P]. */
  theta: Float64Array;
  /** During "places": the sums that determine q(u), and how many individuals are done. */
  sums: DataSums | null;
  position: number;
  /** Of the schedule in force; null for "coordinate" and once the map stage is over. */
  batch: BatchState | null;
  stochastic: StochasticState | null;
  warnings: string[];
  converged: boolean;
  verdict: string;
}

/** How a schedule is turned: each step changes the run's state in place. */
export interface Schedule {
  /** One iteration; true when the map stage is over (then verdict and convergence are set). */
  step(): boolean;
  /**
   * Brings θ and parameters of the state to where the schedule stands and returns the sums that determine its q(u);
   * null if they are those of θ itself.
   */
  leave(): DataSums | null;
}
