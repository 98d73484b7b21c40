/**
 * A round of the map as plain data, for hosts of the kernels in other languages: all that a shard needs beside its statistics, and
 * nothing of individuals (docs/rounds.md). What shards with the kernels alone can answer are whole passes of a fit to noise of one level:
 * levels, covariates and rows of individuals stay where the fit runs.
 */
import { noiseLevel } from "../../noise/noise.ts";
import type { ExpectTask, PassState } from "./shards.ts";

export interface MapQuestion {
  readonly work: "map";
  /** Rows of the node table [stride,Γ], and log weights of the nodes [Γ]. */
  readonly table: Float64Array;
  readonly logWeights: Float64Array;
  readonly markers: readonly {
    readonly mean: Float64Array; // [d]
    readonly variance: number;
    /** L of the pass [d,d], null without residual effects, and those at which Q is asked for. */
    readonly root: Float64Array | null;
    readonly roots: readonly Float64Array[];
  }[];
}

/** The question that a piece of work is; undefined for work that only the library does. */
export function mapQuestion(name: string, given: unknown): MapQuestion | undefined {
  if (name !== "dtm-expect") return undefined;
  const { kernels, models, squares, effects, shift, table, withSums, learning, moments, placeMoments } =
    given as PassState & ExpectTask;
  const rows = [...squares, effects, shift, moments, placeMoments];
  if (kernels === "typescript" || !withSums || learning === null || rows.some((own) => own != null)) return undefined;
  if (learning.markers.some((own, k) => own.residualMoment && models[k].residualRoot !== null)) return undefined;
  return {
    work: "map",
    table: table.rows,
    logWeights: table.logWeights,
    markers: models.map(({ mean, noise, residualRoot }, k) => ({
      mean,
      variance: noiseLevel(noise),
      root: residualRoot,
      roots: learning.markers[k].roots,
    })),
  };
}
