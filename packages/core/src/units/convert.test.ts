/** Units as people write them, conversions with their constants, and what is refused. */
import { describe, expect, it } from "vitest";
import { unitCode } from "./aliases.ts";
import { ANALYTES, findAnalyte, usualRatio } from "./analytes.ts";
import { createConverter, unitLine, unitsContradict } from "./convert.ts";
import { measuredBy } from "./ucum.ts";

const at = (value: number, from: string, to: string, analyte?: string) => {
  const line = unitLine(from, to, analyte);
  return line === undefined ? undefined : line.intercept + line.slope * value;
};

describe("units as they are written", () => {
  it.each([
    ["µmol/L", "umol/L"],
    ["μmol/l", "umol/L"],
    ["mmHg", "mm[Hg]"],
    ["mm Hg", "mm[Hg]"],
    ["mm[Hg]", "mm[Hg]"],
    ["MG/DL", "mg/dL"],
    ["mg/dl", "mg/dL"],
    ["mcg/mL", "ug/mL"],
    ["x10^9/L", "10*9/L"],
    ["10*9/L", "10*9/L"],
    ["10^9/L", "10*9/L"],
    ["10⁹/L", "10*9/L"],
    ["×10⁹/l", "10*9/L"],
    ["10E3/uL", "10*3/uL"],
    ["x10(3)/µL", "10*3/uL"],
    ["K/uL", "10*3/uL"],
    ["K/µL", "10*3/uL"],
    ["thou/mm3", "10*3/uL"],
    ["M/uL", "10*6/uL"],
    ["ml/min/1.73m2", "mL/min/{1.73_m2}"],
    ["mL/min/1.73 m²", "mL/min/{1.73_m2}"],
    ["mL/min/1.73_m2", "mL/min/{1.73_m2}"],
    ["mL/min/{1.73_m2}", "mL/min/{1.73_m2}"],
    ["IU", "[IU]"],
    ["IU/L", "[IU]/L"],
    ["[iU]/L", "[IU]/L"],
    ["mIU/L", "m[IU]/L"],
    ["U/L", "U/L"],
    ["mEq/L", "meq/L"],
    ["sec", "s"],
    ["degF", "[degF]"],
    ["°C", "Cel"],
    ["%", "%"],
    ["kg/m2", "kg/m2"],
    ["10*9{cells}/L", "10*9/L"],
  ])("%s is %s", (written, code) => {
    expect(unitCode(written)).toEqual({ code });
  });

  it("knows that every code of the table is one of UCUM", () => {
    for (const { scales = [], usual = [] } of ANALYTES) {
      for (const unit of [...scales.map((scale) => scale.unit), ...usual]) expect(measuredBy(unit), unit).toBeDefined();
    }
  });

  it("does not choose between two meanings", () => {
    for (const written of ["G/L", "G/l"]) expect(unitCode(written)).toEqual({ means: ["10*9/L", "g/L"] });
  });

  it.each([
    ["103/uL", "10*3/uL"],
    ["10 9/L", "10*9/L"],
    ["x1012/L", "10*12/L"],
  ])("asks whether %s is a power that lost its raised digits", (written, power) => {
    expect(unitCode(written)).toEqual({ means: [power] });
    expect(at(7, written, "10*9/L")).toBeUndefined();
    expect(at(7, "1000/uL", "10*9/L")).toBe(7);
  });

  it("takes no point between digits for a product", () => {
    for (const written of ["10.9/L", "mL/min/(1.73.m2)"]) {
      expect(createConverter().conversion(written)).toMatchObject({ reason: "unknown" });
    }
    expect(unitCode("mL/min/1.73")).toEqual({ code: "mL/min/{1.73_m2}" });
    expect(at(60, "mL/min/1.73", "mL/min")).toBeUndefined();
  });
});

