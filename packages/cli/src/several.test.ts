import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Finished, run, workplace } from "../test/harness.ts";
import { compareMarkersContract } from "./contract-compare.ts";
import { fitContract } from "./contract-fit.ts";
import { predictContract } from "./contract-individuals.ts";

const here = workplace();
afterAll(here.clear);

/** Two markers of 60 individuals with the same place, as a wide table with empty cells, and a table of individuals. */
async function simulated(): Promise<{ visits: string; subjects: string }> {
  await run("simulate", "markers", "--individuals", "60", "--seed", "4", "-o", here.at("drawn"));
  const [, ...rows] = here.text("drawn", "visits.csv").trim().split("\n");
  const wide = rows.map((row) => {
    const [id, marker, time, value] = row.split(",");
    return marker === "marker 1" ? `${id},${time},${value},` : `${id},${time},,${value}`;
  });
  const ids = [...new Set(rows.map((row) => row.split(",")[0]))];
  const last = new Map(rows.map((row) => [row.split(",")[0], 0]));
  for (const row of rows) {
    const [id, , time] = row.split(",");
    last.set(id, Math.max(last.get(id)!, Number(time)));
  }
  const subjects = ids.map((id, i) => `${id},${i % 2},${(last.get(id)! * (1.1 + 0.1 * (i % 5))).toFixed(4)}`);
  return {
    visits: here.file("visits.csv", `id,time,alpha,beta\n${wide.join("\n")}\n`),
    subjects: here.file("subjects.csv", `id,event,years\n${subjects.join("\n")}\n`),
  };
}

describe("a run of several markers", () => {
  let visits: string;
  let subjects: string;
  let fitted: Finished;
  const folder = here.at("run");
  beforeAll(async () => {
    ({ visits, subjects } = await simulated());
    const markers = ["--markers", "alpha,beta[g]", "--time-unit", "years"];
    fitted = await run("fit", visits, ...markers, "--noise", "level", "--restarts", "0", "-o", folder, "--json");
  });

  it("is fitted with a verdict on sharing, and tells of each marker", async () => {
    expect(fitted.code).toBe(0);
    const { run: record } = fitContract.parse(JSON.parse(fitted.out));
    expect(record.markers?.map(({ name }) => name)).toEqual(["alpha", "beta"]);
    expect(record.sharing?.sentences[0]).toContain("One map is supported");
    expect(record.sharing?.markers.map(({ numIndividuals }) => numIndividuals)).toEqual([60, 60]);
    const [head] = here.text("run", "placements.csv").split("\n");
    expect(head).toBe(
      "id,x1,x2,var11,var12,var22,visits,first_time,last_time,visits_alpha,visits_beta," +
        "noise_ratio_alpha,noise_ratio_lower_alpha,noise_ratio_upper_alpha,noise_ratio_beta,noise_ratio_lower_beta,noise_ratio_upper_beta",
    );
    expect(here.text("run", "visits.csv").split("\n")[0]).toBe("id,marker,time,value");
  });

  it("counts the observations of each marker by itself", async () => {
    const { out } = await run("fit", visits, "--markers", "alpha,beta[g]", "--dry-run");
    const told = out.replace(/\s+/g, " ");
    expect(told).toMatch(
      /Cohort 60 individuals, \d+ values of 2 markers alpha: \d+ in all, \d+ observations in the median/,
    );
    expect(told).toMatch(
      /beta \(g\): \d+ in all, \d+ observations in the median individual \(\d+ to \d+; \d+ with one/,
    );
  });

  it("places and forecasts each marker, also of those who lack one", async () => {
    const one = here.file("one.csv", "id,time,alpha\nnew,0.1,11\nnew,0.6,12\n");
    const placed = await run("embed", folder, one);
    expect(placed.code).toBe(0);
    expect(placed.talk).toContain('no column "beta"');
    const all = await run("predict", folder, one, "--at", "0.9");
    expect(all.out.split("\n").map((row) => row.split(",").slice(0, 3).join(","))).toEqual([
      "marker,id,time",
      "alpha,new,0.9",
      "beta,new,0.9",
      "",
    ]);
    const beta = await run("predict", folder, one, "--at", "0.9", "--marker", "beta", "--json");
    const json = predictContract.parse(JSON.parse(beta.out));
    expect(json.marker.name).toBe("beta");
    const linear = await run("predict", here.at("run", "baselines", "lmm.json"), one, "--at", "0.9");
    expect(linear.out.split("\n")).toHaveLength(4);
    const refused = await run("predict", folder, one, "--threshold", "12");
    expect([refused.code, refused.talk]).toEqual([2, expect.stringContaining("Add --marker, one of alpha, beta")]);
    const crossed = await run("predict", folder, one, "--threshold", "12", "--marker", "alpha");
    expect(crossed.code).toBe(0);
  });

  it("is grouped, tested, compared and reported", async () => {
    const groups = await run("groups", folder, "--stability", "0", "--groups", "2");
    expect(groups.code).toBe(0);
    expect(groups.out).toMatch(/A {2}beta/);
    const tested = await run(
      ...["associate", folder, subjects, "--outcomes", "event", "--event", "event:years", "--draws", "99"],
    );
    expect([tested.code, tested.talk]).toEqual([0, expect.not.stringContaining("error")]);
    const compared = await run("compare", folder, "--folds", "2", "--noise", "white", "--json");
    const { models, markers } = compareMarkersContract.parse(JSON.parse(compared.out));
    expect(models.map(({ model }) => model)).toEqual(["dtm", "dtm-separate", "lmm", "lmm-separate"]);
    expect(markers.map(({ marker }) => marker)).toEqual(["alpha", "beta"]);
    const report = await run(
      "report",
      folder,
      "--subjects",
      subjects,
      "--outcomes",
      "event",
      "-o",
      here.at("page.html"),
    );
    expect([report.code, report.talk]).toEqual([0, expect.not.stringContaining("error")]);
    const page = here.text("page.html");
    expect(page).toContain("Courses of alpha and beta");
    expect(page).toContain("Several markers on one map");
    expect(page).toContain("Where individuals are: beta");
    expect(page).toContain("shared by all markers");
  });
});
