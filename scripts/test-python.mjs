/**
 * npm run test:python: the tests and examples of python/trajectory-maps in a virtual environment of their own, with the versions of its
 * requirements-test.txt, and the first example of its README in an empty one, without Node. Skipped with one line where there is no
 * Python 3.10 or newer. DTM_PYTHON names another interpreter; arguments are handed to pytest.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const PACKAGE = join(ROOT, "python", "trajectory-maps");
const OLDEST = [3, 10];
const CACHE = join(ROOT, "node_modules", ".cache", "python");

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

/** The first interpreter that is new enough and can make environments. */
function findPython() {
  const named = process.env.DTM_PYTHON;
  const question = "import sys, venv, ensurepip; print('.'.join(map(str, sys.version_info[:3])))";
  for (const command of named === undefined ? ["python3", "python", "py"] : [named]) {
    const { status, stdout } = spawnSync(command, ["-c", question], { encoding: "utf8" });
    const version = status === 0 ? stdout.trim() : "";
    const [major, minor] = version.split(".").map(Number);
    if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return { command, version };
  }
  return undefined;
}

/** The interpreter of an environment that has what the key says, made if there is none. */
function environment(folder, key, install) {
  const stamp = join(folder, ".made-from");
  const own = process.platform === "win32" ? join(folder, "Scripts", "python.exe") : join(folder, "bin", "python");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === key) return own;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  const steps = [
    [python.command, ["-m", "venv", folder]],
    [own, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...install]],
  ];
  for (const [command, args] of steps) {
    if (!run(command, args)) return undefined;
  }
  writeFileSync(stamp, key);
  return own;
}

function run(command, args, options = {}) {
  return spawnSync(command, args, { stdio: "inherit", ...options }).status === 0;
}

function testsAndExamples() {
  const requirements = join(PACKAGE, "requirements-test.txt");
  const key = createHash("sha256")
    .update(`${python.version}\n${readFileSync(requirements, "utf8")}`)
    .digest("hex");
  const own = environment(join(CACHE, "tests"), key, ["-r", requirements]);
  if (own === undefined) return false;
  process.stdout.write(`${readFileSync(requirements, "utf8").trim().replaceAll("\n", ", ")}\n`);
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
    const own = environment(join(folder, "empty"), "", [copy]);
    if (own === undefined) return false;
    const [, lines] = readFileSync(join(PACKAGE, "README.md"), "utf8").match(/```python\n(.*?)```/s);
    const work = join(folder, "work");
    mkdirSync(work);
    copyFileSync(join(PACKAGE, "src", "trajectory_maps", "example.model.json"), join(work, "model.json"));
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
