/** Cohorts that no model can be fitted to, outcomes that cannot be tested, and models that were tampered with: the same refusal at every door. */
import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSession } from "../packages/app/src/worker/session.ts";
import { run, smallCohort, workplace } from "../packages/cli/test/harness.ts";
import { readOutcomes, readSubjects } from "../packages/core/src/doors/ingest.ts";
import {
  type Cohort,
  DtmError,
  embed,
  fitDtm,
  fitFpca,
  fitLmm,
  loadModel,
  readCohort,
  saveModel,
} from "../packages/core/src/index.ts";

const here = workplace();
afterAll(here.clear);

function codeOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof DtmError) return error.code;
    throw error;
  }
  return "taken";
}

const table = (rows: readonly string[]) => `id,time,value\n${rows.join("\n")}\n`;
const many = (count: number, row: (k: number) => string) => Array.from({ length: count }, (_, k) => row(k));
/** Thirty individuals of five visits each. */
const usual = many(150, (k) => `p${k % 30},${Math.floor(k / 30) + (k % 7) / 10},${60 + ((k * 37) % 23)}`);

const COHORTS: readonly [number, string, readonly string[], string, readonly string[], object][] = [
  [62, "everybody at one time", usual.map((row) => row.replace(/,[^,]+,/, ",2,")), "one-time", [], {}],
  [
    63,
    "fewer times than functions of the basis",
    usual.map((row, k) => row.replace(/,[^,]+,/, `,${Math.floor(k / 30) % 3},`)),
    "basis-too-large",
    ["--basis", "8"],
    { numBasis: 8 },
  ],
  [73, "one individual", many(9, (k) => `p,${k},${60 + k}`), "too-few-individuals", [], {}],
  [73, "two individuals", many(18, (k) => `p${k % 2},${k},${60 + k}`), "too-few-individuals", [], {}],
  [74, "one observation each", many(40, (k) => `p${k},${k / 3},${60 + (k % 7)}`), "one-observation-each", [], {}],
  [75, "one value throughout", usual.map((row) => row.replace(/[^,]+$/, "71")), "no-variation", [], {}],
];

describe.each(COHORTS)("%i, %s", (_, __, rows, code, flags, options) => {
  it("is refused by every model of the library", () => {
    const { cohort } = readCohort(table(rows), { keepRepeats: true });
    for (const model of [fitLmm, fitFpca, fitDtm]) {
      expect([model.name, codeOf(() => model(cohort, options))]).toEqual([model.name, code]);
    }
  });

  it("is refused on the command line, and nothing is written", async () => {
    const visits = here.file("visits.csv", table(rows));
    const argv = ["fit", visits, "-o", here.at("run"), "--keep-repeats", "-j", "1", ...flags];
    const { code: exit, talk } = await run(...argv);
    expect([exit, existsSync(here.at("run"))]).toEqual([code === "basis-too-large" ? 2 : 3, false]);
    expect(talk).toContain(`[${code}]`);
  });

  it("is refused in the explorer", async () => {
    const session = createSession();
    await session.preview(new Blob([table(rows)]), "visits.csv");
    await session.read({ keepRepeats: true });
    const fit = session.fit({ kind: "dtm", mapDimension: 2, mean: "spline", seed: 1, ...options }, () => {});
    await expect(fit).rejects.toMatchObject({ code });
  });
});

describe("cohorts that are unusual and no worse for it", () => {
  const { cohort } = readCohort(table(usual));
  const scaled = (by: number): Cohort => ({
    ...cohort,
    markers: cohort.markers.map((series) => ({ ...series, values: series.values.map((value) => value * by) })),
  });

  it("76: one individual is constant", () => {
    const rows = usual.map((row) => (row.startsWith("p3,") ? row.replace(/[^,]+$/, "71") : row));
    expect(embed(fitLmm(readCohort(table(rows)).cohort), cohort).location.every(Number.isFinite)).toBe(true);
  });

  it("77: values times 10^12 and 10^-12 give the same places", () => {
    const places = (by: number) => embed(fitLmm(scaled(by)), scaled(by)).location;
    const expected = places(1);
    for (const by of [1e12, 1e-12]) {
      // An axis may point the other way.
      const apart = places(by).map((value, k) => Math.abs(Math.abs(value) - Math.abs(expected[k] ?? 0)));
      expect(Math.max(...apart)).toBeLessThan(1e-6);
    }
  });

  it("78: twins land on one place", () => {
    const twins = readCohort(table([...usual, ...usual.map((row) => `twin-${row}`)])).cohort;
    const { location } = embed(fitLmm(twins), twins);
    const placeOf = (id: string) => [...location.subarray(2 * twins.ids.indexOf(id), 2 * twins.ids.indexOf(id) + 2)];
    for (const id of cohort.ids) expect(placeOf(`twin-${id}`)).toEqual(placeOf(id));
  });
});

