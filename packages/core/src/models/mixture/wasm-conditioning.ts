/**
 * Nodes of a mixture conditioned on one individual, in WebAssembly, for whoever asks about its curve: moments of the
 * coefficients (packages/core/assembly/conditioning.ts), neighbours joined, or one functional alone
 * (packages/core/assembly/functional.ts). All but the lightest nodes are taken; what was made last is kept.
 */
import { NORMAL_TABLE_SIZE } from "../../numeric/normal-table.ts";
import { TILE, tileCount } from "../../wasm/tiles.ts";
import { joinedCells } from "./join-nodes.ts";
import type { CoefficientMixture } from "./mixture.ts";
import { lightNodes } from "./place.ts";
import type { PlacePosterior } from "./posterior.ts";
import {
  type CourseRoom,
  type CourseValue,
  createRoom,
  listFunctional,
  normalTable,
  roomSize,
  setTiles,
  valueAtHand,
} from "./wasm-course.ts";
import { createJoiner, joinerSize } from "./wasm-joining.ts";
import { createNodeWeigher, type NodeWeigher, type Observed, putBack } from "./wasm-placing.ts";

/** b'(β + w) + noise, b = rows[offset..offset+d). */
export interface Functional {
  readonly beta: Float64Array;
  readonly rows: Float64Array;
  readonly offset: number;
  readonly noiseVariance: number;
}

export interface TileConditioner {
  readonly weigher: NodeWeigher;
  /** Moments and weights of all but the lightest nodes, which hold at most `mass`; of all for 0. */
  readonly condition: (observed: Observed, place: PlacePosterior, mass: number) => CourseRoom;
  /** The same with neighbours joined where that makes it much smaller. */
  readonly join: (observed: Observed, place: PlacePosterior, mass: number) => CourseRoom;
  /** One functional over these nodes, without their moments; null where digits would be lost. */
  readonly spread: (
    observed: Observed,
    place: PlacePosterior,
    mass: number,
    functional: Functional,
  ) => { readonly room: CourseRoom; readonly value: CourseValue } | null;
}

/** Where less than this share of a variance is left, the difference that leaves it has lost digits. */
const LEAST_SHARE = 1e-5;

/** What a room holds: a posterior is often asked again at once. */
interface Held {
  readonly nodes: Int32Array;
  readonly mass: number;
  /** Whether moments of the nodes were made, and joined. */
  conditioned: boolean;
  joined: CourseRoom | null;
}

/** A conditioner of the nodes of a mixture whose roots are lower triangular. */
export function createTileConditioner(mixture: CoefficientMixture): TileConditioner {
  const { numBasis: d, numNodes: n, mapDimension: q } = mixture;
  const numPacked = (d * (d + 1)) / 2;
  const tiles = tileCount(n);
  const scratchSize = 2 * TILE * (2 * d * d + 2 * d + numPacked);
  const own = tiles * (TILE * numPacked + 1) + scratchSize + 10 + 4 + d + 2 * d * numPacked + TILE * d;
  const sizes = [roomSize(d, tiles), joinerSize(d, n), { entries: own + NORMAL_TABLE_SIZE, buffers: 10 }];
  const weigher = createNodeWeigher(mixture, new Float64Array(0), {
    entries: sizes.reduce((s, { entries }) => s + entries, 0),
    buffers: sizes.reduce((s, { buffers }) => s + buffers, 0),
  });
  const { instance, noise, roots, heights } = weigher;
  const { doubles, integers, exports } = instance;
  const context = integers(10);
  const factors = doubles(tiles * numPacked * TILE);
  const list = integers(tiles);
  const scratch = doubles(scratchSize);
  const functionals = integers(7);
  const ends = integers(d);
  const offsets = integers(d * numPacked);
  const terms = doubles(d * numPacked);
  const solved = doubles(TILE * d);
  packFactors(mixture, factors);
  const table = normalTable(instance);
  const room = createRoom(instance, table, d, tiles);
  const joiner = createJoiner(room, table, n);
  const views = [noise, roots, heights, weigher.means, factors, list, scratch, room.moments];
  context.set([d, numPacked, ...views.map((view) => view.byteOffset)]);
  const others = [weigher.context, room.context, list, ends, offsets, terms, solved];
  functionals.set(others.map((view) => view.byteOffset));
  const lanes = new Int32Array(n);
  let held: Held | null = null;

  const choose = ({ nodes, weights }: PlacePosterior, mass: number): Held => {
    if (held !== null && held.nodes === nodes && held.mass === mass) return held;
    setTiles(room, listTiles(nodes, weights, mass, { list, weights: room.weights, lanes }));
    held = { nodes, mass, conditioned: false, joined: null };
    return held;
  };
  const condition = (observed: Observed, place: PlacePosterior, mass: number): Held => {
    const now = choose(place, mass);
    if (now.conditioned) return now;
    putBack(weigher, observed);
    exports.conditionTiles(context.byteOffset, observed.rank, room.context[0]);
    now.conditioned = true;
    return now;
  };
  return {
    weigher,
    condition: (observed, place, mass) => {
      condition(observed, place, mass);
      return room;
    },
    join: (observed, place, mass) => {
      const now = condition(observed, place, mass);
      if (now.joined !== null) return now.joined;
      const found = joinedCells(place, q);
      if (found === null) return room;
      for (let k = 0; k < found.cells.length; k++) if (lanes[k] >= 0) joiner.cells[lanes[k]] = found.cells[k];
      now.joined = joiner.join(found.numCells);
      return now.joined;
    },
    spread: (observed, place, mass, { beta, rows, offset, noiseVariance }) => {
      choose(place, mass);
      putBack(weigher, observed);
      listFunctional(room, beta, rows, offset, noiseVariance);
      listProducts(weigher.frame.functionals, observed.rank, d, rows, offset, { ends, offsets, terms });
      const share = exports.spreadFunctional(functionals.byteOffset);
      return share >= LEAST_SHARE ? { room, value: valueAtHand(room) } : null;
    },
  };
}

