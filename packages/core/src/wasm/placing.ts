/**
 * The nodes of a mixture in WebAssembly (packages/core/assembly/placing.ts): weights of all of them for one individual after
 * the other, and the sums that a place is made of. A mixture is laid out once.
 */
import { openKernels } from "./layout.ts";
import { NODES } from "./layouts.ts";
import { TILE, tileCount, tileRows } from "./tiles.ts";

/** What the kernels read of a mixture (models/mixture/mixture.ts). */
export interface NodeTables {
  readonly numNodes: number; // Γ
  readonly numBasis: number; // d
  readonly logWeights: Float64Array; // [Γ]
  readonly means: Float64Array; // [Γ,d]
  readonly packedCovariances: Float64Array; // [Γ, d(d+1)/2]
}

/** What the kernels read of an individual: Fw + N(0, N) = h (models/mixture/observed.ts says how). */
export interface ObservedFunctionals {
  readonly rank: number; // r
  readonly functionals: Float64Array; // F [r,d]
  readonly heights: Float64Array; // h [r]
  /** N, lower triangle row by row. */
  readonly noise: Float64Array;
  /** Pivots of the Cholesky factorisation of N, [r]. */
  readonly floors: Float64Array;
}

/** Memory for a mixture and so many noise levels; `columns` [Γ,numColumns] are the functions of a node whose sums are wanted. */
export function openNodes(tables: NodeTables, numLevels = 1, columns: Float64Array = new Float64Array(0)) {
  const { numBasis: d, numNodes: n } = tables;
  const numPacked = (d * (d + 1)) / 2;
  const numColumns = columns.length / n;
  const nodes = openKernels(NODES, { numBasis: d, numPacked, numTiles: tileCount(n), numColumns, rank: 0, numLevels });
  const { buffers } = nodes;
  tileRows(tables.packedCovariances, n, numPacked, buffers.covariances);
  tileRows(tables.means, n, d, buffers.means);
  tileRows(columns, n, numColumns, buffers.columns);
  buffers.logPrior.fill(Number.NEGATIVE_INFINITY).set(tables.logWeights);
  return nodes;
}

export type Nodes = ReturnType<typeof openNodes>;

/** Bytes of four numbers. */
const QUAD = TILE * Float64Array.BYTES_PER_ELEMENT;

/** Takes an individual as the one at hand. */
export function loadObserved({ buffers, sizes }: Nodes, observed: ObservedFunctionals): void {
  const { rank: r, functionals: F } = observed;
  const d = sizes.numBasis;
  sizes.rank = r;
  buffers.heights.set(observed.heights);
  buffers.noise.set(observed.noise);
  buffers.floors.set(observed.floors);
  // Terms of e_a = h_a − Σ_k F_ak m_k and of (FΣF')_ab that are not zero, row by row.
  const { ends, offsets, terms } = buffers;
  let at = 0;
  let entry = 0;
  const add = (offset: number, value: number): void => {
    if (value === 0) return;
    offsets[at] = offset * QUAD;
    terms[at++] = value;
  };
  const end = (): void => {
    ends[entry++] = at * Int32Array.BYTES_PER_ELEMENT;
  };
  for (let a = 0; a < r; a++) {
    for (let k = 0; k < d; k++) add(k, F[a * d + k]);
    end();
    for (let b = 0; b <= a; b++) {
      for (let k = 0, packed = 0; k < d; k++) {
        for (let l = 0; l < k; l++) add(packed++, F[a * d + k] * F[b * d + l] + F[a * d + l] * F[b * d + k]);
        add(packed++, F[a * d + k] * F[b * d + k]);
      }
      end();
    }
  }
}

/** Noise variances λ of the levels of the individual at hand, N = λI, with the logarithm of what each counts times λ^{r/2}, [K,2]. */
export function loadLevels({ buffers, sizes }: Nodes, levels: Float64Array): void {
  sizes.numLevels = levels.length / 2;
  buffers.levels.set(levels);
}

/**
 * Weighs the nodes for the individual at hand: `weights` hold them up to the factor `totals[2]`, and Σ_g w_g column_g goes to
 * `sums`; with `solve` also Σ_g w_g (V⁻¹e)_ga Σ_g for each a (E[w | y] needs it, and it costs a third). Where there are several
 * levels, `levelSums` hold the weight of each, up to the same factor. Returns log Σ_g π_g Σ_k c_k (|N_k|/|V_k|)^½ exp(−½ e'V⁻¹e).
 */
export function weighNodes({ buffers: { totals }, sizes, run }: Nodes, solve: boolean): number {
  const count = run.weighNodes(solve ? 1 : 0);
  if (sizes.numLevels > 1) run.sumLevels(count);
  run.sumNodes(count, solve ? 1 : 0);
  return totals[0] + Math.log(totals[1]);
}

/** Weight of node g at level k among those weighed, up to the factor `totals[2]`, [K,Γ]. */
export function componentWeights({ buffers, sizes }: Nodes, numNodes: number): Float64Array {
  const { weights, scales, parts } = buffers;
  const K = sizes.numLevels;
  if (K === 1) return weights.slice(0, numNodes);
  const out = new Float64Array(K * numNodes);
  for (let g = 0; g < numNodes; g++) {
    if (weights[g] === 0) continue;
    const tile = (g - (g % TILE)) * K + (g % TILE);
    for (let k = 0; k < K; k++) out[k * numNodes + g] = scales[g] * parts[tile + k * TILE];
  }
  return out;
}

/** log [π_g Σ_k c_k (|N_k|/|V_k|)^½ exp(−½ e'V⁻¹e)] of every node for the individual at hand, [Γ]. */
export function nodeDensities({ buffers: { weights, scales }, run }: Nodes, numNodes: number): Float64Array {
  run.densityNodes();
  return Float64Array.from({ length: numNodes }, (_, g) => weights[g] + Math.log(scales[g]));
}
