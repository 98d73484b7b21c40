/**
 * Has a fit settled? Every cohort is fitted as by default and once more a hundred times tighter: how far places move
 * (root mean square after turning, in standard deviations of the prior), whether the groups are the same (adjusted Rand
 * index; by the rule in both), and whether the starts agree. Usage: npm run study:settled
 */
import { type Cohort, embed, groupPlaces, startDtm } from "../packages/core/src/index.ts";
import { adjustedRandIndex } from "../packages/core/src/map/clusters/stability.ts";
import { turnedDistance } from "../packages/core/src/numeric/procrustes.ts";
import { printTable, studyCohorts } from "./shared/cohorts.ts";

const DEFAULT_TOLERANCE = 0.01;

function fitted(cohort: Cohort, tolerance: number) {
  const before = process.cpuUsage();
  const run = startDtm(cohort, { tolerance, maxIterations: 3000 });
  while (!run.step().done);
  const model = run.finish();
  const { user, system } = process.cpuUsage(before);
  return { model, starts: model.record.starts ?? [], seconds: (user + system) / 1e6, places: embed(model, cohort) };
}

const rows = studyCohorts().map(({ name, cohort }) => {
  const usual = fitted(cohort, DEFAULT_TOLERANCE);
  const tight = fitted(cohort, DEFAULT_TOLERANCE / 100);
  const moved = turnedDistance(usual.places.location, tight.places.location, 2);
  const groups = groupPlaces(usual.model, usual.places);
  const numGroups = groups.groups.length;
  const again = groupPlaces(tight.model, tight.places);
  const others = usual.starts.slice(1).map(({ bound, agreement }) => {
    const lower = (usual.starts[0].bound - bound).toFixed(1);
    return `${lower} lower, R² ${agreement.toFixed(2)}`;
  });
  return [
    name,
    usual.starts[0].bound.toFixed(2),
    tight.starts[0].bound.toFixed(2),
    moved.toFixed(3),
    `${numGroups} and ${again.groups.length}: ${adjustedRandIndex(groups.labels, again.labels).toFixed(2)}`,
    usual.starts[0].name,
    others.join("; "),
    usual.seconds.toFixed(1),
    tight.seconds.toFixed(1),
  ];
});
printTable(
  [
    "cohort",
    "bound",
    "bound, 100 times tighter",
    "places move (rms)",
    "groups: ARI",
    "best start",
    "other starts",
    "cpu s",
    "cpu s, tighter",
  ],
  rows,
);