/** Terms of u_a = Σ_kl F_ak Σ_kl b_l, those that are not zero: offsets within a tile of packed covariances. */
function listProducts(
  F: Float64Array,
  r: number,
  d: number,
  rows: Float64Array,
  offset: number,
  out: { readonly ends: Int32Array; readonly offsets: Int32Array; readonly terms: Float64Array },
): void {
  const bytes = TILE * Float64Array.BYTES_PER_ELEMENT;
  let at = 0;
  for (let a = 0; a < r; a++) {
    for (let k = 0, packed = 0; k < d; k++) {
      for (let l = 0; l <= k; l++, packed++) {
        const once = F[a * d + k] * rows[offset + l];
        const value = k === l ? once : once + F[a * d + l] * rows[offset + k];
        if (value === 0) continue;
        out.offsets[at] = packed * bytes;
        out.terms[at++] = value;
      }
    }
    out.ends[a] = at * Int32Array.BYTES_PER_ELEMENT;
  }
}

/**
 * All but the lightest nodes, as `heavyNodes` chooses them, in tiles: which tiles hold any [tile], their weights, which sum to one,
 * [tile][4], and the lane of each node, −1 for those left out, [K]. Returns how many tiles there are.
 */
function listTiles(
  nodes: Int32Array,
  weights: Float64Array,
  mass: number,
  out: { readonly list: Int32Array; readonly weights: Float64Array; readonly lanes: Int32Array },
): number {
  const light = lightNodes(weights, mass);
  const { least } = light;
  const { list, weights: shares, lanes } = out;
  const scale = 1 / (1 - light.mass);
  let numEqual = light.numEqual;
  let count = 0;
  let last = -1;
  let tile = -TILE;
  for (let k = 0; k < nodes.length; k++) {
    const w = weights[k];
    if (w < least || (w === least && numEqual-- > 0)) {
      lanes[k] = -1;
      continue;
    }
    const g = nodes[k];
    if (g >> 2 !== last) {
      last = g >> 2;
      tile += TILE;
      shares[tile] = 0;
      shares[tile + 1] = 0;
      shares[tile + 2] = 0;
      shares[tile + 3] = 0;
      list[count++] = last;
    }
    lanes[k] = tile + (g & 3);
    shares[lanes[k]] = w * scale;
  }
  return count;
}

/** out [tile][numPacked][4]: the lower triangles of the roots, row by row. */
function packFactors({ numBasis: d, numNodes: n, factors }: CoefficientMixture, out: Float64Array): void {
  const numPacked = (d * (d + 1)) / 2;
  for (let g = 0; g < n; g++) {
    let at = (g >> 2) * numPacked * TILE + (g & 3);
    for (let a = 0; a < d; a++) {
      for (let b = 0; b <= a; b++, at += TILE) out[at] = factors[(g * d + a) * d + b];
    }
  }
}
