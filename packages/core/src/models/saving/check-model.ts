/** What a model's numbers must be, beyond their shapes: asked when a file is loaded. */

import { columnsWith } from "../../covariates/covariates.ts";
import { DtmError } from "../../errors.ts";
import { logSumExp } from "../../numeric/special.ts";
import type { ForecastCalibration } from "../conformal.ts";
import type { DtmMarkerModel, DtmModel } from "../dtm/model.ts";
import type { EffectCovariances } from "../effect-covariances.ts";
import type { MarkerModel, ModelBase } from "../fit.ts";
import type { SparseMap } from "../gp/sparse-map.ts";
import { numCoefficients } from "../linear/stack.ts";
import { effectColumns, meanForm } from "../mean.ts";
import type { TrajectoryModel } from "../model.ts";

/** Throws DtmError "bad-model" naming the first field that cannot be right. */
export function checkModel(model: TrajectoryModel): void {
  const { orientation, mapDimension: q } = model;
  const d = numCoefficients(model.markers);
  expectLength(orientation, q * q, "orientation");
  for (const part of model.markers) checkMarkerModel(part);
  const names = model.markers.map(({ marker }) => marker.name);
  expectTrue(new Set(names).size === names.length, "markers", "markers of different names");
  expectTrue(isOrthogonal(orientation, q), "orientation", "an orthogonal matrix");
  if (model.calibration !== undefined) checkCalibration(model.calibration);
  checkEffects(model);
  checkShift(model, q);
  if (model.kind === "lmm") {
    expectLength(model.covarianceFactor, d * d, "covarianceFactor");
    expectLength(model.scoreCenter, d, "scoreCenter");
    expectLength(model.scoreLoadings, d * q, "scoreLoadings");
  } else if (model.kind === "fpca") {
    expectLength(model.loadings, d * q, "loadings");
  } else {
    for (const { map, basis } of model.markers) checkMap(map, basis.numBasis, q);
    if (model.kind !== "dtm") expectTrue(names.length === 1, "markers", "one marker for this map");
    else checkLattice(model, q);
  }
}

function checkMarkerModel({ basis, mean, calibration, noise: { limits } }: MarkerModel): void {
  if (calibration !== undefined) checkCalibration(calibration);
  const d = basis.numBasis;
  expectLength(basis.knots, d + basis.degree + 1, "basis.knots");
  expectLength(mean.coefficients, d, "mean.coefficients");
  if (limits !== undefined) {
    expectLength(limits.mean, d, "noise.limits.mean");
    expectLength(limits.factor, d * d, "noise.limits.factor");
  }
  expectTrue(ascending(basis.knots), "basis.knots", "knots that do not decrease");
  expectTrue(basis.knots[basis.degree] < basis.knots[d], "basis.knots", "a first time before the last");
}

function checkCalibration({ levels, knownFrom, horizonFrom, classes }: ForecastCalibration): void {
  const whole = knownFrom.length > 0 && horizonFrom.length > 0 && levels.length > 0;
  expectTrue(whole, "calibration", "a class and a level or more");
  expectTrue(classes.length === knownFrom.length * horizonFrom.length, "calibration.classes", "one for each class");
  const sized = classes.every(({ lower, upper }) => lower.length === levels.length && upper.length === levels.length);
  expectTrue(sized, "calibration.classes", "a factor for each level");
}

function checkMap(map: SparseMap, d: number, q: number): void {
  const { kernel, inducingCovariance: Xi, numInducing: p } = map;
  expectTrue(map.numBasis === d && map.mapDimension === q, "map", `${d} coefficients and ${q} dimensions`);
  expectLength(map.inducingLocations, p * q, "map.inducingLocations");
  expectLength(map.inducingMean, d * p, "map.inducingMean");
  expectLength(Xi, (d * p) ** 2, "map.inducingCovariance");
  expectTrue(isCovariance(Xi, d * p), "map.inducingCovariance", "a symmetric matrix with a diagonal above 0");
  if (kernel.kind === "linear") return;
  expectLength(kernel.lengthscales, q, "map.kernel.lengthscales");
  const positive = kernel.lengthscales.every((l) => l > 0);
  expectTrue(positive, "map.kernel.lengthscales", "length-scales above 0");
}

function checkLattice({ nodes, markers }: DtmModel, q: number): void {
  expectLength(nodes.locations, nodes.logWeights.length * q, "nodes.locations");
  expectTrue(nodes.logWeights.length > 0, "nodes.logWeights", "one node or more");
  expectTrue(Math.abs(logSumExp(nodes.logWeights)) < 1e-6, "nodes.logWeights", "weights that sum to one");
  expectTrue(new Set(nodes.locations).size > 1, "nodes.locations", "places that differ");
  expectTrue(nodes.step <= 2 * nodes.radius, "nodes.step", "a step within the lattice");
  for (const part of markers) checkResidual(part);
}

