/** What of others reaches users: as few packages as can be, each with a reason, a licence and a checksum (docs/decisions/0025). */
import { readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { headersOf } from "../scripts/notices.mjs";
import { billOfMaterials, bundledIn, NOTICES, packagesIn } from "../scripts/sbom.mjs";
import { ROOT } from "./root.ts";

type Group = "dependencies" | "optionalDependencies" | "peerDependencies" | "devDependencies";
type Manifest = Readonly<Partial<Record<Group, Readonly<Record<string, string>>>>>;

const PUBLISHED = ["core", "report", "app", "cli"] as const;
const read = (...path: string[]) => readFileSync(join(ROOT, ...path), "utf8");
const manifestOf = (...path: string[]) => JSON.parse(read(...path, "package.json")) as Manifest;
const namesIn = (manifest: Manifest, group: Group) => Object.keys(manifest[group] ?? {});

describe("what is installed with a package", () => {
  it.each([
    ["core", [], []],
    ["report", ["@trajectory-maps/core"], []],
    ["app", [], []],
    [
      "cli",
      ["@trajectory-maps/app", "@trajectory-maps/core", "@trajectory-maps/report", "piscina"],
      ["@duckdb/node-api", "@resvg/resvg-js"],
    ],
  ])("%s", (name, needed, optional) => {
    const manifest = manifestOf("packages", name);
    expect(namesIn(manifest, "dependencies")).toEqual(needed);
    expect(namesIn(manifest, "optionalDependencies")).toEqual(optional);
    expect(namesIn(manifest, "peerDependencies")).toEqual([]);
  });

  it.each(PUBLISHED)("%s imports nothing else", (name) => {
    const manifest = manifestOf("packages", name);
    const allowed = [...namesIn(manifest, "dependencies"), ...namesIn(manifest, "optionalDependencies")];
    const folder = join(ROOT, "packages", name, "dist");
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => /\.m[jt]s$/.test(path));
    expect(files.length).toBeGreaterThan(0);
    const imported = files.flatMap((file) => importsOf(readFileSync(join(folder, file), "utf8")));
    const foreign = imported.filter(
      (path) => !/^[./]|^node:/.test(path) && !builtinModules.includes(path) && !allowed.includes(packageOf(path)),
    );
    expect([...new Set(foreign)]).toEqual([]);
  });

  it("is locked to one version and runs no script on installing, so that npm ci --ignore-scripts is enough", () => {
    const manifests = [manifestOf("."), ...PUBLISHED.map((name) => manifestOf("packages", name))];
    const versions = manifests.flatMap((manifest) =>
      (["dependencies", "optionalDependencies", "devDependencies"] as const).flatMap((group) =>
        Object.entries(manifest[group] ?? {}),
      ),
    );
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-r\.\d+)?$/.test(version))).toEqual([]);
    const { packages } = JSON.parse(read("package-lock.json")) as { packages: Record<string, object> };
    expect(Object.entries(packages).filter(([, entry]) => "hasInstallScript" in entry)).toEqual([]);
    expect(read("scripts", "setup.mjs")).toContain('"--ignore-scripts"');
  });
});

it("every dependency has its line in docs/decisions", () => {
  const pages = readdirSync(join(ROOT, "docs", "decisions")).map((file) => read("docs", "decisions", file));
  const rows = pages.flatMap((page) => page.split("\n").filter((line) => line.startsWith("| ")));
  const named = new Set(rows.flatMap((row) => row.split(/[|,\s()]+/)));
  const manifests = [manifestOf("."), ...PUBLISHED.map((name) => manifestOf("packages", name))];
  const names = manifests.flatMap((manifest) =>
    (["dependencies", "optionalDependencies", "devDependencies"] as const).flatMap((group) => namesIn(manifest, group)),
  );
  const family = (name: string) => /^@(stdlib|types|trajectory-maps)\//.test(name);
  expect(names.filter((name) => !family(name) && !named.has(name))).toEqual([]);
});

