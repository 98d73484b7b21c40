/**
 * One fit in many processes that exchange sums (docs/rounds.md). First 64 jobs of `dtm shards`, killed and doubled at random moments: has the
 * model the same bytes as undisturbed, and as one process has it? Then five sites of `dtm federate`, the bundled cohort in fifths: how far is the map
 * from that of the pooled files, and what is exchanged? Writes docs/studies/rounds.md. Usage: npm run study:rounds
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { setTimeout } from "node:timers/promises";
import { parseArgs } from "node:util";
import { createRandom } from "../packages/core/src/numeric/random.ts";
import { markdownTable } from "./shared/cohorts.ts";

const { values: flags } = parseArgs({
  options: {
    individuals: { type: "string", default: "16384" },
    jobs: { type: "string", default: "64" },
    kills: { type: "string", default: "200" },
    seed: { type: "string", default: "1" },
  },
});
const [individuals, jobs, kills] = [flags.individuals, flags.jobs, flags.kills].map(Number);
const doubles = Math.ceil(jobs / 10);
const FILES = 4;
/** Jobs of the undisturbed run, whose rounds are those of any number of jobs. */
const FEW = 4;
const SITES = ["s1", "s2", "s3", "s4", "s5"];
const WAIT = ["--wait", "3600"];
const BIN = "packages/cli/bin/dtm.mjs";
const folder = mkdtempSync(join(tmpdir(), "dtm-rounds-"));
const at = (...parts: string[]) => join(folder, ...parts);
const random = createRandom(Number(flags.seed));
const say = (text: string) => void process.stderr.write(`${text}\n`);

/** A process of the program that is started anew whenever it was killed. */
interface Job {
  child: ChildProcess;
  readonly output: Promise<string>;
}

function start(argv: readonly string[]): Job {
  const job = {} as { child: ChildProcess };
  const output = new Promise<string>((resolve, reject) => {
    const go = () => {
      const child = spawn(process.execPath, [BIN, ...argv], { stdio: ["ignore", "pipe", "pipe"] });
      const said = { out: "", talk: "" };
      child.stdout.on("data", (bytes) => {
        said.out += String(bytes);
      });
      child.stderr.on("data", (bytes) => {
        said.talk += String(bytes);
      });
      child.on("close", (code, signal) => {
        if (signal === "SIGKILL") go();
        else if (code === 0) resolve(said.out);
        else reject(new Error(`dtm ${argv.join(" ")} ended with ${code}: ${said.talk}`));
      });
      job.child = child;
    };
    go();
  });
  return Object.assign(job, { output });
}

const dtm = (...argv: string[]) => start([...argv, "-q"]).output;

/** Writes statistics of a table of visits in parts, all in the basis and noise of the first. */
async function takeStatistics(visits: string, parts: readonly string[], columns: readonly string[]): Promise<string[]> {
  const [header, ...rows] = readFileSync(visits, "utf8").trim().split("\n");
  const ids = [...new Set(rows.map((row) => row.split(",")[0]))];
  const files = parts.map((name) => at(`${name}.parquet`));
  for (const [k, name] of parts.entries()) {
    const own = new Set(ids.filter((_, i) => i % parts.length === k));
    writeFileSync(at(`${name}.csv`), [header, ...rows.filter((row) => own.has(row.split(",")[0])), ""].join("\n"));
    const like = k === 0 ? columns : ["--like", files[0]];
    await dtm("statistics", at(`${name}.csv`), ...like, "-o", files[k]);
  }
  return files;
}

const roundsIn = (path: string) =>
  existsSync(join(path, "totals")) ? readdirSync(join(path, "totals")).filter((name) => name[0] !== ".").length : 0;

/** All jobs of a planned fit at once; of `rounds` that it will take, so many kills are spread over the first nine in ten. */
async function runJobs(path: string, count: number, copies: number, killing?: { readonly rounds: number }) {
  const before = Date.now();
  const numbers = [
    ...Array(count).keys(),
    ...Array.from({ length: copies }, () => Math.floor(random.uniform() * count)),
  ];
  const running = [
    start(["shards", "reduce", path, ...WAIT, "-q"]),
    ...numbers.map((k) => start(["shards", "run", path, "--shard", String(k), ...WAIT, "-q"])),
  ];
  const done = Promise.all(running.map(({ output }) => output));
  let killed = 0;
  let ended = false;
  done
    .catch(() => {})
    .finally(() => {
      ended = true;
    });
  while (killing !== undefined && killed < kills && !ended) {
    const due = (kills * (roundsIn(path) + 1)) / (0.9 * killing.rounds);
    if (killed < due) {
      const { child } = running[Math.floor(random.uniform() * running.length)];
      if (child.exitCode === null && child.kill("SIGKILL")) killed++;
    }
    await setTimeout(400 * random.uniform());
  }
  await done;
  const bytes = readdirSync(join(path, "sums"))
    .filter((name) => name.endsWith("-shard0000.sums"))
    .reduce((sum, name) => sum + readFileSync(join(path, "sums", name)).length, 0);
  const model = readFileSync(join(path, "model.json"), "utf8");
  return { model, killed, bytes, rounds: roundsIn(path), seconds: (Date.now() - before) / 1000 };
}

