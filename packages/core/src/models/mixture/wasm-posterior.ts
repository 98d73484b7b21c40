/**
 * The posterior of posterior.ts in WebAssembly (packages/core/assembly/conditioning.ts): the nodes are weighed as for
 * placing; mean and covariance of the coefficients at a node are made when they are asked for. A mixture is laid out once
 * and serves one individual after the other.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { NORMAL_TABLE_SIZE } from "../../numeric/normal-table.ts";
import { TILE, tileCount } from "../../wasm/tiles.ts";
import { joinedCells } from "./join-nodes.ts";
import type { CoefficientMixture } from "./mixture.ts";
import { heavyNodes, type NodeChoice } from "./place.ts";
import type { CoefficientPosterior, PlacePosterior } from "./posterior.ts";
import { type CourseRoom, createRoom, normalTable, roomSize, setTiles } from "./wasm-course.ts";
import { createJoiner, joinerSize } from "./wasm-joining.ts";
import { createNodeWeigher, type NodeWeigher, weighNodes } from "./wasm-placing.ts";

/** The posterior of an individual of the statistics, as `conditionMixture` gives it. */
export type Conditioner = (statistics: BasisStatistics, individual: number) => CoefficientPosterior;

/** What the nodes of one posterior were conditioned on: R [r,d] and h [r]. */
interface Observed {
  readonly rank: number;
  readonly roots: Float64Array;
  readonly heights: Float64Array;
}

/** Moments of the nodes of a posterior in rooms, as long as the posterior is at hand. A cache, nothing more. */
const sources = new WeakMap<object, Source>();

interface Source {
  readonly tiles: TileConditioner;
  readonly observed: Observed;
}

/**
 * A room with all but the lightest nodes of a posterior, which hold at most `mass`; null unless a conditioner of this thread made
 * it. It serves until the next posterior of the same mixture is asked for.
 */
export function conditionedRoom(posterior: CoefficientPosterior, mass: number): CourseRoom | null {
  const source = sources.get(posterior);
  return source === undefined ? null : source.tiles.condition(source.observed, posterior, mass);
}

/** The same with neighbouring nodes joined, as `joinNodes` does, where that makes it much smaller. */
export function joinedRoom(posterior: CoefficientPosterior, mass: number): CourseRoom | null {
  const source = sources.get(posterior);
  return source === undefined ? null : source.tiles.join(source.observed, posterior, mass);
}

/** A conditioner for a mixture whose roots are lower triangular (`isLower`). */
export function createConditioner(mixture: CoefficientMixture): Conditioner {
  const { numBasis: d, mapDimension: q, locations: places } = mixture;
  const tiles = createTileConditioner(mixture);
  const { weigher } = tiles;
  const n = mixture.numNodes;
  return (statistics, individual) => {
    const { logLikelihood, rank } = weighNodes(weigher, statistics, individual);
    const { weights: all, totals } = weigher;
    let K = 0;
    for (let g = 0; g < n; g++) if (all[g] > 0) K++;
    const nodes = new Int32Array(K);
    const weights = new Float64Array(K);
    const locations = new Float64Array(K * q);
    const scale = 1 / totals[2];
    for (let g = 0, k = 0; g < n; g++) {
      if (!(all[g] > 0)) continue;
      nodes[k] = g;
      weights[k] = all[g] * scale;
      for (let c = 0; c < q; c++) locations[k * q + c] = places[g * q + c];
      k++;
    }
    const observed = { rank, roots: weigher.roots.slice(0, rank * d), heights: weigher.heights.slice(0, rank) };
    const place = { nodes, weights, locations, logLikelihood };
    const posterior = lazyPosterior(place, () => unpackMoments(tiles.condition(observed, place, 0), nodes, d));
    sources.set(posterior, { tiles, observed });
    return posterior;
  };
}

/**
 * A posterior whose moments are made at their first use. They are properties like any other to whoever reads, spreads or clones
 * it; most who place an individual never look at them, and they are nine tenths of it.
 */
function lazyPosterior(
  place: Omit<CoefficientPosterior, "means" | "covariances">,
  make: () => Pick<CoefficientPosterior, "means" | "covariances">,
): CoefficientPosterior {
  let made: ReturnType<typeof make> | undefined;
  const moments = () => {
    made ??= make();
    return made;
  };
  return {
    ...place,
    get means() {
      return moments().means;
    },
    get covariances() {
      return moments().covariances;
    },
  };
}

interface TileConditioner {
  readonly weigher: NodeWeigher;
  /** Moments and weights of all but the lightest nodes, which hold at most `mass`; of all for 0. */
  readonly condition: (observed: Observed, place: PlacePosterior, mass: number) => CourseRoom;
  readonly join: (observed: Observed, place: PlacePosterior, mass: number) => CourseRoom;
}

