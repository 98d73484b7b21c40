/**
 * The passes over individuals of the recommended map (models/dtm, docs/math/dtm.md §3, §7, §8). Statistics are packed for
 * two individuals at once, one in each lane; weights over the nodes are taken for four at once (tiles.ts).
 * A block holds `count` individuals, a multiple of four; the host fills rows beyond the last one with zeros.
 */
import { Pass } from "./contexts";
import { both } from "./exp";
import { addOuter, dotTiles, expTiles, logWeights } from "./tiles";

/** Numbers at a and b as the two lanes. */
@inline
export function pair(a: usize, b: usize): v128 {
  return f64x2.replace_lane(both(a), 1, f64.load(b));
}

@inline
export function at(base: usize, index: i32): usize {
  return base + (<usize>index << 4);
}

@inline
function addTo(address: usize, v: v128): void {
  v128.store(address, f64x2.add(v128.load(address), v));
}

/** Packs (g̃, G̃) of `count` individuals with ρ − ζ'ζ, M_kk and Π M_kk. */
export function packBlock(context: usize, count: i32): void {
  const pass = changetype<Pass>(context);
  for (let i = 0; i < count; i += 2) packPair(pass, i);
}

/**
 * Individuals i and i+1. Leaves in scratch, as pairs: G [d,d], Y [d,d], M [d,d], g [d], ζ [d]; returns ρ.
 *   σ²I + L'GL = MM',   Y = M⁻¹L'G,   ζ = M⁻¹L'g,   G̃ = (G − Y'Y)/σ²,   g̃ = (g − Y'ζ)/σ².
 */
function packPair(pass: Pass, i: i32): v128 {
  const d = pass.numBasis;
  const dd = d * d;
  const G = pass.scratch;
  const Y = at(G, dd);
  const M = at(Y, dd);
  const g = at(M, dd);
  const z = at(g, d);
  const sigma2 = both(pass.noise);
  const scale = f64x2.div(f64x2.splat(1), sigma2);
  const rho = loadPair(pass, i, G, g);
  let out = packedPair(pass, i);
  let rest = rho;
  let product = f64x2.splat(1);
  if (pass.hasResidual) {
    product = whiten(pass, G, Y, M, g, z, i);
    for (let k = 0; k < d; k++) {
      let s = v128.load(at(g, k));
      const zk = v128.load(at(z, k));
      rest = f64x2.sub(rest, f64x2.mul(zk, zk));
      for (let a = 0; a < d; a++) s = f64x2.sub(s, f64x2.mul(v128.load(at(Y, a * d + k)), v128.load(at(z, a))));
      v128.store(out, f64x2.mul(s, scale));
      out += 32;
    }
    for (let k = 0; k < d; k++) {
      for (let l = k; l < d; l++) {
        let s = v128.load(at(G, k * d + l));
        for (let a = 0; a < d; a++) {
          s = f64x2.sub(s, f64x2.mul(v128.load(at(Y, a * d + k)), v128.load(at(Y, a * d + l))));
        }
        v128.store(out, f64x2.mul(s, scale));
        out += 32;
      }
    }
  } else {
    for (let k = 0; k < d; k++) {
      v128.store(out, f64x2.mul(v128.load(at(g, k)), scale));
      out += 32;
    }
    for (let k = 0; k < d; k++) {
      for (let l = k; l < d; l++) {
        v128.store(out, f64x2.mul(v128.load(at(G, k * d + l)), scale));
        out += 32;
      }
    }
  }
  padRow(pass, out);
  v128.store(pass.rests + (<usize>i << 3), rest);
  v128.store(pass.products + (<usize>i << 3), product);
  return rho;
}

