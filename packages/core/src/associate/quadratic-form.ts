/**
 * Two-sample statistics that are quadratic forms of the labels: T = a'Ka with a = 1/n₁ for the n₁ marked individuals and
 * −1/n₂ for the n₂ others. With α = 1/n₁ + 1/n₂, c the indicator of the marked and r = K1 the row sums,
 *   T = α² c'Kc − 2 (α/n₂) c'r + 1'r/n₂²,
 * so that a new labelling costs one sum over the marked alone. Five ways to hold K:
 *   matrix   K itself, O(n₁²) per labelling;
 *   grid     K = ΦΦ' with the sparse features of phase-grid.ts, O(n₁);
 *   features the centred K by the few features of low-rank.ts, for wide kernels, O(n₁);
 *   lattice  −|x − y| in the plane between nodes of a lattice, energy-lattice.ts, O(n₁);
 *   slices   −|x − y| as an average of −|p − p'| over projections p, energy-slices.ts, O(n₁).
 * Forms are plain data that can be sent to a thread.                               (docs/math/association.md §4)
 */

import { type RowSums, rowSumsKernel } from "../wasm/row-sums.ts";
import { distancesFrom, type EnergyLattice, energyLattice, nodePairs, spreadMembers } from "./energy-lattice.ts";
import { type EnergySlices, energySlices, numTallies, sliceRowSums, sliceSum } from "./energy-slices.ts";
import { gaussLowRank, type LowRank, projectFeatures, sumFeatures } from "./low-rank.ts";
import { addPhaseFeatures, type PhaseFeatures, phaseFeatures, phaseProduct } from "./phase-grid.ts";

export type QuadraticForm = MatrixForm | GridForm | FeatureForm | LatticeForm | SliceForm;

interface FormBase {
  readonly n: number;
  /** r = K1, [n], and 1'r. */
  readonly rowSums: Float64Array;
  readonly total: number;
  /** Factor that brings T to its natural units. */
  readonly scale: number;
}

export interface MatrixForm extends FormBase {
  readonly kind: "matrix";
  /** K [n,n], symmetric. */
  readonly values: Float64Array;
}

export interface GridForm extends FormBase {
  readonly kind: "grid";
  readonly features: PhaseFeatures;
}

export interface FeatureForm extends FormBase {
  readonly kind: "features";
  readonly features: LowRank;
}

export interface LatticeForm extends FormBase {
  readonly kind: "lattice";
  readonly lattice: EnergyLattice;
}

export interface SliceForm extends FormBase, EnergySlices {
  readonly kind: "slices";
}

/** Gaussian kernel exp(−½|z_i − z_j|²) held as a matrix; z [n,q] in bandwidths, `peak` = φ_H(0). */
export function gaussMatrix(z: Float64Array, n: number, q: number, peak: number): MatrixForm {
  return matrixForm(n, peak, (i, j) => Math.exp(-0.5 * squaredDistance(z, i, j, q)));
}

/** Energy kernel −|x_i − x_j| held as a matrix. */
export function energyMatrix(x: Float64Array, n: number, q: number): MatrixForm {
  return matrixForm(n, 1, (i, j) => -Math.sqrt(squaredDistance(x, i, j, q)));
}

/** Gaussian kernel on a lattice; z [n,q] in bandwidths. */
export function gaussGrid(z: Float64Array, n: number, q: number, peak: number): GridForm {
  const features = phaseFeatures(z, n, q);
  const rowSums = gridRowSums(features, everyoneOf(n));
  return { kind: "grid", n, rowSums, total: sum(rowSums), scale: peak, features };
}

/** Gaussian kernel by few features, for bandwidths as wide as the places; undefined where it takes too many. */
export function gaussFeatures(z: Float64Array, n: number, q: number, peak: number): FeatureForm | undefined {
  const features = gaussLowRank(z, n, q);
  if (features === undefined) return undefined;
  // Centred features sum to zero: only what they leave out is in the row sums.
  const rowSums = new Float64Array(n).fill(features.rest);
  return { kind: "features", n, rowSums, total: sum(rowSums), scale: peak, features };
}

