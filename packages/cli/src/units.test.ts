/** Units on the command line: columns of units, two heaps, models in another unit. */
import { afterAll, describe, expect, it } from "vitest";
import { run, workplace } from "../test/harness.ts";
import { commandText } from "./command-line.ts";

const here = workplace();
afterAll(here.clear);

const rows = Array.from({ length: 200 }, (_, k) => {
  const [i, j] = [Math.floor(k / 5), k % 5];
  const value = 1 + 0.3 * ((k * 37) % 10) * 0.1 + 0.1 * j * (i % 3);
  return i % 4 === 0 ? { i, j, value: value * 88.4017, unit: "µmol/L" } : { i, j, value, unit: "mg/dL" };
});
const csv = (taken: typeof rows) =>
  `id,years,creatinine,unit\n${taken.map(({ i, j, value, unit }) => `p${i},${j},${value.toFixed(4)},${unit}`).join("\n")}\n`;
const VISITS = here.file("mixed.csv", csv(rows));
const MOLES = here.file("moles.csv", csv(rows.filter(({ unit }) => unit !== "mg/dL")));
const inspect = ["inspect", VISITS, "--value", "creatinine"];
const medianOf = (out: string) => Number(/Values .*median ([\d.]+)/.exec(out)?.[1]);

describe("visits in two units", () => {
  it("are suspected by the analyte, with the conversion and its flag", async () => {
    const { talk } = await run(...inspect, "--unit", "mg/dL");
    expect(talk).toContain("creatinine in umol/L is 88.4 times that in mg/dL");
    const [, flags = ""] = /(--unit mg\/dL --convert-above \S+)/.exec(talk) ?? [];
    const asked = await run(...inspect, ...flags.split(" "));
    expect(asked.talk).toContain('50 values of creatinine in "umol/L" were brought to mg/dL: times 0.011312');
    expect(asked.talk).not.toContain("two-units");
  });

  it("are brought to one by their column, as told, recorded and reported", async () => {
    const { out, talk } = await run(...inspect, "--unit", "mg/dL", "--unit-column", "unit");
    expect(talk).toContain('50 values of creatinine in "µmol/L" were brought to mg/dL');
    expect(medianOf(out)).toBeLessThan(2);
    const moles = await run(...inspect, "--unit", "umol/L", "--unit-column", "unit");
    expect(medianOf(moles.out) / medianOf(out)).toBeCloseTo(88.4, -1);
    const fit = ["fit", VISITS, "--value", "creatinine", "--unit", "mg/dL", "--unit-column", "unit", "--model", "lmm"];
    expect((await run(...fit, "-o", here.at("run"))).code).toBe(0);
    expect(JSON.parse(here.text("run", "run.json")).notes).toContainEqual(expect.stringContaining("113.12 g/mol"));
  });

  it("ask which unit, once, and for the analyte where its name is not known", async () => {
    const { code, talk } = await run(...inspect, "--unit-column", "unit");
    expect(code).not.toBe(0);
    expect(talk.match(/\[other-unit\]/g)).toHaveLength(1);
    expect(talk).toContain("--unit");
    const odd = here.file("odd.csv", csv(rows).replace("creatinine", "marker_x"));
    const nameless = ["inspect", odd, "--value", "marker_x", "--unit", "mg/dL", "--unit-column", "unit"];
    expect((await run(...nameless)).talk).toContain("--analyte");
    expect((await run(...nameless, "--analyte", "2160-0")).code).toBe(0);
  });

  it("are refused where options contradict or idle", async () => {
    const asked = async (...more: string[]) => (await run(...inspect, ...more)).talk;
    expect(await asked("--analyte", "creatinine")).toContain("--unit-column");
    expect(await asked("--convert-above", "20:umol/L")).toContain("--unit");
    expect(await asked("--unit", "mg/dL", "--convert-above", "20")).toContain("20:umol/L");
    expect(await asked("--unit", "mg/dL", "--unit-column", "unit", "--convert-above", "20:umol/L")).toContain(
      "without",
    );
    expect(await asked("--unit", "mg/dL", "--unit-column", "unit", "--unit-means", "x")).toContain("written=unit");
    expect(await asked("--unit", "mg/dL", "--unit-column", "unit", "--analyte", "creatinin")).toContain("creatinine");
  });
});

describe("a model in one unit", () => {
  it("takes visits of another where that is asked for, and the same unit written otherwise", async () => {
    await run(
      "fit",
      VISITS,
      "--value",
      "creatinine",
      "--unit",
      "mg/dL",
      "--unit-column",
      "unit",
      "--model",
      "lmm",
      "-o",
      here.at("run"),
      "--force",
    );
    const embed = ["embed", here.at("run"), MOLES];
    const refused = await run(...embed, "--unit", "umol/L");
    expect(refused.code).not.toBe(0);
    expect(refused.talk).toContain("--convert-unit");
    const converted = await run(...embed, "--unit", "umol/L", "--convert-unit");
    expect(converted.talk).toContain("were brought to mg/dL");
    const byColumn = await run("embed", here.at("run"), VISITS, "--unit-column", "unit");
    const p0 = (out: string) => out.split("\n").find((line) => line.startsWith("p0,"));
    expect(p0(converted.out)).toBe(p0(byColumn.out));
    expect((await run(...embed, "--unit", "MG/DL")).code).toBe(0);
    const wrong = await run(...embed, "--unit", "mmHg", "--convert-unit");
    expect(wrong.talk).toContain("other-unit");
  });
});

describe("the record of a command", () => {
  it("keeps units and codes whole, and cuts folders", () => {
    const words = [
      "fit",
      "--fhir",
      "../kept/elsewhere/export",
      "--code",
      "http://loinc.org|1",
      "--unit-means",
      "mL/min=mL/min/1.73m2",
    ];
    expect(commandText([...words, "--convert-above", "20:umol/L"])).toBe(
      "dtm fit --fhir export --code 'http://loinc.org|1' --unit-means mL/min=mL/min/1.73m2 --convert-above 20:umol/L",
    );
  });
});

describe("several markers", () => {
  it("have a unit each, in one column of units", async () => {
    const text = rows.flatMap(({ i, j, value, unit }) => [
      `p${i},${j},crea,${value.toFixed(4)},${unit}`,
      `p${i},${j},a1c,${i % 2 ? "6.5,%" : "47.545,mmol/mol"}`,
    ]);
    const long = here.file("long.csv", `id,years,test,value,unit\n${text.join("\n")}\n`);
    const markers = ["--marker-column", "test", "--markers", "crea[mg/dL],a1c[%]", "--unit-column", "unit"];
    const { out, talk } = await run("inspect", long, ...markers, "--analyte", "crea=creatinine,a1c=HbA1c");
    expect(talk).toContain('values of a1c in "mmol/mol" were brought to %');
    expect(talk).toContain("formula of haemoglobin A1c");
    expect(out).toContain("mg/dL");
  });
});
