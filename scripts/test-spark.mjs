/**
 * npm run test:spark: trajectory_maps.spark under Spark 3.5 and 4, each in a virtual environment of its own with the versions of
 * requirements-spark-*.txt: local, with two executors of which one is killed, and by Spark Connect. Skipped with one line where there is no
 * Python 3.10 or newer or no Java 17. DTM_PYTHON names another interpreter; arguments are handed to pytest.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { findPython, OLDEST, PACKAGE, run, testEnvironment } from "./python-environments.mjs";

/** Connect of 3.5 is not in its wheel. Python 3.12 and newer is not for 3.5. */
const RUNS = [
  { version: "3.5", modes: ["local", "cluster"], newest: 11 },
  { version: "4", modes: ["local", "cluster", "connect"], newest: 13 },
];
const OLDEST_JAVA = 17;

const python = findPython();
const java = findJava();
if (python === undefined || java === undefined) {
  const missing = python === undefined ? `Python ${OLDEST.join(".")}` : `Java ${OLDEST_JAVA}`;
  process.stdout.write(`test:spark skipped: no ${missing} or newer found (DTM_PYTHON and JAVA_HOME can name them).\n`);
} else {
  process.stdout.write(`Python ${python.version} (${python.command}), Java ${java}\n`);
  const failed = RUNS.flatMap(({ version, modes, newest }) => {
    process.stdout.write(`\n── Spark ${version}\n`);
    if (Number(python.version.split(".")[1]) > newest) {
      process.stdout.write(`skipped: it is for Python 3.${newest} at most\n`);
      return [];
    }
    const own = testEnvironment(python, `requirements-spark-${version}.txt`, `spark-${version}`);
    if (own === undefined) return [`Spark ${version}`];
    return modes.flatMap((mode) => (tests(own, mode) ? [] : [`Spark ${version} ${mode}`]));
  });
  process.stdout.write(`\n${failed.length === 0 ? "ok" : `FAIL: ${failed.join(", ")}`}\n`);
  process.exitCode = failed.length === 0 ? 0 : 1;
}

/** The first number of Java's version, if it is new enough. */
function findJava() {
  const command = process.env.JAVA_HOME === undefined ? "java" : join(process.env.JAVA_HOME, "bin", "java");
  const { stderr } = spawnSync(command, ["-version"], { encoding: "utf8" });
  const version = Number(/version "(\d+)/.exec(stderr ?? "")?.[1]);
  return version >= OLDEST_JAVA ? version : undefined;
}

function tests(own, mode) {
  process.stdout.write(`${mode}\n`);
  const env = {
    ...process.env,
    PYTHONPATH: join(PACKAGE, "src"),
    PYTHONDONTWRITEBYTECODE: "1",
    DTM_SPARK_MODE: mode,
  };
  const args = [
    "-m",
    "pytest",
    "-q",
    "-W",
    "ignore::DeprecationWarning",
    "-p",
    "no:cacheprovider",
    "tests_spark",
    ...process.argv.slice(2),
  ];
  return run(own, args, { cwd: PACKAGE, env });
}
