/** The parts of the engine that every schedule turns (engine.ts makes and moves them). */
import type { BasisStatistics } from "../../basis/statistics.ts";
import type { KernelKind } from "../../wasm/instance.ts";
import type { KernelFactor } from "../gp/stable-kernel.ts";
import type { ShardRunner } from "../shards.ts";
import type { InducingCoefficients, InducingWorkspace } from "./inducing-coefficients.ts";
import type { DataSums } from "./inducing-posterior.ts";
import type { LocalSolver } from "./local/local.ts";
import type { LocalMemory } from "./local/memory.ts";
import type { GlobalParameters, Priors } from "./state.ts";

/** What stays the same over a fit. */
export interface EngineOptions {
  readonly diagonal: boolean;
  readonly priors: Priors;
  /** One length-scale for all dimensions. */
  readonly sharedLengthscale: boolean;
  /** Path of the local solver. */
  readonly path: "grid" | "general" | "auto";
  /** Which kernels to run on. Default TypeScript. */
  readonly kernels?: KernelKind;
}

/** The engine; `parameters`, `factor` and `solver` change together in `setParameters`. */
export interface Engine {
  readonly statistics: BasisStatistics;
  readonly options: EngineOptions;
  readonly numLocal: number; // P
  /** Tr G_i, [m], and their sum. */
  readonly gramTraces: Float64Array;
  readonly totalTrace: number;
  /** The statistics of all observations together, as of one individual. */
  readonly pooled: BasisStatistics;
  parameters: GlobalParameters;
  factor: KernelFactor;
  solver: LocalSolver;
  /** Memory of the solver's kernels, handed on from one solver to the next. */
  readonly memory: LocalMemory;
  /** 𝒴 and Ω of the last pass. */
  readonly sums: DataSums;
  /** q(u) of the last solve. */
  readonly posterior: InducingCoefficients;
  readonly work: InducingWorkspace;
  /** Threads for the passes of large cohorts; null without. */
  readonly shards: ShardRunner | null;
  /** g_i of the loaded individual, [d], and ρ_i. */
  readonly g: Float64Array;
  rho: number;
}
