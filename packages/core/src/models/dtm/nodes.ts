/**
 * The places an individual may take: a regular lattice of step Δ, symmetric about 0, on [−radius, radius] (q = 1) or cut
 * to the disc |x| ≤ radius (q = 2), with the standard normal prior restricted to it (docs/math/dtm.md §2):
 *   log π_g = −½|x_g|² − log Σ_g' exp(−½|x_g'|²).
 */
import { checkOption, DtmError } from "../../errors.ts";
import { logSumExp } from "../../numeric/special.ts";

/** Nodes with their prior. */
export interface MapNodes {
  readonly numNodes: number;
  readonly mapDimension: number;
  /** x_g in the fit's frame, [Γ,q], first dimension slowest. */
  readonly locations: Float64Array;
  /** log π_g, [Γ]. */
  readonly logWeights: Float64Array;
  readonly step: number;
  readonly radius: number;
}

/** Which lattice. */
export interface NodeOptions {
  /** Distance of neighbouring nodes, or "fast" for a coarser lattice. Default 0.25 (q = 2) or 0.1 (q = 1). */
  readonly step?: number | "fast";
  /** Half width of the lattice. Default 4 (q = 2) or 4.5 (q = 1). */
  readonly radius?: number;
}

const DEFAULT_STEP = { 1: 0.1, 2: 0.25 } as const;
const FAST_STEP = { 1: 0.2, 2: 0.4 } as const;
const DEFAULT_RADIUS = { 1: 4.5, 2: 4 } as const;

/** The lattice for a map of one or two dimensions: 797 nodes by default for q = 2, 317 with step "fast". */
export function latticeNodes(mapDimension: number, options: NodeOptions = {}): MapNodes {
  const q = checkMapDimension(mapDimension);
  const radius = options.radius ?? DEFAULT_RADIUS[q];
  const step = options.step === "fast" ? FAST_STEP[q] : (options.step ?? DEFAULT_STEP[q]);
  checkOption(radius >= 2 && radius <= 10, "nodes.radius", "a half width from 2 to 10", radius, "Use 4.");
  checkOption(step >= 0.02 && step <= 1, "nodes.step", "a step from 0.02 to 1", step, "Use 0.25.");
  const perAxis = Math.round((2 * radius) / step) + 1;
  const axis = Float64Array.from(
    { length: perAxis },
    (_, k) => (k - (perAxis - 1) / 2) * ((2 * radius) / (perAxis - 1)),
  );
  const places: number[] = [];
  if (q === 1) {
    places.push(...axis);
  } else {
    for (const a of axis) {
      for (const b of axis) if (a * a + b * b <= radius * radius + 1e-9) places.push(a, b);
    }
  }
  const locations = Float64Array.from(places);
  return { ...givenNodes(locations, q), step, radius };
}

/** Nodes at given places [Γ,q] with the standard normal prior restricted to them; step and radius are left 0. */
export function givenNodes(locations: Float64Array, q: number): MapNodes {
  const numNodes = locations.length / q;
  const logWeights = new Float64Array(numNodes);
  for (let g = 0; g < numNodes; g++) {
    for (let c = 0; c < q; c++) logWeights[g] -= 0.5 * locations[g * q + c] * locations[g * q + c];
  }
  const total = logSumExp(logWeights);
  for (let g = 0; g < numNodes; g++) logWeights[g] -= total;
  return { numNodes, mapDimension: q, locations, logWeights, step: 0, radius: 0 };
}

function checkMapDimension(q: number): 1 | 2 {
  if (q === 1 || q === 2) return q;
  throw new DtmError(
    "map-dimension",
    `dtm: expected mapDimension 1 or 2, received ${q}. A lattice in more dimensions would need too many nodes; use kind "dtm-paper" for three.`,
  );
}
