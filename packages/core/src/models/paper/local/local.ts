/**
 * The local step of the published DTM: one individual's place q(x) = N(m, TT') given the global q(u)
 * (docs/math/local-step.md):
 *   J(m,T) = c + h'ψ1 − ½⟨W,Ψ2⟩ − KL(q(x) ‖ N(0,I)),
 *   h = A g / σ²,   W = (Σ_kl G_kl T_kl − Tr(G) K⁻¹)/σ²,
 *   θ = [m (q), log diag T (q), strictly lower T row by row (q(q−1)/2, absent if diagonal)].
 * Cost per evaluation with Hessian, q = 2, p = 25: 25 + 81 nodes and 16 exponentials on a regular grid, 25 + 325
 * nodes with an exponential each elsewhere. Nothing is allocated after creation, save when the band changes.
 */
import type { BasisStatistics } from "../../../basis/statistics.ts";
import { checkOption, DtmError } from "../../../errors.ts";
import {
  restartScaledConjugateGradient,
  runScaledConjugateGradient,
  type ScaledConjugateGradientState,
  startScaledConjugateGradient,
} from "../../../numeric/optimize/scaled-conjugate-gradient.ts";
import type { KernelKind } from "../../../wasm/instance.ts";
import type { Kernel } from "../../gp/kernel.ts";
import { createPlace, unpackPlace, unpackPlace2, writeDerivatives, writeDerivatives2 } from "./chain-rule.ts";
import type { Features } from "./features.ts";
import { detectGrid } from "./grid.ts";
import { linearFeatures } from "./linear-features.ts";
import { type LocalMemory, roomForBlocks } from "./memory.ts";
import { createNewtonWorkspace, maximizeNewton } from "./newton.ts";
import { cubeSize } from "./nodes.ts";
import { addOuter, contractRows, paddedWidth } from "./padded-rows.ts";
import { rbfFeatures } from "./rbf-features.ts";
import { type LocalBlocks, loadBand, localBlocks, takeBlockSums, type WasmBlock, wasmBlock } from "./wasm-block.ts";
import { accumulateWasm, evaluateWasm, loadTable, loadWeights, takeSums, wasmLocal } from "./wasm-local.ts";

export interface LocalSolverOptions {
  /** Diagonal S_i: the lower part of T is absent from θ. */
  readonly diagonal: boolean;
  /** "grid" needs Z to be a regular grid and an RBF kernel; "auto" (default) takes it when it can. */
  readonly path?: "grid" | "general" | "auto";
  /** Which kernels to run on. Default TypeScript. */
  readonly kernels?: KernelKind;
  /** Memory shared with solvers of the same sizes that are no longer in use. */
  readonly memory?: LocalMemory;
}

export interface LocalSolveOptions {
  readonly method: "newton" | "scg";
  /** Stop when no entry of the gradient exceeds this. */
  readonly gradientTolerance: number;
  readonly maxEvaluations: number;
}

export interface LocalSolver {
  /** P: 2q for a diagonal, q + q(q+1)/2 for a full covariance. */
  readonly numParameters: number;
  /** The path taken: "general" also for the linear kernel. */
  readonly path: "grid" | "general";
  /** Evaluations of J since creation. */
  readonly evaluations: number;
  /** Passes over blocks of individuals; null where only one at a time can be worked on. */
  readonly blocks: LocalBlocks | null;
  /**
   * Loads the global state, after every change of q(u); the arrays are copied.
   * A = K⁻¹M [p,d]; T_kl = K⁻¹(S_kl + m_k m_l')K⁻¹ symmetrised, [d,d,p,p], read for k ≤ l;
   * Kinv [p,p].
   */
  setGlobal(A: Float64Array, T: Float64Array, Kinv: Float64Array, noiseVariance: number): void;
  /**
   * Loads one individual: G_i from the statistics, g_i [d] at g[gOffset..], c_i. For the RBF kernel c_i contains
   * −α Tr(G_i)/2σ²; for the linear kernel it does not, since E[k(x,x)] then depends on the place.
   */
  setIndividual(
    statistics: BasisStatistics,
    individual: number,
    g: Float64Array,
    gOffset: number,
    constant: number,
  ): void;
  /** J at θ = theta[offset..offset+P]; writes the gradient [P] and the Hessian [P,P] where given. */
  evaluate(theta: Float64Array, offset: number, gradient: Float64Array | null, hessian: Float64Array | null): number;
  /** Maximises J from θ in place; returns J there. */
  solve(theta: Float64Array, offset: number, options: LocalSolveOptions): number;
  /** Adds weight · ψ1 g_i' and weight · G_i,kl Ψ2 at θ to the sums; needs no global state. */
  accumulate(theta: Float64Array, offset: number, weight: number): void;
  resetSums(): void;
  /** Writes Σ ψ1 g' to crossSums [p,d] and Σ G_kl Ψ2 to gramSums [numBand,p,p], band entries as in BasisStatistics. */
  readSums(crossSums: Float64Array, gramSums: Float64Array): void;
}

