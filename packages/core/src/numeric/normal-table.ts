/**
 * Taylor coefficients of the normal distribution function about the points c = j/64, |c| ≤ 8, for kernels that take no
 * exponential: Φ(c + h) = Σ_n t_n hⁿ,
 *   t_0 = Φ(c),  t_{n+1} = φ(c) a_n/(n + 1),   a_0 = 1,  a_1 = −c,  a_{n+1} = −(c a_n + a_{n−1})/(n + 1),
 * since φ' = −uφ. With |h| ≤ 1/128 the terms beyond n = 4 are below 3e-13.
 */
import { LOG_2PI, normalCdf } from "./special.ts";

const FURTHEST = 8;
const PER_UNIT = 64;
const TERMS = 5;
/** Entries per point: the terms, and one that is not used, so that kernels may read them in pairs. */
const WIDTH = 6;
const NUM_POINTS = 2 * FURTHEST * PER_UNIT + 1;

/** Writes the table to `out`, [1025,6]; at both ends Φ is 0 and 1, and nothing changes any more. */
export function fillNormalTable(out: Float64Array): void {
  for (let j = 0; j < NUM_POINTS; j++) {
    const c = j / PER_UNIT - FURTHEST;
    if (j === 0 || j === NUM_POINTS - 1) {
      out.fill(0, j * WIDTH, (j + 1) * WIDTH);
      out[j * WIDTH] = c > 0 ? 1 : 0;
      continue;
    }
    out[j * WIDTH] = normalCdf(c);
    let before = 0;
    let a = Math.exp(-0.5 * (c * c + LOG_2PI));
    for (let n = 0; n < TERMS - 1; n++) {
      out[j * WIDTH + 1 + n] = a / (n + 1);
      [before, a] = [a, -(c * a + before) / (n + 1)];
    }
  }
}
