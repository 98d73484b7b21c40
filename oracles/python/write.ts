/**
 * npm run oracle -- --python: small fitted models and what the library computes with them, for the tests of python/trajectory-maps
 * (tests/fixtures): NAME.model.json as it is saved, NAME.expected.json with histories, placements, predictions and crossings. Seeded.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Cohort, makeCohort } from "../../packages/core/src/cohort/cohort.ts";
import { applyTransform, type Marker, type Transform, undoTransform } from "../../packages/core/src/cohort/marker.ts";
import { combineMarkers } from "../../packages/core/src/cohort/several-markers.ts";
import { codeCovariates } from "../../packages/core/src/covariates/code.ts";
import { type CovariateValue, withCovariates } from "../../packages/core/src/covariates/covariates.ts";
import { modelFor } from "../../packages/core/src/models/covariate-model.ts";
import type { DtmModel } from "../../packages/core/src/models/dtm/model.ts";
import { viewMarker } from "../../packages/core/src/models/fit.ts";
import { fitDtm } from "../../packages/core/src/models/fit-models.ts";
import { embed, placeIndividual } from "../../packages/core/src/models/place.ts";
import { viewPlacement } from "../../packages/core/src/models/placement.ts";
import { predict } from "../../packages/core/src/models/predict.ts";
import { predictCrossing } from "../../packages/core/src/models/predicting/crossing.ts";
import { loadModel, saveModel } from "../../packages/core/src/models/save.ts";
import type { NoiseKind } from "../../packages/core/src/noise/noise.ts";
import { createRandom } from "../../packages/core/src/numeric/random.ts";

const NUM_INDIVIDUALS = 60;
const COVARIATES: readonly Record<string, CovariateValue>[] = [
  { age: 61, sex: "f" },
  { age: 44.5, sex: "m" },
];

interface Example {
  readonly name: string;
  readonly markers: readonly Partial<Marker>[];
  readonly noise?: NoiseKind;
  readonly mapDimension?: 1 | 2;
  /** Effects of age and of sex. */
  readonly effects?: readonly ["places" | "level-and-rate" | "curve", "places" | "level-and-rate" | "level"];
  readonly calibrated?: boolean;
}

const EXAMPLES: readonly Example[] = [
  { name: "one-marker", markers: [{ name: "fvc", unit: "%", timeUnit: "years" }], calibrated: true },
  { name: "log-level", markers: [{ name: "bili", transform: "log", unit: "mg/dl" }], noise: "level" },
  { name: "sqrt-serial", markers: [{ name: "count", transform: "sqrt", limits: [0, 300] }], noise: "serial" },
  {
    name: "log1p-level-serial",
    markers: [{ name: "crp", transform: "log1p" }],
    noise: "level+serial",
    mapDimension: 1,
  },
  { name: "logit", markers: [{ name: "share", transform: "logit" }] },
  { name: "two-markers", markers: [{ name: "bili", transform: "log" }, { name: "albumin" }], noise: "level" },
  { name: "covariates-places", markers: [{ name: "fvc" }], effects: ["places", "places"] },
  { name: "covariates-mean", markers: [{ name: "bili", transform: "log" }], effects: ["places", "level-and-rate"] },
];

/** Courses of three shapes about 80 on the scale of the model, brought to the marker's. */
function cohortOf(marker: Partial<Marker>, seed: number): Cohort {
  const random = createRandom(seed);
  const transform: Transform = marker.transform ?? "identity";
  const scale = { identity: [0, 1], log: [-1, 0.03], log1p: [0, 0.03], sqrt: [2, 0.08], logit: [-3, 0.04] }[transform];
  const ids: string[] = [];
  const [times, values]: number[][] = [[], []];
  for (let i = 0; i < NUM_INDIVIDUALS; i++) {
    const shape = random.integer(3);
    const level = 80 + 8 * random.normal();
    const sd = 3 * Math.exp(0.4 * random.normal());
    const n = 2 + random.integer(6);
    for (let j = 0; j < n; j++) {
      const t = Math.round(1000 * random.uniform()) / 100;
      const fall = shape === 0 ? 3 * t : shape === 1 ? 7 * Math.max(0, t - 5) : 0;
      ids.push(`P${String(i).padStart(3, "0")}`);
      times.push(t);
      const y = undoTransform(transform, scale[0] + scale[1] * (level - fall + sd * random.normal()));
      values.push(Number(y.toPrecision(6)));
    }
  }
  return makeCohort({ ids, times, values }, marker);
}

