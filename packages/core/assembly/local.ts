/**
 * The local objective of the published map for q = 2 (models/paper/local, docs/math/local-step.md): value, gradient
 * and Hessian of J in θ = [m, log diag T, T_21], features of a place, and the products between tables of features and the
 * statistics of an individual. Features are ψ1 and Ψ2 at the nodes of two grids, or at two lists of places.
 */
import { both, exp2x } from "./exp";
import { gridMoments, gridValues } from "./local-grid";
import { addDerivatives, writeDerivatives } from "./local-derivatives";
import { placeMoments, placeValues } from "./local-places";

/** Addresses, then sizes, as the host writes them: i32 each. Index 0: ψ1, index 1: Ψ2. */
@unmanaged
export class Local {
  theta: usize; // [5]
  result: usize; // J, gradient [P], Hessian [P,P]: [1 + 5 + 25]
  squares: usize; // ℓ² [2]
  geometry: usize; // first coordinates [2], spacing of ψ1's grid [2]
  moments: usize; // cube [25]
  derivatives: usize; // cube [26]
  scratch: usize;
  weights0: usize; // [size0]
  weights1: usize; // [size1]
  values0: usize;
  values1: usize;
  places0: usize; // general path: coordinates [2][size0]
  places1: usize;
  numParameters: i32; // 4 or 5
  onGrid: i32;
  size0: i32; // stored features, padding included; even
  size1: i32;
  rows0: i32; // nodes per dimension of the grids
  columns0: i32;
}

// q(x) = N(m, TT') of the last call, T = [[l, 0], [c, r]].
let m0: f64 = 0;
let m1: f64 = 0;
let l: f64 = 0;
let c: f64 = 0;
let r: f64 = 0;
// R = spread (Λ + spread S)⁻¹ and |I + spread Λ⁻¹S|^(−½).
let R0: f64 = 0;
let R1: f64 = 0;
let R3: f64 = 0;

function unpack(theta: usize, P: i32): void {
  m0 = f64.load(theta);
  m1 = f64.load(theta, 8);
  const e = exp2x(v128.load(theta, 16));
  l = f64x2.extract_lane(e, 0);
  r = f64x2.extract_lane(e, 1);
  c = P > 4 ? f64.load(theta, 32) : 0;
}

function shape(squares: usize, spread: f64): f64 {
  const a = f64.load(squares);
  const b = f64.load(squares, 8);
  const S0 = l * l;
  const S3 = c * c + r * r;
  const root = spread * l * r;
  const determinant = a * b + spread * (a * S3 + b * S0) + root * root;
  const scale = spread / determinant;
  R0 = scale * (b + spread * S3);
  R1 = -scale * spread * l * c;
  R3 = scale * (a + spread * S0);
  return Math.sqrt((a * b) / determinant);
}

/** J without its constant at θ, with gradient and, for order 4, Hessian; 0 beyond the range of the fast grid. */
export function evaluateLocal(context: usize, order: i32): i32 {
  const local = changetype<Local>(context);
  const P = local.numParameters;
  const D = local.derivatives;
  const M = local.moments;
  const theta = local.theta;
  unpack(theta, P);
  for (let o: usize = 0; o < 208; o += 16) v128.store(D + o, f64x2.splat(0));
  let norm = shape(local.squares, 1);
  if (local.onGrid) {
    const g = local.geometry;
    const u = m0 - f64.load(g);
    const v = m1 - f64.load(g, 8);
    const hu = f64.load(g, 16);
    const hv = f64.load(g, 24);
    const n0 = local.rows0;
    const n1 = local.columns0;
    if (!gridMoments(local.weights0, n0, n1, u, v, hu, hv, R0, R1, R3, order, local.scratch, M)) return 0;
    addDerivatives(M, R0, R1, R3, norm, order, D);
    norm = shape(local.squares, 2);
    const ok = gridMoments(
      local.weights1, 2 * n0 - 1, 2 * n1 - 1, u, v, 0.5 * hu, 0.5 * hv, R0, R1, R3, order, local.scratch, M,
    );
    if (!ok) return 0;
  } else {
    placeMoments(local.weights0, local.places0, local.size0, m0, m1, R0, R1, R3, order, local.scratch, M);
    addDerivatives(M, R0, R1, R3, norm, order, D);
    norm = shape(local.squares, 2);
    placeMoments(local.weights1, local.places1, local.size1, m0, m1, R0, R1, R3, order, local.scratch, M);
  }
  addDerivatives(M, R0, R1, R3, norm, order, D);
  writeDerivatives(D, m0, m1, l, c, r, P, order, local.result + 8);
  const kl = 0.5 * (m0 * m0 + m1 * m1 + l * l + c * c + r * r - 2) - f64.load(theta, 16) - f64.load(theta, 24);
  f64.store(local.result, f64.load(D) - kl);
  return 1;
}

