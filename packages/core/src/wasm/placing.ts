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

/** Memory for a mixture; `columns` [Γ,numColumns] are the functions of a node whose sums are wanted. */
export function openNodes(tables: NodeTables, columns = new Float64Array(0)) {
  const { numBasis: d, numNodes: n } = tables;
  const numPacked = (d * (d + 1)) / 2;
  const numColumns = columns.length / n;
  const nodes = openKernels(NODES, { numBasis: d, numPacked, numTiles: tileCount(n), numColumns, rank: 0 });
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

/**
 * Weighs the nodes for the individual at hand: `weights` hold them up to the factor `totals[2]`, and Σ_g w_g column_g goes to
 * `sums`; with `solve` also Σ_g w_g (V⁻¹e)_ga Σ_g for each a (E[w | y] needs it, and it costs a third). Returns
 * log Σ_g π_g (|N|/|V|)^½ exp(−½ e'V⁻¹e).
 */
export function weighNodes({ buffers: { totals }, run }: Nodes, solve: boolean): number {
  const count = run.weighNodes(solve ? 1 : 0);
  run.sumNodes(count, solve ? 1 : 0);
  return totals[0] + Math.log(totals[1]);
}

/** log [π_g (|N|/|V|)^½ exp(−½ e'V⁻¹e)] of every node for the individual at hand, [Γ]. */
export function nodeDensities({ buffers: { weights, scales }, run }: Nodes, numNodes: number): Float64Array {
  run.densityNodes();
  return Float64Array.from({ length: numNodes }, (_, g) => weights[g] + Math.log(scales[g]));
}
