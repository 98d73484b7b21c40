/**
 * The E step of the linear models (models/linear/expectation.ts, docs/math/linear.md §1 and §3), two individuals at a time,
 * one in each lane. Sums are packed as there, a pair of lanes each; the first is Σ (ρ − z'z), from which, with the
 * determinants Π C_jj²/σ² of individuals, the host makes the log-likelihood: no logarithm is taken here.
 */
import { Linear } from "./contexts";
import { both } from "./exp";

/** Adds `count` individuals, an even number, to the sums. */
export function expectLinear(context: usize, count: i32): void {
  const p = changetype<Linear>(context);
  for (let i = 0; i < count; i += 2) {
    const rho = readPair(p, i);
    add(p.sums, rho);
    add(p.sums + 16, rho);
    factorPair(p, i);
    solvePair(p);
    addPair(p);
  }
}

/** The number at `address` for the first individual and `stride` bytes on for the second. */
@inline
export function pair(address: usize, stride: usize): v128 {
  return f64x2.replace_lane(both(address), 1, load<f64>(address + stride));
}

@inline
export function add(address: usize, v: v128): void {
  v128.store(address, f64x2.add(v128.load(address), v));
}

/** Band of G, g = c − Gβ̃ and T = GL of individuals i and i + 1; returns ρ. */
export function readPair(p: Linear, i: i32): v128 {
  const d = p.numBasis;
  const r = p.rank;
  const n = p.numBand;
  const zero = f64x2.splat(0);
  const rowOfGram = <usize>n << 3;
  const rowOfCross = <usize>d << 3;
  const gram = p.gram + <usize>i * rowOfGram;
  const cross = p.cross + <usize>i * rowOfCross;
  for (let k = 0; k < d; k++) v128.store(p.g + (<usize>k << 4), pair(cross + (<usize>k << 3), rowOfCross));
  for (let k = 0; k < d * r; k++) v128.store(p.T + (<usize>k << 4), zero);
  for (let e = 0; e < n; e++) {
    const G = pair(gram + (<usize>e << 3), rowOfGram);
    v128.store(p.band + (<usize>e << 4), G);
    const k = i32.load(p.bandRow + (<usize>e << 2));
    const l = i32.load(p.bandColumn + (<usize>e << 2));
    addRow(p, G, k, l);
    if (k != l) addRow(p, G, l, k);
  }
  // ρ = s − β̃'(c + g), since g = c − Gβ̃.
  let rho = pair(p.squares + (<usize>i << 3), 8);
  for (let k = 0; k < d; k++) {
    const c = pair(cross + (<usize>k << 3), rowOfCross);
    const g = v128.load(p.g + (<usize>k << 4));
    rho = f64x2.sub(rho, f64x2.mul(both(p.mean + (<usize>k << 3)), f64x2.add(c, g)));
  }
  return f64x2.pmax(zero, rho);
}

/** Entry G of row k and column l: g_k −= Gβ̃_l, T_k += G L_l. */
@inline
function addRow(p: Linear, G: v128, k: i32, l: i32): void {
  const g = p.g + (<usize>k << 4);
  v128.store(g, f64x2.sub(v128.load(g), f64x2.mul(G, both(p.mean + (<usize>l << 3)))));
  let t = p.T + (<usize>(k * p.rank) << 4);
  let from = p.factor + (<usize>(l * p.rank) << 3);
  const stop = from + (<usize>p.rank << 3);
  for (; from < stop; from += 8, t += 16) add(t, f64x2.mul(G, both(from)));
}

/** A = diagonal + L'T (lower triangle) to C and L'g to z. */
export function projectPair(p: Linear, diagonal: v128): void {
  const d = p.numBasis;
  const r = p.rank;
  const zero = f64x2.splat(0);
  const width = <usize>r << 4;
  for (let a = 0; a < r; a++) {
    v128.store(p.z + (<usize>a << 4), zero);
    const row = p.C + <usize>a * width;
    for (let c = 0; c < a; c++) v128.store(row + (<usize>c << 4), zero);
    v128.store(row + (<usize>a << 4), diagonal);
  }
  for (let k = 0; k < d; k++) {
    const g = v128.load(p.g + (<usize>k << 4));
    const t = p.T + <usize>k * width;
    for (let a = 0; a < r; a++) {
      const l = both(p.factor + (<usize>(k * r + a) << 3));
      add(p.z + (<usize>a << 4), f64x2.mul(l, g));
      const row = p.C + <usize>a * width;
      for (let c: usize = 0; c <= <usize>a << 4; c += 16) add(row + c, f64x2.mul(l, v128.load(t + c)));
    }
  }
}

