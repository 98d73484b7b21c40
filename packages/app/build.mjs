/**
 * Builds the explorer: dist/dtm.html (one self-contained page), dist/served (files for `dtm explore`), dist/calculator.html (the
 * page for one patient, into which `dtm calculator` puts a model), and dist/map (the map alone, for other pages).
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { NOTICES_FILE } from "../../scripts/notices.mjs";
import { makeDemo } from "./demo.mjs";

const HERE = dirname(fileURLToPath(import.meta.url));
const at = (...parts) => join(HERE, ...parts);

process.chdir(HERE);
await makeDemo();
for (const mode of ["single", "served", "calculator"]) {
  await build({ mode, logLevel: "error", configFile: at("vite.config.ts") });
}
writePage("single", "index.html", "dtm.html");
writePage("calculator", "calculator.html", "calculator.html");
execFileSync(process.execPath, [
  at("..", "..", "node_modules", "tsdown", "dist", "run.mjs"),
  "--config",
  "tsdown.map.config.ts",
]);

/** A page that is passed on alone, so it carries the licences of what is in it. */
function writePage(mode, built, file) {
  const [page, notices] = [built, NOTICES_FILE].map((name) => readFileSync(at("dist", mode, name), "utf8"));
  writeFileSync(at("dist", file), `${withPolicy(page).trimEnd()}\n<!--\n${notices.replaceAll("-->", "-- >")}-->\n`);
  rmSync(at("dist", mode), { recursive: true });
}

/** The page with a policy that forbids every outside request; its own scripts may run by their hashes. */
function withPolicy(html) {
  const hashes = [...html.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)].map(
    ([, text]) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`,
  );
  const policy = [
    "default-src 'none'",
    `script-src ${hashes.join(" ")} 'wasm-unsafe-eval'`,
    "style-src 'unsafe-inline'",
    "img-src data: blob:",
    "frame-src blob:",
    "worker-src blob:",
    "connect-src 'none'",
    "form-action 'none'",
    "base-uri 'none'",
  ].join("; ");
  return html.replace("<head>", () => `<head>\n    <meta http-equiv="Content-Security-Policy" content="${policy}">`);
}
