import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { run, smallCohort, workplace } from "../../test/harness.ts";
import { calibrateContract, predictContract } from "../contract-individuals.ts";

const here = workplace();
afterAll(here.clear);
const RUN = here.at("run");
const columns = ["--id", "patient", "--time", "years", "--value", "fvc"];
let visits: string;

beforeAll(async () => {
  visits = here.file("visits.csv", smallCohort(90).visits);
  const { code } = await run("fit", visits, ...columns, "--time-unit", "years", "--model", "fpca", "-o", RUN, "-q");
  expect(code).toBe(0);
});

function widths(text: string): number[] {
  const json: unknown = JSON.parse(text);
  expect(predictContract.safeParse(json).error?.issues ?? []).toEqual([]);
  return (json as { predictions: { lower: number; upper: number }[] }).predictions.map(
    ({ lower, upper }) => upper - lower,
  );
}

describe("dtm calibrate", () => {
  it("is needed before calibrated bands", async () => {
    const { code, talk } = await run("predict", RUN, visits, ...columns, "--at", "9", "--interval", "conformal", "-q");
    expect(code).not.toBe(0);
    expect(talk).toContain("dtm calibrate");
  });

  it("writes factors into the model file, which bands of predictions take up", async () => {
    const { code, out } = await run("calibrate", RUN, "--folds", "3", "--json", "-q");
    expect(code).toBe(0);
    expect(calibrateContract.safeParse(JSON.parse(out)).error?.issues ?? []).toEqual([]);
    const predicted = (...more: string[]) =>
      run("predict", RUN, visits, ...columns, "--at", "9", ...more, "--json", "-q");
    const [own, calibrated] = [await predicted(), await predicted("--interval", "conformal")];
    expect(calibrated.code).toBe(0);
    const [a, b] = [widths(own.out), widths(calibrated.out)];
    expect(b.some((w, k) => Math.abs(w - (a[k] ?? 0)) > 1e-6)).toBe(true);
    expect((await predicted("--interval", "conformal", "--level", "0.7")).code).not.toBe(0);
  });

  it("prints a table, is recorded, and refuses individuals who were in the fit", async () => {
    const { out } = await run("calibrate", RUN, "-q");
    expect(out).toMatch(/visits known .*after 0 to/);
    expect(out).toContain("5 to 8");
    expect(here.text("run", "run.json")).toContain('"calibrate"');
    // A model without a map has the first light alone.
    expect(JSON.parse(here.text("run", "run.json"))).toMatchObject({ map: { lights: [{ name: "settled" }] } });
    const { code, talk } = await run("calibrate", RUN, "--new-visits", visits, ...columns, "-q");
    expect(code).toBe(2);
    expect(talk).toContain("90 individuals who were");
  });

  it("refuses too few new individuals and keeps the calibration there is", async () => {
    const before = here.text("run", "model.json");
    for (const rows of ["new,0,80\nnew,1,79\nnew,3,75\n", "new,0,80\n"]) {
      const one = here.file("one.csv", `patient,years,fvc\n${rows}`);
      const { code, talk } = await run("calibrate", RUN, "--new-visits", one, ...columns, "-q");
      expect(code).toBe(3);
      expect(talk).toMatch(/expected 20 individuals or more .* Add individuals who were not in the fit/);
      expect(here.text("run", "model.json")).toBe(before);
    }
  });

  it("marks classes that count others in, and those with individuals enough not", async () => {
    const { out } = await run("calibrate", RUN, "-q");
    const { out: text } = await run("calibrate", RUN, "--json", "-q");
    const { classes } = calibrateContract.parse(JSON.parse(text));
    const marks = out.slice(out.indexOf("visits known"), out.indexOf("\n\n*:")).match(/\d\*/g) ?? [];
    expect(marks).toHaveLength(classes.filter(({ borrowed }) => borrowed).length);
    expect(marks.length).toBeGreaterThan(0);
    expect(marks.length).toBeLessThan(classes.length);
    expect(out).toContain("*: too few individuals with so many visits known");
  });

  it("writes nothing over fewer than twenty individuals, and no exact value of a visit", async () => {
    const few = here.file("eighteen.csv", smallCohort(18, 5).visits);
    const folder = here.at("eighteen");
    expect((await run("fit", few, ...columns, "--model", "lmm", "-o", folder, "-q")).code).toBe(0);
    const before = here.text("eighteen", "model.json");
    const { code, talk } = await run("calibrate", folder, "-q");
    expect(code).toBe(3);
    expect(talk).toMatch(/expected 20 individuals or more .* would tell single visits in a file that may be shared/);
    expect(here.text("eighteen", "model.json")).toBe(before);
    const { out } = await run("calibrate", RUN, "--folds", "3", "--json", "-q");
    const { classes, horizonFrom } = calibrateContract.parse(JSON.parse(out));
    const factors = classes.flatMap(({ lower, upper }) => [...lower, ...upper]).filter((c) => c !== null);
    expect(factors.every((c) => Math.abs(100 * c - Math.round(100 * c)) < 1e-9)).toBe(true);
    expect(horizonFrom.every((t) => String(t).length <= 5)).toBe(true);
  });

  it("says for which levels there are too few, and shows the highest there is", async () => {
    const few = here.file("few.csv", smallCohort(40, 5).visits);
    const folder = here.at("few");
    const fitted = await run("fit", few, ...columns, "--model", "lmm", "--no-visits", "-o", folder, "-q");
    expect(fitted.code).toBe(0);
    const refused = await run("calibrate", folder, "-q");
    expect(refused.code).toBe(2);
    expect(refused.talk).toContain("--visits FILE");
    const { code, out } = await run("calibrate", folder, "--visits", few, ...columns, "-q");
    expect(code).toBe(0);
    expect(out).toMatch(
      /Too few for levels of 95%: these need 39 individuals with two visits or more, and there are [23]\d\. Calibrated levels: 50%, 80%, 90%\./,
    );
    expect(out).toMatch(/^Calibrated on [23]\d of 40 individuals of the run, those with two visits or more/);
    expect(out).toMatch(/\n1 +\d\.\d\d, \d\.\d\d\*/);
    expect(out).not.toContain("-, -");
  });
});
