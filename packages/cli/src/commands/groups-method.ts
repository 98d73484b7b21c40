/** How groups are made: by a tree of the places, or by Gaussians fitted to them. */
import { GROUP_METHODS, type GroupMethod, rotatedComponents } from "@trajectory-maps/core/study";
import { percent, significant } from "../print/words.ts";
import { type OptionSpec, type Options, textOption } from "./command.ts";
import type { PlacedRun } from "./study-parts.ts";

const METHODS = Object.keys(GROUP_METHODS) as GroupMethod[];

export const METHOD_OPTION: OptionSpec = {
  flags: "--method <name>",
  description:
    "a tree of the places by splits (bisecting 2-means) or merges (Ward), or a Gaussian mixture with soft membership",
  default: "bisect",
  choices: METHODS,
};

export function methodOf(options: Options): GroupMethod {
  return METHODS.find((method) => method === textOption(options, "method")) ?? "bisect";
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
