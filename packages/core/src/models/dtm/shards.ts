/**
 * The passes over individuals as shards (models/shards.ts), which block-passes.ts runs. Kinds of work on a block, all at given parameters; of all markers:
 *   start     first guesses of places in, node sums of the block out (starting-places.ts);
 *   expect    one round: node table in, and out Σ (c_i + λ_i), node sums and, of each marker, the sums that the next parameters are
 *             made from: for mean, noise and residual (maximization-step.ts) or, where noise has levels, 𝒬 with its slopes
 *             (level-statistics.ts), Q at some τ (residual-step.ts), score and information on effects in the mean (mean-effects.ts);
 *   cells     how single individuals stand out from node sums (cells.ts);
 *   squares   where noise has levels: first squares of the block.
 * Moments of individuals are made and dropped within a block. Squares [count,1 + d], places and moments that are asked for are rows by
 * position in the pass, in memory that all shards share.
 */
import {
  type BasisStatistics,
  type CohortStatistics,
  selectStatistics,
  statisticsBlock,
} from "../../basis/statistics.ts";
import { wasmPasses } from "../../wasm/expectation.ts";
import type { KernelKind } from "../../wasm/instance.ts";
import { type EffectForm, effectColumns, withoutEffects } from "../mean.ts";
import type { ShardBlock, ShardFunctions, ShardRunner, ShardWork } from "../shards.ts";
import { nodeCells, startingCells } from "./cells.ts";
import { expectationPass, type PlaceShift } from "./expectation-step.ts";
import { type IndividualModel, packedStride } from "./individual-statistics.ts";
import { type LevelSquares, type LevelSums, levelSums, startingSquares } from "./level-statistics.ts";
import { type MaximizationSums, maximizationSums } from "./maximization-step.ts";
import { type EffectSums, effectSums } from "./mean-effects.ts";
import type { NodeTable } from "./node-table.ts";
import type { MapNodes } from "./nodes.ts";
import { residualObjective } from "./residual-step.ts";
import { addStartingSums, type StartingPlaces, startingWeights } from "./starting-places.ts";

/** Whom a pass visits, in this order; null for everybody. */
export type Visited = Int32Array | null;

/** Where a pass runs, on which kernels and at which parameters of each marker. */
export interface Pass {
  readonly shards: ShardRunner;
  readonly visited: Visited;
  readonly kernels: KernelKind;
  readonly models: readonly IndividualModel[];
  /** Of markers whose noise has levels. */
  readonly squares: readonly (LevelSquares | undefined)[];
  readonly effects?: PassEffects;
  /** Where priors of places differ between individuals, by position in the pass. */
  readonly shift?: PlaceShift;
}

/** Effects of covariates in the mean: passes see statistics of values without them. */
export interface PassEffects {
  readonly form: EffectForm;
  /** z by position in the pass, [count,P]. */
  readonly values: Float64Array;
  /** γ [P,h] of the markers of the pass. */
  readonly coefficients: readonly Float64Array[];
}

/** What the next parameters are to be made by. */
export interface Learning {
  /** Whether levels of the noise are weighed as the pass leaves them, for EM steps, or as it found them, for slopes of the bound. */
  readonly levelsAfter: boolean;
  readonly markers: readonly MarkerLearning[];
}

export interface MarkerLearning {
  /** Roots of Σ_e at which Q is asked for, and what times that of the pass Σ_e is there. */
  readonly roots: readonly Float64Array[];
  readonly scales: readonly number[];
  /** Whether Σ E ee' is read. */
  readonly residualMoment: boolean;
}

/** What a round says of one marker, at the parameters of the pass. */
export interface MarkerSums {
  /** Where noise has one level. */
  readonly maximization: MaximizationSums | null;
  /** Where it has several. */
  readonly levels: LevelSums | null;
  /** Q at the roots asked for. */
  readonly values: Float64Array;
  readonly effects: EffectSums | null;
}

/** What every shard gets: kernels and parameters, and what its work asks for beside. */
export type PassState = Pick<Pass, "kernels" | "models" | "squares" | "shift" | "effects"> & { readonly count: number };

