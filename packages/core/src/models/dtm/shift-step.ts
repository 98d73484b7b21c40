/** How covariates' shift of places moves (place-shift.ts): its slope, and an EM step of it, from the places that a pass left. */
import { multiplyVector, takeRows } from "../../numeric/matrix.ts";
import { pseudoInverse } from "../../numeric/semidefinite.ts";
import type { MapEngine, ParameterSlope } from "./engine.ts";
import { priorsUnder } from "./passes.ts";
import { momentsOfPowers, shiftInformation, shiftScores } from "./place-shift.ts";
import type { Visited } from "./shards.ts";
import type { DtmState } from "./state.ts";

/** The slope by Φ, from the places of the visited in the last pass. */
export function shiftSlope(engine: MapEngine, shift: Float64Array, visited: Visited): ParameterSlope {
  const { covariates, nodes, placeMoments, settings, numIndividuals: m } = engine;
  const q = nodes.mapDimension;
  const all = priorsUnder(engine, shift);
  const taken = (rows: Float64Array, width: number) => (visited === null ? rows : takeRows(rows, width, visited));
  const z = taken(covariates!, covariates!.length / m);
  const prior = { means: taken(all.means, q), covariances: taken(all.covariances, q * q) };
  const n = shift.length;
  const gradient = new Float64Array(n);
  shiftScores(prior, momentsOfPowers(placeMoments, q), z, q).forEach((s, e) => {
    gradient[e % n] += s;
  });
  const { inverse } = pseudoInverse(shiftInformation(prior.covariances, z, q), n);
  return {
    gradient: settings.learn ? gradient : gradient.fill(0),
    precondition: (vector) => multiplyVector(inverse, vector, n, n),
  };
}

/** The share `rate` of an EM step of the shift of places, from the places of the visited. */
export function moveShift(engine: MapEngine, state: DtmState, visited: Visited, rate: number): void {
  if (state.shift === null) return;
  const { gradient, precondition } = shiftSlope(engine, state.shift, visited);
  const step = precondition(gradient);
  state.shift = state.shift.map((v, e) => v + rate * step[e]);
}
