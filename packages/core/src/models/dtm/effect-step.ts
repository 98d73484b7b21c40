/** How effects of covariates in the mean move (mean-effects.ts): their slope, and EM steps of them, from the sums of a pass. */
import { multiplyVector } from "../../numeric/matrix.ts";
import { scaledInverse } from "../../numeric/semidefinite.ts";
import type { MapEngine, MarkerEngine, ParameterSlope } from "./engine.ts";
import { meanUnit } from "./parameters.ts";
import type { DtmState } from "./state.ts";

/** The slope by γ of one marker, in units of `meanUnit`. */
export function effectSlope(engine: MarkerEngine): ParameterSlope {
  const { score, complete } = engine.sums!.effects!;
  const n = score.length;
  const unit = meanUnit(engine);
  const inverse = scaledInverse(complete, n).map((v) => v / (unit * unit));
  return {
    gradient: score.map((s) => (engine.settings.learn ? unit * s : 0)),
    precondition: (vector) => multiplyVector(inverse, vector, n, n),
  };
}

/** Where the share `rate` of an EM step takes the effects of every marker; null for markers without. */
export function movedEffects(engine: MapEngine, state: DtmState, rate: number) {
  return engine.markers.map((marker, k) => {
    const own = state.markers[k];
    if (own.effects === null) return null;
    const { gradient, precondition } = effectSlope(marker);
    const unit = meanUnit(marker);
    const step = precondition(gradient);
    return own.effects.map((v, e) => v + rate * unit * step[e]);
  });
}
