/**
 * Features of places averaged over each individual's whole posterior, φ_i = Σ_g r_ig ψ(x_g). Whatever the visits, the
 * average posterior of a group of individuals like all others is the prior: that is why two groups can be compared by
 * these and not by posterior means, which crowd in the middle where visits are few. Maps have weights on nodes; the
 * Gaussian posteriors of linear models are averaged by quadrature, in units of their prior.
 *                                                                                  (docs/math/association.md §1, §2)
 */
import { type Cohort, numIndividuals, selectVisits } from "../cohort/cohort.ts";
import { visitTimes } from "../cohort/several-markers.ts";
import { priorsOf, statisticsFor } from "../models/covariate-model.ts";
import { isMapModel, type MapModel, type TrajectoryModel } from "../models/model.ts";
import { embed, keptFor, placeIndividual } from "../models/place.ts";
import { cholesky, choleskyInPlace, solveLowerInPlace } from "../numeric/cholesky.ts";
import { multiply, transpose } from "../numeric/matrix.ts";
import { productRule } from "../numeric/quadrature.ts";
import { type PlaceKernel, placeFeatures } from "./place-features.ts";
import { weightedSum } from "./score-test.ts";

export interface PosteriorFeatures {
  readonly kernel: PlaceKernel;
  readonly numFeatures: number;
  /** φ [m,F]. */
  readonly rows: Float64Array;
  /** Σ_g π_g ψ(x_g), [F]: what an individual without values has. */
  readonly prior: Float64Array;
}

/** Features of everyone of a cohort under a model, for each of the kernels. */
export function posteriorFeatures(
  model: TrajectoryModel,
  cohort: Cohort,
  kernels: readonly PlaceKernel[],
): PosteriorFeatures[] {
  return isMapModel(model) ? mapFeatures(model, cohort, kernels) : linearFeatures(model, cohort, kernels);
}

/** The same from each individual's values up to a time of its own, or one for all; without any its posterior is the prior. */
export function featuresUntil(
  model: TrajectoryModel,
  cohort: Cohort,
  until: number | ArrayLike<number>,
  kernel: PlaceKernel,
): PosteriorFeatures {
  const limit = (i: number) => (typeof until === "number" ? until : until[i]);
  const early = selectVisits(cohort, (_, times, i) => times.filter((t) => t <= limit(i)).length);
  const [seen] = posteriorFeatures(model, early, [kernel]);
  const F = seen.numFeatures;
  const { offsets, times } = visitTimes(cohort);
  const rows = new Float64Array(numIndividuals(cohort) * F);
  for (let i = 0, row = 0; i * F < rows.length; i++) {
    const isSeen = times[offsets[i]] <= limit(i);
    rows.set(isSeen ? seen.rows.subarray(row * F, (row + 1) * F) : seen.prior, i * F);
    if (isSeen) row++;
  }
  return { ...seen, rows };
}

/** Everyone's weights on nodes in turn, and the prior π [Γ] of the nodes. */
export interface NodePosteriors {
  readonly numIndividuals: number;
  readonly prior: Float64Array;
  readonly each: (visit: (i: number, nodes: ArrayLike<number>, weights: ArrayLike<number>) => void) => void;
}

/** Features for the check of the prior; null for linear models, which have no nodes. */
export function priorCheckFeatures(model: TrajectoryModel, cohort: Cohort, kernel: PlaceKernel): Float64Array | null {
  if (!isMapModel(model)) return null;
  const { featuresAt, ...posteriors } = mapNodes(model, cohort);
  return reweightedFeatures(posteriors, featuresAt(kernel));
}

/** EM steps of the prior in the check of it. */
const PRIOR_STEPS = 3;

/**
 * Features [m,F] under a prior estimated from all individuals without their labels, by EM steps r_ig ∝ r_ig r̄_g/π_g, for ψ
 * [Γ,F]: a p-value that changes with it depends on the assumed spread of places.
 */
export function reweightedFeatures(
  { each, prior, numIndividuals: m }: NodePosteriors,
  psi: Float64Array,
): Float64Array {
  const F = psi.length / prior.length;
  const rows = new Float64Array(m * F);
  let ratio = new Float64Array(prior.length).fill(1);
  for (let step = 0; step <= PRIOR_STEPS; step++) {
    const mean = new Float64Array(prior.length);
    each((i, nodes, weights) => {
      const r = Float64Array.from(weights, (w, k) => w * ratio[nodes[k]]);
      const total = r.reduce((s, v) => s + v, 0);
      for (let k = 0; k < r.length; k++) {
        r[k] /= total;
        mean[nodes[k]] += r[k] / m;
      }
      if (step === PRIOR_STEPS) averageInto(nodes, r, psi, rows.subarray(i * F, (i + 1) * F));
    });
    ratio = mean.map((v, g) => v / prior[g]);
  }
  return rows;
}

