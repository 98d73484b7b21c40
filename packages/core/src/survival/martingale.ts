/**
 * Nelson–Aalen martingale residuals M_i = event_i − H(time_i), H(t) = Σ_{s ≤ t} d_s/n_s over event times with d_s events
 * among n_s at risk; tied times share a risk set. Σ M_i φ_i is the score at zero of a Cox model in φ.
 *                                                                                  (docs/math/association.md §6)
 */
import { checkFollowUp, type FollowUp, tiesOf } from "./follow-up.ts";

export function martingaleResiduals(followUp: FollowUp): Float64Array {
  checkFollowUp(followUp, "martingaleResiduals");
  const { times, events } = followUp;
  const order = Int32Array.from({ length: times.length }, (_, i) => i).sort((a, b) => times[a] - times[b]);
  const out = new Float64Array(order.length);
  let atRisk = order.length;
  let hazard = 0;
  for (const tied of tiesOf(order, followUp)) {
    hazard += tied.reduce((d, i) => d + events[i], 0) / atRisk;
    for (const i of tied) out[i] = events[i] - hazard;
    atRisk -= tied.length;
  }
  return out;
}
