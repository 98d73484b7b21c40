/**
 * The collapsed bound: ℒ with q(u) at its optimum for every trial point, a function of the places and of the
 * hyperparameters that are learned (docs/math/dtm-paper.md §6),
 *   x = [θ_1 … θ_m, hyperparameters],   f(x) = Σ_i J_i − KL_u + log π.
 * By the envelope theorem its gradient is the partial one at the optimal q(u). One evaluation is two passes over
 * individuals (sums; objectives with gradients) and one solve for q(u).
 */
import { residualStatistics } from "../../basis/statistics.ts";
import type { Objective } from "../../numeric/optimize/objective.ts";
import type { Engine } from "./engine.ts";
import { dataTotals, setParameters, sumObjectives, sumOverAll, updateInducing } from "./engine.ts";
import { elboGradient } from "./gradients.ts";
import {
  addIndividualHyper,
  createHyperSums,
  createHyperWorkspace,
  type HyperWorkspace,
  hyperGradientOfSums,
} from "./hyper-gradient.ts";
import { type HyperGradient, type HyperLayout, parametersAt, writeHyperGradient } from "./hyperparameters.ts";
import { kernelMatrixGradient } from "./kernel-gradient.ts";
import { logPrior } from "./state.ts";

/** The objective over x for L-BFGS; minus infinity where K or the precision of u cannot be factored. */
export function collapsedBound(engine: Engine, layout: HyperLayout): Objective {
  const n = engine.statistics.numIndividuals * engine.numLocal;
  const learns = layout.coordinates.length > 0;
  const { numInducing: p, mapDimension: q, numBasis: d } = engine.parameters;
  const work = createHyperWorkspace(p, q, d);
  return (x, gradient) => {
    if (learns && !setParameters(engine, parametersAt(layout, x, n))) return Number.NEGATIVE_INFINITY;
    const theta = x.subarray(0, n);
    sumOverAll(engine, theta);
    if (!updateInducing(engine)) return Number.NEGATIVE_INFINITY;
    const { options, parameters, posterior } = engine;
    const total = sumObjectives(engine, theta, gradient);
    if (learns) {
      const hyper = hyperGradientAt(engine, layout, theta, gradient, work);
      writeHyperGradient(layout, hyper, x, n, gradient);
    }
    const prior = logPrior(options.priors, parameters.noiseVariance, parameters.kernel, options.sharedLengthscale);
    return total - posterior.kl + prior;
  };
}

/** Derivatives by the hyperparameters at θ, whose local gradient is given; sums and q(u) are those of θ. */
function hyperGradientAt(
  engine: Engine,
  layout: HyperLayout,
  theta: Float64Array,
  gradient: Float64Array,
  work: HyperWorkspace,
): HyperGradient {
  const { statistics, parameters, options, posterior, sums, numLocal: P } = engine;
  const { kernel } = parameters;
  if (kernel.kind !== "rbf" || layout.learned.inducing) {
    const { diagonal, priors, sharedLengthscale } = options;
    return elboGradient(parameters, statistics, theta, diagonal, posterior, priors, sharedLengthscale);
  }
  const hyper = createHyperSums(parameters.numBasis, parameters.mapDimension);
  for (let i = 0; i < statistics.numIndividuals; i++) {
    residualStatistics(statistics, i, parameters.meanCoefficients, engine.g);
    addIndividualHyper(engine, kernel, i, theta, gradient, i * P, 1, hyper, work);
  }
  const { numInducing: p, numBasis: d, noiseVariance } = parameters;
  const Gamma = kernelMatrixGradient(sums, statistics, posterior, engine.factor, noiseVariance, p, d);
  return hyperGradientOfSums(engine, kernel, sums, dataTotals(engine, theta), hyper, Gamma);
}
