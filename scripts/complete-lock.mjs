/**
 * Completes package-lock.json for every platform. Tools such as Biome and Rolldown come as one optional package per
 * platform. Where a registry does not offer all of them at the time of locking, npm leaves the missing ones out of the
 * lock file, and then `npm ci` refuses it everywhere. This adds them by name and version, with the platform their
 * name tells, so that each machine fetches its own and passes over the others.
 *
 * Usage, after npm install or npm update: node scripts/complete-lock.mjs
 */
import { readFileSync, writeFileSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";

const LOCK = fileURLToPath(new URL("../package-lock.json", import.meta.url));
const SYSTEMS = ["android", "darwin", "freebsd", "linux", "openharmony", "win32"];
const PROCESSORS = ["arm64", "arm", "ia32", "loong64", "ppc64", "riscv64", "s390x", "wasm32", "x64"];

const lock = JSON.parse(readFileSync(LOCK, "utf8"));
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
if (added.length > 0) {
  lock.packages = Object.fromEntries(Object.entries(lock.packages).sort(([a], [b]) => a.localeCompare(b, "en")));
  writeFileSync(LOCK, `${JSON.stringify(lock, null, 2)}\n`);
}
process.stdout.write(
  added.length === 0 ? "Nothing is missing.\n" : `Added ${added.length}:\n  ${added.join("\n  ")}\n`,
);

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
