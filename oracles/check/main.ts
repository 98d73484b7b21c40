/**
 * npm run oracle -- [-v] DIR: recomputes every fixture file under DIR and prints one line per file,
 *   name  worst-error/tolerance  ok|FAIL
 * With -v every check of every file. Exit code 1 if any file fails, 2 if there is no such folder.
 * npm run oracle -- --python writes the models and numbers that tests of the Python package compare with; npm run oracle -- --conformance writes the conformance set of the kernels (docs/kernels.md) to fixtures/kernels instead.
 */
import { existsSync, statSync } from "node:fs";
import { resolve } from "node:path";
import process from "node:process";
import { writeConformance } from "../conformance/write.ts";
import { writePythonFixtures } from "../python/write.ts";
import type { Check } from "./checker.ts";
import { checkFolder, type FileReport, passes } from "./run.ts";

const args = process.argv.slice(2);
const verbose = args.includes("-v");
const given = args.find((arg) => !arg.startsWith("-"));
// npm runs scripts in the root of the repository and tells in INIT_CWD where it was called.
const folder = given === undefined ? undefined : resolve(process.env.INIT_CWD ?? ".", given);

// A reader that has seen enough (head) is no failure of ours.
process.stdout.on("error", () => process.exit(process.exitCode));

if (args.includes("--conformance")) {
  process.stdout.write(`${writeConformance("fixtures/kernels").join("\n")}\n`);
} else if (args.includes("--python")) {
  process.stdout.write(`${writePythonFixtures("python/trajectory-maps/tests/fixtures").join("\n")}\n`);
} else if (folder === undefined || !existsSync(folder) || !statSync(folder).isDirectory()) {
  const remedy = "Try: npm run oracle -- fixtures";
  process.stderr.write(`Expected a folder of fixtures, received ${given ?? "none"}. ${remedy}\n`);
  process.exitCode = 2;
} else {
  process.exitCode = report(folder);
}

function report(directory: string): number {
  const reports = checkFolder(directory, (file) => {
    process.stdout.write(`${file.name.padEnd(36)}  ${ratio(file).padEnd(18)}  ${file.verdict}${explanation(file)}\n`);
    if (verbose) for (const check of file.checks) process.stdout.write(`    ${detail(check)}\n`);
  });
  const count = (verdict: FileReport["verdict"]) => reports.filter((file) => file.verdict === verdict).length;
  process.stderr.write(
    `${reports.length} files: ${count("ok")} ok, ${count("FAIL")} FAIL, ${count("not yet")} not yet\n`,
  );
  if (reports.length === 0) process.stderr.write(`No .json file found under ${directory}.\n`);
  return count("FAIL") > 0 || reports.length === 0 ? 1 : 0;
}

function ratio(file: FileReport): string {
  return file.worst === undefined ? "-" : `${show(file.worst.error)}/${show(file.worst.tolerance)}`;
}

function explanation(file: FileReport): string {
  if (file.reason !== undefined) return `  (${file.reason})`;
  return file.verdict === "FAIL" && file.worst !== undefined ? `  (${file.worst.name})` : "";
}

function detail(check: Check): string {
  const numbers = `${show(check.error)}/${show(check.tolerance)}`;
  return `${numbers.padEnd(18)}  ${passes(check) ? "ok  " : "FAIL"}  ${check.name}`;
}

/** 3.1e-12, 1e-8, 0, inf. */
function show(x: number): string {
  if (x === 0) return "0";
  return Number.isFinite(x) ? x.toExponential(1).replace(".0e", "e") : "inf";
}
