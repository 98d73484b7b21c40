/**
 * How well a fit knows effects in the mean (docs/math/covariates.md §3): the inverse of Louis' information on mean and effects of all
 * markers (mean-effects.ts), with C_i of f over places and map,
 *   C_i,kk = R̄_ik − f̄_ikf̄_ik' (which holds the uncertainty of the map),   C_i,kl = Σ_g r_ig f̄_kgf̄_lg' − f̄_ikf̄_il'  (k ≠ l).
 * Products f̄_kgf̄_lg are further rows of the node table in one last pass; with those of k = l in place of R̄_ik it is the information with the
 * map known. Levels of the noise are taken as known. Beside it stands the covariance that does not count on the model being right
 * (effect-covariances.ts), from the same scores and informations.
 */
import { joinFloats } from "../../numeric/matrix.ts";
import { effectCovariances } from "../effect-covariances.ts";
import type { IndividualEvidence } from "../jackknife.ts";
import { effectColumns, withoutEffects } from "../mean.ts";
import { individualModel, type MapEngine } from "./engine.ts";
import { packedStride } from "./individual-statistics.ts";
import { unpackMoments } from "./maximization-step.ts";
import { addLostInformation, individualDesign, type MeanEvidence, meanEvidence, rowOf } from "./mean-effects.ts";
import type { DtmModel } from "./model.ts";
import { expectProducts } from "./passes.ts";
import type { DtmState } from "./state.ts";

/** Covariance and degrees of freedom of the effects of a state, from a last pass. */
export function finishEffects(engine: MapEngine, state: DtmState): NonNullable<DtmModel["effects"]> {
  const { markers, numIndividuals: m } = engine;
  const { form } = engine.effects!;
  const widths = markers.map(({ mean }, k) => mean.numColumns + state.markers[k].effects!.length);
  const S = widths.reduce((sum, own) => sum + own, 0);
  const evidenceOf = meanEvidences(engine, state, S);
  const kept = widths.flatMap((own, k) => {
    const from = widths.slice(0, k).reduce((sum, v) => sum + v, 0);
    const s = markers[k].mean.numColumns;
    return Array.from({ length: own - s }, (_, t) => from + s + t);
  });
  return { form, ...effectCovariances(m, evidenceOf, S, kept) };
}

/** Score and information of individuals on mean and effects of all markers, S in all; arrays are new for everyone. */
function meanEvidences(engine: MapEngine, state: DtmState, S: number): (individual: number) => IndividualEvidence {
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
  const designs = markers.map(({ mean }, k) => ({ mean, effect: effectColumns(form, statistics[k].basis) }));
  const models = markers.map((marker, k) => individualModel(marker, state.markers[k]));
  // C_i, and C_i with the map known.
  const C = new Float64Array(D * D);
  const overNodes = new Float64Array(D * D);
  return (i) => {
    const z = values.subarray(i * P, (i + 1) * P);
    const moments = markers.map((marker, k) => {
      const stride = packedStride(sizes[k]);
      return unpackMoments(marker.moments.subarray(i * stride, (i + 1) * stride), sizes[k]);
    });
    const parts = statistics.map((own, k) => {
      const { squares } = state.markers[k];
      const row = rowOf(own, i, models[k], squares ?? undefined);
      return meanEvidence(row, moments[k].f, individualDesign(designs[k], z, sizes[k]));
    });
    let at = i * width;
    for (let k = 0; k < sizes.length; k++) {
      for (let l = k; l < sizes.length; l++) {
        for (let a = 0; a < sizes[k]; a++) {
          for (let b = k === l ? a : 0; b < sizes[l]; b++) {
            const known = products[at++];
            const both = moments[k].f[a] * moments[l].f[b];
            const [e, mirrored] = [(starts[k] + a) * D + starts[l] + b, (starts[l] + b) * D + starts[k] + a];
            overNodes[e] = overNodes[mirrored] = known - both;
            C[e] = C[mirrored] = (k === l ? moments[k].R[a * sizes[k] + b] : known) - both;
          }
        }
      }
    }
    const score = joinFloats(parts.map((part) => part.score));
    return { score, information: observed(parts, C, S), withMapKnown: observed(parts, overNodes, S) };
  };
}

/** I^c − U'CU of one individual, [S,S]. */
function observed(parts: readonly MeanEvidence[], covariance: Float64Array, S: number): Float64Array {
  const lost = new Float64Array(S * S);
  addLostInformation(parts, covariance, lost);
  const information = lost.map((v) => -v);
  let from = 0;
  for (const { complete, score } of parts) {
    const n = score.length;
    for (let e = 0; e < n * n; e++) information[(from + Math.floor(e / n)) * S + from + (e % n)] += complete[e];
    from += n;
  }
  return information;
}