describe("notices of licences", () => {
  it.each(PUBLISHED)("%s has a text for every package inside it", (name) => {
    for (const file of NOTICES[name]) {
      const [, ...parts] = read("packages", name, file).split(`\n\n${"-".repeat(80)}\n\n`);
      const licensed = new Set(parts.filter((part) => part.length > 400).flatMap(packagesIn));
      const all = new Set(parts.flatMap(packagesIn));
      expect(all.size).toBeGreaterThan(0);
      expect([...all].filter((one) => !licensed.has(one))).toEqual([]);
    }
  });

  it("name what bundles of the command line and the report say they hold", () => {
    for (const name of ["cli", "report", "core"] as const) {
      const folder = join(ROOT, "packages", name, "dist");
      const texts = readdirSync(folder).filter((file) => file.endsWith(".mjs"));
      const regions = texts.flatMap((file) => [
        ...readFileSync(join(folder, file), "utf8").matchAll(
          /^\/\/#region \S*node_modules\/((?:@[^/\s]+\/)?[^/\s]+)\//gm,
        ),
      ]);
      const held = new Set(regions.map(([, held]) => held));
      const named = packagesIn(read("packages", name, NOTICES[name][0])).map((one) =>
        one.slice(0, one.lastIndexOf("@")),
      );
      expect(held.size).toBeGreaterThan(10);
      expect([...held].filter((one) => !named.includes(one))).toEqual([]);
    }
  });

  it("keep what a file says of copyright besides the head of its licence", () => {
    const head = "/**\n* @license Apache-2.0\n*\n* Copyright (c) 2018 A.\n*\n* limitations under the License.\n";
    expect(headersOf(`${head}*/\nvar a = 1; // no copyright\n`)).toEqual([]);
    expect(headersOf(`${head}*\n*\n* ## Notice\n*\n* Copyright 1984 by S. M.\n*/`)).toEqual([
      "## Notice\n\nCopyright 1984 by S. M.",
    ]);
    expect(headersOf("// Copyright (c) 2015 D.\n// MIT\nrun();\n")).toEqual(["Copyright (c) 2015 D.\nMIT"]);
  });
});

describe("npm run sbom", () => {
  const bill = billOfMaterials();

  it("names every bundled package as required, with its licence and checksum", () => {
    const required = new Map(
      bill.components.filter(({ scope }) => scope === "required").map((one) => [one["bom-ref"], one]),
    );
    const bundled = bundledIn();
    expect(bundled.size).toBeGreaterThan(200);
    expect([...bundled.keys()].filter((ref) => !required.has(ref))).toEqual([]);
    for (const [ref, component] of required) {
      expect(component.licenses, ref).toHaveLength(1);
      if (!ref.startsWith("@trajectory-maps/")) expect(component.hashes?.[0].alg, ref).toBe("SHA-512");
    }
    const rest = [...required.keys()].filter((ref) => !bundled.has(ref) && !ref.startsWith("@trajectory-maps/"));
    expect(rest.map((ref) => ref.slice(0, ref.lastIndexOf("@")))).toEqual(["piscina"]);
    expect(bill.components.find(({ name }) => name === "vitest")?.scope).toBe("excluded");
    expect(bill.components.find(({ name }) => name === "@duckdb/node-api")?.scope).toBe("optional");
  });

  it("gives the same bytes again, and no address of a registry", () => {
    const text = JSON.stringify(bill);
    expect(JSON.stringify(billOfMaterials())).toBe(text);
    expect(text).not.toMatch(/serialNumber|timestamp|"distribution"/);
  });
});

/** Paths that a module imports: statements at the start of a line, dynamic imports and required ones. */
function importsOf(text: string): string[] {
  const patterns = [
    /^(?:import|export)\b[^;"']*?\bfrom ?"([^"]+)"/gm,
    /^import ?"([^"]+)"/gm,
    /\bimport\("([^"]+)"\)/g,
  ];
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, path]) => path));
}

function packageOf(path: string): string {
  return path
    .split("/")
    .slice(0, path.startsWith("@") ? 2 : 1)
    .join("/");
}
