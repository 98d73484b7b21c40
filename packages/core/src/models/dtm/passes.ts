/**
 * The passes of a fit over individuals, from engine and state to bound, node sums and moments (expectation-step.ts), whoever is
 * visited. Squares of individuals whose noise has levels go into a pass and come out of it.
 */
import { takeColumns } from "../../covariates/covariates.ts";
import { DtmError } from "../../errors.ts";
import { logNoisePrior, noiseSpread } from "../../noise/noise.ts";
import { joinFloats, takeRows } from "../../numeric/matrix.ts";
import { expectInShards, rowsInShards, startInShards, startSquaresInShards } from "./block-passes.ts";
import { individualModel, type MapEngine, type MarkerEngine } from "./engine.ts";
import { packedStride } from "./individual-statistics.ts";
import type { LevelSquares } from "./level-statistics.ts";
import type { NodeTable } from "./node-table.ts";
import { momentsOfPowers, type PlacePriors, placePriors } from "./place-shift.ts";
import type { Learning, Pass, Visited } from "./shards.ts";
import { nodePowers, type StartingPlaces } from "./starting-places.ts";
import type { DtmState, MarkerState } from "./state.ts";

/** The node table of all markers, with powers of the places after their rows if asked, and further rows [T,Γ]. */
function wholeTable({ markers, nodes }: MapEngine, withPlaces: boolean, further?: Float64Array): NodeTable {
  const { numNodes, logWeights } = nodes;
  const parts = markers.map(({ table }) => table);
  if (withPlaces || further !== undefined) {
    const beside = joinFloats([...(withPlaces ? [nodePowers(nodes)] : []), ...(further ? [further] : [])]);
    // Kernels take rows by twos.
    const odd = beside.length % (2 * numNodes) > 0;
    parts.push(beside, new Float64Array(odd ? numNodes : 0));
  }
  const rows = parts.length === 1 ? parts[0] : joinFloats(parts);
  return { numNodes, stride: rows.length / numNodes, rows, logWeights };
}

/** A pass over some individuals at the parameters of a state; where noise has levels, with their squares. */
export function passOver(engine: MapEngine, state: DtmState, visited: Visited): Pass {
  const { shards, kernels, markers } = engine;
  return {
    shards,
    visited,
    kernels,
    models: markers.map((marker, k) => individualModel(marker, state.markers[k])),
    squares: markers.map((marker, k) => squaresOver(marker, state.markers[k], visited)),
    ...effectsOver(
      engine,
      state.markers.map((own) => own.effects),
      visited,
    ),
    ...(state.shift === null ? {} : { shift: shiftOver(engine, state.shift, visited) }),
  };
}

/** What a pass over the visited reads of effects γ of its markers. */
function effectsOver(
  { effects, shards, numIndividuals: m }: Pick<MapEngine, "effects" | "shards" | "numIndividuals">,
  coefficients: readonly (Float64Array | null)[],
  visited: Visited,
): Pick<Pass, "effects"> {
  if (effects === null) return {};
  const { form, values } = effects;
  let own = values;
  if (visited !== null) {
    const taken = takeRows(values, values.length / m, visited);
    own = shards.buffer(taken.length);
    own.set(taken);
  }
  return { effects: { form, values: own, coefficients: coefficients.map((one) => one!) } };
}

/** The priors of everybody's place under Φ. */
export function priorsUnder(engine: MapEngine, shift: Float64Array): PlacePriors {
  const { nodes, covariates, shards } = engine;
  if (engine.priors?.shift !== shift && covariates !== null) {
    const made = placePriors(nodes, shift, covariates);
    // Where all shards can read them.
    const [terms, logNormalizers] = [made.terms, made.logNormalizers].map((rows) => {
      const out = shards.buffer(rows.length);
      out.set(rows);
      return out;
    });
    engine.priors = { ...made, terms, logNormalizers, shift };
  }
  return engine.priors!;
}

/** What a pass over the visited reads of their priors. */
function shiftOver(engine: MapEngine, shift: Float64Array, visited: Visited): Pass["shift"] {
  const { terms, logNormalizers } = priorsUnder(engine, shift);
  if (visited === null) return { terms, logNormalizers };
  const taken = (rows: Float64Array, width: number) => {
    const own = takeRows(rows, width, visited);
    const out = engine.shards.buffer(own.length);
    out.set(own);
    return out;
  };
  return { terms: taken(terms, engine.nodes.mapDimension), logNormalizers: taken(logNormalizers, 1) };
}

/** The squares of the visited before a pass, and room for those after it. */
function squaresOver(engine: MarkerEngine, state: MarkerState, visited: Visited): LevelSquares | undefined {
  if (state.squares === null) return undefined;
  const width = 1 + state.mean.length;
  const rows = visited === null ? state.squares : takeRows(state.squares, width, visited);
  const { length } = rows;
  if (engine.squares?.before.length !== length) {
    const [before, after] = [length, length].map((size) => engine.shards.buffer(size));
    engine.squares = { before, after, directions: engine.shards.buffer((length / width) * state.mean.length) };
  }
  engine.squares.before.set(rows);
  return engine.squares;
}

/** The state goes on with the squares that the last pass over the visited left. */
export function keepSquares({ markers }: MapEngine, state: DtmState, visited: Visited): void {
  markers.forEach(({ squares }, k) => {
    const own = state.markers[k];
    if (own.squares === null || squares === null) return;
    const { after } = squares;
    if (visited === null) {
      own.squares = Float64Array.from(after);
      return;
    }
    const width = 1 + own.mean.length;
    const kept = own.squares;
    visited.forEach((i, n) => {
      kept.set(after.subarray(n * width, (n + 1) * width), i * width);
    });
  });
}