function createTileConditioner(mixture: CoefficientMixture): TileConditioner {
  const { numBasis: d, numNodes: n, mapDimension: q } = mixture;
  const numPacked = (d * (d + 1)) / 2;
  const tiles = tileCount(n);
  const scratchSize = TILE * (2 * d * d + 2 * d + numPacked);
  const sizes = [roomSize(d, tiles), joinerSize(d, n)];
  const weigher = createNodeWeigher(mixture, new Float64Array(0), {
    entries: sizes.reduce(
      (s, { entries }) => s + entries,
      tiles * (TILE * numPacked + 1) + scratchSize + 10 + NORMAL_TABLE_SIZE,
    ),
    buffers: sizes.reduce((s, { buffers }) => s + buffers, 5),
  });
  const { instance, noise, roots, heights } = weigher;
  const { doubles, integers, exports } = instance;
  const context = integers(10);
  const factors = doubles(tiles * numPacked * TILE);
  const list = integers(tiles);
  const scratch = doubles(scratchSize);
  packFactors(mixture, factors);
  const table = normalTable(instance);
  const room = createRoom(instance, table, d, tiles);
  const joiner = createJoiner(room, table, n);
  const views = [noise, roots, heights, weigher.means, factors, list, scratch, room.moments];
  context.set([d, numPacked, ...views.map((view) => view.byteOffset)]);
  // Which nodes the rooms hold: a posterior is often asked again at once.
  let held: { readonly nodes: Int32Array; readonly mass: number; readonly choice: NodeChoice } | null = null;
  let joined: CourseRoom | null = null;

  const condition: TileConditioner["condition"] = (observed, { nodes, weights }, mass) => {
    if (held !== null && held.nodes === nodes && held.mass === mass) return room;
    const choice = heavyNodes(weights, mass);
    roots.set(observed.roots);
    heights.set(observed.heights);
    const count = listTiles(nodes, choice, list, room.weights);
    exports.conditionTiles(context.byteOffset, observed.rank, count);
    setTiles(room, count);
    held = { nodes, mass, choice };
    joined = null;
    return room;
  };
  const join: TileConditioner["join"] = (observed, place, mass) => {
    condition(observed, place, mass);
    if (joined !== null) return joined;
    const found = held === null ? null : joinedCells(place, q);
    if (held === null || found === null) return room;
    const { positions } = held.choice;
    for (let r = 0, tile = -1, last = -1; r < positions.length; r++) {
      const g = place.nodes[positions[r]];
      if (g >> 2 !== last) {
        last = g >> 2;
        tile++;
      }
      joiner.cells[tile * TILE + (g & 3)] = found.cells[positions[r]];
    }
    joined = joiner.join(found.numCells);
    return joined;
  };
  return { weigher, condition, join };
}

/** Tiles that hold chosen nodes to `list`, and the weights of the nodes there to `out` [tile][4]; returns how many there are. */
function listTiles(nodes: Int32Array, choice: NodeChoice, list: Int32Array, out: Float64Array): number {
  const { positions, weights } = choice;
  let count = 0;
  let last = -1;
  for (let r = 0; r < positions.length; r++) {
    const g = nodes[positions[r]];
    if (g >> 2 !== last) {
      last = g >> 2;
      for (let c = count * TILE; c < (count + 1) * TILE; c++) out[c] = 0;
      list[count++] = last;
    }
    out[(count - 1) * TILE + (g & 3)] = weights[r];
  }
  return count;
}

/** Means [K,d] and covariances [K,d,d] of the nodes, all of which are in the room. */
function unpackMoments({ moments }: CourseRoom, nodes: Int32Array, d: number) {
  const numColumns = d + (d * (d + 1)) / 2;
  const K = nodes.length;
  const means = new Float64Array(K * d);
  const covariances = new Float64Array(K * d * d);
  let tile = -1;
  let last = -1;
  for (let k = 0; k < K; k++) {
    if (nodes[k] >> 2 !== last) {
      last = nodes[k] >> 2;
      tile++;
    }
    let at = tile * numColumns * TILE + (nodes[k] & 3);
    for (let a = 0; a < d; a++, at += TILE) means[k * d + a] = moments[at];
    const to = k * d * d;
    for (let a = 0; a < d; a++) {
      for (let b = 0; b <= a; b++, at += TILE) {
        const v = moments[at];
        covariances[to + a * d + b] = v;
        covariances[to + b * d + a] = v;
      }
    }
  }
  return { means, covariances };
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
