/**
 * PBC log bilirubin, five folds: `dtm` minus LMM per individual, coverage of forecasts, and coverage of the regions of
 * places on data simulated from the fit. Usage: npm run study:pbc
 */
import { readFileSync } from "node:fs";
import { onlyMarker } from "../packages/core/src/doors/ingest.ts";
import { highestDensityRegion, modelMixture } from "../packages/core/src/doors/models.ts";
import { centralCoverage, forecastScores } from "../packages/core/src/doors/study.ts";
import {
  type Cohort,
  embed,
  fitDtm,
  fitLmm,
  heldOutLogLikelihood,
  numIndividuals,
  placeIndividual,
  readCohort,
  simulateFromModel,
  splitCohort,
} from "../packages/core/src/index.ts";

const text = readFileSync("examples/pbc/visits.csv", "utf8");
const { cohort } = readCohort(text, { columns: { id: "id", time: "time", value: "log_bili" } });

const differences: number[] = [];
const pits: number[] = [];
for (const fold of splitCohort(cohort, 5, 1)) {
  const lmm = fitLmm(fold.train);
  const dtm = fitDtm(fold.train);
  const a = heldOutLogLikelihood(lmm, fold.test).logLikelihood;
  const b = heldOutLogLikelihood(dtm, fold.test).logLikelihood;
  b.forEach((v, i) => {
    differences.push(v - a[i]);
  });
  pits.push(...forecastScores(dtm, fold.test).pit);
}
const m = differences.length;
const mean = differences.reduce((s, v) => s + v, 0) / m;
const se = Math.sqrt(differences.reduce((s, v) => s + (v - mean) ** 2, 0) / (m - 1) / m);
const pit = Float64Array.from(pits);
print(`dtm minus LMM per held-out individual: ${mean.toFixed(3)} (se ${se.toFixed(3)}), five folds`);
print(
  `forecast intervals: 90% cover ${centralCoverage(pit, 0.9).toFixed(3)}, 50% cover ${centralCoverage(pit, 0.5).toFixed(3)}`,
);

const model = fitDtm(cohort);
const step = model.kind === "dtm" ? model.nodes.step : Number.NaN;
for (const level of [0.9, 0.5]) {
  let inside = 0;
  let insideEllipse = 0;
  let total = 0;
  for (let replicate = 1; replicate <= 4; replicate++) {
    const simulated = simulateFromModel(model, cohort, { seed: 100 + replicate });
    const found = regionCoverage(simulated.cohort, simulated.locations, level);
    inside += found.inside;
    insideEllipse += found.insideEllipse;
    total += numIndividuals(cohort);
  }
  print(
    `regions of places at ${100 * level}%: highest-density cells cover ${(inside / total).toFixed(3)}, ` +
      `ellipses of the exact moments ${(insideEllipse / total).toFixed(3)} (${total} simulated individuals)`,
  );
}

function regionCoverage(simulated: Cohort, truth: Float64Array, level: number) {
  const mixture = modelMixture(model);
  const places = embed(model, simulated, { mixture });
  const limit = -2 * Math.log(1 - level); // χ² quantile for two dimensions
  let inside = 0;
  let insideEllipse = 0;
  for (let i = 0; i < numIndividuals(simulated); i++) {
    const [start, end] = [onlyMarker(simulated).offsets[i], onlyMarker(simulated).offsets[i + 1]];
    const history = {
      times: onlyMarker(simulated).times.slice(start, end),
      values: onlyMarker(simulated).values.slice(start, end),
    };
    const placement = placeIndividual(model, history, { mixture });
    const region = highestDensityRegion(model, placement, level);
    const [x, y] = [truth[2 * i], truth[2 * i + 1]];
    // Cells are squares of the lattice, turned by the orientation: the true place is in the cell of its nearest node.
    let nearest = Number.POSITIVE_INFINITY;
    for (let k = 0; k < region.length; k += 2)
      nearest = Math.min(nearest, Math.hypot(region[k] - x, region[k + 1] - y));
    if (nearest <= step / 2 || (nearest <= step * Math.SQRT1_2 && cellHolds(region, x, y))) inside++;
    const [a, b, c] = [places.covariance[4 * i], places.covariance[4 * i + 1], places.covariance[4 * i + 3]];
    const [u, v] = [x - places.location[2 * i], y - places.location[2 * i + 1]];
    if ((c * u * u - 2 * b * u * v + a * v * v) / (a * c - b * b) <= limit) insideEllipse++;
  }
  return { inside, insideEllipse };
}

/** Whether (x, y) lies in the square cell of one of the region's nodes. */
function cellHolds(region: Float64Array, x: number, y: number): boolean {
  const [q00, q01, q10, q11] = model.orientation;
  for (let k = 0; k < region.length; k += 2) {
    const [u, v] = [x - region[k], y - region[k + 1]];
    // Back to the fit's frame, where cells are axis-parallel.
    if (Math.abs(q00 * u + q01 * v) <= step / 2 && Math.abs(q10 * u + q11 * v) <= step / 2) return true;
  }
  return false;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
