import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { loadModel, markerModel } from "@trajectory-maps/core";
import { afterAll, afterEach, describe, expect, it, vi } from "vitest";
import { run, workplace } from "../test/harness.ts";
import { fitContract, runContract } from "./contract-fit.ts";
import { inspectContract } from "./contract-tables.ts";

const VISITS = fileURLToPath(new URL("../../../examples/pbc/visits.csv", import.meta.url));
const here = workplace();
afterAll(here.clear);
afterEach(() => vi.unstubAllEnvs());

const fitPbc = (out: string, ...more: string[]) =>
  run("fit", VISITS, "--value", "bili", "--transform", "log", "--model", "lmm", "-o", here.at(out), ...more);

const SMALL = Array.from({ length: 24 }, (_, k) => {
  const [i, t] = [Math.floor(k / 4), k % 4];
  return [`p${i}`, String(t), String(0.2 + 0.05 * i + 0.04 * t * (i % 3) + 0.01 * ((7 * k) % 5))];
});
const table = (delimiter: string) =>
  [["id", "time", "value"], ...SMALL].map((row) => `${row.join(delimiter)}\n`).join("");

describe("dtm fit", () => {
  it("prints results on standard output and talk on standard error, and writes the folder of a run", async () => {
    const { code, out, talk } = await fitPbc("a");
    expect(code).toBe(0);
    expect(out).toContain("312 individuals, 1,945 observations of bili");
    expect(out).toMatch(/linear mixed model, scalar mean +log-likelihood +-1456\.06/);
    expect(out).not.toContain("is taken as");
    expect(talk).toContain('Column "time" is taken as time.');
    expect(talk).toContain("Linear models");
    const names = ["baselines", "digests.json", "model.json", "placements.csv", "run.json", "trace.csv", "visits.csv"];
    expect(readdirSync(here.at("a")).sort()).toEqual(names);
    expect(readdirSync(here.at("a", "baselines")).sort()).toEqual(["fpca.json", "lmm.json"]);
    expect(markerModel(loadModel(here.text("a", "model.json"))).columns).toEqual({
      id: "id",
      time: "time",
      value: "bili",
    });
    const places = here.text("a", "placements.csv").trimEnd().split("\n");
    expect(places[0]).toBe("id,x1,x2,var11,var12,var22,visits,first_time,last_time");
    expect(places).toHaveLength(313);
    expect(places[1]?.split(",")).toHaveLength(9);
    expect(here.text("a", "visits.csv").split("\n").slice(0, 2)).toEqual(["id,time,value", "1,0,14.5"]);
  });

  it("says in run.json which files are private, and makes them readable by the owner alone", async () => {
    const record = runContract.parse(JSON.parse(here.text("a", "run.json")));
    const secret = record.files.filter((file) => file.private).map(({ name }) => name);
    expect(secret).toEqual(["visits.csv", "placements.csv", "digests.json"]);
    if (process.platform !== "win32")
      for (const name of secret) expect(statSync(here.at("a", name)).mode & 0o077).toBe(0);
    expect(record).toMatchObject({ individuals: 312, observations: 1945, model: "lmm", source: "visits.csv" });
    expect(record.command).not.toContain("examples");
  });

  it("keeps no copy of the visits with --no-visits", async () => {
    expect((await fitPbc("bare", "--no-visits")).code).toBe(0);
    expect(existsSync(here.at("bare", "visits.csv"))).toBe(false);
    const asked = await run("groups", here.at("bare"), "--stability", "0");
    expect(asked.code).toBe(2);
    expect(asked.talk).toContain("--visits FILE");
    expect((await run("groups", here.at("bare"), "--stability", "0", "--visits", VISITS)).code).toBe(0);
    // The file must be that of the run.
    const [header = "", ...rows] = readFileSync(VISITS, "utf8").trim().split("\n");
    const moved = rows.map((row, k) => (k === 0 ? row.replace(/^[^,]+/, "2") : row));
    for (const [others, found] of [
      [rows.slice(1), "received 312 individuals and 1,944 observations"],
      [moved, 'received 1 visit of "1"'],
      [rows.map((row) => `x${row}`), 'of "x1"'],
    ] as const) {
      const other = here.file("other.csv", `${[header, ...others].join("\n")}\n`);
      const refused = await run("groups", here.at("bare"), "--stability", "0", "--visits", other, "--force");
      expect(refused.code).toBe(2);
      expect(refused.talk).toContain("expected the visits that");
      expect(refused.talk).toContain(found);
    }
  });

  it("says so where the folder that it was started in is gone", async () => {
    vi.spyOn(process, "cwd").mockImplementation(() => {
      throw Object.assign(new Error("ENOENT: uv_cwd"), { code: "ENOENT", syscall: "uv_cwd" });
    });
    const { code, talk } = await run("fit", VISITS, "-o", "gone");
    expect([code, talk]).toEqual([4, expect.stringContaining("The folder that dtm was started in is gone")]);
  });

  it("names a file that is there already, and asks for another file", async () => {
    const file = here.file("there.csv", "");
    const { code, talk } = await run("template", "-o", file);
    expect([code, talk]).toEqual([2, expect.stringContaining(`${file} is there already. Name another file`)]);
  });

  it("refuses a tolerance of 0, which no fit reaches", async () => {
    const { code, talk } = await run("fit", VISITS, "--tolerance", "0", "-o", here.at("zero"));
    expect([code, talk]).toEqual([2, expect.stringContaining("--tolerance: expected a number above 0")]);
  });

  it("does not write over results unless forced, and leaves them as they were", async () => {
    await fitPbc("b");
    const before = here.text("b", "model.json");
    const refused = await fitPbc("b", "--mean", "spline");
    expect(refused.code).toBe(2);
    expect(refused.talk).toContain("--force");
    expect(here.text("b", "model.json")).toBe(before);
    expect((await fitPbc("b", "--mean", "spline", "--force")).code).toBe(0);
    expect(here.text("b", "model.json")).not.toBe(before);
  });

  it("prints one JSON document with --json and nothing on standard error with --quiet", async () => {
    const { code, out, talk } = await run(
      "fit",
      VISITS,
      "--value",
      "albumin",
      "--model",
      "fpca",
      "-o",
      here.at("q"),
      "--json",
      "-q",
    );
    expect(code).toBe(0);
    expect(talk).toBe("");
    expect(fitContract.parse(JSON.parse(out)).run.model).toBe("fpca");
  });

  it("reads tabs, gzip and standard input alike", async () => {
    const paths = [
      here.file("t.csv", table(",")),
      here.file("t.tsv", table("\t")),
      here.file("t.csv.gz", gzipSync(table(","))),
    ];
    const models: string[] = [];
    for (const [k, path] of paths.entries()) {
      expect((await run("fit", path, "--model", "lmm", "-o", here.at(`t${k}`), "-q")).code).toBe(0);
      models.push(here.text(`t${k}`, "model.json"));
    }
    expect(new Set(models).size).toBe(1);
    const cut = here.file("cut.gz", gzipSync(table(",")).subarray(0, 60));
    const refused = await run("fit", cut, "-o", here.at("cut"));
    expect(refused.code).toBe(3);
    expect(refused.talk).toContain("gzip");
  });

  it("refuses a gzip file that grows as no table does", async () => {
    const bomb = here.file("bomb.csv.gz", gzipSync(`id,time,value\n${"\n".repeat(2 ** 27)}`));
    const refused = await run("inspect", bomb);
    expect(refused.code).toBe(3);
    expect(refused.talk).toContain("expected at most 64 MB once unpacked, received more. Unpack it first");
  });

  it("fits shares on the logit scale", async () => {
    expect(
      (await run("fit", here.at("t.csv"), "--model", "lmm", "--transform", "logit", "-o", here.at("logit"), "-q")).code,
    ).toBe(0);
    const places = await run("predict", here.at("logit"), here.at("t.csv"), "--at", "0,3", "-q");
    for (const row of places.out.trimEnd().split("\n").slice(1)) {
      const [, , mean, , lower, upper] = row.split(",").map(Number);
      expect(lower).toBeGreaterThan(0);
      expect(upper).toBeLessThan(1);
      expect(mean).toBeGreaterThan(lower ?? 1);
      expect(mean).toBeLessThan(upper ?? 0);
    }
  });

  it("takes options from flags, then the environment, then a file, then defaults", async () => {
    const config = here.file("dtm.yaml", "model: fpca\nmean: spline\nseed: 4\nfolds: 7\n");
    vi.stubEnv("DTM_MEAN", "scalar");
    const { out, code } = await run(
      "fit",
      here.at("t.csv"),
      "--config",
      config,
      "--model",
      "lmm",
      "-o",
      here.at("cfg"),
      "--json",
      "-q",
    );
    expect(code).toBe(0);
    const { run: record } = fitContract.parse(JSON.parse(out));
    expect([record.model, record.seed]).toEqual(["lmm", 4]);
    expect(markerModel(loadModel(here.text("cfg", "model.json"))).mean.kind).toBe("scalar");
    const wrong = here.file("wrong.json", '{"modle": "lmm"}');
    const refused = await run("fit", here.at("t.csv"), "--config", wrong);
    expect(refused.code).toBe(2);
    expect(refused.talk).toContain("modle");
    const bad = here.file("bad.yaml", "model: tree\n");
    expect((await run("fit", here.at("t.csv"), "--config", bad)).code).toBe(2);
  });

  it("takes numbers of a file as they are written, as behind a flag", async () => {
    const named = "id,1e3,007,value\np1,0,1,5\np1,1,1,6\np2,0,1,7\n";
    const visits = here.file("named.csv", named);
    for (const [file, text] of [
      ["named.yaml", "id: id\ntime: 1e3\nvalue: 007\n"],
      ["named.json", '{"id": "id", "time": 1e3, "value": "007"}'],
    ] as const) {
      const { code, talk } = await run("inspect", visits, "--config", here.file(file, text), "-q");
      expect([code, talk]).toEqual([0, ""]);
    }
    for (const seed of ["0x10", "0o17", ".inf", "1.5"]) {
      const refused = await run("fit", visits, "--config", here.file("seed.yaml", `seed: ${seed}\n`));
      expect([refused.code, refused.talk]).toEqual([2, expect.stringContaining(`received "${seed}"`)]);
    }
    const [twice, cut] = [here.file("twice.json", '{"seed": 1, "seed": 2}'), here.file("cut.json", "{seed: 1}")];
    expect((await run("fit", visits, "--config", twice)).talk).toContain("unique");
    expect((await run("fit", visits, "--config", cut)).talk).toContain("expected YAML or JSON");
  });

  it("refuses an option that is given twice, unless it may be", async () => {
    const twice = await run("predict", here.at("a"), "--at", "1", "--at=2");
    expect([twice.code, twice.talk]).toEqual([2, expect.stringContaining('--at: expected once, received "1" and "2"')]);
    const short = await run("fit", VISITS, "-o", here.at("x"), "--out", here.at("y"));
    expect([short.code, short.talk]).toEqual([2, expect.stringContaining("--out: expected once")]);
    const good = ["--skip-line", "2", "--skip-line", "3", "--value", "bili", "--value", "bili", "-q"];
    expect((await run("inspect", VISITS, ...good)).talk).toBe("");
    vi.stubEnv("DTM_SEED", "3");
    const { out } = await run("config", "show", "fit", "--seed", "4", "--json");
    expect(out).toContain('"value": "4"');
  });

  it("gives exit code 3 for bad data, with every complaint, and writes nothing", async () => {
    const bad = here.file("bad.csv", "id,time,value\np1,0,<LOD\np2,1,5 mg\n");
    const { code, talk, out } = await run("fit", bad, "-o", here.at("c"));
    expect(code).toBe(3);
    expect(talk).toContain("bad.csv, line 2, column");
    expect(talk).toContain("[censored-value]");
    expect(talk).toContain("[not-a-number]");
    expect(talk).not.toContain("    at ");
    expect(out).toBe("");
    expect(existsSync(here.at("c"))).toBe(false);
  });

  it("gives exit code 3 for a cohort that cannot carry a model", async () => {
    const { code, talk } = await run("fit", here.file("two.csv", "id,time,value\na,0,1\nb,1,2\n"), "-o", here.at("d"));
    expect(code).toBe(3);
    expect(talk).toMatch(/at least 3 individuals, received 2/);
  });

  it("gives exit code 4 for files and folders that cannot be used, each with its own sentence", async () => {
    const missing = await run("fit", here.at("nowhere.csv"));
    const isFolder = await run("fit", here.at());
    expect([missing.code, isFolder.code]).toEqual([4, 4]);
    expect(missing.talk).toContain("There is no file");
    expect(isFolder.talk).toContain("is a folder");
    const onFile = await run("fit", VISITS, "--value", "bili", "-o", here.file("plain", ""));
    expect(onFile.code).toBe(4);
    expect(onFile.talk).toContain("is a file");
    expect((await run("groups", here.at("nowhere"))).code).toBe(4);
    expect((await run("fit", "--resume", here.at("a"))).code).toBe(4);
  });

  it("gives exit code 2 for wrong usage", async () => {
    expect((await run("fit")).code).toBe(2);
    expect((await run("fit", VISITS, "--no-such-option")).code).toBe(2);
    expect((await run("fit", VISITS, "--model", "tree")).code).toBe(2);
    expect((await run("fit", VISITS, "--dim", "4")).code).toBe(2);
    const published = await run("fit", VISITS, "--dim", "3", "--noise", "level");
    expect([published.code, published.talk]).toEqual([2, expect.stringContaining("the map of --dim 3")]);
    expect(published.talk).toContain("use --dim 1 or 2");
    expect((await run("fit", VISITS, "--schedule", "paper", "-o", here.at("z"))).talk).toContain("dtm-paper");
    expect((await run("fit", VISITS, "--value", "bili", "--seed", "x")).talk).toContain(
      "--seed: expected a whole number",
    );
    expect((await run("nothing")).code).toBe(2);
  });

  it("disarms ids that a spreadsheet would run, but keeps them exact in the copy it reads back", async () => {
    const rows = ["=1+1", "+x", "-x", "@x"].flatMap((id, k) => [0, 1, 2].map((t) => `${id},${t},${k + t * t}`));
    const path = here.file("formulas.csv", `id,time,value\n${rows.join("\n")}\n`);
    expect((await run("fit", path, "--model", "lmm", "-o", here.at("e"))).code).toBe(0);
    const places = here.text("e", "placements.csv");
    expect(places).toContain(`"'=1+1",`);
    expect(places).toContain(`"'-x",`);
    expect(here.text("e", "visits.csv")).toContain("\n=1+1,0,0\n");
  });

  it("leaves no temporary files when a write fails", async () => {
    mkdirSync(here.at("f", "model.json"), { recursive: true });
    const { code, talk } = await fitPbc("f", "--force");
    expect(code).toBe(4);
    expect(talk).toContain("cannot be written");
    expect(readdirSync(here.at("f"), { recursive: true }).filter((name) => String(name).endsWith(".tmp"))).toEqual([]);
  });
});

