/** Bundles the map by a configuration of packages/app, for the packages of other languages. */
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

export const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

export function bundleWidget(config) {
  const bundler = join(ROOT, "node_modules", "tsdown", "dist", "run.mjs");
  execFileSync(process.execPath, [bundler, "--config", config], { cwd: join(ROOT, "packages", "app"), stdio: "pipe" });
}