/** C (reciprocals on the diagonal) of A = σ²I + L'T = CC' and z = C⁻¹L'g; subtracts z'z and writes the determinants. */
function factorPair(p: Linear, i: i32): void {
  const r = p.rank;
  const sigma2 = both(p.noise);
  const width = <usize>r << 4;
  projectPair(p, sigma2);
  let explained = f64x2.splat(0);
  let product = f64x2.splat(1);
  for (let a = 0; a < r; a++) {
    const row = p.C + <usize>a * width;
    let b = v128.load(p.z + (<usize>a << 4));
    let pivot = v128.load(row + (<usize>a << 4));
    for (let c = 0; c < a; c++) {
      const other = p.C + <usize>c * width;
      let s = v128.load(row + (<usize>c << 4));
      for (let h: usize = 0; h < <usize>c << 4; h += 16) {
        s = f64x2.sub(s, f64x2.mul(v128.load(row + h), v128.load(other + h)));
      }
      s = f64x2.mul(s, v128.load(other + (<usize>c << 4)));
      v128.store(row + (<usize>c << 4), s);
      pivot = f64x2.sub(pivot, f64x2.mul(s, s));
      b = f64x2.sub(b, f64x2.mul(s, v128.load(p.z + (<usize>c << 4))));
    }
    // A pivot that is not positive has no root: NaN from here to the sums.
    product = f64x2.mul(product, f64x2.div(pivot, sigma2));
    const inverse = f64x2.div(f64x2.splat(1), f64x2.sqrt(pivot));
    b = f64x2.mul(b, inverse);
    v128.store(row + (<usize>a << 4), inverse);
    v128.store(p.z + (<usize>a << 4), b);
    explained = f64x2.add(explained, f64x2.mul(b, b));
  }
  v128.store(p.sums, f64x2.sub(v128.load(p.sums), explained));
  v128.store(p.determinants + (<usize>i << 3), product);
}

/** v̂ = C⁻ᵀz and the moments: pairs a ≥ c of σ²A⁻¹ + v̂v̂', then v̂. C becomes C⁻¹. */
function solvePair(p: Linear): void {
  const r = p.rank;
  const width = <usize>r << 4;
  const sigma2 = both(p.noise);
  for (let a = 0; a < r; a++) {
    const row = p.C + <usize>a * width;
    const inverse = v128.load(row + (<usize>a << 4));
    for (let c = 0; c < a; c++) {
      // Entries of row a left of c are already those of the inverse; c and beyond are still those of C.
      let s = f64x2.splat(0);
      for (let h = c; h < a; h++) {
        const x = v128.load(p.C + <usize>h * width + (<usize>c << 4));
        s = f64x2.sub(s, f64x2.mul(v128.load(row + (<usize>h << 4)), x));
      }
      v128.store(row + (<usize>c << 4), f64x2.mul(s, inverse));
    }
  }
  const means = p.moments + (<usize>(r * (r + 1)) << 3);
  for (let a = 0; a < r; a++) {
    let v = f64x2.splat(0);
    for (let h = a; h < r; h++) {
      v = f64x2.add(v, f64x2.mul(v128.load(p.C + <usize>h * width + (<usize>a << 4)), v128.load(p.z + (<usize>h << 4))));
    }
    v128.store(means + (<usize>a << 4), v);
  }
  let out = p.moments;
  for (let a = 0; a < r; a++) {
    const va = v128.load(means + (<usize>a << 4));
    for (let c = 0; c <= a; c++, out += 16) {
      let s = f64x2.splat(0);
      for (let h = a; h < r; h++) {
        const row = p.C + <usize>h * width;
        s = f64x2.add(s, f64x2.mul(v128.load(row + (<usize>a << 4)), v128.load(row + (<usize>c << 4))));
      }
      v128.store(out, f64x2.add(f64x2.mul(sigma2, s), f64x2.mul(va, v128.load(means + (<usize>c << 4)))));
    }
  }
}

/** Adds g, v̂g', the pairs, and all moments against the band of G. */
function addPair(p: Linear): void {
  addMoments(p, p.moments, f64x2.splat(1));
}

/**
 * Adds precision × g, v̂g', the `pairs` of E vv', and the moments against the band of G; returns where the next sum stands. Noise
 * with levels has moments divided by λ beside plain pairs.
 */
export function addMoments(p: Linear, pairs: usize, precision: v128): usize {
  const r = p.rank;
  const numPairs = (r * (r + 1)) / 2;
  const means = p.moments + (<usize>numPairs << 4);
  const bytesOfG = <usize>p.numBasis << 4;
  const bytesOfBand = <usize>p.numBand << 4;
  let out = p.sums + 32;
  for (let k: usize = 0; k < bytesOfG; k += 16, out += 16) add(out, f64x2.mul(precision, v128.load(p.g + k)));
  for (let a = 0; a < r; a++) {
    const v = v128.load(means + (<usize>a << 4));
    for (let k: usize = 0; k < bytesOfG; k += 16, out += 16) add(out, f64x2.mul(v, v128.load(p.g + k)));
  }
  for (let h = 0; h < numPairs; h++, out += 16) add(out, v128.load(pairs + (<usize>h << 4)));
  for (let h = 0; h < numPairs + r; h++) {
    const moment = v128.load(p.moments + (<usize>h << 4));
    for (let e: usize = 0; e < bytesOfBand; e += 16, out += 16) add(out, f64x2.mul(moment, v128.load(p.band + e)));
  }
  return out;
}
