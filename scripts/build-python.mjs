/** npm run build:python: bundles the map for the Jupyter widget of the Python package into its folder static. */
import { statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { bundleWidget, ROOT } from "./bundle-widget.mjs";

const FILE = join(ROOT, "python", "trajectory-maps", "src", "trajectory_maps", "static", "trajectory-map.mjs");

export function buildWidget() {
  bundleWidget("tsdown.jupyter.config.ts");
  return { file: FILE, bytes: statSync(FILE).size };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { file, bytes } = buildWidget();
  process.stdout.write(
    `${file} (${Math.round(bytes / 1000)} kB)\nNow: pip install './python/trajectory-maps[jupyter]'\n`,
  );
}
