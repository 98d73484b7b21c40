/**
 * Several markers whose noise has levels of individuals (docs/math/linear.md §11). Given all levels λ_ik the model is that of a stack with noise
 * σ_k²λ_ik, but Σ joins the markers, so that a sum over levels is one over all their combinations. A posterior is therefore taken as
 *   q(w_i) Π_k q_k(λ_ik):   w_i as if marker k were seen with weights a_ik = E 1/λ_ik,
 *   q_k(λ_v) ∝ p_v λ_v^{−n_ik/2} exp(−χ_ik/(2σ_k²λ_v)),   χ_ik = E‖y_ik − B_ik(β_k + w_ik)‖²,
 * in turn until the weights stay. The log-likelihood is summed over those combinations of levels of all markers but one that these q leave any
 * weight; given them the last marker has a Gaussian prior, and its levels are summed as those of one marker are (noise/levels.ts).
 */
import { type BasisStatistics, residualStatistics, unpackGram, weightedStatistics } from "../../basis/statistics.ts";
import { DtmError } from "../../errors.ts";
import { levelRule, strideFor } from "../../noise/level-rules.ts";
import {
  expectedSquares,
  levelDensities,
  levelPosterior,
  levelsOf,
  logLevelMoments,
  type NoiseLevels,
  rotateEffect,
} from "../../noise/levels.ts";
import { levelNoise, noiseLevel, noiseSpread } from "../../noise/noise.ts";
import { bilinear, dot, multiply, multiplyTransposed, multiplyVector } from "../../numeric/matrix.ts";
import { logSumExp } from "../../numeric/special.ts";
import { semidefiniteRoot } from "../../numeric/symmetric-eigen.ts";
import { createWorkspace, factorIndividual, notPositive, solvePosterior } from "./low-rank.ts";
import { haveLevels, type LinearParameters, markerOfRow, type Stack, splitRows, stackMarkers } from "./stack.ts";

/** Alternations of q(w) and q(λ) at most, and the relative change of weights at which they end. */
const MAX_TURNS = 100;
const SAME_WEIGHT = 1e-5;
/** Combinations of levels with less than this of the largest weight are left out. */
const NEGLIGIBLE = 1e-12;
/** The most markers whose levels are combined: each beyond the second multiplies the sum by ten or more. */
const MOST_COMBINED = 3;

/** The stack that posteriors are taken from: of weighted values where the noises of several markers have levels. */
export function stackLevels(statistics: readonly BasisStatistics[], parameters: LinearParameters): Stack {
  if (!haveLevels(parameters.noises)) return stackMarkers(statistics, parameters);
  const weights = levelWeights(statistics, parameters);
  const weighted = statistics.map((own, k) => weightedStatistics(own, weights[k]));
  return stackMarkers(weighted, oneLevel(parameters));
}

/** The same parameters with noise of one level. */
export function oneLevel(parameters: LinearParameters): LinearParameters {
  return {
    ...parameters,
    noises: parameters.noises.map((noise) => levelNoise(noiseLevel(noise), 0, noise.correlation)),
  };
}

/** a_ik = E 1/λ_ik of each marker, [m]. */
export function levelWeights(statistics: readonly BasisStatistics[], parameters: LinearParameters): Float64Array[] {
  const individual = levelReader(statistics, parameters);
  const out = statistics.map(({ numIndividuals }) => new Float64Array(numIndividuals));
  for (let i = 0; i < statistics[0].numIndividuals; i++) {
    individual.posteriors(i).forEach(({ weight }, k) => {
      out[k][i] = weight;
    });
  }
  return out;
}

