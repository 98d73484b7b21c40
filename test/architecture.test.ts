/** The pages that lead a reader through the code name files, functions and folders that exist, and every folder of the packages. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "./root.ts";

const PACKAGES = ["core", "report", "cli", "app"];
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** What a page writes between backticks outside of blocks of code. */
function quoted(page: string): string[] {
  const prose = read(page).replace(/```[\s\S]*?```/g, "");
  return [...prose.matchAll(/`([^`\n]+)`/g)].map(([, text]) => text);
}

/** A path of docs/architecture.md from the root of the repository; its first section states the rule. */
function fromRoot(path: string): string {
  const [first, ...rest] = path.split("/");
  if (first === "assembly") return `packages/core/${path}`;
  if (first !== "core" && PACKAGES.includes(first)) return `packages/${first}/src/${rest.join("/")}`;
  const inCore = `packages/core/src/${path}`;
  return existsSync(join(ROOT, inCore)) ? inCore : path;
}

/** Whether a source declares a function, value, type, property or method of that name. */
function declares(source: string, name: string): boolean {
  const statement = `\\b(function\\*?|const|class|interface|type)\\s+${name}\\b`;
  const property = `^\\s+(readonly )?${name}\\??: `;
  const method = `^\\s+(protected |private |async )*${name}\\(.*\\{$`;
  return new RegExp([statement, property, method].join("|"), "m").test(source);
}

/** Folders with sources, from the root of the repository, each with a slash at its end. */
function foldersUnder(path: string): string[] {
  const folders = readdirSync(join(ROOT, path), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return folders.flatMap(({ name }) => [`${path}/${name}/`, ...foldersUnder(`${path}/${name}`)]);
}

const isFile = (path: string) => /^[\w./-]+\.(ts|mts|mjs|svelte|md|json)$/.test(path);
const isFolder = (path: string) => /^[\w./-]+\/$/.test(path);

describe("docs/architecture.md", () => {
  const named = quoted("docs/architecture.md");

  it("names files and folders that exist", () => {
    const paths = named.map((text) => text.split(":")[0]).filter((path) => path.includes("/"));
    const known = paths.filter((path) => isFile(path) || isFolder(path));
    expect(known.length).toBeGreaterThan(150);
    expect(known.filter((path) => !existsSync(join(ROOT, fromRoot(path))))).toEqual([]);
    expect(known.filter((path) => statSync(join(ROOT, fromRoot(path))).isDirectory() !== isFolder(path))).toEqual([]);
  });

  it("names functions that stand in their files", () => {
    const functions = named.map((text) => text.split(":")).filter(([path, name]) => name !== undefined && isFile(path));
    expect(functions.length).toBeGreaterThan(100);
    const missing = functions.filter(([path, name]) => !declares(read(fromRoot(path)), name));
    expect(missing.map((pair) => pair.join(":"))).toEqual([]);
  });

  it("names every folder of the packages", () => {
    const folders = PACKAGES.flatMap((name) => foldersUnder(`packages/${name}/src`));
    const onPage = new Set(named.filter(isFolder).map(fromRoot));
    expect(folders.filter((folder) => !onPage.has(folder))).toEqual([]);
  });
});

describe("CONTRIBUTING.md", () => {
  it("names files and functions that exist", () => {
    const files = quoted("CONTRIBUTING.md")
      .map((text) => text.split(":"))
      .filter(([path]) => isFile(path) && path.includes("/"));
    expect(files.length).toBeGreaterThan(25);
    const missing = files.filter(
      ([path, name]) => !existsSync(join(ROOT, path)) || (name !== undefined && !declares(read(path), name)),
    );
    expect(missing).toEqual([]);
  });
});

describe("docs/math", () => {
  const sources = ["packages/core/src", "packages/core/assembly", "test"].flatMap((folder) =>
    (readdirSync(join(ROOT, folder), { recursive: true }) as string[]).map((path) =>
      `${folder}/${path}`.replaceAll("\\", "/"),
    ),
  );

  it.each(readdirSync(join(ROOT, "docs/math")))("%s names files and functions that exist", (page) => {
    const missing = quoted(`docs/math/${page}`).filter((text) => {
      const [path, names = ""] = text.split(":");
      if (!/^[\w/-]+\.ts$/.test(path)) return false;
      // Pages shorten paths to the folder they are about.
      const found = sources.filter((source) => `/${source}`.endsWith(`/${path}`));
      const wanted = names.split(",").map((name) => name.trim());
      return !found.some((source) => wanted.every((name) => name === "" || declares(read(source), name)));
    });
    expect(missing).toEqual([]);
  });
});
