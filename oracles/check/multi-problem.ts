/** The map of two_markers.json in the form the fit's own functions read, with responsibilities kept for everybody: only here, because the file lists them. */

import type { BasisStatistics } from "../../packages/core/src/basis/statistics.ts";
import { scaledRoot } from "../../packages/core/src/models/dtm/engine.ts";
import { addWeighted, nodeWeights } from "../../packages/core/src/models/dtm/expectation-step.ts";
import {
  type IndividualModel,
  individualStatistics,
  packedStride,
  residualRoot,
} from "../../packages/core/src/models/dtm/individual-statistics.ts";
import { inducingWorkspace } from "../../packages/core/src/models/dtm/inducing-posterior.ts";
import { jointMean } from "../../packages/core/src/models/dtm/joint-mean.ts";
import { type KernelProblem, type KernelSolution, solveAt } from "../../packages/core/src/models/dtm/kernel-step.ts";
import { maximizationSums, remainingSquares } from "../../packages/core/src/models/dtm/maximization-step.ts";
import {
  addLostInformation,
  individualDesign,
  type MeanEvidence,
  meanEvidence,
} from "../../packages/core/src/models/dtm/mean-effects.ts";
import { nodeGeometry } from "../../packages/core/src/models/dtm/node-kernel.ts";
import { nodeTable } from "../../packages/core/src/models/dtm/node-table.ts";
import { inducingLayout } from "../../packages/core/src/models/dtm/pairs.ts";
import { residualObjective, residualStep } from "../../packages/core/src/models/dtm/residual-step.ts";
import { type EffectForm, effectColumns, meanDesign, withoutEffects } from "../../packages/core/src/models/mean.ts";
import { whiteNoise } from "../../packages/core/src/noise/noise.ts";
import { joinFloats, multiplyVector } from "../../packages/core/src/numeric/matrix.ts";
import { symmetricEigen } from "../../packages/core/src/numeric/symmetric-eigen.ts";

/** ε of the kernel matrix and the cap of τ, which the file does not list. */
export const JITTER = 1e-6;
const CAP = 0.2;
/** A step that lowers the bound by more than this share of it is refused. */
const FALL = 1e-9;

/** What stays fixed. */
export interface MultiProblem {
  /** Of values as they are, marker by marker. */
  readonly statistics: readonly BasisStatistics[];
  readonly z: Float64Array; // [m,P]
  /** log π_g, or a row for everybody. */
  readonly logPrior: (individual: number) => Float64Array;
  readonly kernels: readonly KernelProblem[];
  readonly references: readonly Float64Array[]; // Σ_ref
  readonly alpha: readonly number[];
  readonly ell: readonly number[];
  readonly form: EffectForm;
}

/** What moves: per marker mean less centre and effects, σ², τ and the trial distance of its step. */
export interface MultiState {
  readonly coefficients: readonly Float64Array[]; // [1 + Ph]
  readonly s2: readonly number[];
  readonly tau: readonly number[];
  readonly distance: readonly number[];
}

export function kernelProblems(
  statistics: readonly BasisStatistics[],
  nodes: Float64Array,
  inducing: Float64Array,
  q: number,
): KernelProblem[] {
  const geometry = nodeGeometry(nodes, inducing, q, JITTER);
  return statistics.map(({ basis }) => {
    const layout = inducingLayout(basis.numBasis, geometry);
    const nodeSums = new Float64Array(packedStride(basis.numBasis) * geometry.numNodes);
    return { geometry, layout, nodeSums, workspace: inducingWorkspace(layout) };
  });
}

/** Statistics without effects, and the parameters of individuals, marker by marker. */
export function individualsAt(problem: MultiProblem, { coefficients, s2, tau }: MultiState) {
  const { statistics, form, z, references } = problem;
  const effects = coefficients.map((own) => own.slice(1));
  const moved = effects.every(({ length }) => length === 0)
    ? statistics
    : withoutEffects(statistics, { form, coefficients: effects }, z);
  const models = statistics.map(({ basis, center }, k): IndividualModel => {
    const d = basis.numBasis;
    return {
      mean: new Float64Array(d).fill(center + coefficients[k][0]),
      noise: whiteNoise(s2[k]),
      residualRoot: scaledRoot(residualRoot(references[k], d), tau[k]),
    };
  });
  return { statistics: moved, models };
}

