/**
 * How well a fit knows effects in the mean (docs/math/covariates.md §3): the inverse of Louis' information on mean and effects of all
 * markers (mean-effects.ts), with C_i of f over places and map,
 *   C_i,kk = R̄_ik − f̄_ikf̄_ik' (which holds the uncertainty of the map),   C_i,kl = Σ_g r_ig f̄_kgf̄_lg' − f̄_ikf̄_il'  (k ≠ l).
 * Products f̄_kgf̄_lg are further rows of the node table in one last pass. Levels of the noise are taken as known.
 */
import { scaledInverse } from "../../numeric/semidefinite.ts";
import { effectColumns, withoutEffects } from "../mean.ts";
import { individualModel, type MapEngine } from "./engine.ts";
import { packedStride } from "./individual-statistics.ts";
import { unpackMoments } from "./maximization-step.ts";
import { addLostInformation, individualDesign, meanEvidence, rowOf } from "./mean-effects.ts";
import type { DtmModel } from "./model.ts";
import { expectProducts } from "./passes.ts";
import type { DtmState } from "./state.ts";

/** Covariance and degrees of freedom of the effects of a state, from a last pass. */
export function finishEffects(engine: MapEngine, state: DtmState): NonNullable<DtmModel["effects"]> {
  const { markers, numIndividuals: m } = engine;
  const { form, values } = engine.effects!;
  const P = values.length / m;
  const products = expectProducts(engine, state);
  const width = products.length / m;
  const coefficients = state.markers.map(({ effects }) => effects!);
  const statistics = withoutEffects(
    markers.map((marker) => marker.statistics),
    { form, coefficients },
    values,
  );
  const sizes = statistics.map(({ basis }) => basis.numBasis);
  const starts = sizes.map((_, k) => sizes.slice(0, k).reduce((sum, d) => sum + d, 0));
  const D = sizes.reduce((sum, d) => sum + d, 0);
  const widths = markers.map(({ mean }, k) => mean.numColumns + coefficients[k].length);
  const S = widths.reduce((sum, own) => sum + own, 0);
  const designs = markers.map(({ mean }, k) => ({ mean, effect: effectColumns(form, statistics[k].basis) }));
  const models = markers.map((marker, k) => individualModel(marker, state.markers[k]));
  const complete = new Float64Array(S * S);
  const lost = new Float64Array(S * S);
  const C = new Float64Array(D * D);
  for (let i = 0; i < m; i++) {
    const z = values.subarray(i * P, (i + 1) * P);
    const moments = markers.map((marker, k) => {
      const stride = packedStride(sizes[k]);
      return unpackMoments(marker.moments.subarray(i * stride, (i + 1) * stride), sizes[k]);
    });
    const parts = statistics.map((own, k) => {
      const { squares } = state.markers[k];
      const row = rowOf(own, i, models[k], squares === null ? undefined : { before: squares, after: squares });
      return meanEvidence(row, moments[k].f, individualDesign(designs[k], z, sizes[k]));
    });
    let at = i * width;
    for (let k = 0; k < sizes.length; k++) {
      for (let l = k; l < sizes.length; l++) {
        for (let a = 0; a < sizes[k]; a++) {
          for (let b = 0; b < sizes[l]; b++) {
            const second = k === l ? moments[k].R[a * sizes[k] + b] : products[at++];
            const v = second - moments[k].f[a] * moments[l].f[b];
            C[(starts[k] + a) * D + starts[l] + b] = v;
            C[(starts[l] + b) * D + starts[k] + a] = v;
          }
        }
      }
    }
    addLostInformation(parts, C, lost);
    let from = 0;
    for (const { complete: own, score } of parts) {
      const n = score.length;
      for (let e = 0; e < n * n; e++) complete[(from + Math.floor(e / n)) * S + from + (e % n)] += own[e];
      from += n;
    }
  }
  const inverse = scaledInverse(
    complete.map((v, e) => v - lost[e]),
    S,
  );
  const kept = widths.flatMap((own, k) => {
    const from = widths.slice(0, k).reduce((sum, v) => sum + v, 0);
    const s = markers[k].mean.numColumns;
    return Array.from({ length: own - s }, (_, t) => from + s + t);
  });
  const covariance = Float64Array.from(kept.flatMap((s) => kept.map((t) => inverse[s * S + t])));
  return { form, covariance, degreesOfFreedom: Math.max(m - S, 1) };
}
