import { describe, expect, it } from "vitest";
import { associate } from "../associate/association.ts";
import { DtmError } from "../errors.ts";
import { compareModels } from "../evaluate/compare.ts";
import { groupPlaces } from "../map/groups.ts";
import { simulateCohort } from "../simulate/cohorts.ts";
import { fitDtm, fitFpca, fitLinear, fitLmm } from "./fit-models.ts";
import { embed } from "./place.ts";

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
