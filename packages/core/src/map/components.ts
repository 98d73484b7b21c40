/**
 * The components of a linear model turned by varimax, so that each speaks of few basis functions, that is of a part of
 * the time. Curves are w = μ + F x with x ~ N(0, I); for T orthogonal F x = (F T)(T'x), and T'x ~ N(0, I) again: the model
 * is the same, its components are easier to read. F [d,q] are the loadings of functional principal components, and of
 * the linear mixed model the leading q of Σ = Q diag(λ) Q', F = Q √λ.   (docs/math/groups.md §6)
 */

import { designMatrix } from "../basis/bspline.ts";
import { courseTimes } from "../models/course.ts";
import { markerModel } from "../models/fit.ts";
import type { TrajectoryModel } from "../models/model.ts";
import { multiply, transpose } from "../numeric/matrix.ts";
import { symmetricEigen } from "../numeric/symmetric-eigen.ts";
import { varimax } from "./varimax.ts";

/** One turned component: what a standard deviation of it adds to the course. */
export interface RotatedComponent {
  /** Share of the components' variance, averaged over the times. */
  readonly share: number;
  /** Time at which it adds most. */
  readonly peak: number;
  readonly times: Float64Array; // [T]
  /** b(t)'(F T)_c on the model's scale, positive at its peak, [T]. */
  readonly curve: Float64Array; // [T]
}

const NUM_TIMES = 61;

/** Components by falling share; null for maps, which have none, and for several markers, whose units differ. */
export function rotatedComponents(model: TrajectoryModel): readonly RotatedComponent[] | null {
  if (model.markers.length > 1) return null;
  const own = markerModel(model);
  const d = own.basis.numBasis;
  const q = model.mapDimension;
  const loadings = linearLoadings(model);
  if (loadings === null) return null;
  const times = courseTimes(model, NUM_TIMES);
  const turned = varimax(loadings, d, q).loadings;
  const curves = multiply(designMatrix(own.basis, times), turned, NUM_TIMES, d, q); // [T,q]
  const total = curves.reduce((s, v) => s + v * v, 0);
  const components = Array.from({ length: q }, (_, c) => {
    const curve = Float64Array.from(times, (_, t) => curves[t * q + c]);
    let top = 0;
    for (let t = 1; t < NUM_TIMES; t++) if (Math.abs(curve[t]) > Math.abs(curve[top])) top = t;
    const sign = curve[top] < 0 ? -1 : 1;
    const share = total > 0 ? curve.reduce((s, v) => s + v * v, 0) / total : 0;
    return { share, peak: times[top], times, curve: curve.map((v) => sign * v) };
  });
  return components.sort((a, b) => b.share - a.share);
}

/** F [d,q]; null for maps. */
function linearLoadings(model: TrajectoryModel): Float64Array | null {
  if (model.kind === "fpca") return model.loadings;
  if (model.kind !== "lmm") return null;
  const d = markerModel(model).basis.numBasis;
  const q = model.mapDimension;
  const L = model.covarianceFactor;
  const { values, vectors } = symmetricEigen(multiply(L, transpose(L, d, d), d, d, d), d);
  const F = new Float64Array(d * q);
  for (let r = 0; r < d; r++) {
    for (let c = 0; c < q; c++) F[r * q + c] = vectors[r * d + c] * Math.sqrt(Math.max(0, values[c]));
  }
  return F;
}