/** Energy kernel of places x [n,2] on a lattice; `spread` is the standard deviation of their coordinates. */
export function energyPlane(x: Float64Array, n: number, spread: number): LatticeForm {
  const lattice = energyLattice(x, n, spread);
  const rowSums = latticeRowSums(lattice, everyoneOf(n));
  return { kind: "lattice", n, rowSums, total: sum(rowSums), scale: 1, lattice };
}

/** Energy kernel of places on a line or in space, by projections. */
export function energyProjections(x: Float64Array, n: number, q: 1 | 3): SliceForm {
  const slices = energySlices(x, n, q);
  const rowSums = sliceRowSums(slices, n, everyoneOf(n));
  return { kind: "slices", n, rowSums, total: sum(rowSums), scale: 1, ...slices };
}

/** K c for the labelling c that marks `members`: how much of the kernel around each individual is theirs, [n]. */
export function kernelRowSums(form: QuadraticForm, members: Int32Array): Float64Array {
  const { n } = form;
  const out = new Float64Array(n);
  switch (form.kind) {
    case "matrix":
      for (let i = 0; i < n; i++) for (const j of members) out[i] += form.values[i * n + j];
      return out;
    case "grid":
      return gridRowSums(form.features, members);
    case "features":
      return featureRowSums(form.features, members);
    case "lattice":
      return latticeRowSums(form.lattice, members);
    case "slices":
      return sliceRowSums(form, n, members);
    default:
      return form satisfies never;
  }
}

/** Scratch for `evaluate`, to be reused between labellings. */
export interface FormWorkspace {
  /** Sums on the lattice, [numCells] of a grid, [numNodes] of a lattice; of features, [rank]. */
  readonly cells: Float64Array;
  /** Marked in each bin, [numSlices,numBins] of slices. */
  readonly tally: Int32Array;
  /** Sums of features in WebAssembly, where it is to be had; the same bits as without. */
  readonly rowSums: RowSums | null;
}

export function formWorkspace(form: QuadraticForm): FormWorkspace {
  return {
    cells: new Float64Array(numCellsOf(form)),
    tally: new Int32Array(form.kind === "slices" ? numTallies(form) : 0),
    rowSums: form.kind === "features" ? rowSumsKernel(form.features.rows, form.n, form.features.rank) : null,
  };
}

function numCellsOf(form: QuadraticForm): number {
  if (form.kind === "grid") return form.features.numCells;
  if (form.kind === "features") return form.features.rank;
  return form.kind === "lattice" ? form.lattice.numNodes : 0;
}

/** T of the labelling that marks members[0..count). */
export function evaluate(form: QuadraticForm, members: Int32Array, count: number, work: FormWorkspace): number {
  const n2 = form.n - count;
  const alpha = 1 / count + 1 / n2;
  const quadratic = alpha * alpha * markedSum(form, members, count, work);
  const linear = (2 * alpha * markedRows(form, members, count)) / n2;
  return form.scale * (quadratic - linear + form.total / (n2 * n2));
}

/** Sum of the magnitudes of the three terms of T: its rounding error is a small multiple of 2⁻⁵³ of this. */
export function termSize(form: QuadraticForm, members: Int32Array, count: number, work: FormWorkspace): number {
  const n2 = form.n - count;
  const alpha = 1 / count + 1 / n2;
  const quadratic = alpha * alpha * Math.abs(markedSum(form, members, count, work));
  const linear = Math.abs((2 * alpha * markedRows(form, members, count)) / n2);
  return form.scale * (quadratic + linear + Math.abs(form.total) / (n2 * n2));
}

/** c'r. */
function markedRows(form: QuadraticForm, members: Int32Array, count: number): number {
  const { rowSums } = form;
  let s = 0;
  for (let k = 0; k < count; k++) s += rowSums[members[k]];
  return s;
}

