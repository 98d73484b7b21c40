/** Doors of the import besides plain tables: files and folders of FHIR, encodings, dates of two orders, units of several markers. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { accessibilityViolations } from "../browser.ts";
import { browserOfFile } from "../browser-of-file.ts";
import { ROOT } from "../root.ts";
import { dropFile, dropFiles, type ExplorerPage, expectText, openExplorer } from "./explorer-page.ts";

const chromium = browserOfFile();
const SAMPLE = join(ROOT, "examples", "fhir");

let explorer: ExplorerPage;
let page: Page;

beforeEach(async () => {
  explorer = await openExplorer(chromium);
  page = explorer.page;
});

afterEach(async () => {
  const problems = explorer.problems();
  await explorer.close();
  expect(problems).toEqual([]);
});

const press = (name: string) => page.getByRole("button", { name, exact: true }).click();
const main = () => page.locator("main");

describe("files of FHIR", () => {
  it("of a folder are listed by code, read with what was left out, and bring conditions as outcomes", async () => {
    // A folder as the desktop drops it: a page itself cannot make one.
    const devtools = await page.context().newCDPSession(page);
    const data = { items: [], files: [SAMPLE], dragOperationsMask: 1 };
    for (const type of ["dragEnter", "dragOver", "drop"] as const) {
      await devtools.send("Input.dispatchDragEvent", { type, x: 300, y: 300, data });
    }
    await expectText(main(), "FHIR resources with 2 codes that have numbers. 35 Patients");
    const codes = page.getByRole("table", { name: "Codes with numbers" });
    await expectText(codes.getByRole("row").nth(1), "loinc|38483-4");
    await expectText(codes.getByRole("row").filter({ hasText: "38483-4" }), /Creatinine.*371\s*35\s*mg\/dL/);
    const check = page.getByRole("button", { name: "Check the data", exact: true });
    expect(await check.isDisabled()).toBe(true);
    // One code in two units, of which no rule leads from one to the other until it is said what is meant.
    const egfr = page.getByRole("checkbox", { name: /^Glomerular filtration/ });
    await egfr.check();
    await page.getByLabel("Unit of loinc|33914-3").fill("mL/min/{1.73_m2}");
    await page.getByLabel("Values in mL/min of loinc|33914-3").selectOption("meant");
    expect(await accessibilityViolations(page)).toEqual([]);
    await check.click();
    await expectText(main(), "171 observations of 16 individuals");
    await press("Back");
    await egfr.uncheck();
    await page.getByRole("checkbox", { name: "Creatinine", exact: true }).check();
    await page.getByRole("checkbox", { name: /Prediabetes/ }).check();
    await check.click();
    await expectText(main(), "371 observations of 35 individuals");
    await press("Next");
    await expectText(main(), "371 observations of 35 individuals from 3 files of FHIR, years 0 to");
    // Nobody died. When a condition came is no covariate.
    await expectText(main(), /Which are outcomes\? condition_15777000 25 of 35 .*Which are covariates\? sex age Where/);
    expect(await page.locator(".banner.bad").count()).toBe(0);
  });

  it("as one Bundle tell what was left out and why, and are not taken for a model", async () => {
    const value = (person: string, day: number, more = {}) => ({
      resourceType: "Observation",
      id: `${person}${day}`,
      status: "final",
      code: { coding: [{ system: "http://loinc.org", code: "2160-0", display: "Creatinine" }] },
      subject: { reference: `Patient/${person}` },
      effectiveDateTime: `2020-01-${day}`,
      valueQuantity: { value: 1 + day / 100, unit: "mg/dL" },
      ...more,
    });
    const resources = [
      ...["a", "b", "c"].flatMap((person) => [11, 12, 15].map((day) => value(person, day))),
      value("a", 20, { status: "preliminary" }),
      value("a", 21, { status: "entered-in-error" }),
      value("b", 22, { valueQuantity: undefined, valueString: "1.4 mg/dL" }),
    ];
    const bundle = { resourceType: "Bundle", type: "collection", entry: resources.map((resource) => ({ resource })) };
    await dropFile(page, "bundle.json", JSON.stringify(bundle, null, 2));
    await expectText(main(), "bundle.json: FHIR resources with 1 code that has numbers.");
    await press("Check the data");
    await expectText(main(), "9 observations of 3 individuals");
    const told = page.getByRole("table", { name: "What was left out of the resources, or decided" });
    await expectText(told, /Observations entered in error\s*1\s*left out/);
    await expectText(told, /preliminary Observations\s*1\s*left out/);
    await expectText(told, /numbers written as text \(valueString\)\s*1\s*left out/);
    expect(await main().textContent()).not.toContain("--fhir");
    expect(await accessibilityViolations(page)).toEqual([]);
    await press("Back");
    await page.getByRole("checkbox", { name: "preliminary ones" }).check();
    await page.getByRole("checkbox", { name: "numbers written as text" }).check();
    await expectText(page.getByRole("table", { name: "Codes with numbers" }), /Creatinine.*11\s*3/);
    await press("Check the data");
    await expectText(main(), "11 observations of 3 individuals");
  });

  it("beside a table are refused by name; NDJSON of rows stays a table", async () => {
    const files = ["Observation.ndjson.gz", "Patient.ndjson"].map((name) => ({
      name,
      bytes: readFileSync(join(SAMPLE, name)),
    }));
    await dropFiles(page, [...files, { name: "visits.csv", bytes: Buffer.from("id,time,value\na,0,1\n") }]);
    await expectText(page.locator("body"), "Expected files of FHIR by themselves, received visits.csv with them");
    const rows = ["a", "a", "b", "b"].map((id, k) => JSON.stringify({ id, time: k % 2, value: k + (k % 3) }));
    await dropFile(page, "rows.ndjson", rows.join("\n"));
    await expectText(main(), "We read id as the individual");
  });
});

describe("letters", () => {
  it("are read anew in another encoding, also where none was recognised", async () => {
    const text = "id,jahre,gr\u00f6\u00dfe\na,0,1\na,1,3\nb,0,2\nb,1,1\n";
    const latin = Buffer.from(text, "latin1");
    await dropFiles(page, [{ name: "latin.csv", bytes: latin }]);
    const encoding = page.getByLabel("Encoding of letters");
    await expectText(main(), "größe");
    expect(await encoding.inputValue()).toBe("windows-1252");
    await encoding.selectOption("windows-1253");
    await expectText(main(), "grφίe");
    expect(await encoding.inputValue()).toBe("windows-1253");
    const both = Buffer.concat([
      Buffer.from("id,jahre,wert,ort\na,0,1,M\u00fcnchen\n"),
      Buffer.from("a,1,2,K\u00f6ln\nb,0,1,\nb,1,2,\n", "latin1"),
    ]);
    await page.getByRole("button", { name: "Back", exact: true }).click();
    await dropFiles(page, [{ name: "both.csv", bytes: both }]);
    await expectText(main(), "The letters of both.csv could not be read");
    await encoding.selectOption("windows-1252");
    await expectText(main(), "wert as the marker");
    await press("Check the data");
    await expectText(main(), "4 observations of 2 individuals");
  });
});

describe("dates", () => {
  it("of both orders are asked about once, and rows of the other order can be left out", async () => {
    const rows = ["a,22/08/2015,80", "a,08/23/2016,78", "b,13/02/2015,91", "b,14/03/2016,90", "c,15/02/2015,91"];
    await dropFile(page, "mixed.csv", `id,date,fvc\n${rows.join("\n")}\n`);
    await expectText(main(), "Some dates of “date” can only be day first, others only month first. Which are right?");
    await expectText(main(), "22 August 2015");
    expect(await accessibilityViolations(page)).toEqual([]);
    await press("Day first");
    await press("Check the data");
    await expectText(main(), "Date that is not in the calendar");
    await page.getByRole("switch", { name: /leave out/ }).check();
    await press("Next");
    await expectText(main(), "4 observations of 3 individuals");
  });

  it("that a spreadsheet swapped are swapped back if so answered", async () => {
    const days = ["2020-05-03", "2020-07-03", "2020-09-03", "2020-11-03", "2020-12-03"];
    const texts = ["13", "15", "17", "19", "21"].map((day) => `${day}/03/2020`);
    const rows = [...days, ...texts].map((date, k) => `p${k % 5},${date},${80 + ((k * 7) % 11)}`);
    await dropFile(page, "swapped.csv", `id,date,fvc\n${rows.join("\n")}\n`);
    await expectText(main(), "Did a spreadsheet swap day and month of “date”?");
    await press("Swap them back");
    await page.getByLabel("Unit of time").selectOption("days");
    await press("Check the data");
    await expectText(main(), "Day and month of 5 dates such as 2020-05-03 were swapped back.");
    await press("Next");
    await expectText(main(), "days 0 to 9.");
  });
});

describe("units of several markers", () => {
  it("are asked about for each, and converted by the rules of each", async () => {
    const rows = Array.from({ length: 48 }, (_, k) => {
      const visit = `p${k % 24},${Math.floor(k / 24)}`;
      const [crea, a1c] = k % 2 === 0 ? ["88.4,umol/L", "6.5,%"] : ["1.20,mg/dL", "48,mmol/mol"];
      return `${visit},creatinine,${crea}\n${visit},HbA1c,${a1c}`;
    });
    await dropFile(page, "long.csv", `id,time,test,value,unit\n${rows.join("\n")}\n`);
    await page.getByLabel("Use of column test").selectOption("names");
    await expectText(main(), "Values of “creatinine” come in units named by “unit”. To which are they brought?");
    await press("All to umol/L");
    await press("All to mmol/mol");
    await press("Check the data");
    await expectText(main(), /24 values of creatinine in "mg\/dL" were brought to umol\/L: times 88\.4/);
    await expectText(main(), /24 values of HbA1c in "%" were brought to mmol\/mol: times 10\.93, minus 23\.5/);
    await press("Next");
    await expectText(main(), "creatinine (umol/L), HbA1c (mmol/mol)");
  });
});
