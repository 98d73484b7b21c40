/**
 * `joinNodes` in WebAssembly (packages/core/assembly/joining.ts): nodes whose moments stand in a room become the cells of a
 * smaller room in the same memory.
 */
import { TILE, tileCount } from "../../wasm/tiles.ts";
import { mostCells } from "./join-nodes.ts";
import { type CourseRoom, createRoom, roomSize, setTiles } from "./wasm-course.ts";

export interface Joiner {
  /** The cell of each lane of the full room; the host writes it, [tile][4]. */
  readonly cells: Int32Array;
  /** Joins the lanes of the full room that have weight into so many cells. */
  readonly join: (numCells: number) => CourseRoom;
}

/** Tiles of the smaller room of a mixture of n nodes. */
function joinedTiles(n: number): number {
  return tileCount(mostCells(n));
}

/** Entries and buffers that a joiner takes of an instance's memory. */
export function joinerSize(d: number, n: number): { readonly entries: number; readonly buffers: number } {
  const { entries, buffers } = roomSize(d, joinedTiles(n));
  return { entries: entries + 11 + (tileCount(n) * TILE) / 2 + mostCells(n) * d + d, buffers: buffers + 4 };
}

/** A joiner of the nodes in `full`, a room for n nodes; `table` is that of Φ. */
export function createJoiner(full: CourseRoom, table: Float64Array, n: number): Joiner {
  const { instance, numBasis: d } = full;
  const { integers, doubles, exports } = instance;
  const context = integers(11);
  const cells = integers(tileCount(n) * TILE);
  const firsts = doubles(mostCells(n) * d);
  const residuals = doubles(d);
  const small = createRoom(instance, table, d, joinedTiles(n));
  const views = [full.moments, full.weights, cells, firsts, residuals, small.moments, small.weights];
  const numColumns = d + (d * (d + 1)) / 2;
  return {
    cells,
    join: (numCells) => {
      context.set([d, numColumns, full.context[0], numCells, ...views.map((view) => view.byteOffset)]);
      exports.joinTiles(context.byteOffset);
      setTiles(small, tileCount(numCells));
      return small;
    },
  };
}
