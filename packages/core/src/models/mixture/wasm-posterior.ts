/**
 * The posterior of posterior.ts in WebAssembly (packages/core/assembly/conditioning.ts): the nodes are weighed as for
 * placing; mean and covariance of the coefficients at a node are made when they are asked for. A mixture is laid out once
 * and serves one individual after the other.
 */
import type { BasisStatistics } from "../../basis/statistics.ts";
import { TILE } from "../../wasm/tiles.ts";
import type { CoefficientMixture } from "./mixture.ts";
import type { CoefficientPosterior } from "./posterior.ts";
import { createTileConditioner, type Functional, type TileConditioner } from "./wasm-conditioning.ts";
import type { CourseRoom, CourseValue } from "./wasm-course.ts";
import { type Observed, observedBy, weighNodes } from "./wasm-placing.ts";

/** The posterior of an individual of the statistics, as `conditionMixture` gives it. */
export type Conditioner = (statistics: BasisStatistics, individual: number) => CoefficientPosterior;

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

/**
 * The distribution of one functional b'(β + w) + noise over the same nodes as `conditionedRoom`, without moments of all coefficients;
 * null where there is no such room or digits would be lost. What is found stays in the room until the next question.
 */
export function nodeFunctional(
  posterior: CoefficientPosterior,
  mass: number,
  functional: Functional,
): { readonly room: CourseRoom; readonly value: CourseValue } | null {
  const source = sources.get(posterior);
  return source === undefined ? null : source.tiles.spread(source.observed, posterior, mass, functional);
}

/** A conditioner for a mixture whose roots are lower triangular (`isLower`). */
export function createConditioner(mixture: CoefficientMixture): Conditioner {
  const { numBasis: d, mapDimension: q, locations: places } = mixture;
  const tiles = createTileConditioner(mixture);
  const { weigher } = tiles;
  const n = mixture.numNodes;
  const kept = new Int32Array(n);
  const shares = new Float64Array(n);
  return (statistics, individual) => {
    const { logLikelihood, rank } = weighNodes(weigher, statistics, individual);
    const { weights: all, totals } = weigher;
    const scale = 1 / totals[2];
    let K = 0;
    for (let g = 0; g < n; g++) {
      const w = all[g];
      if (!(w > 0)) continue;
      kept[K] = g;
      shares[K++] = w * scale;
    }
    const nodes = kept.slice(0, K);
    const weights = shares.slice(0, K);
    const locations = rowsOf(places, nodes, q);
    const observed = observedBy(weigher, rank);
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

/** Rows of a table [Γ,q] that belong to the nodes, [K,q]. */
function rowsOf(table: Float64Array, nodes: Int32Array, q: number): Float64Array {
  const K = nodes.length;
  const out = new Float64Array(K * q);
  for (let k = 0, at = 0; k < K; k++) {
    for (let from = nodes[k] * q; from < (nodes[k] + 1) * q; from++) out[at++] = table[from];
  }
  return out;
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
