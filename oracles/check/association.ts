/**
 * fixtures/association/*.json (a reference in Python): the test of outcomes on whole posteriors, from given node weights.
 * Tolerances are those of fixtures/association/README.md: 1e-9 of the largest magnitude, p by multipliers exactly.
 */
import { differenceBand } from "../../packages/core/src/associate/difference-map.ts";
import { countExceedances, planMultipliers, type Signs } from "../../packages/core/src/associate/multipliers.ts";
import { pairAuc } from "../../packages/core/src/associate/pair-auc.ts";
import { featureDegrees, type PlaceKernel, placeFeatures } from "../../packages/core/src/associate/place-features.ts";
import { type NodePosteriors, reweightedFeatures } from "../../packages/core/src/associate/posterior-features.ts";
import {
  approximateP,
  cumulants,
  type Score,
  scoreOf,
  weightedSum,
} from "../../packages/core/src/associate/score-test.ts";
import { multiply } from "../../packages/core/src/numeric/matrix.ts";
import { chisquareUpper } from "../../packages/core/src/numeric/special.ts";
import { martingaleResiduals } from "../../packages/core/src/survival/martingale.ts";
import { type Check, compare, flatten, type Nested } from "./checker.ts";

interface ScoreFixture {
  readonly T: number;
  readonly cumulants: Nested;
  readonly p_liu: number;
  readonly p_satterthwaite: number;
  readonly p_multiplier: number;
}

interface AssociationFixture {
  readonly nodes: readonly (readonly number[])[];
  readonly prior: readonly number[];
  readonly weights: Nested;
  readonly labels: readonly number[];
  readonly visits: readonly number[];
  readonly age: readonly number[];
  readonly time: readonly number[];
  readonly event: readonly number[];
  readonly multipliers: readonly (readonly number[])[];
  readonly degree: number;
  readonly width: number;
  readonly degrees: Nested;
  readonly node_features_first: readonly (readonly number[])[];
  readonly phi: Nested;
  readonly phi_prior: Nested;
  readonly two_groups: ScoreFixture & {
    readonly T_difference: number;
    readonly S: Nested;
    readonly E_first: Nested;
    readonly ratio: number;
  };
  readonly adjusted: ScoreFixture;
  readonly survival: ScoreFixture & { readonly martingale: Nested };
  readonly visit_count: ScoreFixture;
  readonly reweighted: ScoreFixture;
  readonly difference_map: PlaceKernel & {
    readonly places: readonly (readonly number[])[];
    readonly difference: Nested;
    readonly half_width: Nested;
    readonly c: number;
  };
  readonly auc: { readonly auc: number };
}

const TIGHT = 1e-9;

export function checkAssociation(fixture: AssociationFixture): Check[] {
  const { multipliers, labels, two_groups: two, difference_map: map } = fixture;
  const m = labels.length;
  const G = fixture.prior.length;
  const q = fixture.nodes[0].length;
  const nodes = flatten(fixture.nodes);
  const weights = flatten(fixture.weights);
  const prior = Float64Array.from(fixture.prior);
  const featuresOf = (r: Float64Array, psi: Float64Array) => multiply(r, psi, r.length / G, G, psi.length / G);
  const psi = placeFeatures(nodes, q, fixture);
  const F = psi.length / G;
  const phi = featuresOf(weights, psi);
  const signs: Signs = (draw, bytes) => {
    bytes.fill(0);
    multipliers[draw].forEach((sign, i) => {
      if (sign > 0) bytes[i >> 3] |= 1 << (i & 7);
    });
  };
  const scoreChecks = (name: string, score: Score, expected: ScoreFixture): Check[] => {
    const [c1, c2, c3, c4] = cumulants(score.variance, F);
    const count = countExceedances(planMultipliers(score), 0, multipliers.length, signs);
    return [
      compare(`${name}.T`, score.statistic, expected.T, TIGHT),
      compare(`${name}.cumulants`, [c1, c2, c3, c4], expected.cumulants, TIGHT),
      compare(`${name}.p_liu`, approximateP(score), expected.p_liu),
      compare(
        `${name}.p_satterthwaite`,
        chisquareUpper((score.statistic * c1) / c2, (c1 * c1) / c2),
        expected.p_satterthwaite,
        TIGHT,
      ),
      // Both are the same whole number over B + 1.
      compare(`${name}.p_multiplier`, (1 + count) / (multipliers.length + 1), expected.p_multiplier, 1e-15),
    ];
  };
  const everyNode = Int32Array.from(prior.keys());
  const each: NodePosteriors["each"] = (visit) => {
    for (let i = 0; i < m; i++) visit(i, everyNode, weights.subarray(i * G, (i + 1) * G));
  };
  const score = scoreOf(phi, labels);
  const cases = labels.reduce((s, v) => s + v, 0);
  const scale = m / (cases * (m - cases));
  const residuals = martingaleResiduals({ times: fixture.time, events: fixture.event });
  const wide = placeFeatures(nodes, q, map);
  const wideScore = scoreOf(featuresOf(weights, wide), labels);
  const at = placeFeatures(flatten(map.places), q, map);
  const priorWide = weightedSum(prior, wide, G, wide.length / G);
  const band = differenceBand(at, priorWide, wideScore, multipliers.length, signs);
  return [
    compare("degrees", featureDegrees(q, fixture.degree), fixture.degrees, 0),
    compare(
      "node_features_first",
      psi.slice(0, fixture.node_features_first.length * F),
      fixture.node_features_first,
      TIGHT,
    ),
    compare("phi", phi, fixture.phi, TIGHT),
    compare("phi_prior", weightedSum(prior, psi, G, F), fixture.phi_prior, TIGHT),
    ...scoreChecks("two_groups", score, two),
    compare("two_groups.T_difference", score.statistic * scale ** 2, two.T_difference, TIGHT),
    compare("two_groups.S", score.sum, two.S, TIGHT),
    compare(
      "two_groups.E_first",
      score.errors.slice(0, F).map((e) => score.residual[0] * e),
      two.E_first,
      TIGHT,
    ),
    compare("two_groups.ratio", score.statistic / cumulants(score.variance, F)[0], two.ratio, TIGHT),
    ...scoreChecks("adjusted", scoreOf(phi, labels, [fixture.age, fixture.age.map((v) => v * v)]), fixture.adjusted),
    compare("survival.martingale", residuals, fixture.survival.martingale, TIGHT),
    ...scoreChecks("survival", scoreOf(phi, residuals), fixture.survival),
    ...scoreChecks("visit_count", scoreOf(phi, fixture.visits), fixture.visit_count),
    ...scoreChecks(
      "reweighted",
      scoreOf(reweightedFeatures({ numIndividuals: m, prior, each }, psi), labels),
      fixture.reweighted,
    ),
    compare("difference_map.difference", band.difference, map.difference, TIGHT),
    compare("difference_map.half_width", band.halfWidth, map.half_width, TIGHT),
    compare("difference_map.c", band.critical, map.c, TIGHT),
    compare("auc", pairAuc(phi, labels).value, fixture.auc.auc, 1e-15),
  ];
}