export interface StartTask {
  readonly nodes: MapNodes;
  readonly places: StartingPlaces; // by position in the pass
}

export interface ExpectTask {
  readonly table: NodeTable;
  readonly withSums: boolean;
  readonly learning: Learning | null;
  readonly moments: readonly Float64Array[] | null; // [count,K] of each marker
  readonly placeMoments: Float64Array | null; // [count,T]
}

export interface ExpectAnswer {
  readonly total: number;
  readonly nodeSums?: Float64Array;
  readonly markers: readonly MarkerSums[] | null;
}

/** A block by position in the pass, and who stands there. */
export interface Part extends ShardBlock {
  readonly visited: Visited;
}

/** The definitions, in the form of the kernels (wasm/expectation.ts). */
const definitions = {
  expect: expectationPass,
  start: addStartingSums,
  maximize: maximizationSums,
  residual: residualObjective,
  levels: levelSums,
  squares: startingSquares,
};

/** The work of these passes; nothing but scratch is kept. */
export function dtmShards(): ShardFunctions {
  const opened = new Map<string, typeof definitions>();
  const scratch: Float64Array[] = [];
  const passes = (kernels: KernelKind, sizes: readonly number[], numNodes: number, stride = rowLength(sizes)) => {
    if (kernels === "typescript") return definitions;
    const key = `${sizes} ${numNodes} ${stride}`;
    const found = opened.get(key) ?? wasmPasses(sizes, numNodes, stride);
    opened.set(key, found);
    return found;
  };
  const work =
    <Task>(
      answer: (
        statistics: CohortStatistics,
        part: Part,
        state: PassState & Task,
        squares: (LevelSquares | undefined)[],
      ) => unknown,
    ): ShardWork =>
    (statistics, given, part) => {
      const state = given as PassState & Task;
      const squares = state.squares.map((own, k) => squaresOf(own, sizeOf(statistics[k]), part as Part));
      return answer(visitedStatistics(statistics, part as Part, state), part as Part, state, squares);
    };
  /** Room for the moments of a block, [·,K]. */
  const room = (k: number, length: number): Float64Array => {
    if ((scratch[k]?.length ?? -1) < length) scratch[k] = new Float64Array(length);
    return scratch[k].subarray(0, length);
  };
  /** The sums of one marker of a block, from the moments that the pass has just left. */
  const sumsOf = (
    own: BasisStatistics,
    k: number,
    state: PassState & ExpectTask,
    moments: Float64Array,
    squares: LevelSquares | undefined,
    part: Part,
  ): MarkerSums => {
    const { kernels, effects, count } = state;
    const { levelsAfter, markers } = state.learning!;
    const { roots, scales, residualMoment } = markers[k];
    const model = state.models[k];
    const weighed = squares && levelsAfter ? { ...squares, before: squares.after } : squares;
    const sizes = [sizeOf(own)];
    const { levels, residual } = passes(kernels, sizes, 0);
    // The kernel has no Σ E ee', which a free residual covariance reads.
    const { maximize } = passes(residualMoment && model.residualRoot !== null ? "typescript" : kernels, sizes, 0);
    const ofLevels = weighed === undefined ? null : levels(own, model, weighed);
    const valueAt = (root: Float64Array, scale: number): number => {
      if (weighed === undefined) return residual(own, { ...model, residualRoot: root }, moments);
      return scale === 1 ? ofLevels!.value : levels(own, model, weighed, scale, false).value;
    };
    return {
      maximization: weighed === undefined ? maximize(own, model, moments) : null,
      levels: ofLevels,
      values: Float64Array.from(roots, (root, t) => valueAt(root, scales[t])),
      effects:
        effects === undefined
          ? null
          : effectSums(
              own,
              model,
              moments,
              effectColumns(effects.form, own.basis),
              covariatesOf(effects, part, count),
              weighed,
            ),
    };
  };
  return {
    "dtm-expect": work<ExpectTask>((statistics, part, state, squares): ExpectAnswer => {
      const { from, to } = part;
      const { kernels, models, table, withSums, learning, placeMoments, shift } = state;
      const { stride, numNodes } = table;
      const sizes = statistics.map(sizeOf);
      const nodeSums = withSums ? new Float64Array(rowLength(sizes) * numNodes) : undefined;
      const rows = (of: Float64Array, width: number) => of.subarray(from * width, to * width);
      const moments =
        state.moments?.map((of, k) => rows(of, packedStride(sizes[k]))) ??
        (learning === null ? undefined : sizes.map((d, k) => room(k, (to - from) * packedStride(d))));
      const outputs = {
        nodeSums,
        moments,
        placeMoments: placeMoments === null ? undefined : rows(placeMoments, placeMoments.length / state.count),
        squares: squares.some((own) => own !== undefined) ? squares : undefined,
        shift: shift && {
          terms: rows(shift.terms, shift.terms.length / state.count),
          logNormalizers: rows(shift.logNormalizers, 1),
        },
      };
      const total = passes(kernels, sizes, numNodes, stride).expect(statistics, models, table, outputs);
      const markers =
        learning === null || moments === undefined
          ? null
          : statistics.map((own, k) => sumsOf(own, k, state, moments[k], squares[k], part));
      return { total, nodeSums, markers };
    }),
    "dtm-start": work<StartTask>((statistics, part, { kernels, models, nodes, places }, squares) => {
      const sizes = statistics.map(sizeOf);
      const nodeSums = new Float64Array(rowLength(sizes) * nodes.numNodes);
      const weights = startingWeights(nodes, placesIn(places, nodes.mapDimension, part));
      passes(kernels, sizes, nodes.numNodes).start(statistics, models, weights, nodeSums, squares);
      return nodeSums;
    }),
    "dtm-start-cells": work<StartTask>(([{ numIndividuals }], part, { nodes, places }) =>
      startingCells(numIndividuals, startingWeights(nodes, placesIn(places, nodes.mapDimension, part))),
    ),
    "dtm-cells": work<Pick<ExpectTask, "table">>((statistics, _, { models, table }, squares) =>
      nodeCells(statistics, models, table, squares),
    ),
    "dtm-squares": work<object>((statistics, _, { kernels, models }, squares) => {
      squares.forEach((own, k) => {
        if (own === undefined) return;
        passes(kernels, [sizeOf(statistics[k])], 0).squares(statistics[k], models[k], own.after);
      });
    }),
  };
}

