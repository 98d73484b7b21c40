/** Virtual environments for the tests of python/trajectory-maps, made once and kept in node_modules/.cache. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const CACHE = join(ROOT, "node_modules", ".cache", "python");
export const PACKAGE = join(ROOT, "python", "trajectory-maps");
export const OLDEST = [3, 10];

/** The first interpreter that is new enough and can make environments. */
export function findPython() {
  const named = process.env.DTM_PYTHON;
  const question = "import sys, venv, ensurepip; print('.'.join(map(str, sys.version_info[:3])))";
  for (const command of named === undefined ? ["python3", "python", "py"] : [named]) {
    const { status, stdout } = spawnSync(command, ["-c", question], { encoding: "utf8" });
    const version = status === 0 ? stdout.trim() : "";
    const [major, minor] = version.split(".").map(Number);
    if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return { command, version };
  }
  return undefined;
}

/** The interpreter of an environment that has what the key says, made if there is none. */
export function environment(python, folder, key, install) {
  const stamp = join(folder, ".made-from");
  const own = process.platform === "win32" ? join(folder, "Scripts", "python.exe") : join(folder, "bin", "python");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === key) return own;
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  const steps = [
    [python.command, ["-m", "venv", folder]],
    [own, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...install]],
  ];
  for (const [command, args] of steps) {
    if (!run(command, args)) return undefined;
  }
  writeFileSync(stamp, key);
  return own;
}

export function run(command, args, options = {}) {
  return spawnSync(command, args, { stdio: "inherit", ...options }).status === 0;
}

/** The interpreter of the environment with the versions of a file of the package, which are printed. */
export function testEnvironment(python, requirements, name) {
  const text = readFileSync(join(PACKAGE, requirements), "utf8");
  const key = createHash("sha256").update(`${python.version}\n${text}`).digest("hex");
  const own = environment(python, join(CACHE, name), key, ["-r", join(PACKAGE, requirements)]);
  if (own !== undefined) process.stdout.write(`${text.trim().replaceAll("\n", ", ")}\n`);
  return own;
}
