/**
 * Fits of linear models of several markers whose noise has levels (docs/math/linear.md §11): spreads ω_k come from the mixed model of each
 * marker alone, which sums over levels exactly; then the stack of weighted values and the weights are taken in turn. This raises a bound
 * of the likelihood, good for a start and for places; any other noise is fitted as it is.
 */
import { type BasisStatistics, weightedStatistics } from "../../basis/statistics.ts";
import { levelNoise, type Noise, noiseLevel, noiseSpread, withLevel, withSpread } from "../../noise/noise.ts";
import { now } from "../fit.ts";
import { effectsReader } from "./effects.ts";
import { type FpcaModel, type FpcaStatisticsOptions, fitFpcaStatistics } from "./fpca.ts";
import { levelWeights, oneLevel } from "./joint-levels.ts";
import { finishedLmm, fitLmmStatistics, type LmmModel, type LmmStatisticsOptions, lmmParameters } from "./lmm.ts";
import { linearSettings } from "./settings.ts";
import { haveLevels, type LinearParameters } from "./stack.ts";

/** Rounds of weights and fit. */
const ROUNDS = 4;

const WORDS =
  "Levels of noise of individuals were weighed in turn with the covariance: values of the trace are those of weighted values.";

/** `fitLmmStatistics` for any noise of one marker or several. */
export function fitJointLmm(statistics: readonly BasisStatistics[], options: LmmStatisticsOptions = {}): LmmModel {
  if (!haveLevels(statistics.map(({ noise }) => noise))) return fitLmmStatistics(statistics, options);
  const began = now();
  const singles = statistics.map((own) => {
    const { start: _, markers: __, ...others } = options;
    return fitLmmStatistics([own], { ...others, mapDimension: 1 });
  });
  const spreads = singles.map(({ markers: [{ noise }] }) => noiseSpread(noise));
  let weights = statistics.map((own, k) => ownWeights(own, singles[k]));
  let start: LinearParameters | undefined = options.start && oneLevel(options.start);
  for (let round = 1; ; round++) {
    const weighted = weigh(statistics, weights);
    const again = round === 1 ? {} : { maxEmIterations: 1 };
    const model = fitLmmStatistics(weighted, { ...options, ...again, ...(start && { start }) });
    const fitted = lmmParameters(model);
    const parameters = { ...fitted, noises: learned(statistics, fitted.noises, spreads) };
    if (round === ROUNDS) {
      const { trace, iterations, converged, verdict, warnings, milliseconds } = model.record;
      const fit = {
        ...{ parameters, logLikelihood: trace.at(-1)!, trace, iterations, converged },
        verdict: `${verdict} ${WORDS}`,
        warnings: warnings.filter((text) => !options.warnings?.includes(text)),
        milliseconds: { em: milliseconds.em, quasiNewton: milliseconds.quasiNewton },
      };
      const q = model.mapDimension;
      const settings = { ...linearSettings(options, "fitLmm"), restarts: 0, mapDimension: q };
      return finishedLmm(statistics, parameters, fit, settings, q, options, began);
    }
    start = fitted;
    weights = levelWeights(statistics, parameters);
  }
}

/** `fitFpcaStatistics` for any noise of one marker or several. */
export function fitJointFpca(statistics: readonly BasisStatistics[], options: FpcaStatisticsOptions = {}): FpcaModel {
  if (!haveLevels(statistics.map(({ noise }) => noise))) return fitFpcaStatistics(statistics, options);
  const start = options.start ?? lmmParameters(fitJointLmm(statistics, { ...options, start: undefined }));
  const spreads = start.noises.map(noiseSpread);
  const weighted = weigh(statistics, levelWeights(statistics, start));
  const model = fitFpcaStatistics(weighted, { ...options, start: oneLevel(start) });
  const verdict = `${model.record.verdict} ${WORDS}`;
  const noises = learned(
    statistics,
    model.markers.map(({ noise }) => noise),
    spreads,
  );
  const markers = model.markers.map((part, k) => ({ ...part, noise: noises[k] }));
  return { ...model, markers, record: { ...model.record, verdict } };
}

/** Statistics of values weighted by E 1/λ_ik, whose noise has one level. */
function weigh(statistics: readonly BasisStatistics[], weights: readonly Float64Array[]): BasisStatistics[] {
  return statistics.map((own, k) => {
    const noise = levelNoise(1, 0, own.noise.correlation);
    return { ...weightedStatistics(own, weights[k]), noise };
  });
}

/** E 1/λ of a marker alone, [m]. */
function ownWeights(statistics: BasisStatistics, model: LmmModel): Float64Array {
  const { noises, ...parameters } = lmmParameters(model);
  const effectsOf = effectsReader(statistics, { ...parameters, noise: noises[0] });
  return Float64Array.from({ length: statistics.numIndividuals }, (_, i) => effectsOf(i).precision);
}

/** The noises that the statistics began with, at fitted levels and spreads. */
function learned(
  statistics: readonly BasisStatistics[],
  fitted: readonly Noise[],
  spreads: readonly number[],
): Noise[] {
  return statistics.map(({ noise }, k) => withSpread(withLevel(noise, noiseLevel(fitted[k])), spreads[k]));
}
