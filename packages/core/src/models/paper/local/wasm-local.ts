/**
 * The local step in WebAssembly for q = 2 and the RBF kernel (packages/core/assembly/local.ts): tables of features, the
 * individual's weights, J with gradient and Hessian, and sums over individuals, all in the kernels' memory. Features stand
 * there in padded order: grids row by row with even numbers of rows and columns, lists padded to an even length.
 */
import { createKernelInstance, type KernelExports } from "../../../wasm/instance.ts";
import type { Grid } from "./grid.ts";
import { paddedWidth } from "./padded-rows.ts";

/** Nodes of ψ1 and Ψ2: a grid and the grid of its midpoints, or two lists of places. */
export interface FeaturePlaces {
  readonly squares: Float64Array; // ℓ² [2]
  readonly grid: Grid | null;
  /** Inducing places [p,2] and midpoints of all pairs [p(p+1)/2,2]; read where there is no grid. */
  readonly first: Float64Array;
  readonly second: Float64Array;
}

/** Views on the memory of one instance. */
export interface WasmLocal {
  readonly exports: KernelExports;
  /** Sizes for which the memory was made. */
  readonly key: string;
  readonly context: Int32Array;
  readonly numParameters: number;
  readonly theta: Float64Array;
  readonly result: Float64Array;
  readonly squares: Float64Array;
  readonly geometry: Float64Array;
  readonly places: readonly [Float64Array, Float64Array];
  readonly weights: readonly [Float64Array, Float64Array];
  readonly values: readonly [Float64Array, Float64Array];
  /** Where each feature is stored. */
  readonly positions: readonly [Int32Array, Int32Array];
  readonly tables: readonly [Float64Array, Float64Array]; // [d][size0], [band][size1]
  readonly sums: readonly [Float64Array, Float64Array];
  readonly g: Float64Array;
  readonly gram: Float64Array;
}

/** Nodes per dimension that the kernel's tables hold. */
const MOST_NODES = 62;
const SCRATCH = 640;

/** Whether the tables of the kernels hold the grid and its midpoints. */
export function fitsGridKernel(grid: Grid): boolean {
  return 2 * Math.max(...grid.counts) - 1 <= MOST_NODES;
}

/** The memory for places and d coefficients, the given one if it fits; null where the kernels do not apply. */
export function wasmLocal(
  places: FeaturePlaces,
  numParameters: number,
  d: number,
  before: WasmLocal | null,
): WasmLocal | null {
  const { grid } = places;
  const counts = grid === null ? [0, 0] : [...grid.counts];
  if (grid !== null && !fitsGridKernel(grid)) return null;
  const key = [numParameters, d, places.first.length, ...counts].join(" ");
  const local = before?.key === key ? before : create(places, numParameters, d, key);
  local.squares.set(places.squares);
  if (grid !== null) local.geometry.set([...grid.first, ...grid.spacing]);
  else {
    splitCoordinates(places.first, local.places[0]);
    splitCoordinates(places.second, local.places[1]);
  }
  for (const sums of local.sums) sums.fill(0);
  return local;
}

function create(places: FeaturePlaces, numParameters: number, d: number, key: string): WasmLocal {
  const { grid } = places;
  const [n0, n1] = grid === null ? [0, 0] : grid.counts;
  const columns = [even(n1), even(2 * n1 - 1)];
  const numbers =
    grid === null ? [places.first.length / 2, places.second.length / 2] : [n0 * n1, (2 * n0 - 1) * (2 * n1 - 1)];
  const sizes = grid === null ? numbers.map(even) : [even(n0) * columns[0], even(2 * n0 - 1) * columns[1]];
  const position = (part: number, f: number) => {
    if (grid === null) return f;
    const n = part === 0 ? n1 : 2 * n1 - 1;
    return Math.floor(f / n) * columns[part] + (f % n);
  };
  const widths = [paddedWidth(d), paddedWidth((d * (d + 1)) / 2)];
  const lists = grid === null ? 2 : 0;
  const [s0, s1] = sizes;
  const scratch = Math.max(SCRATCH, s1);
  const perFeature = s0 * (2 + lists + 2 * widths[0]) + s1 * (2 + lists + 2 * widths[1]);
  const { exports, doubles, integers } = createKernelInstance(120 + scratch + perFeature + widths[0] + widths[1], 20);
  const context = integers(19);
  const theta = doubles(6);
  const result = doubles(31);
  const squares = doubles(2);
  const geometry = doubles(4);
  const moments = doubles(25);
  const derivatives = doubles(26);
  const work = doubles(scratch);
  const weights = [doubles(s0), doubles(s1)] as const;
  const values = [doubles(s0), doubles(s1)] as const;
  const coordinates = [doubles(lists * s0), doubles(lists * s1)] as const;
  const views = [theta, result, squares, geometry, moments, derivatives, work, ...weights, ...values, ...coordinates];
  context.set([...views.map((view) => view.byteOffset), numParameters, grid === null ? 0 : 1, s0, s1, n0, n1]);
  return {
    exports,
    key,
    context,
    numParameters,
    theta,
    result,
    squares,
    geometry,
    places: coordinates,
    weights,
    values,
    positions: [0, 1].map((part) => Int32Array.from({ length: numbers[part] }, (_, f) => position(part, f))) as [
      Int32Array,
      Int32Array,
    ],
    tables: [doubles(widths[0] * s0), doubles(widths[1] * s1)],
    sums: [doubles(widths[0] * s0), doubles(widths[1] * s1)],
    g: doubles(widths[0]),
    gram: doubles(widths[1]),
  };
}

