/** The front door of the library stays one that can be learned. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as core from "@trajectory-maps/core";
import { expect, it } from "vitest";
import { ROOT } from "./root.ts";

const SOURCES = join(ROOT, "packages", "core", "src");
const door = readFileSync(join(SOURCES, "index.ts"), "utf8");
const exported = [...door.matchAll(/^export (?:type )?\{([^}]*)\} from "(.*)";$/gm)].flatMap(([, names, file]) =>
  names.split(",").map((name) => ({ name: name.trim().replace(/^type /, ""), file })),
);

it("has about 35 names", () => {
  expect(door.match(/^export/gm)).toHaveLength(new Set(exported.map(({ file }) => file)).size);
  expect(exported.length).toBeLessThanOrEqual(40);
});

it("says of every function how it is used", () => {
  const functions = exported.filter(({ name }) => {
    const value = (core as Record<string, unknown>)[name];
    return typeof value === "function" && !/^[A-Z]/.test(name);
  });
  const silent = functions.filter(({ name, file }) => {
    const text = readFileSync(join(SOURCES, file), "utf8");
    const at = text.search(new RegExp(`^export (async )?function ${name}\\b`, "m"));
    return !text.slice(text.lastIndexOf("/**", at), at).includes("@example");
  });
  expect(functions.length).toBeGreaterThan(15);
  expect(silent.map(({ name }) => name)).toEqual([]);
});
