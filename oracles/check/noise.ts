/**
 * Recomputes the fixtures of the noise models (docs/math/noise.md): whitened statistics and their derivatives, levels, E step,
 * steps of levels, serial correlation and gross errors, exact scores, forecasts and gross-error sets.
 */
import { designMatrix } from "../../packages/core/src/basis/bspline.ts";
import { nodeWeights } from "../../packages/core/src/models/dtm/expectation-step.ts";
import { packedRow, packedStride } from "../../packages/core/src/models/dtm/individual-statistics.ts";
import { grossStep, whiteErrors } from "../../packages/core/src/noise/gross.ts";
import {
  averagedStatistics,
  expectedSquares,
  levelDensities,
  levelPosterior,
  levelSlopes,
  levelsOf,
  type PrecisionMoments,
  precisionMoments,
  rotateEffect,
} from "../../packages/core/src/noise/levels.ts";
import {
  filterVisits,
  inverseRows,
  serialSlopes,
  type VisitRows,
  whitenedProducts,
  whitenedSlopes,
} from "../../packages/core/src/noise/serial.ts";
import { cholesky } from "../../packages/core/src/numeric/cholesky.ts";
import { type Check, compare, fixtureBasis, flatten } from "./checker.ts";
import { blocksOf, type NoiseFixture, noiseProblem, type WhitenedFixture } from "./noise-problem.ts";
import { checkScores } from "./noise-scores.ts";

/** Of statistics and E step; of gradients and all that follows eigenvectors. */
const EXACT = 1e-9;
const ROTATED = 1e-7;

/** Checks one noise-*.json. */
export function checkNoise(fixture: NoiseFixture): Check[] {
  return [
    compare(
      "data.basis",
      designMatrix(fixtureBasis(fixture.data.knots, 2), fixture.data.time),
      fixture.data.basis,
      EXACT,
    ),
    ...checkWhitened(fixture, "plain"),
    ...checkWhitened(fixture, "weighted"),
    ...checkWhitenedGradient(fixture),
    ...checkSteps(fixture),
    ...checkScores(fixture),
  ];
}

function checkWhitened(fixture: NoiseFixture, name: "plain" | "weighted"): Check[] {
  const { correlation, individuals, d } = noiseProblem(fixture);
  const found: Record<keyof WhitenedFixture, number[]> = {
    G: [],
    By: [],
    B1: [],
    yy: [],
    one: [],
    y1: [],
    logDet: [],
    inverseRows: [],
    inverseDiagonal: [],
  };
  for (const { visits, weights } of individuals) {
    const filtered = filterVisits(name === "plain" ? visits : { ...visits, weights }, correlation);
    const { products, logDet } = whitenedProducts(filtered);
    const blocks = blocksOf(products, d);
    found.G.push(...blocks.G);
    found.By.push(...blocks.By);
    found.B1.push(...blocks.B1);
    found.yy.push(blocks.yy);
    found.one.push(blocks.one);
    found.y1.push(blocks.y1);
    found.logDet.push(logDet);
    const { rows, diagonal } = inverseRows(filtered);
    found.inverseRows.push(...rows);
    found.inverseDiagonal.push(...diagonal);
  }
  const expected = fixture.whitened[name];
  return (Object.keys(found) as (keyof WhitenedFixture)[]).map((key) =>
    compare(`whitened.${name}.${key}`, found[key], expected[key], EXACT),
  );
}

function checkWhitenedGradient(fixture: NoiseFixture): Check[] {
  const { whitenedGradient } = fixture;
  if (whitenedGradient === undefined) return [];
  const { correlation, individuals } = noiseProblem(fixture);
  const slopes = individuals.map(({ visits }) => whitenedSlopes(visits, correlation));
  return [
    compare(
      "whitenedGradient.dS",
      [0, 1].flatMap((theta) => slopes.flatMap((own) => [...own[theta].products])),
      whitenedGradient.dS,
      ROTATED,
    ),
    compare(
      "whitenedGradient.dLogDet",
      [0, 1].flatMap((theta) => slopes.map((own) => own[theta].logDet)),
      whitenedGradient.dLogDet,
      ROTATED,
    ),
  ];
}

