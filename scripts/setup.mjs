/**
 * Makes a fresh clone ready; runs before every npm script of this repository.
 *   1. Node is new enough, or a kind message says so.
 *   2. node_modules agrees with package-lock.json, or `npm ci` is run.
 *   3. What is built is as new as its sources, or it is built: a package with a build.mjs by that, others by tsdown.
 * Quiet when there is nothing to do. Safe to run twice, or by two scripts at once: the second waits for the first.
 *
 * Usage: node scripts/setup.mjs [--install-only]
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const OLDEST_NODE = [20, 19];
const LOCK = join(ROOT, ".setup.lock");
const INSTALL_STAMP = join(ROOT, "node_modules", ".installed-from");

checkNode();
if (!installed() || (!process.argv.includes("--install-only") && staleTargets().length > 0)) {
  takeLock();
  try {
    // Asked again under the lock: another script may have done the work meanwhile.
    if (!installed()) install();
    if (!process.argv.includes("--install-only")) for (const target of staleTargets()) build(target);
  } finally {
    rmSync(LOCK, { recursive: true, force: true });
  }
}

function checkNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return;
  stop(
    `This project needs Node ${OLDEST_NODE.join(".")} or newer; this is Node ${process.versions.node}.\n` +
      "Install a current version from https://nodejs.org and run the same command again.",
  );
}

/** Whether node_modules holds what package-lock.json asks for. */
function installed() {
  const wanted = installKey();
  if (existsSync(INSTALL_STAMP) && readFileSync(INSTALL_STAMP, "utf8") === wanted) return true;
  if (!matchesLockFile()) return false;
  writeFileSync(INSTALL_STAMP, wanted);
  return true;
}

function installKey() {
  const hash = createHash("sha256").update(readFileSync(join(ROOT, "package-lock.json")));
  return hash.update(`${process.platform} ${process.arch}`).digest("hex");
}

/** Compares npm's own record of what it installed with the lock file; serves people who ran npm themselves. */
function matchesLockFile() {
  const record = join(ROOT, "node_modules", ".package-lock.json");
  if (!existsSync(record)) return false;
  const present = JSON.parse(readFileSync(record, "utf8")).packages ?? {};
  const wanted = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")).packages ?? {};
  return Object.entries(wanted).every(([path, entry]) => {
    if (!path.includes("node_modules/")) return true;
    if (present[path] === undefined) return entry.optional === true || entry.peer === true;
    return entry.link === true || (present[path].version === entry.version && existsSync(join(ROOT, path)));
  });
}

