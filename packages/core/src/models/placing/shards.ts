/** A cohort placed block by block: the work of one shard, and the columns of all of them put together. */
import { type BasisStatistics, statisticsBlock } from "../../basis/statistics.ts";
import { joinFloats, multiply } from "../../numeric/matrix.ts";
import { chooseKernels, type KernelChoice } from "../../wasm/instance.ts";
import type { CoefficientMixture } from "../mixture/mixture.ts";
import { modelMixture, type TrajectoryModel } from "../model.ts";
import { showCovariance } from "../orient.ts";
import { embedLocal } from "../paper/embed.ts";
import type { Placements } from "../placement.ts";
import { type ShardBlock, type ShardFunctions, type ShardRunner, type ShardWork, shardBlocks } from "../shards.ts";
import { createPlacer, type PlacedBlock, type Placer } from "./placer.ts";

/** Name of the shards that place. */
const PLACING = "places";

interface PlacingState {
  readonly model: TrajectoryModel;
  readonly kernels: KernelChoice;
  /** Whether all columns of `Placements` are wanted. */
  readonly details: boolean;
  readonly mixture: CoefficientMixture | undefined;
}

type VariationalPlaces = NonNullable<Placements["variational"]>;

interface PlacedColumns extends PlacedBlock {
  readonly variational?: VariationalPlaces;
}

/** Places everyone of the statistics. */
export function placeBlocks({ statistics, run }: ShardRunner, state: PlacingState): PlacedColumns {
  const blocks = shardBlocks(statistics[0].numIndividuals);
  return joinColumns(run(PLACING, state, blocks.length > 0 ? blocks : [{ from: 0, to: 0 }]) as PlacedColumns[]);
}

/** Columns of all parts, one part after the other; some stand in a group of their own. */
function joinColumns<T extends object>(parts: readonly T[]): T {
  const joined = Object.entries(parts[0]).map(([name, first]) => {
    const columns = parts.map((part) => part[name as keyof T]);
    return [
      name,
      first instanceof Float64Array ? joinFloats(columns as Float64Array[]) : joinColumns(columns as object[]),
    ];
  });
  return Object.fromEntries(joined) as T;
}

/** A worker that places blocks of individuals; tables of a model are kept while it is at hand. */
export function placingShards(): ShardFunctions {
  const placers = new WeakMap<object, Placer>();
  const work: ShardWork = ([statistics], given, part) => {
    const state = given as PlacingState;
    const { model, kernels, details } = state;
    const placer = placers.get(state) ?? createPlacer(model, state.mixture ?? modelMixture(model), kernels, details);
    placers.set(state, placer);
    const block = statisticsBlock(statistics, part as ShardBlock);
    const variational = details ? variationalPlaces(model, block, kernels) : undefined;
    return { ...placer(block), ...(variational === undefined ? {} : { variational }) };
  };
  return { [PLACING]: work };
}

/** The variational posteriors of places that the published model gives beside the exact ones, shown; undefined for others. */
export function variationalPlaces(
  model: TrajectoryModel,
  statistics: BasisStatistics,
  kernels: KernelChoice = "auto",
): VariationalPlaces | undefined {
  if (model.kind !== "dtm-paper") return undefined;
  const q = model.mapDimension;
  const local = embedLocal(model, statistics, chooseKernels(kernels));
  const m = statistics.numIndividuals;
  const location = multiply(local.mean, model.orientation, m, q, q);
  const covariance = new Float64Array(m * q * q);
  for (let i = 0; i < m; i++) {
    const S = local.covariance.subarray(i * q * q, (i + 1) * q * q);
    covariance.set(showCovariance(model.orientation, S, q), i * q * q);
  }
  return { location, covariance, bound: local.bound };
}