/** Takes over a table [features,width] of ψ1 (part 0) or Ψ2 (part 1), of which `count` columns are used. */
export function loadTable(local: WasmLocal, part: 0 | 1, table: Float64Array, width: number, count: number): void {
  const to = local.tables[part];
  const size = local.weights[part].length;
  const position = local.positions[part];
  for (let f = 0; f < position.length; f++) {
    for (let e = 0; e < count; e++) to[e * size + position[f]] = table[f * width + e];
  }
}

/** Weights of an individual from its statistics: g [d] and the band of G. */
export function loadWeights(local: WasmLocal, g: Float64Array, d: number, gram: Float64Array, numBand: number): void {
  const { exports, tables, weights } = local;
  for (let k = 0; k < d; k++) local.g[k] = g[k];
  for (let e = 0; e < numBand; e++) local.gram[e] = gram[e];
  for (let e = numBand; e < local.gram.length; e++) local.gram[e] = 0;
  exports.contractTable(
    tables[0].byteOffset,
    local.g.byteOffset,
    paddedWidth(d),
    weights[0].length,
    weights[0].byteOffset,
  );
  exports.contractTable(
    tables[1].byteOffset,
    local.gram.byteOffset,
    paddedWidth(numBand),
    weights[1].length,
    weights[1].byteOffset,
  );
}

/** J without its constant, gradient [P] and Hessian [P,P] where given; NaN beyond the range of the kernel. */
export function evaluateWasm(
  local: WasmLocal,
  theta: Float64Array,
  offset: number,
  gradient: Float64Array | null,
  hessian: Float64Array | null,
): number {
  const { result, numParameters: P } = local;
  for (let k = 0; k < P; k++) local.theta[k] = theta[offset + k];
  if (local.exports.evaluateLocal(local.context.byteOffset, hessian === null ? 2 : 4) === 0) return Number.NaN;
  if (gradient !== null) for (let k = 0; k < P; k++) gradient[k] = result[1 + k];
  if (hessian !== null) for (let k = 0; k < P * P; k++) hessian[k] = result[1 + P + k];
  return result[0];
}

/** Adds weight · features × statistics at θ to the sums; false, and nothing added, beyond the range of the kernel. */
export function accumulateWasm(
  local: WasmLocal,
  theta: Float64Array,
  offset: number,
  weight: number,
  g: Float64Array,
  d: number,
  gram: Float64Array,
  numBand: number,
): boolean {
  const { exports, sums, values } = local;
  for (let k = 0; k < local.numParameters; k++) local.theta[k] = theta[offset + k];
  if (exports.localValues(local.context.byteOffset) === 0) return false;
  for (let k = 0; k < d; k++) local.g[k] = g[k];
  for (let e = 0; e < numBand; e++) local.gram[e] = gram[e];
  for (let e = numBand; e < local.gram.length; e++) local.gram[e] = 0;
  exports.addToTable(
    sums[0].byteOffset,
    local.g.byteOffset,
    paddedWidth(d),
    values[0].length,
    weight,
    values[0].byteOffset,
  );
  exports.addToTable(
    sums[1].byteOffset,
    local.gram.byteOffset,
    paddedWidth(numBand),
    values[1].length,
    weight,
    values[1].byteOffset,
  );
  return true;
}

/** Moves the sums of a part into a table [features,width], adding to it. */
export function takeSums(local: WasmLocal, part: 0 | 1, table: Float64Array, width: number, count: number): void {
  const from = local.sums[part];
  const size = local.weights[part].length;
  const position = local.positions[part];
  for (let f = 0; f < position.length; f++) {
    for (let e = 0; e < count; e++) table[f * width + e] += from[e * size + position[f]];
  }
  from.fill(0);
}

/** Coordinates [n,2] as two rows [2][size]. */
function splitCoordinates(list: Float64Array, out: Float64Array): void {
  const size = out.length / 2;
  for (let f = 0; f < list.length / 2; f++) {
    out[f] = list[2 * f];
    out[size + f] = list[2 * f + 1];
  }
}

function even(n: number): number {
  return n + (n & 1);
}
