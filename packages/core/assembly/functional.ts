/**
 * One linear functional of the curve at the nodes of some tiles without moments of all coefficients (models/mixture/wasm-posterior.ts),
 * four nodes at a time. With V = FΣF' + N = LDL' and e = h − Fm of placing.ts, and u = FΣb,
 *   b'w | y ~ N(b'm + u'V⁻¹e, b'Σb − u'V⁻¹u),   u'V⁻¹e = Σ_a (L⁻¹u)_a (L⁻¹e)_a / D_a.
 * The difference loses digits where observations say nearly everything about b'w: the smallest share of b'Σb that is left is
 * returned, and the host takes conditioning.ts where it is too small.
 */
import { Course, finishSpread } from "./course";
import { both } from "./exp";
import { factorTile, Placing } from "./placing";
import { QUAD } from "./tiles";

/** Addresses, as the host writes them: i32 each. */
@unmanaged
class Functional {
  placing: usize; // the individual and the mixture
  course: usize; // b and the noise; receives means, deviations and what follows from them
  tiles: usize; // i32: which tiles
  ends: usize; // i32, bytes: where the terms of each entry of u end [r]
  offsets: usize; // i32: address of each term of u within a tile of covariances
  terms: usize; // coefficient of each term of u
  solved: usize; // scratch: L⁻¹u [r][4]
}

/** Spreads b'(β + w) + noise over the tiles listed, as many as the course holds; returns the smallest share of variance left. */
export function spreadFunctional(context: usize): f64 {
  const functional = changetype<Functional>(context);
  const p = changetype<Placing>(functional.placing);
  const course = changetype<Course>(functional.course);
  const level = both(course.numbers);
  const noise = both(course.numbers + 8);
  const middle = course.offsets + (<usize>course.numMeanTerms << 2);
  const end = course.offsets + (<usize>course.numTerms << 2);
  const start = <usize>p.numBasis * QUAD;
  let least = f64x2.splat(1);
  for (let at = 0; at < course.numTiles; at++) {
    const t = i32.load(functional.tiles + (<usize>at << 2));
    const S = p.covariances + <usize>(t * p.numPacked) * QUAD;
    const m = p.means + <usize>(t * p.numBasis) * QUAD;
    let mean0 = level;
    let mean1 = level;
    let prior0 = f64x2.splat(0);
    let prior1 = prior0;
    let term = course.terms;
    let offset = course.offsets;
    for (; offset < middle; offset += 4, term += 8) {
      const b = both(term);
      const x = m + <usize>i32.load(offset);
      mean0 = f64x2.add(mean0, f64x2.mul(b, v128.load(x)));
      mean1 = f64x2.add(mean1, f64x2.mul(b, v128.load(x, 16)));
    }
    for (; offset < end; offset += 4, term += 8) {
      const b = both(term);
      const x = S - start + <usize>i32.load(offset);
      prior0 = f64x2.add(prior0, f64x2.mul(b, v128.load(x)));
      prior1 = f64x2.add(prior1, f64x2.mul(b, v128.load(x, 16)));
    }
    factorTile(p, t);
    let known0 = f64x2.splat(0);
    let known1 = known0;
    let row = p.factor;
    let ends = functional.ends;
    offset = functional.offsets;
    term = functional.terms;
    for (let a = 0; a < p.rank; a++) {
      // u_a, then (L⁻¹u)_a.
      let u0 = f64x2.splat(0);
      let u1 = u0;
      for (const stop = functional.offsets + <usize>i32.load(ends); offset < stop; offset += 4, term += 8) {
        const c = both(term);
        const x = S + <usize>i32.load(offset);
        u0 = f64x2.add(u0, f64x2.mul(c, v128.load(x)));
        u1 = f64x2.add(u1, f64x2.mul(c, v128.load(x, 16)));
      }
      ends += 4;
      const here = <usize>a << 5;
      for (let c: usize = 0; c < here; c += QUAD) {
        u0 = f64x2.sub(u0, f64x2.mul(v128.load(row + c), v128.load(functional.solved + c)));
        u1 = f64x2.sub(u1, f64x2.mul(v128.load(row + c, 16), v128.load(functional.solved + c, 16)));
      }
      v128.store(functional.solved + here, u0);
      v128.store(functional.solved + here, u1, 16);
      const x0 = f64x2.mul(u0, v128.load(row + here));
      const x1 = f64x2.mul(u1, v128.load(row + here, 16));
      mean0 = f64x2.add(mean0, f64x2.mul(x0, v128.load(p.residuals + here)));
      mean1 = f64x2.add(mean1, f64x2.mul(x1, v128.load(p.residuals + here, 16)));
      known0 = f64x2.add(known0, f64x2.mul(x0, u0));
      known1 = f64x2.add(known1, f64x2.mul(x1, u1));
      row += here + QUAD;
    }
    const left0 = f64x2.sub(prior0, known0);
    const left1 = f64x2.sub(prior1, known1);
    // Lanes beyond the last node have no variance: 0/0 is not less than anything.
    least = f64x2.pmin(least, f64x2.div(left0, prior0));
    least = f64x2.pmin(least, f64x2.div(left1, prior1));
    const o = <usize>at * QUAD;
    v128.store(course.means + o, mean0);
    v128.store(course.means + o, mean1, 16);
    v128.store(course.deviations + o, f64x2.add(noise, left0));
    v128.store(course.deviations + o, f64x2.add(noise, left1), 16);
  }
  finishSpread(course);
  const a = f64x2.extract_lane(least, 0);
  const b = f64x2.extract_lane(least, 1);
  return a < b ? a : b;
}
