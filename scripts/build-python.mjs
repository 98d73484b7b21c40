/** npm run build:python: bundles the map for the Jupyter widget of the Python package into its folder static. */
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const FILE = join(ROOT, "python", "trajectory-maps", "src", "trajectory_maps", "static", "trajectory-map.mjs");

export function buildWidget() {
  execFileSync(
    process.execPath,
    [join(ROOT, "node_modules", "tsdown", "dist", "run.mjs"), "--config", "tsdown.jupyter.config.ts"],
    { cwd: join(ROOT, "packages", "app"), stdio: "pipe" },
  );
  return { file: FILE, bytes: statSync(FILE).size };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { file, bytes } = buildWidget();
  process.stdout.write(
    `${file} (${Math.round(bytes / 1000)} kB)\nNow: pip install './python/trajectory-maps[jupyter]'\n`,
  );
}
