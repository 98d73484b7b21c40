/**
 * npm run test:python: the tests and examples of python/trajectory-maps in a virtual environment of their own, with the versions of its
 * requirements-test.txt, and the first example of its README in an empty one, without Node. Skipped with one line where there is no
 * Python 3.10 or newer. DTM_PYTHON names another interpreter; arguments are handed to pytest.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { buildWidget } from "./build-python.mjs";
import { environment, findPython, OLDEST, PACKAGE, run, testEnvironment } from "./python-environments.mjs";

const python = findPython();
if (python === undefined) {
  process.stdout.write(
    `test:python skipped: no Python ${OLDEST.join(".")} or newer found (DTM_PYTHON can name one).\n`,
  );
} else {
  process.stdout.write(`Python ${python.version} (${python.command})\n`);
  const stages = [
    ["tests and examples", testsAndExamples],
    ["five lines in an empty environment, without Node", fiveLines],
  ];
  const failed = stages.filter(([name, work]) => {
    process.stdout.write(`\n── ${name}\n`);
    return !work();
  });
  process.stdout.write(`\n${failed.length === 0 ? "ok" : `FAIL: ${failed.map(([name]) => name).join(", ")}`}\n`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}

function testsAndExamples() {
  const own = testEnvironment(python, "requirements-test.txt", "tests");
  if (own === undefined) return false;
  // The widget has its script.
  buildWidget();
  // The package as it stands in the repository; the command line as it is built here.
  const env = {
    ...process.env,
    PYTHONPATH: join(PACKAGE, "src"),
    TRAJECTORY_MAPS_DTM: "",
    PYTHONDONTWRITEBYTECODE: "1",
  };
  const args = ["-m", "pytest", "-q", "-p", "no:cacheprovider", ...process.argv.slice(2)];
  return run(own, args, { cwd: PACKAGE, env });
}

/** The package installed as a user does it, in a folder that holds a model.json and nothing else. */
function fiveLines() {
  const folder = mkdtempSync(join(tmpdir(), "dtm-python-"));
  try {
    // Installing builds in the folder of the package: a copy is built instead.
    const copy = join(folder, "package");
    copyPackage(copy);
    const own = environment(python, join(folder, "empty"), "", [copy]);
    if (own === undefined) return false;
    const [, lines] = readFileSync(join(PACKAGE, "README.md"), "utf8").match(/```python\n(.*?)```/s);
    const work = join(folder, "work");
    const place = join(work, "out", "run");
    mkdirSync(place, { recursive: true });
    copyFileSync(join(PACKAGE, "src", "trajectory_maps", "example.model.json"), join(place, "model.json"));
    process.stdout.write(lines);
    const alone = dirname(own) + delimiter;
    return run(own, ["-I", "-c", lines], { cwd: work, env: { PATH: alone, SYSTEMROOT: process.env.SYSTEMROOT ?? "" } });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function copyPackage(to) {
  const files = spawnSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: PACKAGE,
    encoding: "utf8",
  });
  for (const name of files.stdout.trim().split("\n")) {
    if (name.startsWith("tests/")) continue;
    mkdirSync(dirname(join(to, name)), { recursive: true });
    copyFileSync(join(PACKAGE, name), join(to, name));
  }
}
