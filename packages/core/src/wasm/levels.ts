/** The levels of a noise as kernels read them (packages/core/assembly/level-weights.ts). */
import type { NoiseLevels } from "../noise/levels.ts";

/** Levels at most. */
export const MOST_LEVELS = 33;

/** s, log p, log s and ωz of each level, [K,4]. */
export function levelTable({ spread, z, variances, logWeights }: NoiseLevels): Float64Array {
  return Float64Array.from({ length: 4 * z.length }, (_, e) => {
    const k = e >> 2;
    return [variances[k], logWeights[k], Math.log(variances[k]), spread * z[k]][e & 3];
  });
}