/** Node sums of the starting responsibilities of some individuals, left in the engine. */
export function startVisited(engine: MapEngine, state: DtmState, visited: Visited, places: StartingPlaces): void {
  const { markers, numIndividuals } = engine;
  const unequal = markers.filter((_, k) => noiseSpread(state.markers[k].noise) > 0);
  if (unequal.length > 0) {
    // Everybody's level as the mixed model has it, whoever is visited first.
    for (const { index } of unequal) {
      const own = state.markers[index];
      own.squares = new Float64Array(numIndividuals * (1 + own.mean.length));
    }
    const all = passOver(engine, state, null);
    const models = all.models.map((model, k) => ({ ...model, residualRoot: markers[k].referenceRoot }));
    startSquaresInShards({ ...all, models });
    keepSquares(engine, state, null);
  }
  startInShards(passOver(engine, state, visited), engine.nodes, places, engine.nodeSums);
}

/** What of the bound does not depend on individuals: the prior of the noise, less the KL of q(u), of all markers. */
export function commonTerms({ markers }: MapEngine, state: DtmState): number {
  return markers.reduce((sum, { noisePrior }, k) => {
    const { noise, divergence } = state.markers[k];
    return sum + (logNoisePrior(noise, noisePrior) - divergence);
  }, 0);
}

/** An expectation pass over everybody; returns the bound, NaN if numbers left the range of doubles. */
export function expectBound(
  engine: MapEngine,
  state: DtmState,
  nodeSums: Float64Array | null,
  learning: Learning | null,
): number {
  return expectVisited(engine, state, null, nodeSums, learning) + commonTerms(engine, state);
}

/**
 * An expectation pass over some individuals; returns Σ (c_i + λ_i), sets node sums where given, and leaves in the engine what the
 * next parameters are made from, if asked.
 */
export function expectVisited(
  engine: MapEngine,
  state: DtmState,
  visited: Visited,
  nodeSums: Float64Array | null,
  learning: Learning | null,
): number {
  const count = visited?.length ?? engine.numIndividuals;
  const shifted = state.shift !== null;
  const placeMoments = shifted && learning !== null ? placeMomentsFor(engine, count) : null;
  const outputs = { nodeSums, learning, placeMoments };
  const { total, markers } = expectInShards(passOver(engine, state, visited), wholeTable(engine, shifted), outputs);
  markers?.forEach((sums, k) => {
    engine.markers[k].sums = sums;
  });
  return total;
}

/** The bound itself, or an error if it is not finite. */
export function checkBound(state: DtmState, bound: number): number {
  if (Number.isFinite(bound)) return bound;
  throw new DtmError(
    "not-finite",
    `dtm: expected a finite bound, received ${bound} in iteration ${state.iteration}. Check the values for extremes, or use fewer basis functions.`,
  );
}

/** Means Σ_g r_ig x_g of everybody's place under the responsibilities, fit's frame, [m,q]. */
export function placeMeans(engine: MapEngine, state: DtmState): Float64Array {
  const { nodes, numIndividuals: m } = engine;
  const placeMoments = placeMomentsFor(engine, m);
  rowsInShards(passOver(engine, state, null), wholeTable(engine, true), { placeMoments });
  return momentsOfPowers(placeMoments, nodes.mapDimension).means;
}

/**
 * A pass over everybody that leaves moments in the engine; returns Σ_g r_ig f̄_kg f̄_lg' of all pairs of markers k ≤ l, one after another,
 * of k = l the upper triangle, [m,Σ d_k(d_k+1)/2 + Σ d_kd_l].
 */
export function expectProducts(engine: MapEngine, state: DtmState): Float64Array {
  const { markers, nodes, numIndividuals: m, shards } = engine;
  const { numNodes: n, mapDimension: q } = nodes;
  const rows: Float64Array[] = [];
  markers.forEach((first, k) => {
    for (const second of markers.slice(k)) {
      for (let a = 0; a < first.problem.layout.numBasis; a++) {
        for (let b = second === first ? a : 0; b < second.problem.layout.numBasis; b++) {
          rows.push(Float64Array.from({ length: n }, (_, g) => first.table[a * n + g] * second.table[b * n + g]));
        }
      }
    }
  });
  const shifted = state.shift !== null;
  const numPowers = shifted ? q + (q * (q + 1)) / 2 : 0;
  const width = numPowers + rows.length;
  const moments = markers.map((marker) => momentsFor(marker, m));
  const beside = shards.buffer(m * width);
  const table = wholeTable(engine, shifted, joinFloats(rows));
  rowsInShards(passOver(engine, state, null), table, { moments, placeMoments: beside });
  return takeColumns(
    beside,
    width,
    Array.from(rows, (_, t) => numPowers + t),
  );
}

/** The buffer for moments of the places of `count` individuals. */
function placeMomentsFor(engine: MapEngine, count: number): Float64Array {
  const q = engine.nodes.mapDimension;
  const length = count * (q + (q * (q + 1)) / 2);
  if (engine.placeMoments.length !== length) engine.placeMoments = engine.shards.buffer(length);
  return engine.placeMoments;
}

/** The buffer for moments of `count` individuals. */
function momentsFor(engine: MarkerEngine, count: number): Float64Array {
  const length = count * packedStride(engine.problem.layout.numBasis);
  if (engine.moments.length < length) engine.moments = engine.shards.buffer(length);
  return engine.moments;
}
