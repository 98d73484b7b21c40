/** Scores of the noise fixtures: exact sums over nodes and levels, forecasts of later visits, sets of gross errors. */
import { functionalDistribution } from "../../packages/core/src/models/mixture/curve-distribution.ts";
import { type CoefficientMixture, makeMixture } from "../../packages/core/src/models/mixture/mixture.ts";
import {
  mixtureCdf,
  mixtureLogDensity,
  mixtureMean,
  mixtureVariance,
} from "../../packages/core/src/models/mixture/normal-mixture.ts";
import { locationMoments } from "../../packages/core/src/models/mixture/place.ts";
import {
  conditionMixture,
  jointLogDensities,
  mixtureLogLikelihood,
} from "../../packages/core/src/models/mixture/posterior.ts";
import { candidateSets, setLogDensities } from "../../packages/core/src/noise/gross.ts";
import { logLevelMoments } from "../../packages/core/src/noise/levels.ts";
import { levelNoise, noiseLevels } from "../../packages/core/src/noise/noise.ts";
import { filterVisits, givenNoise, whitenedProducts } from "../../packages/core/src/noise/serial.ts";
import { logSumExp } from "../../packages/core/src/numeric/special.ts";
import { type Check, compare, compareAbsolute, flatten } from "./checker.ts";
import { type NoiseFixture, type NoiseProblem, noiseProblem, observationsFrom } from "./noise-problem.ts";

const TOLERANCE = 1e-7;
/** Ridge of the single Gaussian by which the reference screens visits. */
const SCREEN_JITTER = 1e-10;

/** Checks `score`, `forecast` and `grossScore`. */
export function checkScores(fixture: NoiseFixture): Check[] {
  const problem = noiseProblem(fixture);
  const mixture = mixtureOf(fixture, problem);
  return [
    ...checkScore(fixture, problem, mixture),
    ...checkForecast(fixture, problem, mixture),
    ...checkGross(fixture, problem, mixture),
  ];
}

/** Σ_g + τΣ_ref at each node. */
function totalCovariances({ nodes, parameters }: NoiseFixture, d: number): Float64Array {
  const reference = flatten(parameters.reference);
  return flatten(nodes.covariance).map((v, e) => v + parameters.tau * reference[e % (d * d)]);
}

function mixtureOf(fixture: NoiseFixture, { d, mean }: NoiseProblem): CoefficientMixture {
  const { nodes, parameters } = fixture;
  return makeMixture({
    numBasis: d,
    mapDimension: 2,
    locations: flatten(nodes.place),
    logWeights: flatten(nodes.logPrior),
    means: flatten(nodes.mean),
    covariances: totalCovariances(fixture, d),
    relativeJitter: 0,
    meanCoefficients: mean,
    noise: levelNoise(parameters.noiseVariance, parameters.omega),
  });
}

function checkScore(
  { score, parameters }: NoiseFixture,
  { individuals, correlation, mean }: NoiseProblem,
  mixture: CoefficientMixture,
): Check[] {
  const { numNodes, noise } = mixture;
  const levels = noiseLevels(noise);
  const found = individuals.map(({ visits, n }) => {
    const { products, logDet } = whitenedProducts(filterVisits(visits, correlation));
    const observations = observationsFrom(products, logDet, n, mean, parameters.noiseVariance);
    const joint = jointLogDensities(mixture, observations);
    const logLikelihood = logSumExp(joint);
    const nodes = new Float64Array(numNodes);
    const ofLevels = new Float64Array(levels.z.length);
    joint.forEach((v, e) => {
      const share = Math.exp(v - logLikelihood);
      nodes[e % numNodes] += share;
      ofLevels[Math.floor(e / numNodes)] += share;
    });
    const place = locationMoments(conditionMixture(mixture, observations, 0), 2);
    return { logLikelihood, nodes, ofLevels, place, level: logLevelMoments(ofLevels, levels).mean };
  });
  const all = (pick: (own: (typeof found)[number]) => Iterable<number>) => found.flatMap((own) => [...pick(own)]);
  return [
    compare(
      "score.logLikelihood",
      all((own) => [own.logLikelihood]),
      score.logLikelihood,
      TOLERANCE,
    ),
    compare(
      "score.nodePosterior",
      all((own) => own.nodes),
      score.nodePosterior,
      TOLERANCE,
    ),
    compare(
      "score.levelPosterior",
      all((own) => own.ofLevels),
      score.levelPosterior,
      TOLERANCE,
    ),
    compare(
      "score.placeMean",
      all((own) => own.place.mean),
      score.placeMean,
      TOLERANCE,
    ),
    compare(
      "score.placeCovariance",
      all((own) => own.place.covariance),
      score.placeCovariance,
      TOLERANCE,
    ),
    compare(
      "score.expectedLogLevel",
      all((own) => [own.level]),
      score.expectedLogLevel,
      TOLERANCE,
    ),
  ];
}