describe("dtm inspect", () => {
  it("names suspect values with what was to be expected", async () => {
    const asked = ["inspect", VISITS, "--value", "albumin"];
    const { out } = await run(...asked);
    expect(out).toMatch(/Suspect +\d values probably wrong, .*nothing was removed/);
    expect(out).toMatch(/150, time 0\.515, 8\.01, expected about 3\.7\d, P > 0\.99/);
    const { suspects } = inspectContract.parse(JSON.parse((await run(...asked, "--json")).out));
    expect(suspects?.find(({ id }) => id === "150")).toMatchObject({ marker: "albumin", value: 8.01 });
  });

  it("counts values in bins that are equal on the scale of the model", async () => {
    const values = Array.from({ length: 400 }, (_, k) => 10 ** (k / 100 - 1));
    const visits = here.file(
      "log.csv",
      `id,time,value\n${values.map((v, k) => `p${k >> 2},${k % 4},${v}`).join("\n")}\n`,
    );
    const { out } = await run("inspect", visits, "--transform", "log");
    const asJson = await run("inspect", visits, "--transform", "log", "--json");
    const { histogram } = inspectContract.parse(JSON.parse(asJson.out));
    // Values even over four decades from 0.1 on: every bin is as full as the others, and as wide by ratio.
    expect(new Set(histogram.counts).size).toBe(1);
    const ratios = histogram.edges.slice(1).map((edge, k) => edge / (histogram.edges[k] ?? 0));
    for (const ratio of ratios) expect(ratio).toBeCloseTo(ratios[0] ?? 0, 9);
    expect(out).toContain("0.1 to 1,000, log scale");
    const linear = await run("inspect", visits);
    expect(linear.out).not.toContain("scale");
  });
});

