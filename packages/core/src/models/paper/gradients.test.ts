import { describe, expect, it } from "vitest";
import { gradientError, relativeError } from "../../../../../test/expect-gradient.ts";
import { elboGradient, elboTerms, unwhiten, whiten } from "../../../../../test/paper-bound.ts";
import {
  bendingCohort,
  cohortStatistics,
  crudeStart,
  type ProblemOptions,
  randomProblem,
} from "../../../../../test/paper-problem.ts";
import { gridLocations } from "../gp/inducing.ts";
import { type Kernel, rbfKernel } from "../gp/kernel.ts";
import { type MeanKind, meanDesign } from "../mean.ts";
import { requireKernelFactor } from "./bound.ts";
import { createEngine, dataTotals } from "./engine.ts";
import { gradientOfSums, type HyperGradient } from "./gradients.ts";
import { hyperLayout, type Learned } from "./hyperparameters.ts";
import { coefficientsOfInducing } from "./inducing.ts";
import { sumObjectives, sumOverAll } from "./passes.ts";
import { collapsedBound } from "./schedules.ts";
import { type GlobalParameters, type Priors, packLocations } from "./state.ts";

const PRIORS: Priors = {
  logNoiseVariance: { mean: 1, precision: 3 },
  logSignalVariance: { mean: 2, precision: 0.5 },
  logLengthscale: { mean: 0.1, precision: 2 },
};

const SHAPES: readonly ProblemOptions[] = [
  { q: 1, p: 3, m: 3 },
  { q: 2, p: 3, m: 3 },
  { q: 2, p: 3, m: 3, kernel: "ard" },
  { q: 2, p: 3, m: 3, diagonal: true, kernel: "ard", numBasis: 3, degree: 1 },
  { q: 3, p: 3, m: 2, kernel: "ard" },
  { q: 2, p: 3, m: 3, kernel: "linear" },
];

/** Error of every gradient at once: x = [θ, β, log σ², log α, log ℓ, Z], q(u) = N(m, S) held fixed. */
function fixedInducingError(seed: number, options: ProblemOptions): number {
  const { statistics, parameters, theta, diagonal, posterior, p, q, d } = randomProblem(seed, options);
  const fixed = unwhiten(posterior, requireKernelFactor(parameters), p, d);
  const { kernel } = parameters;
  const numEll = kernel.kind === "rbf" ? q : 0;
  const n = theta.length;
  const read = (x: Float64Array): GlobalParameters => {
    const signalVariance = Math.exp(x[n + d + 1]);
    const lengthscales = x.slice(n + d + 2, n + d + 2 + numEll).map(Math.exp);
    const trial: Kernel =
      kernel.kind === "rbf" ? { ...kernel, signalVariance, lengthscales } : { ...kernel, signalVariance };
    return {
      ...parameters,
      kernel: trial,
      meanCoefficients: x.slice(n, n + d),
      noiseVariance: Math.exp(x[n + d]),
      inducingLocations: x.slice(n + d + 2 + numEll),
    };
  };
  const coefficients = (at: GlobalParameters) => {
    const factor = requireKernelFactor(at);
    const map = { statistics, parameters: at, factor };
    return coefficientsOfInducing(map, whiten(fixed.mean, fixed.covariance, factor, p, d));
  };
  const value = (x: Float64Array): number => {
    const at = read(x);
    const trial = x.slice(0, n);
    return elboTerms(at, statistics, trial, diagonal, coefficients(at), PRIORS, false).terms.total;
  };
  const ell = kernel.kind === "rbf" ? kernel.lengthscales.map(Math.log) : [];
  const x = Float64Array.from([
    ...theta,
    ...parameters.meanCoefficients,
    Math.log(parameters.noiseVariance),
    Math.log(kernel.signalVariance),
    ...ell,
    ...parameters.inducingLocations,
  ]);
  const g = elboGradient(parameters, statistics, theta, diagonal, coefficients(parameters), PRIORS, false);
  const gradient = Float64Array.from([
    ...g.theta,
    ...g.meanCoefficients,
    g.logNoiseVariance,
    g.logSignalVariance,
    ...g.logLengthscales.subarray(0, numEll),
    ...g.inducing,
  ]);
  return gradientError(value, x, gradient);
}

function collapsedProblem(seed: number, options: ProblemOptions, learned: Learned, mean: MeanKind = "scalar") {
  const { statistics, parameters, theta, diagonal, random } = randomProblem(seed, options);
  const engine = createEngine(statistics, parameters, {
    diagonal,
    priors: PRIORS,
    sharedLengthscale: learned.sharedLengthscale,
  });
  const layout = hyperLayout(parameters, statistics, learned, meanDesign(mean, parameters.numBasis));
  const x = new Float64Array(theta.length + layout.coordinates.length);
  x.set(theta);
  for (let k = theta.length; k < x.length; k++) x[k] = 0.3 * random.normal();
  return { objective: collapsedBound(engine, layout), x, n: theta.length };
}

