import { readdirSync } from "node:fs";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { run, workplace } from "../test/harness.ts";
import { loadAll } from "./commands/list.ts";
import { realNumber } from "./commands/numbers.ts";
import { numberOptions } from "./numeric-options.ts";
import { plain } from "./print/plain.ts";

const here = workplace();
afterAll(here.clear);
afterEach(() => vi.unstubAllEnvs());

const rows = Array.from({ length: 40 }, (_, k) => `p${k % 8},${k},${70 + ((7 * k) % 11)}`);
const VISITS = here.file("visits.csv", ["id,time,value", ...rows, ""].join("\n"));
const fit = (out: string, ...more: string[]) => run("fit", VISITS, "--model", "lmm", "-o", here.at(out), ...more);

describe("options that are numbers", () => {
  it("have a range in every command", async () => {
    const open = (await loadAll()).flatMap((command) =>
      numberOptions(command).flatMap(({ flag, range }) => (range === undefined ? [`${command.name} ${flag}`] : [])),
    );
    expect(open).toEqual([]);
  });

  it.each([
    [["report", "nowhere", "--small-cell", "abc"], "--small-cell"],
    [["compare", "nowhere.csv", "--folds", "1000000"], "--folds"],
    [["compare", "nowhere.csv", "--repeats", "1e9"], "--repeats"],
    [["compare", "nowhere.csv", "--repeats", "1000000000"], "--repeats"],
    [["predict", "nowhere", "nowhere.csv", "--at", "1", "--level", "0x1"], "--level"],
    [["predict", "nowhere", "nowhere.csv", "--at", "1", "--level", "1"], "--level"],
    [["predict", "nowhere", "nowhere.csv", "--at", "5:1:1"], "--at"],
    [["predict", "nowhere", "nowhere.csv", "--at", "abc"], "--at"],
    [["predict", "nowhere", "nowhere.csv", "--threshold", "1e999"], "--threshold"],
    [["associate", "nowhere", "nowhere.csv", "--draws", "-5"], "--draws"],
    [["fit", "nowhere.csv", "-o", "out", "--seed", "0x10"], "--seed"],
  ])("are refused before anything is read: %j", async (argv, flag) => {
    const { code, talk } = await run(...(argv as string[]));
    expect(code).toBe(2);
    expect(talk).toContain(`${flag}: expected`);
  });

  it("are decimal digits alone", () => {
    for (const text of ["0x10", "0b1", "1e999", "Infinity", "", " ", "1_000", "NaN", "1,5"]) {
      expect(() => realNumber("--x", text)).toThrow("--x: expected a number");
    }
    expect([" 1.5 ", "-.5", "5.", "1e-3"].map((text) => realNumber("--x", text))).toEqual([1.5, -0.5, 5, 1e-3]);
  });
});

describe("flags in the environment", () => {
  it("are read as yes or no", async () => {
    expect((await fit("a")).code).toBe(0);
    for (const no of ["0", "false", "no", "off", ""]) {
      vi.stubEnv("DTM_FORCE", no);
      expect((await fit("a")).code).not.toBe(0);
    }
    vi.stubEnv("DTM_FORCE", "yes");
    expect((await fit("a")).code).toBe(0);
    vi.stubEnv("DTM_FORCE", "perhaps");
    const { code, talk } = await fit("a");
    expect(code).toBe(2);
    expect(talk).toContain('DTM_FORCE: expected 1, true, yes or on, or 0, false, no or off, received "perhaps"');
  });

  it("count before a file, also when they say no", async () => {
    const file = here.file("options.yaml", "force: true\nvisits: false\n");
    const shown = async (name: string) => {
      const { out } = await run("config", "show", "fit", "--config", file, "--json");
      const { settings } = JSON.parse(out) as { settings: { name: string; value: unknown }[] };
      return settings.find((setting) => setting.name === name)?.value ?? null;
    };
    expect([await shown("--force"), await shown("--no-visits")]).toEqual([true, true]);
    vi.stubEnv("DTM_FORCE", "no");
    vi.stubEnv("DTM_VISITS", "yes");
    expect([await shown("--force"), await shown("--no-visits")]).toEqual([null, false]);
    vi.stubEnv("DTM_FORCE", "");
    expect(await shown("--force")).toBe(true);
  });

  it("turn flags that begin with no the way their name says", async () => {
    vi.stubEnv("DTM_VISITS", "1");
    await fit("with");
    vi.stubEnv("DTM_VISITS", "0");
    await fit("without");
    expect(readdirSync(here.at("with"))).toContain("visits.csv");
    expect(readdirSync(here.at("without"))).not.toContain("visits.csv");
  });
});

describe("text of others", () => {
  it("reaches no terminal with control characters in it, of a file's name, an option or a column", async () => {
    const odd = "x\u001b[31my\u202e";
    const named = here.file(`${odd}.csv`, `id,time,va\u009blue\np,0,1\n`);
    for (const argv of [
      ["inspect", named, "--value", "q"],
      ["inspect", `nowhere-${odd}`],
      ["fit", VISITS, `--${odd}`],
      ["fit", VISITS, "--seed", odd],
    ]) {
      const { talk, code } = await run(...argv);
      expect(code).not.toBe(0);
      expect(talk).toContain("\\u001b[31m");
      expect(plain(talk)).toBe(talk);
    }
  });
});

describe("settings", () => {
  it("longer than anybody writes are refused before they are understood", async () => {
    const long = here.file("long.yaml", Array.from({ length: 150_000 }, (_, k) => `k${k}: x`).join("\n"));
    const { code, talk } = await run("inspect", VISITS, "--config", long);
    expect(code).toBe(4);
    expect(talk).toContain("expected a file of at most 1 MB");
  });
});
