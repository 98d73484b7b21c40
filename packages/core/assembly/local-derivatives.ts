/**
 * From node moments to derivatives of F in m, and from those to the gradient and Hessian of J in θ, for q = 2; the formulas
 * are those of models/paper/derivatives.ts and local.ts. Cubes hold the entry (i, j) at 5i + j.
 */

@inline
function add(address: usize, x: f64): void {
  f64.store(address, f64.load(address) + x);
}

/** Adds F = norm · Σ w exp(−½u'Ru) and its derivatives up to `order` to the cube D; R = [[r,s],[s,t]]. */
export function addDerivatives(M: usize, r: f64, s: f64, t: f64, norm: f64, order: i32, D: usize): void {
  const rr = r * r;
  const rs = r * s;
  const ss = s * s;
  const st = s * t;
  const tt = t * t;
  const mixed = r * t + ss;
  const z = norm * f64.load(M, 0);
  const x = norm * (r * f64.load(M, 40) + s * f64.load(M, 8));
  const y = norm * (s * f64.load(M, 40) + t * f64.load(M, 8));
  const xx = norm * (rr * f64.load(M, 80) + 2 * rs * f64.load(M, 48) + ss * f64.load(M, 16));
  const xy = norm * (rs * f64.load(M, 80) + mixed * f64.load(M, 48) + st * f64.load(M, 16));
  const yy = norm * (ss * f64.load(M, 80) + 2 * st * f64.load(M, 48) + tt * f64.load(M, 16));
  add(D, z);
  add(D + 40, -x);
  add(D + 8, -y);
  add(D + 80, xx - r * z);
  add(D + 48, xy - s * z);
  add(D + 16, yy - t * z);
  if (order == 2) return;
  // Third order: two indices by R⊗R for each value of the remaining one (moments with one more u, one more v).
  const u20 = rr * f64.load(M, 120) + 2 * rs * f64.load(M, 88) + ss * f64.load(M, 56);
  const v20 = rr * f64.load(M, 88) + 2 * rs * f64.load(M, 56) + ss * f64.load(M, 24);
  const u02 = ss * f64.load(M, 120) + 2 * st * f64.load(M, 88) + tt * f64.load(M, 56);
  const v02 = ss * f64.load(M, 88) + 2 * st * f64.load(M, 56) + tt * f64.load(M, 24);
  add(D + 120, -(norm * (r * u20 + s * v20) - 3 * r * x));
  add(D + 88, -(norm * (s * u20 + t * v20) - r * y - 2 * s * x));
  add(D + 56, -(norm * (r * u02 + s * v02) - t * x - 2 * s * y));
  add(D + 24, -(norm * (s * u02 + t * v02) - 3 * t * y));
  // Fourth order: the pairs xx and yy first, then the other two indices.
  const a20 = rr * f64.load(M, 160) + 2 * rs * f64.load(M, 128) + ss * f64.load(M, 96);
  const a11 = rr * f64.load(M, 128) + 2 * rs * f64.load(M, 96) + ss * f64.load(M, 64);
  const a02 = rr * f64.load(M, 96) + 2 * rs * f64.load(M, 64) + ss * f64.load(M, 32);
  const b20 = ss * f64.load(M, 160) + 2 * st * f64.load(M, 128) + tt * f64.load(M, 96);
  const b11 = ss * f64.load(M, 128) + 2 * st * f64.load(M, 96) + tt * f64.load(M, 64);
  const b02 = ss * f64.load(M, 96) + 2 * st * f64.load(M, 64) + tt * f64.load(M, 32);
  const xxxx = norm * (rr * a20 + 2 * rs * a11 + ss * a02);
  const xxxy = norm * (rs * a20 + mixed * a11 + st * a02);
  const xxyy = norm * (ss * a20 + 2 * st * a11 + tt * a02);
  const xyyy = norm * (rs * b20 + mixed * b11 + st * b02);
  const yyyy = norm * (ss * b20 + 2 * st * b11 + tt * b02);
  add(D + 160, xxxx - 6 * r * xx + 3 * rr * z);
  add(D + 128, xxxy - 3 * (r * xy + s * xx) + 3 * rs * z);
  add(D + 96, xxyy - r * yy - t * xx - 4 * s * xy + (mixed + ss) * z);
  add(D + 64, xyyy - 3 * (t * xy + s * yy) + 3 * st * z);
  add(D + 32, yyyy - 6 * t * yy + 3 * tt * z);
}

/** H[k,l] = H[l,k] = x. */
@inline
function put(H: usize, P: i32, k: i32, l: i32, x: f64): void {
  f64.store(H + (<usize>(k * P + l) << 3), x);
  f64.store(H + (<usize>(l * P + k) << 3), x);
}

/** ∂J/∂θ [P] and, for order 4, H = ∂²J/∂θ∂θ' [P,P] from the cube D; T = [[l, 0], [c, r]]. */
export function writeDerivatives(
  D: usize, m0: f64, m1: f64, l: f64, c: f64, r: f64, P: i32, order: i32, gradient: usize, H: usize,
): void {
  const e11 = f64.load(D, 80) - 1;
  const e12 = f64.load(D, 48);
  const e22 = f64.load(D, 16) - 1;
  const gl = l * (e11 * l + e12 * c);
  const gr = e22 * r * r;
  f64.store(gradient, f64.load(D, 40) - m0, 0);
  f64.store(gradient, f64.load(D, 8) - m1, 8);
  f64.store(gradient, gl + 1, 16);
  f64.store(gradient, gr + 1, 24);
  if (P > 4) f64.store(gradient, e12 * l + e22 * c, 32);
  if (order == 2) return;
  // Contractions with the columns of T: (l, c) once for D3, twice for D4; the other column is (0, r).
  const ll = l * l;
  const lc = 2 * l * c;
  const cc = c * c;
  const rr = r * r;
  const d12 = rr * (l * f64.load(D, 96) + c * f64.load(D, 64));
  const h02 = l * (f64.load(D, 120) * l + f64.load(D, 88) * c);
  const h12 = l * (f64.load(D, 88) * l + f64.load(D, 56) * c);
  const h03 = f64.load(D, 56) * rr;
  const h13 = f64.load(D, 24) * rr;
  const h23 = l * d12;
  put(H, P, 0, 0, e11);
  put(H, P, 0, 1, e12);
  put(H, P, 1, 1, e22);
  put(H, P, 0, 2, h02);
  put(H, P, 1, 2, h12);
  put(H, P, 0, 3, h03);
  put(H, P, 1, 3, h13);
  put(H, P, 2, 2, ll * (ll * f64.load(D, 160) + lc * f64.load(D, 128) + cc * f64.load(D, 96) + e11) + gl);
  put(H, P, 2, 3, h23);
  put(H, P, 3, 3, rr * (rr * f64.load(D, 32) + e22) + gr);
  if (P == 4) return;
  const h04 = f64.load(D, 88) * l + f64.load(D, 56) * c;
  const h14 = f64.load(D, 56) * l + f64.load(D, 24) * c;
  const h24 = l * (ll * f64.load(D, 128) + lc * f64.load(D, 96) + cc * f64.load(D, 64) + e12);
  const h34 = rr * (l * f64.load(D, 64) + c * f64.load(D, 32));
  put(H, P, 0, 4, h04);
  put(H, P, 1, 4, h14);
  put(H, P, 2, 4, h24);
  put(H, P, 3, 4, h34);
  put(H, P, 4, 4, ll * f64.load(D, 96) + lc * f64.load(D, 64) + cc * f64.load(D, 32) + e22);
}