/** log p(y_i) of every individual, [m]. */
export function levelLogLikelihoods(
  statistics: readonly BasisStatistics[],
  parameters: LinearParameters,
): Float64Array {
  const K = statistics.length;
  if (K > MOST_COMBINED) {
    throw new DtmError(
      "option",
      `Log-likelihood of several markers whose noise has levels: expected at most ${MOST_COMBINED} markers, received ${K}. Use noise of one level, or fewer markers.`,
    );
  }
  const individual = levelReader(statistics, parameters);
  return Float64Array.from({ length: statistics[0].numIndividuals }, (_, i) => {
    const measured = statistics.flatMap(({ counts }, k) => (counts[i] > 0 ? [k] : []));
    if (measured.length === 0) return 0;
    const [last, ...others] = measured.reverse();
    const levels = individual.posteriors(i);
    const looked = others.map((k) => fewerLevels(levels[k]));
    const terms: number[] = [];
    const precisions = new Float64Array(K);
    // One level of each marker after the other; `share` is the product of their q, each relative to its largest.
    const add = (at: number, logPrior: number, share: number): void => {
      if (at === others.length) {
        terms.push(logPrior + individual.logDensity(i, precisions, last));
        return;
      }
      for (const { precision, logCount, own } of looked[at]) {
        const left = share * own;
        if (left < NEGLIGIBLE) continue;
        precisions[others[at]] = precision;
        add(at + 1, logPrior + logCount, left);
      }
    };
    add(0, 0, 1);
    return logSumExp(terms);
  });
}

/** As many levels of a marker as its q asks for, with the logarithm of what each counts and its q relative to the largest. */
function fewerLevels({ table, q }: MarkerLevels) {
  const stride = table.spread === 0 ? 1 : strideFor(table, logLevelMoments(q, table).sd / table.spread);
  const { z, logCounts } = levelRule(table, stride);
  const largest = Math.max(...q);
  return Array.from(z, (at, k) => {
    const v = table.z.indexOf(at);
    return { precision: table.precisions[v], logCount: logCounts[k], own: q[v] / largest };
  });
}

/** Levels of one marker's noise, with 1/λ_v. */
interface LevelTable extends NoiseLevels {
  readonly precisions: Float64Array;
}

interface MarkerLevels {
  readonly table: LevelTable;
  readonly q: Float64Array; // [levels]
  /** E 1/λ. */
  readonly weight: number;
}