/** The first ⌈n/2⌉ visits of individuals with two or more are known. */
function checkForecast(
  { forecast, parameters, score }: NoiseFixture,
  { individuals, correlation, mean, d }: NoiseProblem,
  mixture: CoefficientMixture,
): Check[] {
  const found = { logDensity: [] as number[], pit: [] as number[], mean: [] as number[], sd: [] as number[] };
  const [known, joint]: number[][] = [[], []];
  individuals.forEach(({ visits: { times, rows }, n }, i) => {
    if (n < 2) return;
    const cut = Math.ceil(n / 2);
    const c = d + 2;
    const visits = { times: Array.from(times).slice(0, cut), rows: rows.subarray(0, cut * c) };
    const { products, logDet } = whitenedProducts(filterVisits(visits, correlation));
    const observations = observationsFrom(products, logDet, cut, mean, parameters.noiseVariance);
    known.push(mixtureLogLikelihood(mixture, observations));
    joint.push(score.logLikelihood[i] - known[known.length - 1]);
    const posterior = conditionMixture(mixture, observations, 0);
    for (let j = cut; j < n; j++) {
      const [{ mean: given, variance }] = givenNoise(visits, correlation, [times[j]]);
      const b = rows.slice(j * c, j * c + d).map((v, k) => v - given[k]);
      const value = functionalDistribution(posterior, mean, b, 0, true, { shift: given[c - 1], variance });
      const y = rows[(j + 1) * c - 1];
      found.logDensity.push(mixtureLogDensity(value, y));
      found.pit.push(mixtureCdf(value, y));
      found.mean.push(mixtureMean(value));
      found.sd.push(Math.sqrt(mixtureVariance(value)));
    }
  });
  return [
    ...(["logDensity", "mean", "sd"] as const).map((key) =>
      compare(`forecast.${key}`, found[key], forecast[key], TOLERANCE),
    ),
    ...found.pit.map((v, j) => compareAbsolute(`forecast.pit[${j}]`, v, forecast.pit[j], TOLERANCE)),
    compare("forecast.logLikelihoodKnown", known, forecast.logLikelihoodKnown, TOLERANCE),
    compare("forecast.jointLogDensity", joint, forecast.jointLogDensity, TOLERANCE),
  ];
}

function checkGross(
  fixture: NoiseFixture,
  { individuals, correlation, mean, d }: NoiseProblem,
  mixture: CoefficientMixture,
): Check[] {
  const { grossScore, parameters, grossStep } = fixture;
  const screen = singleGaussian(mixture, totalCovariances(fixture, d));
  const { epsilon } = grossStep;
  const center = screen.means.map((v, k) => v + mean[k]);
  return individuals.flatMap(({ visits, n }, i) => {
    const evidenceUnder = (under: CoefficientMixture) => (products: Float64Array, logDet: number) =>
      mixtureLogLikelihood(under, observationsFrom(products, logDet, n, mean, parameters.noiseVariance));
    const sets = candidateSets(visits, correlation, center, epsilon, evidenceUnder(screen));
    const densities = setLogDensities(visits, correlation, epsilon, sets, evidenceUnder(mixture));
    const expected = grossScore.individuals[i];
    const same = JSON.stringify(sets) === JSON.stringify(expected.sets);
    return [
      { name: `grossScore.individuals[${i}].sets`, error: same ? 0 : Number.POSITIVE_INFINITY, tolerance: 0 },
      compare(`grossScore.individuals[${i}].logJoint`, densities, expected.logJoint, TOLERANCE),
      compare(`grossScore.logLikelihood[${i}]`, logSumExp(densities), grossScore.logLikelihood[i], TOLERANCE),
    ];
  });
}

/** The one Gaussian with mean and covariance of a mixture's coefficients. */
function singleGaussian(mixture: CoefficientMixture, covariances: Float64Array): CoefficientMixture {
  const { numBasis: d, means, logWeights } = mixture;
  const mean = new Float64Array(d);
  const covariance = new Float64Array(d * d);
  logWeights.forEach((v, g) => {
    for (let a = 0; a < d; a++) mean[a] += Math.exp(v) * means[g * d + a];
  });
  logWeights.forEach((v, g) => {
    for (let a = 0; a < d; a++) {
      for (let b = 0; b < d; b++) {
        const apart = (means[g * d + a] - mean[a]) * (means[g * d + b] - mean[b]);
        covariance[a * d + b] += Math.exp(v) * (covariances[(g * d + a) * d + b] + apart);
      }
    }
  });
  return makeMixture({
    ...mixture,
    mapDimension: 0,
    locations: new Float64Array(0),
    logWeights: new Float64Array(1),
    means: mean,
    covariances: covariance,
    relativeJitter: SCREEN_JITTER,
  });
}
