/** A small simulated study with every part a report can hold; used by tests and to look at the figures. */
import {
  type Cohort,
  numIndividuals as count,
  embed,
  fitDtm,
  fitFpca,
  fitLmm,
  makeCohort,
  markerModel,
  placeIndividual,
  simulateCohort,
} from "@trajectory-maps/core";
import { onlyMarker } from "@trajectory-maps/core/ingest";
import { designMatrix, modelMixture } from "@trajectory-maps/core/models";
import { associate } from "../packages/core/src/associate/association.ts";
import { compareModels } from "../packages/core/src/evaluate/compare.ts";
import { groupCourses } from "../packages/core/src/map/clusters/courses.ts";
import { distinctCourses } from "../packages/core/src/map/clusters/distinct.ts";
import { nameGroups } from "../packages/core/src/map/clusters/names.ts";
import { chooseNumberOfGroups } from "../packages/core/src/map/clusters/number.ts";
import { stabilityOf } from "../packages/core/src/map/clusters/stability.ts";
import { treeTop } from "../packages/core/src/map/clusters/tree-top.ts";
import { cutTree, wardTree } from "../packages/core/src/map/clusters/ward.ts";
import { createRandom } from "../packages/core/src/numeric/random.ts";
import { fitCox } from "../packages/core/src/survival/cox.ts";
import { kaplanMeierByGroup } from "../packages/core/src/survival/kaplan-meier.ts";
import { logRank } from "../packages/core/src/survival/log-rank.ts";
import { type Study, summarizeCohort } from "../packages/report/src/index.ts";

export interface SampleOptions {
  readonly marker?: "pfvc" | "tss";
  readonly numIndividuals?: number;
  readonly seed?: number;
  readonly folds?: number;
  readonly draws?: number;
  /** Default by the gap statistic. */
  readonly numGroups?: number;
  readonly kind?: "dtm" | "dtm-paper";
  /** Whether the map itself takes part in the cross-validation. Default true. */
  readonly mapInComparison?: boolean;
}

