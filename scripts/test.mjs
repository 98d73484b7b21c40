/**
 * npm test: lint, types, tests. Every stage runs, even after a failure, so that one run tells all; the exit code is 1 if
 * any failed. Arguments are handed to vitest: npm test -- packages/core/src/basis
 * npm run test:slow: the files named *.slow.test.ts alone.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const given = process.argv.slice(2);
const slow = given.includes("--slow");
const only = given.includes("--types") ? "types" : given.includes("--lint") ? "lint" : slow ? "tests" : undefined;
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
  {
    name: "tests",
    command: [
      tool("vitest", "vitest.mjs"),
      "run",
      ...(slow ? ["--mode", "slow"] : []),
      ...given.filter((word) => word !== "--slow"),
    ],
  },
];

const results = STAGES.filter(({ name }) => only === undefined || name.startsWith(only)).map(({ name, command }) => {
  process.stdout.write(`\n── ${name}\n`);
  const start = Date.now();
  const { status } = spawnSync(process.execPath, command, { cwd: ROOT, stdio: "inherit" });
  return { name, ok: status === 0, seconds: (Date.now() - start) / 1000 };
});

process.stdout.write("\n── summary\n");
for (const { name, ok, seconds } of results) {
  process.stdout.write(`${name.padEnd(24)}${ok ? "ok  " : "FAIL"}${seconds.toFixed(1).padStart(8)} s\n`);
}
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1;