/** Node sums of responsibilities r [m,Γ] into the problem. */
export function fillNodeSums(problem: MultiProblem, state: MultiState, r: Float64Array): void {
  const { statistics, models } = individualsAt(problem, state);
  problem.kernels.forEach(({ nodeSums, layout }, k) => {
    const n = layout.numNodes;
    nodeSums.fill(0);
    for (let i = 0; i < statistics[k].numIndividuals; i++) {
      const { row } = individualStatistics(statistics[k], i, models[k]);
      addWeighted(row, r.subarray(i * n, (i + 1) * n), nodeSums);
    }
  });
}

/** q(u) of every marker with its mean, for the node sums of r; the state with the means moved. */
export function solveMaps(problem: MultiProblem, state: MultiState, r: Float64Array) {
  fillNodeSums(problem, state, r);
  const solutions = problem.kernels.map((kernel, k) => {
    const mean = jointMean(kernel.layout, meanDesign("scalar", kernel.layout.numBasis), kernel.nodeSums);
    return solveAt({ ...kernel, mean }, problem.alpha[k], problem.ell[k], false);
  });
  const coefficients = state.coefficients.map((own, k) => {
    const moved = own.slice();
    moved[0] += solutions[k].posterior.meanShift[0];
    return moved;
  });
  return { solutions, state: { ...state, coefficients } };
}

/** An expectation step for everybody. */
export interface MultiExpectation {
  readonly responsibilities: Float64Array; // [m,Γ]
  readonly moments: readonly Float64Array[]; // [m,K] of each marker
  readonly bound: number;
  /** Node table of each marker, [K,Γ]. */
  readonly tables: readonly Float64Array[];
}

export function expectation(
  problem: MultiProblem,
  state: MultiState,
  solutions: readonly KernelSolution[],
): MultiExpectation {
  const { statistics, models } = individualsAt(problem, state);
  const tables = problem.kernels.map(({ layout, workspace }, k) => {
    const { mean, covariance } = solutions[k].posterior;
    return nodeTable(layout, solutions[k].kernel, mean, covariance, workspace);
  });
  const table = joinFloats(tables);
  const m = statistics[0].numIndividuals;
  const n = problem.kernels[0].layout.numNodes;
  const responsibilities = new Float64Array(m * n);
  const moments = tables.map(({ length }) => new Float64Array((m * length) / n));
  let bound = solutions.reduce((sum, { posterior }) => sum - posterior.divergence, 0);
  for (let i = 0; i < m; i++) {
    const own = models.map((model, k) => individualStatistics(statistics[k], i, model));
    const r = responsibilities.subarray(i * n, (i + 1) * n);
    bound += own.reduce((sum, { constant }) => sum + constant, 0);
    bound += nodeWeights(joinFloats(own.map(({ row }) => row)), table, problem.logPrior(i), r);
    tables.forEach((rows, k) => {
      const stride = rows.length / n;
      moments[k].set(multiplyVector(rows, r, stride, n), i * stride);
    });
  }
  return { responsibilities, moments, bound, tables };
}

/** Scores of everybody [m,S], complete and observed information [S,S] on mean and effects of all markers, the map as known. */
export function effectInformation(problem: MultiProblem, state: MultiState, step: MultiExpectation) {
  const { statistics, models } = individualsAt(problem, state);
  const P = problem.z.length / statistics[0].numIndividuals;
  const n = problem.kernels[0].layout.numNodes;
  const widths = state.coefficients.map(({ length }) => length);
  const S = widths.reduce((sum, width) => sum + width, 0);
  const scores: number[] = [];
  const complete = new Float64Array(S * S);
  const lost = new Float64Array(S * S);
  const f = joinFloats(step.tables.map((rows, k) => rows.subarray(0, statistics[k].basis.numBasis * n))); // [D,Γ]
  const D = f.length / n;
  for (let i = 0; i < statistics[0].numIndividuals; i++) {
    const parts = statistics.map(({ basis }, k): MeanEvidence => {
      const d = basis.numBasis;
      const design = { mean: meanDesign("scalar", d), effect: effectColumns(problem.form, basis) };
      const stride = packedStride(d);
      const { row } = individualStatistics(statistics[k], i, models[k]);
      const fitted = step.moments[k].subarray(i * stride, i * stride + d);
      return meanEvidence(row, fitted, individualDesign(design, problem.z.subarray(i * P, (i + 1) * P), d));
    });
    let from = 0;
    for (const [k, part] of parts.entries()) {
      scores.push(...part.score);
      for (let a = 0; a < widths[k]; a++) {
        for (let b = 0; b < widths[k]; b++) complete[(from + a) * S + from + b] += part.complete[a * widths[k] + b];
      }
      from += widths[k];
    }
    addLostInformation(parts, covarianceOver(f, D, step.responsibilities.subarray(i * n, (i + 1) * n)), lost);
  }
  return { scores: Float64Array.from(scores), complete, observed: complete.map((v, e) => v - lost[e]) };
}

