import { describe, expect, it } from "vitest";
import { makeCohort } from "../cohort/cohort.ts";
import { groupPlaces } from "../map/groups.ts";
import { fitFpca } from "../models/fit-models.ts";
import { embed } from "../models/place.ts";
import { createRandom } from "../numeric/random.ts";
import { dropoutSensitivity } from "./dropout-sensitivity.ts";

/** Two bundles of courses, 60 falling and 40 level; every second one of those that fall leaves at time 2 of 4. */
function study() {
  const random = createRandom(5);
  const rows = { ids: [] as string[], times: [] as number[], values: [] as number[] };
  const left: number[] = [];
  for (let i = 0; i < 100; i++) {
    const falls = i % 5 < 3;
    const level = 80 + 2 * random.normal();
    const early = falls && i % 2 === 0;
    left.push(early ? 1 : 0);
    for (let t = 0; t <= (early ? 2 : 4); t += 0.5) {
      rows.ids.push(`p${100 + i}`);
      rows.times.push(t);
      rows.values.push(level - (falls ? 6 * t : 0) + 0.5 * random.normal());
    }
  }
  const cohort = makeCohort(rows);
  const model = fitFpca(cohort, { rank: 2 });
  const placements = embed(model, cohort);
  return { study: { model, placements, groups: groupPlaces(model, placements, { numGroups: 2 }) }, left };
}

const { study: given, left } = study();
const options = { at: 4, deltas: [-4, 0, 4] };
const result = dropoutSensitivity(given, left, "those who left", options);
const falling = result.rows[1].groups[0].median < result.rows[1].groups[1].median ? 0 : 1;

describe("dropoutSensitivity", () => {
  it("is the course of the model without a shift, before anybody left, and where nobody did", () => {
    const { medians, times } = result.courses;
    const level = 1 - falling;
    expect(result.groups[level].numLeft).toBe(0);
    for (const of of medians) expect(of[level]).toEqual(medians[1][level]);
    times.forEach((t, k) => {
      if (t <= 2) expect(medians[2][falling][k]).toBe(medians[1][falling][k]);
    });
    expect(medians[2][falling][times.length - 1]).toBe(result.rows[2].groups[falling].median);
  });

  it("moves forecasts by the shift times the mean time since leaving", () => {
    const { exposure, numMembers, numLeft } = result.groups[falling];
    expect(numLeft).toBe(left.reduce((a, b) => a + b, 0));
    expect(exposure).toBeCloseTo((2 * numLeft) / numMembers, 10);
    const of = (k: number) => result.rows[k].groups[falling].forecast;
    expect(of(2) - of(1)).toBeCloseTo(4 * exposure, 10);
    expect(of(0) - of(1)).toBeCloseTo(-4 * exposure, 10);
  });

  it("finds the shift at which the groups meet, and says so where there is none", () => {
    // Half of those who fall stayed: with a median over 60 the highest shifted ones decide, so a finite shift may not do.
    const all = dropoutSensitivity(
      given,
      left.map((_, i) => (given.groups.labels[i] === falling ? 1 : 0)),
      "all who fall",
      options,
    );
    const [{ both, firstAlone, secondAlone }] = all.tipping;
    const alone = falling === 0 ? firstAlone : secondAlone;
    expect(falling === 0 ? secondAlone : firstAlone).toBeNull();
    expect(both).toBeNull();
    expect(alone).toBeNull();
    const moved = { ...given.placements, lastTime: given.placements.lastTime.map((t) => t - 1) };
    const early = dropoutSensitivity(
      { ...given, placements: moved },
      left.map(() => 1),
      "everybody",
      {
        ...options,
        deltas: [0],
      },
    );
    const [tip] = early.tipping;
    const delta = falling === 0 ? tip.firstAlone : tip.secondAlone;
    expect(delta).toBeGreaterThan(0);
    const at = dropoutSensitivity(
      { ...given, placements: moved },
      left.map((_, i) => (given.groups.labels[i] === falling ? 1 : 0)),
      "all who fall",
      { ...options, deltas: [delta ?? 0] },
    );
    expect(at.rows[0].groups[0].median).toBeCloseTo(at.rows[0].groups[1].median, 6);
  });

  it("shifts a marker on a log scale by factors", () => {
    const log = {
      ...given.model,
      markers: given.model.markers.map((own) => ({ ...own, marker: { ...own.marker, transform: "log" as const } })),
    };
    const [, plain, up] = dropoutSensitivity(
      { ...given, model: log as typeof given.model },
      left.map(() => 1),
      "all",
      {
        ...options,
        deltas: [-0.1, 0, 0.1],
      },
    ).rows;
    const { exposure } = dropoutSensitivity(
      { ...given, model: log as typeof given.model },
      left.map(() => 1),
      "all",
      options,
    ).groups[falling];
    expect(up.groups[falling].forecast / plain.groups[falling].forecast).toBeCloseTo(Math.exp(0.1 * exposure), 10);
  });

  it("has round defaults, and refuses marks of others", () => {
    const plain = dropoutSensitivity(given, left, "those who left");
    expect(plain.deltas).toHaveLength(7);
    expect(plain.deltas[5]).toBe(plain.deltaStep);
    // 70 of 100 are followed to the end.
    expect(plain.at).toBe(4);
    expect(() => dropoutSensitivity(given, [1], "x")).toThrow(/100 marks/);
    expect(() => dropoutSensitivity(given, left, "x", { deltas: [] })).toThrow(/finite shifts/);
  });
});