/** G and g = c − Gβ̃ of individuals i and i+1; returns ρ = s − β̃'(c + g), at least 0. */
export function loadPair(pass: Pass, i: i32, G: usize, g: usize): v128 {
  const d = pass.numBasis;
  const numBand = pass.numBand;
  memory.fill(G, 0, <usize>(d * d) << 4);
  const gram = pass.gram + (<usize>(i * numBand) << 3);
  const next = gram + (<usize>numBand << 3);
  for (let e = 0; e < numBand; e++) {
    const o = <usize>e << 3;
    const k = i32.load(pass.bandRow + (<usize>e << 2));
    const l = i32.load(pass.bandColumn + (<usize>e << 2));
    const v = pair(gram + o, next + o);
    v128.store(at(G, k * d + l), v);
    v128.store(at(G, l * d + k), v);
  }
  const cross = pass.cross + (<usize>(i * d) << 3);
  const squares = pass.squares + (<usize>i << 3);
  let rho = v128.load(squares);
  for (let k = 0; k < d; k++) {
    const o = <usize>k << 3;
    const c = pair(cross + o, cross + (<usize>d << 3) + o);
    let s = c;
    for (let l = 0; l < d; l++) {
      s = f64x2.sub(s, f64x2.mul(v128.load(at(G, k * d + l)), both(pass.mean + (<usize>l << 3))));
    }
    v128.store(at(g, k), s);
    rho = f64x2.sub(rho, f64x2.mul(both(pass.mean + o), f64x2.add(c, s)));
  }
  return f64x2.max(rho, f64x2.splat(0));
}

/** Packs αg − Σ_j β_ja_jv_j and αG − Σ_j β_jv_jv_j' of individuals i and i+1; V holds the v_j in its columns. Pairs. */
export function storeRows(pass: Pass, i: i32, G: usize, g: usize, V: usize, a: usize, beta: usize, alpha: v128): void {
  const d = pass.numBasis;
  let out = packedPair(pass, i);
  for (let k = 0; k < d; k++) {
    let s = f64x2.mul(alpha, v128.load(at(g, k)));
    for (let j = 0; j < d; j++) {
      const explained = f64x2.mul(v128.load(at(beta, j)), v128.load(at(a, j)));
      s = f64x2.sub(s, f64x2.mul(explained, v128.load(at(V, k * d + j))));
    }
    v128.store(out, s);
    out += 32;
  }
  for (let k = 0; k < d; k++) {
    for (let l = k; l < d; l++) {
      let s = f64x2.mul(alpha, v128.load(at(G, k * d + l)));
      for (let j = 0; j < d; j++) {
        const v = f64x2.mul(v128.load(at(beta, j)), v128.load(at(V, k * d + j)));
        s = f64x2.sub(s, f64x2.mul(v, v128.load(at(V, l * d + j))));
      }
      v128.store(out, s);
      out += 32;
    }
  }
  padRow(pass, out);
}

/** Where the packed rows of individuals i and i+1 begin for the marker in the context: two lanes of the group of four. */
@inline
function packedPair(pass: Pass, i: i32): usize {
  return pass.packed + ((<usize>(i >> 2) * <usize>pass.stride + <usize>pass.rowStart) << 5) + (<usize>(i & 2) << 3);
}

/** Padding of a packed row to an even length stays zero even after a block whose weights were not numbers. */
@inline
function padRow(pass: Pass, out: usize): void {
  const d = pass.numBasis;
  if ((d + ((d * (d + 1)) >> 1)) & 1) v128.store(out, f64x2.splat(0));
}

