/**
 * Passes over individuals under the engine's parameters and q(u): objectives with gradients, climbs, sums of features.
 * Where the local solver can, a block of individuals is worked on by one call (local/wasm-block.ts); else, and for
 * individuals out of that kernel's range, one after the other. Individuals are positions from..to−1 in a list, or in the
 * cohort where there is none.
 */
import { residualStatistics } from "../../basis/statistics.ts";
import { LOG_2PI } from "../../numeric/special.ts";
import type { Engine } from "./engine-parts.ts";
import type { LocalSolveOptions } from "./local/local.ts";
import type { LocalBlocks } from "./local/wasm-block.ts";

/** Positions in a list of individuals, or in the cohort if null. */
export interface Individuals {
  readonly list: ArrayLike<number> | null;
  readonly from: number;
  readonly to: number;
}

/** Loads individual i into the local solver: g_i, ρ_i and the constant c_i. */
export function loadIndividual(engine: Engine, i: number): void {
  const { statistics, parameters, g } = engine;
  engine.rho = residualStatistics(statistics, i, parameters.meanCoefficients, g);
  engine.solver.setIndividual(statistics, i, g, 0, individualConstant(engine, i, engine.rho));
}

/** c_i for ρ_i, the part of J_i that does not depend on the place. */
export function individualConstant(engine: Engine, i: number, rho: number): number {
  const { kernel, noiseVariance: s2 } = engine.parameters;
  const constant = -0.5 * engine.statistics.counts[i] * (LOG_2PI + Math.log(s2)) - (0.5 * rho) / s2;
  // E k(x,x) depends on the place for the linear kernel; there the solver adds its part.
  return kernel.kind === "rbf" ? constant - (0.5 * kernel.signalVariance * engine.gramTraces[i]) / s2 : constant;
}

/** What a pass does: `run` with the block's positions start..end−1 of the list, `one` with who was left out of it. */
interface Pass {
  readonly run: (blocks: LocalBlocks, start: number, end: number) => void;
  readonly one: (i: number) => void;
}

/** Runs a pass in blocks where there are any. */
function overBlocks(engine: Engine, theta: Float64Array, { list, from, to }: Individuals, pass: Pass): void {
  const { statistics, solver, parameters } = engine;
  const { blocks } = solver;
  if (blocks === null) {
    for (let n = from; n < to; n++) pass.one(list === null ? n : list[n]);
    return;
  }
  for (let start = from; start < to; start += blocks.capacity) {
    const end = Math.min(start + blocks.capacity, to);
    blocks.load(statistics, list, start, end, parameters.meanCoefficients, theta);
    pass.run(blocks, start, end);
    for (let n = start; n < end; n++) {
      if (Number.isNaN(blocks.results[n - start])) pass.one(list === null ? n : list[n]);
    }
  }
}

/** c_i of the block's individuals, to `blocks.constants`. */
function fillConstants(engine: Engine, list: ArrayLike<number> | null, blocks: LocalBlocks, from: number, to: number) {
  const { statistics, gramTraces, parameters } = engine;
  const { kernel, noiseVariance: s2 } = parameters;
  const { fits, constants } = blocks;
  const perVisit = 0.5 * (LOG_2PI + Math.log(s2));
  const half = 0.5 / s2;
  const perTrace = half * kernel.signalVariance;
  for (let n = from; n < to; n++) {
    const i = list === null ? n : list[n];
    const rho = Math.max(statistics.sumSquares[i] - fits[n - from], 0);
    constants[n - from] = -(perVisit * statistics.counts[i] + half * rho + perTrace * gramTraces[i]);
  }
}

/** What is to be done beside the objectives: with a block just evaluated, and with one individual just loaded. */
export interface Aside {
  readonly block: (blocks: LocalBlocks, count: number) => void;
  readonly one: (i: number) => void;
}

