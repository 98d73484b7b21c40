/** docs/kernels.md from layouts and sources of the kernels; `npm run docs` writes it, test/kernels-page.test.ts holds it up to date. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../test/root.ts";
import { bufferOf, type DeclaredLayout, readLayouts } from "./layouts.mjs";

const ASSEMBLY = join(ROOT, "packages", "core", "assembly");

/** The page as text of Markdown. */
export async function kernelsPage(): Promise<string> {
  const { layouts, source } = await readLayouts();
  const kernels = kernelDeclarations();
  const sections = layouts.map((layout, kind) => sectionOf(layout, kind, source, kernels));
  return `${readFileSync(join(ROOT, "scripts", "kernels-head.md"), "utf8")}\n${sections.join("\n")}`;
}

interface KernelDeclaration {
  readonly file: string;
  readonly comment: string;
  readonly parameters: string;
  readonly result: string;
}

/** Exported functions of the assembly with their comments, by name. */
function kernelDeclarations(): Map<string, KernelDeclaration> {
  const found = new Map<string, KernelDeclaration>();
  for (const file of readdirSync(ASSEMBLY).filter((name) => name.endsWith(".ts"))) {
    const text = readFileSync(join(ASSEMBLY, file), "utf8").replaceAll("\r\n", "\n");
    const declared = /\/\*\*((?:(?!\*\/).)*)\*\/\n(?:@inline\n)?export function (\w+)\(([^)]*)\): (\w+)/gs;
    for (const [, comment, name, parameters, result] of text.matchAll(declared)) {
      found.set(name, { file, comment: oneLine(comment), parameters: oneLine(parameters), result });
    }
  }
  return found;
}

function oneLine(text: string): string {
  return text
    .replaceAll(/\n\s*\*?\s*/g, " ")
    .replaceAll("|", "\\|")
    .trim();
}

function sectionOf(
  { name, sizes, buffers, kernels }: DeclaredLayout,
  kind: number,
  source: string,
  declared: Map<string, KernelDeclaration>,
): string {
  const [, purpose, body] = source.match(
    new RegExp(`/\\*\\* ([^\\n]*) \\*/\nexport const \\w+ = layout\\(\n  "${name}",(.*?)\n\\);`, "s"),
  )!;
  const entries = Object.entries(buffers);
  const [first, counts] = [4 * sizes.length, 4 * (sizes.length + entries.length)];
  const meaning = (buffer: string) => {
    const found =
      body.match(new RegExp(`\n    ${buffer}: \\{ .* \\}, // (.*)`)) ??
      body.match(new RegExp(`\n    // (.*)\n    ${buffer}: `));
    return oneLine(found?.[1] ?? "");
  };
  const sizeRows = sizes.map((size, k) => `| ${4 * k} | \`${size}\` |`);
  const bufferRows = entries.map(([buffer, length], k) => {
    const { type, length: count } = bufferOf(length);
    return `| ${first + 4 * k} | ${counts + 4 * k} | \`${buffer}\` | ${type} | \`${count}\` | ${meaning(buffer)} |`;
  });
  const kernelRows = kernels.map((kernel) => {
    const own = declared.get(kernel)!;
    const result = own.result === "void" ? "" : `: ${own.result}`;
    return `| \`${kernel}(${own.parameters})${result}\` | ${own.comment} |`;
  });
  return [
    `## ${kind}: ${name}`,
    "",
    purpose,
    "",
    "| byte | size |",
    "|---|---|",
    ...sizeRows,
    "",
    "| address at | length at | buffer | type | entries | what |",
    "|---|---|---|---|---|---|",
    ...bufferRows,
    "",
    "| kernel | what it does |",
    "|---|---|",
    ...kernelRows,
    "",
  ].join("\n");
}
