/** Bending courses seen often, with noise of any kind, for tests; seeded. */
import { type Cohort, makeCohort } from "../packages/core/src/cohort/cohort.ts";
import { drawNoise, type Noise } from "../packages/core/src/noise/noise.ts";
import { createRandom } from "../packages/core/src/numeric/random.ts";

/** `visits` of each of m individuals at random times of ten years. */
export function serialCohort(m: number, visits: number, noise: Noise, seed = 3): Cohort {
  const random = createRandom(seed);
  const ids: string[] = [];
  const [times, values]: number[][] = [[], []];
  for (let i = 0; i < m; i++) {
    const own = Float64Array.from({ length: visits }, () => 10 * random.uniform()).sort();
    const drawn = drawNoise(noise, own, random);
    const [level, slope] = [20 + 4 * random.normal(), 0.6 * random.normal()];
    own.forEach((t, j) => {
      ids.push(String(i).padStart(4, "0"));
      times.push(t);
      values.push(level + slope * t + 0.05 * slope * slope * t * t + drawn[j]);
    });
  }
  return makeCohort({ ids, times, values });
}
