/**
 * Compiles the WebAssembly kernels (packages/core/assembly) and writes their bytes, as base64, into
 * packages/core/src/wasm/bytes.ts, and as a file into the Python package, unless the first already belongs to the sources as they are.
 * The bytes are committed (docs/decisions/0006-webassembly.md), so this runs only after the sources have changed.
 *
 * The module describes itself to hosts in any language (docs/kernels.md): it lays out contexts by `layout`, and names sizes, buffers and
 * kernels in a custom section.
 *
 * Usage: node scripts/build-wasm.mjs
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath, pathToFileURL } from "node:url";
import { bufferOf, readLayouts } from "./layouts.mjs";

const FOLDER = join(dirname(dirname(fileURLToPath(import.meta.url))), "packages", "core");
const BYTES = join(FOLDER, "src", "wasm", "bytes.ts");
/** The copy that the Python package carries, the same bytes. */
const PYTHON_COPY = join(FOLDER, "..", "..", "python", "trajectory-maps", "src", "trajectory_maps", "kernels.wasm");

/** Version of the contract with hosts (docs/kernels.md): raised when a host that kept to it would read wrong numbers. */
const CONTRACT = 2;

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

/**
 * Classes of the contexts, and `layout`, which fills a context: both from the declaration of layouts. Lengths are whole numbers, so
 * that their expressions mean the same in both languages.
 */
export async function contextsText() {
  const { layouts, source } = await readLayouts();
  const classes = layouts.map(({ name, sizes, buffers, kernels }) => [
    "",
    `/** Of ${kernels.join(", ")}. */`,
    "@unmanaged",
    `export class ${name} {`,
    ...sizes.map((field) => `  ${field}: i32;`),
    ...Object.keys(buffers).map((field) => `  ${field}: usize;`),
    "}",
  ]);
  const fills = layouts.map(({ name, sizes, buffers }) => {
    const fields = Object.entries(buffers);
    const first = sizes.length;
    return [
      "",
      `function layout${name}(sizes: usize, base: usize): usize {`,
      ...sizes.map((field, k) => `  const ${field} = size(sizes, base, ${k});`),
      `  let at = aligned(base + ${4 * (first + 2 * fields.length)});`,
      ...fields.map(([, declared], k) => {
        const { bytes, length } = bufferOf(declared);
        const whole = length.replaceAll("Math.max", "max<i32>");
        return `  at = take(base, ${first + k}, ${first + fields.length + k}, at, ${whole}, ${bytes});`;
      }),
      "  return at - base;",
      "}",
    ];
  });
  const helpers = source.match(/\n\/\*\*[^\n]*\nfunction evenNodes.*?\n\}/s)[0].replaceAll(": number", ": i32");
  return [
    "/** Made by scripts/build-wasm.mjs from src/wasm/layouts.ts; do not edit. */",
    ...classes.flat(),
    helpers,
    LAYOUT_HELPERS.trimEnd(),
    ...fills.flat(),
    "",
    "/**",
    " * Bytes that a context of this kind needs from `base` on (a multiple of 64) for the sizes at `sizes`, with all its buffers; 0 for an",
    " * unknown kind. Unless base is 0 the context is written there: sizes, addresses of buffers, lengths of buffers.",
    " */",
    "export function layout(kind: i32, sizes: usize, base: usize): usize {",
    ...layouts.map(({ name }, kind) => `  if (kind == ${kind}) return layout${name}(sizes, base);`),
    "  return 0;",
    "}",
    "",
  ].join("\n");
}

const LAYOUT_HELPERS = `
/** Buffers begin at multiples of 64 bytes. */
@inline
function aligned(at: usize): usize {
  return (at + 63) & ~63;
}

/** Size k, written to the context where there is one. */
function size(sizes: usize, base: usize, k: i32): i32 {
  const value = load<i32>(sizes + (<usize>k << 2));
  if (base != 0) store<i32>(base + (<usize>k << 2), value);
  return value;
}

/** Gives a buffer its place; returns where the next begins. */
function take(base: usize, field: i32, counted: i32, at: usize, length: i32, bytes: i32): usize {
  if (base != 0) {
    store<usize>(base + (<usize>field << 2), at);
    store<i32>(base + (<usize>counted << 2), length);
  }
  return aligned(at + <usize>length * bytes);
}
`;

/** What a host must know to fill contexts by name, as the custom section "layouts" of the module: JSON. */
async function layoutsSection() {
  const { layouts } = await readLayouts();
  const described = layouts.map(({ name, sizes, buffers, kernels }) => ({
    name,
    sizes,
    buffers: Object.entries(buffers).map(([buffer, declared]) => [buffer, bufferOf(declared).type]),
    kernels,
  }));
  const name = Buffer.from("layouts");
  const contents = Buffer.concat([
    Buffer.from([name.length]),
    name,
    Buffer.from(JSON.stringify({ contract: CONTRACT, layouts: described })),
  ]);
  return Buffer.concat([Buffer.from([0, ...leb128(contents.length)]), contents]);
}

function leb128(value) {
  return value < 128 ? [value] : [(value & 127) | 128, ...leb128(value >>> 7)];
}

/** Hash of the sources and options, which names the bytes made of them. */
export function sourceHash() {
  const hash = createHash("sha256").update([...OPTIONS, CONTRACT].join(" "));
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
  return Buffer.concat([binary, await layoutsSection()]);
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
  const lines = readFileSync(BYTES, "utf8").matchAll(/^ {2}"(.+)",$/gm);
  const binary = Buffer.from(Array.from(lines, ([, line]) => line).join(""), "base64");
  if (!existsSync(PYTHON_COPY) || !readFileSync(PYTHON_COPY).equals(binary)) writeFileSync(PYTHON_COPY, binary);
}
