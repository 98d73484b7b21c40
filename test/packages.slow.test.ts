/** The packages as npm would publish them: what they hold, and that they work in an empty project under Node and Vite. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ROOT } from "./root.ts";

const NAMES = ["core", "report", "app", "cli"] as const;
const folder = mkdtempSync(join(tmpdir(), "dtm-packages-"));
const project = join(folder, "project");
const execute = promisify(execFile);

interface Packed {
  readonly name: string;
  readonly version: string;
  readonly filename: string;
  readonly files: readonly { readonly path: string; readonly size: number }[];
}

const packed = new Map<string, Packed>();

/** What a program prints; fails with what it says on standard error. */
async function run(program: string, args: readonly string[], cwd = project): Promise<string> {
  // npm is a .cmd file on Windows and needs a shell.
  const shell = process.platform === "win32" && program === "npm";
  return (await execute(program, args, { cwd, shell, maxBuffer: 1 << 28 })).stdout;
}

beforeAll(async () => {
  for (const name of NAMES) {
    const args = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder];
    const [made] = JSON.parse(await run("npm", args, join(ROOT, "packages", name))) as Packed[];
    packed.set(name, made);
  }
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{ "name": "empty", "private": true, "type": "module" }');
  const files = NAMES.map((name) => join(folder, packed.get(name)!.filename));
  await run("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error", ...files]);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(NAMES)("the package %s", (name) => {
  it("holds licence, readme and what is built, no tests, no sources, no data of individuals", () => {
    const { version, files } = packed.get(name)!;
    const paths = files.map(({ path }) => path);
    expect(version).toBe("0.1.0");
    expect(paths).toEqual(expect.arrayContaining(["LICENSE", "README.md", "package.json"]));
    expect(
      paths.filter((path) => /(^|\/)src\/|\.test\.|pbc|visits\.csv|subjects\.csv|\.built-from/i.test(path)),
    ).toEqual([]);
  });

  it("tells the licences of what it bundles", () => {
    const files = packed.get(name)!.files.map(({ path }) => path);
    const notices = { core: ["dist"], report: ["dist"], app: ["dist/served", "dist/map"], cli: ["dist"] }[name];
    expect(files.filter((path) => path.endsWith("THIRD-PARTY-NOTICES.txt")).sort()).toEqual(
      notices.map((place) => `${place}/THIRD-PARTY-NOTICES.txt`).sort(),
    );
    const home = join(project, "node_modules", "@trajectory-maps", name);
    for (const place of notices) {
      const text = readFileSync(join(home, place, "THIRD-PARTY-NOTICES.txt"), "utf8");
      const known = { core: "@stdlib/stats-padjust", report: "@observablehq/plot", app: "@stdlib/", cli: "cli-table3" };
      expect(text).toContain(`\n${known[name]}`);
      expect(text).toContain("Copyright");
    }
    // The page is passed on alone.
    if (name === "app")
      expect(readFileSync(join(home, "dist", "dtm.html"), "utf8")).toMatch(/^svelte [\d.]+ \(MIT\)$/m);
  });

  it("depends on packages that its files import, and on no others", () => {
    const home = join(project, "node_modules", "@trajectory-maps", name);
    const { dependencies = {}, optionalDependencies = {} } = JSON.parse(
      readFileSync(join(home, "package.json"), "utf8"),
    ) as Record<string, Record<string, string>>;
    const texts = readdirSync(home, { recursive: true, encoding: "utf8" })
      .filter((path) => /\.m?[jt]s$/.test(path))
      .map((path) => readFileSync(join(home, path), "utf8"));
    const named = (needed: string) => texts.some((text) => text.includes(`"${needed}`) || text.includes(`'${needed}`));
    const listed = Object.keys({ ...dependencies, ...optionalDependencies });
    expect(listed.filter((needed) => !named(needed))).toEqual([]);
  });
});

