import { cpSync, existsSync, statSync } from "node:fs";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { run, smallCohort, workplace } from "../test/harness.ts";
import { COMMANDS, loadAll } from "./commands/list.ts";
import { embedContract } from "./contract-individuals.ts";
import { CONTRACTS, contractSchema } from "./contracts.ts";
import { decodeExact, encodeExact } from "./io/json.ts";

const here = workplace();
afterAll(here.clear);
const { visits, subjects } = smallCohort(90);
const VISITS = here.file("visits.csv", visits);
/** The first ten individuals: enough to forecast. */
const FEW = here.file(
  "few.csv",
  `${visits
    .split("\n")
    .filter((row) => /^(patient|P00(0\d|10)),/.test(row))
    .join("\n")}\n`,
);
const SUBJECTS = here.file("subjects.csv", subjects);
const RUN = here.at("run");
const PARQUET = here.at("contract.parquet");
const columns = ["--id", "patient", "--time", "years", "--value", "fvc"];
const rowsOf = (csv: string) =>
  csv
    .trimEnd()
    .split("\n")
    .map((line) => line.split(","));

beforeAll(async () => {
  const { code } = await run("fit", VISITS, ...columns, "--time-unit", "years", "-o", RUN, "-q");
  expect(code).toBe(0);
});