function checkResidual({ residual, averageGram, basis: { numBasis: d } }: DtmMarkerModel): void {
  expectLength(residual.covariance, d * d, "residual.covariance");
  expectTrue(isSemidefinite(residual.covariance, d), "residual.covariance", "a covariance matrix");
  expectLength(averageGram, d * d, "averageGram");
  expectTrue(isSemidefinite(averageGram, d), "averageGram", "a symmetric matrix with a diagonal of 0 or more");
}

function checkShift({ covariates, shift }: ModelBase & Pick<DtmModel, "shift">, q: number): void {
  if (covariates !== undefined) {
    const known = covariates.columns.every(({ covariate }) => covariate < covariates.covariates.length);
    expectTrue(known, "covariates.columns", "columns of the covariates listed");
  }
  const shifting = covariates === undefined ? 0 : columnsWith(covariates, ["places"]).length;
  expectTrue(
    (shift === undefined) === (shifting === 0),
    "shift",
    "a shift for covariates of places, and for no others",
  );
  if (shift !== undefined) {
    expectLength(shift.loadings, q * shifting, "shift.loadings");
    expectLength(shift.covariance, (q * shifting) ** 2, "shift.covariance");
  }
}

function checkEffects({ covariates, effects, markers }: ModelBase): void {
  const form = covariates === undefined ? null : meanForm(covariates);
  const expected = "effects for covariates with effects in the mean, and for no others";
  expectTrue((effects?.form ?? null) === form, "effects", expected);
  const P = covariates === undefined || form === null ? 0 : columnsWith(covariates, [form]).length;
  let total = 0;
  for (const { basis, effects: own } of markers) {
    const length = form === null ? 0 : P * effectColumns(form, basis).h;
    expectTrue((own === undefined) === (form === null), "markers.effects", expected);
    if (own !== undefined) expectLength(own, length, "markers.effects");
    total += length;
  }
  if (effects === undefined) return;
  const { mixedModel } = effects;
  checkCovariances(effects, total, "effects");
  if (mixedModel === undefined) return;
  expectLength(mixedModel.coefficients, total, "effects.mixedModel.coefficients");
  checkCovariances(mixedModel, total, "effects.mixedModel");
}

function checkCovariances({ covariance, robustCovariance }: EffectCovariances, total: number, field: string): void {
  expectLength(covariance, total ** 2, `${field}.covariance`);
  if (robustCovariance !== undefined) expectLength(robustCovariance, total ** 2, `${field}.robustCovariance`);
}

function expectLength({ length }: Float64Array, expected: number, field: string): void {
  if (length === expected) return;
  throw new DtmError("bad-model", `loadModel: expected ${expected} numbers in ${field}, received ${length}.`);
}

function expectTrue(ok: boolean, field: string, expected: string): void {
  if (!ok) throw new DtmError("bad-model", `loadModel: expected ${expected} in ${field}, received something else.`);
}

function ascending(x: Float64Array): boolean {
  return x.every((v, k) => k === 0 || v >= x[k - 1]);
}

function isOrthogonal(Q: Float64Array, q: number): boolean {
  for (let a = 0; a < q; a++) {
    for (let b = 0; b < q; b++) {
      let s = a === b ? -1 : 0;
      for (let c = 0; c < q; c++) s += Q[c * q + a] * Q[c * q + b];
      if (!(Math.abs(s) < 1e-8)) return false;
    }
  }
  return true;
}

function isCovariance(S: Float64Array, n: number): boolean {
  for (let a = 0; a < n; a++) {
    if (!(S[a * n + a] > 0)) return false;
    for (let b = 0; b < a; b++) if (S[a * n + b] !== S[b * n + a]) return false;
  }
  return true;
}

/** Symmetric, with no entry larger than its diagonal allows. */
function isSemidefinite(S: Float64Array, n: number): boolean {
  for (let a = 0; a < n; a++) {
    if (!(S[a * n + a] >= 0)) return false;
    for (let b = 0; b < a; b++) {
      const bound = Math.sqrt(S[a * n + a] * S[b * n + b]) * (1 + 1e-9);
      if (Math.abs(S[a * n + b] - S[b * n + a]) > 1e-9 * bound || Math.abs(S[a * n + b]) > bound) return false;
    }
  }
  return true;
}
