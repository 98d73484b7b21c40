/**
 * What a model's numbers must be, beyond their types: asked when a file is loaded, and so of every model that is saved. No number is larger than can be computed
 * with, shapes agree, matrices of covariance are such, and lists rise where they must.
 */

import type { Basis } from "../../basis/bspline.ts";
import { isComputable } from "../../cohort/marker.ts";
import { columnsWith } from "../../covariates/covariates.ts";
import type { Noise } from "../../noise/noise.ts";
import { logSumExp } from "../../numeric/special.ts";
import type { ForecastCalibration } from "../conformal.ts";
import type { DtmMarkerModel, DtmModel } from "../dtm/model.ts";
import type { EffectCovariances } from "../effect-covariances.ts";
import type { MarkerModel, ModelBase } from "../fit.ts";
import type { SparseMap } from "../gp/sparse-map.ts";
import { numCoefficients } from "../linear/stack.ts";
import { effectColumns, meanForm } from "../mean.ts";
import type { TrajectoryModel } from "../model.ts";
import { checkCoding } from "./check-coding.ts";
import { expectLength, expectTrue } from "./expect-field.ts";
import { isCovariance, isCovarianceMatrix, isOrthogonal, isPositive, isSemidefinite } from "./matrix-checks.ts";

/** Throws DtmError "bad-model" naming the first field that cannot be right. */
export function checkModel(model: TrajectoryModel): void {
  const { orientation, mapDimension: q } = model;
  checkSizes(model, "");
  const d = numCoefficients(model.markers);
  expectLength(orientation, q * q, "orientation");
  for (const [k, part] of model.markers.entries()) checkMarkerModel(part, `markers.${k}`);
  const names = model.markers.map(({ marker }) => marker.name);
  expectTrue(new Set(names).size === names.length, "markers", "markers of different names");
  expectTrue(isOrthogonal(orientation, q), "orientation", "an orthogonal matrix");
  if (model.calibration !== undefined) checkCalibration(model.calibration, "calibration");
  checkEffects(model);
  checkShift(model, q);
  if (model.kind === "lmm") {
    expectTrue(q <= d, "mapDimension", "no more dimensions than coefficients");
    expectLength(model.covarianceFactor, d * d, "covarianceFactor");
    expectLength(model.scoreCenter, d, "scoreCenter");
    expectLength(model.scoreLoadings, d * q, "scoreLoadings");
  } else if (model.kind === "fpca") {
    expectTrue(q <= d, "mapDimension", "no more dimensions than coefficients");
    expectLength(model.loadings, d * q, "loadings");
  } else {
    for (const [k, { map, basis }] of model.markers.entries()) checkMap(map, basis.numBasis, q, `markers.${k}.map`);
    if (model.kind !== "dtm") expectTrue(names.length === 1, "markers", "one marker for this map");
    else checkLattice(model, q);
  }
}

/** No number, however deep, is larger than can be computed with. */
function checkSizes(value: unknown, field: string): void {
  if (typeof value === "number") {
    expectTrue(Math.abs(value) <= 1e100, field, "a number that can be computed with");
  } else if (ArrayBuffer.isView(value)) {
    const fits = (value as Float64Array).every((v) => Math.abs(v) <= 1e100);
    expectTrue(fits, field, "numbers that can be computed with");
  } else if (typeof value === "object" && value !== null) {
    for (const [name, own] of Object.entries(value)) checkSizes(own, field === "" ? name : `${field}.${name}`);
  }
}

function checkMarkerModel({ basis, marker, mean, calibration, noise, center }: MarkerModel, field: string): void {
  if (calibration !== undefined) checkCalibration(calibration, `${field}.calibration`);
  checkBasis(basis, `${field}.basis`);
  const d = basis.numBasis;
  const beta = mean.coefficients;
  expectLength(beta, d, `${field}.mean.coefficients`);
  const isMean = mean.kind !== "scalar" || beta.every((v) => v === beta[0]);
  expectTrue(isMean, `${field}.mean.coefficients`, "the same number for a constant mean");
  checkNoise(noise, d, `${field}.noise`);
  const isNear = beta.every((v) => Math.abs(center - v) <= FURTHEST_CENTER * Math.sqrt(noise.variance));
  expectTrue(isComputable(center) && isNear, `${field}.center`, "a number near the mean, as digits go");
  const [low, high] = marker.limits ?? [];
  const isOpen = low == null || high == null || low < high;
  expectTrue(isOpen, `${field}.marker.limits`, "a lower limit below the upper");
}

