import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Finished, run, workplace } from "../test/harness.ts";

const here = workplace();
afterAll(here.clear);

describe("a run with covariates", () => {
  const [visits, subjects] = ["visits.csv", "subjects.csv"].map((name) => here.at("drawn", name)) as [string, string];
  const [places, mean] = [here.at("places"), here.at("mean")];
  let fitted: Finished;
  beforeAll(async () => {
    const drawn = ["--individuals", "120", "--covariates", "places", "--seed", "3", "-o", here.at("drawn")];
    await run("simulate", "markers", ...drawn);
    const [head] = here.text("drawn", "subjects.csv").split("\n");
    expect(head).toContain("c1");
    const asked = ["--subjects", subjects, "--covariates", "c1,c2", "--restarts", "0"];
    fitted = await run("fit", visits, ...asked, "-o", places);
    await run("fit", visits, ...asked, "--effects", "level", "-o", mean);
  });

  it("tells shifts of places, or effects in the mean, and keeps the covariates", async () => {
    expect(fitted.code).toBe(0);
    expect(fitted.out).toContain("Shifts");
    expect(fitted.out).toMatch(/c1, per 1 +./);
    expect(here.text("places", "covariates.csv").split("\n")[0]).toMatch(/^id,c1.*,c2$/);
    expect(here.text("mean", "model.json")).toContain('"form":"level"');
  });

  it.each([places, mean])("places the same people at the same places: %s", async (folder) => {
    const again = await run("embed", folder, visits, "--subjects", subjects);
    expect(again.code).toBe(0);
    const first = (text: string) => text.split("\n")[1]?.split(",").slice(0, 6);
    expect(first(again.out)).toEqual(first(here.text(folder === places ? "places" : "mean", "placements.csv")));
    const forecast = await run("predict", folder, visits, "--subjects", subjects, "--at", "1,2");
    expect(forecast.code).toBe(0);
    const groups = await run("groups", folder, "--groups", "2", "--stability", "0");
    expect(groups.code).toBe(0);
  });

  it("refuses to place without covariates, and to test one that is in the model", async () => {
    const without = await run("embed", places, visits);
    expect(without.code).not.toBe(0);
    expect(without.talk).toContain('column "c1"');
    const tested = await run("covariates", places, "--subjects", subjects, "--covariates", "c1");
    expect(tested.talk).toContain("not in the model");
  });
});
