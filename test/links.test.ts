/** Links between pages lead to files and headings that there are. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

/** Folders with pages, and what in them is made or installed. */
const FOLDERS = ["", "docs", "examples", "python", "r"];
const MADE = /(^|[/\\])(node_modules|build|dist|out|\.venv|[^/\\]*\.egg-info)[/\\]/;

const pages = FOLDERS.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: folder !== "", encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => path.endsWith(".md") && !MADE.test(path)),
);

const textOf = (path: string) => readFileSync(join(root, path), "utf8").replace(/^```[\s\S]*?^```/gm, "");

/** Names of the headings of a page, as GitHub makes them. */
function headingsOf(path: string): Set<string> {
  const headings = [...textOf(path).matchAll(/^#+ (.*)$/gm)].map(([, heading = ""]) =>
    heading
      .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_ -]/gu, "")
      .replaceAll(" ", "-"),
  );
  return new Set(headings);
}

/** Links of a page that lead nowhere. */
function deadLinks(path: string): string[] {
  const text = textOf(path);
  const links = [/\]\(([^)\s]+)\)/g, /(?:src|href)="([^"]+)"/g].flatMap((form) =>
    [...text.matchAll(form)].map(([, link = ""]) => link),
  );
  return links.filter((link) => {
    if (/^(https?|mailto):/.test(link)) return false;
    const [file = "", heading] = link.split("#");
    const target = file === "" ? path : normalize(join(dirname(path), file));
    if (!existsSync(join(root, target))) return true;
    return heading !== undefined && target.endsWith(".md") && !headingsOf(target).has(heading);
  });
}

describe("links of a page lead somewhere", () => {
  it.each(pages.map((path) => path.split(sep).join("/")))("%s", (path) => {
    expect(deadLinks(path)).toEqual([]);
  });

  it("in many pages", () => expect(pages.length).toBeGreaterThan(60));
});