describe("outcomes", () => {
  const subjects = (rows: readonly string[]) => readSubjects(`id,death\n${rows.join("\n")}\n`).table;
  const ids = many(30, (k) => `p${k}`);
  const outcome = (rows: readonly string[]) => () => readOutcomes(["death"], subjects(rows), ids);

  it("71: unknown ids are counted, contradictions refused", () => {
    expect(outcome([...many(30, (k) => `p${k},${k % 2}`), "x,1", "y,0"])().warnings).toMatchObject([
      { code: "unknown-ids", count: 2 },
    ]);
    expect(codeOf(outcome([...many(30, (k) => `p${k},${k % 2}`), "p0,1"]))).toBe("contradicting-outcome");
  });

  it("72: three values and one class are refused, on the command line too", async () => {
    const three = many(30, (k) => `p${k},${["yes", "no", "unknown"][k % 3]}`);
    const one = many(30, (k) => `p${k},1`);
    expect([codeOf(outcome(three)), codeOf(outcome(one))]).toEqual(["many-values", "one-class"]);
    const made = await run("fit", here.file("v.csv", table(usual)), "-o", here.at("fitted"), "--model", "lmm", "-q");
    expect(made.code).toBe(0);
    for (const [rows, code] of [
      [three, "many-values"],
      [one, "one-class"],
    ] as const) {
      const file = here.file("subjects.csv", `id,death\n${rows.join("\n")}\n`);
      const { code: exit, talk } = await run("associate", here.at("fitted"), file, "--outcomes", "death", "-j", "1");
      expect([exit, existsSync(here.at("fitted", "associate.json"))]).toEqual([3, false]);
      expect(talk).toContain(`[${code}]`);
    }
  });
});

describe("saved models", () => {
  let text: string;
  const { visits } = smallCohort(20);
  beforeAll(() => {
    text = saveModel(fitLmm(readCohort(visits, { columns: { id: "patient", time: "years", value: "fvc" } }).cohort));
  });
  const CHANGES: readonly [number, string, (text: string) => string, readonly string[]][] = [
    [82, "cut in the middle", (text) => text.slice(0, text.length >> 1), ["bad-json"]],
    [
      88,
      "with a digit changed",
      (text) => text.replace(/(\d)(\d{6})/, (_, a, b) => `${(Number(a) + 1) % 10}${b}`),
      ["checksum"],
    ],
    [89, "of a newer format", (text) => text.replace(/"formatVersion":\d+/, '"formatVersion":99'), ["newer-format"]],
    [91, "with a key twice", (text) => text.replace('"model":{', '"model":{"kind":"lmm",'), ["bad-json"]],
    [91, "with a key __proto__", (text) => text.replace('"model":{', '"model":{"__proto__":{"a":1},'), ["bad-json"]],
  ];

  it.each(CHANGES)("%i: %s", async (_, __, change, codes) => {
    const changed = change(text);
    expect(changed).not.toBe(text);
    const code = codeOf(() => loadModel(changed));
    expect(codes).toContain(code);
    expect(Object.keys(Object.prototype)).toEqual([]);
    // Command line: placing, coefficients, serving; explorer.
    const file = here.file("model.json", changed);
    const v = here.file("visits.csv", visits);
    const columns = ["--id", "patient", "--time", "years", "--value", "fvc"];
    for (const argv of [
      ["embed", file, v, ...columns],
      ["coef", file],
      ["serve", file],
      ["calculator", file, "-o", here.at("page.html")],
    ]) {
      const { code: exit, talk } = await run(...argv);
      expect([argv[0], exit]).toEqual([argv[0], 3]);
      expect(talk).toContain(`[${code}]`);
    }
    expect(existsSync(here.at("page.html"))).toBe(false);
    const session = createSession();
    await session.example("pfvc", 4);
    await expect(session.openModel(changed)).rejects.toMatchObject({ code });
  });
});
