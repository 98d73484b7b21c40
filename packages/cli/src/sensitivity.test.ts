/** What is asked of a run after its fit: its summary again, its coefficients, and whether it hangs on its choices. */
import { cpSync, rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { run, smallCohort, workplace } from "../test/harness.ts";

const here = workplace();
afterAll(here.clear);
const { visits, subjects } = smallCohort(60);
const VISITS = here.file("visits.csv", visits);
const SUBJECTS = here.file("subjects.csv", subjects);
const RUN = here.at("run");
const columns = ["--id", "patient", "--time", "years", "--value", "fvc", "--time-unit", "years"];
let fitted = "";

beforeAll(async () => {
  const { code, out } = await run("fit", VISITS, ...columns, "--model", "fpca", "-o", RUN, "-q");
  expect(code).toBe(0);
  fitted = out;
});

describe("dtm summary", () => {
  it("prints what the fit printed", async () => {
    const { code, out } = await run("summary", RUN, "-q");
    expect(code).toBe(0);
    expect(out.trimEnd()).toBe(fitted.slice(0, fitted.indexOf("\n\nWritten")));
  });

  it("adds what later commands found, and asks for visits that the run does not keep", async () => {
    const other = here.at("other");
    cpSync(RUN, other, { recursive: true });
    expect((await run("groups", other, "--groups", "3", "--stability", "0", "-q")).code).toBe(0);
    expect((await run("associate", other, SUBJECTS, "--outcomes", "severe", "--draws", "199", "-q")).code).toBe(0);
    const { out } = await run("summary", other, "-q");
    expect(out).toMatch(/^Groups {4}3 groups\n {10}A /m);
    expect(out).toMatch(/^Outcomes {2}severe p 0\.\d{4}$/m);
    rmSync(here.at("other", "visits.csv"));
    const refused = await run("summary", other, "-q");
    expect(refused.code).toBe(2);
    expect(refused.talk).toContain("Name the file they were read from: --visits FILE");
    const again = await run("summary", other, "--visits", VISITS, ...columns.slice(0, 6), "-q");
    expect(again.out).toBe(out);
  });
});

describe("dtm summary of a map", () => {
  it("has one verdict, with all evidence of the run", async () => {
    const map = here.at("map");
    expect((await run("fit", VISITS, ...columns, "--dim", "1", "--noise", "white", "-o", map, "-q")).code).toBe(0);
    expect((await run("groups", map, "--groups", "2", "--stability", "2", "-q")).code).toBe(0);
    const { out } = await run("summary", map, "-q");
    expect(out.match(/Starts and refits agree: /g)).toHaveLength(1);
    expect(out).toMatch(/^Trust {5}/m);
    expect(out).toContain("Refits to 80%");
  });
});

describe("dtm coef", () => {
  const rowsOf = (csv: string) =>
    csv
      .trimEnd()
      .split("\n")
      .map((row) => row.split(","));

  it("prints terms in the names of the R package, with the numbers of the model", async () => {
    const { out } = await run("coef", RUN, "-q");
    const [header, ...rows] = rowsOf(out);
    expect(header).toEqual(["marker", "term", "estimate", "lower", "upper", "unit"]);
    const { model } = JSON.parse(here.text("run", "model.json")) as {
      model: { markers: { noise: { variance: number }; mean: { coefficients: number[] } }[] };
    };
    const value = (term: string) => Number(rows.find(([, own]) => own === term)?.[2]);
    expect(value("noise.variance")).toBe(model.markers[0]?.noise.variance);
    expect([1, 2, 3, 4, 5].map((k) => value(`mean.${k}`))).toEqual(model.markers[0]?.mean.coefficients);
    expect(rows.filter(([, term]) => term?.startsWith("knot."))).toHaveLength(8);
  });

  it("has intervals of effects and shifts of covariates", async () => {
    const map = here.at("covariates");
    const wanted = ["--subjects", SUBJECTS, "--covariates", "severe,ward:category:level"];
    const small = ["--dim", "1", "--restarts", "0", "--tolerance", "0.1"];
    expect((await run("fit", VISITS, ...columns, ...wanted, ...small, "-o", map, "-q")).code).toBe(0);
    const { out } = await run("coef", map, "--json", "-q");
    const { coefficients } = JSON.parse(out) as {
      coefficients: { term: string; estimate: number; lower: number | null; upper: number | null }[];
    };
    const terms = coefficients.map(({ term }) => term);
    expect(terms).toEqual(expect.arrayContaining(["kernel.variance", "kernel.lengthscale", "map.share"]));
    const known = coefficients.filter(({ lower }) => lower !== null);
    expect(known.map(({ term }) => term)).toEqual(["level.ward.1", "level.ward.2", "shift.severe.axis1"]);
    for (const { estimate, lower, upper } of known) {
      expect(lower!).toBeLessThan(estimate);
      expect(upper!).toBeGreaterThan(estimate);
    }
  });
});

describe("dtm sensitivity", () => {
  it("prints a row for each change, a verdict, and what is left out", async () => {
    const { code, out, talk } = await run(
      "sensitivity",
      RUN,
      "--only",
      "mean,residual,noise,covariates,seed",
      "--folds",
      "0",
    );
    expect(code).toBe(0);
    expect(talk).toContain("The run has no groups yet");
    expect(out).toMatch(/^mean curve +yes +\d/m);
    expect(out).toMatch(/^Left out {2}another seed: this fit draws nothing at random\.$/m);
    expect(out).toMatch(/^Verdict {3}Groups hold \(ARI >= 0\.8\) in \d of 4 variants; worst: /m);
    expect(out).not.toContain("held-out score");
    const second = await run("sensitivity", RUN, "--only", "seed", "--folds", "0", "-q");
    expect(second.talk).toContain("sensitivity.json");
    expect(second.code).not.toBe(0);
  });

  it("tests the outcomes of the run again, and no others", async () => {
    const wanted = ["--only", "mean", "--folds", "0", "--subjects", SUBJECTS, "--force", "-q"];
    const early = await run("sensitivity", RUN, ...wanted);
    expect(early.code).toBe(2);
    expect(early.talk).toContain("Run dtm associate first");
    expect((await run("associate", RUN, SUBJECTS, "--outcomes", "severe", "--draws", "199", "-q")).code).toBe(0);
    const { out } = await run("sensitivity", RUN, ...wanted, "--json");
    const { variants, run: own } = JSON.parse(out) as {
      variants: { outcomes: { outcome: string; p: number }[] }[];
      run: { outcomes: { outcome: string; p: number }[] };
    };
    const { outcomes } = JSON.parse(here.text("run", "associate.json")) as { outcomes: { p: number }[] };
    expect(own.outcomes).toEqual([{ outcome: "severe", p: outcomes[0]?.p }]);
    expect(variants.map(({ outcomes: [tested] }) => [tested?.outcome, typeof tested?.p])).toEqual([
      ["severe", "number"],
    ]);
    const adjusted = await run("sensitivity", RUN, ...wanted, "--adjust", "ward");
    expect(adjusted.code).toBe(2);
    expect(adjusted.talk).toContain("expected none, as in the run's tests, received ward");
  });

  it("refuses what it cannot change", async () => {
    for (const [flag, value, words] of [
      ["--only", "colour", "expected names among dimension, basis"],
      ["--folds", "1", "expected 0 for no scores"],
      ["--tail", "1", "a share between 0 and 1"],
    ] as const) {
      const { code, talk } = await run("sensitivity", RUN, flag, value);
      expect(code).toBe(2);
      expect(talk).toContain(words);
    }
  });
});
