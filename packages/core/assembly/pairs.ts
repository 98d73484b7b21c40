/**
 * Sums over nodes and pairs (j ≤ l) of inducing points for the recommended map (models/dtm/pairs.ts): four pairs at a time
 * (tiles.ts), with the products a_j a_l of a group made as they are needed.
 */
import { Pairs } from "./contexts";
import { addOuter, dotTiles, QUAD } from "./tiles";

@inline
function coefficientsOf(context: Pairs, group: i32): usize {
  return context.coefficients + <usize>group * <usize>context.numRows * QUAD;
}

/** coefficients[group][row][b] = Σ_g rows[row,g] ½(A_j B_l + B_j A_l)[g] for the pairs (j, l); B is `features` unless `dotted`. */
export function sumPairs(context: usize, dotted: i32): void {
  const c = changetype<Pairs>(context);
  const B = dotted ? c.featuresDot : c.features;
  for (let group = 0; group < c.numGroups; group++) {
    fillProducts(c.features, B, c.pairs + (<usize>group << 5), c.products, c.numTiles);
    dotTiles(c.products, c.rows, coefficientsOf(c, group), c.allTiles, c.numTiles, c.numRows);
  }
}

/** rows[row,g] += Σ coefficients[group][row][b] (A_j A_l)[g] over all pairs. */
export function addPairs(context: usize): void {
  const c = changetype<Pairs>(context);
  for (let group = 0; group < c.numGroups; group++) {
    fillProducts(c.features, c.features, c.pairs + (<usize>group << 5), c.products, c.numTiles);
    addOuter(coefficientsOf(c, group), c.products, c.rows, c.allTiles, c.numTiles, c.numRows);
  }
}

/**
 * R[t][b] = ½(A_j B_l + B_j A_l), the four pairs (j, l) of rows [rows][numTiles · 4] given as row numbers in
 * pairs [8] (j, l, j, l, …); a negative j leaves zeros.
 */
function fillProducts(A: usize, B: usize, pairs: usize, R: usize, numTiles: i32): void {
  const row = <usize>numTiles << 5;
  const half = f64x2.splat(0.5);
  for (let b: usize = 0; b < 4; b++) {
    const j = i32.load(pairs + (b << 3));
    const l = i32.load(pairs + (b << 3), 4);
    let out = R + (b << 5);
    if (j < 0) {
      for (let t = 0; t < numTiles; t++, out += 4 * QUAD) {
        v128.store(out, f64x2.splat(0));
        v128.store(out, f64x2.splat(0), 16);
      }
      continue;
    }
    let aj = A + <usize>j * row;
    let al = A + <usize>l * row;
    let bj = B + <usize>j * row;
    let bl = B + <usize>l * row;
    if (A == B) {
      for (let t = 0; t < numTiles; t++, out += 4 * QUAD) {
        v128.store(out, f64x2.mul(v128.load(aj), v128.load(al)));
        v128.store(out, f64x2.mul(v128.load(aj, 16), v128.load(al, 16)), 16);
        aj += QUAD;
        al += QUAD;
      }
      continue;
    }
    for (let t = 0; t < numTiles; t++, out += 4 * QUAD) {
      for (let o: usize = 0; o < QUAD; o += 16) {
        const first = f64x2.mul(v128.load(aj + o), v128.load(bl + o));
        const second = f64x2.mul(v128.load(bj + o), v128.load(al + o));
        v128.store(out + o, f64x2.mul(half, f64x2.add(first, second)));
      }
      aj += QUAD;
      al += QUAD;
      bj += QUAD;
      bl += QUAD;
    }
  }
}