describe("the JSON of every command", () => {
  const cases: readonly (readonly [keyof typeof CONTRACTS, readonly string[]])[] = [
    ["inspect", ["inspect", VISITS, ...columns]],
    ["inspect-codes", ["inspect", "--fhir", fileURLToPath(new URL("../../../examples/fhir", import.meta.url))]],
    ["embed", ["embed", RUN, VISITS]],
    ["predict", ["predict", RUN, FEW, "--at", "0:4:2"]],
    ["predict", ["predict", RUN, FEW, "--threshold", "60", "--below"]],
    ["simulate", ["simulate", RUN, "--individuals", "5"]],
    ["simulate", ["simulate", "tss", "--individuals", "5"]],
    ["statistics", ["statistics", VISITS, ...columns, "-o", PARQUET]],
    ["federate", ["federate", "init", here.at("agreed"), "--like", PARQUET, "--sites", "a,b"]],
    ["federate", ["federate", "round", here.at("agreed"), "--site", "a", "--statistics", PARQUET, "--preview"]],
    ["federate", ["federate", "round", here.at("agreed"), "--site", "a", "--statistics", PARQUET]],
    ["federate", ["federate", "merge", here.at("agreed")]],
    ["shards", ["shards", "plan", here.at("jobs"), "--statistics", PARQUET]],
    ["shards", ["shards", "reduce", here.at("jobs"), "--wait", "0"]],
    ["template", ["template", "wide"]],
    ["doctor", ["doctor"]],
    ["plan", ["plan", "--individuals", "1e6"]],
    [
      "power",
      [
        "power",
        FEW,
        ...columns.slice(0, 4),
        "--individuals",
        "20",
        "--model",
        RUN,
        "--map",
        "known",
        "--replicates",
        "10",
      ],
    ],
    ["compare", ["compare", RUN, "--models", "constant,line,lmm,fpca", "--folds", "2"]],
    ["groups", ["groups", RUN, "--groups", "3", "--stability", "2"]],
    [
      "associate",
      [
        "associate",
        RUN,
        SUBJECTS,
        "--outcomes",
        "severe,noise,ward=2",
        "--event",
        "died:months",
        "--landmark",
        "5",
        "--draws",
        "199",
      ],
    ],
    ["covariates", ["covariates", RUN, "--subjects", SUBJECTS, "--covariates", "severe,noise,ward:category"]],
    ["sensitivity", ["sensitivity", RUN, "--only", "dimension,tail", "--folds", "2", "--subjects", SUBJECTS]],
    ["report", ["report", RUN, "--subjects", SUBJECTS, "-o", here.at("report.html")]],
    ["study", ["study", VISITS, ...columns, "-o", here.at("planned"), "--plan"]],
    ["summary", ["summary", RUN]],
    ["coef", ["coef", RUN]],
    ["calculator", ["calculator", RUN, "-o", here.at("calculator.html")]],
  ];
  const seen = new Map<string, unknown>();
  for (const [name, argv] of cases) {
    it(`keeps its contract: dtm ${argv[0]}, as in ${name}.json`, async () => {
      const { code, out, talk } = await run(...argv, "--json", "--quiet");
      expect(talk).toBe("");
      expect(code).toBe(0);
      const json: unknown = JSON.parse(out);
      seen.set(argv[0] ?? "", json);
      const checked = CONTRACTS[name].safeParse(json);
      expect(checked.error?.issues ?? []).toEqual([]);
    });
  }

  it("is what compare, groups, associate and sensitivity also write into the run", () => {
    for (const name of ["compare", "groups", "associate", "sensitivity"]) {
      expect(JSON.parse(here.text("run", `${name}.json`))).toEqual(seen.get(name));
    }
  });

  it("is recorded in the run: each command as typed, without folders, and the files it wrote", async () => {
    const record = JSON.parse(here.text("run", "run.json")) as {
      later: { name: string; command: string }[];
      files: { name: string; private: boolean }[];
    };
    expect(CONTRACTS.run.safeParse(record).success).toBe(true);
    expect(record.later.map(({ name }) => name)).toEqual(["compare", "groups", "associate", "sensitivity"]);
    expect(record.later[1]?.command).toBe("dtm groups run --groups 3 --stability 2 --json --quiet");
    expect(record.later[2]?.command).toMatch(/^dtm associate run subjects\.csv --outcomes severe,noise,ward=2 /);
    const own = record.files.filter(({ name }) => /^(groups|compare|associate|sensitivity)\./.test(name));
    expect(own.map((file) => [file.name, file.private])).toEqual([
      ["compare.json", false],
      ["groups.json", true],
      ["groups.csv", true],
      ["associate.json", true],
      ["sensitivity.json", false],
    ]);
    const page = here.text("report.html");
    for (const { command } of record.later) expect(page).toContain(`<code>${command.replaceAll("'", "&#39;")}</code>`);
    // A command given again takes the place of its earlier result.
    expect((await run("groups", RUN, "--groups", "3", "--stability", "0", "--force", "-q")).code).toBe(0);
    const again = JSON.parse(here.text("run", "run.json")) as typeof record;
    expect(again.later.map(({ name }) => name)).toEqual(["compare", "associate", "sensitivity", "groups"]);
    expect(again.later[3]?.command).toContain("--stability 0");
  });

  it("finds the planted outcome and not the meaningless one, in three representations", () => {
    const { outcomes } = seen.get("associate") as {
      outcomes: { outcome: string; p: number; adjusted: { holm: number }; representations: object }[];
    };
    const [severe, noise] = outcomes;
    expect(severe).toMatchObject({ outcome: "severe" });
    expect(severe?.adjusted.holm).toBeLessThan(0.05);
    expect(noise?.p).toBeGreaterThan(0.05);
    for (const { representations } of outcomes) expect(Object.keys(representations)).toEqual(["lmm", "fpca", "dtm"]);
  });

  it("says which covariates move places: those of severe courses and no others", async () => {
    const { covariates } = seen.get("covariates") as {
      covariates: { covariate: string; adjusted: { holm: number } }[];
    };
    expect(covariates.map(({ covariate }) => covariate)).toEqual(["severe", "noise", "ward"]);
    expect(covariates.map(({ adjusted }) => adjusted.holm < 0.05)).toEqual([true, false, false]);
    const { out } = await run("covariates", RUN, "--subjects", SUBJECTS, "--covariates", "severe,ward:category");
    expect(out).toMatch(/severe +per 1 +90 +0 /);
    expect(out).toMatch(/ward +1 against 0/);
    expect((await run("covariates", RUN, "--covariates", "ward")).code).toBe(2);
    const level = await run("covariates", RUN, "--subjects", SUBJECTS, "--covariates", "ward:level");
    expect([level.code, level.talk]).toEqual([2, expect.stringContaining("number, category after the colon")]);
  });

  it("reads no table of individuals for a model without covariates", async () => {
    for (const argv of [
      ["embed", RUN, VISITS],
      ["predict", RUN, VISITS, "--at", "1"],
    ]) {
      const { code, talk } = await run(...argv, "--subjects", SUBJECTS);
      expect([code, talk]).toEqual([2, expect.stringContaining("this one has neither. Leave it out")]);
    }
  });

  it("refuses a screen in which no covariate can be tested, with the reasons", async () => {
    const [, ...rows] = subjects.trim().split("\n");
    const odd = rows.map((row, i) => `${row.split(",")[0]},x,${i < 3 ? "far" : "near"},${i % 2 ? "f" : "m"}`);
    const table = here.file("odd.csv", `id,site,town,sex\n${odd.join("\n")}\n`);
    const screen = (names: string) => run("covariates", RUN, "--subjects", table, "--covariates", names);
    const none = await screen("site,town");
    expect([none.code, none.out]).toEqual([3, ""]);
    expect(none.talk).toMatch(/None of the covariates can be tested.*site: .*for all.*town: .*"far", received 3/s);
    const some = await screen("site,sex");
    expect(some.code).toBe(0);
    expect(some.out).toMatch(/^Untested {2}site: expected site to differ/m);
  });

  it("adjusts association, survival and report for covariates, and says so", async () => {
    const gaps = subjects.replace(/^(P000[12],.*),\d$/gm, "$1,");
    const table = here.file("gaps.csv", gaps);
    const asked = ["--outcomes", "severe", "--event", "died:months", "--landmark", "5", "--draws", "99"];
    const copy = here.at("adjusted");
    cpSync(RUN, copy, { recursive: true });
    const found = await run("associate", copy, table, ...asked, "--adjust", "noise,ward:category", "--force");
    expect(found.code).toBe(0);
    expect(found.out.replace(/\s+/g, " ")).toContain(
      "Adjusted for noise and ward. 2 without a value of all of these left out.",
    );
    expect(found.out.replace(/\s+/g, " ")).toContain("of the place beside the covariates");
    const json = JSON.parse(here.text("adjusted", "associate.json")) as Record<string, unknown>;
    expect(CONTRACTS.associate.safeParse(json).error?.issues ?? []).toEqual([]);
    expect(json).toMatchObject({ adjustedFor: ["noise", "ward"], leftOut: 2 });
    const page = here.at("adjusted.html");
    expect((await run("report", copy, "--subjects", table, "--outcomes", "severe", "-o", page, "-q")).code).toBe(0);
    expect(here.text("adjusted.html")).toContain("Adjusted for noise and ward.");
    expect((await run("associate", copy, table, ...asked, "--adjust", "ward:level", "--force")).code).toBe(2);
    const own = await run("associate", copy, table, "--outcomes", "severe,died", "--adjust", "severe", "--force");
    expect(own.code).not.toBe(0);
    expect(own.talk.replace(/\s+/g, " ")).toMatch(
      /received "severe", which they \(severe\) determine.*Leave it out of the outcomes/,
    );
  });

  it("takes competing events, times of risks and shifts, and tells them", async () => {
    const copy = here.at("competing");
    cpSync(RUN, copy, { recursive: true });
    const asked = ["--event", "died:months", "--landmark", "5", "--draws", "99", "--force"];
    const more = ["--competing", "severe:months", "--risk-times", "4,2", "--deltas", "-1,0,1"];
    const found = await run("associate", copy, SUBJECTS, ...asked, ...more);
    expect(found.code).toBe(0);
    const json = JSON.parse(here.text("competing", "associate.json"));
    expect(CONTRACTS.associate.safeParse(json).error?.issues ?? []).toEqual([]);
    const { competing, riskTimes, dropout, curves } = json.survival;
    expect(competing.names).toEqual(["severe"]);
    expect(competing.curves).toHaveLength(curves.length);
    expect(riskTimes).toEqual([2, 4]);
    expect(dropout.who).toBe("those with died or severe");
    expect(dropout.deltas).toEqual([-1, 0, 1]);
    const text = found.out.replace(/\s+/g, " ");
    expect(text).toContain("Cumulative incidence by Aalen and Johansen");
    expect(text).toContain("the course if measurement had gone on, under missing at random");
    expect(text).not.toContain("median [95% CI]");
    const page = here.at("competing.html");
    expect((await run("report", copy, "-o", page, "-q", "--no-compare", "--stability", "0")).code).toBe(0);
    expect(here.text("competing.html")).toContain("Cumulative incidence of died and severe by group");
    expect((await run("associate", copy, SUBJECTS, ...asked, "--competing", "severe")).code).toBe(2);
    expect((await run("associate", copy, SUBJECTS, ...asked, "--risk-times", "0")).code).toBe(2);
  });

  it("lets the report use what the run holds", () => {
    expect(seen.get("report")).toMatchObject({
      reused: ["groups", "comparison", "association", "survival", "sensitivity"],
      computed: [],
    });
    const page = here.text("report.html");
    expect(page).toMatch(/^<!doctype html>/);
    for (const word of ["severe", "Reporting checklists", "Methods"]) expect(page).toContain(word);
    expect(page).not.toContain("P0001");
  });

  it("gives the owner's own report every count and place, and says not to share it", async () => {
    const page = here.at("own.html");
    const asked = ["--subjects", SUBJECTS, "--characteristics", "ward,months", "-o", page];
    const { code, talk } = await run("report", RUN, ...asked, "--own");
    expect(code).toBe(0);
    expect(talk).toContain("do not share it");
    expect(statSync(page).mode & 0o777).toBe(0o600);
    const own = here.text("own.html");
    expect(own.includes("Holds individual-level places and every count")).toBe(true);
    // Nothing is held back, not even by rounding.
    expect(own.match(/&lt;11|withheld|rounded to fives/)?.[0]).toBeUndefined();
    expect(own.includes("P0001")).toBe(false);
    const listed = (html: string) =>
      ["Ward", "Months", "Severe", "Died"].filter((name) => html.includes(`<th scope="row">${name} <span class="mu">`));
    expect(listed(own)).toEqual(["Ward", "Months"]);
    const shared = here.text("report.html");
    expect(shared.includes("Report for sharing")).toBe(true);
    // By default all columns that describe individuals but ids and outcomes of the run: severe, noise, ward=2 and died.
    expect(listed(shared)).toEqual(["Months"]);
  });

  it("refuses ids as characteristics, and characteristics without a table", async () => {
    const out = ["-o", here.at("no.html")];
    const ids = await run("report", RUN, "--subjects", SUBJECTS, "--characteristics", "id", ...out);
    expect(ids.code).toBe(2);
    expect(ids.talk).toContain("the ids");
    expect((await run("report", RUN, "--characteristics", "ward", ...out)).code).toBe(2);
  });

  it("has a contract, but for those that the documentation names", () => {
    const without = COMMANDS.filter(({ name }) => !(name in CONTRACTS)).map(({ name }) => name);
    expect(without).toEqual(["explore", "serve", "demo"]);
  });

  it("is published as JSON Schema", async () => {
    for (const name of Object.keys(CONTRACTS) as (keyof typeof CONTRACTS)[]) {
      await expect(contractSchema(name)).toMatchFileSnapshot(`../schemas/${name}.json`);
    }
  });
});

