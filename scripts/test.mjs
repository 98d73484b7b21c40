/**
 * npm test: lint, types, tests. Every stage runs, even after a failure, so that one run tells all; the exit code is 1 if
 * any failed. Lint and types keep one processor busy each: they run side by side, and what they print comes in their order.
 * Arguments are handed to vitest, which then is all that runs: npm test -- packages/core/src/basis
 * Files that drive a browser are run once more if they fail, alone, and the summary names those that then passed: a page on a
 * machine with other work to do may lose a race that the product does not have. A fault fails twice.
 * npm run test:slow: the files named *.slow.test.ts alone.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { dirname, join, relative, sep } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const given = process.argv.slice(2);
const slow = given.includes("--slow");
const only = given.includes("--types")
  ? "types"
  : given.includes("--lint")
    ? "lint"
    : given.length > 0
      ? "tests"
      : undefined;
const tool = (...parts) => join(ROOT, "node_modules", ...parts);
const tsc = (project) => [tool("typescript", "bin", "tsc"), "--noEmit", "-p", project];

/** Svelte files are checked by svelte-check, which also checks the TypeScript around them. */
const types = (name) =>
  existsSync(join(ROOT, "packages", name, "svelte.config.js"))
    ? [
        tool("svelte-check", "bin", "svelte-check"),
        "--workspace",
        `packages/${name}`,
        "--tsconfig",
        "./tsconfig.json",
        "--fail-on-warnings",
      ]
    : tsc(`packages/${name}`);

const packages = readdirSync(join(ROOT, "packages")).filter((name) =>
  existsSync(join(ROOT, "packages", name, "tsconfig.json")),
);

const STAGES = [
  { name: "lint", command: [tool("@biomejs", "biome", "bin", "biome"), "check", "--error-on-warnings", "."] },
  ...packages.map((name) => ({ name: `types: ${name}`, command: types(name) })),
  { name: "types: tests and tools", command: tsc(".") },
  { name: "tests", run: runTests },
];

const env = slow ? { DTM_SEED: "random", ...process.env } : process.env;
const run = (command) => spawnSync(process.execPath, command, { cwd: ROOT, stdio: "inherit", env }).status === 0;

/** Whether all tests passed, and a note on those that needed two tries. */
function runTests() {
  const folder = mkdtempSync(join(tmpdir(), "dtm-tests-"));
  try {
    const list = join(folder, "results.json");
    const vitest = [tool("vitest", "vitest.mjs"), "run", ...(slow ? ["--mode", "slow"] : [])];
    const report = ["--reporter=default", "--reporter=json", `--outputFile.json=${list}`];
    const ok = run([...vitest, ...report, ...given.filter((word) => word !== "--slow")]);
    const { testResults = [] } = existsSync(list) ? JSON.parse(readFileSync(list, "utf8")) : {};
    tellSlowest(testResults);
    if (ok) return { ok };
    const failed = testResults.filter(({ status }) => status === "failed").map(({ name }) => name);
    const drivesBrowser = (file) => /browser(-of-file)?\.ts"|explorer-page\.ts"/.test(readFileSync(file, "utf8"));
    if (failed.length === 0 || !failed.every(drivesBrowser)) return { ok: false };
    process.stdout.write("\n── tests in a browser that failed, once more\n");
    const names = failed.map((file) => relative(ROOT, file).split(sep).join("/"));
    return { ok: run([...vitest, ...names]), note: `two tries: ${names.join(", ")}` };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The files that take the most time: where the next second is to be saved. */
function tellSlowest(files) {
  const seconds = ({ startTime, endTime }) => (endTime - startTime) / 1000;
  const slowest = [...files].sort((a, b) => seconds(b) - seconds(a)).slice(0, 20);
  process.stdout.write("\n── slowest files\n");
  for (const file of slowest) {
    process.stdout.write(`${seconds(file).toFixed(1).padStart(7)} s  ${relative(ROOT, file.name)}\n`);
  }
}

/** Runs a command and keeps what it prints. */
function kept(command) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, command, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"], env });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => (said += text));
    child.on("close", (code) => resolve({ ok: code === 0, said }));
  });
}

/** Lint and types side by side: what each printed comes whole, in the order of the stages, as soon as it can. */
async function runSideBySide(stages) {
  const results = [];
  let [next, told] = [0, 0];
  const lane = async () => {
    while (next < stages.length) {
      const k = next++;
      const { name, command } = stages[k];
      const start = Date.now();
      const { ok, said } = await kept(command);
      results[k] = { name, ok, said, seconds: (Date.now() - start) / 1000 };
      for (; results[told] !== undefined; told++) {
        process.stdout.write(`\n── ${results[told].name}\n${results[told].said}`);
      }
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
  return results;
}

const stages = STAGES.filter(({ name }) => only === undefined || name.startsWith(only));
const results = await runSideBySide(stages.filter(({ command }) => command !== undefined));
for (const { name, run: work } of stages.filter(({ command }) => command === undefined)) {
  process.stdout.write(`\n── ${name}\n`);
  const start = Date.now();
  results.push({ name, ...work(), seconds: (Date.now() - start) / 1000 });
}

process.stdout.write("\n── summary\n");
for (const { name, ok, seconds, note = "" } of results) {
  process.stdout.write(
    `${name.padEnd(24)}${ok ? "ok  " : "FAIL"}${seconds.toFixed(1).padStart(8)} s  ${note}`.trimEnd(),
  );
  process.stdout.write("\n");
}
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1;
