/** Sums of rows of features in WebAssembly (packages/core/assembly/features.ts), for statistics that are permuted. */
import { chooseKernels, createKernelInstance } from "./instance.ts";

/** Sums of the rows of members into sums [rank]. */
export type RowSums = (members: Int32Array, sums: Float64Array) => void;

/** A kernel for rows [rank/8,n,8], which it copies; null where WebAssembly is not to be had. */
export function rowSumsKernel(rows: Float64Array, n: number, rank: number): RowSums | null {
  if (chooseKernels("auto") !== "wasm-simd") return null;
  const instance = createKernelInstance(rows.length + n + rank, 3);
  const held = instance.doubles(rows.length);
  held.set(rows);
  const list = instance.integers(n);
  const result = instance.doubles(rank);
  const { sumRows } = instance.exports;
  return (members, sums) => {
    list.set(members);
    sumRows(held.byteOffset, n, rank, list.byteOffset, members.length, result.byteOffset);
    sums.set(result);
  };
}
