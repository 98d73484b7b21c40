/** One individual of the published map with a random global state, for our local solver and for the C limit. */
import { writeFileSync } from "node:fs";
import { gridLocations } from "../../packages/core/src/models/gp/inducing.ts";
import type { Kernel } from "../../packages/core/src/models/gp/kernel.ts";
import { detectGrid } from "../../packages/core/src/models/paper/local/grid.ts";
import { createLocalSolver, type LocalSolver } from "../../packages/core/src/models/paper/local/local.ts";
import { rbfFeatures } from "../../packages/core/src/models/paper/local/rbf-features.ts";
import { createRandom } from "../../packages/core/src/numeric/random.ts";
import type { KernelKind } from "../../packages/core/src/wasm/instance.ts";
import { type LocalProblem, makeLocalProblem } from "../../test/local-problem.ts";
import { scratchFile } from "../peers.ts";

export const INDIVIDUAL = 3;
/** Places at which the objective is evaluated in turn. */
export const NUM_PLACES = 32;
export const NUM_PARAMETERS = 5;

type RbfKernel = Extract<Kernel, { kind: "rbf" }>;

export interface LocalBench {
  readonly problem: LocalProblem;
  readonly kernel: RbfKernel;
  /** θ of places as they occur in fits, [NUM_PLACES,5]. */
  readonly theta: Float64Array;
}

/** A problem with p = perDimension² inducing places on a grid, or as many scattered ones. */
export function localBench(perDimension: number, scattered = false): LocalBench {
  const kernel: RbfKernel = {
    kind: "rbf",
    signalVariance: 1.2,
    lengthscales: Float64Array.of(1, 1),
    jitter: scattered ? 1e-2 : 1e-6,
  };
  const p = perDimension ** 2;
  const random = createRandom(7);
  const Z = gridLocations(2, perDimension);
  if (scattered) for (let e = 0; e < Z.length; e++) Z[e] += 0.2 * random.normal();
  const problem = makeLocalProblem(kernel, Z, p, 2, { seed: 11, numIndividuals: 8 });
  const theta = new Float64Array(NUM_PLACES * NUM_PARAMETERS);
  for (let k = 0; k < theta.length; k++) {
    const c = k % NUM_PARAMETERS;
    theta[k] = c < 2 ? 0.8 * random.normal() : c < 4 ? -1 + 0.2 * random.normal() : 0.05 * random.normal();
  }
  return { problem, kernel, theta };
}

/** Our solver with the individual loaded. */
export function solverOf({ problem }: LocalBench, kernels: KernelKind): LocalSolver {
  const { kernel, Z, p, q, d, A, T, Kinv, sigma2, statistics, g } = problem;
  const solver = createLocalSolver(kernel, Z, p, q, d, { diagonal: false, kernels });
  solver.setGlobal(A, T, Kinv, sigma2);
  solver.setIndividual(statistics, INDIVIDUAL, g, INDIVIDUAL * d, 0);
  return solver;
}

/** Writes the individual's weights as doubles for bench/c/limit.c and returns the path. */
export function writeForC({ problem, kernel, theta }: LocalBench, name: string): string {
  const { Z, p, q } = problem;
  const g = Math.round(Math.sqrt(p));
  const grid = detectGrid(Z, p, q);
  const pairs = rbfFeatures(kernel, Z, p, q, null);
  const [w1, w2] = weightsOf(problem, pairs);
  const fine =
    grid === null ? new Float64Array((2 * g - 1) ** 2) : weightsOf(problem, rbfFeatures(kernel, Z, p, q, grid))[1];
  const midpoints = pairs.places!.second;
  const column = (list: Float64Array, c: number) => list.filter((_, k) => k % 2 === c);
  const [a, b] = kernel.lengthscales;
  const head = Float64Array.of(g, p, w2.length, NUM_PLACES, Z[0], Z[3] - Z[1], a * a, b * b);
  const parts = [head, column(Z, 0), column(Z, 1), w1, column(midpoints, 0), column(midpoints, 1), w2, fine, theta];
  const path = scratchFile(name);
  writeFileSync(
    path,
    Buffer.concat(parts.map((part) => new Uint8Array(part.buffer, part.byteOffset, part.byteLength))),
  );
  return path;
}

/** w1 = C1'h and w2 = −½C2'W of the individual, straight from the definition. */
function weightsOf(problem: LocalProblem, features: ReturnType<typeof rbfFeatures>): [Float64Array, Float64Array] {
  const { A, T, Kinv, p, d, g, sigma2, statistics } = problem;
  const { numBand, bandRow, bandColumn, gram } = statistics;
  const first = new Float64Array(features.numFirst * d);
  features.collapseFirst(A, d, 1 / sigma2, first, d);
  const w1 = new Float64Array(features.numFirst);
  for (let f = 0; f < w1.length; f++) for (let k = 0; k < d; k++) w1[f] += first[f * d + k] * g[INDIVIDUAL * d + k];
  const w2 = new Float64Array(features.numSecond);
  for (let e = 0; e < numBand; e++) {
    const [k, l] = [bandRow[e], bandColumn[e]];
    const scale = ((k === l ? -0.5 : -1) * gram[INDIVIDUAL * numBand + e]) / sigma2;
    features.collapseSecond(T, (k * d + l) * p * p, scale, w2, 1, 0);
    if (k === l) features.collapseSecond(Kinv, 0, -scale, w2, 1, 0);
  }
  return [w1, w2];
}
