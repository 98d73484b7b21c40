import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Finished, run, workplace } from "../test/harness.ts";
import { compareMarkersContract } from "./contract-compare.ts";
import { fitContract } from "./contract-fit.ts";
import { calibrateMarkersContract, predictContract, simulateContract } from "./contract-individuals.ts";

const here = workplace();
afterAll(here.clear);

describe("a run of two markers with covariates", () => {
  const folder = here.at("run");
  const [visits, subjects] = [here.at("drawn", "visits.csv"), here.at("drawn", "subjects.csv")];
  let fitted: Finished;
  beforeAll(async () => {
    const recipe = ["--num-markers", "2", "--covariates", "places", "--individuals", "50", "--seed", "1"];
    await run("simulate", "markers", ...recipe, "-o", here.at("drawn"));
    const markers = ["--marker-column", "marker", "--markers", "marker 1,marker 2"];
    const covariates = ["--subjects", subjects, "--covariates", "c1:category,c2,c4:level"];
    fitted = await run("fit", visits, ...markers, ...covariates, "--restarts", "0", "-o", folder);
  });

  it("tells shifts and effects, in the terminal and in the report in the same words", async () => {
    expect(fitted.code).toBe(0);
    expect(fitted.out).toMatch(/Shifts .*\n[\s\S]*c1, 1 against 0 /);
    expect(fitted.out).toMatch(/marker 2, level: c4, per 1 /);
    const { code } = await run("report", folder, "--no-compare", "--stability", "0", "-o", here.at("page.html"));
    expect(code).toBe(0);
    const page = here.text("page.html");
    for (const words of ["c1, 1 against 0", "marker 2, level: c4, per 1", "c2", "figure-shifts"]) {
      expect(page).toContain(words);
    }
  });

  it("tells them as JSON", async () => {
    const markers = ["--marker-column", "marker", "--markers", "marker 1,marker 2"];
    const asked = ["--subjects", subjects, "--covariates", "c1:category,c2:level", "--dim", "1", "--restarts", "0"];
    const { out } = await run("fit", visits, ...markers, ...asked, "-o", here.at("line"), "--json");
    const { covariates } = fitContract.parse(JSON.parse(out));
    expect(covariates?.shifts.map(({ covariate, shift }) => [covariate, shift.length])).toEqual([["c1", 1]]);
    expect(covariates?.effects.map(({ marker, quantity }) => `${marker} ${quantity}`)).toEqual([
      "marker 1 level",
      "marker 2 level",
    ]);
  });

  it("flags covariates far outside those fitted, and refuses those that follow from others", async () => {
    const [head = "", first = "", ...rest] = here.text("drawn", "subjects.csv").split("\n");
    const far = first.split(",").map((cell, k) => (head.split(",")[k] === "c4" ? "1e3" : cell));
    const table = here.file("far.csv", [head, far.join(","), ...rest].join("\n"));
    const words = `1 of 50 individuals have covariates far outside those fitted (c4; ${far[0]})`;
    const placed = await run("embed", folder, visits, "--subjects", table);
    expect([placed.code, placed.talk]).toEqual([0, expect.stringContaining(words)]);
    const { out, talk } = await run(
      "predict",
      folder,
      visits,
      "--subjects",
      table,
      "--at",
      "0.5",
      "--marker",
      "marker 1",
    );
    expect(talk).toContain(words);
    const flags = out.split("\n").map((line) => line.split(","));
    const at = flags[0]?.indexOf("extrapolated") ?? -1;
    expect(flags.find((cells) => cells[1] === far[0])?.[at]).toBe("1");
    const copied = here.file(
      "copied.csv",
      [`${head},copy`, ...[first, ...rest].filter(Boolean).map((line) => `${line},${line.split(",")[4]}`)].join("\n"),
    );
    const asked = ["--marker-column", "marker", "--markers", "marker 1", "--subjects", copied];
    const refused = await run("fit", visits, ...asked, "--covariates", "c4,copy", "-o", here.at("copied"));
    expect([refused.code, refused.talk]).toEqual([2, expect.stringContaining("[collinear]")]);
  });

  it("averages a population over its covariates, which a model file alone does not have", async () => {
    const asked = ["--population", "--at", "0.5,0.9", "--marker", "marker 1"];
    const { out, code } = await run("predict", folder, ...asked, "--json");
    expect(code).toBe(0);
    const { predictions } = predictContract.parse(JSON.parse(out)) as { predictions: { id: string; sd: number }[] };
    expect(predictions.map(({ id }) => id)).toEqual(["population", "population"]);
    const alone = await run("predict", here.at("run", "model.json"), ...asked);
    expect([alone.code, alone.talk]).toEqual([2, expect.stringContaining("the folder of a run that keeps its visits")]);
    const crossing = await run("predict", folder, "--population", "--threshold", "1", "--marker", "marker 1");
    expect([crossing.code, crossing.talk]).toEqual([2, expect.stringContaining("Expected --at, not --threshold")]);
  });

  it("is compared with the mixed model that knows the covariates, over repeats", async () => {
    const { out, code } = await run("compare", folder, "--dim", "1", "--folds", "2", "--repeats", "2", "--json");
    expect(code).toBe(0);
    const { models, folds, repeats, numIndividuals } = compareMarkersContract.parse(JSON.parse(out));
    expect(models.map(({ model }) => model)).toContain("lmm-covariates");
    expect([folds, repeats, numIndividuals]).toEqual([2, 2, 50]);
    const refused = await run("compare", folder, "--covariates", "c1", "--force");
    expect([refused.code, refused.talk]).toEqual([2, expect.stringContaining("those of its model")]);
  });

  it("is calibrated marker by marker", async () => {
    const { out, code } = await run("calibrate", folder, "--folds", "2", "--json");
    expect(code).toBe(0);
    const { markers } = calibrateMarkersContract.parse(JSON.parse(out));
    expect(markers.map(({ marker }) => marker)).toEqual(["marker 1", "marker 2"]);
    const asked = ["--at", "1", "--marker", "marker 2", "--subjects", subjects, "--json"];
    const upper = async (interval: string) => {
      const predicted = await run("predict", folder, visits, ...asked, "--interval", interval, "--level", "0.8");
      expect([predicted.code, predicted.talk]).toEqual([0, expect.not.stringContaining("error")]);
      const json: unknown = JSON.parse(predicted.out);
      expect(predictContract.safeParse(json).error?.issues ?? []).toEqual([]);
      return (json as { predictions: { upper: number }[] }).predictions.map((row) => row.upper);
    };
    const own = await upper("observation");
    expect(await upper("conformal")).not.toEqual(own);
  });

  it("is drawn from: the same visits, or new ones with covariates of the run", async () => {
    const again = await run("simulate", folder, "-o", here.at("again"));
    expect(again.code).toBe(0);
    const [head, first] = here.text("again", "subjects.csv").split("\n");
    expect(head).toBe("id,c1,c2,c4,x1,x2");
    const own = here.text("drawn", "subjects.csv").split("\n")[1]?.split(",") ?? [];
    const [id, c1, c2, c4] = first?.split(",") ?? [];
    expect([id, c1, c4]).toEqual([own[0], own[1], own[4]]);
    expect(Number(c2)).toBeCloseTo(Number(own[2]), 10);
    const drawn = await run("simulate", folder, "--individuals", "30", "--json");
    const json = simulateContract.parse(JSON.parse(drawn.out));
    expect([json.individuals, json.markers?.length]).toEqual([30, 2]);
    const refused = await run("simulate", here.at("run", "model.json"));
    expect([refused.code, refused.talk]).toEqual([2, expect.stringContaining("the folder of a run")]);
  });
});
