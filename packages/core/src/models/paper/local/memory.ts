/**
 * A holder for what solvers need much room for, so that those of one engine, made anew when the kernel moves, share it one
 * by one.
 */
import type { WasmBlock } from "./wasm-block.ts";
import type { WasmLocal } from "./wasm-local.ts";

/** Empty at first; each solver takes what fits and leaves what it made. */
export interface LocalMemory {
  /** Memory of the kernels for one individual. */
  current: WasmLocal | null;
  /** Memory of the kernels for blocks of individuals. */
  block?: WasmBlock | null;
  /** Room for the blocks T of the global state, [d,d,p,p]. */
  blocks?: Float64Array;
}

/** Room for the blocks T: the holder's where it has the size. It is by far the largest piece of a solver. */
export function roomForBlocks(size: number, memory: LocalMemory): Float64Array {
  const room = memory.blocks?.length === size ? memory.blocks : new Float64Array(size);
  memory.blocks = room;
  return room;
}
