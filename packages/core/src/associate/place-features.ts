/**
 * A Gaussian kernel of places as a sum over few smooth functions of the place,
 *   exp(−|x − y|²/2ℓ²) ≈ Σ_k ψ_k(x) ψ_k(y):
 * Mercer's expansion under the prior N(0, I), a product over axes (Rasmussen & Williams 2006, 4.3.1). With a = ¼,
 * b = 1/2ℓ², c = √(a² + 2ab), A = a + b + c, B = b/A and normalised Hermite polynomials h̃,
 *   ψ_k(x) = (2a/A)^¼ (c/a)^¼ B^{k/2} e^{−(c−a)x²} h̃_k(√(2c) x),
 *   h̃_0 = 1,  h̃_1(z) = √2 z,  h̃_{k+1} = √(2/(k+1)) z h̃_k − √(k/(k+1)) h̃_{k−1}.
 * Terms are kept up to a total degree, which any turn of the map leaves as it is. Places are in units of the prior.
 *                                                                                  (docs/math/association.md §2)
 */

export interface PlaceKernel {
  /** ℓ, in prior standard deviations. */
  readonly width: number;
  /** Largest total degree of the features. */
  readonly degree: number;
}

/** The kernel of the test: one prior sd wide, so that no difference, be it of place or of spread, is far from its reach. */
export function testKernel(mapDimension: number): PlaceKernel {
  return { width: 1, degree: mapDimension > 2 ? 6 : 9 };
}

/** The kernel of pictures. */
export const MAP_KERNEL: PlaceKernel = { width: 0.5, degree: 14 };

/** Degrees of each feature along the axes, by total degree, first axis falling: (0,0), (1,0), (0,1), (2,0), … */
export function featureDegrees(q: number, degree: number): number[][] {
  const ofTotal = (axes: number, total: number): number[][] =>
    axes === 1
      ? [[total]]
      : Array.from({ length: total + 1 }, (_, k) => ofTotal(axes - 1, k).map((rest) => [total - k, ...rest])).flat();
  return Array.from({ length: degree + 1 }, (_, total) => ofTotal(q, total)).flat();
}

/** Ψ [n,F] at places [n,q]. */
export function placeFeatures(places: Float64Array, q: number, { width, degree }: PlaceKernel): Float64Array {
  const n = places.length / q;
  const degrees = featureDegrees(q, degree);
  const axes = Array.from({ length: q }, () => new Float64Array(degree + 1));
  const out = new Float64Array(n * degrees.length);
  for (let i = 0, at = 0; i < n; i++) {
    for (let c = 0; c < q; c++) axisFeatures(places[i * q + c], width, axes[c]);
    for (const ks of degrees) {
      let product = 1;
      for (let c = 0; c < q; c++) product *= axes[c][ks[c]];
      out[at++] = product;
    }
  }
  return out;
}

/** Kernel: ψ_0 … ψ_N at x, [N+1]. */
function axisFeatures(x: number, width: number, out: Float64Array): void {
  const a = 0.25;
  const b = 0.5 / (width * width);
  const c = Math.sqrt(a * a + 2 * a * b);
  const A = a + b + c;
  const root = Math.sqrt(b / A);
  const z = Math.sqrt(2 * c) * x;
  let [before, h] = [0, 1];
  let front = ((2 * c) / A) ** 0.25 * Math.exp(-(c - a) * x * x);
  for (let k = 0; k < out.length; k++) {
    out[k] = front * h;
    front *= root;
    [before, h] = [h, Math.sqrt(2 / (k + 1)) * z * h - Math.sqrt(k / (k + 1)) * before];
  }
}