describe("dtm embed and dtm predict", () => {
  it("place the cohort where the run placed it", async () => {
    const { out } = await run("embed", here.at("run", "model.json"), VISITS, "-q");
    const rows = rowsOf(out);
    expect(rows[0]).toEqual(["id", "x1", "x2", "var11", "var12", "var22", "suspects", "area90"]);
    const stored = rowsOf(here.text("run", "placements.csv"));
    rows.forEach((row, k) => {
      expect(row.slice(0, 6)).toEqual(stored[k]?.slice(0, 6));
    });
  });

  it("tell of a value that is probably wrong, by its visit, and count it beside the individual", async () => {
    const [head = "", first = "", ...rest] = here.text("few.csv").split("\n");
    const cells = first.split(",");
    const table = here.file("typed.csv", [head, [...cells.slice(0, 2), "800"].join(","), ...rest].join("\n"));
    const words = new RegExp(`probably wrong, but used as given.*${cells[0]}, time [\\d.]+, 800, expected about`);
    const placed = await run("embed", RUN, table, "--json");
    expect(placed.talk).toMatch(words);
    const { suspects, placements } = embedContract.parse(JSON.parse(placed.out));
    expect(suspects?.filter(({ value }) => value === 800)).toMatchObject([{ id: cells[0] }]);
    expect(placements.find(({ id }) => id === cells[0])?.suspects).toBeGreaterThan(0);
    for (const asked of [
      ["--at", "2"],
      ["--threshold", "60"],
    ]) {
      const { out, talk } = await run("predict", RUN, table, ...asked);
      expect(talk).toMatch(words);
      const [columns = [], ...rows] = rowsOf(out);
      const own = rows.find(([id]) => id === cells[0]);
      expect(Number(own?.[columns.indexOf("suspects")])).toBeGreaterThan(0);
    }
  });

  it("give a row with a reason for values that nothing can be computed of, and the others as before", async () => {
    const [head = "", first = "", ...rest] = here.text("few.csv").split("\n");
    const [id = "", time = ""] = first.split(",");
    const table = here.file("far.csv", [head, `${id},${time},1e30`, ...rest].join("\n"));
    for (const asked of [["embed"], ["predict", "--at", "2"], ["predict", "--threshold", "60"]]) {
      const [command = "", ...options] = asked;
      const [usual, far] = [await run(command, RUN, FEW, ...options), await run(command, RUN, table, ...options)];
      const [columns = [], ...rows] = rowsOf(far.out);
      const own = rows.find((row) => row[0] === id);
      expect(columns.at(-1)).toBe("reason");
      expect(own?.at(-1)).toContain("too far from what the model expects");
      expect(own?.[columns.indexOf(command === "embed" ? "x1" : options[0] === "--at" ? "mean" : "probability")]).toBe(
        "",
      );
      expect(far.talk).toContain("Nothing can be said of");
      const others = (all: string[][]) => all.filter((row) => row[0] !== id);
      expect(others(rows).map((row) => row.slice(0, -1))).toEqual(others(rowsOf(usual.out).slice(1)));
    }
  });

  it("predict at the times of everybody's own visits as at any others", async () => {
    const own = rowsOf((await run("predict", RUN, FEW, "--at", "visits", "-q")).out).slice(1);
    const seen = rowsOf(here.text("few.csv")).slice(1);
    expect(own.map(([id, time]) => `${id} ${time}`).sort()).toEqual(seen.map(([id, time]) => `${id} ${time}`).sort());
    const [first = []] = own;
    const asked = rowsOf((await run("predict", RUN, FEW, "--at", String(first[1]), "-q")).out);
    expect(asked.find(([id]) => id === first[0])).toEqual(first);
  });

  it("guess columns that are called otherwise, unless they are named", async () => {
    const other = here.file("other.csv", visits.replace("patient,years,fvc", "id,time,value"));
    const { out, code } = await run("embed", RUN, other, "-q");
    expect(code).toBe(0);
    expect(out).toBe((await run("embed", RUN, VISITS, "-q")).out);
    expect((await run("embed", RUN, other, "--value", "fvc")).code).toBe(3);
  });

  it("give bands that widen with the level and with measurement noise", async () => {
    const predicted = async (...more: string[]) => {
      const { out } = await run("predict", RUN, FEW, "--at", "2,8", "-q", ...more);
      const [header, first] = rowsOf(out);
      const weights = ["extrapolated", "model_weight", "suspects"];
      expect(header).toEqual(["id", "time", "mean", "sd", "lower", "upper", "median", ...weights]);
      expect(Number(first?.[8]) > 0 && Number(first?.[8]) < 1).toBe(true);
      return Number(first?.[5]) - Number(first?.[4]);
    };
    const usual = await predicted();
    expect(await predicted("--level", "0.5")).toBeLessThan(usual);
    expect(await predicted("--interval", "curve")).toBeLessThan(usual);
  });

  it("predict for somebody without visits, within the limits of the marker, and mark what nobody was followed to", async () => {
    const { out } = await run("predict", RUN, "--population", "--at", "1,8", "--limits", "60,90", "-q");
    const [, ...rows] = rowsOf(out);
    expect(rows.map(([id, time]) => [id, time])).toEqual([
      ["population", "1"],
      ["population", "8"],
    ]);
    for (const row of rows) {
      for (const cell of [row[2], row[4], row[5], row[6]]) {
        expect(Number(cell)).toBeGreaterThanOrEqual(60);
        expect(Number(cell)).toBeLessThanOrEqual(90);
      }
    }
    const far = rowsOf((await run("predict", RUN, "--population", "--at", "1,99", "-q")).out);
    expect(far.slice(1).map((row) => row[7])).toEqual(["0", "1"]);
    expect((await run("predict", RUN, "--population", "--at", "1", "--limits", "9,1")).code).toBe(2);
  });

  it("say when a threshold is crossed, and refuse what cannot be asked", async () => {
    const { out } = await run("predict", RUN, FEW, "--threshold", "60", "--below", "--from", "2", "-q");
    const [header, ...rows] = rowsOf(out);
    expect(header?.slice(0, 6)).toEqual(["id", "threshold", "direction", "from", "probability", "already"]);
    expect(rows).toHaveLength(10);
    for (const row of rows) {
      expect(row[2]).toBe("below");
      expect(Number(row[4])).toBeGreaterThanOrEqual(Number(row[5]));
      expect(Number(row[4])).toBeLessThanOrEqual(1);
    }
    expect((await run("predict", RUN, VISITS)).code).toBe(2);
    expect((await run("predict", RUN, VISITS, "--at", "5:1:1")).code).toBe(2);
    expect((await run("predict", RUN, VISITS, "--threshold", "60", "--above", "--below")).code).toBe(2);
    for (const [option, value] of [
      ["--interval", "curve"],
      ["--level", "0.5"],
      ["--scale", "model"],
      ["--limits", "0,100"],
    ] as const) {
      const { code, talk } = await run("predict", RUN, FEW, "--threshold", "60", option, value);
      expect([code, talk]).toEqual([2, expect.stringContaining(`${option}: expected with --at`)]);
    }
    const from = await run("predict", RUN, FEW, "--at", "2", "--from", "1");
    expect([from.code, from.talk]).toEqual([2, expect.stringContaining("--from: expected with --threshold")]);
  });
});