function withSubjects(cohort: Cohort, [age, sex]: NonNullable<Example["effects"]>) {
  const random = createRandom(77);
  const cells = (of: (i: number) => string) => cohort.ids.map((_, i) => of(i));
  const table = {
    ids: cohort.ids,
    columns: [
      { name: "age", cells: cells(() => (50 + 10 * random.normal()).toFixed(1)) },
      { name: "sex", cells: cells((i) => (i % 2 === 0 ? "f" : "m")) },
    ],
  };
  const wanted = [
    { name: "age", effect: age },
    { name: "sex", reference: "f", effect: sex },
  ];
  return withCovariates(cohort, codeCovariates(table, cohort.ids, { covariates: wanted, leastIndividuals: 5 }));
}

/** Made up, with classes that differ. */
const CALIBRATION = {
  levels: [0.5, 0.9],
  knownFrom: [1, 3],
  horizonFrom: [0, 2],
  numIndividuals: 40,
  classes: [1, 1.1, 1.2, 1.3].map((by) => ({ numIndividuals: 40, lower: [0.5 * by, by], upper: [0.4 * by, 1.5 * by] })),
};

function modelOf({ markers, noise = "white", mapDimension = 2, effects, calibrated }: Example): DtmModel {
  const cohorts = markers.map((marker, k) => cohortOf(marker, 5 + k));
  const cohort = cohorts.length === 1 ? cohorts[0] : combineMarkers(cohorts);
  const model = fitDtm(effects === undefined ? cohort : withSubjects(cohort, effects), {
    ...{ noise, mapDimension, numBasis: 4, restarts: 0, maxIterations: 40 },
    ...{ nodes: { step: mapDimension === 1 ? 0.25 : 0.5 }, inducing: { perDimension: 3 } },
  });
  const { trace: _, ...record } = model.record;
  return { ...model, record: { ...record, trace: [] }, ...(calibrated ? { calibration: CALIBRATION } : {}) };
}

/** Histories on the scale of the marker: none, one visit, a few (with equal times and one outside), many, some with a wrong value. */
function historiesOf(marker: Marker) {
  const [low, high] = [0.2, 0.7].map((share) => {
    const ends = { identity: [40, 110], log: [-0.5, 2.2], log1p: [0.5, 3], sqrt: [5, 10], logit: [-2.5, 1.5] };
    const [a, b] = ends[marker.transform];
    return a + share * (b - a);
  });
  const at = (share: number) => Number(undoTransform(marker.transform, low + share * (high - low)).toPrecision(5));
  return [
    { times: [], values: [] },
    { times: [1.5], values: [at(0.4)] },
    { times: [3, 0, 3, 11], values: [at(0.5), at(0.9), at(0.6), at(0.1)] },
    { times: [0, 0.8, 1.7, 2.9, 4.4, 5.1, 7], values: [1, 0.9, 0.95, 0.7, 0.8, 0.5, 0.3].map(at) },
    // The fourth value is wrong.
    { times: [0, 1, 2, 3, 4], values: [0.9, 0.85, 0.8, 6, 0.7].map(at) },
  ];
}