describe("installed alone, scripts off", () => {
  /** Names of all packages that come with some of ours, with or without the optional ones. */
  async function installed(names: readonly (typeof NAMES)[number][], ...options: string[]) {
    const alone = mkdtempSync(join(folder, "alone-"));
    writeFileSync(join(alone, "package.json"), '{ "name": "empty", "private": true, "type": "module" }');
    const files = names.map((name) => join(folder, packed.get(name)!.filename));
    const quiet = ["--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
    await run("npm", ["install", ...quiet, ...options, ...files], alone);
    const listed = await run("npm", ["ls", "--all", "--parseable", "--loglevel=error"], alone);
    const paths = listed.trim().split(/\r?\n/).slice(1);
    const foreign = paths.map((path) =>
      path
        .split(/node_modules[\\/]/)
        .at(-1)!
        .replaceAll("\\", "/"),
    );
    return { alone, foreign: foreign.filter((name) => !name.startsWith("@trajectory-maps/")).sort() };
  }

  it("core, report and app bring nothing of others", async () => {
    expect((await installed(["core"])).foreign).toEqual([]);
    expect((await installed(["core", "report"])).foreign).toEqual([]);
    expect((await installed(["app"])).foreign).toEqual([]);
  });

  it("the command line brings one package, and its optional ones where they are wanted", async () => {
    const { alone, foreign } = await installed(NAMES, "--omit=optional");
    expect(foreign).toEqual(["piscina"]);
    const dtm = join(alone, "node_modules", "@trajectory-maps", "cli", "bin", "dtm.mjs");
    const { checks } = JSON.parse(await run(process.execPath, [dtm, "doctor", "--json"], alone)) as {
      checks: { part: string; ok: boolean }[];
    };
    expect(checks.filter(({ ok }) => !ok).map(({ part }) => part)).toEqual(["PNG figures", "SQL over files"]);
    await run(process.execPath, [dtm, "simulate", "tss", "--individuals", "60", "-o", "data"], alone);
    const visits = join("data", "visits.csv");
    await run(process.execPath, [dtm, "fit", visits, "--model", "fpca", "--jobs", "2", "-o", "run"], alone);
    // npm keeps the names of packages of other platforms in its lock file, and does not install them.
    const all = (await installed(NAMES)).foreign.filter((name) => !name.startsWith("@napi-rs/"));
    const families = all.map((name) =>
      name.replace(/^@duckdb\/node-bindings-.*|^@resvg\/resvg-js-.*/, "of a platform"),
    );
    expect([...new Set(families)].sort()).toEqual([
      "@duckdb/node-api",
      "@duckdb/node-bindings",
      "@resvg/resvg-js",
      "detect-libc",
      "of a platform",
      "piscina",
    ]);
  });
});

describe("in an empty project", () => {
  it("core and report work under Node", async () => {
    writeFileSync(
      join(project, "study.mjs"),
      `import { embed, fitDtm, loadModel, predict, placeIndividual, saveModel, simulateCohort } from "@trajectory-maps/core";
      import { renderReport } from "@trajectory-maps/report";
      const { cohort } = simulateCohort("pfvc", { numIndividuals: 60, seed: 3 });
      const model = loadModel(saveModel(fitDtm(cohort, { restarts: 0, maxIterations: 5 })));
      const there = placeIndividual(model, { times: [0, 1], values: [80, 70] });
      const { median } = predict(model, there, [2, 3]);
      console.log(JSON.stringify([embed(model, cohort).ids.length, [...median].every(Number.isFinite), typeof renderReport]));`,
    );
    expect(JSON.parse(await run(process.execPath, ["study.mjs"]))).toEqual([60, true, "function"]);
  });

  it("dtm runs a study, and has the explorer's page", async () => {
    const dtm = (...args: string[]) =>
      run(process.execPath, [join("node_modules", "@trajectory-maps", "cli", "bin", "dtm.mjs"), ...args]);
    await dtm("simulate", "tss", "--individuals", "60", "-o", "data");
    await dtm("fit", join("data", "visits.csv"), "--model", "fpca", "-o", "run");
    await dtm("report", "run");
    const report = readFileSync(join(project, "run", "report.html"), "utf8");
    expect(report).toContain("<svg");
    expect(JSON.parse(await dtm("doctor", "--json")).checks[0]).toEqual({ part: "dtm", ok: true, found: "0.1.0" });
    const page = join(project, "node_modules", "@trajectory-maps", "app", "dist", "dtm.html");
    expect(readFileSync(page, "utf8")).toContain("Content-Security-Policy");
  });

  it("core, report and the map build under Vite", async () => {
    writeFileSync(join(project, "index.html"), '<div id="map"></div><script type="module" src="/page.js"></script>');
    writeFileSync(
      join(project, "page.js"),
      `import { embed, fitDtm, simulateCohort } from "@trajectory-maps/core";
      import { renderReport } from "@trajectory-maps/report";
      import { mountMap } from "@trajectory-maps/app/map";
      const { cohort } = simulateCohort("pfvc", { numIndividuals: 60, seed: 3 });
      const model = fitDtm(cohort);
      mountMap(document.querySelector("#map"), { model, placements: embed(model, cohort) });
      window.renderReport = renderReport;`,
    );
    await run(process.execPath, [join(ROOT, "node_modules", "vite", "bin", "vite.js"), "build", "--logLevel", "error"]);
    // One script is loaded with the page; readers of formats stand beside it until a file needs them.
    const page = readFileSync(join(project, "dist", "index.html"), "utf8");
    const loaded = [...page.matchAll(/\/assets\/([^"]+\.js)"/g)].map(([, name]) => name);
    expect(loaded).toHaveLength(1);
    const texts = loaded.map((name) => readFileSync(join(project, "dist", "assets", name), "utf8"));
    expect(texts.join("")).not.toMatch(/\bfrom ?"@|import ?"@/);
  });
});