/** E step with prior level weights, and the steps that start from its responsibilities. */
function checkSteps(fixture: NoiseFixture): Check[] {
  const { individuals, correlation, mean, d } = noiseProblem(fixture);
  const { noiseVariance, tau, omega, reference } = fixture.parameters;
  const levels = levelsOf(noiseVariance, omega);
  const L = cholesky(flatten(reference), d, "reference covariance");
  const logPrior = flatten(fixture.nodes.logPrior);
  const numNodes = logPrior.length;
  const stride = packedStride(d);
  const [nodeMeans, nodeCovariances] = [flatten(fixture.nodes.mean), flatten(fixture.nodes.covariance)];
  const table = new Float64Array(stride * numNodes);
  for (let g = 0; g < numNodes; g++) {
    const f = momentsOf(
      Float64Array.from({ length: numNodes }, (_, h) => (h === g ? 1 : 0)),
      nodeMeans,
      nodeCovariances,
      d,
    );
    // (f̄, −½R_kk, −R_kl), so that the product with a packed row is g̃'f̄ − ½⟨G̃, R⟩.
    const halved = f.moment.map((v, e) => (Math.floor(e / d) === e % d ? -0.5 * v : -v));
    packedRow(f.mean, halved).forEach((v, k) => {
      table[k * numNodes + g] = v;
    });
  }
  const prior = levels.logWeights.map(Math.exp);
  const collected = individuals.map(({ visits, statistics: own, n, logDet }) => {
    const rotated = rotateEffect(own.G, L, d);
    const { gram, cross } = averagedStatistics(own, rotated, levels, tau, prior);
    const atZero = levelDensities({ n, logDet, delta: rotated.delta, ...expectedSquares(own, rotated) }, levels, tau);
    const c = prior.reduce((sum, q, k) => sum + q * (atZero[k] + levels.logWeights[k] - Math.log(q)), 0);
    const r = new Float64Array(numNodes);
    const lse = nodeWeights(packedRow(cross, gram), table, logPrior, r);
    const f = momentsOf(r, nodeMeans, nodeCovariances, d);
    const evidence = { n, logDet, delta: rotated.delta, ...expectedSquares(own, rotated, f) };
    const Q = levelDensities(evidence, levels, tau);
    const { logSum, weights } = levelPosterior(Q, levels);
    const slopes = levelSlopes(evidence, levels, tau, weights);
    const averaged = averagedStatistics(own, rotated, levels, tau, weights);
    const precision = precisionMoments(own, rotated, levels, tau, weights, f);
    const errors = whiteErrors(visits, correlation, mean, precision);
    return {
      visits,
      rotated,
      gram,
      cross,
      c,
      r,
      bound: c + lse,
      f,
      evidence,
      Q,
      logSum,
      weights,
      slopes,
      averaged,
      precision,
      errors,
    };
  });
  const all = (pick: (own: (typeof collected)[number]) => Iterable<number>) =>
    collected.flatMap((own) => [...pick(own)]);
  const total = (pick: (own: (typeof collected)[number]) => number) =>
    collected.reduce((sum, own) => sum + pick(own), 0);
  // μ moves by Σ 1'(g̃ − G̃f̄) / Σ 1'G̃1.
  const shift =
    total(({ averaged, f }) => {
      let open = averaged.cross.reduce((sum, v) => sum + v, 0);
      averaged.gram.forEach((v, e) => {
        open -= v * f.mean[e % d];
      });
      return open;
    }) / total(({ averaged }) => averaged.gram.reduce((sum, v) => sum + v, 0));
  const { estep, levelStep, grossStep: gross } = fixture;
  const step = grossStep(Float64Array.from(all(({ errors }) => errors)), gross.epsilon);
  return [
    compare("levels.z", levels.z, fixture.levels.z, EXACT),
    compare("levels.logWeight", levels.logWeights, fixture.levels.logWeight, EXACT),
    compare(
      "eigenvalues",
      all(({ rotated }) => rotated.delta.slice().sort()),
      fixture.eigenvalues,
      ROTATED,
    ),
    compare(
      "estep.Gt",
      all(({ gram }) => gram),
      estep.Gt,
      EXACT,
    ),
    compare(
      "estep.gt",
      all(({ cross }) => cross),
      estep.gt,
      EXACT,
    ),
    compare(
      "estep.c",
      all(({ c }) => [c]),
      estep.c,
      EXACT,
    ),
    compare(
      "estep.responsibilities",
      all(({ r }) => r),
      estep.responsibilities,
      EXACT,
    ),
    compare(
      "estep.boundTerms",
      all(({ bound }) => [bound]),
      estep.boundTerms,
      EXACT,
    ),
    compare(
      "levelStep.fbar",
      all(({ f }) => f.mean),
      levelStep.fbar,
      ROTATED,
    ),
    compare(
      "levelStep.q0",
      all(({ evidence }) => [evidence.eta]),
      levelStep.q0,
      ROTATED,
    ),
    compare(
      "levelStep.Q",
      all(({ Q }) => Q),
      levelStep.Q,
      ROTATED,
    ),
    compare(
      "levelStep.logSum",
      all(({ logSum }) => [logSum]),
      levelStep.logSum,
      ROTATED,
    ),
    compare(
      "levelStep.weights",
      all(({ weights }) => weights),
      levelStep.weights,
      ROTATED,
    ),
    compare(
      "levelStep.objective",
      total(({ logSum }) => logSum),
      levelStep.objective,
      ROTATED,
    ),
    compare(
      "levelStep.gradientLogS2LogTauLogOmega",
      [total((o) => o.slopes.logVariance), total((o) => o.slopes.logTau), total((o) => o.slopes.logSpread)],
      levelStep.gradientLogS2LogTauLogOmega,
      ROTATED,
    ),
    compare("levelStep.mean", mean[0] + shift, levelStep.mean, ROTATED),
    ...checkSerialStep(
      fixture,
      collected,
      total(({ logSum }) => logSum),
    ),
    compare(
      "grossStep.e2",
      all(({ errors }) => errors),
      gross.e2,
      ROTATED,
    ),
    compare("grossStep.probability", step.probability, gross.probability, ROTATED),
    compare("grossStep.weights", step.weights, gross.weights, ROTATED),
    compare("grossStep.correction", step.correction, gross.correction, ROTATED),
  ];
}

