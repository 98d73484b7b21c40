import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { loadModel } from "@trajectory-maps/core";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { main } from "./main.ts";

const VISITS = fileURLToPath(new URL("../../../examples/pbc/visits.csv", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "dtm-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(() => vi.restoreAllMocks());

/** Runs the program in this process; what it wrote and its exit code. */
async function run(...argv: string[]): Promise<{ code: number; out: string; talk: string }> {
  let out = "";
  let talk = "";
  vi.spyOn(process.stdout, "write").mockImplementation((text) => {
    out += String(text);
    return true;
  });
  vi.spyOn(process.stderr, "write").mockImplementation((text) => {
    talk += String(text);
    return true;
  });
  const code = await main(argv);
  vi.restoreAllMocks();
  return { code, out, talk };
}

const fitPbc = (out: string, ...more: string[]) =>
  run("fit", VISITS, "--value", "bili", "--transform", "log", "--model", "lmm", "-o", join(folder, out), ...more);

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

describe("dtm fit", () => {
  it("prints results on standard output and talk on standard error, and writes model, places, trace and record", async () => {
    const { code, out, talk } = await fitPbc("a");
    expect(code).toBe(0);
    expect(out).toContain("312 individuals, 1,945 observations of bili");
    expect(out).toMatch(/linear mixed model, scalar mean +-1455\.88/);
    expect(out).not.toContain("is taken as");
    expect(talk).toContain('Column "time" is taken as time.');
    expect(talk).toContain("Linear mixed model");
    expect(readdirSync(join(folder, "a")).sort()).toEqual(["model.json", "placements.csv", "run.json", "trace.csv"]);
    const model = loadModel(readFileSync(join(folder, "a", "model.json"), "utf8"));
    expect(model.columns).toEqual({ id: "id", time: "time", value: "bili" });
    const places = readFileSync(join(folder, "a", "placements.csv"), "utf8")
      .trimEnd()
      .split("\n");
    expect(places[0]).toBe("id,observations,x1,x2,sd1,sd2,cov12,log_likelihood");
    expect(places).toHaveLength(313);
    const total = places.slice(1).reduce((sum, row) => sum + Number(row.split(",").at(-1)), 0);
    expect(total).toBeCloseTo(-1455.876, 2);
  });

  it("does not write over results unless forced, and leaves them as they were", async () => {
    await fitPbc("b");
    const before = readFileSync(join(folder, "b", "model.json"), "utf8");
    const refused = await fitPbc("b", "--mean", "spline");
    expect(refused.code).toBe(2);
    expect(refused.talk).toContain("--force");
    expect(readFileSync(join(folder, "b", "model.json"), "utf8")).toBe(before);
    expect((await fitPbc("b", "--mean", "spline", "--force")).code).toBe(0);
    expect(readFileSync(join(folder, "b", "model.json"), "utf8")).not.toBe(before);
  });

  it("is silent with --quiet", async () => {
    const { code, talk } = await run(
      "--quiet",
      "fit",
      VISITS,
      "--value",
      "albumin",
      "--model",
      "lmm",
      "-o",
      join(folder, "q"),
    );
    expect(code).toBe(0);
    expect(talk).toBe("");
  });

  it("gives exit code 3 for bad data, with every complaint, and writes nothing", async () => {
    const bad = file("bad.csv", "id,time,value\np1,0,<5\np2,1,5 mg\n");
    const { code, talk, out } = await run("fit", bad, "-o", join(folder, "c"));
    expect(code).toBe(3);
    expect(talk).toContain("bad.csv, line 2, column");
    expect(talk).toContain("[censored-value]");
    expect(talk).toContain("[not-a-number]");
    expect(talk).not.toContain("    at ");
    expect(out).toBe("");
    expect(existsSync(join(folder, "c"))).toBe(false);
  });

  it("gives exit code 3 for a cohort that cannot carry a model", async () => {
    const { code, talk } = await run("fit", file("two.csv", "id,time,value\na,0,1\nb,1,2\n"), "-o", join(folder, "d"));
    expect(code).toBe(3);
    expect(talk).toMatch(/at least 3 individuals, received 2/);
  });

  it("gives exit code 4 for files and folders that cannot be used, each with its own sentence", async () => {
    const missing = await run("fit", join(folder, "nowhere.csv"));
    const isFolder = await run("fit", folder);
    const notFolder = await fitPbc("file");
    expect([missing.code, isFolder.code]).toEqual([4, 4]);
    expect(missing.talk).toContain("There is no file");
    expect(isFolder.talk).toContain("is a folder");
    expect(notFolder.code).toBe(0);
    const onFile = await run("fit", VISITS, "--value", "bili", "-o", file("plain", ""));
    expect(onFile.code).toBe(4);
    expect(onFile.talk).toContain("is a file");
  });

  it("gives exit code 2 for wrong usage", async () => {
    expect((await run("fit")).code).toBe(2);
    expect((await run("fit", VISITS, "--no-such-option")).code).toBe(2);
    expect((await run("fit", VISITS, "--model", "tree")).code).toBe(2);
    expect((await run("fit", VISITS, "--value", "bili", "--seed", "x")).talk).toContain(
      "--seed: expected a whole number",
    );
    expect((await run("nothing")).code).toBe(2);
  });

  it("disarms ids that a spreadsheet would run", async () => {
    const rows = ["=1+1", "+x", "-x", "@x"].flatMap((id, k) => [0, 1, 2].map((t) => `${id},${t},${k + t * t}`));
    const path = file("formulas.csv", `id,time,value\n${rows.join("\n")}\n`);
    const { code } = await run("fit", path, "--model", "lmm", "-o", join(folder, "e"));
    expect(code).toBe(0);
    const places = readFileSync(join(folder, "e", "placements.csv"), "utf8");
    expect(places).toContain(`"'=1+1",3,`);
    expect(places).toContain(`"'-x",3,`);
  });

  it("leaves no temporary files when a write fails", async () => {
    mkdirSync(join(folder, "f", "model.json"), { recursive: true });
    const { code, talk } = await fitPbc("f", "--force");
    expect(code).toBe(4);
    expect(talk).toContain("cannot be written");
    expect(readdirSync(join(folder, "f"))).toEqual(["model.json"]);
  });
});

describe("dtm", () => {
  it("shows help and version with exit code 0", async () => {
    const help = await run("--help");
    expect(help.code).toBe(0);
    expect(help.out).toContain("demo");
    expect((await run("fit", "--help")).out).toContain("Examples:");
    expect((await run("--version")).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });
});