/** Fills Y, M and ζ; returns Π M_kk and stores the M_kk. */
function whiten(pass: Pass, G: usize, Y: usize, M: usize, g: usize, z: usize, i: i32): v128 {
  const d = pass.numBasis;
  const L = pass.root;
  const sigma2 = both(pass.noise);
  for (let a = 0; a < d; a++) {
    let s = f64x2.splat(0);
    for (let k = a; k < d; k++) s = f64x2.add(s, f64x2.mul(both(L + (<usize>(k * d + a) << 3)), v128.load(at(g, k))));
    v128.store(at(z, a), s);
    for (let l = 0; l < d; l++) {
      s = f64x2.splat(0);
      for (let k = a; k < d; k++) {
        s = f64x2.add(s, f64x2.mul(both(L + (<usize>(k * d + a) << 3)), v128.load(at(G, k * d + l))));
      }
      v128.store(at(Y, a * d + l), s);
    }
    for (let b = 0; b <= a; b++) {
      s = f64x2.splat(0);
      for (let l = b; l < d; l++) {
        s = f64x2.add(s, f64x2.mul(v128.load(at(Y, a * d + l)), both(L + (<usize>(l * d + b) << 3))));
      }
      v128.store(at(M, a * d + b), a == b ? f64x2.add(s, sigma2) : s);
    }
  }
  let product = f64x2.splat(1);
  const diagonals = pass.diagonals + (<usize>((i >> 1) * d) << 4);
  for (let a = 0; a < d; a++) {
    let pivot = v128.load(at(M, a * d + a));
    let za = v128.load(at(z, a));
    for (let b = 0; b < a; b++) {
      let s = v128.load(at(M, a * d + b));
      for (let c = 0; c < b; c++) s = f64x2.sub(s, f64x2.mul(v128.load(at(M, a * d + c)), v128.load(at(M, b * d + c))));
      s = f64x2.div(s, v128.load(at(M, b * d + b)));
      v128.store(at(M, a * d + b), s);
      pivot = f64x2.sub(pivot, f64x2.mul(s, s));
      za = f64x2.sub(za, f64x2.mul(s, v128.load(at(z, b))));
      for (let l = 0; l < d; l++) {
        const y = at(Y, a * d + l);
        v128.store(y, f64x2.sub(v128.load(y), f64x2.mul(s, v128.load(at(Y, b * d + l)))));
      }
    }
    // In exact arithmetic no pivot is below σ².
    const diagonal = f64x2.sqrt(f64x2.max(pivot, sigma2));
    const inverse = f64x2.div(f64x2.splat(1), diagonal);
    v128.store(at(M, a * d + a), diagonal);
    v128.store(at(diagonals, a), diagonal);
    product = f64x2.mul(product, diagonal);
    v128.store(at(z, a), f64x2.mul(za, inverse));
    for (let l = 0; l < d; l++) {
      const y = at(Y, a * d + l);
      v128.store(y, f64x2.mul(v128.load(y), inverse));
    }
  }
  return product;
}

/**
 * Weights over the nodes of `count` packed individuals: λ as maxima and sums (λ = maximum + log sum), then, where asked,
 * their part of the node sums, and moments Σ_g r_ig T_g [count,K].
 */
export function expectBlock(context: usize, count: i32, addSums: i32, writeMoments: i32): void {
  const pass = changetype<Pass>(context);
  const K = pass.stride;
  for (let i = 0; i < count; i += 4) {
    const P = pass.packed + <usize>(i >> 2) * (<usize>K << 5);
    const sums = pass.sums + (<usize>i << 3);
    const maxima = pass.maxima + (<usize>i << 3);
    logWeights(P, pass.table, pass.logPrior, pass.weights, maxima, pass.numTiles, K);
    const count = expTiles(pass.weights, maxima, sums, pass.active, pass.numTiles);
    const low = f64x2.div(f64x2.splat(1), v128.load(sums));
    const high = f64x2.div(f64x2.splat(1), v128.load(sums, 16));
    if (writeMoments) {
      dotTiles(pass.weights, pass.table, pass.momentsOfFour, pass.active, count, K);
      for (let k = 0; k < K; k++) {
        const m = pass.moments + (<usize>(i * K + k) << 3);
        const row = <usize>K << 3;
        const a = f64x2.mul(v128.load(pass.momentsOfFour + (<usize>k << 5)), low);
        const b = f64x2.mul(v128.load(pass.momentsOfFour + (<usize>k << 5), 16), high);
        f64.store(m, f64x2.extract_lane(a, 0));
        f64.store(m + row, f64x2.extract_lane(a, 1));
        f64.store(m + 2 * row, f64x2.extract_lane(b, 0));
        f64.store(m + 3 * row, f64x2.extract_lane(b, 1));
      }
    }
    if (addSums) addScaled(pass, P, sums, count);
  }
}