describe("an interrupted fit", () => {
  /** Runs a fit and sends a signal once it listens. */
  async function interrupted(signal: "SIGINT" | "SIGTERM", ...argv: string[]) {
    const before = process.listenerCount(signal);
    let sent = false;
    const timer = setInterval(() => {
      if (sent || process.listenerCount(signal) <= before) return;
      sent = true;
      process.emit(signal, signal);
    }, 5);
    try {
      return await run(...argv);
    } finally {
      clearInterval(timer);
    }
  }

  it("keeps its state, says how to go on, and then ends as if nothing had happened", async () => {
    const out = here.at("stopped");
    const stopped = await interrupted("SIGINT", "fit", VISITS, ...columns, "--time-unit", "years", "-o", out);
    expect(stopped.code).toBe(130);
    expect(stopped.talk).toContain(`dtm fit --resume ${out}`);
    expect(existsSync(here.at("stopped", "model.json"))).toBe(false);
    expect((await run("groups", out)).talk).toContain("unfinished");
    expect((await run("fit", "--resume", out, "-q")).code).toBe(0);
    expect(here.text("stopped", "model.json")).toBe(here.text("run", "model.json"));
    expect(existsSync(here.at("stopped", "unfinished"))).toBe(false);
  });

  it("gives 143 when it was asked to end", async () => {
    const out = here.at("ended");
    expect((await interrupted("SIGTERM", "fit", VISITS, ...columns, "-o", out, "--no-visits")).code).toBe(143);
    expect(existsSync(here.at("ended", "visits.csv"))).toBe(false);
    expect((await run("fit", "--resume", out)).code).toBe(2);
  });

  it("has a state that comes back bit for bit", () => {
    const state = {
      a: Float64Array.of(0.1, Number.NaN, -0),
      b: [Number.POSITIVE_INFINITY, -0, 1],
      c: Int32Array.of(7),
    };
    expect(decodeExact(encodeExact(state))).toStrictEqual(state);
  });
});

