/** Sums of rows of features in WebAssembly (packages/core/assembly/features.ts), for statistics that are permuted. */
import { chooseKernels, createKernelInstance } from "./instance.ts";

/** Sums over members[0..count) into sums [rank]. */
export type RowSums = (members: Int32Array, count: number, sums: Float64Array) => void;

/** A kernel for rows [rank/8,n,8], which it copies; null where WebAssembly is not to be had. */
export function rowSumsKernel(rows: Float64Array, n: number, rank: number): RowSums | null {
  if (chooseKernels("auto") !== "wasm-simd") return null;
  const instance = createKernelInstance(rows.length + n + rank, 3);
  const held = instance.doubles(rows.length);
  held.set(rows);
  const list = instance.integers(n);
  const result = instance.doubles(rank);
  const { sumRows } = instance.exports;
  return (members, count, sums) => {
    list.set(members.length === count ? members : members.subarray(0, count));
    sumRows(held.byteOffset, n, rank, list.byteOffset, count, result.byteOffset);
    sums.set(result);
  };
}
