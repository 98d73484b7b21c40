/**
 * Where on the map an outcome is more or less common: the local share of cases on a lattice,
 *   s(x) = Σ_i k(x,x_i) c_i / Σ_i k(x,x_i),  Gaussian k with bandwidth H = n^{−2/(q+4)} S, cut at four bandwidths,
 * S the covariance of the places (Scott's rule; the plug-in bandwidth of the density test is too narrow for a share),
 * beside the band in which it would stay, everywhere at once, if labels were exchangeable within strata. Shuffled labels
 * have, with share p_S and size n_S of stratum S, K_i = k(x,x_i) and K̄_S its mean over S,
 *   E Σ K_i c_i = Σ_S p_S Σ_S K_i,   Var Σ K_i c_i = Σ_S p_S(1−p_S) n_S/(n_S−1) Σ_S (K_i − K̄_S)²,
 * so that permutations are only needed for the largest standardised deviation over the lattice, whose quantile is the
 * half-width of the band.                                                          (docs/math/association.md §7)
 */
import { checkOption, DtmError } from "../errors.ts";
import { cholesky } from "../numeric/cholesky.ts";
import { eachLabelling, indicesOf, type Labellings, labellingsOf } from "./labellings.ts";
import { describeSample } from "./sample.ts";

export interface RiskSurfaceInput {
  /** Places x [n,q]. */
  readonly locations: Float64Array;
  readonly mapDimension: number;
  /** 1 case, 0 control, [n]. */
  readonly labels: Uint8Array;
  /** Stratum of each individual, [n]; one stratum if left out. */
  readonly strata?: Int32Array;
}

export interface RiskSurfaceOptions {
  /** Lattice points along each axis. Default 129, 65, 25 in 1, 2, 3 dimensions. */
  readonly gridSize?: number;
  /** Default 999. */
  readonly permutations?: number;
  /** Default 0.95. */
  readonly confidence?: number;
  readonly seed?: number;
  /** Lattice points with fewer individuals around them are left open. Default 10. */
  readonly minIndividuals?: number;
}

/** Surfaces are [size,…,size], first axis slowest; NaN where too few individuals are near. */
export interface RiskSurface {
  /** Coordinates along each axis, [size] each. */
  readonly axes: readonly Float64Array[];
  /** Smoothed share of cases. */
  readonly share: Float64Array;
  /** Effective number of individuals, (ΣK)²/ΣK². */
  readonly individuals: Float64Array;
  /** Share expected without any relation within strata, and its simultaneous band. */
  readonly expected: Float64Array;
  readonly lower: Float64Array;
  readonly upper: Float64Array;
  /** 1 where the share lies above the band, −1 where below, 0 elsewhere. */
  readonly outside: Int8Array;
  /** Half-width of the band in standard deviations. */
  readonly critical: number;
  /** Permutation p-value of the largest deviation: is there any such place? */
  readonly pValue: number;
  /** Behind band and p-value. */
  readonly permutations: number;
  /** H [q,q]. */
  readonly bandwidth: Float64Array;
}

const DEFAULT_SIZES = [129, 65, 25];
/** A kernel is cut where exp(−½r²) is 3e-4. */
const CUT = 4;

/** The smoothed share with its simultaneous band of no relation. */
export function riskSurface(input: RiskSurfaceInput, options: RiskSurfaceOptions = {}): RiskSurface {
  const { locations: x, mapDimension: q, labels } = input;
  const n = labels.length;
  const {
    gridSize = DEFAULT_SIZES[q - 1],
    permutations = 999,
    confidence = 0.95,
    seed = 1,
    minIndividuals = 10,
  } = options;
  checkOption(gridSize >= 2, "riskSurface", "a gridSize of 2 or more", gridSize, "Take 65.");
  checkOption(permutations >= 19, "riskSurface", "19 permutations or more", permutations, "Take 999.");
  if (x.length !== n * q) {
    throw new DtmError(
      "shape",
      `riskSurface: expected places [${n},${q}] for ${n} labels, received ${x.length} numbers.`,
    );
  }
  const bandwidth = describeSample(x, q).covariance.map((v) => v * n ** (-2 / (q + 4)));
  const axes = latticeAxes(x, n, q, gridSize);
  const table = kernelTable(x, n, q, axes, cholesky(bandwidth, q, "pooled bandwidth"));
  const labellings = labellingsOf(labels, input.strata, seed);
  const moments = nullMoments(table, labellings, gridSize ** q);
  const open = moments.weight.map((w, c) => (w > 0 && (w * w) / moments.squares[c] >= minIndividuals ? 1 : 0));

  // The largest deviation under shuffled labels, then as observed.
  const cells = new Float64Array(open.length);
  const deviations = new Float64Array(permutations);
  eachLabelling(labellings, 0, permutations, (members, b) => {
    addKernels(table, members, cells);
    deviations[b] = largestDeviation(cells, moments, open);
  });
  addKernels(table, indicesOf(labels, 1), cells);
  const observed = largestDeviation(cells, moments, open);
  const reached = deviations.reduce((s, v) => s + (v >= observed * (1 - 1e-12) ? 1 : 0), 0);
  deviations.sort();
  const critical = deviations[Math.min(permutations - 1, Math.ceil(confidence * (permutations + 1)) - 1)];

  const at = (c: number, value: number) => (open[c] === 1 ? value : Number.NaN);
  const sd = moments.variance.map((v, c) => Math.sqrt(v) / moments.weight[c]);
  const share = cells.map((v, c) => at(c, v / moments.weight[c]));
  const expected = moments.mean.map((v, c) => at(c, v / moments.weight[c]));
  const lower = expected.map((v, c) => Math.max(0, v - critical * sd[c]));
  const upper = expected.map((v, c) => Math.min(1, v + critical * sd[c]));
  return {
    axes,
    share,
    individuals: moments.weight.map((w, c) => (w > 0 ? (w * w) / moments.squares[c] : 0)),
    expected,
    lower,
    upper,
    outside: Int8Array.from(share, (s, c) => (s > upper[c] ? 1 : s < lower[c] ? -1 : 0)),
    critical,
    pValue: (1 + reached) / (1 + permutations),
    permutations,
    bandwidth,
  };
}