/** Covariance of columns of f [D,Γ] with weights r [Γ], [D,D]. */
function covarianceOver(f: Float64Array, D: number, r: Float64Array): Float64Array {
  const n = r.length;
  const mean = multiplyVector(f, r, D, n);
  const out = new Float64Array(D * D);
  for (let a = 0; a < D; a++) {
    for (let b = 0; b < D; b++) {
      let s = 0;
      for (let g = 0; g < n; g++) s += r[g] * (f[a * n + g] - mean[a]) * (f[b * n + g] - mean[b]);
      out[a * D + b] = s;
    }
  }
  return out;
}

/** The first of a whole Newton step, half of one and an EM step that does not lower the bound; with `upOnly`, of those along the score. */
export function safeguardedStep<Tried extends { readonly bound: number }>(
  score: Float64Array,
  observed: Float64Array,
  complete: Float64Array,
  before: number,
  attempt: (move: Float64Array) => Tried,
  upOnly: boolean,
): Tried | undefined {
  const n = score.length;
  for (const [information, share] of [
    [observed, 1],
    [observed, 0.5],
    [complete, 1],
  ] as const) {
    const { values, vectors } = symmetricEigen(information, n);
    const move = new Float64Array(n);
    for (let j = 0; j < n; j++) {
      let along = 0;
      for (let k = 0; k < n; k++) along += vectors[k * n + j] * score[k];
      for (let k = 0; k < n; k++) move[k] += (share * vectors[k * n + j] * along) / values[j];
    }
    if (upOnly && move.reduce((sum, v, k) => sum + v * score[k], 0) < 0) continue;
    const tried = attempt(move);
    if (tried.bound >= before - FALL * Math.abs(before)) return tried;
  }
  return undefined;
}

/** One step of the effects, with the expectation step after it. */
export function effectStep(
  problem: MultiProblem,
  state: MultiState,
  solutions: readonly KernelSolution[],
  step: MultiExpectation,
) {
  const { scores, complete, observed } = effectInformation(problem, state, step);
  const widths = state.coefficients.map(({ length }) => length);
  const S = widths.reduce((sum, width) => sum + width, 0);
  // The mean, first of its marker's columns, moves with q(u).
  const kept = widths.flatMap((width, k) => {
    const from = widths.slice(0, k).reduce((sum, v) => sum + v, 0);
    return Array.from({ length: width - 1 }, (_, t) => from + 1 + t);
  });
  const total = Float64Array.from(kept, (s) => scores.reduce((sum, v, e) => (e % S === s ? sum + v : sum), 0));
  const block = (of: Float64Array) => Float64Array.from(kept.flatMap((s) => kept.map((t) => of[s * S + t])));
  const attempt = (move: Float64Array) => {
    let at = 0;
    const coefficients = state.coefficients.map((own) => own.map((v, t) => (t === 0 ? v : v + move[at++])));
    const next = { ...state, coefficients };
    const after = expectation(problem, next, solutions);
    return { state: next, step: after, bound: after.bound };
  };
  return (
    safeguardedStep(total, block(observed), block(complete), step.bound, attempt, true) ?? {
      state,
      step,
      bound: step.bound,
    }
  );
}

/** σ² at the moments of a step, then the direct step of τ, marker by marker. */
export function maximization(problem: MultiProblem, state: MultiState, { moments }: MultiExpectation): MultiState {
  const { statistics, models } = individualsAt(problem, state);
  const parts = statistics.map((own, k) => {
    const d = own.basis.numBasis;
    const sums = maximizationSums(own, models[k], moments[k]);
    const s2 = remainingSquares(sums, new Float64Array(d)) / sums.numObservations;
    const root = residualRoot(problem.references[k], d);
    const objective = (tau: number) => {
      const model = { ...models[k], noise: whiteNoise(s2), residualRoot: scaledRoot(root, tau) };
      return residualObjective(own, model, moments[k]);
    };
    const { tau, trialDistance } = residualStep(objective, state.tau[k], state.distance[k], CAP);
    return { s2, tau, distance: trialDistance };
  });
  return {
    ...state,
    s2: parts.map((part) => part.s2),
    tau: parts.map((part) => part.tau),
    distance: parts.map((part) => part.distance),
  };
}
