/**
 * Words of the field stand behind Details only: every text of the explorer's sources is read, and what it says outside of
 * <details>, of a menu's part called Details, or of a component that is used nowhere else must be plain.
 */
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { type AST, parse } from "svelte/compiler";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { ROOT } from "./root.ts";

const SOURCES = join(ROOT, "packages", "app", "src");
const FIELD_WORDS =
  /\b(?:prior sd|spline coefficients?|lattices?|elbo|kde|parity|terrain coefficients?|vague|hollow middle)\b/i;
/** Texts that are shown only once something under Details was chosen: file, and the beginning of the text. */
const CHOSEN_UNDER_DETAILS = [["map/surfaces.ts", "Spline coefficient "]];

interface Said {
  readonly text: string;
  readonly behind: boolean;
}
interface Source {
  readonly name: string;
  readonly said: readonly Said[];
  /** Components it uses, and whether behind Details. */
  readonly uses: readonly { readonly name: string; readonly behind: boolean }[];
}

/** Strings and templates of a script. */
function strings(code: string): string[] {
  const found: string[] = [];
  const visit = (node: ts.Node) => {
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node))
      found.push(node.text);
    if (!ts.isImportDeclaration(node)) ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("code.ts", code, ts.ScriptTarget.Latest, true));
  return found;
}

interface Node {
  readonly type: string;
  readonly [field: string]: unknown;
}

function readComponent(path: string): Source {
  const code = readFileSync(path, "utf8");
  const tree: AST.Root = parse(code, { modern: true });
  const said: Said[] = [];
  const uses: { name: string; behind: boolean }[] = [];
  const isDetails = (node: Node) => {
    if (node.name === "details") return true;
    const label = (node.attributes as { name?: string; value?: { data?: string }[] }[] | undefined)?.find(
      (a) => a.name === "label",
    );
    return node.name === "optgroup" && Array.isArray(label?.value) && label.value[0]?.data === "Details";
  };
  const visit = (node: unknown, behind: boolean): void => {
    if (Array.isArray(node)) for (const one of node) visit(one, behind);
    if (typeof node !== "object" || node === null || typeof (node as Node).type !== "string") return;
    const own = node as Node;
    if (own.type === "Comment") return;
    if (own.type === "Text") said.push({ text: String(own.data), behind });
    if (own.type === "Literal" && typeof own.value === "string") said.push({ text: own.value, behind });
    if (own.type === "TemplateElement") said.push({ text: (own.value as { raw: string }).raw, behind });
    if (own.type === "Component") uses.push({ name: String(own.name), behind });
    // A summary is what is read before it is opened.
    const within = own.name === "summary" ? false : behind || isDetails(own);
    for (const [field, value] of Object.entries(own))
      if (field !== "type" && field !== "metadata") visit(value, within);
  };
  visit(tree.fragment, false);
  for (const script of [tree.instance, tree.module]) {
    if (!script) continue;
    const { start, end } = script.content as unknown as { start: number; end: number };
    for (const text of strings(code.slice(start, end))) said.push({ text, behind: false });
  }
  return { name: basename(path, ".svelte"), said, uses };
}

const files = (readdirSync(SOURCES, { recursive: true }) as string[]).map((path) => path.replaceAll("\\", "/"));
const components = files.filter((path) => path.endsWith(".svelte")).map((path) => readComponent(join(SOURCES, path)));

/** Whether a component is shown behind Details wherever it is used. */
function isBehind(name: string): boolean {
  const uses = components.flatMap((by) =>
    by.uses.filter((use) => use.name === name).map((use) => use.behind || isBehind(by.name)),
  );
  return uses.length > 0 && uses.every(Boolean);
}

describe("texts of the explorer", () => {
  it("are read from every source", () => {
    expect(components.length).toBeGreaterThan(70);
    expect(components.flatMap(({ said }) => said).filter(({ text }) => /\w/.test(text)).length).toBeGreaterThan(1000);
    expect(isBehind("RepresentationTable")).toBe(true);
    expect(isBehind("OutcomeLines")).toBe(false);
    expect(FIELD_WORDS.test("± 0.40 prior sd")).toBe(true);
  });

  it("keep words of the field behind Details", () => {
    const found = components.flatMap(({ name, said }) =>
      said
        .filter(({ text, behind }) => FIELD_WORDS.test(text) && !behind && !isBehind(name))
        .map(({ text }) => `${name}: ${text.trim()}`),
    );
    const scripts = files.filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"));
    const inScripts = scripts.flatMap((path) =>
      strings(readFileSync(join(SOURCES, path), "utf8"))
        .filter((text) => FIELD_WORDS.test(text))
        .filter(
          (text) => !CHOSEN_UNDER_DETAILS.some(([file, beginning]) => path === file && text.startsWith(beginning)),
        )
        .map((text) => `${path}: ${text}`),
    );
    expect([...found, ...inScripts]).toEqual([]);
  });
});
