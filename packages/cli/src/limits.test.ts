/** Values below a limit of detection, from the table to forecasts. */
import { afterAll, describe, expect, it } from "vitest";
import { run, smallCohort, workplace } from "../test/harness.ts";

const here = workplace();
afterAll(here.clear);

const LIMIT = 60;
const [header = "", ...lines] = smallCohort(40).visits.trimEnd().split("\n");
let hidden = 0;
const cut = lines.map((line) => {
  const [id, time, value] = line.split(",");
  if (Number(value) >= LIMIT) return line;
  hidden++;
  return `${id},${time},<${LIMIT}`;
});
const VISITS = here.file("limits.csv", `${[header, ...cut].join("\n")}\n`);

describe("a table with values below a limit", () => {
  it("is inspected: how many, and which limits", async () => {
    const page = await run("inspect", VISITS);
    expect(page.code).toBe(0);
    expect(page.out).toContain(`Limits      ${hidden} values below or above a limit`);
    expect(page.out).toContain(`< ${LIMIT} (${hidden})`);
    const { limits } = JSON.parse((await run("inspect", VISITS, "--json", "-q")).out);
    expect(limits).toEqual([{ side: -1, limit: LIMIT, count: hidden }]);
  });

  it("is fitted, says so, and is kept so that the run can be placed and forecast again", async () => {
    const fitted = await run("fit", VISITS, "--model", "lmm", "-o", here.at("run"));
    expect(fitted.code).toBe(0);
    expect(fitted.talk).toContain(`${hidden} of ${lines.length} values of fvc are given as below or above a limit`);
    const again = await run("embed", here.at("run"), VISITS);
    expect(again.code).toBe(0);
    const { out } = await run("predict", here.at("run"), VISITS, "--at", "1,4");
    const [columns = "", first = ""] = out.split("\n");
    expect(columns.split(",").slice(-2)).toEqual(["limit", "below_limit"]);
    const cells = first.split(",").slice(-2).map(Number);
    expect(cells[0]).toBe(LIMIT);
    expect((cells[1] ?? -1) >= 0 && (cells[1] ?? 2) <= 1).toBe(true);
    expect((await run("predict", here.at("run"), VISITS, "--at", "1", "--interval", "curve")).out).not.toContain(
      "limit",
    );
  });

  it("is refused by the map as published, with the remedy", async () => {
    const { code, talk } = await run("fit", VISITS, "--model", "dtm-paper", "-o", here.at("paper"));
    expect(code).not.toBe(0);
    expect(talk).toContain('Use kind "dtm"');
  });
});
