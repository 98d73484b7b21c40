/** The state of a fit between steps: plain data, so that it can be stored and resumed bit for bit. */
import type { Marker } from "../../cohort/marker.ts";
import type { LbfgsState } from "../../numeric/optimize/lbfgs.ts";
import type { MeanFunction } from "../fit.ts";
import type { NaturalParameters } from "../gp/solve.ts";
import type { DataSums } from "./inducing.ts";
import type { DtmPaperSettings } from "./options.ts";
import type { GlobalParameters } from "./state.ts";

/** State of the "batch" schedule. */
export interface BatchState {
  readonly lbfgs: LbfgsState;
  /** Gains below the tolerance in a row. */
  small: number;
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

/** Everything a run needs beside the statistics. */
export interface RunState {
  readonly settings: DtmPaperSettings;
  readonly marker: Marker;
  readonly meanKind: MeanFunction["kind"];
  /** Where the hyperparameters started. */
  readonly start: GlobalParameters;
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
  iterations: number;
  trace: number[];
  warnings: string[];
  converged: boolean;
  verdict: string;
  milliseconds: { map: number; places: number };
}

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

/** A deep copy of plain data with typed arrays. */
export function clonePlain<T>(value: T): T {
  if (value instanceof Float64Array || value instanceof Int32Array) return value.slice() as T;
  if (Array.isArray(value)) return value.map(clonePlain) as T;
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, v]) => [key, clonePlain(v)])) as T;
}