function checkBasis({ knots, degree, numBasis: d }: Basis, field: string): void {
  expectLength(knots, d + degree + 1, `${field}.knots`);
  expectTrue(knots.every(isComputable), `${field}.knots`, "times that can be computed with");
  const isClamped = knots.every((t, k) => (k > degree && k < d) || t === knots[k < d ? 0 : d]);
  expectTrue(isClamped, `${field}.knots`, "the first and the last knot as often as the degree and once more");
  expectTrue(rising(knots.subarray(degree, d + 1)), `${field}.knots`, "a first time, knots and a last time that rise");
}

/** Values are counted from the centre: as many noise sds away from the mean, digits of sixteen are lost. */
const FURTHEST_CENTER = 1e9;
/** Levels of noise are spread by factors e^(±4 spread). */
const MOST_SPREAD = 50;

function checkNoise({ limits, spread = 0, variance, correlation }: Noise, d: number, field: string): void {
  const computable = (v: number) => v >= 1e-200 && v <= 1e200;
  expectTrue(computable(variance), `${field}.variance`, "a variance that can be computed with");
  expectTrue(spread <= MOST_SPREAD, `${field}.spread`, `a spread of at most ${MOST_SPREAD}`);
  const isRange = correlation === undefined || isComputable(correlation.range);
  expectTrue(isRange, `${field}.correlation.range`, "a range of times");
  if (limits === undefined) return;
  expectLength(limits.mean, d, `${field}.limits.mean`);
  expectLength(limits.factor, d * d, `${field}.limits.factor`);
  expectTrue(computable(limits.variance), `${field}.limits.variance`, "a variance that can be computed with");
  expectTrue(limits.spread <= MOST_SPREAD, `${field}.limits.spread`, `a spread of at most ${MOST_SPREAD}`);
}

function checkCalibration(calibration: ForecastCalibration, field: string): void {
  const { levels, knownFrom, horizonFrom, classes, numIndividuals } = calibration;
  const whole = knownFrom.length > 0 && horizonFrom.length > 0 && levels.length > 0;
  expectTrue(whole, field, "a class and a level or more");
  const areLevels = rising(levels) && levels[0] > 0 && levels[levels.length - 1] < 1;
  expectTrue(areLevels, `${field}.levels`, "probabilities between 0 and 1 that rise");
  const areKnown = rising(knownFrom) && knownFrom.every((n) => Number.isInteger(n) && n >= 1);
  expectTrue(areKnown, `${field}.knownFrom`, "numbers of visits that rise");
  const areTimes = horizonFrom.every((t, h) => t >= (h === 0 ? 0 : horizonFrom[h - 1]));
  expectTrue(areTimes, `${field}.horizonFrom`, "times since the last visit that do not decrease");
  expectTrue(classes.length === knownFrom.length * horizonFrom.length, `${field}.classes`, "one for each class");
  const sized = classes.every(({ lower, upper }) => lower.length === levels.length && upper.length === levels.length);
  expectTrue(sized, `${field}.classes`, "a factor for each level");
  const widening = classes.every(({ lower, upper }) => widens(lower) && widens(upper));
  expectTrue(widening, `${field}.classes`, "factors that do not decrease with the level");
  const counted = classes.every((own) => own.numIndividuals <= numIndividuals);
  expectTrue(counted, `${field}.classes`, "no more individuals than in all");
}

const widens = (factors: readonly (number | null)[]) => {
  const told = factors.filter((c) => c !== null);
  return told.every((c, k) => k === 0 || c >= told[k - 1]);
};

