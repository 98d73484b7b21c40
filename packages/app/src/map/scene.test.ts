import {
  embed,
  fitDtm,
  makeCohort,
  markerModel,
  predict,
  simulateCohort,
  type TrajectoryModel,
} from "@trajectory-maps/core";
import { onlyMarker } from "@trajectory-maps/core/ingest";
import { basisDomain, courseTimes, placementAt } from "@trajectory-maps/core/models";
import { valueAt } from "@trajectory-maps/report";
import { beforeAll, describe, expect, it } from "vitest";
import { type Ground, groundOf, readingAt, terrainOf } from "./scene.ts";
import { nodeAt } from "./surfaces.ts";
import type { MapOptions } from "./types.ts";

const { cohort: plain } = simulateCohort("pfvc", { numIndividuals: 60, seed: 3 });
const { offsets, times, values } = onlyMarker(plain);
const idsOf = () => plain.ids.flatMap((id, i) => Array.from({ length: offsets[i + 1] - offsets[i] }, () => id));
/** The same visits as a marker that is modelled on the log scale. */
const logged = makeCohort(
  { ids: idsOf(), times, values: values.map((v) => Math.exp(v / 40)) },
  { name: "bilirubin", unit: "mg/dl", timeUnit: "years", transform: "log" },
);
const quick = { seed: 1, tolerance: 0.1, restarts: 0 };
describe("a scene", () => {
  let model: TrajectoryModel;
  let options: MapOptions;
  let ground: Ground;
  beforeAll(() => {
    model = fitDtm(logged, quick);
    options = { model, placements: embed(model, logged) };
    ground = groundOf(options);
  });

  it("has ten small curves that equal predict", () => {
    expect(ground.smallCurves).toHaveLength(10);
    const [first, last] = basisDomain(markerModel(model).basis);
    for (const { axis, at, values } of ground.smallCurves) {
      const times = Float64Array.from(values, (_, k) => first + ((last - first) * k) / (values.length - 1));
      const place = axis === "x" ? [at, 0] : [0, at];
      const { median } = predict(model, placementAt(model, place), times, { interval: "curve" });
      Array.from(values).forEach((v, k) => void expect(v / median[k]).toBeCloseTo(1, 9));
    }
  });

  it("reads a course on land, with the number of individuals near, and none at sea", () => {
    const { places, land } = ground;
    const dense = Array.from(places.keys())
      .filter((k) => k % 2 === 0)
      .reduce((best, k) =>
        valueAt(land.density, places[k], places[k + 1]) > valueAt(land.density, places[best], places[best + 1])
          ? k
          : best,
      );
    const [x, y] = [places[dense], places[dense + 1]];
    const ashore = readingAt(ground, x, y, dense / 2);
    expect(ashore.onLand).toBe(true);
    const slow = Array.from({ length: places.length / 2 }, (_, i) =>
      Math.hypot(places[2 * i] - x, places[2 * i + 1] - y),
    ).filter((distance) => distance <= 0.25).length;
    expect(ashore.numNear).toBe(slow);
    const { times, median } = ashore.course!;
    const there = predict(model, placementAt(model, [x, y]), times, { interval: "curve" });
    expect(median[median.length - 1]).toBeCloseTo(there.median[times.length - 1], 9);
    expect(readingAt(ground, 6, 6)).toMatchObject({ onLand: false, course: null, numNear: 0 });
  });

  it("has terrain whose nodes equal predict: value, slope, coefficient", () => {
    const time = 4.5;
    const value = ground.surfaceOf({ kind: "value", time })!;
    const slope = ground.surfaceOf({ kind: "slope", time })!;
    const coefficient = ground.surfaceOf({ kind: "coefficient", index: 1 })!;
    for (const k of [0, 700, 2113]) {
      const placed = placementAt(model, nodeAt(value.grid, k));
      const at = (t: number) => predict(model, placed, [t], { interval: "curve" }).median[0];
      expect(value.grid.values[k]).toBeCloseTo(at(time), 9);
      // Central difference of the median: its error is of the order of the squared step.
      expect(slope.grid.values[k]).toBeCloseTo((at(time + 1e-4) - at(time - 1e-4)) / 2e-4, 5);
      expect(coefficient.grid.values[k]).toBeCloseTo(
        placed.posterior.means[1] + markerModel(model).mean.coefficients[1],
        9,
      );
    }
    expect(terrainOf(options)).toEqual({ kind: "value", time: basisDomain(markerModel(model).basis)[1] });
    expect(ground.surfaceOf({ kind: "none" })).toBeNull();
  });

  it("says when the median course is first beyond a threshold, and has words where it begins there or never is", () => {
    const late = Float64Array.from(ground.surfaceOf({ kind: "value", time: 9 })!.grid.values).sort();
    const threshold = late[Math.floor(late.length / 2)];
    const { grid, classes, levels, defined } = ground.surfaceOf({
      kind: "crossing",
      threshold,
      direction: "below",
    })!;
    const [begun, never] = classes;
    const at = courseTimes(model, 161);
    let told = 0;
    for (let k = 0; k < grid.values.length; k += 11) {
      const place = nodeAt(grid, k);
      const { median } = predict(model, placementAt(model, place), at, { interval: "curve" });
      expect(begun.grid.values[k] > 0).toBe(median[0] < threshold);
      expect(never.grid.values[k] > 0).toBe(median.every((v) => v > threshold));
      if (begun.grid.values[k] > 0 || never.grid.values[k] > 0) told++;
    }
    // Neither lines nor their numbers stand where there is no time.
    defined.density.values.forEach((density, k) => {
      const place = nodeAt(defined.density, k);
      if (classes.some((places) => valueAt(places.grid, ...place) > 0)) expect(density).toBe(0);
    });
    expect(told).toBeGreaterThan(20);
    expect(levels.every((level) => level > at[0] && level < at[160])).toBe(true);
    // The other way round, those who begin above it are the first class.
    const rising = ground.surfaceOf({ kind: "crossing", threshold, direction: "above" })!;
    expect(rising.title).toMatch(/rising above/);
    rising.classes[0].grid.values.forEach((v, k) => {
      expect(v).toBeCloseTo(-begun.grid.values[k], 12);
    });
  });

  it("gives times of crossing that the course keeps", () => {
    const late = Float64Array.from(ground.surfaceOf({ kind: "value", time: 9 })!.grid.values).sort();
    const threshold = late[Math.floor(late.length / 2)];
    const { grid, classes } = ground.surfaceOf({ kind: "crossing", threshold, direction: "below" })!;
    const [first, last] = basisDomain(markerModel(model).basis);
    let checked = 0;
    for (let k = 0; k < grid.values.length; k += 7) {
      const t = grid.values[k];
      if (classes.some((places) => places.grid.values[k] > 0)) continue;
      expect(t > first && t <= last).toBe(true);
      checked++;
      const placed = placementAt(model, nodeAt(grid, k));
      const { median } = predict(model, placed, [first, t], { interval: "curve" });
      // Times are interpolated between 161 points of the course.
      expect(Math.abs(Math.log(median[1] / threshold))).toBeLessThan(1e-3);
      expect(median[0]).toBeGreaterThan(threshold);
    }
    expect(checked).toBeGreaterThan(3);
  });

  it("has a spread that is the sd of predict for a marker without transform", () => {
    const identity = fitDtm(plain, quick);
    const { surfaceOf } = groundOf({ model: identity, placements: embed(identity, plain) });
    const grid = surfaceOf({ kind: "sd", time: 7 })!.grid;
    for (const k of [3, 1500, grid.values.length - 1]) {
      const { sd } = predict(identity, placementAt(identity, nodeAt(grid, k)), [7], { interval: "curve" });
      expect(grid.values[k]).toBeCloseTo(sd[0], 9);
    }
  });
});
