/** The levels of a noise as kernels read them (packages/core/assembly/level-weights.ts). */
import type { NoiseLevels } from "../noise/levels.ts";

/** Levels at most. */
export const MOST_LEVELS = 33;

/** s, log p, log s, ωz and 1/s of each level, [K,5]. */
export function levelTable({ spread, z, variances, logWeights }: NoiseLevels): Float64Array {
  const table = new Float64Array(5 * z.length);
  variances.forEach((s, k) => {
    table.set([s, logWeights[k], Math.log(s), spread * z[k], 1 / s], 5 * k);
  });
  return table;
}