/** Features of the place θ to values0 and values1; 0 beyond the range of the fast grid. */
export function localValues(context: usize): i32 {
  const local = changetype<Local>(context);
  unpack(local.theta, local.numParameters);
  let norm = shape(local.squares, 1);
  if (!local.onGrid) {
    placeValues(local.places0, local.size0, m0, m1, R0, R1, R3, norm, local.values0);
    norm = shape(local.squares, 2);
    placeValues(local.places1, local.size1, m0, m1, R0, R1, R3, norm, local.values1);
    return 1;
  }
  const g = local.geometry;
  const u = m0 - f64.load(g);
  const v = m1 - f64.load(g, 8);
  const hu = f64.load(g, 16);
  const hv = f64.load(g, 24);
  const n0 = local.rows0;
  const n1 = local.columns0;
  if (!gridValues(n0, n1, u, v, hu, hv, R0, R1, R3, norm, local.scratch, local.values0)) return 0;
  norm = shape(local.squares, 2);
  return gridValues(
    2 * n0 - 1, 2 * n1 - 1, u, v, 0.5 * hu, 0.5 * hv, R0, R1, R3, norm, local.scratch, local.values1,
  )
    ? 1
    : 0;
}

/** out[f] = Σ_e x_e table[e][f]; `size` even, `count` a multiple of four. A group of four that is all zero is left out. */
export function contractTable(table: usize, x: usize, count: i32, size: i32, out: usize): void {
  const row = <usize>size << 3;
  for (let o: usize = 0; o < row; o += 16) v128.store(out + o, f64x2.splat(0));
  for (let e = 0; e < count; e += 4) {
    const at = x + (<usize>e << 3);
    if (!v128.any_true(f64x2.ne(f64x2.splat(0), v128.load(at)))) {
      if (!v128.any_true(f64x2.ne(f64x2.splat(0), v128.load(at, 16)))) continue;
    }
    const a = both(at);
    const b = both(at + 8);
    const c = both(at + 16);
    const d = both(at + 24);
    let t = table + <usize>e * row;
    for (let o: usize = 0; o < row; o += 16) {
      const s = f64x2.add(f64x2.mul(a, v128.load(t)), f64x2.mul(b, v128.load(t + row)));
      const u = f64x2.add(f64x2.mul(c, v128.load(t + 2 * row)), f64x2.mul(d, v128.load(t + 3 * row)));
      v128.store(out + o, f64x2.add(v128.load(out + o), f64x2.add(s, u)));
      t += 16;
    }
  }
}

/** table[e][f] += weight x_e values[f]; `size` even, `count` a multiple of four. */
export function addToTable(table: usize, x: usize, count: i32, size: i32, weight: f64, values: usize): void {
  const row = <usize>size << 3;
  for (let e = 0; e < count; e += 4) {
    const at = x + (<usize>e << 3);
    if (!v128.any_true(f64x2.ne(f64x2.splat(0), v128.load(at)))) {
      if (!v128.any_true(f64x2.ne(f64x2.splat(0), v128.load(at, 16)))) continue;
    }
    const scale = f64x2.splat(weight);
    const a = f64x2.mul(scale, both(at));
    const b = f64x2.mul(scale, both(at + 8));
    const c = f64x2.mul(scale, both(at + 16));
    const d = f64x2.mul(scale, both(at + 24));
    let t = table + <usize>e * row;
    for (let o: usize = 0; o < row; o += 16) {
      const v = v128.load(values + o);
      v128.store(t, f64x2.add(v128.load(t), f64x2.mul(a, v)));
      v128.store(t + row, f64x2.add(v128.load(t + row), f64x2.mul(b, v)));
      v128.store(t + 2 * row, f64x2.add(v128.load(t + 2 * row), f64x2.mul(c, v)));
      v128.store(t + 3 * row, f64x2.add(v128.load(t + 3 * row), f64x2.mul(d, v)));
      t += 16;
    }
  }
}
