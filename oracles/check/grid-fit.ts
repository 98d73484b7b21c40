/**
 * Recomputes grid_fit.json: from the listed linear start, the first bound to 1e-8; then a whole fit with the default
 * stopping rule, whose bound must come within 1 of the best known, without a fall, and whose held-out log-likelihood
 * must agree in the mean.
 */

import { basisStatistics } from "../../packages/core/src/basis/statistics.ts";
import { startBatch } from "../../packages/core/src/models/dtm/batch.ts";
import { createEngine, individualModel, startAnchors } from "../../packages/core/src/models/dtm/engine.ts";
import { expectationPass, nodeWeights } from "../../packages/core/src/models/dtm/expectation-step.ts";
import { latticeNodes } from "../../packages/core/src/models/dtm/nodes.ts";
import { fitDtmFrom } from "../../packages/core/src/models/dtm/run.ts";
import { dtmSettings } from "../../packages/core/src/models/dtm/settings.ts";
import { placesFromPosterior, startingWeights } from "../../packages/core/src/models/dtm/starting-places.ts";
import { firstState } from "../../packages/core/src/models/dtm/state.ts";
import { markerModel } from "../../packages/core/src/models/fit.ts";
import { mapMoments } from "../../packages/core/src/models/gp/sparse-map.ts";
import type { MapStart } from "../../packages/core/src/models/map-start.ts";
import { logLikelihoods } from "../../packages/core/src/models/mixture/conditioner.ts";
import { makeMixture } from "../../packages/core/src/models/mixture/mixture.ts";
import { whiteNoise } from "../../packages/core/src/noise/noise.ts";
import {
  atLeast,
  type Check,
  compare,
  compareAbsolute,
  fixtureBasis,
  fixtureCohort,
  flatten,
  type Nested,
} from "./checker.ts";

/** The parts of grid_fit.json that are read. */
export interface GridFitFixture {
  readonly ids: readonly number[];
  readonly t: readonly number[];
  readonly y: readonly number[];
  readonly knots: readonly number[];
  readonly lmm: { readonly mu: number | readonly number[]; readonly s2: number; readonly Sigma: Nested };
  readonly fpca: { readonly xhat: readonly (readonly number[])[]; readonly C: Nested };
  readonly r0_subject0: readonly number[];
  readonly first: number;
  readonly first_Li: readonly number[];
  readonly F_best: number;
  readonly test_ids: readonly number[];
  readonly test_t: readonly number[];
  readonly test_y: readonly number[];
  readonly ll_mean: number;
}

/** Nodes of the fit, and of the held-out likelihood. */
const FIT_STEP = 0.4;
const HELD_OUT_NODES = { step: 0.2, radius: 4.4 };

/** Checks grid_fit.json by its note. */
export function checkGridFit(fixture: GridFitFixture): Check[] {
  const d = Math.sqrt(flatten(fixture.lmm.Sigma).length);
  const basis = fixtureBasis(fixture.knots, fixture.knots.length - d - 1);
  const statistics = basisStatistics(fixtureCohort(fixture.ids, fixture.t, fixture.y), basis);
  const start = listedStart(fixture, d);
  const options = { mapDimension: fixture.fpca.xhat[0].length, nodes: { step: FIT_STEP } };
  const checks = checkFirst(fixture, start);

  const model = fitDtmFrom([statistics], start, options);
  let fall = 0;
  const { trace } = model.record;
  for (let k = 1; k < trace.length; k++) fall = Math.max(fall, trace[k - 1] - trace[k]);
  checks.push(atLeast("F_best", model.bound, fixture.F_best, 1), {
    name: "falls of the trace",
    error: fall / Math.abs(model.bound),
    tolerance: 1e-8,
  });

  const nodes = latticeNodes(options.mapDimension, HELD_OUT_NODES);
  const { means, covariances } = mapMoments(markerModel(model).map, nodes.locations, nodes.numNodes);
  const mixture = makeMixture({
    numBasis: d,
    mapDimension: options.mapDimension,
    locations: nodes.locations,
    logWeights: nodes.logWeights,
    means,
    covariances: covariances.map((v, e) => v + markerModel(model).residual.covariance[e % (d * d)]),
    meanCoefficients: markerModel(model).mean.coefficients,
    noise: markerModel(model).noise,
  });
  const test = fixtureCohort(fixture.test_ids, fixture.test_t, fixture.test_y);
  const heldOut = logLikelihoods(mixture, basisStatistics(test, basis, statistics));
  const mean = heldOut.reduce((s, v) => s + v, 0) / heldOut.length;
  return [...checks, compareAbsolute("ll_mean", mean, fixture.ll_mean, 0.05)];

  /** Starting weights, and the bound after the first q(u) and expectation pass. */
  function checkFirst({ r0_subject0, first, first_Li }: GridFitFixture, from: MapStart): Check[] {
    const settings = dtmSettings(options, from, statistics.numIndividuals);
    const engine = createEngine([statistics], startAnchors(from), settings);
    const state = firstState(from, settings);
    const places = placesFromPosterior(from.locationMean, from.locationCovariance, settings.mapDimension);
    const weights = new Float64Array(engine.nodes.numNodes);
    const { terms, powers } = startingWeights(engine.nodes, places);
    const numTerms = powers.length / weights.length;
    nodeWeights(terms.subarray(0, numTerms), powers, new Float64Array(weights.length), weights);
    startBatch(engine, state, places);
    const contributions = new Float64Array(statistics.numIndividuals);
    const [marker] = engine.markers;
    const { numNodes, logWeights } = engine.nodes;
    const table = { numNodes, stride: marker.table.length / numNodes, rows: marker.table, logWeights };
    expectationPass([statistics], [individualModel(marker, state.markers[0])], table, { contributions });
    return [
      compare("r0_subject0", weights, r0_subject0),
      compare("first", state.trace, [first]),
      compare("first_Li", contributions, first_Li),
    ];
  }
}

function listedStart({ lmm, fpca }: GridFitFixture, d: number): MapStart {
  const coefficients = typeof lmm.mu === "number" ? new Float64Array(d).fill(lmm.mu) : Float64Array.from(lmm.mu);
  return {
    markers: [
      {
        mean: { kind: typeof lmm.mu === "number" ? "scalar" : "spline", coefficients },
        noise: whiteNoise(lmm.s2),
        covariance: flatten(lmm.Sigma),
      },
    ],
    // Principal component scores start only restarts, which are not asked for.
    scores: flatten(fpca.xhat),
    locationMean: flatten(fpca.xhat),
    locationCovariance: flatten(fpca.C),
    warnings: [],
  };
}
