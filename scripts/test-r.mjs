/**
 * npm run test:r: bundles the map, builds the R package r/trajectorymaps, and runs R CMD check --no-manual on it, which runs its
 * tests and its vignette against the command line of this clone. Errors and warnings fail; notes are printed.
 * Where R or a package it needs is missing, one line says so, and the exit code is 0.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { buildWidget } from "./build-r.mjs";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const NEEDED = ["jsonlite", "htmlwidgets", "testthat", "knitr", "rmarkdown"];
const env = {
  ...process.env,
  DTM: join(ROOT, "packages", "cli", "bin", "dtm.mjs"),
  LC_ALL: "C.UTF-8",
  // ggplot2 is optional here too.
  _R_CHECK_FORCE_SUGGESTS_: "false",
};

process.exitCode = test();

function test() {
  const version = run("Rscript", ["-e", "cat(R.version.string)"]);
  if (version.status !== 0) return skip("R was not found (Debian: apt-get install r-base-core)");
  const missing = run("Rscript", [
    "-e",
    `cat(Filter(function(p) !requireNamespace(p, quietly = TRUE), c(${NEEDED.map((name) => `"${name}"`).join(", ")})))`,
  ]).stdout.trim();
  if (missing !== "") {
    const packages = missing.split(" ").map((name) => `r-cran-${name}`);
    return skip(`R lacks ${missing.replaceAll(" ", ", ")} (Debian: apt-get install ${packages.join(" ")})`);
  }
  say(version.stdout);
  const { bytes } = buildWidget();
  say(`map for the widget: ${Math.round(bytes / 1000)} kB`);
  const folder = mkdtempSync(join(tmpdir(), "trajectorymaps-"));
  try {
    return check(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function check(folder) {
  say("R CMD build r/trajectorymaps");
  const built = run("R", ["CMD", "build", join(ROOT, "r", "trajectorymaps")], folder);
  const archive = readdirSync(folder).find((name) => name.endsWith(".tar.gz"));
  if (built.status !== 0 || archive === undefined) return fail(built);
  say(`R CMD check --no-manual --no-build-vignettes ${archive} (the vignette has just been built)`);
  const checked = run("R", ["CMD", "check", "--no-manual", "--no-build-vignettes", archive], folder);
  say(checked.stdout.trimEnd());
  const results = join(folder, "trajectorymaps.Rcheck");
  const tests = ["testthat.Rout", "testthat.Rout.fail"]
    .map((name) => join(results, "tests", name))
    .find((path) => existsSync(path));
  if (tests !== undefined) say(readFileSync(tests, "utf8").split("\n").slice(-25).join("\n").trim());
  keep(results);
  const status = /^Status: (.*)$/m.exec(checked.stdout)?.[1] ?? "no status";
  const clean = checked.status === 0 && !/ERROR|WARNING/.test(status);
  say(clean ? `R package: ok (${status})` : `R package: FAILED (${status})`);
  return clean ? 0 : 1;
}

/** The rendered vignette, to be looked at. */
function keep(results) {
  const page = join(results, "trajectorymaps", "doc", "pbc.html");
  if (!existsSync(page)) return;
  const out = join(ROOT, "out", "r");
  mkdirSync(out, { recursive: true });
  copyFileSync(page, join(out, "pbc.html"));
  say(`vignette: ${join("out", "r", "pbc.html")}`);
}

function run(command, args, cwd = ROOT) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: "utf8", maxBuffer: 1 << 28 });
  return { status, stdout: stdout ?? "", stderr: stderr ?? "" };
}

function fail({ stdout, stderr }) {
  say(`${stdout}${stderr}`.trimEnd());
  say("R package: FAILED");
  return 1;
}

function skip(reason) {
  say(`R package: not tested, because ${reason}.`);
  return 0;
}

function say(text) {
  process.stdout.write(`${text}\n`);
}
