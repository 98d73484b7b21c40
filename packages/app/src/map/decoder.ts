/**
 * From a place to the coefficients of its course, many times a second: what `placementAt` of the core gives, with the
 * factor of the kernel matrix made once. With a = L_K⁻¹ k(x), K = L_K L_K' (docs/math/dtm.md §6):
 *   maps          E w = β + 𝒱'a,   Cov w_kl = a'Ξ_kl a + δ_kl max(0, k(x,x) − a'a) + (Σ_e)_kl;
 *   LMM, FPCA     E w = β + w_0 + Fx,   Cov w = 0.
 * x is in the fit's frame, x = Q · shown. Cost per place: p²/2 + dp for the mean, d²p²/2 more for the covariance.
 */
import { DtmError, isMapModel, type MapModel, placementAt, type TrajectoryModel } from "@trajectory-maps/core";

/** Coefficients of the course at any place of a fitted model. */
export interface Decoder {
  readonly model: TrajectoryModel;
  readonly numBasis: number; // d
  readonly mapDimension: number; // q
  /** Writes E w [d] and, unless null, Cov w [d,d] at a shown place [q]. */
  decodeInto(shown: ArrayLike<number>, mean: Float64Array, covariance: Float64Array | null): void;
}

/** A decoder of the model. */
export function makeDecoder(model: TrajectoryModel): Decoder {
  return isMapModel(model) ? mapDecoder(model) : linearDecoder(model);
}

function mapDecoder(model: MapModel): Decoder {
  const { kernel, numInducing: p, numBasis: d, inducingLocations: Z, inducingMean: v } = model.map;
  const q = model.mapDimension;
  const Xi = model.map.inducingCovariance;
  const Q = model.orientation;
  const beta = model.mean.coefficients;
  const residual = model.kind === "dtm" ? model.residual.covariance : null;
  const x = new Float64Array(q);
  const a = new Float64Array(p);
  const K = new Float64Array(p * p);
  const kernelRow = (point: Float64Array, offset: number, out: Float64Array, at: number) => {
    for (let j = 0; j < p; j++) {
      let s = 0;
      if (kernel.kind === "rbf") {
        for (let c = 0; c < q; c++) s += ((point[offset + c] - Z[j * q + c]) / kernel.lengthscales[c]) ** 2;
        out[at + j] = kernel.signalVariance * Math.exp(-0.5 * s);
      } else {
        for (let c = 0; c < q; c++) s += point[offset + c] * Z[j * q + c];
        out[at + j] = kernel.signalVariance * s;
      }
    }
  };
  for (let j = 0; j < p; j++) {
    kernelRow(Z, j * q, K, j * p);
    K[j * p + j] += kernel.signalVariance * kernel.jitter;
  }
  const L = lowerFactor(K, p);

  const decodeInto = (shown: ArrayLike<number>, mean: Float64Array, covariance: Float64Array | null) => {
    let square = 0;
    for (let r = 0; r < q; r++) {
      let s = 0;
      for (let c = 0; c < q; c++) s += Q[r * q + c] * shown[c];
      x[r] = s;
      square += s * s;
    }
    kernelRow(x, 0, a, 0);
    let aa = 0;
    for (let i = 0; i < p; i++) {
      let s = a[i];
      for (let k = 0; k < i; k++) s -= L[i * p + k] * a[k];
      a[i] = s / L[i * p + i];
      aa += a[i] * a[i];
    }
    for (let k = 0; k < d; k++) {
      let s = 0;
      for (let j = 0; j < p; j++) s += v[k * p + j] * a[j];
      mean[k] = beta[k] + s;
    }
    if (covariance === null) return;
    const own = kernel.kind === "rbf" ? kernel.signalVariance : kernel.signalVariance * square;
    const rest = Math.max(0, own - aa);
    for (let k = 0; k < d; k++) {
      for (let l = 0; l <= k; l++) {
        let s = k === l ? rest : 0;
        for (let j = 0; j < p; j++) {
          const row = (k * p + j) * d * p + l * p;
          let t = 0;
          for (let i = 0; i < p; i++) t += Xi[row + i] * a[i];
          s += a[j] * t;
        }
        covariance[k * d + l] = s + (residual === null ? 0 : residual[k * d + l]);
        covariance[l * d + k] = s + (residual === null ? 0 : residual[l * d + k]);
      }
    }
  };
  return { model, numBasis: d, mapDimension: q, decodeInto };
}

/** The course of LMM and FPCA is linear in the place, so q + 1 places tell it everywhere. */
function linearDecoder(model: TrajectoryModel): Decoder {
  const d = model.basis.numBasis;
  const q = model.mapDimension;
  const beta = model.mean.coefficients;
  const at = (place: Float64Array) => placementAt(model, place).posterior.means;
  const origin = at(new Float64Array(q));
  const F = new Float64Array(d * q);
  for (let c = 0; c < q; c++) {
    const unit = new Float64Array(q);
    unit[c] = 1;
    at(unit).forEach((value, k) => {
      F[k * q + c] = value - origin[k];
    });
  }
  const decodeInto = (shown: ArrayLike<number>, mean: Float64Array, covariance: Float64Array | null) => {
    for (let k = 0; k < d; k++) {
      let s = beta[k] + origin[k];
      for (let c = 0; c < q; c++) s += F[k * q + c] * shown[c];
      mean[k] = s;
    }
    covariance?.fill(0);
  };
  return { model, numBasis: d, mapDimension: q, decodeInto };
}

/** L with A = L L', [n,n]. */
function lowerFactor(A: Float64Array, n: number): Float64Array {
  const L = new Float64Array(n * n);
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let s = A[i * n + j];
      for (let k = 0; k < j; k++) s -= L[i * n + k] * L[j * n + k];
      if (i > j) L[i * n + j] = s / L[j * n + j];
      else if (s > 0) L[i * n + i] = Math.sqrt(s);
      else {
        throw new DtmError(
          "not-positive-definite",
          `map: expected a positive definite kernel matrix of the ${n} inducing places, received one that is not. Fit the model again or load its file anew.`,
        );
      }
    }
  }
  return L;
}