function checkMap(map: SparseMap, d: number, q: number, field: string): void {
  const { kernel, inducingCovariance: Xi, numInducing: p } = map;
  expectTrue(map.numBasis === d && map.mapDimension === q, field, `${d} coefficients and ${q} dimensions`);
  expectLength(map.inducingLocations, p * q, `${field}.inducingLocations`);
  const isNear = map.inducingLocations.every((x) => Math.abs(x) <= FURTHEST);
  expectTrue(isNear, `${field}.inducingLocations`, `places within ${FURTHEST} of the middle`);
  expectLength(map.inducingMean, d * p, `${field}.inducingMean`);
  expectLength(Xi, (d * p) ** 2, `${field}.inducingCovariance`);
  const definite = isCovariance(Xi, d * p) && isPositive(Xi, d * p);
  expectTrue(definite, `${field}.inducingCovariance`, "a symmetric, positive definite matrix");
  if (kernel.kind === "linear") return;
  expectLength(kernel.lengthscales, q, `${field}.kernel.lengthscales`);
  const positive = kernel.lengthscales.every((l) => l > 0);
  expectTrue(positive, `${field}.kernel.lengthscales`, "length-scales above 0");
}

/** Places are standard normal before any value. */
const FURTHEST = 1000;

function checkLattice({ nodes, markers }: DtmModel, q: number): void {
  expectLength(nodes.locations, nodes.logWeights.length * q, "nodes.locations");
  expectTrue(nodes.logWeights.length > 0, "nodes.logWeights", "one node or more");
  expectTrue(Math.abs(logSumExp(nodes.logWeights)) < 1e-6, "nodes.logWeights", "weights that sum to one");
  expectTrue(new Set(nodes.locations).size > 1, "nodes.locations", "places that differ");
  expectTrue(nodes.step <= 2 * nodes.radius, "nodes.step", "a step within the lattice");
  expectTrue(nodes.radius <= FURTHEST, "nodes.radius", `a lattice within ${FURTHEST} of the middle`);
  const isInside = nodes.locations.every((x) => Math.abs(x) <= nodes.radius * (1 + 1e-9));
  expectTrue(isInside, "nodes.locations", "places within the lattice");
  for (const [k, part] of markers.entries()) checkResidual(part, `markers.${k}`);
}

function checkResidual({ residual, averageGram, basis: { numBasis: d } }: DtmMarkerModel, field: string): void {
  expectLength(residual.covariance, d * d, `${field}.residual.covariance`);
  expectTrue(isCovarianceMatrix(residual.covariance, d), `${field}.residual.covariance`, "a covariance matrix");
  expectLength(averageGram, d * d, `${field}.averageGram`);
  const isGram = isSemidefinite(averageGram, d);
  expectTrue(isGram, `${field}.averageGram`, "a symmetric matrix with a diagonal of 0 or more");
}

function checkShift({ covariates, shift }: ModelBase & Pick<DtmModel, "shift">, q: number): void {
  if (covariates !== undefined) {
    checkCoding(covariates);
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
    expectTrue(isCovarianceMatrix(shift.covariance, q * shifting), "shift.covariance", "a covariance matrix");
  }
}

function checkEffects({ covariates, effects, markers }: ModelBase): void {
  const form = covariates === undefined ? null : meanForm(covariates);
  const expected = "effects for covariates with effects in the mean, and for no others";
  expectTrue((effects?.form ?? null) === form, "effects", expected);
  const P = covariates === undefined || form === null ? 0 : columnsWith(covariates, [form]).length;
  let total = 0;
  for (const [k, { basis, effects: own }] of markers.entries()) {
    const length = form === null ? 0 : P * effectColumns(form, basis).h;
    expectTrue((own === undefined) === (form === null), `markers.${k}.effects`, expected);
    if (own !== undefined) expectLength(own, length, `markers.${k}.effects`);
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
  expectTrue(isCovarianceMatrix(covariance, total), `${field}.covariance`, "a covariance matrix");
  if (robustCovariance === undefined) return;
  expectLength(robustCovariance, total ** 2, `${field}.robustCovariance`);
  expectTrue(isCovarianceMatrix(robustCovariance, total), `${field}.robustCovariance`, "a covariance matrix");
}

function rising(x: ArrayLike<number>): boolean {
  return Array.from(x).every((v, k) => k === 0 || v > x[k - 1]);
}
