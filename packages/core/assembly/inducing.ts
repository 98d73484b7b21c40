/**
 * Between sums over individuals and q(u) of the published map (models/paper/inducing-coefficients.ts): the precision
 * Λ_a = I ⊗ K + σ⁻² [Ω_kl] that cholesky.ts factors, and the blocks T_kl = sym(C_kl + a_k a_l') of its inverse. Blocks are
 * those of the band, k ≤ l, [numBand,p,p]; bandRow and bandColumn are i32.
 */

@inline
function block(base: usize, e: i32, p: i32): usize {
  return base + (<usize>(e * p * p) << 3);
}

/** The upper triangle of Λ_a, blocks of the band, in A [dp + 1, ld]; the rest is zero. */
export function fillPrecision(
  A: usize, n: i32, ld: i32, p: i32, gram: usize, K: usize, weight: f64, bandRow: usize, bandColumn: usize, numBand: i32,
): void {
  const step = <usize>ld << 3;
  const size = <usize>p << 3;
  const scale = f64x2.splat(weight);
  memory.fill(A, 0, <usize>(n + 1) * step);
  for (let e = 0; e < numBand; e++) {
    const k = i32.load(bandRow + (<usize>e << 2));
    const l = i32.load(bandColumn + (<usize>e << 2));
    let from = block(gram, e, p);
    let prior = K;
    let to = A + <usize>(k * p) * step + (<usize>(l * p) << 3);
    for (let j = 0; j < p; j++) {
      let o: usize = 0;
      if (k == l) {
        for (; o + 16 <= size; o += 16) {
          v128.store(to + o, f64x2.add(v128.load(prior + o), f64x2.mul(scale, v128.load(from + o))));
        }
        if (o < size) f64.store(to + o, f64.load(prior + o) + weight * f64.load(from + o));
      } else {
        for (; o + 16 <= size; o += 16) v128.store(to + o, f64x2.mul(scale, v128.load(from + o)));
        if (o < size) f64.store(to + o, weight * f64.load(from + o));
      }
      from += size;
      prior += size;
      to += step;
    }
  }
}

/**
 * out = T_kl of the band from the lower half of sign · C [dp + 1, ld] within the band, and a [dp]; both halves of every
 * block are written.
 */
export function momentBlocks(
  C: usize, ld: i32, p: i32, sign: f64, a: usize, bandRow: usize, bandColumn: usize, numBand: i32, out: usize,
): void {
  const step = <usize>ld << 3;
  const size = <usize>p << 3;
  const half = f64x2.splat(0.5 * sign);
  for (let e = 0; e < numBand; e++) {
    const k = i32.load(bandRow + (<usize>e << 2)) * p;
    const l = i32.load(bandColumn + (<usize>e << 2)) * p;
    const ak = a + (<usize>k << 3);
    const al = a + (<usize>l << 3);
    // C_lk, whose transpose is C_kl.
    const corner = C + <usize>l * step + (<usize>k << 3);
    if (k == l) {
      diagonalBlock(corner, step, p, sign, ak, block(out, e, p));
      continue;
    }
    let to = block(out, e, p);
    for (let j = 0; j < p; j++) {
      const row = corner + <usize>j * step;
      let column = corner + (<usize>j << 3);
      const kj = 0.5 * f64.load(ak + (<usize>j << 3));
      const lj = 0.5 * f64.load(al + (<usize>j << 3));
      const kj2 = f64x2.splat(kj);
      const lj2 = f64x2.splat(lj);
      let o: usize = 0;
      for (; o + 16 <= size; o += 16) {
        const across = f64x2(f64.load(column), f64.load(column + step));
        const covariance = f64x2.mul(half, f64x2.add(v128.load(row + o), across));
        const means = f64x2.add(f64x2.mul(kj2, v128.load(al + o)), f64x2.mul(lj2, v128.load(ak + o)));
        v128.store(to + o, f64x2.add(covariance, means));
        column += 2 * step;
      }
      if (o < size) {
        const means = kj * f64.load(al + o) + lj * f64.load(ak + o);
        f64.store(to + o, 0.5 * sign * (f64.load(row + o) + f64.load(column)) + means);
      }
      to += size;
    }
  }
}

/** out [p,p] = sign · C + aa' from the lower half of C. */
function diagonalBlock(C: usize, step: usize, p: i32, sign: f64, a: usize, out: usize): void {
  const size = <usize>p << 3;
  for (let j: usize = 0; j < size; j += 8) {
    const aj = f64.load(a + j);
    let row = out + (j >> 3) * size;
    let column = out + j;
    for (let i: usize = 0; i <= j; i += 8) {
      const v = sign * f64.load(C + i) + aj * f64.load(a + i);
      f64.store(row, v);
      f64.store(column, v);
      row += 8;
      column += size;
    }
    C += step;
  }
}
