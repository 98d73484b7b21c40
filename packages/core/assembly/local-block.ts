/**
 * Passes of the published map over a block of individuals for q = 2 on a grid (docs/math/local-step.md §4): J with its
 * gradient, and sums of features, for everybody in the block by one call. Two individuals are worked on at once
 * (local-pair.ts). The host fills rows of statistics and of θ; an individual out of the grid's range is left to it.
 */
import { both } from "./exp";
import { addPairDerivatives, fillPairTables, PairPlace, pairValues, shapePair, unpackPair } from "./local-pair";

/** Addresses, then sizes, as the host writes them: i32 each. Index 0: ψ1, index 1: Ψ2. */
@unmanaged
export class Block {
  theta: usize; // [count,P]
  gram: usize; // band of G [count,stride], padded with zeros
  cross: usize; // c [count,d]
  residual: usize; // g = c − Gβ̃ [count,width], padded with zeros
  result: usize; // J without its constant [count]; NaN out of range
  gradient: usize; // [count,P]
  slopes: usize; // ½(D2 + D2 of ψ1)_cc [count,2]
  fits: usize; // β̃'(c + g) [count]: ρ = s − this
  constants: usize; // what local-climb.ts adds to J [count]
  mean: usize; // β̃ [width], padded with zeros
  starts: usize; // where row k of G begins in entries and columns, i32 [d + 1]
  entries: usize; // band entries of the rows of G, i32
  columns: usize; // their columns, i32
  squares: usize; // ℓ² [2]
  geometry: usize; // first coordinates [2], spacing of ψ1's grid [2]
  table0: usize; // [nodes of ψ1, made a multiple of four][width]
  table1: usize; // [nodes of Ψ2, made a multiple of four][stride]
  sums0: usize; // Σ ψ1 g' [nodes, a multiple of four][width]
  sums1: usize; // Σ Ψ2 G [nodes, likewise][stride]
  sums2: usize; // Σ ψ1 G [nodes of ψ1, likewise][stride]
  packed: usize; // statistics of four [stride][4]
  weights0: usize; // of four [nodes, a multiple of four][4]
  weights1: usize;
  values0: usize; // [count][nodes, a multiple of four]
  values1: usize;
  place: usize;
  scratch: usize; // five tables of pairs
  climbs: usize; // two lanes of local-climb.ts
  numParameters: i32; // P, 4 or 5
  numBand: i32;
  numBasis: i32; // d
  width: i32; // d, made a multiple of four
  stride: i32; // numBand, made a multiple of four
  rows0: i32; // nodes per dimension of ψ1's grid
  columns0: i32;
}

@inline
export function rowAt(base: usize, i: i32, length: i32): usize {
  return base + (<usize>(i * length) << 3);
}

/** Nodes of ψ1 and of Ψ2. */
@inline
function nodes0(block: Block): i32 {
  return block.rows0 * block.columns0;
}

@inline
function nodes1(block: Block): i32 {
  return (2 * block.rows0 - 1) * (2 * block.columns0 - 1);
}

/** g = c − Gβ̃ and β̃'(c + g) for everybody in the block. */
export function blockResiduals(context: usize, count: i32): void {
  const block = changetype<Block>(context);
  const d = block.numBasis;
  const mean = block.mean;
  for (let i = 0; i < count; i++) {
    const c = rowAt(block.cross, i, d);
    const g = rowAt(block.residual, i, block.width);
    const G = rowAt(block.gram, i, block.stride);
    let fit: f64 = 0;
    for (let k = 0; k < d; k++) {
      const o = <usize>k << 3;
      const end = i32.load(block.starts + (<usize>k << 2), 4);
      let s: f64 = 0;
      for (let at = i32.load(block.starts + (<usize>k << 2)); at < end; at++) {
        const e = <usize>i32.load(block.entries + (<usize>at << 2)) << 3;
        const l = <usize>i32.load(block.columns + (<usize>at << 2)) << 3;
        s += f64.load(G + e) * f64.load(mean + l);
      }
      const before = f64.load(c + o);
      f64.store(g + o, before - s);
      fit += f64.load(mean + o) * (before + (before - s));
    }
    f64.store(rowAt(block.fits, i, 1), fit);
  }
}

/** out [width][4] = rows i, j, k, l of x side by side. */
function pack(x: usize, width: i32, i: i32, j: i32, k: i32, l: i32, out: usize): void {
  const a = rowAt(x, i, width);
  const b = rowAt(x, j, width);
  const c = rowAt(x, k, width);
  const d = rowAt(x, l, width);
  const end = <usize>width << 3;
  for (let o: usize = 0; o < end; o += 8) {
    v128.store(out, f64x2(f64.load(a + o), f64.load(b + o)));
    v128.store(out, f64x2(f64.load(c + o), f64.load(d + o)), 16);
    out += 32;
  }
}

