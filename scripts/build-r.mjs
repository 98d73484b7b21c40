/** npm run build:r: bundles the map for the htmlwidget of the R package into its inst/htmlwidgets/lib. */
import { execFileSync } from "node:child_process";
import { renameSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const LIBRARY = join(ROOT, "r", "trajectorymaps", "inst", "htmlwidgets", "lib", "trajectory-map");

export function buildWidget() {
  execFileSync(
    process.execPath,
    [join(ROOT, "node_modules", "tsdown", "dist", "run.mjs"), "--config", "tsdown.widget.config.ts"],
    { cwd: join(ROOT, "packages", "app"), stdio: "pipe" },
  );
  const file = join(LIBRARY, "trajectory-map.js");
  renameSync(join(LIBRARY, "trajectory-map.iife.js"), file);
  return { file, bytes: statSync(file).size };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { file, bytes } = buildWidget();
  process.stdout.write(`${file} (${Math.round(bytes / 1000)} kB)\nNow: R CMD INSTALL r/trajectorymaps\n`);
}