describe("dtm", () => {
  it("shows help with examples for every command, and its version, with exit code 0", async () => {
    const help = await run("--help");
    expect(help.code).toBe(0);
    const commands = [
      "inspect",
      "fit",
      "embed",
      "predict",
      "compare",
      "groups",
      "calibrate",
      "associate",
      "covariates",
      "report",
      "simulate",
      "plan",
      "doctor",
    ];
    for (const name of commands) {
      expect(help.out).toContain(name);
      const { code, out } = await run(name, "--help");
      // Defaults stand in one form, whoever prints them.
      expect(out).not.toContain('(default: "');
      expect(code).toBe(0);
      expect(out).toMatch(/Examples:\n {2}(cat .* )?dtm /);
      expect(out).toContain("--json");
    }
    expect((await run("--version")).out).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it("groups options under headings in the help, the same wherever they are shared", async () => {
    for (const [name, headings] of [
      ["fit", ["Reading the table:", "OMOP CDM:", "FHIR:", "Model:", "Covariates:", "Options:", "Of every command:"]],
      ["embed", ["Reading the table:", "FHIR:", "Options:", "Of every command:"]],
    ] as const) {
      const lines = (await run(name, "--help")).out.split("\n");
      for (const heading of headings)
        expect([name, lines.filter((text) => text === heading)]).toEqual([name, [heading]]);
    }
  });

  it("completes options for shells", async () => {
    const script = await run("complete", "bash");
    expect(script.code).toBe(0);
    expect(script.out).toContain("complete -F");
    const words = await run("complete", "--", "fit", "--tr");
    expect(words.out).toContain("--transform");
  });
});
