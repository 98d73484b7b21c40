/**
 * npm run test:jupyter: bundles the map and runs the notebook of python/trajectory-maps in a real JupyterLab (test/notebook.jupyter.test.ts), in a
 * virtual environment with the versions of requirements-jupyter.txt. Skipped with one line where there is no Python 3.10 or newer.
 * DTM_PYTHON names another interpreter; --picture writes docs/images/jupyter.png; other arguments are handed to vitest.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { buildWidget } from "./build-python.mjs";
import { findPython, OLDEST, run, testEnvironment } from "./python-environments.mjs";
import { smallPng } from "./small-png.mjs";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const PICTURE = join(ROOT, "docs", "images", "jupyter.png");
const given = process.argv.slice(2);
const python = findPython();
if (python === undefined) {
  process.stdout.write(
    `test:jupyter skipped: no Python ${OLDEST.join(".")} or newer found (DTM_PYTHON can name one).\n`,
  );
} else {
  process.stdout.write(`Python ${python.version} (${python.command})\n`);
  const own = testEnvironment(python, "requirements-jupyter.txt", "jupyter");
  process.exitCode = own !== undefined && tests(own) ? 0 : 1;
}

function tests(own) {
  process.stdout.write(`map for the widget: ${Math.round(buildWidget().bytes / 1000)} kB\n`);
  const env = { ...process.env, DTM_JUPYTER: own };
  const args = ["run", "--mode", "jupyter", ...given.filter((word) => word !== "--picture")];
  const vitest = join(ROOT, "node_modules", "vitest", "vitest.mjs");
  if (!run(process.execPath, [vitest, ...args], { cwd: ROOT, env })) return false;
  const picture = join("out", "jupyter", "pbc.png");
  process.stdout.write(`picture: ${picture}\n`);
  if (given.includes("--picture")) writeFileSync(PICTURE, smallPng(readFileSync(join(ROOT, picture))));
  return true;
}
