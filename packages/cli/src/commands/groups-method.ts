/** How groups are made: by a tree of the places, or by Gaussians fitted to them. */
import { type GroupMethod, rotatedComponents } from "@trajectory-maps/core/study";
import { percent, significant } from "../print/words.ts";
import { type OptionSpec, type Options, textOption } from "./command.ts";
import type { PlacedRun, StudiedGroups } from "./study-parts.ts";

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
    ({ share, peak }) => `${percent(share)} most at ${significant(Math.round(10 * peak) / 10)}${unit}`,
  );
  return `\n\nVariance  components of ${found.model} after varimax: ${parts.join("; ")}`;
}