/** out [n][4] = table [n][width] · x [width][4]; n and width are multiples of four. */
function contract(table: usize, x: usize, n: i32, width: i32, out: usize): void {
  const row = <usize>width << 3;
  const end = x + 4 * row;
  const zero = f64x2.splat(0);
  for (let f = 0; f < n; f += 4) {
    let a0 = zero;
    let a1 = zero;
    let b0 = zero;
    let b1 = zero;
    let c0 = zero;
    let c1 = zero;
    let d0 = zero;
    let d1 = zero;
    let t0 = table;
    let t1 = t0 + row;
    let t2 = t1 + row;
    let t3 = t2 + row;
    for (let o = x; o < end; o += 64) {
      let y0 = v128.load(o);
      let y1 = v128.load(o, 16);
      let t = both(t0);
      a0 = f64x2.add(a0, f64x2.mul(t, y0));
      a1 = f64x2.add(a1, f64x2.mul(t, y1));
      t = both(t1);
      b0 = f64x2.add(b0, f64x2.mul(t, y0));
      b1 = f64x2.add(b1, f64x2.mul(t, y1));
      t = both(t2);
      c0 = f64x2.add(c0, f64x2.mul(t, y0));
      c1 = f64x2.add(c1, f64x2.mul(t, y1));
      t = both(t3);
      d0 = f64x2.add(d0, f64x2.mul(t, y0));
      d1 = f64x2.add(d1, f64x2.mul(t, y1));
      y0 = v128.load(o, 32);
      y1 = v128.load(o, 48);
      t = v128.load_splat<f64>(t0, 8);
      a0 = f64x2.add(a0, f64x2.mul(t, y0));
      a1 = f64x2.add(a1, f64x2.mul(t, y1));
      t = v128.load_splat<f64>(t1, 8);
      b0 = f64x2.add(b0, f64x2.mul(t, y0));
      b1 = f64x2.add(b1, f64x2.mul(t, y1));
      t = v128.load_splat<f64>(t2, 8);
      c0 = f64x2.add(c0, f64x2.mul(t, y0));
      c1 = f64x2.add(c1, f64x2.mul(t, y1));
      t = v128.load_splat<f64>(t3, 8);
      d0 = f64x2.add(d0, f64x2.mul(t, y0));
      d1 = f64x2.add(d1, f64x2.mul(t, y1));
      t0 += 16;
      t1 += 16;
      t2 += 16;
      t3 += 16;
    }
    v128.store(out, a0);
    v128.store(out, a1, 16);
    v128.store(out, b0, 32);
    v128.store(out, b1, 48);
    v128.store(out, c0, 64);
    v128.store(out, c1, 80);
    v128.store(out, d0, 96);
    v128.store(out, d1, 112);
    table += 4 * row;
    out += 128;
  }
}

/** Weights w1 = C1'h, w2 = −½C2'W of four individuals, side by side; their residuals must be ready. */
export function loadFour(block: Block, i: i32, j: i32, k: i32, l: i32): void {
  const width = block.width;
  const stride = block.stride;
  pack(block.residual, width, i, j, k, l, block.packed);
  contract(block.table0, block.packed, (nodes0(block) + 3) & ~3, width, block.weights0);
  pack(block.gram, stride, i, j, k, l, block.packed);
  contract(block.table1, block.packed, (nodes1(block) + 3) & ~3, stride, block.weights1);
}

/** The same of one individual into one of the two lanes of the first pair. */
export function loadLane(block: Block, i: i32, lane: usize): void {
  contractLane(block.table0, rowAt(block.residual, i, block.width), nodes0(block), block.width, block.weights0 + (lane << 3));
  contractLane(block.table1, rowAt(block.gram, i, block.stride), nodes1(block), block.stride, block.weights1 + (lane << 3));
}

/** out, 32 bytes apart, = table [n][width] · x [width], summed in the order of `contract`. */
function contractLane(table: usize, x: usize, n: i32, width: i32, out: usize): void {
  const row = <usize>width << 3;
  for (let f = 0; f < n; f++) {
    let s: f64 = 0;
    for (let o: usize = 0; o < row; o += 8) s += f64.load(table + o) * f64.load(x + o);
    f64.store(out, s);
    table += row;
    out += 32;
  }
}

/**
 * Values of a pair of lanes (the first or the second of four, `pair` = 0 or 16) at places a and b, NaN out of range;
 * gradients and slopes go to rows of their own.
 */
