/**
 * The local objective of the published map for q = 2 and inducing points on a grid (models/paper/local.ts,
 * docs/math/local-step.md): weights of an individual, value, gradient and Hessian of J in θ = [m, log diag T, T_21], and
 * sums of features over individuals. Features are ψ1 at the nodes of the grid and Ψ2 at those of its midpoints; rows and
 * columns of both are made even. Whoever is out of the grid's range is left to the host.
 */
import { Local } from "./contexts";
import { both, exp2x } from "./exp";
import { addDerivatives, writeDerivatives } from "./local-derivatives";
import { evenBytes, gridMoments, gridValues } from "./local-grid";

// q(x) = N(m, TT') of the call under way, T = [[l, 0], [c, r]].
let m0: f64 = 0;
let m1: f64 = 0;
let l: f64 = 0;
let c: f64 = 0;
let r: f64 = 0;
// R = spread (Λ + spread S)⁻¹.
let R0: f64 = 0;
let R1: f64 = 0;
let R3: f64 = 0;

function unpack(local: Local): void {
  const theta = local.theta;
  m0 = f64.load(theta);
  m1 = f64.load(theta, 8);
  const e = exp2x(v128.load(theta, 16));
  l = f64x2.extract_lane(e, 0);
  r = f64x2.extract_lane(e, 1);
  c = local.numParameters > 4 ? f64.load(theta, 32) : 0;
}

/** Sets R; returns |I + spread Λ⁻¹S|^(−½). The determinant is a sum of positive terms, |S| = (lr)². */
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

/** Adds F and its derivatives of one part, ψ1 (spread 1) or Ψ2 (spread 2), to the cube D; false out of range. */
function addPart(local: Local, weights: usize, spread: i32, order: i32): bool {
  const g = local.geometry;
  const step = 1 / <f64>spread;
  const norm = shape(local.squares, <f64>spread);
  const inside = gridMoments(
    weights, spread * (local.rows - 1) + 1, spread * (local.columns - 1) + 1, m0 - f64.load(g), m1 - f64.load(g, 8),
    step * f64.load(g, 16), step * f64.load(g, 24), R0, R1, R3, order, local.scratch, local.moments,
  );
  if (inside) addDerivatives(local.moments, R0, R1, R3, norm, order, local.derivatives);
  return inside;
}

/** J without its constant, gradient and, for order 4, Hessian at θ; slopes ½(D2 + D2 of ψ1)_cc. 0 out of range. */
export function evaluateLocal(context: usize, order: i32): i32 {
  const local = changetype<Local>(context);
  const D = local.derivatives;
  unpack(local);
  memory.fill(D, 0, 208);
  if (!addPart(local, local.weights0, 1, order)) return 0;
  const first0 = f64.load(D, 80);
  const first1 = f64.load(D, 16);
  if (!addPart(local, local.weights1, 2, order)) return 0;
  f64.store(local.slopes, 0.5 * (first0 + f64.load(D, 80)));
  f64.store(local.slopes, 0.5 * (first1 + f64.load(D, 16)), 8);
  writeDerivatives(D, m0, m1, l, c, r, local.numParameters, order, local.gradient, local.hessian);
  const logs = f64.load(local.theta, 16) + f64.load(local.theta, 24);
  f64.store(local.value, f64.load(D) - 0.5 * (m0 * m0 + m1 * m1 + l * l + c * c + r * r - 2) + logs);
  return 1;
}

/** Bytes of the features of ψ1 and of Ψ2. */
@inline
function bytes0(local: Local): usize {
  return (evenBytes(local.rows) >> 3) * evenBytes(local.columns);
}

@inline
function bytes1(local: Local): usize {
  return (evenBytes(2 * local.rows - 1) >> 3) * evenBytes(2 * local.columns - 1);
}

/** Weights w1 = table0'g, w2 = table1'G of the individual in place. */
export function weighLocal(context: usize): void {
  const local = changetype<Local>(context);
  contract(local.table0, local.residual, local.numBasis, bytes0(local), local.weights0);
  contract(local.table1, local.gram, local.numBand, bytes1(local), local.weights1);
}

/** Adds weight · ψ1 (g, G1)' and Ψ2 G of the individual at θ to the sums; 0, and nothing added, out of range. */
export function sumLocal(context: usize, weight: f64): i32 {
  const local = changetype<Local>(context);
  unpack(local);
  const g = local.geometry;
  const u = m0 - f64.load(g);
  const v = m1 - f64.load(g, 8);
  const hu = f64.load(g, 16);
  const hv = f64.load(g, 24);
  const n0 = local.rows;
  const n1 = local.columns;
  let norm = weight * shape(local.squares, 1);
  if (!gridValues(n0, n1, u, v, hu, hv, R0, R1, R3, norm, local.scratch, local.values0)) return 0;
  norm = weight * shape(local.squares, 2);
  if (
    !gridValues(
      2 * n0 - 1, 2 * n1 - 1, u, v, 0.5 * hu, 0.5 * hv, R0, R1, R3, norm, local.scratch, local.values1,
    )
  ) {
    return 0;
  }
  addOuterRows(local.sums0, local.residual, 2 * local.numBasis, bytes0(local), local.values0);
  addOuterRows(local.sums1, local.gram, local.numBand, bytes1(local), local.values1);
  return 1;
}

/** out = Σ_e x_e table[e], rows of the given bytes; entries of x that are zero are passed over. */
function contract(table: usize, x: usize, count: i32, row: usize, out: usize): void {
  memory.fill(out, 0, row);
  for (let e = 0; e < count; e++) {
    const at = x + (<usize>e << 3);
    if (f64.load(at) != 0) {
      const scale = both(at);
      for (let o: usize = 0; o < row; o += 16) {
        v128.store(out + o, f64x2.add(v128.load(out + o), f64x2.mul(scale, v128.load(table + o))));
      }
    }
    table += row;
  }
}

/** table[e] += x_e values. */
function addOuterRows(table: usize, x: usize, count: i32, row: usize, values: usize): void {
  for (let e = 0; e < count; e++) {
    const at = x + (<usize>e << 3);
    if (f64.load(at) != 0) {
      const scale = both(at);
      for (let o: usize = 0; o < row; o += 16) {
        v128.store(table + o, f64x2.add(v128.load(table + o), f64x2.mul(scale, v128.load(values + o))));
      }
    }
    table += row;
  }
}
