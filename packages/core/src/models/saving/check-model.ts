/** What a model's numbers must be, beyond their shapes: asked when a file is loaded. */

import { DtmError } from "../../errors.ts";
import { logSumExp } from "../../numeric/special.ts";
import { markerModel } from "../fit.ts";
import { isMapModel, type TrajectoryModel } from "../model.ts";

/** Throws DtmError "bad-model" naming the first field that cannot be right. */
export function checkModel(model: TrajectoryModel): void {
  const own = markerModel(model);
  const { orientation, mapDimension: q } = model;
  const { basis } = own;
  const d = basis.numBasis;
  expectTrue(ascending(basis.knots), "basis.knots", "knots that do not decrease");
  expectTrue(basis.knots[basis.degree] < basis.knots[d], "basis.knots", "a first time before the last");
  expectTrue(isOrthogonal(orientation, q), "orientation", "an orthogonal matrix");
  if (!isMapModel(model)) return;
  const { kernel, inducingCovariance: Xi, numInducing: p } = markerModel(model).map;
  if (kernel.kind === "rbf") {
    expectTrue(
      kernel.lengthscales.every((l) => l > 0),
      "map.kernel.lengthscales",
      "length-scales above 0",
    );
  }
  expectTrue(isCovariance(Xi, d * p), "map.inducingCovariance", "a symmetric matrix with a diagonal above 0");
  if (model.kind !== "dtm") return;
  const { nodes } = model;
  const { residual, averageGram } = markerModel(model);
  expectTrue(nodes.logWeights.length > 0, "nodes.logWeights", "one node or more");
  expectTrue(Math.abs(logSumExp(nodes.logWeights)) < 1e-6, "nodes.logWeights", "weights that sum to one");
  expectTrue(new Set(nodes.locations).size > 1, "nodes.locations", "places that differ");
  expectTrue(nodes.step <= 2 * nodes.radius, "nodes.step", "a step within the lattice");
  expectTrue(isSemidefinite(residual.covariance, d), "residual.covariance", "a covariance matrix");
  expectTrue(isSemidefinite(averageGram, d), "averageGram", "a symmetric matrix with a diagonal of 0 or more");
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