/** A local solver for inducing places Z [p,q] and d spline coefficients. */
export function createLocalSolver(
  kernel: Kernel,
  Z: Float64Array,
  p: number,
  q: number,
  d: number,
  options: LocalSolverOptions,
): LocalSolver {
  const { features, path } = chooseFeatures(kernel, Z.slice(0, p * q), p, q, options.path ?? "auto");
  const { numFirst, numSecond } = features;
  const place = createPlace(q, options.diagonal);
  const P = place.numParameters;
  const D = new Float64Array(cubeSize(q));
  const memory = options.memory ?? { current: null };
  const fast =
    options.kernels === "wasm-simd" && features.places !== null
      ? wasmLocal(features.places, P, d, memory.current)
      : null;
  memory.current = fast;
  let block: WasmBlock | null = null;
  let blocks: LocalBlocks | null | undefined;
  const newton = createNewtonWorkspace(place);
  let conjugate: ScaledConjugateGradientState | null = null;

  // Global state as given, and collapsed onto the features once the band is known.
  const A = new Float64Array(p * d);
  const T = roomForBlocks(d * d * p * p, memory);
  const Kinv = new Float64Array(p * p);
  let sigma2 = Number.NaN;
  const width = paddedWidth(d);
  const firstTable = new Float64Array(numFirst * width); // [numFirst,width]
  let secondTable = new Float64Array(0); // [numSecond,stride]
  const inverseTable = new Float64Array(numSecond); // C2'K⁻¹
  let tablesReady = false;
  // Whether the kernels' memory holds the tables too.
  let fastTablesReady = false;
  let blockReady = false;

  // The band's layout and the individual.
  let statisticsSeen: BasisStatistics | null = null;
  let numBand = 0;
  let stride = 0;
  let bandRow = new Uint8Array(0);
  let bandColumn = new Uint8Array(0);
  let gram = new Float64Array(0); // [stride]
  const g = new Float64Array(width);
  let c = Number.NaN;
  const w1 = new Float64Array(numFirst);
  const w2 = new Float64Array(numSecond);
  let weightsReady = false;
  let fastReady = false;
  // Whether there are sums in the memory of the kernels for one individual.
  let fastSummed = false;

  const firstSums = new Float64Array(numFirst * width); // [numFirst,width]
  let secondSums = new Float64Array(0); // [numSecond,stride]
  const firstValues = new Float64Array(numFirst);
  const secondValues = new Float64Array(numSecond);
  let evaluations = 0;

  const learnBand = (statistics: BasisStatistics): void => {
    statisticsSeen = statistics;
    const same =
      statistics.numBand === numBand &&
      statistics.bandRow.every((k, e) => k === bandRow[e]) &&
      statistics.bandColumn.every((l, e) => l === bandColumn[e]);
    if (same) return;
    checkOption(
      statistics.basis.numBasis === d,
      "LocalSolver.setIndividual",
      `statistics of a basis with ${d} functions`,
      statistics.basis.numBasis,
      "Create the solver with the size of this basis.",
    );
    numBand = statistics.numBand;
    stride = paddedWidth(numBand);
    bandRow = statistics.bandRow.slice();
    bandColumn = statistics.bandColumn.slice();
    gram = new Float64Array(stride);
    secondTable = new Float64Array(numSecond * stride);
    secondSums = new Float64Array(numSecond * stride);
    firstSums.fill(0);
    if (fast !== null) for (const sums of fast.sums) sums.fill(0);
    if (block !== null) loadBand(block, statistics);
    tablesReady = false;
  };

  /** The passes over blocks, made when they are first asked for. */
  const openBlocks = (): LocalBlocks | null => {
    if (fast === null || features.places === null) return null;
    block = wasmBlock(features.places, P, d, memory.block ?? null);
    if (block === null) return null;
    memory.block = block;
    if (statisticsSeen !== null) loadBand(block, statisticsSeen);
    return localBlocks(block, {
      learnBand: (statistics) => {
        if (statistics !== statisticsSeen) learnBand(statistics);
      },
      requireTables: () => {
        requireTables();
        if (blockReady || block === null) return;
        block.tables[0].set(firstTable);
        block.tables[1].set(secondTable);
        blockReady = true;
      },
      countEvaluations: (count) => {
        evaluations += count;
      },
    });
  };

  const fillTables = (): void => {
    features.collapseFirst(A, d, 1 / sigma2, firstTable, width);
    secondTable.fill(0);
    inverseTable.fill(0);
    features.collapseSecond(Kinv, 0, 1, inverseTable, 1, 0);
    for (let e = 0; e < numBand; e++) {
      const k = bandRow[e];
      const l = bandColumn[e];
      const scale = (k === l ? -0.5 : -1) / sigma2;
      features.collapseSecond(T, (k * d + l) * p * p, scale, secondTable, stride, e);
      if (k !== l) continue;
      for (let f = 0; f < numSecond; f++) secondTable[f * stride + e] -= scale * inverseTable[f];
      features.collapseVariance(scale, secondTable, stride, e);
    }
    tablesReady = true;
    blockReady = false;
    fastTablesReady = false;
  };

  const requireTables = (): void => {
    if (statisticsSeen === null) throw missing("setIndividual");
    if (tablesReady) return;
    if (Number.isNaN(sigma2)) throw missing("setGlobal");
    fillTables();
  };

  /** w1 = C1'h, w2 = −½ C2'W of the individual. */
  const fillWeights = (): void => {
    requireTables();
    contractRows(firstTable, g, numFirst, width, w1);
    contractRows(secondTable, gram, numSecond, stride, w2);
    weightsReady = true;
  };

  const evaluate: LocalSolver["evaluate"] = (theta, offset, gradient, hessian) => {
    evaluations++;
    if (fast !== null) {
      if (!fastReady) {
        requireTables();
        if (!fastTablesReady) {
          loadTable(fast, 0, firstTable, width, d);
          loadTable(fast, 1, secondTable, stride, numBand);
          fastTablesReady = true;
        }
        loadWeights(fast, g, d, gram, numBand);
        fastReady = true;
      }
      const value = evaluateWasm(fast, theta, offset, gradient, hessian);
      if (!Number.isNaN(value)) return c + value;
    }
    if (!weightsReady) fillWeights();
    const kl = q === 2 ? unpackPlace2(place, theta, offset) : unpackPlace(place, theta, offset);
    features.derivatives(place, w1, w2, hessian === null ? 2 : 4, D);
    if (q === 2) writeDerivatives2(place, D, gradient, hessian);
    else writeDerivatives(place, D, gradient, hessian);
    return c + D[0] - kl;
  };
  const objective = (x: Float64Array, gradient: Float64Array): number => evaluate(x, 0, gradient, null);

  return {
    numParameters: P,
    path,
    get evaluations() {
      return evaluations;
    },
    get blocks() {
      if (blocks === undefined) blocks = openBlocks();
      return blocks;
    },
    setGlobal: (newA, newT, newKinv, noiseVariance) => {
      A.set(newA.subarray(0, p * d));
      // The blocks k ≤ l of each row lie side by side.
      for (let k = 0; k < d; k++) {
        const from = k * (d + 1) * p * p;
        T.set(newT.subarray(from, (k + 1) * d * p * p), from);
      }
      Kinv.set(newKinv.subarray(0, p * p));
      sigma2 = noiseVariance;
      tablesReady = false;
      weightsReady = false;
      fastReady = false;
    },
    setIndividual: (statistics, individual, newG, gOffset, constant) => {
      if (statistics !== statisticsSeen) learnBand(statistics);
      const at = individual * numBand;
      for (let e = 0; e < numBand; e++) gram[e] = statistics.gram[at + e];
      for (let k = 0; k < d; k++) g[k] = newG[gOffset + k];
      c = constant;
      weightsReady = false;
      fastReady = false;
    },
    evaluate,
    solve: (theta, offset, { method, gradientTolerance, maxEvaluations }) => {
      if (method === "newton") {
        return maximizeNewton(evaluate, theta, offset, newton, gradientTolerance, maxEvaluations);
      }
      const start = theta.subarray(offset, offset + P);
      if (conjugate === null) {
        conjugate = startScaledConjugateGradient(objective, start);
      } else {
        conjugate.x.set(start);
        restartScaledConjugateGradient(objective, conjugate);
      }
      runScaledConjugateGradient(objective, conjugate, { gradientTolerance, maxEvaluations });
      start.set(conjugate.x);
      return conjugate.value;
    },
    accumulate: (theta, offset, weight) => {
      if (statisticsSeen === null) throw missing("setIndividual");
      if (fast !== null && accumulateWasm(fast, theta, offset, weight, g, d, gram, numBand)) {
        fastSummed = true;
        return;
      }
      unpackPlace(place, theta, offset);
      features.values(place, firstValues, secondValues);
      addOuter(firstSums, g, numFirst, width, weight, firstValues);
      addOuter(secondSums, gram, numSecond, stride, weight, secondValues);
    },
    resetSums: () => {
      firstSums.fill(0);
      secondSums.fill(0);
      if (fast !== null && fastSummed) for (const sums of fast.sums) sums.fill(0);
      fastSummed = false;
      if (block !== null) for (const sums of block.sums) sums.fill(0);
    },
    readSums: (crossSums, gramSums) => {
      if (fast !== null && fastSummed) {
        takeSums(fast, 0, firstSums, width, d);
        takeSums(fast, 1, secondSums, stride, numBand);
        fastSummed = false;
      }
      if (block !== null) takeBlockSums(block, firstSums, secondSums);
      features.expandFirst(firstSums, width, d, crossSums);
      for (let e = 0; e < numBand; e++) features.expandSecond(secondSums, stride, e, gramSums, e * p * p);
    },
  };
}

function chooseFeatures(
  kernel: Kernel,
  Z: Float64Array,
  p: number,
  q: number,
  path: "grid" | "general" | "auto",
): { features: Features; path: "grid" | "general" } {
  checkOption(q >= 1 && q <= 3, "createLocalSolver", "a map of 1, 2 or 3 dimensions", q, "Choose q within 1..3.");
  const grid = kernel.kind === "rbf" && path !== "general" ? detectGrid(Z, p, q) : null;
  if (path === "grid" && grid === null) {
    throw new DtmError(
      "option",
      `createLocalSolver: path "grid" needs an RBF kernel and inducing places on a regular grid, first dimension slowest; received a ${kernel.kind} kernel with ${p} places that are not such a grid. Use path "auto".`,
    );
  }
  if (kernel.kind === "linear") return { features: linearFeatures(kernel, Z, p, q), path: "general" };
  return { features: rbfFeatures(kernel, Z, p, q, grid), path: grid === null ? "general" : "grid" };
}

function missing(call: string): DtmError {
  return new DtmError("state", `LocalSolver: expected ${call} before this call, received none. Call ${call} first.`);
}