describe("outcomes and events", () => {
  it("must be named, and are refused with the columns there are", async () => {
    expect((await run("associate", RUN, SUBJECTS)).code).toBe(2);
    const unknown = await run("associate", RUN, SUBJECTS, "--outcomes", "sever", "--force");
    expect(unknown.code).toBe(3);
    expect(unknown.talk).toContain("severe");
    expect((await run("associate", RUN, SUBJECTS, "--event", "died", "--force")).code).toBe(2);
    expect((await run("report", RUN, "--outcomes", "severe", "-o", here.at("no.html"))).code).toBe(2);
  });
});

describe("a second fit into the folder of a run", () => {
  it("removes what was computed with the first model, and says so", async () => {
    const argv = ["fit", VISITS, ...columns, "--model", "lmm", "-o", here.at("twice")];
    expect((await run(...argv, "-q")).code).toBe(0);
    expect((await run("groups", here.at("twice"), "--groups", "2", "--stability", "0", "-q")).code).toBe(0);
    const { code, talk } = await run(...argv, "--force");
    expect(code).toBe(0);
    expect(talk).toContain("groups.json, groups.csv");
    expect(existsSync(here.at("twice", "groups.json"))).toBe(false);
    expect(JSON.parse(here.text("twice", "run.json"))).not.toHaveProperty("later");
  });
});

describe("commands as data", () => {
  it("are what the list says of them, and their summaries fit a terminal of 80 columns", async () => {
    for (const { name, usage, summary, load } of COMMANDS) {
      const command = await load();
      expect(command.name).toBe(name);
      const written = command.arguments.map(({ name: own, optional, variadic }) => {
        const shown = variadic === true ? `${own}...` : own;
        return optional === true ? `[${shown}]` : `<${shown}>`;
      });
      expect(usage).toBe(written.join(" "));
      expect(summary.length).toBeLessThanOrEqual(52);
    }
  });

  it("have distinct option names, each with a description", async () => {
    for (const { name, options } of await loadAll()) {
      const flags = options.map((option) => option.flags);
      expect(new Set(flags).size, name).toBe(flags.length);
      for (const { description } of options) expect(description.length).toBeGreaterThan(5);
    }
  });
});
