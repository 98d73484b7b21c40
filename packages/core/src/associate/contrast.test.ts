import { describe, expect, it } from "vitest";
import { createRandom } from "../numeric/random.ts";
import { outcomeContrast } from "./contrast.ts";
import { differenceMap } from "./difference-map.ts";
import { MAP_KERNEL, placeFeatures } from "./place-features.ts";
import type { PosteriorFeatures } from "./posterior-features.ts";

/** Features averaged over the prior, from 4,000 places. */
const F = placeFeatures(new Float64Array(2), 2, MAP_KERNEL).length;
const prior = new Float64Array(F);
const random = createRandom(1);
placeFeatures(
  Float64Array.from({ length: 8000 }, () => random.normal()),
  2,
  MAP_KERNEL,
).forEach((v, k) => {
  prior[k % F] += v / 4000;
});

/** m people whose places are known exactly, drawn from the prior. */
function people(m: number, seed: number) {
  const random = createRandom(seed);
  const location = Float64Array.from({ length: 2 * m }, () => random.normal());
  const rows = placeFeatures(location, 2, MAP_KERNEL);
  const features: PosteriorFeatures = { rows, numFeatures: F, prior, kernel: MAP_KERNEL };
  return { features, placements: { location, mapDimension: 2 }, location, random };
}

const contrastOf = ({ features, placements }: ReturnType<typeof people>, labels: Uint8Array, seed = 1) => {
  const map = differenceMap(features, 2, labels, { draws: 199, gridSize: 25, seed });
  return outcomeContrast(features, placements, labels, map, [], seed);
};

describe("outcomeContrast", () => {
  const study = people(300, 4);
  const left = Uint8Array.from({ length: 300 }, (_, i) =>
    study.random.uniform() < (study.location[2 * i] < -0.3 ? 0.8 : 0.2) ? 1 : 0,
  );
  left[0] = 255;
  const found = contrastOf(study, left);

  it("counts everybody known once, here or elsewhere, and finds where", () => {
    expect(found).not.toBeNull();
    const { side, centre, here, elsewhere, drawn } = found!;
    expect(side).toBe(1);
    expect(centre![0]).toBeLessThan(-0.5);
    expect(here.known + elsewhere.known).toBe(299);
    expect(drawn.here.known + drawn.elsewhere.known).toBe(299);
    expect(here.share).toBeGreaterThan(0.6);
    expect(elsewhere.share).toBeLessThan(0.45);
    expect(here.lower < here.share && here.share < here.upper).toBe(true);
  });

  it("of the same people as drawn is larger on average than held out, which chance does not lift", () => {
    // Labels by chance: whatever area is drawn, those who did not draw it have the outcome as often there as elsewhere.
    const gaps = Array.from({ length: 30 }, (_, k) => {
      const own = people(120, 50 + k);
      const labels = Uint8Array.from({ length: 120 }, () => Number(own.random.uniform() < 0.4));
      const map = differenceMap(own.features, 2, labels, { draws: 19, gridSize: 25, seed: k });
      // A narrow band, so that chance leaves it in most of these.
      const loose = { ...map, halfWidth: map.halfWidth.map((v) => 0.4 * v) };
      const outside = Int8Array.from(map.difference, (w, g) => (Math.abs(w) > loose.halfWidth[g] ? Math.sign(w) : 0));
      return outcomeContrast(own.features, own.placements, labels, { ...loose, outside }, [], k);
    }).flatMap((contrast) => (contrast === null ? [] : [contrast]));
    expect(gaps.length).toBeGreaterThan(20);
    const mean = (of: (c: (typeof gaps)[number]) => number) => gaps.reduce((s, c) => s + of(c), 0) / gaps.length;
    expect(mean(({ side, drawn }) => side * (drawn.here.share - drawn.elsewhere.share))).toBeGreaterThan(0.2);
    expect(Math.abs(mean(({ side, here, elsewhere }) => side * (here.share - elsewhere.share)))).toBeLessThan(0.12);
  });

  it("does not depend on the order of individuals", () => {
    const back = Array.from({ length: 300 }, (_, i) => 299 - i);
    const turned = {
      ...study,
      features: {
        ...study.features,
        rows: Float64Array.from(back.flatMap((i) => [...study.features.rows.subarray(i * F, (i + 1) * F)])),
      },
      placements: {
        mapDimension: 2,
        location: Float64Array.from(back.flatMap((i) => [study.location[2 * i], study.location[2 * i + 1]])),
      },
    };
    const map = differenceMap(study.features, 2, left, { draws: 199, gridSize: 25, seed: 1 });
    const labels = Uint8Array.from(back, (i) => left[i]);
    expect(outcomeContrast(turned.features, turned.placements, labels, map, [], 1)).toEqual(found);
  });

  it("is null where no place stands out", () => {
    const own = people(200, 9);
    const labels = Uint8Array.from({ length: 200 }, (_, i) => i % 2);
    const map = differenceMap(own.features, 2, labels, { draws: 99, gridSize: 25 });
    expect(outcomeContrast(own.features, own.placements, labels, { ...map, outside: map.outside.fill(0) })).toBeNull();
  });
});
