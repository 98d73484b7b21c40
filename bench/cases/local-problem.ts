/** One individual of the published map with a random global state, for our local solver and for the C limit. */
import { writeFileSync } from "node:fs";
import { gridLocations } from "../../packages/core/src/models/gp/inducing.ts";
import type { Kernel } from "../../packages/core/src/models/gp/kernel.ts";
import { featuresOf } from "../../packages/core/src/models/paper/features.ts";
import { createLocalSolver, type LocalSolver } from "../../packages/core/src/models/paper/local.ts";
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

/** A problem with p = perDimension² inducing points on a grid. */
export function localBench(perDimension: number): LocalBench {
  const kernel: RbfKernel = { kind: "rbf", signalVariance: 1.2, lengthscales: Float64Array.of(1, 1), jitter: 1e-6 };
  const p = perDimension ** 2;
  const random = createRandom(7);
  const Z = gridLocations(2, perDimension);
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
  const { kernel, Z, p, q, d, A, blocks, Kinv, sigma2, statistics, g } = problem;
  const solver = createLocalSolver(statistics, p, q, false, kernels);
  solver.setKernel(kernel, Z);
  solver.setGlobal(A, blocks, Kinv, sigma2);
  solver.setIndividual(statistics, INDIVIDUAL, g.subarray(INDIVIDUAL * d), 0);
  return solver;
}

/** Writes the individual's weights as doubles for bench/c/limit.c and returns the path. */
export function writeForC({ problem, kernel, theta }: LocalBench, name: string): string {
  const { Z, p } = problem;
  const [a, b] = kernel.lengthscales;
  const head = Float64Array.of(Math.round(Math.sqrt(p)), NUM_PLACES, Z[0], Z[3] - Z[1], a * a, b * b);
  const parts = [head, ...weightsOf(problem), theta];
  const path = scratchFile(name);
  writeFileSync(
    path,
    Buffer.concat(parts.map((part) => new Uint8Array(part.buffer, part.byteOffset, part.byteLength))),
  );
  return path;
}

/** w1 = C1'h and w2 = −½C2'W of the individual, straight from the definition. */
function weightsOf({ kernel, Z, A, blocks, Kinv, p, q, d, g, sigma2, statistics }: LocalProblem): Float64Array[] {
  const { numBand, bandRow, bandColumn, gram } = statistics;
  const features = featuresOf({ kernel, inducingLocations: Z, numInducing: p, mapDimension: q });
  const first = new Float64Array(d * features.numFirst);
  features.collapseFirst(A, d, 1 / sigma2, first);
  const w1 = new Float64Array(features.numFirst);
  for (let e = 0; e < first.length; e++) {
    w1[e % w1.length] += first[e] * g[INDIVIDUAL * d + Math.floor(e / w1.length)];
  }
  const w2 = new Float64Array(features.numSecond);
  for (let e = 0; e < numBand; e++) {
    const onDiagonal = bandRow[e] === bandColumn[e];
    const scale = ((onDiagonal ? -0.5 : -1) * gram[INDIVIDUAL * numBand + e]) / sigma2;
    features.collapseSecond(blocks.subarray(e * p * p, (e + 1) * p * p), scale, w2);
    if (onDiagonal) features.collapseSecond(Kinv, -scale, w2);
  }
  // Without the nodes that make their number even.
  const nodesOf = (w: Float64Array, n: number) => {
    const row = 2 * Math.ceil(n / 2);
    return Float64Array.from({ length: n * n }, (_, e) => w[Math.floor(e / n) * row + (e % n)]);
  };
  const perDimension = Math.round(Math.sqrt(p));
  return [nodesOf(w1, perDimension), nodesOf(w2, 2 * perDimension - 1)];
}