/** c'Kc. */
function markedSum(form: QuadraticForm, members: Int32Array, count: number, work: FormWorkspace): number {
  switch (form.kind) {
    case "matrix":
      return matrixSum(form.values, form.n, members, count);
    case "grid":
      return gridSum(form.features, members, count, work.cells);
    case "features":
      return featureSum(form.features, members, count, work);
    case "lattice":
      return latticeSum(form.lattice, members, count, work.cells);
    case "slices":
      return sliceSum(form, members, count, work.tally);
    default:
      return form satisfies never;
  }
}

function matrixSum(K: Float64Array, n: number, members: Int32Array, count: number): number {
  let pairs = 0;
  let diagonal = 0;
  for (let k = 0; k < count; k++) {
    const row = members[k] * n;
    diagonal += K[row + members[k]];
    let s = 0;
    for (let l = 0; l < k; l++) s += K[row + members[l]];
    pairs += s;
  }
  return 2 * pairs + diagonal;
}

/** |Σ φ_i|². */
function gridSum(features: PhaseFeatures, members: Int32Array, count: number, cells: Float64Array): number {
  cells.fill(0);
  addPhaseFeatures(features, members, 0, count, cells);
  // Two sums, because each is a chain of additions.
  let even = 0;
  let odd = 0;
  for (let c = 1; c < cells.length; c = (c + 2) | 0) {
    const a = cells[c - 1];
    const b = cells[c];
    even += a * a;
    odd += b * b;
  }
  if (cells.length % 2 === 1) even += cells[cells.length - 1] ** 2;
  return even + odd;
}

/** |Σ φ_i|² of the marked, and what the features leave out of the diagonal. */
function featureSum(features: LowRank, members: Int32Array, count: number, work: FormWorkspace): number {
  const { cells: sums, rowSums } = work;
  if (rowSums === null) sumFeatures(features, members, count, sums);
  else rowSums(members, count, sums);
  let s = count * features.rest;
  for (let c = 0; c < sums.length; c++) s += sums[c] * sums[c];
  return s;
}

function featureRowSums(features: LowRank, members: Int32Array): Float64Array {
  const sums = new Float64Array(features.rank);
  sumFeatures(features, members, members.length, sums);
  const out = projectFeatures(features, sums);
  for (const i of members) out[i] += features.rest;
  return out;
}

/** φ_i'Σφ_j over members, for everyone. */
function gridRowSums(features: PhaseFeatures, members: Int32Array): Float64Array {
  const cells = new Float64Array(features.numCells);
  addPhaseFeatures(features, members, 0, members.length, cells);
  return Float64Array.from({ length: features.n }, (_, i) => phaseProduct(features, i, cells));
}

function latticeSum(lattice: EnergyLattice, members: Int32Array, count: number, cells: Float64Array): number {
  spreadMembers(lattice, members, count, cells);
  let s = nodePairs(lattice, cells, count);
  for (let k = 0; k < count; k++) s += lattice.diagonal[members[k]];
  return s;
}

function latticeRowSums(lattice: EnergyLattice, members: Int32Array): Float64Array {
  const cells = new Float64Array(lattice.numNodes);
  spreadMembers(lattice, members, members.length, cells);
  const out = distancesFrom(lattice, cells, members.length);
  for (const i of members) out[i] += lattice.diagonal[i];
  return out;
}

function matrixForm(n: number, scale: number, kernel: (i: number, j: number) => number): MatrixForm {
  const values = new Float64Array(n * n);
  const rowSums = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      const k = kernel(i, j);
      values[i * n + j] = k;
      values[j * n + i] = k;
    }
  }
  for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) rowSums[i] += values[i * n + j];
  return { kind: "matrix", n, rowSums, total: sum(rowSums), scale, values };
}

function squaredDistance(x: Float64Array, i: number, j: number, q: number): number {
  let r = 0;
  for (let k = 0; k < q; k++) {
    const u = x[i * q + k] - x[j * q + k];
    r += u * u;
  }
  return r;
}

function everyoneOf(n: number): Int32Array {
  return Int32Array.from({ length: n }, (_, i) => i);
}

function sum(x: Float64Array): number {
  let s = 0;
  for (const v of x) s += v;
  return s;
}
