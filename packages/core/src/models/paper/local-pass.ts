/**
 * The local step with several starts: J_i has more than one maximum for a few individuals, so the place is also sought
 * from 0 and from ±1.5 along each axis with sd 0.5, and the best is kept.
 */
import type { Engine } from "./engine.ts";
import { loadIndividual } from "./engine.ts";
import type { LocalSolveOptions } from "./local/local.ts";
import { solveEach } from "./passes.ts";

const START_DISTANCE = 1.5;
const START_LOG_SD = Math.log(0.5);
/** Another start must win by more than the solver's own error. */
const MIN_GAIN = 1e-6;

/** The starts, rows of [2q+1, P]: 0 and ±1.5 along each axis, sd 0.5. */
export function localStarts(q: number, P: number): Float64Array {
  const starts = new Float64Array((2 * q + 1) * P);
  for (let s = 0; s <= 2 * q; s++) {
    if (s > 0) starts[s * P + ((s - 1) >> 1)] = s % 2 === 1 ? START_DISTANCE : -START_DISTANCE;
    for (let c = 0; c < q; c++) starts[s * P + q + c] = START_LOG_SD;
  }
  return starts;
}

/**
 * Maximises J_i for individuals from..to−1 under the engine's q(u), from θ as it stands and, if `starts` are given,
 * from each of them; θ is updated in place. Returns Σ J_i.
 */
export function solvePlaces(
  engine: Engine,
  theta: Float64Array,
  from: number,
  to: number,
  options: LocalSolveOptions,
  starts: Float64Array | null,
): number {
  if (starts === null) return solveEach(engine, theta, { list: null, from, to }, options);
  const { solver, numLocal: P } = engine;
  const trial = new Float64Array(P);
  const count = starts.length / P;
  let total = 0;
  for (let i = from; i < to; i++) {
    loadIndividual(engine, i);
    let best = solver.solve(theta, i * P, options);
    for (let s = 0; s < count; s++) {
      for (let k = 0; k < P; k++) trial[k] = starts[s * P + k];
      const value = solver.solve(trial, 0, options);
      if (value > best + MIN_GAIN) {
        best = value;
        theta.set(trial, i * P);
      }
    }
    total += best;
  }
  return total;
}
