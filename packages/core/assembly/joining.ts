/**
 * Neighbouring nodes of a posterior become one (models/mixture/wasm-joining.ts), with joint weight, mean and covariance. About the mean r of
 * the first node of a cell,
 *   w = Σ w_k,   e = Σ w_k (m_k − r) / w,   m = r + e,   S = Σ w_k (S_k + (m_k − r)(m_k − r)') / w − ee',
 * in one pass over the nodes: neighbours have nearly the same mean, so nothing is lost in the difference.
 */
import { QUAD } from "./tiles";

/** Sizes, then addresses, as the host writes them: i32 each. */
@unmanaged
class Joining {
  numBasis: i32; // d
  numColumns: i32; // d + d(d+1)/2
  numTiles: i32;
  numCells: i32;
  moments: usize; // [tile][numColumns][4]
  weights: usize; // [tile][4]
  cells: usize; // i32 [tile][4]: the cell of each node
  firsts: usize; // r [numCells,d]
  residuals: usize; // scratch [d]
  joined: usize; // out [tile of cells][numColumns][4]
  joinedWeights: usize; // out [tile of cells][4]
}

/** Writes weights and moments of the cells. */
export function joinTiles(context: usize): void {
  const p = changetype<Joining>(context);
  const d = p.numBasis;
  const stride = <usize>p.numColumns * QUAD;
  const numTiles = <usize>((p.numCells + 3) / 4);
  memory.fill(p.joined, 0, numTiles * stride);
  memory.fill(p.joinedWeights, 0, numTiles * QUAD);
  for (let k = 0; k < p.numTiles * 4; k++) {
    const w = f64.load(p.weights + (<usize>k << 3));
    if (!(w > 0)) continue;
    const cell = i32.load(p.cells + (<usize>k << 2));
    addNode(p, d, w, p.moments + <usize>(k >> 2) * stride + (<usize>(k & 3) << 3), cell, stride);
  }
  for (let cell = 0; cell < p.numCells; cell++) finishCell(p, d, cell, stride);
}

@inline
function addNode(p: Joining, d: i32, w: f64, node: usize, cell: i32, stride: usize): void {
  const first = p.firsts + (<usize>(cell * d) << 3);
  const total = p.joinedWeights + (<usize>cell << 3);
  let to = p.joined + <usize>(cell >> 2) * stride + (<usize>(cell & 3) << 3);
  let from = node;
  const known = f64.load(total);
  f64.store(total, known + w);
  const e = p.residuals;
  for (let a: usize = 0; a < <usize>d << 3; a += 8, from += QUAD, to += QUAD) {
    const m = f64.load(from);
    if (known === 0) f64.store(first + a, m);
    const x = m - f64.load(first + a);
    f64.store(e + a, x);
    f64.store(to, f64.load(to) + w * x);
  }
  for (let a: usize = 0; a < <usize>d << 3; a += 8) {
    const x = f64.load(e + a);
    for (let b: usize = 0; b <= a; b += 8, from += QUAD, to += QUAD) {
      f64.store(to, f64.load(to) + w * (f64.load(from) + x * f64.load(e + b)));
    }
  }
}

@inline
function finishCell(p: Joining, d: i32, cell: i32, stride: usize): void {
  const w = f64.load(p.joinedWeights + (<usize>cell << 3));
  if (!(w > 0)) return;
  const first = p.firsts + (<usize>(cell * d) << 3);
  let to = p.joined + <usize>(cell >> 2) * stride + (<usize>(cell & 3) << 3);
  const inverse = 1 / w;
  const e = p.residuals;
  for (let a: usize = 0; a < <usize>d << 3; a += 8, to += QUAD) {
    const x = f64.load(to) * inverse;
    f64.store(e + a, x);
    f64.store(to, f64.load(first + a) + x);
  }
  for (let a: usize = 0; a < <usize>d << 3; a += 8) {
    const x = f64.load(e + a);
    for (let b: usize = 0; b <= a; b += 8, to += QUAD) f64.store(to, f64.load(to) * inverse - x * f64.load(e + b));
  }
}