/**
 * Adds Σ_i r_ig (g̃_i, G̃_i) of `count` packed individuals to the node sums, with weights r_ig ∝ exp of a polynomial of
 * the node's coordinates that is the individual's own.
 */
export function startBlock(context: usize, count: i32, terms: i32): void {
  const pass = changetype<Pass>(context);
  for (let i = 0; i < count; i += 4) {
    const P = pass.packed + <usize>(i >> 2) * (<usize>pass.stride << 5);
    const own = pass.placeTerms + <usize>(i >> 2) * (<usize>terms << 5);
    const sums = pass.sums + (<usize>i << 3);
    const maxima = pass.maxima + (<usize>i << 3);
    logWeights(own, pass.placeTable, pass.placePrior, pass.weights, maxima, pass.numTiles, terms);
    const active = expTiles(pass.weights, maxima, sums, pass.active, pass.numTiles);
    addScaled(pass, P, sums, active);
  }
}

/** Divides the packed rows of four individuals by the sums of their weights and adds them to the node sums. */
@inline
function addScaled(pass: Pass, P: usize, sums: usize, active: i32): void {
  const low = f64x2.div(f64x2.splat(1), v128.load(sums));
  const high = f64x2.div(f64x2.splat(1), v128.load(sums, 16));
  for (let p = P; p < P + (<usize>pass.stride << 5); p += 32) {
    v128.store(p, f64x2.mul(v128.load(p), low));
    v128.store(p, f64x2.mul(v128.load(p, 16), high), 16);
  }
  addOuter(P, pass.weights, pass.nodeSums, pass.active, active, pass.stride);
}

/** sums[i] = g̃_i'f̄_i − ½⟨G̃_i, R̄_i⟩ for packed individuals and their moments. */
export function residualBlock(context: usize, count: i32): void {
  const pass = changetype<Pass>(context);
  const K = pass.stride;
  for (let i = 0; i < count; i += 2) {
    const P = pass.packed + <usize>(i >> 2) * (<usize>K << 5) + (<usize>(i & 2) << 3);
    const m = pass.moments + (<usize>(i * K) << 3);
    let s = f64x2.splat(0);
    for (let k = 0; k < K; k++) {
      const o = m + (<usize>k << 3);
      s = f64x2.add(s, f64x2.mul(v128.load(P + (<usize>k << 5)), pair(o, o + (<usize>K << 3))));
    }
    v128.store(pass.sums + (<usize>i << 3), s);
  }
}

/**
 * Adds to the totals what the updates of mean and noise need, from moments f̄ and (−½R̄_kk, −R̄_kl), with
 * V = M⁻ᵀ [Y, ζ, I] = [Z, ω, M⁻ᵀ]:
 *   G E w = σ²G̃f̄ + Y'ζ,   g'E w = σ²g̃'f̄ + ζ'ζ,
 *   ⟨G, E ww'⟩ = σ²[⟨G̃ − Z'Z, R̄⟩ + 2ω'Zf̄ − ω'ω + d − σ²‖M⁻¹‖²] + ζ'ζ.
 */
