/**
 * The union of all fitted models and what they have in common at the doorway: each is a mixture of Gaussians over
 * coefficients (models/mixture), so that placing, predicting and scoring are written once.
 */

import { DtmError } from "../errors.ts";
import { joinFloats } from "../numeric/matrix.ts";
import { createRandom } from "../numeric/random.ts";
import type { ClassesModel } from "./classes/classes.ts";
import type { DtmModel } from "./dtm/model.ts";
import { givenNodes } from "./dtm/nodes.ts";
import { markerModel, viewMarker } from "./fit.ts";
import { gridLocations } from "./gp/inducing.ts";
import { mapMoments } from "./gp/sparse-map.ts";
import type { FpcaModel } from "./linear/fpca.ts";
import type { LmmModel } from "./linear/lmm.ts";
import { type CoefficientMixture, makeMixture, withFactors } from "./mixture/mixture.ts";
import type { DtmPaperModel } from "./paper/model.ts";

export type TrajectoryModel = LmmModel | FpcaModel | DtmModel | DtmPaperModel;

/** The models that can be scored on held-out individuals: those with places, and latent classes. */
export type ScoredModel = TrajectoryModel | ClassesModel;

/** The models that have a nonlinear map. */
export type MapModel = DtmModel | DtmPaperModel;

export type ModelKind = ScoredModel["kind"];

/** Whether a model is a map, of either kind. */
export function isMapModel(model: TrajectoryModel): model is MapModel {
  return model.kind === "dtm" || model.kind === "dtm-paper";
}

export interface MixtureOptions {
  /** Step of the lattice over places. Default: the fit's own nodes ("dtm" with residual effects), 0.1 (q = 2) or 0.02 (q = 1) otherwise. */
  readonly step?: number;
  /** Half-width of the lattice. Default 5. */
  readonly halfWidth?: number;
  /** Use this many draws from N(0, I) instead of a lattice (the paper's Monte Carlo; always so for q = 3). */
  readonly numDraws?: number;
  readonly seed?: number;
}

/** The model as a mixture over coefficients; compute it once and hand it to repeated calls. */
export function modelMixture(model: ScoredModel, options: MixtureOptions = {}): CoefficientMixture {
  switch (model.kind) {
    case "lmm":
      return singleComponent(model, model.covarianceFactor, markerModel(model).basis.numBasis);
    case "fpca":
      return singleComponent(model, model.loadings, model.mapDimension);
    case "classes":
      return classComponents(model);
    case "dtm": {
      const ownNodes = usesOwnNodes(model) && options.step === undefined && options.numDraws === undefined;
      return mapMixture(model, ownNodes ? model.nodes : placeNodes(model.mapDimension, options));
    }
    case "dtm-paper":
      return mapMixture(model, placeNodes(model.mapDimension, options));
    default:
      throw unknownModel(model);
  }
}

/** One mixture for each marker, on the same nodes: what several markers say of a place adds (mixture/joint.ts). */
export function modelMixtures(model: ScoredModel, options: MixtureOptions = {}): CoefficientMixture[] {
  if (model.kind !== "dtm") {
    if (model.markers.length > 1) {
      throw new DtmError(
        "several-markers",
        `Expected a map, or a model of one marker, received ${model.kind} of ${model.markers.length} markers, which gives places and likelihoods but no forecasts. Use a map (kind dtm).`,
      );
    }
    return [modelMixture(model, options)];
  }
  return model.markers.map((_, k) => modelMixture(viewMarker(model, k), options));
}

/**
 * Whether the nodes of the fit are fine enough for placing and scoring. Residual effects smooth the density in x; without
 * them it is too narrow for the fit's lattice, and the one of the published model is used.
 */
export function usesOwnNodes(model: DtmModel): boolean {
  return model.markers[0].residual.kind !== "none";
}

/** What a mixture takes of the model's marker. */
function ofMarker(model: ScoredModel) {
  const { basis, mean, noise } = markerModel(model);
  return { numBasis: basis.numBasis, meanCoefficients: mean.coefficients, noise };
}

/** Components that are no places. */
const NO_PLACES = { mapDimension: 0, locations: new Float64Array(0) };

/** One component N(0, F F') for a factor F [d,r]. */
function singleComponent(model: LmmModel | FpcaModel, F: Float64Array, r: number): CoefficientMixture {
  const own = ofMarker(model);
  const d = own.numBasis;
  // The factor is its own root, padded with zero columns; a rank-deficient covariance is no trouble.
  const factors = new Float64Array(d * d);
  for (let a = 0; a < d; a++) factors.set(F.subarray(a * r, (a + 1) * r), a * d);
  return withFactors({ ...own, ...NO_PLACES, logWeights: new Float64Array(1), means: new Float64Array(d) }, factors);
}

/** One component per class, all with the covariance of the individual's effect. */
function classComponents(model: ClassesModel): CoefficientMixture {
  const parts = { ...ofMarker(model), ...NO_PLACES, logWeights: model.weights.map(Math.log), means: model.curves };
  return withFactors(parts, joinFloats(Array.from(model.weights, () => model.covarianceFactor)));
}

/** One component per node: N(f̄(x), Cov f(x) + Σ_e). */
function mapMixture(model: MapModel, { locations, logWeights }: PlaceNodes): CoefficientMixture {
  const { means, covariances } = mapMoments(markerModel(model).map, locations, logWeights.length);
  const parts = { ...ofMarker(model), mapDimension: model.mapDimension, locations, logWeights, means, covariances };
  if (model.kind === "dtm-paper") return makeMixture(parts);
  const residual = markerModel(model).residual.covariance;
  for (let k = 0; k < covariances.length; k++) covariances[k] += residual[k % residual.length];
  return makeMixture({ ...parts, relativeJitter: 1e-10 });
}

interface PlaceNodes {
  readonly locations: Float64Array; // [Γ,q]
  /** Log prior mass of each node; sums to one over the nodes. */
  readonly logWeights: Float64Array;
}

/** Nodes over places with the prior's mass: a product lattice for q ≤ 2, seeded draws of N(0, I) otherwise. */
export function placeNodes(q: number, options: MixtureOptions = {}): PlaceNodes {
  const { halfWidth = 5, seed = 1 } = options;
  if (options.numDraws !== undefined || q > 2) {
    const n = options.numDraws ?? 5000;
    const random = createRandom(seed);
    const locations = Float64Array.from({ length: n * q }, () => random.normal());
    return { locations, logWeights: new Float64Array(n).fill(-Math.log(n)) };
  }
  const step = options.step ?? (q === 1 ? 0.02 : 0.1);
  return givenNodes(gridLocations(q, Math.round((2 * halfWidth) / step) + 1, halfWidth), q);
}

export function unknownModel(model: never): DtmError {
  const kind = (model as { kind?: unknown }).kind;
  return new DtmError(
    "unknown-model",
    `Expected a model of kind lmm, fpca, dtm, dtm-paper or classes, received ${String(kind)}.`,
  );
}
