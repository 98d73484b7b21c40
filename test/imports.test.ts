/** Reads every import of the packages and enforces the direction of dependencies (docs/architecture.md). */
import { readdirSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { join, posix, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { preProcessFile } from "typescript";
import { describe, expect, it } from "vitest";

/** What each room of the core may import from; a room may always import from itself. */
const BELOW: Readonly<Record<string, readonly string[]>> = {
  "error-codes": [],
  errors: ["error-codes"],
  "json-keys": ["errors"],
  numeric: ["errors"],
  noise: ["numeric"],
  wasm: ["errors", "numeric", "noise"],
  cohort: ["errors", "numeric"],
  units: ["errors"],
  ingest: ["errors", "json-keys", "numeric", "cohort", "units"],
  fhir: ["errors", "json-keys", "cohort", "ingest", "units"],
  covariates: ["errors", "numeric", "cohort", "ingest"],
  basis: ["errors", "numeric", "noise", "wasm", "cohort"],
  models: ["errors", "json-keys", "numeric", "noise", "wasm", "cohort", "covariates", "basis"],
  simulate: ["errors", "numeric", "noise", "cohort", "covariates", "basis", "models"],
  evaluate: ["errors", "numeric", "noise", "cohort", "covariates", "basis", "models"],
  map: ["errors", "numeric", "noise", "cohort", "covariates", "basis", "models"],
  survival: ["errors", "numeric"],
  associate: [
    "errors",
    "numeric",
    "noise",
    "wasm",
    "cohort",
    "ingest",
    "covariates",
    "basis",
    "models",
    "map",
    "survival",
  ],
  study: [
    "errors",
    "numeric",
    "noise",
    "cohort",
    "ingest",
    "covariates",
    "basis",
    "models",
    "simulate",
    "evaluate",
    "map",
    "survival",
    "associate",
  ],
  report: [
    "errors",
    "numeric",
    "noise",
    "cohort",
    "basis",
    "models",
    "simulate",
    "evaluate",
    "map",
    "survival",
    "associate",
  ],
};

/** Kinds of model never reach each other, nor do the rooms they share reach them; files beside them do the joining. */
const KINDS = ["models/linear/", "models/dtm/", "models/paper/"];
const SHARED_BY_KINDS = ["models/gp/", "models/mixture/"];

/** Third-party packages of the core and the modules that stand before each. */
const BEHIND: readonly (readonly [RegExp, RegExp])[] = [
  [/^papaparse$/, /^ingest\/delimited\.ts$/],
  [/^read-excel-file\/universal$/, /^ingest\/formats\/excel\.ts$/],
  [/^hyparquet$/, /^ingest\/formats\/parquet\.ts$/],
  [/^hyparquet-compressors$/, /^ingest\/formats\/(parquet|arrow)\.ts$/],
  [/^apache-arrow$/, /^ingest\/formats\/arrow\.ts$/],
  [/^fflate$/, /^ingest\/formats\/zip\.ts$/],
  // Types alone.
  [/^fhir\/r4$/, /^fhir\/[a-z-]+\.ts$/],
  [/^@lhncbc\/ucum-lhc$/, /^units\/ucum\.ts$/],
  [/^@stdlib\//, /^numeric\/[a-z-]+\.ts$/],
  [/^pure-rand\//, /^numeric\/random(-[a-z]+)?\.ts$/],
  [/^ml-kmeans$/, /^models\/gp\/inducing\.ts$/],
  [/^zod(\/|$)/, /^models\/(save|saving\/file-schema)\.ts$/],
];

type Imports = ReadonlyMap<string, readonly string[]>;

/** Imports of every source file under a folder, by path relative to it; tests are left out. */
function readImports(folder: string): Imports {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((path) => path.split(sep).join("/"));
  const sources = files.filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"));
  return new Map(
    sources.map((path) => {
      const found = preProcessFile(readFileSync(join(folder, path), "utf8"), true, true).importedFiles;
      return [path, found.map((file) => file.fileName)];
    }),
  );
}

const isRelative = (name: string) => name.startsWith(".");
const isBuiltin = (name: string) => name.startsWith("node:") || builtinModules.includes(name);
const target = (path: string, name: string) => posix.normalize(posix.join(posix.dirname(path), name));
const room = (path: string) => path.split("/")[0].replace(/\.ts$/, "");
const startsWithAny = (path: string, folders: readonly string[]) => folders.find((folder) => path.startsWith(folder));

/** Every file reached from `start` by relative imports, itself left out unless there is a cycle. */
function reached(imports: Imports, start: string): Set<string> {
  const seen = new Set<string>();
  const open = [start];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    for (const name of imports.get(path) ?? []) {
      if (!isRelative(name) || seen.has(target(path, name))) continue;
      seen.add(target(path, name));
      open.push(target(path, name));
    }
  }
  return seen;
}

/** All breaches of the rules for the core, in words. */
function coreBreaches(imports: Imports): string[] {
  const breaches: string[] = [];
  for (const [path, names] of imports) {
    for (const name of names) {
      if (isRelative(name)) {
        const to = target(path, name);
        if (!imports.has(to)) breaches.push(`${path} imports ${name}, which is no file of the core`);
        else if (["index", "doors"].includes(room(path)) || room(to) === room(path)) continue;
        else if (!BELOW[room(path)]?.includes(room(to))) breaches.push(`${path} imports upwards from ${to}`);
      } else if (isBuiltin(name)) {
        breaches.push(`${path} imports ${name}, which only Node has`);
      } else if (!BEHIND.some(([pack, module]) => pack.test(name) && module.test(path))) {
        breaches.push(`${path} imports ${name}, which belongs behind another module or is unknown`);
      }
    }
    const all = reached(imports, path);
    if (all.has(path)) breaches.push(`${path} imports itself by a cycle`);
    const own = startsWithAny(path, KINDS);
    if (own === undefined && startsWithAny(path, SHARED_BY_KINDS) === undefined) continue;
    for (const to of all) {
      const kind = startsWithAny(to, KINDS);
      if (kind !== undefined && kind !== own) breaches.push(`${path} reaches sideways to ${to}`);
    }
  }
  return breaches;
}

const sources = (name: string) => fileURLToPath(new URL(`../packages/${name}/src`, import.meta.url));

describe("imports of the core", () => {
  const core = readImports(sources("core"));

  it("point one way, stay behind their modules and need neither Node nor a browser", () => {
    expect(core.size).toBeGreaterThan(20);
    expect(coreBreaches(core)).toEqual([]);
  });

  it("can rely on the type check for globals: no DOM and no Node types are given to it", () => {
    const read = (path: string) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8")).compilerOptions;
    expect(read("../tsconfig.base.json")).toMatchObject({ lib: ["ES2022"], types: [] });
    expect(read("../packages/core/tsconfig.json") ?? {}).not.toHaveProperty("types");
    expect(read("../packages/core/tsconfig.json") ?? {}).not.toHaveProperty("lib");
  });
});

describe("the rules", () => {
  const breaches = (files: Record<string, readonly string[]>) => coreBreaches(new Map(Object.entries(files)));

  it("catch each kind of breach", () => {
    expect(breaches({ "numeric/a.ts": ["../cohort/b.ts"], "cohort/b.ts": [] })).toHaveLength(1);
    expect(breaches({ "numeric/a.ts": ["./b.ts"], "numeric/b.ts": ["./a.ts"] })).toHaveLength(2);
    expect(breaches({ "cohort/a.ts": ["node:fs"] })).toHaveLength(1);
    expect(breaches({ "cohort/a.ts": ["fs"] })).toHaveLength(1);
    expect(breaches({ "cohort/a.ts": ["papaparse"] })).toHaveLength(1);
    expect(breaches({ "cohort/a.ts": ["./gone.ts"] })).toHaveLength(1);
    expect(breaches({ "models/dtm/a.ts": ["../linear/b.ts"], "models/linear/b.ts": [] })).toHaveLength(1);
    const byWay = { "models/dtm/a.ts": ["../join.ts"], "models/join.ts": ["./linear/b.ts"], "models/linear/b.ts": [] };
    expect(breaches(byWay)).toEqual(["models/dtm/a.ts reaches sideways to models/linear/b.ts"]);
    expect(breaches({ "unheard-of/a.ts": ["../errors.ts"], "errors.ts": [] })).toHaveLength(1);
  });

  it("allow what they should", () => {
    const files = {
      "models/model.ts": ["./dtm/a.ts", "./linear/b.ts"],
      "models/dtm/a.ts": [],
      "models/linear/b.ts": [],
    };
    expect(breaches({ ...files, "index.ts": ["./models/model.ts"], "ingest/delimited.ts": ["papaparse"] })).toEqual([]);
  });
});

describe("imports of the command line", () => {
  const cli = readImports(sources("cli"));

  it("reach core and report only through their doors, and files only through io/", () => {
    const breaches: string[] = [];
    for (const [path, names] of cli) {
      for (const name of names) {
        if (isRelative(name) && !cli.has(target(path, name))) breaches.push(`${path} imports ${name} from outside`);
        if (/^@trajectory-maps\//.test(name) && !/^@trajectory-maps\/(core(\/\w+)?|report)$/.test(name))
          breaches.push(`${path}: ${name}`);
        if (/^(node:)?fs(\/|$)/.test(name) && !path.startsWith("io/")) breaches.push(`${path} imports ${name}`);
      }
    }
    expect(breaches).toEqual([]);
  });
});