export function evaluatePair(
  block: Block, pair: usize, a: usize, b: usize, gradientA: usize, gradientB: usize, slopesA: usize, slopesB: usize,
): v128 {
  const place = changetype<PairPlace>(block.place);
  const P = block.numParameters;
  const n0 = block.rows0;
  const n1 = block.columns0;
  const hu = f64.load(block.geometry, 16);
  const hv = f64.load(block.geometry, 24);
  const one = f64x2.splat(1);
  const zero = f64x2.splat(0);
  const half = f64x2.splat(0.5);
  unpackPair(place, a, b, P);
  place.D00 = zero;
  place.D10 = zero;
  place.D01 = zero;
  place.D20 = zero;
  place.D11 = zero;
  place.D02 = zero;
  shapePair(place, block.squares, 1);
  fillPairTables(place, n0, n1, block.geometry, hu, hv, one, block.scratch);
  addPairDerivatives(place, block.weights0 + pair, n0, n1, block.scratch);
  const first0 = place.D20;
  const first1 = place.D02;
  shapePair(place, block.squares, 2);
  fillPairTables(place, 2 * n0 - 1, 2 * n1 - 1, block.geometry, 0.5 * hu, 0.5 * hv, one, block.scratch);
  addPairDerivatives(place, block.weights1 + pair, 2 * n0 - 1, 2 * n1 - 1, block.scratch);

  // E = D2 − I; ∂J/∂m = D1 − m, ∂J/∂log l = l(ET)_11 + 1, ∂J/∂log r = r(ET)_22 + 1, ∂J/∂c = (ET)_21.
  const m0 = place.m0;
  const m1 = place.m1;
  const l = place.l;
  const c = place.c;
  const r = place.r;
  const e11 = f64x2.sub(place.D20, one);
  const e12 = place.D11;
  const e22 = f64x2.sub(place.D02, one);
  const ll = f64x2.mul(l, l);
  const rr = f64x2.mul(r, r);
  const trace = f64x2.add(f64x2.add(ll, rr), f64x2.mul(c, c));
  const square = f64x2.add(f64x2.mul(m0, m0), f64x2.mul(m1, m1));
  const kl = f64x2.sub(f64x2.mul(half, f64x2.sub(f64x2.add(square, trace), f64x2.splat(2))), place.logs);
  store(gradientA, gradientB, 0, f64x2.sub(place.D10, m0));
  store(gradientA, gradientB, 8, f64x2.sub(place.D01, m1));
  store(gradientA, gradientB, 16, f64x2.add(f64x2.mul(l, f64x2.add(f64x2.mul(e11, l), f64x2.mul(e12, c))), one));
  store(gradientA, gradientB, 24, f64x2.add(f64x2.mul(e22, rr), one));
  if (P > 4) store(gradientA, gradientB, 32, f64x2.add(f64x2.mul(e12, l), f64x2.mul(e22, c)));
  store(slopesA, slopesB, 0, f64x2.mul(half, f64x2.add(place.D20, first0)));
  store(slopesA, slopesB, 8, f64x2.mul(half, f64x2.add(place.D02, first1)));
  return v128.bitselect(f64x2.sub(place.D00, kl), f64x2.splat(NaN), place.inside);
}

@inline
function store(a: usize, b: usize, offset: usize, x: v128): void {
  f64.store(a + offset, f64x2.extract_lane(x, 0));
  f64.store(b + offset, f64x2.extract_lane(x, 1));
}

/** J, gradient and slopes of everybody in the block; beyond the last individual the last one is taken again. */
export function evaluateBlock(context: usize, count: i32): void {
  const block = changetype<Block>(context);
  const last = count - 1;
  for (let i = 0; i < count; i += 4) {
    const j = min(i + 1, last);
    const k = min(i + 2, last);
    const l = min(i + 3, last);
    loadFour(block, i, j, k, l);
    evaluateRows(block, 0, i, j);
    if (k > j) evaluateRows(block, 16, k, l);
  }
}

function evaluateRows(block: Block, pair: usize, i: i32, j: i32): void {
  const P = block.numParameters;
  const theta = block.theta;
  const gradient = block.gradient;
  const slopes = block.slopes;
  const value = evaluatePair(
    block, pair, rowAt(theta, i, P), rowAt(theta, j, P), rowAt(gradient, i, P), rowAt(gradient, j, P),
    rowAt(slopes, i, 2), rowAt(slopes, j, 2),
  );
  store(rowAt(block.result, i, 1), rowAt(block.result, j, 1), 0, value);
}

/**
 * Adds weight · ψ1 g', weight · Ψ2 G and, where asked, weight · ψ1 G of the block to the sums; the result of an
 * individual is 0, or NaN out of range, and then it is left out.
 */
