/**
 * Weighted sums of normal distribution functions and densities, Σ_k w_k Φ(u_k) and Σ_k (w_k/s_k) φ(u_k), u_k = (y − m_k)/s_k,
 * for the quantiles of mixtures with many components. About a tabulated point c (multiples of 1/16),
 *   φ(c + h) = φ(c) Σ_n a_n hⁿ,   Φ(c + h) = Φ(c) + φ(c) Σ_n a_n hⁿ⁺¹/(n+1),
 *   a_0 = 1,  a_1 = −c,  a_{n+1} = −(c a_n + a_{n−1})/(n+1),
 * since φ' = −uφ. With |h| ≤ 1/32 the terms beyond n = 8 are below 1e-17. No exponential is taken.
 */
import { LOG_2PI, normalCdf } from "./special.ts";

/** Beyond this many standard deviations a component is wholly on one side (Φ(−8) = 6e-16). */
const FURTHEST = 8;
const PER_UNIT = 16;
const TERMS = 9;
const WIDTH = TERMS + 1;

/** Per point: Φ(c), then φ(c) a_0 … φ(c) a_8. */
const TABLE = makeTable();

function makeTable(): Float64Array {
  const numPoints = 2 * FURTHEST * PER_UNIT + 1;
  const table = new Float64Array(numPoints * WIDTH);
  for (let j = 0; j < numPoints; j++) {
    const c = j / PER_UNIT - FURTHEST;
    table[j * WIDTH] = normalCdf(c);
    let before = 0;
    let a = Math.exp(-0.5 * (c * c + LOG_2PI));
    for (let n = 0; n < TERMS; n++) {
      table[j * WIDTH + 1 + n] = a;
      [before, a] = [a, -(c * a + before) / (n + 1)];
    }
  }
  return table;
}

/** Writes Σ w Φ and Σ (w/s) φ at y to out[0] and out[1]; components further than eight deviations count 0 or w. */
export function addNormals(
  weights: Float64Array,
  means: Float64Array,
  sds: Float64Array,
  y: number,
  out: Float64Array,
): void {
  const T = TABLE;
  let below = 0;
  let density = 0;
  for (let k = 0; k < weights.length; k++) {
    const w = weights[k];
    const u = (y - means[k]) / sds[k];
    if (u >= FURTHEST) below += w;
    else if (u > -FURTHEST) {
      const j = ((u + FURTHEST) * PER_UNIT + 0.5) | 0;
      const h = u - (j / PER_UNIT - FURTHEST);
      const at = j * WIDTH + 1;
      const a0 = T[at];
      const a1 = T[at + 1];
      const a2 = T[at + 2];
      const a3 = T[at + 3];
      const a4 = T[at + 4];
      const a5 = T[at + 5];
      const a6 = T[at + 6];
      const a7 = T[at + 7];
      const a8 = T[at + 8];
      const h2 = h * h;
      const h4 = h2 * h2;
      const phi = a0 + a1 * h + h2 * (a2 + a3 * h) + h4 * (a4 + a5 * h + h2 * (a6 + a7 * h) + h4 * a8);
      const rise =
        a0 +
        (a1 / 2) * h +
        h2 * (a2 / 3 + (a3 / 4) * h) +
        h4 * (a4 / 5 + (a5 / 6) * h + h2 * (a6 / 7 + (a7 / 8) * h) + h4 * (a8 / 9));
      below += w * (T[at - 1] + h * rise);
      density += (w / sds[k]) * phi;
    }
  }
  out[0] = below;
  out[1] = density;
}