/** Reads one individual after the other, in the unit of the stack. */
function levelReader(statistics: readonly BasisStatistics[], parameters: LinearParameters) {
  const { statistics: whole, parameters: white, logUnit } = stackMarkers(statistics, oneLevel(parameters));
  const rowMarker = markerOfRow(statistics);
  const D = rowMarker.length;
  const sigma2 = noiseLevel(white.noise);
  const tables = parameters.noises.map((noise): LevelTable => {
    const levels = levelsOf(1, noiseSpread(noise));
    return { ...levels, precisions: levels.variances.map((lambda) => 1 / lambda) };
  });
  const ofLast = parameters.noises.map((noise) => levelsOf(sigma2, noiseSpread(noise)));
  const { numBand, bandRow } = whole;
  // One individual at a time, weighted.
  const one = { ...whole, numIndividuals: 1, gram: new Float64Array(numBand), cross: new Float64Array(D) };
  const single = { ...one, sumSquares: new Float64Array(1), counts: new Float64Array(1), logDets: new Float64Array(1) };
  const ws = createWorkspace(single, white);
  // Each marker alone in the unit of the stack, about its centre.
  const stacked = statistics.map((own, k) => {
    const S = Math.sqrt(sigma2 / noiseLevel(parameters.noises[k]));
    const cross = own.cross.map((c) => S * c);
    return { ...own, center: 0, cross, sumSquares: own.sumSquares.map((s) => S * S * s) };
  });
  const squares = stacked.map(({ sumSquares }) => sumSquares);
  const factors = splitRows(statistics, white.factor);
  const means = splitRows(statistics, white.meanCoefficients);
  const G = new Float64Array(D * D);

  /** Makes the single individual i, with these weights of its markers; 0 leaves one out. */
  const weigh = (i: number, weights: ArrayLike<number>): void => {
    for (let e = 0; e < numBand; e++) single.gram[e] = weights[rowMarker[bandRow[e]]] * whole.gram[i * numBand + e];
    for (let j = 0; j < D; j++) single.cross[j] = weights[rowMarker[j]] * whole.cross[i * D + j];
    single.sumSquares[0] = squares.reduce((sum, own, k) => sum + weights[k] * own[i], 0);
    single.counts[0] = 0;
    single.logDets[0] = 0;
    statistics.forEach(({ counts, logDets }, k) => {
      if (weights[k] === 0) return;
      single.counts[0] += counts[i];
      single.logDets[0] += logDets[i];
    });
  };
  const factor = (): number => {
    const value = factorIndividual(single, 0, white, ws);
    if (Number.isNaN(value)) throw notPositive(parameters.noises);
    return value;
  };

  return {
    /** log p(y_i | levels of others), summed over those of the last marker, for 1/λ_ik of each other one and 0 for the last. */
    logDensity: (i: number, precisions: Float64Array, last: number): number => {
      precisions[last] = 0;
      weigh(i, precisions);
      const ofOthers = precisions.reduce(
        (sum, a, k) => sum + (a > 0 ? 0.5 * statistics[k].counts[i] * Math.log(a) : 0),
        0,
      );
      const given = factor() + ofOthers;
      solvePosterior(ws);
      // w of the last marker given the others: N(m, RR').
      const d = statistics[last].basis.numBasis;
      const r = white.rank;
      const L = factors[last];
      const m = multiplyVector(L, ws.v, d, r).map((v, j) => v + means[last][j]);
      const C = multiplyTransposed(multiply(L, ws.P, d, r, r), L, d, r, d).map((v) => sigma2 * v);
      const own = stacked[last];
      const G = new Float64Array(d * d);
      unpackGram(own, i, G);
      const g = new Float64Array(d);
      const rho = residualStatistics(own, i, m, g);
      const rotated = rotateEffect(G, semidefiniteRoot(C, d), d, d);
      const { n, logDet } = { n: own.counts[i], logDet: own.logDets[i] };
      const evidence = { n, logDet, delta: rotated.delta, ...expectedSquares({ G, g, rho }, rotated) };
      const levels = ofLast[last];
      return given + levelPosterior(levelDensities(evidence, levels, 1), levels).logSum + logUnit(i);
    },
    /** q_k of each marker. */
    posteriors: (i: number): MarkerLevels[] => {
      let levels = tables.map((table): MarkerLevels => {
        const q = table.logWeights.map(Math.exp);
        return { table, q, weight: dot(q, table.precisions) };
      });
      unpackGram(whole, i, G);
      for (let turn = 0; turn < MAX_TURNS; turn++) {
        weigh(
          i,
          levels.map(({ weight }) => weight),
        );
        factor();
        solvePosterior(ws);
        const w = multiplyVector(white.factor, ws.v, D, white.rank).map((v, j) => v + white.meanCoefficients[j]);
        const LP = multiply(white.factor, ws.P, D, white.rank, white.rank);
        const C = multiplyTransposed(LP, white.factor, D, white.rank, D); // Cov w / σ²
        const next = levels.map(({ table }, k): MarkerLevels => {
          const own = (x: Float64Array) => x.map((v, j) => (rowMarker[j] === k ? v : 0));
          const wk = own(w);
          let chi = squares[k][i] + bilinear(wk, G, wk);
          for (let j = 0; j < D; j++) {
            if (rowMarker[j] !== k) continue;
            chi -= 2 * wk[j] * whole.cross[i * D + j];
            for (let l = 0; l < D; l++) if (rowMarker[l] === k) chi += sigma2 * G[j * D + l] * C[j * D + l];
          }
          const n = statistics[k].counts[i];
          const densities = table.precisions.map((a) => 0.5 * (n * Math.log(a) - (a * Math.max(chi, 0)) / sigma2));
          const { weights: q } = levelPosterior(densities, table);
          return { table, q, weight: dot(q, table.precisions) };
        });
        const same = next.every(({ weight }, k) => Math.abs(weight / levels[k].weight - 1) < SAME_WEIGHT);
        levels = next;
        if (same) break;
      }
      return levels;
    },
  };
}
