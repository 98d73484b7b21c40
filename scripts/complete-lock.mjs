/**
 * Completes package-lock.json for every platform. Tools such as Biome and Rolldown come as one optional package per
 * platform. Where a registry does not offer all of them at the time of locking, npm leaves the missing ones out of the
 * lock file, and then `npm ci` refuses it everywhere. This adds them by name and version, with the platform their
 * name tells, so that each machine fetches its own and passes over the others; and it asks the registry for the checksum of
 * every entry without one, since npm installs such an entry unchecked and does not ask for it later. A package that the
 * registry does not offer has none: the script names it and ends with 1, and the tool it belongs to is pinned to a version
 * that is offered for all platforms.
 *
 * Usage, after npm install or npm update: node scripts/complete-lock.mjs
 */
import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const LOCK = fileURLToPath(new URL("../package-lock.json", import.meta.url));
const SYSTEMS = ["android", "darwin", "freebsd", "linux", "openharmony", "win32"];
const PROCESSORS = ["arm64", "arm", "ia32", "loong64", "ppc64", "riscv64", "s390x", "wasm32", "x64"];

const before = readFileSync(LOCK, "utf8");
const lock = JSON.parse(before);
const added = [];
for (const [path, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const platform = platformOf(name);
    if (platform === undefined || !/^\d/.test(version) || foundFrom(path, name)?.version === version) continue;
    // Beside the package that asks for it, so that another version further up is not in the way.
    const beside = path.slice(0, path.lastIndexOf("node_modules/"));
    // Fields in npm's own order, so that its next run leaves them as they are.
    lock.packages[`${beside}node_modules/${name}`] = {
      version,
      cpu: platform.cpu,
      ...(entry.dev ? { dev: true } : {}),
      ...(platform.libc ? { libc: platform.libc } : {}),
      optional: true,
      ...(platform.os ? { os: platform.os } : {}),
    };
    added.push(`${name}@${version}`);
  }
}

const unchecked = [];
const checked = [];
for (const [path, entry] of Object.entries(lock.packages)) {
  if (!path.includes("node_modules/") || entry.link || entry.integrity !== undefined) continue;
  const wanted = `${path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)}@${entry.version}`;
  const integrity = await integrityOf(wanted);
  (integrity === undefined ? unchecked : checked).push(wanted);
  const { version, ...rest } = entry;
  if (integrity !== undefined) lock.packages[path] = { version, integrity, ...rest };
}

lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, "en")));
const after = `${JSON.stringify(lock, null, 2)}\n`;
if (after !== before) writeFileSync(LOCK, after);
tell("Added", added);
tell("Checksums of", checked);
tell("Not offered by the registry, so without a checksum:", unchecked);
if (added.length + checked.length + unchecked.length === 0) process.stdout.write("Nothing is missing.\n");
process.exitCode = unchecked.length === 0 ? 0 : 1;

function tell(what, names) {
  if (names.length > 0) process.stdout.write(`${what} ${names.length}:\n  ${names.join("\n  ")}\n`);
}

/** The checksum of a package as the registry tells it, or undefined where it is not offered. */
async function integrityOf(wanted) {
  // npm is a .cmd file on Windows and needs a shell.
  const shell = process.platform === "win32";
  try {
    const { stdout } = await promisify(execFile)("npm", ["view", wanted, "dist.integrity", "--json"], { shell });
    return JSON.parse(stdout);
  } catch {
    return undefined;
  }
}

/** The entry that the package at `path` finds for `name`: in its own node_modules, or in the nearest one above. */
function foundFrom(path, name) {
  for (let at = `${path}/`; ; at = at.slice(0, at.lastIndexOf("node_modules/", at.length - 2))) {
    const entry = lock.packages[`${at}node_modules/${name}`];
    if (entry !== undefined || at === "") return entry;
  }
}

/** Processor, system and C library as the name of a platform's package tells them: "…-linux-arm64-musl". */
function platformOf(name) {
  const words = name.slice(name.lastIndexOf("/") + 1).split("-");
  const cpu = PROCESSORS.find((processor) => words.includes(processor));
  const os = SYSTEMS.find((system) => words.includes(system));
  if (cpu === undefined || (os === undefined && cpu !== "wasm32")) return undefined;
  const libc = words.includes("musl") ? "musl" : os === "linux" && words.includes("gnu") ? "glibc" : undefined;
  return { cpu: [cpu], libc: libc && [libc], os: os && [os] };
}
