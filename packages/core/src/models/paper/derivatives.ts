/**
 * F(m) = norm · Σ_n w_n exp(−½ u'Ru), u = m − z_n, and its derivatives in m up to order 4. With y = Ru and
 * ⟨·⟩ = norm · Σ w e (·), differentiating the bump gives Hermite polynomials (docs/math/local-step.md §3):
 *   F_a    = −⟨y_a⟩
 *   F_ab   =  ⟨y_a y_b⟩ − R_ab ⟨1⟩
 *   F_abc  = −⟨y_a y_b y_c⟩ + R_ab ⟨y_c⟩ + R_ac ⟨y_b⟩ + R_bc ⟨y_a⟩
 *   F_abcd =  ⟨y_a y_b y_c y_d⟩ − (R_ab ⟨y_c y_d⟩ + 5 more) + (R_ab R_cd + R_ac R_bd + R_ad R_bc) ⟨1⟩
 * Because F is the expectation of a function under N(m,S), the same tensors give every derivative in S:
 *   ∂F/∂S_ab = ½ F_ab,  ∂²F/∂m_a∂S_bc = ½ F_abc,  ∂²F/∂S_ab∂S_cd = ¼ F_abcd   (heat equation).
 */

/** 2: enough for the gradient; 4: enough for the Hessian. */
export type DerivativeOrder = 2 | 4;

/** F and its derivative tensors in m, all entries stored. */
export interface Derivatives {
  readonly q: number;
  value: number;
  readonly first: Float64Array; // [q]
  readonly second: Float64Array; // [q,q]
  readonly third: Float64Array; // [q,q,q]
  readonly fourth: Float64Array; // [q,q,q,q]
}

export function createDerivatives(q: number): Derivatives {
  const tensor = (order: number) => new Float64Array(q ** order);
  return { q, value: 0, first: tensor(1), second: tensor(2), third: tensor(3), fourth: tensor(4) };
}

/** norm · exp(−½ (m−z_n)'R(m−z_n)) at nodes z_n [n,q]. */
export interface Bumps {
  readonly nodes: Float64Array; // [n,q]
  readonly m: Float64Array; // [q]
  readonly R: Float64Array; // [q,q]
  readonly norm: number;
}

/** Adds F of bumps with weights [n] to D, derivatives up to `order`. */
export function addBumps(bumps: Bumps, weights: Float64Array, order: DerivativeOrder, D: Derivatives): void {
  const moments = sumMoments(bumps, weights, order);
  const { R } = bumps;
  const { q } = D;
  const { value: y0, first: y1, second: y2, third: y3, fourth: y4 } = moments;
  D.value += y0;
  for (let a = 0; a < q; a++) {
    D.first[a] -= y1[a];
    for (let b = 0; b < q; b++) {
      const ab = a * q + b;
      D.second[ab] += y2[ab] - R[ab] * y0;
      if (order === 2) continue;
      for (let c = 0; c < q; c++) {
        const [ac, bc, abc] = [a * q + c, b * q + c, ab * q + c];
        D.third[abc] += R[ab] * y1[c] + R[ac] * y1[b] + R[bc] * y1[a] - y3[abc];
        for (let d = 0; d < q; d++) {
          const [ad, bd, cd] = [a * q + d, b * q + d, c * q + d];
          const two =
            R[ab] * y2[cd] + R[ac] * y2[bd] + R[ad] * y2[bc] + R[bc] * y2[ad] + R[bd] * y2[ac] + R[cd] * y2[ab];
          const none = R[ab] * R[cd] + R[ac] * R[bd] + R[ad] * R[bc];
          D.fourth[abc * q + d] += y4[abc * q + d] - two + none * y0;
        }
      }
    }
  }
}

/** ⟨1⟩, ⟨y⟩, ⟨yy'⟩, ... up to `order`. */
function sumMoments(bumps: Bumps, weights: Float64Array, order: DerivativeOrder): Derivatives {
  const out = createDerivatives(bumps.m.length);
  const { q, first, second, third, fourth } = out;
  const y = new Float64Array(q);
  for (let n = 0; n < weights.length; n++) {
    if (weights[n] === 0) continue;
    const e = weights[n] * bump(bumps, n, y);
    out.value += e;
    for (let a = 0; a < q; a++) {
      const ea = e * y[a];
      first[a] += ea;
      for (let b = 0; b < q; b++) {
        const eab = ea * y[b];
        const ab = a * q + b;
        second[ab] += eab;
        if (order === 2) continue;
        for (let c = 0; c < q; c++) {
          const eabc = eab * y[c];
          const abc = ab * q + c;
          third[abc] += eabc;
          for (let d = 0; d < q; d++) fourth[abc * q + d] += eabc * y[d];
        }
      }
    }
  }
  return out;
}

/** The bump at node n; leaves y = Ru. */
export function bump({ nodes, m, R, norm }: Bumps, n: number, y: Float64Array): number {
  const q = m.length;
  let square = 0;
  for (let a = 0; a < q; a++) {
    y[a] = 0;
    for (let b = 0; b < q; b++) y[a] += R[a * q + b] * (m[b] - nodes[n * q + b]);
    square += (m[a] - nodes[n * q + a]) * y[a];
  }
  return norm * Math.exp(-0.5 * square);
}