async function studyJobs(): Promise<string> {
  await dtm("simulate", "pfvc", "--individuals", String(individuals), "-o", at("data"));
  const parts = Array.from({ length: FILES }, (_, k) => `part-${k}`);
  const files = await takeStatistics(at("data", "visits.csv"), parts, ["--noise", "white", "--basis", "4"]);
  const model = ["--dim", "1", "--restarts", "0", "--tolerance", "0.3"];
  const statistics = ["--statistics", files.join()];
  await dtm("fit", ...statistics, "--by-file", ...model, "-o", at("one"));
  const one = readFileSync(at("one", "model.json"), "utf8");
  const plan = (name: string, count: number) =>
    dtm("shards", "plan", at(name), ...statistics, ...model, "--shards", String(count));
  await Promise.all([plan("quiet", FEW), plan("disturbed", jobs)]);
  const quiet = await runJobs(at("quiet"), FEW, 0);
  say(`quiet: ${quiet.rounds} rounds, ${quiet.seconds.toFixed(0)} s`);
  const disturbed = await runJobs(at("disturbed"), jobs, doubles, { rounds: quiet.rounds });
  say(`disturbed: ${disturbed.killed} kills, ${disturbed.seconds.toFixed(0)} s`);
  const row = (name: string, run: typeof quiet, count: number, copies: number) => [
    ...[name, String(count), String(copies), String(run.killed), String(run.rounds), (run.bytes / 1e6).toFixed(2)],
    ...[run.seconds.toFixed(0), run.model === one ? "the same bytes" : "OTHER"],
  ];
  return markdownTable(
    ["run", "jobs", "doubles", "kills", "rounds", "MB given by a job", "seconds", "model, against one process"],
    [row("undisturbed", quiet, FEW, 0), row("disturbed", disturbed, jobs, doubles)],
  );
}

/** All numbers in plain data, in its order. */
function numbersIn(of: unknown): number[] {
  if (typeof of === "number") return [of];
  return of !== null && typeof of === "object" ? Object.values(of).flatMap(numbersIn) : [];
}

const difference = (a: readonly number[], b: readonly number[]) =>
  a.length === b.length ? a.reduce((most, v, k) => Math.max(most, Math.abs(v - b[k])), 0) : Number.NaN;

/** Individuals with the numbers of their places, in the order of ids. */
function placesIn(runs: readonly string[]): number[] {
  const rows = runs.flatMap((run) => readFileSync(at(run, "placements.csv"), "utf8").trim().split("\n").slice(1));
  return rows.sort().flatMap((row) =>
    row
      .split(",")
      .slice(1)
      .filter((cell) => cell !== "" && Number.isFinite(Number(cell)))
      .map(Number),
  );
}

async function studySites(): Promise<string> {
  const files = await takeStatistics("examples/pbc/visits.csv", SITES, ["--value", "bili", "--transform", "log"]);
  await dtm("federate", "init", at("sites"), "--like", files[0], "--sites", SITES.join());
  const before = Date.now();
  const merging = dtm("federate", "merge", at("sites"), ...WAIT);
  const said = await Promise.all(
    SITES.map((site, k) =>
      dtm(
        ...["federate", "round", at("sites"), "--site", site, "--statistics", files[k], "--allow-exposed"],
        ...[...WAIT, "-j", "1", "-o", at(`run-${site}`), "--json"],
      ),
    ),
  );
  await merging;
  const seconds = (Date.now() - before) / 1000;
  await dtm("fit", "--statistics", files.join(), "--by-file", "--restarts", "1", "-o", at("pooled"));
  const modelOf = (...path: string[]) => JSON.parse(readFileSync(at(...path), "utf8")).model as object;
  const ofModel = difference(numbersIn(modelOf("sites", "model.json")), numbersIn(modelOf("pooled", "model.json")));
  const ofPlaces = difference(placesIn(SITES.map((site) => `run-${site}`)), placesIn(["pooled"]));
  say(`sites: model ${ofModel}, places ${ofPlaces}, ${seconds.toFixed(0)} s`);
  const { exchanged } = JSON.parse(said[0]) as { exchanged: { what: string; rounds: number; bytes: number }[] };
  const all = { what: "in all", rounds: 0, bytes: 0 };
  for (const { rounds, bytes } of exchanged) {
    all.rounds += rounds;
    all.bytes += bytes;
  }
  return `The largest difference of any number of the model file is ${ofModel}, of any number of the places ${ofPlaces}. What one site gave in ${seconds.toFixed(0)} seconds:

${markdownTable(
  ["sums of", "rounds", "bytes a round", "bytes"],
  [...exchanged, all].map(({ what, rounds, bytes }) => [
    ...[what, String(rounds), String(Math.round(bytes / rounds)), String(bytes)],
  ]),
)}`;
}

mkdirSync(folder, { recursive: true });
try {
  const sites = await studySites();
  const shards = await studyJobs();
  const page = `# One fit in many processes

\`npm run study:rounds\` writes this page. Places of a fit that is spread exchange sums as files ([rounds](../rounds.md)).

## Jobs that are killed and doubled

${individuals} simulated individuals (pfvc) in ${FILES} files of statistics with four basis functions; a map of one dimension from one start, tolerance 0.3. The model of \`dtm fit --statistics --by-file\` in one process is compared with that of
${FEW} jobs of \`dtm shards\`, undisturbed, and of ${jobs} jobs on one machine at once, disturbed: ${doubles} further processes do the work of jobs that are running already, and ${kills} times a process, the one that adds among
them, is killed (SIGKILL) at a random moment of the fit and started again. A job that is started anew goes the whole way again from the totals that are there; with two cores for all, that is most of the time.

${shards}

## Five sites and the pooled cohort

Bilirubin of the bundled cohort (pbc, logarithms), its individuals dealt to five sites; \`dtm federate\` with its defaults (a map of two dimensions, two starts) and
\`--allow-exposed\`, which sites of about 62 individuals need here ([privacy](../privacy.md)), against \`dtm fit --statistics --by-file\` of the five files with \`--restarts 1\`.
${sites}
`;
  writeFileSync("docs/studies/rounds.md", page);
  process.stdout.write(page);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