export function sumBlock(context: usize, count: i32, weight: f64, withCourse: i32): void {
  const block = changetype<Block>(context);
  const place = changetype<PairPlace>(block.place);
  const P = block.numParameters;
  const n0 = block.rows0;
  const n1 = block.columns0;
  const hu = f64.load(block.geometry, 16);
  const hv = f64.load(block.geometry, 24);
  const size0 = (nodes0(block) + 3) & ~3;
  const size1 = (nodes1(block) + 3) & ~3;
  const scale = f64x2.splat(weight);
  for (let i = 0; i < count; i += 2) {
    const j = min(i + 1, count - 1);
    unpackPair(place, rowAt(block.theta, i, P), rowAt(block.theta, j, P), P);
    shapePair(place, block.squares, 1);
    fillPairTables(place, n0, n1, block.geometry, hu, hv, f64x2.mul(scale, place.norm), block.scratch);
    pairValues(n0, n1, block.scratch, rowAt(block.values0, i, size0), rowAt(block.values0, j, size0));
    shapePair(place, block.squares, 2);
    const norm = f64x2.mul(scale, place.norm);
    fillPairTables(place, 2 * n0 - 1, 2 * n1 - 1, block.geometry, 0.5 * hu, 0.5 * hv, norm, block.scratch);
    pairValues(2 * n0 - 1, 2 * n1 - 1, block.scratch, rowAt(block.values1, i, size1), rowAt(block.values1, j, size1));
    const value = v128.bitselect(f64x2.splat(0), f64x2.splat(NaN), place.inside);
    store(rowAt(block.result, i, 1), rowAt(block.result, j, 1), 0, value);
  }
  for (let i = 0; i < count; i++) {
    if (f64.load(rowAt(block.result, i, 1)) == 0) continue;
    memory.fill(rowAt(block.values0, i, size0), 0, <usize>size0 << 3);
    memory.fill(rowAt(block.values1, i, size1), 0, <usize>size1 << 3);
  }
  addProducts(block.values0, size0, block.residual, block.width, count, block.sums0);
  addProducts(block.values1, size1, block.gram, block.stride, count, block.sums1);
  if (withCourse) addProducts(block.values0, size0, block.gram, block.stride, count, block.sums2);
}

/**
 * sums[f][e] += Σ_i values[i][f] x[i][e], values [count][size], x [count][width]: four nodes and four columns at a
 * time, individuals in order, so that sums do not depend on how a pass is cut into blocks.
 */
function addProducts(values: usize, size: i32, x: usize, width: i32, count: i32, sums: usize): void {
  const row = <usize>width << 3;
  const step = <usize>size << 3;
  for (let f = 0; f < size; f += 4) {
    const from = values + (<usize>f << 3);
    for (let o: usize = 0; o < row; o += 32) {
      const to0 = sums + o;
      const to1 = to0 + row;
      const to2 = to1 + row;
      const to3 = to2 + row;
      let a0 = v128.load(to0);
      let a1 = v128.load(to0, 16);
      let b0 = v128.load(to1);
      let b1 = v128.load(to1, 16);
      let c0 = v128.load(to2);
      let c1 = v128.load(to2, 16);
      let d0 = v128.load(to3);
      let d1 = v128.load(to3, 16);
      let at = x + o;
      let v = from;
      for (let i = 0; i < count; i++) {
        const y0 = v128.load(at);
        const y1 = v128.load(at, 16);
        let t = v128.load_splat<f64>(v);
        a0 = f64x2.add(a0, f64x2.mul(t, y0));
        a1 = f64x2.add(a1, f64x2.mul(t, y1));
        t = v128.load_splat<f64>(v, 8);
        b0 = f64x2.add(b0, f64x2.mul(t, y0));
        b1 = f64x2.add(b1, f64x2.mul(t, y1));
        t = v128.load_splat<f64>(v, 16);
        c0 = f64x2.add(c0, f64x2.mul(t, y0));
        c1 = f64x2.add(c1, f64x2.mul(t, y1));
        t = v128.load_splat<f64>(v, 24);
        d0 = f64x2.add(d0, f64x2.mul(t, y0));
        d1 = f64x2.add(d1, f64x2.mul(t, y1));
        at += row;
        v += step;
      }
      v128.store(to0, a0);
      v128.store(to0, a1, 16);
      v128.store(to1, b0);
      v128.store(to1, b1, 16);
      v128.store(to2, c0);
      v128.store(to2, c1, 16);
      v128.store(to3, d0);
      v128.store(to3, d1, 16);
    }
    sums += 4 * row;
  }
}
