/**
 * The collapsed bound: ℒ with q(u) at its optimum for every trial point, a function of the places and of the
 * hyperparameters that are learned (docs/math/dtm-paper.md §6),
 *   x = [θ_1 … θ_m, hyperparameters],   f(x) = Σ_i J_i − KL_u + log π.
 * By the envelope theorem its gradient is the partial one at the optimal q(u). One evaluation is two passes over
 * individuals (sums; objectives with gradients) and one solve for q(u).
 */
import { residualStatistics } from "../../basis/statistics.ts";
import type { Objective } from "../../numeric/optimize/objective.ts";
import type { RbfKernel } from "../gp/kernel.ts";
import type { Engine } from "./engine.ts";
import { dataTotals, setParameters, updateInducing } from "./engine.ts";
import { elboGradient } from "./gradients.ts";
import {
  addIndividualHyper,
  createHyperSums,
  createHyperWorkspace,
  type HyperSums,
  type HyperWorkspace,
  hyperGradientOfSums,
} from "./hyper-gradient.ts";
import { type HyperGradient, type HyperLayout, parametersAt, writeHyperGradient } from "./hyperparameters.ts";
import { optimalKernelGradient } from "./kernel-gradient.ts";
import { sumObjectives, sumOverAll } from "./passes.ts";
import { logPrior } from "./state.ts";

/** The objective over x for L-BFGS; minus infinity where K or the precision of u cannot be factored. */
export function collapsedBound(engine: Engine, layout: HyperLayout): Objective {
  const n = engine.statistics.numIndividuals * engine.numLocal;
  const learns = layout.coordinates.length > 0;
  const { numInducing: p, mapDimension: q, numBasis: d } = engine.parameters;
  const work = createHyperWorkspace(p, q, d);
  return (x, gradient) => {
    if (learns && !setParameters(engine, parametersAt(layout, x, n))) return Number.NEGATIVE_INFINITY;
    const { kernel } = engine.parameters;
    const theta = x.subarray(0, n);
    const fromSums = learns && kernel.kind === "rbf" && !layout.learned.inducing;
    sumOverAll(engine, theta, fromSums);
    if (!updateInducing(engine)) return Number.NEGATIVE_INFINITY;
    const { options, parameters, posterior } = engine;
    let total: number;
    if (fromSums) {
      const hyper = createHyperSums(d, q);
      total = objectivesWithHyper(engine, kernel, theta, gradient, hyper, work);
      writeHyperGradient(layout, hyperGradientAt(engine, kernel, theta, hyper), x, n, gradient);
    } else {
      total = sumObjectives(engine, theta, gradient);
      if (learns) {
        const { diagonal, priors, sharedLengthscale } = options;
        const hyper = elboGradient(
          parameters,
          engine.statistics,
          theta,
          diagonal,
          posterior,
          priors,
          sharedLengthscale,
        );
        writeHyperGradient(layout, hyper, x, n, gradient);
      }
    }
    const prior = logPrior(options.priors, parameters.noiseVariance, kernel, options.sharedLengthscale);
    return total - posterior.kl + prior;
  };
}

/**
 * Σ J_i with gradients, and what individuals add to the gradient by hyperparameters. Blocks give the slopes; their part
 * of the mean's gradient, Σ σ⁻²(g_i − G_i A'ψ1), comes from Σ ψ1 G of the pass before and the g of everybody.
 */
function objectivesWithHyper(
  engine: Engine,
  kernel: RbfKernel,
  theta: Float64Array,
  gradient: Float64Array,
  hyper: HyperSums,
  work: HyperWorkspace,
): number {
  const { parameters, solver, pooled, numLocal: P, g } = engine;
  const { meanCoefficients, noiseVariance } = parameters;
  const { blocks } = solver;
  const total = sumObjectives(engine, theta, gradient, {
    block: ({ slopes, results }, count) => {
      for (let n = 0; n < count; n++) {
        if (Number.isNaN(results[n])) continue;
        hyper.slopes[0] += slopes[2 * n];
        hyper.slopes[1] += slopes[2 * n + 1];
      }
    },
    one: (i) => {
      addIndividualHyper(engine, kernel, i, theta, gradient, i * P, 1, hyper, work);
      if (blocks !== null) for (let k = 0; k < g.length; k++) hyper.mean[k] -= g[k] / noiseVariance;
    },
  });
  if (blocks === null) return total;
  residualStatistics(pooled, 0, meanCoefficients, g);
  for (let k = 0; k < g.length; k++) hyper.mean[k] += g[k] / noiseVariance;
  addCourses(engine, kernel, hyper.mean);
  return total;
}

/** Adds −σ⁻² Σ G_i A'ψ1 of all blocks to out [d]. */
function addCourses(engine: Engine, kernel: RbfKernel, out: Float64Array): void {
  const { statistics, parameters, posterior, solver } = engine;
  const { numBand, bandRow, bandColumn } = statistics;
  const { numInducing: p, numBasis: d, noiseVariance } = parameters;
  const sums = new Float64Array(p * numBand);
  solver.blocks!.readCourseSums(kernel.signalVariance, sums);
  for (let j = 0; j < p; j++) {
    for (let e = 0; e < numBand; e++) {
      const k = bandRow[e];
      const l = bandColumn[e];
      const s = sums[j * numBand + e] / noiseVariance;
      out[k] -= s * posterior.mean[j * d + l];
      if (k !== l) out[l] -= s * posterior.mean[j * d + k];
    }
  }
}

/** Derivatives by the hyperparameters from sums of everybody; q(u) is the optimum for them. */
function hyperGradientAt(engine: Engine, kernel: RbfKernel, theta: Float64Array, hyper: HyperSums): HyperGradient {
  const { statistics, parameters, posterior, sums, factor } = engine;
  const { numInducing: p, numBasis: d, noiseVariance } = parameters;
  const Gamma = optimalKernelGradient(sums, statistics, posterior, factor, noiseVariance, p, d);
  return hyperGradientOfSums(engine, kernel, sums, dataTotals(engine, theta), hyper, Gamma);
}