/** The study and the cohort it was made from. */
export async function sampleStudy(options: SampleOptions = {}): Promise<{ study: Study; cohort: Cohort }> {
  const {
    marker = "pfvc",
    numIndividuals = 200,
    seed = 7,
    folds = 3,
    draws = 199,
    kind = "dtm",
    mapInComparison = true,
  } = options;
  const { cohort: plain, outcomes } = simulateCohort(marker, { numIndividuals, seed });
  // Ids that can be told from every other text in a page.
  const rename = (id: string) => `secret-${id}`;
  const ids = plain.ids.flatMap((id, i) =>
    Array.from({ length: onlyMarker(plain).offsets[i + 1] - onlyMarker(plain).offsets[i] }, () => rename(id)),
  );
  const cohort = makeCohort(
    { ids, times: onlyMarker(plain).times, values: onlyMarker(plain).values },
    onlyMarker(plain).marker,
  );
  const m = count(cohort);
  const model = kind === "dtm" ? fitDtm(cohort, { seed }) : fitDtm(cohort, { kind, seed });
  const lmm = fitLmm(cohort, { seed });
  const fpca = fitFpca(cohort, { seed });
  const placements = embed(model, cohort);
  const baselines = [
    { name: "lmm", model: lmm, placements: embed(lmm, cohort) },
    { name: "fpca", model: fpca, placements: embed(fpca, cohort) },
  ];
  const lastTimes = Float64Array.from(
    { length: m },
    (_, i) => onlyMarker(cohort).times[onlyMarker(cohort).offsets[i + 1] - 1],
  );

  // Groups: Ward on the places, courses from each member's own posterior.
  const times = Float64Array.from({ length: 41 }, (_, k) => k / 4);
  const mixture = modelMixture(model);
  const d = markerModel(model).basis.numBasis;
  const rows = designMatrix(markerModel(model).basis, times);
  const curves = new Float64Array(m * times.length);
  for (let i = 0; i < m; i++) {
    const [from, to] = [onlyMarker(cohort).offsets[i], onlyMarker(cohort).offsets[i + 1]];
    const history = {
      times: onlyMarker(cohort).times.slice(from, to),
      values: onlyMarker(cohort).values.slice(from, to),
    };
    const { posterior } = placeIndividual(model, history, { mixture });
    // The expected coefficients alone: much cheaper than medians of the whole mixture.
    for (let t = 0; t < times.length; t++) {
      let v = 0;
      for (let a = 0; a < d; a++) {
        let w = markerModel(model).mean.coefficients[a];
        for (let k = 0; k < posterior.weights.length; k++) w += posterior.weights[k] * posterior.means[k * d + a];
        v += rows[t * d + a] * w;
      }
      curves[i * times.length + t] = v;
    }
  }
  const whole = wardTree(placements.location, m, 2);
  const noise = Math.sqrt(markerModel(model).noise.variance);
  const distinct = distinctCourses(whole, curves, times, noise);
  const chosenNumber = chooseNumberOfGroups(placements.location, m, 2, { courses: distinct }, { seed });
  const number = { ...chosenNumber, numGroups: options.numGroups ?? chosenNumber.numGroups };
  const labels = cutTree(whole, number.numGroups);
  const tree = treeTop(whole, labels, number.numGroups);
  const courses = groupCourses(curves, times, labels, number.numGroups);
  const names = nameGroups(
    courses.map((course) => ({ times, values: course.median })),
    { noise, timeUnit: "year", better: marker === "pfvc" ? "high" : "low" },
  );
  const random = createRandom(seed);
  const resamples = Array.from({ length: 5 }, () => labels.map((g) => (random.uniform() < 0.9 ? g : -1)));
  const stability = stabilityOf(labels, resamples);
  const groups: Study["groups"] = {
    labels,
    groups: names.map(({ group, letter, name }) => {
      const { numMembers: size, median, lower, upper } = courses[group];
      const last = lastTimes.filter((_, i) => labels[i] === group);
      const followed = Array.from(times, (t) => last.filter((v) => v >= t).length);
      const { pairsKept } = stability.groups[group];
      return { group, letter, name, size, times, median, lower, upper, followed, pairsKept };
    }),
    number,
    stability,
    tree,
  };

  const chosen = Object.entries(outcomes).map(([name, values]) => ({ name, labels: values }));
  const association = await associate({ model, placements, cohort, baselines, outcomes: chosen }, { draws, seed });

  // A made-up event whose hazard falls with the level on the map.
  const follow = Float64Array.from(
    { length: m },
    (_, i) => -Math.log(1 - random.uniform()) * 8 * Math.exp(0.7 * placements.location[i * 2]),
  );
  const followUp = { times: follow.map((t) => Math.min(t, 8)), events: follow.map((t) => (t < 8 ? 1 : 0)) };
  const survival = {
    event: "death",
    landmark: 2,
    curves: kaplanMeierByGroup(followUp, labels, number.numGroups).map((curve, group) => ({ ...curve, group })),
    logRank: logRank(followUp, labels, number.numGroups),
    cox: fitCox(followUp, placements.location, 2),
    leftOut: { unknown: 0, eventBefore: 12, censoredBefore: 3, noVisitBefore: 31 },
  };

  const study: Study = {
    cohort: summarizeCohort(cohort, {
      numRows: onlyMarker(cohort).times.length + 7,
      numRowsLeftOut: 7,
      warnings: [
        {
          code: "missing-value",
          severity: "warn",
          expected: "a value",
          received: "7 rows without one",
          where: { file: "visits.csv", line: 12, column: "value", columnNumber: 3 },
          remedy: "These rows were left out.",
          count: 7,
        },
        {
          code: "same-time",
          severity: "warn",
          expected: "one value for an individual at a time",
          received: "14 more values at a time already seen, in 13 individuals",
          where: { file: "visits.csv", line: 40, column: "time", columnNumber: 2 },
          remedy: "All are kept as repeated measurements.",
          count: 14,
        },
      ],
      notes: ["Numbers are written with a decimal comma."],
    }),
    model,
    placements,
    baselines,
    groups,
    outcomes: chosen,
    comparison: compareModels(cohort, {
      folds,
      seed,
      models: mapInComparison ? ["lmm", "fpca", kind] : ["lmm", "fpca"],
    }),
    association,
    survival,
    run: {
      command: "dtm report run/ --subjects subjects.csv -o report.html",
      seed,
      versions: [{ name: "trajectory-maps", version: "0.1.0" }],
      date: "2025-01-31",
      source: "visits.csv",
      digest: { algorithm: "sha256", value: "0123abcd", keyed: false },
    },
  };
  return { study, cohort };
}
