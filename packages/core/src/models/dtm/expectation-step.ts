/**
 * The expectation step (docs/math/dtm.md §7): for each individual the log weights of the nodes, their normaliser and what
 * the following steps need of the responsibilities, which are never kept. Markers are independent given the place, so they add:
 *   E_ig = log π_g + Σ_k [g̃_ik'f̄_kg − ½⟨G̃_ik, R_kg⟩],   λ_i = log Σ_g exp E_ig,   r_ig = exp(E_ig − λ_i),
 *   node sums  Σ_i r_ig (g̃_i, G̃_i)  [K,Γ]   and moments  Σ_g r_ig (f̄_g, −½R_g,kk, −R_g,kl)  [m,K],
 *   bound  F = Σ_i (Σ_k c_ik + λ_i) − Σ_k KL_k.
 * An individual's row is that of its first marker, then that of the second, and so on; a marker never measured has a row of zeros.
 * O(mΓd²). The kernel of the same pass: packages/core/assembly/expectation.ts.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { packedStride } from "../../wasm/tiles.ts";
import { type IndividualModel, individualStatistics } from "./individual-statistics.ts";
import { type LevelSquares, type LevelStatistics, levelStatistics, writeSquares } from "./level-statistics.ts";
import { unpackMoments } from "./maximization-step.ts";
import type { NodeTable } from "./node-table.ts";

/** Priors of places that differ between individuals: log π_ig = log π_g + η_i'x_g − log of what they sum to. */
export interface PlaceShift {
  /** η_i, [m,q]. */
  readonly terms: Float64Array;
  readonly logNormalizers: Float64Array; // [m]
}

/** What a pass over individuals writes beside the bound, and what it may read of single individuals. */
export interface ExpectationOutputs {
  /** Σ_i r_ig (g̃_i, G̃_i), added to; [K,Γ]. */
  readonly nodeSums?: Float64Array;
  /** Σ_g r_ig × node table of each marker, [m,K_k]. */
  readonly moments?: readonly Float64Array[];
  /** Σ_g r_ig × what the table has after the rows of the markers: powers of the places; [m,T]. */
  readonly placeMoments?: Float64Array;
  /** Σ_k c_ik + λ_i, [m]. */
  readonly contributions?: Float64Array;
  /** Where the noise of a marker has levels: what weighs them in this pass, and what it leaves for the next. */
  readonly squares?: readonly (LevelSquares | undefined)[];
  readonly shift?: PlaceShift;
}

/** One pass over individuals; returns Σ (Σ_k c_ik + λ_i), the bound without KL. */
export function expectationPass(
  statistics: readonly BasisStatistics[],
  models: readonly IndividualModel[],
  table: NodeTable,
  { nodeSums, moments, placeMoments, contributions, squares, shift }: ExpectationOutputs,
): number {
  const { stride, numNodes: n, rows, logWeights } = table;
  const m = statistics[0].numIndividuals;
  const sizes = models.map(({ mean }) => mean.length);
  const starts = sizes.map((_, k) => sizes.slice(0, k).reduce((sum, d) => sum + packedStride(d), 0));
  const numRows = sizes.reduce((sum, d) => sum + packedStride(d), 0);
  const r = new Float64Array(n);
  const row = new Float64Array(stride);
  const moment = new Float64Array(stride);
  let total = 0;
  for (let i = 0; i < m; i++) {
    let constant = 0;
    const leveled = models.map((model, k): LevelStatistics | null => {
      const before = squares?.[k]?.before;
      const own = before
        ? levelStatistics(statistics[k], i, model, rowOf(before, 1 + sizes[k], i))
        : individualStatistics(statistics[k], i, model);
      row.set(own.row, starts[k]);
      constant += own.constant;
      return "rotated" in own ? own : null;
    });
    if (shift) {
      row.set(rowOf(shift.terms, shift.terms.length / m, i), numRows);
      constant -= shift.logNormalizers[i];
    }
    const contribution = constant + nodeWeights(row, rows, logWeights, r);
    total += contribution;
    if (contributions) contributions[i] = contribution;
    if (nodeSums) addWeighted(row.subarray(0, numRows), r, nodeSums);
    if (!moments && !placeMoments && !squares) continue;
    for (let k = 0; k < stride; k++) {
      let s = 0;
      for (let g = 0; g < n; g++) s += r[g] * rows[k * n + g];
      moment[k] = s;
    }
    models.forEach((_, k) => {
      const own = moment.subarray(starts[k], starts[k] + packedStride(sizes[k]));
      moments?.[k].set(own, i * own.length);
      const left = leveled[k];
      const out = squares?.[k];
      if (left === null || out === undefined) return;
      const { f: mean, R } = unpackMoments(own, sizes[k]);
      const directions = rowOf(out.directions, sizes[k], i);
      writeSquares(left, { mean, moment: R }, rowOf(out.after, 1 + sizes[k], i), directions);
    });
    placeMoments?.set(moment.subarray(numRows, numRows + placeMoments.length / m), (i * placeMoments.length) / m);
  }
  return total;
}

/** Row i of rows [m,width], as a view. */
function rowOf(rows: Float64Array, width: number, i: number): Float64Array {
  return rows.subarray(i * width, (i + 1) * width);
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
