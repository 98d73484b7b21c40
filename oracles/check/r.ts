/**
 * fixtures/r/*.json, written by oracles/hclust.R and oracles/survival.R: Ward trees, varimax rotations, and Kaplan–Meier
 * curves, log-rank tests, Cox regressions with their hazards, concordances, tests of proportional hazards, and curves of
 * competing events. Each file states its tolerance; trees and cuts must be equal.
 */
import { cutTree, wardTree } from "../../packages/core/src/map/clusters/ward.ts";
import { varimax } from "../../packages/core/src/map/varimax.ts";
import { fitCox } from "../../packages/core/src/survival/cox.ts";
import { coxHazard, coxScore, cumulativeHazard } from "../../packages/core/src/survival/cox-risk.ts";
import { type IntervalType, type KaplanMeier, kaplanMeier } from "../../packages/core/src/survival/kaplan-meier.ts";
import { logRank } from "../../packages/core/src/survival/log-rank.ts";
import { type TimeTransform, testProportionalHazards } from "../../packages/core/src/survival/proportional-hazards.ts";
import { type Check, compare, compareKnown, flatten, type Nested, type WithNull } from "./checker.ts";
import { type CompetingCase, checkCompeting } from "./competing.ts";

interface Cases<T> {
  readonly tolerance: number;
  readonly cases: readonly T[];
}

interface HclustCase {
  readonly name: string;
  readonly points: readonly (readonly number[])[];
  readonly merge: Nested;
  readonly height: readonly number[];
  readonly order: readonly number[];
  readonly cuts: readonly { readonly k: number; readonly labels: readonly number[] }[];
}

/** Checks a file of the form of fixtures/r/hclust.json. */
export function checkHclust({ cases, tolerance }: Cases<HclustCase>): Check[] {
  return cases.flatMap((c) => {
    const n = c.points.length;
    const tree = wardTree(flatten(c.points), n, c.points[0].length);
    // R numbers points −1, −2, … and merges 1, 2, …
    const merge = Float64Array.from(tree.merges, (node) => (node < n ? -1 - node : node - n + 1));
    const oneBased = (x: Int32Array) => Float64Array.from(x, (v) => v + 1);
    return [
      compare(`${c.name}: merge`, merge, c.merge, 0),
      compare(`${c.name}: height`, tree.heights, c.height, tolerance),
      compare(`${c.name}: order`, oneBased(tree.leafOrder), c.order, 0),
      ...c.cuts.map(({ k, labels }) => compare(`${c.name}: ${k} groups`, oneBased(cutTree(tree, k)), labels, 0)),
    ];
  });
}

interface VarimaxCase {
  readonly name: string;
  readonly loadings: readonly (readonly number[])[];
  readonly normalize: boolean;
  readonly eps: number;
  readonly rotated: Nested;
  readonly rotmat: Nested;
}

/** Checks a file of the form of fixtures/r/varimax.json. */
export function checkVarimax({ cases, tolerance }: Cases<VarimaxCase>): Check[] {
  return cases.flatMap((c) => {
    const options = { normalize: c.normalize, tolerance: c.eps };
    const fit = varimax(flatten(c.loadings), c.loadings.length, c.loadings[0].length, options);
    return [
      compare(`${c.name}: rotated`, fit.loadings, c.rotated, tolerance),
      compare(`${c.name}: rotmat`, fit.rotation, c.rotmat, tolerance),
    ];
  });
}

interface Band {
  readonly lower: WithNull;
  readonly upper: WithNull;
  readonly median: WithNull;
}

interface CurveFixture {
  readonly group: number;
  readonly time: readonly number[];
  readonly at_risk: readonly number[];
  readonly events: readonly number[];
  readonly censored: readonly number[];
  readonly survival: readonly number[];
  readonly standard_error: WithNull;
  readonly log_log: Band;
  readonly log: Band;
  readonly plain: Band;
}