/** The starting places of a block. */
function placesIn({ means, covariances }: StartingPlaces, q: number, { from, to }: ShardBlock): StartingPlaces {
  return { means: means.subarray(from * q, to * q), covariances: covariances.subarray(from * q * q, to * q * q) };
}

function sizeOf({ basis }: BasisStatistics): number {
  return basis.numBasis;
}

/** Length of an individual's row of all markers. */
function rowLength(sizes: readonly number[]): number {
  return sizes.reduce((sum, d) => sum + packedStride(d), 0);
}

/** The statistics of a block, without effects of covariates in the mean. */
function visitedStatistics(
  statistics: CohortStatistics,
  part: Part,
  { effects, count }: Pick<PassState, "effects" | "count">,
): CohortStatistics {
  const { from, to, visited } = part;
  const block = statistics.map((own) =>
    visited === null ? statisticsBlock(own, { from, to }) : selectStatistics(own, visited),
  );
  return effects === undefined ? block : withoutEffects(block, effects, covariatesOf(effects, part, count));
}

/** z of a block, [to − from,P]. */
function covariatesOf({ values }: PassEffects, { from, to }: Part, count: number): Float64Array {
  const P = values.length / count;
  return values.subarray(from * P, to * P);
}

function squaresOf(squares: LevelSquares | undefined, d: number, { from, to }: Part): LevelSquares | undefined {
  const rows = (of: Float64Array, width: number) => of.subarray(from * width, to * width);
  if (squares === undefined) return undefined;
  const { before, after, directions } = squares;
  return { before: rows(before, 1 + d), after: rows(after, 1 + d), directions: rows(directions, d) };
}