/** Kernel weights of each individual on the lattice points near it: entries starts[i]..starts[i+1]−1. */
interface KernelTable {
  readonly starts: Int32Array;
  readonly cells: Int32Array;
  readonly weights: Float64Array;
}

interface NullMoments {
  /** Σ K and Σ K² at each lattice point. */
  readonly weight: Float64Array;
  readonly squares: Float64Array;
  /** Mean and variance of Σ K c under shuffled labels. */
  readonly mean: Float64Array;
  readonly variance: Float64Array;
}

function latticeAxes(x: Float64Array, n: number, q: number, size: number): Float64Array[] {
  return Array.from({ length: q }, (_, a) => {
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    for (let i = 0; i < n; i++) {
      low = Math.min(low, x[i * q + a]);
      high = Math.max(high, x[i * q + a]);
    }
    return Float64Array.from({ length: size }, (_, k) => low + ((high - low) * k) / (size - 1));
  });
}

/** Visits, for each individual, the box of lattice points that holds the ellipsoid of four bandwidths around it. */
function kernelTable(
  x: Float64Array,
  n: number,
  q: number,
  axes: readonly Float64Array[],
  L: Float64Array,
): KernelTable {
  const size = axes[0].length;
  const starts = new Int32Array(n + 1);
  const cells: number[] = [];
  const weights: number[] = [];
  const z = new Float64Array(q);
  const visit = (i: number, axis: number, cell: number, r: number) => {
    if (axis === q) {
      cells.push(cell);
      weights.push(Math.exp(-0.5 * r));
      return;
    }
    // The forward solve L z = u goes along with the axes, so that a far coordinate ends the search at once.
    for (let k = 0; k < size; k++) {
      let u = axes[axis][k] - x[i * q + axis];
      for (let b = 0; b < axis; b++) u -= L[axis * q + b] * z[b];
      z[axis] = u / L[axis * q + axis];
      const next = r + z[axis] * z[axis];
      if (next <= CUT * CUT) visit(i, axis + 1, cell * size + k, next);
    }
  };
  for (let i = 0; i < n; i++) {
    visit(i, 0, 0, 0);
    starts[i + 1] = cells.length;
  }
  return { starts, cells: Int32Array.from(cells), weights: Float64Array.from(weights) };
}

function nullMoments(table: KernelTable, { order, starts, marked }: Labellings, numCells: number): NullMoments {
  const weight = new Float64Array(numCells);
  const squares = new Float64Array(numCells);
  const mean = new Float64Array(numCells);
  const variance = new Float64Array(numCells);
  const sum = new Float64Array(numCells);
  const sumSquares = new Float64Array(numCells);
  for (const [s, cases] of marked.entries()) {
    sum.fill(0);
    sumSquares.fill(0);
    for (const i of order.subarray(starts[s], starts[s + 1])) {
      for (let e = table.starts[i]; e < table.starts[i + 1]; e++) {
        sum[table.cells[e]] += table.weights[e];
        sumSquares[table.cells[e]] += table.weights[e] ** 2;
      }
    }
    const size = starts[s + 1] - starts[s];
    const p = cases / size;
    const factor = size > 1 ? (p * (1 - p) * size) / (size - 1) : 0;
    for (let c = 0; c < numCells; c++) {
      weight[c] += sum[c];
      squares[c] += sumSquares[c];
      mean[c] += p * sum[c];
      variance[c] += factor * Math.max(0, sumSquares[c] - (sum[c] * sum[c]) / size);
    }
  }
  return { weight, squares, mean, variance };
}

/** cells = Σ K over members. */
function addKernels(table: KernelTable, members: Int32Array, cells: Float64Array): void {
  const { starts, weights } = table;
  cells.fill(0);
  for (const i of members) {
    for (let e = starts[i]; e < starts[i + 1]; e++) cells[table.cells[e]] += weights[e];
  }
}

function largestDeviation(cells: Float64Array, moments: NullMoments, open: Float64Array): number {
  let largest = 0;
  for (let c = 0; c < cells.length; c++) {
    // A variance that is rounding error says that no label near this point can move.
    if (open[c] === 0 || !(moments.variance[c] > 1e-12 * moments.squares[c])) continue;
    largest = Math.max(largest, Math.abs(cells[c] - moments.mean[c]) / Math.sqrt(moments.variance[c]));
  }
  return largest;
}
