import { describe, expect, it } from "vitest";
import { associate } from "../associate/association.ts";
import { DtmError } from "../errors.ts";
import { compareModels } from "../evaluate/compare.ts";
import { type ReadFhirOptions, readFhir } from "../fhir/read-fhir.ts";
import { previewTable } from "../ingest/preview.ts";
import { readCohort } from "../ingest/read-cohort.ts";
import { groupPlaces } from "../map/groups.ts";
import { simulateCohort } from "../simulate/cohorts.ts";
import { readSubjects } from "../study/subjects.ts";
import { fitDtm, fitFpca, fitLinear, fitLmm } from "./fit-models.ts";
import { embed, placeIndividual } from "./place.ts";
import { predict } from "./predict.ts";
import { predictCrossing } from "./predicting/crossing.ts";

const { cohort } = simulateCohort("pfvc", { numIndividuals: 30, seed: 1 });
const slip = { nose: "level" } as object;

describe("options that a function does not have", () => {
  it.each(Object.entries({ fitDtm, fitLmm, fitFpca, fitLinear }))(
    "are refused with the nearest name: %s",
    (name, fit) => {
      expect(() => fit(cohort, slip)).toThrow(
        new DtmError("option", `${name}: expected options that it has, received "nose". Did you mean "noise"?`),
      );
    },
  );

  it("are refused by placing, predicting and readers", async () => {
    const model = fitLmm(cohort);
    const slip = (options: object) => options;
    expect(() => embed(model, cohort, slip({ kernel: "typescript" }))).toThrow('Did you mean "kernels"?');
    const placement = placeIndividual(model, { times: [0], values: [70] });
    expect(() => placeIndividual(model, { times: [0], values: [70] }, slip({ covariate: 1 }))).toThrow("covariates");
    expect(() => predict(model, placement, [1], slip({ levels: 0.5 }))).toThrow('Did you mean "level"?');
    expect(() => placeIndividual(model, { times: [0], values: [70], covariate: {} } as never)).toThrow("covariate");
    const crossing = (options: object) => predictCrossing(model, placement, { threshold: 60, ...options });
    expect(() => crossing({ directon: "up" })).toThrow('Did you mean "direction"?');
    expect(() => readCohort("id,time,value\n", slip({ skipLine: 2 }))).toThrow('Did you mean "skipLines"?');
    expect(() => readCohort("id,time,value\n", { columns: slip({ values: "y" }) })).toThrow('Did you mean "value"?');
    expect(() => readCohort("id,v_0,v_1\n", slip({ wide: true, onbad: "leave-out" }))).toThrow('Did you mean "onBad"?');
    expect(() => previewTable("id,time,value\n", slip({ numRow: 2 }))).toThrow('Did you mean "numRows"?');
    expect(() => readSubjects("id,sex\n", slip({ ID: "id" }))).toThrow('Did you mean "id"?');
    await expect(readFhir([], slip({ markers: [], conditon: [] }) as ReadFhirOptions)).rejects.toThrow("conditions");
  });

  it("are refused by comparison, groups and association", async () => {
    expect(() => compareModels(cohort, { fold: 5 } as object)).toThrow('Did you mean "folds"?');
    const model = fitLmm(cohort, { noise: undefined, somethingElse: undefined } as object);
    const placements = embed(model, cohort);
    expect(() => groupPlaces(model, placements, { numGroup: 3 } as object)).toThrow('Did you mean "numGroups"?');
    const input = { model, placements, cohort, outcomes: [] };
    await expect(associate(input, { draw: 9 } as object)).rejects.toThrow('Did you mean "draws"?');
    await expect(associate(input, { xyzzy: 9 } as object)).rejects.toThrow("It has: seed, draws,");
  });
});