interface CoxFixture {
  readonly columns: readonly number[];
  readonly ties: "efron" | "breslow";
  readonly coefficients: readonly number[];
  readonly covariance: Nested;
  readonly log_likelihood: readonly number[];
  /** Statistic, degrees, p. */
  readonly likelihood_ratio: readonly number[];
  readonly score: readonly number[];
  readonly wald: readonly number[];
  readonly p: readonly number[];
  readonly concordance: number;
  readonly concordance_se: number;
  /** Concordant, discordant, tied in risk, and pairs that cannot be compared. */
  readonly pairs: readonly number[];
  /** Cumulative, for x = 0, at every distinct time. */
  readonly base_hazard: readonly number[];
  /** Tests of the columns and, last, of all. */
  readonly proportional: readonly {
    readonly transform: TimeTransform;
    readonly chisq: readonly number[];
    readonly df: readonly number[];
    readonly p: readonly number[];
  }[];
  readonly residual_sums: Nested;
}

interface SurvivalCase {
  readonly name: string;
  readonly time: readonly number[];
  readonly event: readonly number[];
  readonly group: readonly number[];
  readonly x: readonly (readonly number[])[];
  readonly kaplan_meier: readonly CurveFixture[];
  readonly log_rank: {
    readonly chisq: number;
    readonly df: number;
    readonly p: number;
    readonly observed: readonly number[];
    readonly expected: readonly number[];
    readonly variance: Nested;
  } | null;
  readonly cox: readonly CoxFixture[];
}

/** Checks a file of the form of fixtures/r/survival.json. */
export function checkSurvival({
  cases,
  competing = [],
  tolerance,
}: Cases<SurvivalCase> & { readonly competing?: readonly CompetingCase[] }): Check[] {
  return [
    ...cases.flatMap((c) => [
      ...c.kaplan_meier.flatMap((curve) => checkCurve(c, curve, tolerance)),
      ...checkLogRank(c, tolerance),
      ...c.cox.flatMap((fixture) => [
        ...checkCox(c, fixture, tolerance),
        ...checkHazard(c, fixture, tolerance),
        ...checkProportional(c, fixture, tolerance),
      ]),
    ]),
    ...competing.flatMap((c) => checkCompeting(c, tolerance)),
  ];
}

const columnsOf = (c: SurvivalCase, columns: readonly number[]) =>
  flatten(c.x.map((row) => columns.map((column) => row[column])));

function checkHazard(c: SurvivalCase, { columns, ties, base_hazard }: CoxFixture, tolerance: number): Check[] {
  const data = { times: c.time, events: c.event };
  const X = columnsOf(c, columns);
  const hazard = coxHazard(data, X, fitCox(data, X, columns.length, { ties }));
  const atZero = Math.exp(coxScore(hazard, new Float64Array(columns.length)));
  const times = [...new Set(c.time)].sort((a, b) => a - b);
  const ours = times.map((t) => atZero * cumulativeHazard(hazard, t));
  return [compare(`${c.name}: hazard on ${columns.join(",")} (${ties})`, ours, base_hazard, tolerance)];
}

function checkProportional(c: SurvivalCase, fixture: CoxFixture, tolerance: number): Check[] {
  const { columns, ties } = fixture;
  const path = `${c.name}: proportional hazards on ${columns.join(",")} (${ties})`;
  const data = { times: c.time, events: c.event };
  const { tests, residuals } = testProportionalHazards(data, columnsOf(c, columns), columns.length, { ties });
  return [
    compare(`${path}: scaled residuals`, residuals.sums, fixture.residual_sums, tolerance),
    ...fixture.proportional.flatMap(({ transform, chisq, df, p }) => {
      const { terms, global } = tests.find((test) => test.transform === transform)!;
      return [...terms, global].flatMap(({ statistic, degrees, pValue }, k) => [
        compare(`${path}: ${transform}, statistic ${k}`, statistic, chisq[k], tolerance),
        compare(`${path}: ${transform}, degrees ${k}`, degrees, df[k], 0),
        compare(`${path}: ${transform}, p ${k}`, pValue, p[k], tolerance),
      ]);
    }),
  ];
}

