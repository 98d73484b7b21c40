/** npm run build:r: bundles the map for the htmlwidget of the R package into its inst/htmlwidgets/lib. */
import { renameSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { bundleWidget, ROOT } from "./bundle-widget.mjs";

const LIBRARY = join(ROOT, "r", "trajectorymaps", "inst", "htmlwidgets", "lib", "trajectory-map");

export function buildWidget() {
  bundleWidget("tsdown.widget.config.ts");
  const file = join(LIBRARY, "trajectory-map.js");
  renameSync(join(LIBRARY, "trajectory-map.iife.js"), file);
  return { file, bytes: statSync(file).size };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { file, bytes } = buildWidget();
  process.stdout.write(`${file} (${Math.round(bytes / 1000)} kB)\nNow: R CMD INSTALL r/trajectorymaps\n`);
}
