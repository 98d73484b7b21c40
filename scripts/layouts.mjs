/** The declaration of memory layouts (packages/core/src/wasm/layouts.ts) as tools read it. */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const FILE = join(dirname(dirname(fileURLToPath(import.meta.url))), "packages", "core", "src", "wasm", "layouts.ts");

/** The layouts as they run, and the text that they are written in. */
export async function readLayouts() {
  const { default: typescript } = await import("typescript");
  const source = readFileSync(FILE, "utf8").replaceAll("\r\n", "\n");
  const { outputText } = typescript.transpileModule(source, {
    compilerOptions: { module: typescript.ModuleKind.ESNext, target: typescript.ScriptTarget.ES2022 },
  });
  const { LAYOUTS } = await import(`data:text/javascript,${encodeURIComponent(outputText)}`);
  return { layouts: LAYOUTS, source };
}

/** Type and length of a buffer, the length as an expression in the sizes. */
export function bufferOf(declared) {
  const [[type, length]] = Object.entries(declared);
  const [, body] = String(length).match(/^\(n?\) => (.*)$/s);
  return { type, bytes: type === "f64" ? 8 : 4, length: body.replaceAll("n.", "").replaceAll(/\s+/g, " ") };
}