describe("gradients of the bound", () => {
  it("agree with central differences to 1e-6 at 100 random points, length-scales per dimension and linear kernel too", () => {
    let worst = 0;
    for (let seed = 0; seed < 100; seed++) {
      worst = Math.max(worst, fixedInducingError(seed, SHAPES[seed % SHAPES.length]));
    }
    expect(worst).toBeLessThan(1e-6);
  });

  it("of the collapsed bound agree with central differences, q(u) re-optimised at every point", () => {
    let worst = 0;
    for (let seed = 0; seed < 24; seed++) {
      const options = SHAPES[seed % SHAPES.length];
      const learned = { learn: true, sharedLengthscale: options.kernel !== "ard" };
      const { objective, x } = collapsedProblem(seed, options, learned, seed % 2 === 0 ? "scalar" : "spline");
      const gradient = new Float64Array(x.length);
      objective(x, gradient);
      const scratch = new Float64Array(x.length);
      worst = Math.max(
        worst,
        gradientError((at) => objective(at, scratch), x, gradient),
      );
    }
    expect(worst).toBeLessThan(1e-6);
  });

  it("by the hyperparameters are the same from data sums and from the direct pull-back, whatever q(u) is", () => {
    for (let seed = 0; seed < 12; seed++) {
      const shape = SHAPES[seed % SHAPES.length];
      const { statistics, parameters, theta, diagonal, posterior, q } = randomProblem(seed, shape);
      const options = { diagonal, priors: PRIORS, sharedLengthscale: false };
      const engine = createEngine(statistics, parameters, options);
      const { factor, sums } = engine;
      const at = coefficientsOfInducing(engine, posterior);
      engine.solver.setGlobal(at.mean, at.blocks, factor.inverse, parameters.noiseVariance);
      const map = { statistics, parameters, factor, posterior: at };
      sumOverAll(engine, theta);
      const slopes = new Float64Array(q);
      sumObjectives(engine, theta, null, slopes);
      const data = dataTotals(engine, theta);
      const fast = gradientOfSums(map, sums, data, slopes, options);
      const direct = elboGradient(parameters, statistics, theta, diagonal, at, PRIORS, false);
      const values = (g: HyperGradient) => [
        g.meanLevel,
        g.logNoiseVariance,
        g.logSignalVariance,
        ...(parameters.kernel.kind === "rbf" ? g.logLengthscales : []),
      ];
      expect(relativeError(values(fast), values(direct))).toBeLessThan(1e-9);
    }
  });

  it("are not lost in rounding at long length-scales, where the kernel matrix is nearly singular", () => {
    const statistics = cohortStatistics(bendingCohort(80, 6));
    const start = crudeStart(statistics, 2);
    const parameters: GlobalParameters = {
      kernel: rbfKernel(2, 2000, 8),
      inducingLocations: gridLocations(2, 5),
      numInducing: 25,
      mapDimension: 2,
      numBasis: 5,
      meanCoefficients: start.markers[0].mean.coefficients,
      noiseVariance: 4,
    };
    const engine = createEngine(statistics, parameters, {
      diagonal: false,
      priors: {},
      sharedLengthscale: true,
    });
    const fixed = { learn: false, sharedLengthscale: true };
    const objective = collapsedBound(engine, hyperLayout(parameters, statistics, fixed, meanDesign("scalar", 5)));
    const theta = packLocations({ mean: start.locationMean, covariance: start.locationCovariance }, 2, false);
    const gradient = new Float64Array(theta.length);
    // Moves of 1e-11 change the bound by far less than 1e-6; more would be noise that stops a line search.
    const values = Array.from({ length: 8 }, (_, k) =>
      objective(
        theta.map((v) => v + 1e-11 * Math.sin(k * v)),
        gradient,
      ),
    );
    expect(Math.max(...values) - Math.min(...values)).toBeLessThan(1e-4);
  });

  it("vanish outside the box of a length-scale instead of pointing out of it", () => {
    const learned = { learn: true, sharedLengthscale: true };
    const { objective, x, n } = collapsedProblem(1, { q: 2, p: 3, m: 3 }, learned);
    const gradient = new Float64Array(x.length);
    x[n + 3] = 1e6;
    const far = objective(x, gradient);
    expect(Number.isFinite(far)).toBe(true);
    expect(gradient[n + 3]).toBeLessThanOrEqual(0);
    x[n + 3] = 2e6;
    expect(objective(x, gradient)).toBe(far);
  });
});
