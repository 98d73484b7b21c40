/**
 * The table of the normal distribution function that `sumNormals` reads (course.ts): Taylor coefficients about the points c = j/64,
 * |c| ≤ 8, Φ(c + h) = Σ_n t_n hⁿ,
 *   t_0 = Φ(c),  t_{n+1} = φ(c) a_n/(n + 1),   a_0 = 1,  a_1 = −c,  a_{n+1} = −(c a_n + a_{n−1})/(n + 1),
 * since φ' = −uφ. With |h| ≤ 1/128 the terms beyond n = 4 are below 3e-13. Φ itself is carried from point to point, from −8 upwards,
 * by the same series with h = 1/64 and twelve terms; above 0, Φ(c) = 1 − Φ(−c).
 */
import { Course } from "./contexts";
import { expOfNegative } from "./elementary";

/** Entries per point: five terms, and one that is not used, so that kernels may read them in pairs. */
const WIDTH: i32 = 6;
const NUM_POINTS: i32 = 1025;
const STEP: f64 = 1 / 64;
const TERMS: i32 = 12;
/** 1/√(2π). */
const SCALE: f64 = 0.3989422804014327;
/** Φ(−8). */
const LOWEST: f64 = 6.220960574271784e-16;

/** Fills `normalTable` [1025,6]; at both ends Φ is 0 and 1, and nothing changes any more. */
export function fillNormals(context: usize): void {
  const p = changetype<Course>(context);
  memory.fill(p.normalTable, 0, (<usize>(NUM_POINTS * WIDTH)) << 3);
  let below = LOWEST;
  for (let j = 0; j < NUM_POINTS / 2; j++) {
    const c = <f64>j * STEP - 8;
    if (j > 0) fillRow(p.normalTable, j, c, below);
    if (j > 0) fillRow(p.normalTable, NUM_POINTS - 1 - j, -c, 1 - below);
    below += rise(c);
  }
  fillRow(p.normalTable, NUM_POINTS / 2, 0, 0.5);
  f64.store(p.normalTable + (<usize>((NUM_POINTS - 1) * WIDTH) << 3), 1);
}

/** φ(c); c²/2 is exact. */
@inline
function density(c: f64): f64 {
  return SCALE * expOfNegative(-0.5 * c * c);
}

function fillRow(table: usize, j: i32, c: f64, below: f64): void {
  const row = table + (<usize>(j * WIDTH) << 3);
  f64.store(row, below);
  let before: f64 = 0;
  let a = density(c);
  for (let n = 0; n < 4; n++) {
    f64.store(row + (<usize>(n + 1) << 3), a / <f64>(n + 1));
    const next = -(c * a + before) / <f64>(n + 1);
    before = a;
    a = next;
  }
}

/** Φ(c + 1/64) − Φ(c). */
function rise(c: f64): f64 {
  let before: f64 = 0;
  let a = density(c);
  let power = STEP;
  let sum: f64 = 0;
  for (let n = 0; n < TERMS; n++) {
    sum += (a / <f64>(n + 1)) * power;
    const next = -(c * a + before) / <f64>(n + 1);
    before = a;
    a = next;
    power *= STEP;
  }
  return sum;
}