function expectedOf(example: Example, model: DtmModel) {
  const histories = historiesOf(model.markers[0].marker).map((_, h) =>
    Object.fromEntries(model.markers.map(({ marker }) => [marker.name, historiesOf(marker)[h]])),
  );
  const rows = example.effects === undefined ? [null] : COVARIATES;
  const cases = rows.flatMap((covariates) =>
    histories.map((markers, h) => {
      // Somebody with many visits of one marker and none of the other.
      const [first] = model.markers;
      const given = h === 3 ? { [first.marker.name]: markers[first.marker.name] } : markers;
      const own = covariates === null ? model : modelFor(model, covariates);
      const placed = placeIndividual(own, { markers: given });
      const forecasts = own.markers.map(({ marker }, k) => {
        const [view, place] = [viewMarker(own, k), viewPlacement(placed, k)];
        const options = { numDraws: 200, level: 0.9, simultaneous: true, rate: true };
        const times = [0.5, 2, 4.5, 9, 12];
        const threshold = undoTransform(
          marker.transform,
          applyTransform(marker.transform, historiesOf(marker)[2].values[0]) - 0.1,
        );
        const start = Math.min(place.lastTime, 9);
        return {
          marker: marker.name,
          observation: predict(view, place, times, options),
          curve: predict(view, place, times, { level: 0.5, interval: "curve" }),
          ...(example.calibrated ? { conformal: predict(view, place, times, { interval: "conformal" }) } : {}),
          crossing: predictCrossing(view, place, {
            ...{ threshold, numDraws: 200 },
            ...(Number.isFinite(start) ? { from: start } : {}),
          }),
          threshold,
          start: Number.isFinite(start) ? start : null,
        };
      });
      const { location, covariance, logLikelihood, outsideMass, numOutsideTimes, numObservations, suspects } = placed;
      return {
        covariates,
        markers: given,
        location,
        covariance,
        logLikelihood,
        outsideMass,
        numOutsideTimes,
        numObservations,
        suspects: suspects ?? [],
        forecasts,
      };
    }),
  );
  return { name: example.name, cases, ...embeddedOf(example, model) };
}

/** Places of twelve individuals as a cohort, with their visits as a table. */
function embeddedOf(example: Example, model: DtmModel) {
  if (example.effects !== undefined) return {};
  const cohorts = example.markers.map((marker, k) => {
    const { ids, times, values } = firstRows(cohortOf(marker, 50 + k), 12);
    return { rows: { ids, times, values }, cohort: makeCohort({ ids, times, values }, marker) };
  });
  const placed = embed(
    model,
    cohorts.length === 1 ? cohorts[0].cohort : combineMarkers(cohorts.map(({ cohort }) => cohort)),
  );
  return { embedded: { rows: cohorts.map(({ rows }) => rows), placed } };
}

function firstRows({ ids, markers: [{ offsets, times, values }] }: Cohort, count: number) {
  const end = offsets[count];
  const names = ids.slice(0, count).flatMap((id, i) => Array.from({ length: offsets[i + 1] - offsets[i] }, () => id));
  return { ids: names, times: Array.from(times.subarray(0, end)), values: Array.from(values.subarray(0, end)) };
}

/** Numbers as lists, what is not finite as a word. */
function plain(_key: string, value: unknown): unknown {
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as ArrayLike<number>);
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
}

const PACKAGED = join("..", "..", "src", "trajectory_maps", "example.model.json");

/** Writes all files and returns one line for each model. */
export function writePythonFixtures(folder: string): string[] {
  mkdirSync(folder, { recursive: true });
  return EXAMPLES.map((example) => {
    const file = saveModel(modelOf(example));
    // What is expected is of the model as it is read.
    const expected = `${JSON.stringify(expectedOf(example, loadModel(file) as DtmModel), plain)}\n`;
    // The first is the example that the package carries.
    const first = example === EXAMPLES[0];
    writeFileSync(first ? join(folder, PACKAGED) : join(folder, `${example.name}.model.json`), file);
    writeFileSync(join(folder, `${example.name}.expected.json`), expected);
    return `${example.name.padEnd(20)}${String(file.length).padStart(8)} + ${String(expected.length).padStart(7)} bytes`;
  });
}
