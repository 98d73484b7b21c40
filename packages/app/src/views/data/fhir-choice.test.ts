import type { FhirListing } from "@trajectory-maps/core/fhir";
import { describe, expect, it } from "vitest";
import {
  describeCode,
  firstChoice,
  markersOf,
  openCodes,
  readCodes,
  rulesOf,
  toggleCode,
  toggleCondition,
  withText,
} from "./fhir-choice.ts";
import { waitingModel } from "./model-text.ts";

const code = (id: string, name: string, ...units: string[]) => ({
  code: `loinc|${id}`,
  name,
  values: 10,
  individuals: 5,
  units: units.map((unit) => ({ unit, count: 5 })),
});
const CREA = code("2160-0", "Creatinine", "mg/dL", "umol/L");
const OTHER = code("38483-4", "Creatinine in blood", "mg/dL");
const ALB = code("1751-7", "Albumin", "g/dL");
const LISTING: FhirListing = { codes: [CREA, OTHER, ALB], conditions: [], patients: 5, deaths: 1 };

describe("codes of resources", () => {
  it("are asked for, unless there is one alone", () => {
    expect(firstChoice(LISTING, null).rows).toEqual([]);
    expect(openCodes(firstChoice(LISTING, null), null)).toMatch(/at least one code/);
    expect(firstChoice({ ...LISTING, codes: [ALB] }, null).rows).toMatchObject([{ name: "Albumin", unit: "g/dL" }]);
  });

  it("become a marker each, those of one name one together", () => {
    const all = [CREA, OTHER, ALB].reduce((choice, one) => toggleCode(choice, one, null), firstChoice(LISTING, null));
    expect(readCodes(all, null).fhir.markers).toHaveLength(3);
    const joined = describeCode(all, OTHER.code, { name: " Creatinine" });
    expect(markersOf(joined)).toHaveLength(2);
    expect(readCodes(joined, null).fhir.markers[0]).toEqual({
      codes: ["loinc|2160-0", "loinc|38483-4"],
      name: "Creatinine",
      unit: "mg/dL",
      transform: "identity",
    });
    expect(markersOf(toggleCode(joined, ALB, null))).toHaveLength(1);
  });

  it("are read with what units mean, conditions, and what is taken besides", () => {
    const chosen = toggleCode(firstChoice(LISTING, null), CREA, null);
    const said = describeCode(toggleCondition(chosen, "snomed|1"), CREA.code, { meant: { "umol/L": "mg/dL" } });
    const choice = { ...said, preliminary: true, strings: true, middle: true, timeUnit: "months" as const };
    expect(readCodes(choice, null).fhir).toMatchObject({
      conditions: [["snomed|1"]],
      meant: { "umol/L": "mg/dL" },
      timeUnit: "months",
      origin: "first",
      partialDates: "middle",
      strings: true,
    });
    expect(rulesOf(choice).status).toContain("preliminary");
    expect(toggleCondition(said, "snomed|1").conditions).toEqual([]);
  });

  it("are the markers of a model that waits, in their order", () => {
    const model = waitingModel(
      JSON.stringify({
        model: {
          markers: [
            {
              marker: { name: "crea", unit: "umol/L", transform: "log", timeUnit: "months" },
              columns: { dates: true, origin: "first" },
            },
            { marker: { name: "alb", unit: "g/L" }, columns: {} },
          ],
        },
      }),
    );
    const one = toggleCode(firstChoice(LISTING, model), CREA, model);
    expect(openCodes(one, model)).toContain("crea, alb");
    const both = toggleCode(one, ALB, model);
    expect(openCodes(both, model)).toBeNull();
    expect(readCodes(both, model).fhir).toMatchObject({
      markers: [
        { name: "crea", unit: "umol/L", transform: "log" },
        { name: "alb", unit: "g/L" },
      ],
      timeUnit: "months",
      origin: "first",
      mayLack: true,
    });
  });

  it("are found by code or name", () => {
    expect(withText(LISTING.codes, "ALBU ")).toEqual([ALB]);
    expect(withText(LISTING.codes, "2160")).toEqual([CREA]);
  });
});