/** Nodes of a map: their prior π [Γ], ψ at their shown places, and everyone's weights in turn. */
function mapNodes(
  model: MapModel,
  cohort: Cohort,
): NodePosteriors & { readonly featuresAt: (kernel: PlaceKernel) => Float64Array } {
  const { mixtures, condition } = keptFor(model);
  const [{ locations, mapDimension: q, logWeights }] = mixtures;
  const shown = multiply(locations, model.orientation, logWeights.length, q, q);
  const priors = priorsOf(model, cohort);
  const statistics = statisticsFor(model, cohort);
  return {
    numIndividuals: numIndividuals(cohort),
    prior: averagePrior(logWeights, priors, numIndividuals(cohort)),
    featuresAt: (kernel) => placeFeatures(shown, q, kernel),
    each: (visit) => {
      for (let i = 0; i < numIndividuals(cohort); i++) {
        const [{ nodes, weights }] = condition(statistics, i, priors(i));
        visit(i, nodes, weights);
      }
    },
  };
}

/** π [Γ], or the average of everybody's own where covariates shift places. */
function averagePrior(
  logWeights: Float64Array,
  priors: (i: number) => Float64Array | undefined,
  m: number,
): Float64Array {
  if (priors(0) === undefined) return logWeights.map(Math.exp);
  const sum = new Float64Array(logWeights.length);
  for (let i = 0; i < m; i++) {
    priors(i)?.forEach((v, g) => {
      sum[g] += Math.exp(v) / m;
    });
  }
  return sum;
}

function mapFeatures(model: MapModel, cohort: Cohort, kernels: readonly PlaceKernel[]): PosteriorFeatures[] {
  const { each, prior, featuresAt } = mapNodes(model, cohort);
  const tables = kernels.map((kernel) => {
    const psi = featuresAt(kernel);
    const numFeatures = psi.length / prior.length;
    const rows = new Float64Array(numIndividuals(cohort) * numFeatures);
    return { kernel, numFeatures, rows, psi, prior: weightedSum(prior, psi, prior.length, numFeatures) };
  });
  each((i, nodes, weights) => {
    for (const { rows, psi, numFeatures: F } of tables) {
      averageInto(nodes, weights, psi, rows.subarray(i * F, (i + 1) * F));
    }
  });
  return tables.map(({ psi, ...features }) => features);
}

/** out [F] = Σ_k weights_k ψ_{nodes_k} for ψ [Γ,F]; four nodes at a time, which halves the time of a cohort. */
function averageInto(nodes: ArrayLike<number>, weights: ArrayLike<number>, psi: Float64Array, out: Float64Array): void {
  const F = out.length;
  const K = nodes.length;
  out.fill(0);
  for (let k = 0; k < K; k += 4) {
    const [b, c, d] = [Math.min(k + 1, K - 1), Math.min(k + 2, K - 1), Math.min(k + 3, K - 1)];
    const [wa, wb, wc, wd] = [weights[k], b > k ? weights[b] : 0, c > b ? weights[c] : 0, d > c ? weights[d] : 0];
    const [pa, pb, pc, pd] = [nodes[k] * F, nodes[b] * F, nodes[c] * F, nodes[d] * F];
    for (let f = 0; f < F; f++) {
      out[f] += wa * psi[pa + f] + wb * psi[pb + f] + (wc * psi[pc + f] + wd * psi[pd + f]);
    }
  }
}

/** Points of the quadrature along each axis: ψ is smooth over the widest posterior, the prior itself. */
const POINTS = 15;

/** With prior N(μ₀, LL'), an individual at N(m, S) is at L⁻¹(m − μ₀) with covariance L⁻¹SL⁻ᵀ in units of the prior. */
function linearFeatures(model: TrajectoryModel, cohort: Cohort, kernels: readonly PlaceKernel[]): PosteriorFeatures[] {
  const { location, covariance, mapDimension: q, ids } = embed(model, cohort);
  const nobody = placeIndividual(model, { markers: {} });
  const L = cholesky(nobody.covariance, q, "prior of the places");
  const { points: z, weights } = productRule(POINTS, q);
  const K = weights.length;
  const tables = kernels.map((kernel) => {
    const psi = placeFeatures(z, q, kernel);
    const numFeatures = psi.length / K;
    return {
      kernel,
      numFeatures,
      rows: new Float64Array(ids.length * numFeatures),
      prior: weightedSum(weights, psi, K, numFeatures),
    };
  });
  for (let i = 0; i < ids.length; i++) {
    const mean = location.slice(i * q, (i + 1) * q).map((v, c) => v - nobody.location[c]);
    solveLowerInPlace(L, q, mean);
    // Root of S, then L⁻¹ times it; a direction without variance has none to add.
    const root = covariance.slice(i * q * q, (i + 1) * q * q);
    if (!choleskyInPlace(root, q)) root.fill(0);
    const columns = transpose(root, q, q);
    for (let c = 0; c < q; c++) solveLowerInPlace(L, q, columns.subarray(c * q, (c + 1) * q));
    const points = multiply(z, columns, K, q, q);
    for (let k = 0; k < points.length; k++) points[k] += mean[k % q];
    for (const { kernel, numFeatures, rows } of tables) {
      rows.set(weightedSum(weights, placeFeatures(points, q, kernel), K, numFeatures), i * numFeatures);
    }
  }
  return tables;
}
