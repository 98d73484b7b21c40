/** Resources of FHIR on the command line: the bundled sample fitted by one command, its individuals, refusals. */
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { run, workplace } from "../test/harness.ts";

const here = workplace();
afterAll(here.clear);
const SAMPLE = fileURLToPath(new URL("../../../examples/fhir", import.meta.url));
const creatinine = ["--fhir", SAMPLE, "--code", "38483-4"];

describe("a folder of resources", () => {
  it("is fitted by one command, and placed and forecast by its run", async () => {
    const out = here.at("subjects.csv");
    const fitted = await run(
      "fit",
      ...creatinine,
      "--model",
      "lmm",
      "-o",
      here.at("run"),
      "--condition",
      "15777000",
      "--subjects-out",
      out,
    );
    expect(fitted.code).toBe(0);
    expect(fitted.out).toContain("35 individuals, 371 observations of Creatinine (mg/dL)");
    const record = JSON.parse(here.text("run", "run.json"));
    expect(record).toMatchObject({ source: "fhir", marker: { unit: "mg/dL", timeUnit: "years" } });
    expect(record.notes).toContainEqual(expect.stringContaining("since the first visit"));
    const [header, ...people] = here.text("subjects.csv").trim().split("\n");
    expect(header).toBe(
      "id,sex,age,death,death_time,condition_15777000,condition_15777000_new,condition_15777000_time",
    );
    expect(people).toHaveLength(35);
    expect((await run("embed", here.at("run"), ...creatinine)).out.trim().split("\n")).toHaveLength(36);
    expect((await run("predict", here.at("run"), ...creatinine, "--at", "5")).code).toBe(0);
    const tested = await run("associate", here.at("run"), out, "--outcomes", "condition_15777000", "--draws", "99");
    expect(tested.code).toBe(0);
  });

  it("without a code is listed: codes with values, individuals and units; conditions; deaths", async () => {
    const { code, out } = await run("inspect", "--fhir", SAMPLE);
    expect(code).toBe(0);
    expect(out).toMatch(/loinc\|38483-4 +Creatinine +371 +35 +mg\/dL/);
    expect(out).toMatch(/loinc\|33914-3 +.* 171 +\d+ +mL\/min \(112\), mL\/min\/\{1\.73_m2\} \(59\)/);
    expect(out).toMatch(/snomed\|15777000 +Prediabetes +\d+/);
    expect(out).toMatch(/\d+ Patients, of whom \d+ died/);
    const listed = JSON.parse((await run("inspect", "--fhir", SAMPLE, "--json")).out);
    expect(listed.codes).toHaveLength(2);
  });

  it("gives covariates by itself", async () => {
    const fitted = await run("fit", ...creatinine, "--covariates", "age", "--dim", "1", "--dry-run");
    expect(fitted.code).toBe(0);
    expect(fitted.out).toContain("covariates.csv");
    const unknown = await run("fit", ...creatinine, "--covariates", "height", "--dry-run");
    expect(unknown.talk).toContain("height");
  });

  it("with one marker in two units is refused once, until it is said what one means", async () => {
    const egfr = ["inspect", "--fhir", SAMPLE, "--code", "33914-3"];
    const refused = await run(...egfr);
    expect(refused.code).not.toBe(0);
    expect(refused.talk.match(/\[other-unit\]/g)).toHaveLength(1);
    expect(refused.talk).toContain("--unit-means");
    const { out, talk } = await run(...egfr, "--unit-means", "mL/min=mL/min/{1.73_m2}");
    expect(out).toContain("171 observations");
    expect(talk).toContain("112 values of");
  });

  it("gives several markers, one for each --code", async () => {
    const both = ["--code", "crea:log=38483-4", "--code", "egfr[mL/min/1.73m2]=loinc|33914-3"];
    const { out } = await run("inspect", "--fhir", SAMPLE, ...both, "--unit-means", "mL/min=mL/min/1.73m2");
    expect(out).toContain("542 observations of 2 markers");
    expect(out).toMatch(/crea +log +mg\/dL/);
  });

  it("tells what was left out in a table", async () => {
    const code = { coding: [{ system: "http://loinc.org", code: "1" }] };
    const observation = (id: string, more: object) =>
      JSON.stringify({
        resourceType: "Observation",
        id,
        status: "final",
        code,
        subject: { reference: `Patient/${id}` },
        effectiveDateTime: "2020-01-01",
        valueInteger: 5,
        ...more,
      });
    const file = here.file(
      "o.ndjson",
      [
        observation("a", {}),
        observation("b", { status: "cancelled" }),
        observation("c", { effectiveDateTime: "2020-03" }),
      ].join("\n"),
    );
    const { talk } = await run("inspect", "--fhir", file, "--code", "1");
    expect(talk).toMatch(/count +found +what was done/);
    expect(talk).toMatch(/1 +Observations that were cancelled +left out/);
    expect(talk).toMatch(/1 +dates without a day +left out; take them with --partial-dates middle/);
    const { out } = await run(
      "inspect",
      "--fhir",
      file,
      "--code",
      "1",
      "--partial-dates",
      "middle",
      "--fhir-status",
      "final,cancelled",
    );
    expect(out).toContain("3 individuals");
  });

  it("is refused where options do not go with it", async () => {
    expect((await run("fit", "--fhir", SAMPLE)).talk).toContain("--code");
    expect((await run("inspect", "--fhir", SAMPLE, "--value", "x")).talk).toContain("--value");
    expect((await run("inspect", "visits.csv", ...creatinine)).talk).toContain("instead of a table");
    expect((await run("inspect", ...creatinine, "--value", "x")).talk).toContain("--value");
    expect((await run("inspect", "visits.csv", "--code", "1")).talk).toContain("expected with --fhir");
    expect((await run("inspect", "visits.csv", "--fhir-strings")).talk).toContain("expected with --fhir");
    expect((await run("inspect", "--fhir", here.at("none"), "--code", "1")).talk).toContain("no file");
    expect((await run("inspect", ...creatinine, "--time-unit", "hours")).talk).toContain("years, months, weeks, days");
    expect((await run("inspect")).talk).toContain("--fhir");
  });
});