/** Σ J_i at θ [m,P]; writes ∂J_i/∂θ_i to gradient [m,P] where given. */
export function sumObjectivesOf(
  engine: Engine,
  theta: Float64Array,
  who: Individuals,
  gradient: Float64Array | null,
  aside: Aside | null = null,
): number {
  const { solver, numLocal: P } = engine;
  const own = new Float64Array(P);
  let total = 0;
  overBlocks(engine, theta, who, {
    run: (blocks, from, to) => {
      const { results, constants } = blocks;
      blocks.evaluate();
      fillConstants(engine, who.list, blocks, from, to);
      for (let n = 0; n < to - from; n++) {
        const value = constants[n] + results[n];
        if (!Number.isNaN(value)) total += value;
      }
      aside?.block(blocks, to - from);
      if (gradient === null) return;
      if (who.list === null) gradient.set(blocks.gradient.subarray(0, (to - from) * P), from * P);
      else copyRows(blocks.gradient, P, who.list, from, to, gradient);
    },
    one: (i) => {
      loadIndividual(engine, i);
      total += solver.evaluate(theta, i * P, own, null);
      if (gradient !== null) gradient.set(own, i * P);
      aside?.one(i);
    },
  });
  return total;
}

/** Row n − from of `rows` [·,P] to row list[n] of out. */
function copyRows(
  rows: Float64Array,
  P: number,
  list: ArrayLike<number> | null,
  from: number,
  to: number,
  out: Float64Array,
): void {
  for (let n = from; n < to; n++) {
    const i = list === null ? n : list[n];
    for (let k = 0; k < P; k++) out[i * P + k] = rows[(n - from) * P + k];
  }
}

/** Maximises J_i from θ_i in place; returns Σ J_i. */
export function solveEach(engine: Engine, theta: Float64Array, who: Individuals, options: LocalSolveOptions): number {
  const { solver, numLocal: P } = engine;
  const { list } = who;
  let total = 0;
  const one = (i: number): void => {
    loadIndividual(engine, i);
    total += solver.solve(theta, i * P, options);
  };
  if (options.method === "newton") {
    for (let n = who.from; n < who.to; n++) one(list === null ? n : list[n]);
    return total;
  }
  overBlocks(engine, theta, who, {
    run: (blocks, from, to) => {
      fillConstants(engine, list, blocks, from, to);
      blocks.climb(options.gradientTolerance, options.maxEvaluations);
      // Who came out of range has stayed where it was.
      copyRows(blocks.theta, P, list, from, to, theta);
      for (let n = 0; n < to - from; n++) if (!Number.isNaN(blocks.results[n])) total += blocks.results[n];
    },
    one,
  });
  return total;
}

/** Adds weight · ψ1 g_i' and weight · G_i Ψ2 at θ to the solver's sums, and ψ1 G_i to those of blocks if asked. */
export function accumulateEach(
  engine: Engine,
  theta: Float64Array,
  who: Individuals,
  weight: number,
  withCourse = false,
): void {
  const { solver, numLocal: P } = engine;
  overBlocks(engine, theta, who, {
    run: (blocks) => blocks.accumulate(weight, withCourse),
    one: (i) => {
      loadIndividual(engine, i);
      solver.accumulate(theta, i * P, weight);
    },
  });
}

/** Sums over all individuals at θ [m,P], left in `engine.sums`; with Σ ψ1 G of blocks if asked. */
export function sumOverAll(engine: Engine, theta: Float64Array, withCourse = false): void {
  const { solver, sums } = engine;
  solver.resetSums();
  accumulateEach(engine, theta, everybody(engine), 1, withCourse);
  solver.readSums(sums.cross, sums.gram);
}

/** Σ_i J_i at θ under the engine's q(u); writes ∂/∂θ to gradient [m,P] if given. */
export function sumObjectives(
  engine: Engine,
  theta: Float64Array,
  gradient: Float64Array | null,
  aside: Aside | null = null,
): number {
  return sumObjectivesOf(engine, theta, everybody(engine), gradient, aside);
}

function everybody(engine: Engine): Individuals {
  return { list: null, from: 0, to: engine.statistics.numIndividuals };
}
