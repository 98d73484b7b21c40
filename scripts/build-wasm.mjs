/**
 * Compiles the WebAssembly kernels (packages/core/assembly) and writes their bytes, as base64, into
 * packages/core/src/wasm/bytes.ts, unless that file already belongs to the sources as they are.
 * The bytes are committed (docs/decisions/0006-webassembly.md), so this runs only after the sources have changed.
 *
 * Usage: node scripts/build-wasm.mjs
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";

const FOLDER = join(dirname(dirname(fileURLToPath(import.meta.url))), "packages", "core");
const BYTES = join(FOLDER, "src", "wasm", "bytes.ts");

/** Options of the compiler: SIMD, no garbage collector, the host's memory, no assertions. */
const OPTIONS = [
  ["--runtime", "stub"],
  ["--optimizeLevel", "3"],
  ["--shrinkLevel", "0"],
  ["--enable", "simd"],
  ["--initialMemory", "1"],
  ["--importMemory"],
  ["--noAssert"],
  ["--use", "abort="],
].flat();

/** Classes of the contexts, from the declaration of memory layouts in src/wasm/layouts.ts. */
export async function contextsText() {
  const { default: typescript } = await import("typescript");
  const source = readFileSync(join(FOLDER, "src", "wasm", "layouts.ts"), "utf8");
  const { outputText } = typescript.transpileModule(source, {
    compilerOptions: { module: typescript.ModuleKind.ESNext, target: typescript.ScriptTarget.ES2022 },
  });
  const { LAYOUTS } = await import(`data:text/javascript,${encodeURIComponent(outputText)}`);
  const classes = LAYOUTS.map(({ name, sizes, buffers }) => [
    "",
    "@unmanaged",
    `export class ${name} {`,
    ...sizes.map((field) => `  ${field}: i32;`),
    ...Object.keys(buffers).map((field) => `  ${field}: usize;`),
    "}",
  ]);
  return ["/** Made by scripts/build-wasm.mjs from src/wasm/layouts.ts; do not edit. */", ...classes.flat(), ""].join(
    "\n",
  );
}

/** Hash of the sources and options, which names the bytes made of them. */
export function sourceHash() {
  const hash = createHash("sha256").update(OPTIONS.join(" "));
  const folder = join(FOLDER, "assembly");
  for (const name of readdirSync(folder)
    .filter((file) => file.endsWith(".ts"))
    .sort()) {
    // Line ends differ between checkouts.
    hash.update(`${name}\0`).update(readFileSync(join(folder, name), "utf8").replaceAll("\r\n", "\n"));
  }
  return hash.digest("hex");
}

/** The compiled module as bytes. */
export async function compile() {
  const { default: asc } = await import("assemblyscript/asc");
  let binary;
  const errors = [];
  const { error } = await asc.main(
    ["assembly/index.ts", "--outFile", "kernels.wasm", "--baseDir", FOLDER, ...OPTIONS],
    {
      stderr: { write: (text) => errors.push(text) },
      writeFile: (name, contents) => {
        if (name.endsWith(".wasm")) binary = contents;
      },
    },
  );
  if (error !== null || binary === undefined) throw new Error(`${errors.join("")}${error?.message ?? ""}`);
  return binary;
}

/** The TypeScript module that holds the bytes. */
export function moduleText(binary, hash) {
  const lines = Buffer.from(binary)
    .toString("base64")
    .match(/.{1,116}/g);
  return [
    "/** Made by scripts/build-wasm.mjs from packages/core/assembly; do not edit. */",
    `export const SOURCE_HASH = "${hash}";`,
    "",
    "/** The WebAssembly module, base64. */",
    "export const KERNEL_BYTES = [",
    ...lines.map((line) => `  "${line}",`),
    '].join("");',
    "",
  ].join("\n");
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const contexts = await contextsText();
  const file = join(FOLDER, "assembly", "contexts.ts");
  if (!existsSync(file) || readFileSync(file, "utf8") !== contexts) writeFileSync(file, contexts);
  const hash = sourceHash();
  if (!existsSync(BYTES) || !readFileSync(BYTES, "utf8").includes(hash)) {
    const binary = await compile();
    writeFileSync(BYTES, moduleText(binary, hash));
    process.stderr.write(`WebAssembly kernels compiled: ${binary.length} bytes.\n`);
  }
}
