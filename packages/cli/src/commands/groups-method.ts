/** How groups are made: by a tree of the places, or by Gaussians fitted to them. */
import { groupPlaces } from "@trajectory-maps/core";
import { type GroupMethod, rotatedComponents, studyStability } from "@trajectory-maps/core/study";
import { brief, percent } from "../print/words.ts";
import type { Pool } from "../threads/pool.ts";
import { type Context, type OptionSpec, type Options, textOption } from "./command.ts";
import type { GroupChoice, PlacedRun, StudiedGroups } from "./study-parts.ts";

const METHODS: readonly GroupMethod[] = ["ward", "mixture"];

export const METHOD_OPTION: OptionSpec = {
  flags: "--method <name>",
  description: "Ward's tree of the places, or a Gaussian mixture with soft membership",
  default: "ward",
  choices: METHODS,
};

export function methodOf(options: Options): GroupMethod {
  return METHODS.find((method) => method === textOption(options, "method")) ?? "ward";
}

/** Groups of the places by either method, and their stability under bootstrap refits. */
export async function studyGroups(
  run: PlacedRun,
  choice: GroupChoice & { readonly method: GroupMethod },
  pool: Pool,
  { talk }: Context,
): Promise<StudiedGroups> {
  const { method, numGroups, resamples, seed, better } = choice;
  const groups = talk.during("Groups", () =>
    groupPlaces(run.model, run.placements, { method, numGroups, seed, ...(better === undefined ? {} : { better }) }),
  );
  if (resamples === 0) return { groups, stability: null };
  const stability = await talk.during("Stability under refits", (onProgress) =>
    studyStability(run.model, run.cohort, groups.labels, groups.groups.length, {
      method,
      numResamples: resamples,
      seed,
      jobs: pool.jobs,
      run: async ({ cohort, ...part }) => (await pool.run({ kind: "resample", shared: cohort, part })) as Int32Array,
      onProgress: (done, of) => onProgress({ stage: "refits", iteration: done, maxIterations: of, value: Number.NaN }),
    }),
  );
  return { groups, stability };
}

/** The page of the groups with the method that made them; it is written for trees. */
export function methodPage(page: string, { groups: { method, certainty } }: StudiedGroups): string {
  if (method === "ward") return page;
  const shares = `Gaussians fitted to the places; shares in groups.csv, ${percent(certainty)} certain`;
  return page.replace("by Ward's method on the places", shares);
}

/** Components of the run's linear model, or of its functional principal components, turned by varimax; null for none. */
export function componentsOf({ model, baselines }: PlacedRun) {
  const linear = [model, ...baselines.map((baseline) => baseline.model)].filter(
    ({ kind }) => kind === "fpca" || kind === "lmm",
  );
  const chosen = linear.find(({ kind }) => kind === model.kind) ?? linear.find(({ kind }) => kind === "fpca");
  const components = chosen === undefined ? null : rotatedComponents(chosen);
  return chosen === undefined || components === null ? null : { model: chosen.kind, components };
}

/** One line about them. */
export function componentsLine(found: ReturnType<typeof componentsOf>, timeUnit: string): string {
  if (found === null) return "";
  const unit = timeUnit && ` ${timeUnit}`;
  const parts = found.components.map(
    ({ share, peak }) => `${percent(share)} most at ${brief(Math.round(10 * peak) / 10)}${unit}`,
  );
  return `\n\nVariance  components of ${found.model} after varimax: ${parts.join("; ")}`;
}
