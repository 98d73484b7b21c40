import { describe, expect, it } from "vitest";
import { whiteNoise } from "../../noise/noise.ts";
import type { MapStart } from "../map-start.ts";
import { startingPlaces } from "./starting-places.ts";

describe("startingPlaces", () => {
  const start: MapStart = {
    markers: [
      {
        mean: { kind: "scalar", coefficients: new Float64Array(2) },
        noise: whiteNoise(1),
        covariance: new Float64Array(4),
      },
    ],
    scores: Float64Array.of(1, 2),
    locationMean: Float64Array.of(0.5, 0.6),
    locationCovariance: Float64Array.of(0.1, 0.2),
    warnings: [],
  };

  it("are the FPCA posterior widened, the scores, then random places of their own stream", () => {
    const fpca = startingPlaces(start, 0, 1, 7);
    expect(Array.from(fpca.means)).toEqual([0.5, 0.6]);
    expect(fpca.covariances[0]).toBeCloseTo(0.1225, 12);
    const scores = startingPlaces(start, 1, 1, 7);
    expect(Array.from(scores.means)).toEqual([1, 2]);
    expect(scores.covariances[1]).toBeCloseTo(0.09, 12);
    const [a, b, c] = [2, 3, 2].map((index) => startingPlaces(start, index, 1, 7).means);
    expect(a).toEqual(c);
    expect(a).not.toEqual(b);
  });
});