function install() {
  say("Installing the packages named in package-lock.json (once) ...");
  run(
    "npm",
    ["ci", "--include=dev", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
    ROOT,
    "Installing failed. Is the npm registry in reach?",
  );
  mkdirSync(dirname(INSTALL_STAMP), { recursive: true });
  writeFileSync(INSTALL_STAMP, installKey());
}

/** What is built, in order: packages after those they depend on, then the tools under oracles/ and studies/. */
function targets() {
  const packages = readdirSync(join(ROOT, "packages"))
    .map((name) => `packages/${name}`)
    .filter((folder) => ["tsdown.config.ts", "build.mjs"].some((file) => existsSync(join(ROOT, folder, file))))
    .map((folder) => ({ folder, ...JSON.parse(readFileSync(join(ROOT, folder, "package.json"), "utf8")) }));
  const ordered = [];
  const add = (target) => {
    if (ordered.includes(target)) return;
    for (const needed of packages) if (dependsOn(target, needed)) add(needed);
    ordered.push(target);
  };
  packages.forEach(add);
  return [
    ...ordered.map((target) => {
      const { name, folder, devDependencies = {} } = target;
      // A package that bundles others is built anew when they change.
      const bundled = packages.filter((other) => devDependencies[other.name] !== undefined);
      return { name, folder, sources: [folder, ...bundled.map((other) => other.folder)].map((f) => `${f}/src`) };
    }),
    {
      name: "oracle and studies",
      folder: ".",
      sources: ["packages/core/src", "oracles", "studies", "bench", "scripts", "test"],
    },
  ];
}

function dependsOn(target, needed) {
  return (target.dependencies?.[needed.name] ?? target.devDependencies?.[needed.name]) !== undefined;
}

function staleTargets() {
  return targets().filter((target) => {
    const stamp = stampOf(target);
    return !existsSync(stamp) || readFileSync(stamp, "utf8") !== buildKey(target);
  });
}

function build(target) {
  say(`Building ${target.name} ...`);
  run(process.execPath, [join(ROOT, "scripts", "build-wasm.mjs")], ROOT, "Compiling the WebAssembly kernels failed.");
  const key = buildKey(target);
  const own = join(ROOT, target.folder, "build.mjs");
  const tool = existsSync(own) ? own : join(ROOT, "node_modules", "tsdown", "dist", "run.mjs");
  run(process.execPath, [tool], join(ROOT, target.folder), `Building ${target.name} failed.`);
  writeFileSync(stampOf(target), key);
}

function stampOf(target) {
  return join(ROOT, target.folder, "dist", ".built-from");
}

/** A hash of everything the target is built from: paths and contents, tests left out. */
function buildKey(target) {
  const hash = createHash("sha256").update(readFileSync(join(ROOT, "package-lock.json")));
  const configuration = [
    "tsdown.config.ts",
    "tsdown.map.config.ts",
    "build.mjs",
    "demo.mjs",
    "demo-evidence.json",
    "vite.config.ts",
    "index.html",
    "calculator.html",
    "package.json",
    "tsconfig.json",
  ].map((file) => join(ROOT, target.folder, file));
  const sources = target.sources.flatMap((folder) => filesUnder(join(ROOT, folder)));
  const shared = ["tsconfig.base.json", join("scripts", "notices.mjs"), join("scripts", "licence-texts.mjs")].map(
    (file) => join(ROOT, file),
  );
  for (const file of [...configuration, ...shared, ...sources]) {
    const name = relative(ROOT, file).split(sep).join("/");
    hash.update(`${name}\0`).update(existsSync(file) ? readFileSync(file) : "");
  }
  return hash.digest("hex");
}

function filesUnder(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return filesUnder(path);
      return /\.(ts|mts|json|svelte|css)$/.test(entry.name) && !entry.name.endsWith(".test.ts") ? [path] : [];
    });
}

/** Runs a tool and shows what it printed only if it fails. */
function run(command, args, folder, complaint) {
  // npm is a .cmd file on Windows and needs a shell.
  const shell = process.platform === "win32" && command === "npm";
  const result = spawnSync(command, args, { cwd: folder, encoding: "utf8", maxBuffer: 1 << 28, shell });
  if (result.status !== 0) {
    // Enough to see what is wrong; npm adds a page of its own usage.
    say(`${result.stdout ?? ""}${result.stderr ?? ""}`.split("\n").slice(0, 60).join("\n"));
    rmSync(LOCK, { recursive: true, force: true });
    stop(`${complaint} (${command} ${args[0]} ended with ${result.status ?? result.signal ?? result.error?.message})`);
  }
}

/** A folder is made by one process only, so it serves as lock; a lock whose owner is gone is put away. */
function takeLock() {
  for (let told = false; ; ) {
    try {
      mkdirSync(LOCK);
      writeFileSync(join(LOCK, "pid"), String(process.pid));
      return;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    if (ownerIsGone()) {
      const aside = `${LOCK}.${process.pid}`;
      try {
        renameSync(LOCK, aside);
      } catch (error) {
        if (error.code !== "ENOENT") throw error;
      }
      rmSync(aside, { recursive: true, force: true });
      continue;
    }
    if (!told) say("Another script is setting up; waiting for it ...");
    told = true;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250);
  }
}

function ownerIsGone() {
  try {
    const pid = Number(readFileSync(join(LOCK, "pid"), "utf8"));
    if (pid > 0) process.kill(pid, 0);
    return false;
  } catch (error) {
    if (error.code === "ESRCH") return true;
    // No pid in it yet: the owner is just writing it, unless the folder is old.
    if (error.code === "ENOENT" && existsSync(LOCK)) return Date.now() - statSync(LOCK).mtimeMs > 10_000;
    return false;
  }
}

function say(text) {
  process.stderr.write(`${text}\n`);
}

function stop(text) {
  say(text);
  process.exit(1);
}
