/**
 * What the observations of one individual say of its coefficients, in as few numbers as they have rank, for the kernels
 * that go through many nodes (docs/math/prediction.md §2). G of rank r is determined by r of its rows and columns, P
 * (those of the largest pivots). With F = G_PP⁻¹G_P· [r,d],
 *   F_P = I,   Fw + noise N(0, N) = h,   h = G_PP⁻¹g_P,   N = σ²G_PP⁻¹,
 * so that h ~ N(Fm_g, V) at node g with V = FΣ_gF' + N, whose entries have few terms: one for r = d, four for r = d − 1.
 * Where G_PP is close to singular, F = R with G = R'R and N = σ²I take their place.
 */
import { choleskyInPlace } from "../../numeric/cholesky.ts";
import { multiplyTransposed } from "../../numeric/matrix.ts";
import type { ObservedFunctionals } from "../../wasm/placing.ts";
import type { Observations } from "./effect.ts";

export interface Observed extends ObservedFunctionals {
  /** What no curve explains, in units of σ². */
  readonly rest: number;
}

/** Pivots below this share of the first carry rounding only. */
const RANK_TOLERANCE = 1e-13;
/** Below this ratio of the smallest to the largest entry of R_P's diagonal, G_PP⁻¹ would cost digits. */
const LEAST_RATIO = 1e-3;

/** The functionals behind observations, with N = σ²I if it must be `plain`; their G is overwritten. */
export function observe({ G, g, rho, n, visits = n, sigma2 }: Observations, plain = false): Observed {
  const d = g.length;
  const { rank: r, R, heights: h, pivots } = pivotedRoot(G, g, Math.min(visits, d));
  let rest = rho;
  for (let a = 0; a < r; a++) rest -= h[a] * h[a];
  const noise = new Float64Array((r * (r + 1)) / 2);
  const floors = new Float64Array(r).fill(sigma2);
  if (!plain && r > 0 && R[(r - 1) * d + pivots[r - 1]] >= LEAST_RATIO * R[pivots[0]]) {
    invertRoot(R, h, pivots, r, sigma2, noise, floors);
  } else {
    for (let a = 0; a < r; a++) noise[(a * (a + 3)) / 2] = sigma2;
  }
  return { rank: r, functionals: R, heights: h, noise, floors, rest: Math.max(rest, 0) / sigma2 };
}

/** R [r,d] with G = R'R by Cholesky with pivots, and h [r] with g = R'h; r ≤ most. */
function pivotedRoot(G: Float64Array, g: Float64Array, most: number) {
  const d = g.length;
  const R = new Float64Array(most * d);
  const heights = new Float64Array(most);
  const pivots = new Int32Array(most);
  let first = 0;
  let r = 0;
  for (; r < most; r++) {
    // G holds what is left of it: the diagonal is that of G − R'R.
    let p = 0;
    for (let k = 1; k < d; k++) if (G[k * d + k] > G[p * d + p]) p = k;
    const pivot = G[p * d + p];
    if (r === 0) first = pivot;
    if (!(pivot > RANK_TOLERANCE * first)) break;
    const inverse = 1 / Math.sqrt(pivot);
    for (let k = 0; k < d; k++) R[r * d + k] = G[p * d + k] * inverse;
    for (let b = 0; b < r; b++) R[r * d + pivots[b]] = 0;
    pivots[r] = p;
    let s = g[p];
    for (let b = 0; b < r; b++) s -= R[b * d + p] * heights[b];
    heights[r] = s / R[r * d + p];
    for (let k = 0; k < d; k++) {
      const x = R[r * d + k];
      for (let l = 0; l < d; l++) G[k * d + l] -= x * R[r * d + l];
    }
    for (let b = 0; b <= r; b++) G[pivots[b] * d + pivots[b]] = 0;
  }
  return { rank: r, R, heights, pivots };
}

/**
 * R ← R_P⁻¹R = F, h ← R_P⁻¹h, and N = σ²TT' with its pivots, T = R_P⁻¹: R_P is upper triangular in the order of pivots,
 * so rows are taken from the last upwards.
 */
function invertRoot(
  R: Float64Array,
  h: Float64Array,
  pivots: Int32Array,
  r: number,
  sigma2: number,
  noise: Float64Array,
  floors: Float64Array,
): void {
  const d = R.length / h.length;
  const T = new Float64Array(r * r);
  for (let a = r - 1; a >= 0; a--) {
    const diagonal = R[a * d + pivots[a]];
    T[a * r + a] = 1;
    for (let b = a + 1; b < r; b++) {
      const x = R[a * d + pivots[b]];
      h[a] -= x * h[b];
      for (let k = 0; k < d; k++) R[a * d + k] -= x * R[b * d + k];
      for (let c = b; c < r; c++) T[a * r + c] -= x * T[b * r + c];
    }
    h[a] /= diagonal;
    for (let k = 0; k < d; k++) R[a * d + k] /= diagonal;
    for (let c = a; c < r; c++) T[a * r + c] /= diagonal;
    for (let b = 0; b < r; b++) R[a * d + pivots[b]] = a === b ? 1 : 0;
  }
  const N = multiplyTransposed(T, T, r, r, r).map((v) => sigma2 * v);
  for (let a = 0, at = 0; a < r; a++) for (let b = 0; b <= a; b++) noise[at++] = N[a * r + b];
  choleskyInPlace(N, r);
  for (let a = 0; a < r; a++) floors[a] = N[a * r + a] ** 2;
}
