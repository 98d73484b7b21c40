/** A cohort placed block by block: the work of one shard, and the columns of all of them put together. */
import { type BasisStatistics, statisticsBlock } from "../../basis/statistics.ts";
import { joinFloats, multiply } from "../../numeric/matrix.ts";
import { chooseKernels, type KernelChoice } from "../../wasm/instance.ts";
import { shiftedPrior } from "../covariate-model.ts";
import type { CoefficientMixture } from "../mixture/mixture.ts";
import { isMapModel, modelMixtures, type TrajectoryModel } from "../model.ts";
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
  readonly mixtures: readonly CoefficientMixture[] | undefined;
  /** Φz of everybody, [m,q], where covariates shift places. */
  readonly shift: Float64Array | null;
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
    if (first instanceof Float64Array) return [name, joinFloats(columns as Float64Array[])];
    if (!Array.isArray(first)) return [name, joinColumns(columns as object[])];
    return [name, first.map((_, k) => joinColumns((columns as object[][]).map((list) => list[k])))];
  });
  return Object.fromEntries(joined) as T;
}

/** A worker that places blocks of individuals; tables of a model are kept while it is at hand. */
export function placingShards(): ShardFunctions {
  const placers = new WeakMap<object, Placer>();
  const work: ShardWork = (statistics, given, part) => {
    const state = given as PlacingState;
    const { model, kernels, details } = state;
    const placer =
      placers.get(state) ?? createPlacer(model, state.mixtures ?? placingMixtures(model), kernels, details);
    placers.set(state, placer);
    const block = statistics.map((own) => statisticsBlock(own, part as ShardBlock));
    const variational = details ? variationalPlaces(model, block[0], kernels) : undefined;
    const { from } = part as ShardBlock;
    const { shift } = state;
    const q = model.mapDimension;
    const prior =
      shift === null || model.kind !== "dtm"
        ? undefined
        : (i: number) => shiftedPrior(model, shift.subarray((from + i) * q, (from + i + 1) * q));
    return { ...placer(block, prior), ...(variational === undefined ? {} : { variational }) };
  };
  return { [PLACING]: work };
}

/** What places are made from; a linear model of several markers has no mixture of each. */
function placingMixtures(model: TrajectoryModel): CoefficientMixture[] {
  return !isMapModel(model) && model.markers.length > 1 ? [] : modelMixtures(model);
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