export function maximizeBlock(context: usize, count: i32): void {
  const pass = changetype<Pass>(context);
  const d = pass.numBasis;
  const K = pass.stride;
  const dd = d * d;
  const Y = at(pass.scratch, dd);
  const g = at(Y, 2 * dd);
  const z = at(g, d);
  const V = at(z, d);
  const width = 2 * d + 1;
  const sigma2 = both(pass.noise);
  const fitted = at(pass.totals, d);
  const scalars = at(fitted, d);
  for (let i = 0; i < count; i += 2) {
    const rho = packPair(pass, i);
    const P = pass.packed + <usize>(i >> 2) * (<usize>K << 5) + (<usize>(i & 2) << 3);
    const m = pass.moments + (<usize>(i * K) << 3);
    const next = m + (<usize>K << 3);
    if (pass.hasResidual) solveTransposed(pass, V, width);
    let crossFitted = f64x2.splat(0);
    let quadratic = f64x2.splat(0);
    let explained = f64x2.splat(0);
    let o: usize = <usize>d;
    for (let k = 0; k < d; k++) {
      const f = pair(m + (<usize>k << 3), next + (<usize>k << 3));
      crossFitted = f64x2.add(crossFitted, f64x2.mul(v128.load(P + (<usize>k << 5)), f));
      for (let l = k; l < d; l++, o++) {
        let s = v128.load(P + (o << 5));
        const scaled = f64x2.mul(sigma2, s);
        const fl = pair(m + (<usize>l << 3), next + (<usize>l << 3));
        addTo(at(fitted, k), f64x2.mul(scaled, fl));
        if (l != k) addTo(at(fitted, l), f64x2.mul(scaled, f));
        if (pass.hasResidual) {
          for (let a = 0; a < d; a++) {
            const row = at(V, a * width);
            s = f64x2.sub(s, f64x2.mul(v128.load(at(row, k)), v128.load(at(row, l))));
          }
        }
        quadratic = f64x2.sub(quadratic, f64x2.mul(s, pair(m + (o << 3), next + (o << 3))));
      }
      addTo(at(pass.totals, k), v128.load(at(g, k)));
    }
    quadratic = f64x2.add(quadratic, quadratic);
    if (pass.hasResidual) {
      for (let a = 0; a < d; a++) {
        const row = at(V, a * width);
        const za = v128.load(at(z, a));
        const omega = v128.load(at(row, d));
        explained = f64x2.add(explained, f64x2.mul(za, za));
        let zf = f64x2.splat(0);
        for (let k = 0; k < d; k++) {
          zf = f64x2.add(zf, f64x2.mul(v128.load(at(row, k)), pair(m + (<usize>k << 3), next + (<usize>k << 3))));
          addTo(at(fitted, k), f64x2.mul(v128.load(at(Y, a * d + k)), za));
        }
        zf = f64x2.sub(f64x2.add(zf, zf), omega);
        quadratic = f64x2.add(quadratic, f64x2.add(f64x2.mul(omega, zf), f64x2.splat(1)));
        let squares = f64x2.splat(0);
        for (let b = d + 1; b < width; b++) {
          const v = v128.load(at(row, b));
          squares = f64x2.add(squares, f64x2.mul(v, v));
        }
        quadratic = f64x2.sub(quadratic, f64x2.mul(sigma2, squares));
      }
    }
    addTo(scalars, rho);
    addTo(at(scalars, 1), f64x2.add(f64x2.mul(sigma2, crossFitted), explained));
    addTo(at(scalars, 2), f64x2.add(f64x2.mul(sigma2, quadratic), explained));
  }
}

/** V = M⁻ᵀ [Y, ζ, I], [d, 2d + 1]. */
function solveTransposed(pass: Pass, V: usize, width: i32): void {
  const d = pass.numBasis;
  const dd = d * d;
  const Y = at(pass.scratch, dd);
  const M = at(Y, dd);
  const z = at(M, dd + d);
  for (let a = d - 1; a >= 0; a--) {
    const row = at(V, a * width);
    for (let k = 0; k < d; k++) v128.store(at(row, k), v128.load(at(Y, a * d + k)));
    v128.store(at(row, d), v128.load(at(z, a)));
    for (let k = 0; k < d; k++) v128.store(at(row, d + 1 + k), f64x2.splat(k == a ? 1 : 0));
    for (let c = a + 1; c < d; c++) {
      const s = v128.load(at(M, c * d + a));
      const other = at(V, c * width);
      for (let k = 0; k < width; k++) {
        v128.store(at(row, k), f64x2.sub(v128.load(at(row, k)), f64x2.mul(s, v128.load(at(other, k)))));
      }
    }
    const inverse = f64x2.div(f64x2.splat(1), v128.load(at(M, a * d + a)));
    for (let k = 0; k < width; k++) v128.store(at(row, k), f64x2.mul(v128.load(at(row, k)), inverse));
  }
}