function checkSerialStep(
  fixture: NoiseFixture,
  collected: readonly { readonly visits: VisitRows; readonly precision: PrecisionMoments }[],
  objective: number,
): Check[] {
  const { serialStep } = fixture;
  if (serialStep === undefined) return [];
  const { correlation, mean } = noiseProblem(fixture);
  const slopes = [0, 0];
  for (const { visits, precision } of collected) {
    serialSlopes(visits, correlation, mean, precision).forEach((v, theta) => {
      slopes[theta] += v;
    });
  }
  return [
    compare("serialStep.objective", objective, serialStep.objective, ROTATED),
    compare("serialStep.dLogRho", slopes[0], serialStep.dLogRho, ROTATED),
    compare("serialStep.dLogitKappa", slopes[1], serialStep.dLogitKappa, ROTATED),
  ];
}

/** f̄ = Σ_g r_g f̄_g [d] and R̄ = Σ_g r_g (Σ_g + f̄_gf̄_g') [d,d]. */
function momentsOf(r: Float64Array, means: Float64Array, covariances: Float64Array, d: number) {
  const mean = new Float64Array(d);
  const moment = new Float64Array(d * d);
  r.forEach((share, g) => {
    for (let a = 0; a < d; a++) {
      mean[a] += share * means[g * d + a];
      for (let b = 0; b < d; b++) {
        moment[a * d + b] += share * (covariances[(g * d + a) * d + b] + means[g * d + a] * means[g * d + b]);
      }
    }
  });
  return { mean, moment };
}