describe("conversions", () => {
  it.each([
    [1, "mg/dL", "umol/L", "creatinine", 88.4],
    [1, "mg/dL", "umol/L", "2160-0", 88.4],
    [1, "mmol/L", "mg/dL", "glucose", 18.016],
    [1, "mg/dL", "umol/L", "bilirubin", 17.1],
    [1, "mmol/L", "mg/dL", "cholesterol", 38.665],
    [1, "mmol/L", "mg/dL", "triglycerides", 88.543],
    [1, "mmol/L", "mg/dL", "BUN", 2.8014],
    [1, "mmol/L", "mg/dL", "urea", 6.006],
    [1, "mg/dL", "umol/L", "uric acid", 59.48],
    [1, "g/dL", "mmol/L", "haemoglobin", 0.6206],
    [1, "mmol/L", "mg/dL", "calcium", 4.0078],
    [1, "ug/dL", "umol/L", "iron", 0.1791],
    [1, "ug/dL", "nmol/L", "thyroxine", 12.87],
    [1, "ng/dL", "pmol/L", "free thyroxine", 12.87],
    [1, "ng/mL", "nmol/L", "vitamin D", 2.496],
    [1, "pg/mL", "pmol/L", "vitamin B12", 0.7378],
    [1, "ug/dL", "nmol/L", "cortisol", 27.59],
    [1, "ng/mL", "nmol/L", "testosterone", 3.467],
    [1, "pg/mL", "pmol/L", "estradiol", 3.671],
  ])("%d %s in %s of %s", (value, from, to, analyte, expected) => {
    expect(at(value, from, to, analyte)! / expected).toBeCloseTo(1, 3);
  });

  it("keeps to lines: temperatures, pressures, counts, enzymes, equivalents", () => {
    expect(at(98.6, "degF", "°C")).toBeCloseTo(37, 10);
    expect(at(37, "Cel", "degF")).toBeCloseTo(98.6, 10);
    expect(at(120, "mmHg", "kPa")).toBeCloseTo(15.99864, 6);
    expect(at(7.5, "K/uL", "x10^9/L")).toBe(7.5);
    expect(at(1, "U/L", "ukat/L")).toBeCloseTo(1 / 60, 12);
    expect(at(2.5, "uIU/mL", "mIU/L")).toBe(2.5);
    expect(at(40, "IU/L", "U/L", "ALT")).toBe(40);
    expect(at(140, "mEq/L", "mmol/L", "sodium")).toBe(140);
    expect(at(5, "mEq/L", "mmol/L", "calcium")).toBe(2.5);
    expect(at(4.5, "g/dL", "g/L")).toBe(45);
  });

  it("joins dimensionless units by a formula of the analyte alone", () => {
    expect(at(6.5, "%", "mmol/mol", "HbA1c")).toBeCloseTo(47.545, 10);
    expect(at(47.545, "mmol/mol", "%", "4548-4")).toBeCloseTo(6.5, 10);
    expect(at(6.5, "%{Hb}", "mmol/mol", "HbA1c")).toBeCloseTo(47.545, 10);
    expect(at(0.42, "L/L", "%", "haematocrit")).toBeCloseTo(42, 12);
    expect(at(30, "mg/g", "mg/mmol", "ACR")).toBeCloseTo(3.3936, 10);
    expect(at(6.5, "%", "mmol/mol")).toBeUndefined();
    expect(at(6.5, "%", "mmol/mol", "glucose")).toBeUndefined();
    expect(at(0.42, "L/L", "%")).toBeUndefined();
  });

  it.each([
    ["mg/dL", "umol/L", undefined],
    ["U/L", "[IU]/L", undefined],
    ["mEq/L", "mmol/L", undefined],
    ["mL/min", "mL/min/1.73m2", undefined],
    ["mmol/L", "10*9/L", "glucose"],
    ["mg/dL", "mm[Hg]", "creatinine"],
    ["ug/mL{FEU}", "ug/mL{DDU}", undefined],
  ])("refuses %s to %s (%s)", (from, to, analyte) => {
    expect(unitLine(from, to, analyte)).toBeUndefined();
  });

  it("says what would help", () => {
    const to = createConverter({ to: "umol/L" });
    expect(to.conversion("mg/dL")).toMatchObject({ reason: "other", remedy: expect.stringContaining("analyte") });
    expect(to.conversion("")).toEqual({ reason: "missing" });
    expect(to.conversion("umoll/L")).toMatchObject({ reason: "unknown", remedy: expect.stringContaining("umol/L") });
    expect(to.conversion("K/mL")).toMatchObject({ reason: "unknown" });
    expect(() => createConverter({ to: "furlongs" })).toThrow(/unit/);
    expect(() => createConverter({ to: "mg/dL", analyte: "creatinin" })).toThrow(/creatinine/);
  });

  it("takes a unit as it was said to be meant, and no unit too", () => {
    const to = createConverter({ to: "mL/min/1.73m2", meant: { "mL/min": "mL/min/1.73m2", "": "mL/min/1.73m2" } });
    expect(to.conversion("mL/min")).toMatchObject({ slope: 1, intercept: 0, from: "mL/min", to: "mL/min/1.73m2" });
    expect(to.conversion("")).toMatchObject({ slope: 1 });
  });

  it("without a unit asked for takes that of the first value, and refuses others: no order of rows decides", () => {
    const to = createConverter();
    expect(to.unit()).toBeUndefined();
    expect(to.conversion("MG/DL")).toMatchObject({ slope: 1 });
    expect(to.unit()).toBe("MG/DL");
    expect(to.conversion("mg/dL")).toMatchObject({ slope: 1, intercept: 0 });
    expect(to.conversion("g/L")).toMatchObject({ reason: "other", remedy: expect.stringContaining("which unit") });
  });
});

describe("the table of analytes", () => {
  it("has every name, alias and code once", () => {
    const all = ANALYTES.flatMap(({ name, aliases, loinc }) => [name.toLowerCase(), ...aliases, ...loinc]);
    expect(all.filter((text, k) => all.indexOf(text) < k)).toEqual([]);
    expect(ANALYTES.length).toBeGreaterThan(30);
  });

  it("gives usual ratios above one that agree with UCUM", () => {
    for (const analyte of ANALYTES) {
      const ratio = usualRatio(analyte);
      if (ratio === undefined) continue;
      expect(ratio, analyte.name).toBeGreaterThan(1);
      expect(unitLine(...analyte.usual!, analyte.name)!.slope / ratio).toBeCloseTo(1, 8);
    }
    expect(usualRatio(findAnalyte("creatinine")!)).toBeCloseTo(88.4, 1);
  });
});

describe("unitsContradict", () => {
  it.each([
    ["[IU]/L", "U/L"],
    ["mmol/L", "mEq/L"],
    ["10*9/L", "K/uL"],
    ["g/L", "mg/mL"],
    ["[pH]", "pH"],
    ["mL/min/{1.73_m2}", "mL/min"],
    ["{INR}", "ratio"],
  ])("not %s and %s", (code, text) => {
    expect(unitsContradict(code, text)).toBe(false);
  });

  it.each([
    ["%", "mmol/mol"],
    ["Cel", "degF"],
    ["mg/dL", "mEq/L"],
    ["10*9/L", "/uL"],
  ])("%s and %s", (code, text) => {
    expect(unitsContradict(code, text)).toBe(true);
  });
});