function checkCurve(c: SurvivalCase, fixture: CurveFixture, tolerance: number): Check[] {
  const path = `${c.name}: curve of group ${fixture.group}`;
  const mine = <T>(x: readonly T[]) => x.filter((_, i) => c.group[i] === fixture.group);
  const curveWith = (interval: IntervalType) =>
    kaplanMeier({ times: mine(c.time), events: mine(c.event) }, { interval });
  const curve = curveWith("log-log");
  const band = (interval: IntervalType, expected: Band): Check[] => {
    const { lower, upper, median }: KaplanMeier = curveWith(interval);
    return [
      compareKnown(`${path}: ${interval} lower`, lower, expected.lower, tolerance),
      compareKnown(`${path}: ${interval} upper`, upper, expected.upper, tolerance),
      compareKnown(`${path}: ${interval} median`, medians(median), expected.median, tolerance, Number.NaN),
    ];
  };
  const medians = ({ time, lower, upper }: KaplanMeier["median"]) => [time, lower, upper];
  return [
    compare(`${path}: time`, curve.times, fixture.time, 0),
    compare(`${path}: at risk`, curve.atRisk, fixture.at_risk, 0),
    compare(`${path}: events`, curve.events, fixture.events, 0),
    compare(`${path}: censored`, curve.censored, fixture.censored, 0),
    compare(`${path}: survival`, curve.survival, fixture.survival, tolerance),
    compareKnown(`${path}: standard error`, curve.standardErrors, fixture.standard_error, tolerance),
    ...band("log-log", fixture.log_log),
    ...band("log", fixture.log),
    ...band("plain", fixture.plain),
  ];
}

function checkLogRank(c: SurvivalCase, tolerance: number): Check[] {
  if (c.log_rank === null) return [];
  const { chisq, df, p, observed, expected, variance } = c.log_rank;
  const labels = c.group.map((g) => g - 1);
  const test = logRank({ times: c.time, events: c.event }, labels, Math.max(...labels) + 1);
  return [
    compare(`${c.name}: log-rank statistic`, test.statistic, chisq, tolerance),
    compare(`${c.name}: log-rank degrees`, test.degrees, df, 0),
    compare(`${c.name}: log-rank p`, test.pValue, p, tolerance),
    compare(`${c.name}: log-rank observed`, test.observed, observed, 0),
    compare(`${c.name}: log-rank expected`, test.expected, expected, tolerance),
    compare(`${c.name}: log-rank variance`, test.variance, variance, tolerance),
  ];
}

function checkCox(c: SurvivalCase, fixture: CoxFixture, tolerance: number): Check[] {
  const { columns, ties } = fixture;
  const path = `${c.name}: Cox on ${columns.join(",")} (${ties})`;
  const X = columnsOf(c, columns);
  const fit = fitCox({ times: c.time, events: c.event }, X, columns.length, { ties });
  const test = ({ statistic, degrees, pValue }: typeof fit.wald) => [statistic, degrees, pValue];
  const agreement = fit.concordance;
  // Each number by its own size: a statistic, its degrees and its p are of very different ones.
  const each = (name: string, actual: readonly number[], expected: readonly number[]) =>
    expected.map((e, j) => compare(`${path}: ${name} ${j}`, actual[j], e, tolerance));
  return [
    compare(
      `${path}: coefficients`,
      fit.terms.map((term) => term.coefficient),
      fixture.coefficients,
      tolerance,
    ),
    compare(`${path}: covariance`, fit.covariance, fixture.covariance, tolerance),
    ...each(
      "p",
      fit.terms.map((term) => term.pValue),
      fixture.p,
    ),
    ...each("log-likelihood", [fit.logLikelihood.null, fit.logLikelihood.fitted], fixture.log_likelihood),
    ...each("likelihood ratio", test(fit.likelihoodRatio), fixture.likelihood_ratio),
    ...each("score", test(fit.score), fixture.score),
    ...each("Wald", test(fit.wald), fixture.wald),
    compare(`${path}: concordance`, agreement.concordance, fixture.concordance, tolerance),
    compare(`${path}: concordance's standard error`, agreement.standardError, fixture.concordance_se, tolerance),
    compare(
      `${path}: pairs`,
      [agreement.concordant, agreement.discordant, agreement.tiedRisk],
      fixture.pairs.slice(0, 3),
      0,
    ),
  ];
}
