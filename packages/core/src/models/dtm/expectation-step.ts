/**
 * The expectation step (docs/math/dtm.md §7): for each individual the log weights of the nodes, their normaliser and what
 * the following steps need of the responsibilities, which are never kept:
 *   E_ig = log π_g + g̃_i'f̄_g − ½⟨G̃_i, R_g⟩,   λ_i = log Σ_g exp E_ig,   r_ig = exp(E_ig − λ_i),
 *   node sums  Σ_i r_ig (g̃_i, G̃_i)  [K,Γ]   and moments  Σ_g r_ig (f̄_g, −½R_g,kk, −R_g,kl)  [m,K],
 *   bound  F = Σ_i (c_i + λ_i) − KL.
 * O(mΓd²). The kernel of the same pass: packages/core/assembly/expectation.ts.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { type IndividualModel, individualStatistics } from "./individual-statistics.ts";
import { type LevelSquares, levelStatistics, writeSquares } from "./level-statistics.ts";
import { unpackMoments } from "./maximization-step.ts";
import type { NodeTable } from "./node-table.ts";

/** What a pass over individuals writes beside the bound. */
export interface ExpectationOutputs {
  /** Σ_i r_ig (g̃_i, G̃_i), added to; [K,Γ]. */
  readonly nodeSums?: Float64Array;
  /** Σ_g r_ig × node table, [m,K]. */
  readonly moments?: Float64Array;
  /** c_i + λ_i, [m]. */
  readonly contributions?: Float64Array;
  /** Where noise has levels: what weighs them in this pass, and what it leaves for the next. */
  readonly squares?: LevelSquares;
}

/** One pass over individuals; returns Σ (c_i + λ_i), the bound without KL. */
export function expectationPass(
  statistics: BasisStatistics,
  model: IndividualModel,
  table: NodeTable,
  { nodeSums, moments, contributions, squares }: ExpectationOutputs,
): number {
  const { stride, numNodes: n, rows, logWeights } = table;
  const d = model.mean.length;
  const r = new Float64Array(n);
  const moment = new Float64Array(stride);
  let total = 0;
  for (let i = 0; i < statistics.numIndividuals; i++) {
    const own = (of: Float64Array) => of.subarray(i * (1 + d), (i + 1) * (1 + d));
    const leveled = squares && levelStatistics(statistics, i, model, own(squares.before));
    const { row, constant } = leveled ?? individualStatistics(statistics, i, model);
    const contribution = constant + nodeWeights(row, rows, logWeights, r);
    total += contribution;
    if (contributions) contributions[i] = contribution;
    if (nodeSums) addWeighted(row, r, nodeSums);
    if (!moments && !squares) continue;
    for (let k = 0; k < stride; k++) {
      let s = 0;
      for (let g = 0; g < n; g++) s += r[g] * rows[k * n + g];
      moment[k] = s;
    }
    moments?.set(moment, i * stride);
    if (squares && leveled) {
      const { f: mean, R } = unpackMoments(moment, d);
      writeSquares(leveled, { mean, moment: R }, own(squares.after));
    }
  }
  return total;
}

/** Writes r_g ∝ exp(log π_g + Σ_k row_k table[k,g]) to `out` [Γ]; returns the log of what they are divided by. */
export function nodeWeights(row: Float64Array, table: Float64Array, logPrior: Float64Array, out: Float64Array): number {
  const n = out.length;
  out.set(logPrior);
  for (let k = 0; k < row.length; k++) for (let g = 0; g < n; g++) out[g] += row[k] * table[k * n + g];
  const largest = out.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  let sum = 0;
  for (let g = 0; g < n; g++) {
    out[g] = Math.exp(out[g] - largest);
    sum += out[g];
  }
  for (let g = 0; g < n; g++) out[g] /= sum;
  return largest + Math.log(sum);
}

/** sums[k,g] += r_g row_k. */
export function addWeighted(row: Float64Array, r: Float64Array, sums: Float64Array): void {
  const n = r.length;
  for (let k = 0; k < row.length; k++) for (let g = 0; g < n; g++) sums[k * n + g] += r[g] * row[k];
}
