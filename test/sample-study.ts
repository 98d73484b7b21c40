/** A small simulated study with every part a report can hold; used by tests and to look at the figures. */
import {
  type Cohort,
  numIndividuals as count,
  embed,
  fitDtm,
  fitFpca,
  fitLmm,
  groupPlaces,
  makeCohort,
  type Placements,
  simulateCohort,
} from "@trajectory-maps/core";
import { onlyMarker } from "@trajectory-maps/core/ingest";
import { associate } from "../packages/core/src/associate/association.ts";
import { compareModels } from "../packages/core/src/evaluate/compare.ts";
import { stabilityOf } from "../packages/core/src/map/clusters/stability.ts";
import { createRandom } from "../packages/core/src/numeric/random.ts";
import { characteristicColumns } from "../packages/core/src/study/characteristics.ts";
import { dropoutSensitivity } from "../packages/core/src/study/dropout-sensitivity.ts";
import { landmarkSurvival } from "../packages/core/src/study/landmark-survival.ts";
import { studySensitivity } from "../packages/core/src/study/sensitivity.ts";
import { fitCox } from "../packages/core/src/survival/cox.ts";
import type { FollowUp } from "../packages/core/src/survival/follow-up.ts";
import { kaplanMeierByGroup } from "../packages/core/src/survival/kaplan-meier.ts";
import { logRank } from "../packages/core/src/survival/log-rank.ts";
import { type Study, studyCharacteristics, studyGroups, summarizeCohort } from "../packages/report/src/index.ts";

export interface SampleOptions {
  readonly marker?: "pfvc" | "tss";
  readonly numIndividuals?: number;
  readonly seed?: number;
  readonly folds?: number;
  readonly draws?: number;
  /** Default by the rule. */
  readonly numGroups?: number;
  readonly kind?: "dtm" | "dtm-paper";
  /** With survival as the command line makes it, competing events and dropout among it, and sensitivity. Default: curves, log-rank and Cox alone. */
  readonly whole?: boolean;
  /** Whether the map itself takes part in the cross-validation. Default true. */
  readonly mapInComparison?: boolean;
}

const usual = new Map<string, ReturnType<typeof usualStudy>>();

/** The study and the cohort it was made from; all but the parts of a whole study are made once for the same options. */
export async function sampleStudy({ whole = false, ...options }: SampleOptions = {}): Promise<{
  study: Study;
  cohort: Cohort;
}> {
  const key = JSON.stringify(options);
  const begun = usual.get(key) ?? usualStudy(options);
  usual.set(key, begun);
  const { study, given, followUp } = await begun;
  const parts = whole ? await wholeParts(given, followUp) : {};
  return { study: { ...study, ...parts }, cohort: given.cohort };
}

async function usualStudy(options: Omit<SampleOptions, "whole">) {
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

  const made = groupPlaces(model, placements, {
    numGroups: options.numGroups ?? "auto",
    seed,
    better: marker === "pfvc" ? "high" : "low",
  });
  const { labels } = made;
  const random = createRandom(seed);
  const resamples = Array.from({ length: 5 }, () => labels.map((g) => (random.uniform() < 0.9 ? g : -1)));
  const number = groupPlaces(model, placements, { seed }).choice;
  const groups = studyGroups(made, { number, stability: stabilityOf(labels, resamples) });

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
    curves: kaplanMeierByGroup(followUp, labels, made.groups.length).map((curve, group) => ({ ...curve, group })),
    logRank: logRank(followUp, labels, made.groups.length),
    cox: fitCox(followUp, placements.location, 2),
    crossTable: made.groups.map((_, g) => made.groups.map((__, h) => (g === h ? 20 : 12))),
    leftOut: { unknown: 0, eventBefore: 12, censoredBefore: 3, noVisitBefore: 31 },
  };

  const drawn = createRandom(seed + 1);
  const subjects = {
    ids: cohort.ids,
    columns: [
      { name: "age", cells: cohort.ids.map(() => (50 + 12 * drawn.normal()).toFixed(1)) },
      { name: "sex", cells: cohort.ids.map(() => (drawn.uniform() < 0.8 ? "f" : "m")) },
      {
        name: "smoker",
        cells: cohort.ids.map(() => (drawn.uniform() < 0.1 ? "" : String(Number(drawn.uniform() < 0.4)))),
      },
    ],
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
    characteristics: studyCharacteristics(
      cohort,
      { labels, numGroups: made.groups.length },
      { table: subjects, columns: characteristicColumns(subjects, cohort.ids) },
    ),
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
  return { study, given: { model, cohort, placements, groups: made }, followUp };
}

/** What takes longest, as `dtm associate` and `dtm sensitivity` make it. */
async function wholeParts(
  given: Parameters<typeof landmarkSurvival>[0] & { readonly placements: Placements },
  death: FollowUp,
): Promise<Pick<Study, "survival" | "sensitivity">> {
  const { model, cohort, placements, groups } = given;
  // Of those who did not die some left for a transplant.
  const transplant = {
    times: death.times,
    events: Float64Array.from(death.events, (event, i) => (event === 0 && i % 2 === 0 ? 1 : 0)),
  };
  const competing = [{ name: "transplant", followUp: transplant }];
  const options = { draws: 99, riskTimes: [1, 3, 5], competing };
  const survival = await landmarkSurvival(given, "death", death, 2, options);
  const dropout = dropoutSensitivity(given, death.events, "those with death");
  const { labels, method } = groups;
  const numGroups = groups.groups.length;
  const input = { model, cohort, placements, groups: { labels, numGroups, method } };
  const sensitivity = await studySensitivity(input, { families: ["dimension", "seed"], folds: 0 });
  return { survival: { ...survival, logRank: survival.logRank ?? undefined, dropout }, sensitivity };
}
