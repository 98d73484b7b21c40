/**
 * npm run bench: our kernels and fits against what others can do, in one interleaved run (docs/benchmarks.md).
 *   --only NAMES   cases to run, with commas        --large   also a million individuals (minutes, gigabytes)
 *   --quick        small work, to try; not kept      --json    results as JSON on standard output
 *   --list         names of the cases               --check   the regression guard (npm run bench:check)
 *   --write-docs   put the kept results into docs/benchmarks.md; runs nothing
 * Results are kept in bench/results/latest.json, case by case, so that one case can be measured again alone.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import type { BenchCase, BenchContext, Row } from "./case.ts";
import { CASES } from "./cases/list.ts";
import { runGuard, SLACK } from "./guard.ts";
import { ROOT } from "./peers.ts";
import { betweenMarkers, markdownNotes, markdownTable, type Results, textTable } from "./table.ts";

const RESULTS = join(ROOT, "bench", "results", "latest.json");
const PAGE = join(ROOT, "docs", "benchmarks.md");

const { values: flags } = parseArgs({
  options: {
    only: { type: "string" },
    large: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    list: { type: "boolean", default: false },
    check: { type: "boolean", default: false },
    "write-docs": { type: "boolean", default: false },
  },
});

const context: BenchContext = {
  quick: flags.quick || flags.check,
  large: flags.large,
  say: (text) => process.stderr.write(`… ${text}\n`),
};

if (flags.list) for (const { name, about } of CASES) process.stdout.write(`${name.padEnd(14)}${about}\n`);
else if (flags["write-docs"]) writeDocs();
else if (flags.check) await check();
else await measure();

async function measure(): Promise<void> {
  if (flags.quick) context.say("small work: figures are for trying, goals are for the full sizes");
  let results = keptResults();
  for (const bench of chosen(flags.only)) {
    context.say(`${bench.name}: ${bench.about}`);
    const load = loadavg()[0];
    const rows = await attempt(bench);
    if (rows === undefined) continue;
    const date = new Date().toISOString().slice(0, 10);
    results = { machine: machine(), cases: { ...results.cases, [bench.name]: { date, load, rows } } };
    if (!flags.json) process.stdout.write(`\n${bench.about}\n${textTable(rows)}\n`);
    if (!flags.quick) keep(results);
  }
  if (flags.json) process.stdout.write(`${JSON.stringify(results, null, 2)}\n`);
}

/** Rows of a case; one that fails says why, costs the exit code, and does not keep others from running. */
async function attempt(bench: BenchCase): Promise<readonly Row[] | undefined> {
  try {
    return await bench.run(context);
  } catch (error) {
    process.stderr.write(`${bench.name} failed: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
    return undefined;
  }
}

/** Exit code 1 if a ratio misses its goal by more than the slack in two runs in a row. */
async function check(): Promise<void> {
  const { rows, misses } = await runGuard(chosen(flags.only), context);
  if (flags.json) process.stdout.write(`${JSON.stringify({ slack: SLACK, rows, misses }, null, 2)}\n`);
  else process.stdout.write(`${textTable(rows)}\n`);
  if (misses.length === 0) return;
  process.stderr.write(`\nBeyond ${SLACK} times the goal in two runs in a row:\n${textTable(misses)}\n`);
  process.exitCode = 1;
}

function chosen(only: string | undefined): readonly BenchCase[] {
  if (only === undefined) return CASES;
  return only.split(",").map((name) => {
    const found = CASES.find((bench) => bench.name === name.trim());
    if (found === undefined) {
      const known = CASES.map((bench) => bench.name).join(", ");
      process.stderr.write(`--only: expected names among ${known}, received "${name}".\n`);
      process.exit(2);
    }
    return found;
  });
}

/** Results in the order of the list; those of cases that are no more are dropped. */
function keep(results: Results): void {
  const known = CASES.flatMap(({ name }) => (results.cases[name] ? [[name, results.cases[name]] as const] : []));
  mkdirSync(dirname(RESULTS), { recursive: true });
  writeFileSync(RESULTS, `${JSON.stringify({ ...results, cases: Object.fromEntries(known) }, null, 2)}\n`);
}

function keptResults(): Results {
  if (!existsSync(RESULTS)) return { machine: machine(), cases: {} };
  return JSON.parse(readFileSync(RESULTS, "utf8")) as Results;
}

function machine(): Results["machine"] {
  const [one] = cpus();
  return {
    cpu: one?.model.trim() ?? "unknown",
    cores: cpus().length,
    node: process.versions.node,
    platform: `${process.platform} ${process.arch}`,
  };
}

function writeDocs(): void {
  const results = keptResults();
  if (Object.keys(results.cases).length === 0) {
    process.stderr.write("There are no results yet. Run npm run bench first.\n");
    process.exit(2);
  }
  const page = betweenMarkers(readFileSync(PAGE, "utf8"), "figures", markdownTable(results));
  writeFileSync(PAGE, betweenMarkers(page, "notes", markdownNotes(results)));
}
